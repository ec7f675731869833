// The models of stores and sums that ptxas and nvcc write otherwise than clang, rule by rule.
#include "common/simgpu/count/store_merging.hpp"

#include <map>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/count/doubled_sums.hpp"
#include "common/simgpu/ptx/parser.hpp"
#include "common/simgpu/tests/harness.hpp"
#include "common/simgpu/tests/math_call.hpp"

namespace simgpu::test {
namespace {

/// Stores left of each width (bytes), ptxas's STS.
using Widths = std::map<unsigned, unsigned>;

/// %r4: 16 bytes of `s` per thread, %r6 of `u`, %r8 as %r4 by the block's number.
ptx::Module parse_body(const std::string& body, unsigned stride = 16, unsigned behind = 0) {
  const std::string by = std::to_string(stride);
  return ptx::parse(
      ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
      ".reg .pred %p<4>; .reg .b16 %h<20>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %rd<4>; "
      ".reg .f64 %d<10>;\n"
      ".shared .align 4 .b8 first[" +
      std::to_string(16 + behind) +
      "]; .shared .align 4 .b8 s[8192]; .shared .align 16 .b8 u[8192];\n"
      "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r3, s; mad.lo.u32 %r4, %r1, " +
      by + ", %r3; mov.u32 %r5, u; mad.lo.u32 %r6, %r1, " + by +
      ", %r5; mov.u32 %r7, %ctaid.x; mad.lo.u32 %r8, %r7, " + by +
      ", %r3; mov.u32 %r9, first; st.shared.u32 [%r9], %r7; bar.sync 0;\n" + body + "\nret;\n}\n");
}

Widths widths(const std::string& body, unsigned stride = 16, unsigned behind = 0) {
  const ptx::Module m = parse_body(body, stride, behind);
  Widths result;
  for (const count::MergedAccess& store : count::merge_shared_stores(m, m.functions[0]))
    if (store.bytes != 0) ++result[store.bytes];
  if (--result[4] == 0) result.erase(4);  // that to `first`
  return result;
}

std::string words(const std::vector<int>& list, const std::string& at = "%r4") {
  std::string text;
  for (const int w : list)
    text += "st.shared.u32 [" + at + "+" + std::to_string(4 * w) + "], %r" +
            std::to_string(10 + (w & 15)) + ";\n";
  return text;
}

// Every expectation in the next cases was read off ptxas 13.0, sm_90.

TEST_CASE("neighbouring stores become one", "[count][store_merging]") {
  CHECK(widths(words({0, 1})) == Widths{{8, 1}});
  CHECK(widths(words({1, 0})) == Widths{{8, 1}});
  CHECK(widths(words({1, 2})) == Widths{{4, 2}});
  CHECK(widths(words({0, 1, 2, 3})) == Widths{{16, 1}});
  CHECK(widths(words({2, 0, 3, 1})) == Widths{{16, 1}});
  CHECK(widths(words({0, 1, 2})) == Widths{{8, 1}, {4, 1}});
  CHECK(widths(words({0, 2, 3})) == Widths{{8, 1}, {4, 1}});
  CHECK(widths(words({0, 1, 2, 3, 4, 5, 6, 7})) == Widths{{16, 2}});
  CHECK(widths(words({0, 1}, "s")) == Widths{{8, 1}});
  CHECK(widths(words({0, 1}, "%r8")) == Widths{{8, 1}});
}

// Read off nvcc 13.0 for sm_90, with the function in a loop of four stores that is unrolled.
TEST_CASE("stores before and behind a mathematical function", "[count][store_merging]") {
  const auto around = [](const std::string& function) {
    const ptx::Module m = test::around_call("st.shared.f32 [s], %f1;", function,
                                            "cvt.rn.f32.f64 %f2, %d2; st.shared.f32 [s+4], %f2;");
    unsigned stores = 0;
    for (const count::MergedAccess& store : count::merge_shared_stores(m, m.functions.back()))
      stores += store.bytes != 0;
    return stores;
  };
  CHECK(around("__simgpu_math_expf") == 1);
  CHECK(around("__simgpu_math_tanhf") == 1);
  CHECK(around("__simgpu_math_logf") == 2);  // a branch stays in machine code
  CHECK(around("__simgpu_math_sinf") == 2);
  CHECK(around("expf") == 2);
}

TEST_CASE("alignment decides about stores, too", "[count][store_merging]") {
  CHECK(widths(words({0, 1, 2, 3}), 8) == Widths{{8, 2}});
  CHECK(widths(words({0, 1, 2, 3}), 4) == Widths{{4, 4}});
  CHECK(widths(words({0, 1, 2, 3}), 16, 4) == Widths{{4, 4}});  // though words 1, 2 are aligned
  CHECK(widths(words({0, 1, 2, 3}), 16, 8) == Widths{{8, 2}});
}

TEST_CASE("sizes of elements that are stored", "[count][store_merging]") {
  const auto halves = [](int n) {
    std::string text;
    for (int i = 0; i < n; ++i)
      text += "st.shared.u16 [%r4+" + std::to_string(2 * i) + "], %h" + std::to_string(i) + ";\n";
    return text;
  };
  CHECK(widths(halves(2)) == Widths{{4, 1}});
  CHECK(widths(halves(4)) == Widths{{8, 1}});
  CHECK(widths(halves(8)) == Widths{{8, 2}});
  CHECK(widths("st.shared.f64 [%r4], %d1; st.shared.f64 [%r4+8], %d2;") == Widths{{16, 1}});
  CHECK(widths("st.shared.u8 [%r4], %r10; st.shared.u8 [%r4+1], %r11;") == Widths{{1, 2}});
  CHECK(widths("st.shared.u32 [%r4], %r10; st.shared.f32 [%r4+4], %f1;") == Widths{{8, 1}});
  CHECK(widths("st.shared.v2.u32 [%r4], {%r10, %r11}; st.shared.v2.u32 [%r4+8], {%r12, %r13};") ==
        Widths{{16, 1}});
  CHECK(widths("st.shared.v2.u32 [%r4], {%r10, %r11};" + words({2})) == Widths{{8, 1}, {4, 1}});
  CHECK(widths("st.shared.v4.u32 [%r4], {%r10, %r11, %r12, %r13};" + words({4, 5})) ==
        Widths{{16, 1}, {8, 1}});
}

TEST_CASE("what stands between the stores", "[count][store_merging]") {
  const auto between = [](const std::string& text) {
    return widths(words({0}) + text + words({1}));
  };
  const Widths one = {{8, 1}}, two = {{4, 2}};
  CHECK(between("ld.global.u32 %r11, [%rd1];") == one);
  CHECK(between("st.global.u32 [%rd1], %r10;") == one);
  CHECK(between("red.global.add.u32 [%rd1], %r10;") == one);
  CHECK(between("shfl.sync.bfly.b32 %r11, %r12, 1, 31, -1;") == one);
  CHECK(between("vote.sync.ballot.b32 %r11, %p1, -1;") == one);
  CHECK(between("mad.lo.u32 %r11, %r12, 7, %r13;") == one);
  CHECK(between("ld.shared.u32 %r20, [%r4+64];") == two);
  CHECK(between("ld.shared.u32 %r20, [%r6+64];") == two);
  CHECK(between("red.shared.add.u32 [%r6], %r10;") == two);
  CHECK(between("bar.warp.sync -1;") == two);
  CHECK(between("bar.sync 0;") == two);
  CHECK(between("membar.cta;") == two);
  CHECK(between("@%p1 bra L;\nadd.u32 %r11, %r11, %r12;\nL:") == two);
  CHECK(between(words({0}, "%r6")) == Widths{{4, 3}});
  CHECK(between(words({0}, "%r8")) == Widths{{4, 3}});
  CHECK(between("add.u32 %r4, %r4, 16;") == two);
  // A place in between, then the same again: two arrays filled in turns do not merge.
  CHECK(widths(words({0}) + words({0}, "%r6") + words({1}) + words({1}, "%r6")) == Widths{{4, 4}});
  CHECK(widths(words({0, 128, 1, 129})) == Widths{{4, 4}});
  CHECK(widths(words({0, 1}) + words({0, 1}, "%r6")) == Widths{{8, 2}});
}

TEST_CASE("stores that stay as they are", "[count][store_merging]") {
  CHECK(widths("@%p1 " + words({0}) + "@%p1 " + words({1})) == Widths{{4, 2}});
  CHECK(widths(words({0}) + "@%p1 " + words({1})) == Widths{{4, 2}});
  CHECK(widths("st.volatile.shared.u32 [%r4], %r10; st.volatile.shared.u32 [%r4+4], %r11;") ==
        Widths{{4, 2}});
  CHECK(widths(words({0, 1, 0})) == Widths{{8, 1}, {4, 1}});
}

TEST_CASE("stores to several variables become one", "[count][store_merging]") {
  CHECK(widths("st.shared.u32 [first+8], %r10; st.shared.u32 [first+12], %r11;\n" +
               words({0}, "s")) == Widths{{8, 1}, {4, 1}});
  CHECK(widths("st.shared.u32 [first+16], %r10;\n" + words({0}, "s"), 16, 4) == Widths{{8, 1}});
  CHECK(widths("st.shared.u32 [first+16], %r10;\n" + words({0}, "s"), 16, 8) == Widths{{4, 2}});
  CHECK(widths("st.shared.u32 [first+16], %r10; st.shared.u32 [first+20], %r10;\n" +
                   words({0, 1}, "s"),
               16, 8) == Widths{{16, 1}});
}

TEST_CASE("a division that branches parts stores", "[count][store_merging]") {
  const auto around = [](const std::string& between) {
    return widths(words({0}) + between + words({1}));
  };
  CHECK(around("div.rn.f32 %f1, %f2, %f3;") == Widths{{4, 2}});
  CHECK(around("rcp.rn.f32 %f1, %f2;") == Widths{{4, 2}});
  CHECK(around("sqrt.rn.f32 %f1, %f2;") == Widths{{4, 2}});
  CHECK(around("div.rn.f64 %d1, %d2, %d3;") == Widths{{4, 2}});
  CHECK(around("div.full.f32 %f1, %f2, %f3;") == Widths{{8, 1}});
  CHECK(around("sqrt.approx.f32 %f1, %f2;") == Widths{{8, 1}});
  CHECK(around("rsqrt.approx.f32 %f1, %f2;") == Widths{{8, 1}});
  CHECK(around("rem.u32 %r30, %r31, %r32;") == Widths{{8, 1}});
}

TEST_CASE("merged stores are counted as one request", "[count][store_merging]") {
  Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<6>; .reg .b64 %rd<4>;
  .shared .align 16 .b8 s[1024];
  mov.u32 %r1, %tid.x; mov.u32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r4, %r2, %r3;
  st.shared.u32 [%r4+4], %r1;
  st.shared.u32 [%r4], %r1;
  st.shared.u32 [%r4+8], %r1;
  st.shared.u32 [%r4+12], %r1;
  ret;
})"));
  const LaunchReport r = gpu.run("k", {1, 1, 1}, {32, 1, 1}, std::uint64_t{0});
  CHECK(to_text(r.findings) == "");
  CHECK(r.total.shared_store.requests == 1);
  CHECK(r.total.shared_store.wavefronts == 4);  // 512 bytes, 128 of them in each
  CHECK(r.total.shared_store.ideal_wavefronts == 4);
  CHECK(r.total.shared_store.raw_requests == 4);
}

TEST_CASE("a product with 2 in a difference is a sum", "[count]") {
  const auto doubled = [](const std::string& body) {
    const ptx::Module m = parse_body(body);
    const std::vector<bool> found = count::find_doubled_sums(m.functions[0]);
    return std::count(found.begin(), found.end(), true);
  };
  const std::string two = "0f40000000", minus_two = "0fC0000000";
  // As nvcc 13.0 has it for sm_90: 2 x - y, y - 2 x, 1 - 2 x are sums ...
  CHECK(doubled("neg.f32 %f3, %f2; fma.rn.f32 %f4, %f1, " + two + ", %f3;") == 1);
  CHECK(doubled("fma.rn.f32 %f4, %f1, " + minus_two + ", %f2;") == 1);
  CHECK(doubled("fma.rn.f32 %f4, " + minus_two + ", %f1, %f2;") == 1);
  CHECK(doubled("fma.rn.f32 %f4, %f1, " + minus_two + ", 0f3F800000;") == 1);
  CHECK(doubled("neg.f64 %d3, %d2; fma.rn.f64 %d4, %d1, 0d4000000000000000, %d3;") == 1);
  // ... y + 2 x, 2 x - 1, -2 x - y, 4 x - y, 2 x - y z are not.
  CHECK(doubled("fma.rn.f32 %f4, %f1, " + two + ", %f2;") == 0);
  CHECK(doubled("fma.rn.f32 %f4, %f1, " + two + ", 0fBF800000;") == 0);
  CHECK(doubled("neg.f32 %f3, %f2; fma.rn.f32 %f4, %f1, " + minus_two + ", %f3;") == 0);
  CHECK(doubled("neg.f32 %f3, %f2; fma.rn.f32 %f4, %f1, 0f40800000, %f3;") == 0);
  CHECK(doubled("mul.f32 %f5, %f2, %f6; neg.f32 %f3, %f5; fma.rn.f32 %f4, %f1, " + two +
                ", %f3;") == 0);
}

TEST_CASE("multiply-adds that are sums are not counted", "[count]") {
  Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 out)
{
  .reg .f32 %f<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.global.f32 %f1, [%rd1];
  fma.rn.f32 %f2, %f1, 0fC0000000, 0f3F800000;
  fma.rn.f32 %f3, %f1, 0f40000000, %f2;
  st.global.f32 [%rd1+4], %f3;
  ret;
})"));
  const DevicePtr out = gpu.upload(std::vector<float>{3.0f, 0.0f}, "out");
  const LaunchReport r = gpu.run("k", {1, 1, 1}, {1, 1, 1}, out);
  CHECK(r.total.fma_f32 == 1);
  CHECK(gpu.download<float>(out, 2)[1] == 1.0f);
}

}  // namespace
}  // namespace simgpu::test
