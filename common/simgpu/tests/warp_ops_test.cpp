// What lanes do together: shuffles, votes, matches, atomics, barrier reductions, clocks and printf.
#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

// A kernel over `threads` lanes: %v = in[tid], %s = select[tid]; lanes with bit clear in the warp's
// member mask skip `body`; %x and %y go to out[2 * tid], out[2 * tid + 1].
struct Lanes {
  std::vector<u32> x, y;
};
Lanes run_lanes(const std::string& body, const std::vector<u32>& values,
                const std::vector<u32>& select, u32 members, u32 extra = 0) {
  const std::string ptx = ptx_module(R"(
.visible .entry k(.param .u64 in, .param .u64 select, .param .u64 out, .param .u32 members, .param .u32 extra)
{
  .reg .pred %p<4>; .reg .b32 %v, %s, %x, %y, %m, %t, %lane, %extra; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [select]; ld.param.u64 %rd3, [out];
  ld.param.u32 %m, [members]; ld.param.u32 %extra, [extra];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %rd4, %t, 4;
  add.s64 %rd1, %rd1, %rd4; add.s64 %rd2, %rd2, %rd4;
  shl.b64 %rd4, %rd4, 1; add.s64 %rd3, %rd3, %rd4;
  ld.global.u32 %v, [%rd1]; ld.global.u32 %s, [%rd2];
  mov.u32 %x, 0xDEADBEEF; mov.u32 %y, 0xDEADBEEF;
  mov.u32 %lane, %laneid;
  shr.u32 %t, %m, %lane; and.b32 %t, %t, 1; setp.eq.s32 %p0, %t, 0;
  @%p0 bra DONE;
  )" + body + R"(
DONE:
  st.global.v2.u32 [%rd3], {%x, %y};
  ret;
})");
  Gpu gpu(ptx);
  const DevicePtr in = gpu.upload(values, "in"), sel = gpu.upload(select, "select"),
                  out = gpu.device.alloc(values.size() * 8, "out");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {static_cast<u32>(values.size()), 1, 1}, in,
                                      sel, out, members, extra);
  CHECK(to_text(report.findings) == "");
  const std::vector<u32> got = gpu.download<u32>(out, values.size() * 2);
  Lanes lanes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    lanes.x.push_back(got[2 * i]);
    lanes.y.push_back(got[2 * i + 1]);
  }
  return lanes;
}

std::vector<u32> random_values(std::size_t n, u64 seed) {
  Random random(seed);
  std::vector<u32> values(n);
  for (u32& v : values) v = static_cast<u32>(random.next());
  return values;
}

// -----------------------------------------------------------------------------------------------
// shfl

// The pseudo-code of the ISA manual.
struct Source {
  u32 lane;
  bool valid;
};
Source shfl_source(const std::string& mode, u32 lane, u32 b, u32 c) {
  const u32 bval = b & 31, cval = c & 31, segment = (c >> 8) & 31;
  const u32 max_lane = (lane & segment) | (cval & ~segment & 31), min_lane = lane & segment;
  s32 j = 0;
  bool valid = false;
  if (mode == "up") {
    j = static_cast<s32>(lane) - static_cast<s32>(bval);
    valid = j >= static_cast<s32>(max_lane);
  }
  if (mode == "down") {
    j = static_cast<s32>(lane + bval);
    valid = j <= static_cast<s32>(max_lane);
  }
  if (mode == "bfly") {
    j = static_cast<s32>(lane ^ bval);
    valid = j <= static_cast<s32>(max_lane);
  }
  if (mode == "idx") {
    j = static_cast<s32>(min_lane | (bval & ~segment));
    valid = j <= static_cast<s32>(max_lane);
  }
  return {valid ? static_cast<u32>(j) : lane, valid};
}

TEST_CASE("shfl.sync: every mode, width, clamp, lane operand and member mask", "[opcode][warp]") {
  Random random(11);
  const std::vector<u32> values = random_values(64, 1);
  std::size_t checked = 0;
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    for (const u32 width : {32u, 16u, 8u, 4u, 2u, 1u}) {
      for (const u32 members : {0xFFFFFFFFu, 0x0F0FF0F3u, 0x00000001u}) {
        std::vector<u32> select(64);
        const u32 distance = random.below(40);
        for (u32& s : select) s = random.below(3) == 0 ? distance : random.below(64);
        const u32 c = ((32 - width) << 8) | (mode == "up" ? 0 : 31);
        const Lanes got = run_lanes(
            "shfl.sync." + mode + ".b32 %x|%p1, %v, %s, %extra, %m; selp.u32 %y, 1, 0, %p1;",
            values, select, members, c);
        for (u32 t = 0; t < 64; ++t) {
          const u32 lane = t % 32;
          if (((members >> lane) & 1) == 0) {
            CHECK(got.x[t] == 0xDEADBEEF);
            continue;
          }
          const Source source = shfl_source(mode, lane, select[t], c);
          INFO(mode << " width " << width << " lane " << lane << " operand " << select[t]);
          CHECK(got.y[t] == u32{source.valid});
          // Reading an inactive lane is undefined.
          if (((members >> source.lane) & 1) != 0)
            CHECK(got.x[t] == values[t / 32 * 32 + source.lane]);
          ++checked;
        }
      }
    }
  }
  CHECK(checked > 2000);
}

TEST_CASE("shfl.sync forms: immediates, no predicate, destination equal to source",
          "[opcode][warp]") {
  const std::vector<u32> values = random_values(32, 2), zeros(32, 0);
  const Lanes bfly = run_lanes(
      "shfl.sync.bfly.b32 %v, %v, 16, 31, -1; mov.u32 %x, %v;"
      "shfl.sync.down.b32 %y|%p1, %v, 1, 0x1f, 0xffffffff;",
      values, zeros, ~0u);
  for (u32 i = 0; i < 32; ++i) {
    CHECK(bfly.x[i] == values[i ^ 16]);
    CHECK(bfly.y[i] == values[(i == 31 ? i : i + 1) ^ 16]);
  }
}

// ----------------------------------------------------------------------------------- votes and
// matches

TEST_CASE("vote.sync under full and partial masks", "[opcode][warp]") {
  for (const u32 members : {0xFFFFFFFFu, 0x80000001u, 0x12345678u}) {
    for (const u32 truth : {0u, ~0u, 0x0000FFFFu, 0x12345678u, 1u}) {
      std::vector<u32> values(32);
      for (u32 i = 0; i < 32; ++i) values[i] = (truth >> i) & 1;
      const u32 seen = truth & members;
      const std::vector<u32> zeros(32, 0);
      const auto expect = [&](const std::string& form, u32 expected) {
        const Lanes got = run_lanes("setp.ne.s32 %p1, %v, 0; " + form, values, zeros, members);
        for (u32 i = 0; i < 32; ++i) {
          INFO(form << " members " << members << " truth " << truth << " lane " << i);
          CHECK(got.x[i] == (((members >> i) & 1) != 0 ? expected : 0xDEADBEEF));
        }
      };
      const std::string to_x = " selp.u32 %x, 1, 0, %p2;";
      expect("vote.sync.ballot.b32 %x, %p1, %m;", seen);
      expect("vote.sync.ballot.b32 %x, !%p1, %m;", ~truth & members);
      expect("vote.sync.any.pred %p2, %p1, %m;" + to_x, seen != 0);
      expect("vote.sync.all.pred %p2, %p1, %m;" + to_x, seen == members);
      expect("vote.sync.all.pred %p2, !%p1, %m;" + to_x, seen == 0);
      expect("vote.sync.uni.pred %p2, %p1, %m;" + to_x, seen == 0 || seen == members);
      expect("activemask.b32 %x;", members);
    }
  }
}

TEST_CASE("match.sync finds equal values", "[opcode][warp]") {
  for (const u32 members : {0xFFFFFFFFu, 0xF000000Fu, 0x00010000u}) {
    std::vector<u32> values(32);
    Random random(members);
    for (u32& v : values) v = random.below(4);
    const std::vector<u32> zeros(32, 0);
    const Lanes any = run_lanes("match.any.sync.b32 %x, %v, %m;", values, zeros, members);
    const Lanes wide = run_lanes("mov.b64 %rd5, {%extra, %v}; match.any.sync.b64 %x, %rd5, %m;",
                                 values, zeros, members);
    for (u32 i = 0; i < 32; ++i) {
      if (((members >> i) & 1) == 0) continue;
      u32 same = 0;
      for (u32 j = 0; j < 32; ++j)
        same |= u32{((members >> j) & 1) != 0 && values[j] == values[i]} << j;
      CHECK(any.x[i] == same);
      CHECK(wide.x[i] == same);
    }
    for (const bool equal : {false, true}) {
      std::vector<u32> v = values;
      if (equal) std::fill(v.begin(), v.end(), 9u);
      const Lanes all = run_lanes("match.all.sync.b32 %x|%p1, %v, %m; selp.u32 %y, 1, 0, %p1;", v,
                                  zeros, members);
      std::set<u32> distinct;
      for (u32 i = 0; i < 32; ++i) {
        if (((members >> i) & 1) != 0) distinct.insert(v[i]);
      }
      for (u32 i = 0; i < 32; ++i) {
        if (((members >> i) & 1) == 0) continue;
        CHECK(all.x[i] == (distinct.size() == 1 ? members : 0));
        CHECK(all.y[i] == u32{distinct.size() == 1});
      }
    }
  }
}

TEST_CASE("redux.sync and elect.sync", "[opcode][warp]") {
  const std::vector<u32> values = random_values(32, 5), zeros(32, 0);
  for (const u32 members : {0xFFFFFFFFu, 0x00FF00F0u}) {
    u32 sum = 0, all = ~0u, any = 0, odd = 0, low = ~0u, high = 0;
    s32 slow = INT32_MAX, shigh = INT32_MIN;
    for (u32 i = 0; i < 32; ++i) {
      if (((members >> i) & 1) == 0) continue;
      sum += values[i];
      all &= values[i];
      any |= values[i];
      odd ^= values[i];
      low = std::min(low, values[i]);
      high = std::max(high, values[i]);
      slow = std::min(slow, static_cast<s32>(values[i]));
      shigh = std::max(shigh, static_cast<s32>(values[i]));
    }
    const std::map<std::string, u32> expected = {{"add.u32", sum},
                                                 {"add.s32", sum},
                                                 {"min.u32", low},
                                                 {"max.u32", high},
                                                 {"min.s32", static_cast<u32>(slow)},
                                                 {"max.s32", static_cast<u32>(shigh)},
                                                 {"and.b32", all},
                                                 {"or.b32", any},
                                                 {"xor.b32", odd}};
    for (const auto& [form, value] : expected) {
      const Lanes got = run_lanes("redux.sync." + form + " %x, %v, %m;", values, zeros, members);
      INFO("redux.sync." << form);
      for (u32 i = 0; i < 32; ++i)
        CHECK(got.x[i] == (((members >> i) & 1) != 0 ? value : 0xDEADBEEF));
    }
  }
}

// ---------------------------------------------------------------------------------------------
// atomics

// One thread per address: the return is the old value, the memory the new one.
template <typename T>
void atomic_form(const std::string& op, const std::string& type, T (*apply)(T old, T operand),
                 bool has_red = true) {
  constexpr std::size_t n = 64;
  Random random(op.size() + sizeof(T));
  std::vector<T> initial(n), operand(n);
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      initial[i] = static_cast<T>(random.below(1000)) / 8;
      operand[i] = static_cast<T>(random.below(1000)) / -16;
    } else {
      initial[i] = static_cast<T>(i % 4 == 0 ? i % 8 : random.next());
      operand[i] = static_cast<T>(i % 4 < 2 ? i % 7 : random.next());
    }
  }
  const unsigned bytes = sizeof(T);
  const std::string reg = bytes == 8 ? "b64" : "b32";
  for (const std::string space : {"global", "shared", ""}) {
    const std::string dot = space.empty() ? "" : "." + space;
    for (const bool red : {false, true}) {
      if (red && !has_red) continue;
      // Generic form: on the shared array, which the plain global form does not reach.
      const std::string ptx = ptx_module(
          R"(
.visible .entry k(.param .u64 memory, .param .u64 operand, .param .u64 old)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .)" +
          reg + R"( %v, %o, %w; .reg .b64 %rd<8>;
  .shared .align 16 .b8 box[512];
  ld.param.u64 %rd1, [memory]; ld.param.u64 %rd2, [operand]; ld.param.u64 %rd3, [old];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, )" +
          std::to_string(bytes) + R"(;
  add.s64 %rd1, %rd1, %rd4; add.s64 %rd2, %rd2, %rd4; add.s64 %rd3, %rd3, %rd4;
  mov.u64 %rd5, box; add.s64 %rd5, %rd5, %rd4;
  ld.global.)" +
          reg + R"( %v, [%rd2];
)" +
          (space == "global"
               ? "  mov.u64 %rd6, %rd1;\n"
               : "  ld.global." + reg + " %o, [%rd1]; st.shared." + reg + " [%rd5], %o; " +
                     (space.empty() ? "cvta.shared.u64 %rd6, %rd5;\n" : "mov.u64 %rd6, %rd5;\n")) +
          "  mov." + reg + " %o, 0;\n" +
          (red ? "  red" + dot + "." + op + "." + type + " [%rd6], %v;\n"
               : "  atom" + dot + "." + op + "." + type + " %o, [%rd6], %v;\n") +
          (space == "global"
               ? ""
               : "  ld.shared." + reg + " %w, [%rd5]; st.global." + reg + " [%rd1], %w;\n") +
          "  st.global." + reg + " [%rd3], %o;\n  ret;\n}\n");
      INFO((red ? "red" : "atom") << dot << "." << op << "." << type);
      Gpu gpu(ptx);
      const DevicePtr memory = gpu.upload(initial, "memory"),
                      operands = gpu.upload(operand, "operand"),
                      old = gpu.device.alloc(n * bytes, "old");
      const LaunchReport report = gpu.run("k", {1, 1, 1}, {n, 1, 1}, memory, operands, old);
      CHECK(to_text(report.findings).empty());
      const std::vector<T> after = gpu.download<T>(memory, n), returned = gpu.download<T>(old, n);
      for (std::size_t i = 0; i < n; ++i) {
        CHECK(after[i] == apply(initial[i], operand[i]));
        if (!red) CHECK(returned[i] == initial[i]);
      }
      if (space == "global") {
        CHECK(report.total.global_atomic.requests == 2);
        CHECK(report.total.global_atomic.sectors == 2 * bytes);
        REQUIRE(of_buffer(report, "memory") != nullptr);
        CHECK(of_buffer(report, "memory")->atomic.requests == 2);
      } else {
        CHECK(report.total.shared_atomic.raw_requests == 2);
      }
    }
  }
}

TEST_CASE("atom and red: every operation and type, in global, shared and generic",
          "[opcode][atomic]") {
  atomic_form<u32>("add", "u32", [](u32 a, u32 b) { return a + b; });
  atomic_form<u32>("add", "s32", [](u32 a, u32 b) { return a + b; });
  atomic_form<u64>("add", "u64", [](u64 a, u64 b) { return a + b; });
  atomic_form<float>("add", "f32", [](float a, float b) { return a + b; });
  atomic_form<double>("add", "f64", [](double a, double b) { return a + b; });
  atomic_form<u32>("min", "u32", [](u32 a, u32 b) { return std::min(a, b); });
  atomic_form<u32>("max", "u32", [](u32 a, u32 b) { return std::max(a, b); });
  atomic_form<s32>("min", "s32", [](s32 a, s32 b) { return std::min(a, b); });
  atomic_form<s32>("max", "s32", [](s32 a, s32 b) { return std::max(a, b); });
  atomic_form<u64>("min", "u64", [](u64 a, u64 b) { return std::min(a, b); });
  atomic_form<u64>("max", "u64", [](u64 a, u64 b) { return std::max(a, b); });
  atomic_form<s64>("min", "s64", [](s64 a, s64 b) { return std::min(a, b); });
  atomic_form<s64>("max", "s64", [](s64 a, s64 b) { return std::max(a, b); });
  atomic_form<u32>("inc", "u32", [](u32 a, u32 b) { return a >= b ? 0 : a + 1; });
  atomic_form<u32>("dec", "u32", [](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; });
  atomic_form<u32>("and", "b32", [](u32 a, u32 b) { return a & b; });
  atomic_form<u32>("or", "b32", [](u32 a, u32 b) { return a | b; });
  atomic_form<u32>("xor", "b32", [](u32 a, u32 b) { return a ^ b; });
  atomic_form<u64>("and", "b64", [](u64 a, u64 b) { return a & b; });
  atomic_form<u64>("or", "b64", [](u64 a, u64 b) { return a | b; });
  atomic_form<u64>("xor", "b64", [](u64 a, u64 b) { return a ^ b; });
  atomic_form<u32>(
      "exch", "b32", [](u32, u32 b) { return b; }, false);
  atomic_form<u64>(
      "exch", "b64", [](u64, u64 b) { return b; }, false);
}

TEST_CASE("scopes and orders of atomics", "[opcode][atomic]") {
  for (const std::string prefix :
       {"atom.relaxed.gpu.global", "atom.acq_rel.sys.global", "atom.global.cta",
        "atom.acquire.cta.global", "atom.release.gpu.global", "atom.global.gpu"}) {
    const std::vector<u32> zeros(32, 0);
    const Lanes got =
        run_lanes(prefix + ".add.u32 %x, [%rd1], 5; ld.global.u32 %y, [%rd1];", zeros, zeros, ~0u);
    INFO(prefix);
    CHECK(got.x == zeros);
    CHECK(got.y == std::vector<u32>(32, 5));
  }
}

TEST_CASE("atom.cas", "[opcode][atomic]") {
  // values: what memory holds; select: the value compared with; new value 77.
  std::vector<u32> values(32), select(32);
  for (u32 i = 0; i < 32; ++i) values[i] = i, select[i] = i % 3 == 0 ? i : i + 1;
  const Lanes got = run_lanes("atom.global.cas.b32 %x, [%rd1], %s, 77; ld.global.u32 %y, [%rd1];",
                              values, select, ~0u);
  for (u32 i = 0; i < 32; ++i) {
    CHECK(got.x[i] == i);
    CHECK(got.y[i] == (i % 3 == 0 ? 77 : i));
  }
}

TEST_CASE("lanes that meet in one address see each other's updates in some order",
          "[opcode][atomic]") {
  const std::vector<u32> values(32, 100);
  std::vector<u32> select(32);
  for (u32 i = 0; i < 32; ++i) select[i] = i + 1;
  const std::string first = "ld.param.u64 %rd6, [in]; ";
  {
    Lanes got = run_lanes(first + "atom.global.add.u32 %x, [%rd6], 1;", values, select, ~0u);
    std::sort(got.x.begin(), got.x.end());
    for (u32 i = 0; i < 32; ++i) CHECK(got.x[i] == 100 + i);
  }
  {
    Lanes got = run_lanes(
        first + "atom.global.exch.b32 %x, [%rd6], %s; bar.warp.sync -1; ld.global.u32 %y, [%rd6];",
        values, select, ~0u);
    std::multiset<u32> seen(got.x.begin(), got.x.end()), expected(select.begin(), select.end());
    seen.insert(got.y[0]);
    expected.insert(100);
    CHECK(seen == expected);
  }
  {
    const Lanes got =
        run_lanes(first +
                      // Not in[0]: lane 0 has read that and is not synchronised with these lanes.
                      "atom.global.cas.b32 %x, [%rd6+64], 100, %s; bar.warp.sync 0xFFFF0000; "
                      "ld.global.u32 %y, [%rd6+64];",
                  values, select, 0xFFFF0000u);
    CHECK(std::count(got.x.begin(), got.x.end(), 100u) == 1);  // one winner
    const auto winner =
        static_cast<std::size_t>(std::find(got.x.begin(), got.x.end(), 100u) - got.x.begin());
    CHECK(got.y[16] == select[winner]);
  }
  {
    Lanes got = run_lanes(first + "atom.global.inc.u32 %x, [%rd6], 9;", std::vector<u32>(32, 8),
                          select, ~0u);
    CHECK(std::count(got.x.begin(), got.x.end(), 9u) == 4);  // 8 9 0 1 ... 9 0 ... 9 0 ... 9 then 0
  }
}

TEST_CASE("atomics of many blocks in one word", "[opcode][atomic]") {
  const std::string ptx = ptx_module(R"(
.visible .entry k(.param .u64 sum, .param .u64 order)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [sum]; ld.param.u64 %rd2, [order];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  red.global.add.u32 [%rd1], 1;
  setp.ne.s32 %p, %r1, 0;
  @%p ret;
  atom.global.add.u32 %r3, [%rd1+4], 1;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd2, %rd2, %rd3;
  st.global.u32 [%rd2], %r2;
  ret;
})");
  Gpu gpu(ptx);
  const DevicePtr sum = gpu.upload(std::vector<u32>{0, 0}, "sum"),
                  order = gpu.device.alloc(400 * 4, "order");
  const LaunchReport report = gpu.run("k", {400, 1, 1}, {96, 1, 1}, sum, order);
  CHECK(to_text(report.findings).empty());
  CHECK(gpu.download<u32>(sum, 2) == std::vector<u32>{400 * 96, 400});
  // Blocks of a kernel with global atomics run in order: "last block" patterns are reproducible.
  const std::vector<u32> got = gpu.download<u32>(order, 400);
  for (u32 i = 0; i < 400; ++i) CHECK(got[i] == i);
}

TEST_CASE("fences and other orderings run", "[opcode][barrier]") {
  const std::vector<u32> zeros(32, 0);
  run_lanes(
      "membar.cta; membar.gl; membar.sys; fence.acq_rel.gpu; fence.sc.sys; fence.acq_rel.cta; "
      "nanosleep.u32 20; "
      "prefetch.global.L2 [%rd1]; mov.u32 %x, 0;",
      zeros, zeros, 0x0000FFFFu);
}

TEST_CASE("clocks move forward", "[opcode][warp]") {
  const std::vector<u32> zeros(32, 0);
  const Lanes got = run_lanes(R"(
  { .reg .u64 a, b, c; .reg .u32 i; .reg .pred q;
    mov.u64 a, %clock64; mov.u32 i, 0;
  LOOP: add.u32 i, i, 1; setp.lt.u32 q, i, 100; @q bra LOOP;
    mov.u64 b, %clock64; sub.u64 c, b, a; cvt.u32.u64 %x, c;
    mov.u64 a, %globaltimer; mov.u64 b, %globaltimer; setp.ge.u64 q, b, a; selp.u32 %y, 1, 0, q;
    mov.u32 i, %clock; mov.u32 i, %clock_hi; })",
                              zeros, zeros, ~0u);
  for (u32 i = 0; i < 32; ++i) {
    CHECK(got.x[i] > 100);
    CHECK(got.x[i] < 1000000);
    CHECK(got.y[i] == 1);
  }
}

}  // namespace
}  // namespace simgpu::test
