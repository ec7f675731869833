// Hopper's wider forms: atomics on vectors, reductions of boxes of tensors, cache policies; and barriers
// that a part of a warp reaches first.
#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/tensor_map.hpp"
#include "common/simgpu/tests/findings.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using findings::of_kind;

/// A warp runs `body`; %r1 is its lane, %rd1 `out` and %rd2 the lane's 16 bytes of it.
std::string kernel(const std::string& body) {
  return ptx_module(R"(
.shared .align 16 .b8 tile[512];
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .f32 %f<12>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 16; add.u64 %rd2, %rd1, %rd2;
)" + body + "\nret;\n}\n");
}

LaunchReport run(const std::string& body, std::vector<u32>* words, unsigned threads = 32) {
  Gpu gpu(kernel(body));
  const DevicePtr out = gpu.upload(*words, "out");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {threads, 1, 1}, 0u, LaunchOptions{}, out);
  *words = gpu.download<u32>(out, words->size());
  return report;
}

bool refused(const std::string& body) {
  try {
    Gpu gpu(kernel(body));
    return !gpu.device.kernel(gpu.module, "k")->unsupported.empty();
  } catch (const std::exception&) {  // the parser refuses it
    return true;
  }
}

u32 bits(float f) {
  u32 word;
  std::memcpy(&word, &f, sizeof word);
  return word;
}

TEST_CASE("an atomic whose result is used is a way to read", "[atomics][counts]") {
  const auto fetched = [](const std::string& body) {
    std::vector<u32> words(512, 1);
    const LaunchReport r = run(body, &words);
    const BufferCounts* const out = of_buffer(r, "out");
    REQUIRE(out != nullptr);
    CHECK(out->atomic.requests == 1);
    return out->fetched;
  };
  CHECK(fetched("red.global.add.u32 [%rd2], 1;").requests == 0);
  // What clang makes of an atomicAdd() for nothing: a register that nobody reads.
  CHECK(fetched("atom.global.add.u32 %r2, [%rd2], 1;").requests == 0);
  CHECK(fetched("atom.global.add.u32 %r2, [%rd2], 1; mov.u32 %r2, 0;").requests == 0);
  const std::string used = "add.u32 %r3, %r2, 1; st.global.u32 [%rd2+4], %r3;";
  const GlobalCounts read = fetched("atom.global.add.u32 %r2, [%rd2], 0; " + used);
  CHECK(read.requests == 1);
  CHECK(read.bytes == 128);
  CHECK(fetched("atom.global.exch.b32 %r2, [%rd2], 7; st.global.u32 [%rd2+4], %r2;").requests == 1);
  CHECK(
      fetched("atom.global.v2.f32.add {_, %f2}, [%rd2], {%f1, %f1}; mov.f32 %f3, %f2;").requests ==
      1);
}

TEST_CASE("atomics on vectors: values, and one request", "[atomics][counts]") {
  std::vector<u32> words(128, bits(2.0f));
  LaunchReport r = run(R"(
  cvt.rn.f32.u32 %f1, %r1;
  atom.global.v4.f32.add {%f2, %f3, _, %f4}, [%rd2], {%f1, 0f3F800000, %f1, %f1};
  add.f32 %f5, %f2, %f3; add.f32 %f5, %f5, %f4;
  st.global.f32 [%rd2], %f5;)",
                       &words);
  CHECK(to_text(r.findings) == "");
  for (u32 i = 0; i < 32; ++i) {
    CHECK(words[4 * i] == bits(6.0f));  // the old ones
    CHECK(words[4 * i + 1] == bits(3.0f));
    CHECK(words[4 * i + 2] == bits(2.0f + static_cast<float>(i)));
    CHECK(words[4 * i + 3] == bits(2.0f + static_cast<float>(i)));
  }
  CHECK(r.total.global_atomic.requests == 1);
  CHECK(r.total.global_atomic.sectors == 16);
  CHECK(r.total.global_atomic.bytes == 512);

  // All lanes in one place: nothing gets lost. Halves: 1.0 is 0x3c00, 32.0 is 0x5000.
  std::fill(words.begin(), words.end(), 0);
  r =
      run("red.global.add.v2.f32 [%rd1], {0f3F800000, 0f40000000};\n"
          "mov.b32 %r2, 0x3c003c00;\n"
          "red.relaxed.gpu.global.add.noftz.v4.f16x2 [%rd1+16], {%r2, %r2, %r2, %r2};\n",
          &words);
  CHECK(to_text(r.findings) == "");
  CHECK(words[0] == bits(32.0f));
  CHECK(words[1] == bits(64.0f));
  for (u32 i = 4; i < 8; ++i) CHECK(words[i] == 0x50005000);
  CHECK(r.total.global_atomic.requests == 2);
}

TEST_CASE("atomics on vectors: alignment, bounds, and what there is not", "[atomics][finding]") {
  std::vector<u32> words(128);
  CHECK(of_kind(run("red.global.add.v4.f32 [%rd1+8], {%f1, %f1, %f1, %f1};", &words),
                FindingKind::misaligned)
            .size() == 1);
  CHECK(of_kind(run("red.global.add.v4.f32 [%rd2+16], {%f1, %f1, %f1, %f1};", &words),
                FindingKind::out_of_bounds)
            .size() == 1);
  for (const char* body :
       {"red.global.max.v4.f32 [%rd1], {%f1, %f1, %f1, %f1};",
        "red.global.add.v4.u32 [%rd1], {%r1, %r1, %r1, %r1};",
        "red.shared.add.v2.f32 [tile], {%f1, %f1};", "red.global.add.v4.f32 [%rd1], {%f1, %f1};",
        "red.global.add.v2.f32 [%rd1], %f1;", "red.global.add.f32 [%rd1], {%f1, %f1};",
        "atom.global.add.v2.f32 %f2, [%rd1], {%f1, %f1};",
        "red.global.add.v8.f32 [%rd1], {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1};"}) {
    INFO(body);
    CHECK(refused(body));
  }
}

TEST_CASE("cache policies change no value, and are there if they are announced", "[memory]") {
  std::vector<u32> words(128);
  for (u32 i = 0; i < 128; ++i) words[i] = i;
  const std::string policies = R"(
  createpolicy.fractional.L2::evict_first.b64 %rd3, 1.0;
  createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd4;
  createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd5, [%rd1], 64, 256;
  createpolicy.cvt.L2.b64 %rd6, %rd5;
)";
  const LaunchReport r = run(policies + R"(
  prefetch.global.L2::evict_last [%rd2]; applypriority.global.L2::evict_normal [%rd1], 128;
  discard.global.L2 [%rd1], 128;
  ld.global.L1::no_allocate.L2::cache_hint.v4.u32 {%r2, %r3, %r4, %r5}, [%rd2], %rd3;
  st.global.L2::cache_hint.v2.b32 [%rd2], {%r5, %r4}, %rd4;
  atom.global.add.L2::cache_hint.u32 %r6, [%rd2+8], 100, %rd5;
  atom.global.L2::cache_hint.cas.b32 %r7, [%rd2+12], %r5, 9, %rd6;
  red.global.L2::cache_hint.max.u32 [%rd2+8], 5, %rd3;
  mul.wide.u32 %rd7, %r1, 16; cvt.u32.u64 %r8, %rd7; mov.u32 %r9, tile; add.u32 %r8, %r8, %r9;
  cp.async.cg.shared.global.L2::cache_hint [%r8], [%rd2], 16, %rd3;
  cp.async.wait_all; cp.async.cg.shared.global.L2::cache_hint.L2::128B [%r8], [%rd2], 16, 4, %rd3;
  cp.async.wait_all; ld.shared.u32 %r10, [%r8];
  st.global.u32 [%rd2+4], %r10;)",
                             &words);
  CHECK(to_text(r.findings) == "");
  for (u32 i = 0; i < 32; ++i)
    CHECK(std::vector<u32>(words.begin() + 4 * i, words.begin() + 4 * i + 4) ==
          std::vector<u32>{4 * i + 3, 4 * i + 3, 4 * i + 102, 9});
  for (const char* body :
       {"ld.global.L2::cache_hint.u32 %r2, [%rd1];", "ld.global.u32 %r2, [%rd1], %rd3;",
        "st.global.b32 [%rd1], %r1, %rd3;", "red.global.add.u32 [%rd1], 1, %rd3;",
        "atom.global.add.L2::cache_hint.u64 %rd4, [%rd1], %rd3;",
        "atom.global.add.u64 %rd4, [%rd1], %rd3, %rd3;",
        "createpolicy.fractional.b64 %rd3, 1.0;"}) {
    INFO(body);
    CHECK(refused(body));
  }
}

// ---- cp.reduce.async.bulk.tensor

/// A map of `rows` x 16 elements; the box is 8 x 2.
TensorMap matrix(DevicePtr base, TensorType type, unsigned rows) {
  TensorMap m;
  m.type = type;
  m.rank = 2;
  m.base = base;
  m.last = {15, rows - 1};
  m.box = {8, 2};
  m.step = {1, 1};
  m.stride[0] = 16 * tensor_element_bytes(type);
  return m;
}
struct alignas(64) MapBytes {
  u8 bytes[128] = {};
  explicit MapBytes(const TensorMap& m) { std::memcpy(bytes, &m, sizeof m); }
};

std::string reduction(const std::string& op, const std::string& fence, const std::string& store,
                      const std::string& form = "2d", const std::string& at = "12, 2") {
  return ptx_module(R"(
.shared .align 128 .b8 tile[128];
.visible .entry k(.param .align 64 .b8 map[128])
{
  .reg .pred %p<2>; .reg .b16 %h<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x; mov.b64 %rd1, map; add.u64 %rd1, %rd1, 0x600000000;
  mov.u32 %r2, tile; )" +
                    store + "\n" + fence + R"(
  bar.sync 0;
  setp.ne.u32 %p1, %r1, 0; @%p1 bra E;
  cp.reduce.async.bulk.tensor.)" +
                    form + ".global.shared::cta." + op + ".tile.bulk_group [%rd1, {" + at +
                    R"(}], [tile];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
E:
  ret;
}
)");
}
const char* const kWords = "shl.b32 %r3, %r1, 2; add.u32 %r3, %r2, %r3; st.shared.u32 [%r3], %r1;";
const char* const kFence = "fence.proxy.async.shared::cta;";

LaunchReport reduce(const std::string& text, TensorType type, std::vector<u32>* words,
                    const std::function<void(TensorMap*)>& change = {}) {
  Gpu gpu(text);
  const DevicePtr data = gpu.upload(*words, "data");
  TensorMap m = matrix(data, type, 3);
  if (change) change(&m);
  const LaunchReport r = gpu.run("k", {4, 1, 1}, {16, 1, 1}, 0u, LaunchOptions{}, MapBytes(m));
  *words = gpu.download<u32>(data, words->size());
  return r;
}

TEST_CASE("cp.reduce.async.bulk.tensor: operations, and the tensor's edges", "[proxy][tma]") {
  struct Case {
    const char* op;
    TensorType type;
    u32 (*once)(u32 old, u32 i);
  };
  const auto sum = [](u32 old, u32 i) { return old + i; };
  for (const Case c :
       {Case{"add", TensorType::u32, sum},
        {"add", TensorType::s32, sum},
        {"min", TensorType::s32, [](u32 old, u32 i) { return std::min(old, i); }},
        {"max", TensorType::u32, [](u32 old, u32 i) { return std::max(old, i); }},
        {"inc", TensorType::u32, [](u32 old, u32 i) { return old >= i ? 0 : old + 1; }},
        {"dec", TensorType::u32, [](u32 old, u32 i) { return old == 0 || old > i ? i : old - 1; }},
        {"and", TensorType::u32, [](u32 old, u32 i) { return old & i; }},
        {"or", TensorType::s32, [](u32 old, u32 i) { return old | i; }},
        {"xor", TensorType::u32, [](u32 old, u32 i) { return old ^ i; }}}) {
    INFO(c.op);
    std::vector<u32> words(48, 9), want = words;
    const LaunchReport r = reduce(reduction(c.op, kFence, kWords), c.type, &words);
    CHECK(to_text(r.findings) == "");
    // Of the box, row 1 and columns 4 to 7 lie outside. Four blocks, each one time.
    for (u32 i = 0; i < 4; ++i)
      for (int block = 0; block < 4; ++block) want[44 + i] = c.once(want[44 + i], i);
    CHECK(words == want);
    CHECK(r.total.bulk_store.requests == 4);
    CHECK(r.total.bulk_store.bytes == 4 * 16);
  }
  const std::string halves =
      "mov.b16 %h1, 0x3c00; shl.b32 %r3, %r1, 1; add.u32 %r3, %r2, %r3; st.shared.b16 [%r3], %h1;";
  std::vector<u32> words(24, 0);
  const std::string of_halves = reduction("add", kFence, halves, "2d", "8, 2");
  CHECK(to_text(reduce(of_halves, TensorType::f16, &words).findings) == "");
  for (u32 i = 20; i < 24; ++i) CHECK(words[i] == 0x44004400);  // 4.0 and 4.0
  const std::string floats =
      "cvt.rn.f32.u32 %r4, %r1; shl.b32 %r3, %r1, 2; "
      "add.u32 %r3, %r2, %r3; st.shared.b32 [%r3], %r4;";
  words.assign(48, 0);
  CHECK(to_text(reduce(reduction("add", kFence, floats), TensorType::f32, &words).findings) == "");
  CHECK(words[47] == bits(12.0f));
}

// As measured on an H200.
TEST_CASE(
    "cp.reduce.async.bulk.tensor: where hardware refuses a box, and what it stores beyond rows",
    "[proxy][tma][finding]") {
  std::vector<u32> words(48, 9);
  const std::vector<u32> before = words;
  for (const auto& [at, why] : {std::pair{"12, -1", "a store or a reduction may not"},
                                {"-4, 0", "a store or a reduction may not"},
                                {"13, 2", "multiples of 16 bytes"}}) {
    INFO(at);
    const LaunchReport r =
        reduce(reduction("add", kFence, kWords, "2d", at), TensorType::u32, &words);
    REQUIRE(!of_kind(r, FindingKind::trap).empty());
    CHECK(of_kind(r, FindingKind::trap)[0].detail.find(why) != std::string::npos);
    CHECK(words == before);
  }
  // A row of 13 words ends within 16 bytes, and all of these are reached.
  const auto narrow = [](TensorMap* m) { m->last[0] = 12; };
  CHECK(
      to_text(reduce(reduction("add", kFence, kWords), TensorType::u32, &words, narrow).findings) ==
      "");
  for (u32 i = 0; i < 4; ++i) CHECK(words[44 + i] == 9 + 4 * i);
}

TEST_CASE("cp.reduce.async.bulk.tensor: mistakes are found", "[proxy][tma][finding]") {
  std::vector<u32> words(48, 9);
  const auto kinds = [&](const std::string& text, TensorType type, FindingKind kind,
                         const std::function<void(TensorMap*)>& change = {}) {
    const std::vector<u32> before = words;
    const LaunchReport r = reduce(text, type, &words, change);
    INFO(to_text(r.findings));
    CHECK(!of_kind(r, kind).empty());
    if (kind != FindingKind::proxy_fence_missing) CHECK(words == before);
    words = before;
  };
  kinds(reduction("add", "", kWords), TensorType::u32, FindingKind::proxy_fence_missing);
  kinds(reduction("inc", kFence, kWords), TensorType::f32, FindingKind::trap);
  kinds(reduction("min", kFence, kWords), TensorType::f32, FindingKind::trap);
  kinds(reduction("add", kFence, kWords), TensorType::tf32, FindingKind::trap);
  kinds(reduction("add", kFence, kWords, "3d"), TensorType::u32, FindingKind::unsupported);
  kinds(reduction("exch", kFence, kWords), TensorType::u32, FindingKind::unsupported);
  kinds(reduction("popc", kFence, kWords), TensorType::u32, FindingKind::unsupported);
  kinds(reduction("add", kFence, kWords), TensorType::u32, FindingKind::out_of_bounds,
        [](TensorMap* m) { m->base += 4096; });
  Random random(11);
  for (int i = 0; i < 200; ++i)
    reduce(reduction("add", kFence, kWords), TensorType::u32, &words, [&](TensorMap* m) {
      auto* bytes = reinterpret_cast<u8*>(m);
      for (int k = 0; k < 3; ++k)
        bytes[4 + random.below(sizeof *m - 4)] = static_cast<u8>(random.next());
    });
}

// ---- barriers

TEST_CASE("a loop's end may keep lanes behind, a barrier in a branch may not",
          "[finding][barrier]") {
  // Lane 0 stores at the end of each round; the others go back at once.
  const std::string loop = R"(
  mov.u32 %r2, 0; setp.ne.u32 %p1, %r1, 0;
H:
  bar.sync 0;
  add.u32 %r2, %r2, 1; setp.gt.u32 %p2, %r2, 4; @%p2 bra E;
  @%p1 bra H;
  st.global.u32 [%rd1], %r2;
  bra H;
E:)";
  std::vector<u32> words(128);
  LaunchReport r = run(loop, &words);
  CHECK(to_text(r.findings) == "");
  CHECK(words[0] == 4);
  CHECK(r.total.block_barriers == 5);
  r = run(R"(
  mov.u32 %r2, 0; setp.ne.u32 %p1, %r1, 0;
H:
  add.u32 %r2, %r2, 1; setp.gt.u32 %p2, %r2, 4; @%p2 bra E;
  @%p1 bra H;
  bar.sync 0;
  bra H;
E:
  st.global.u32 [%rd2], %r2;)",
          &words);
  CHECK(!of_kind(r, FindingKind::divergent_barrier).empty());
}

}  // namespace
}  // namespace simgpu::test
