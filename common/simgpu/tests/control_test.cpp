// Divergence: compiled kernels against their host twins, with partial warps, and hand-written PTX
// for what compilers do not emit.
#include <algorithm>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;

std::vector<int> inputs(std::size_t n, u32 below, u32 seed = 3) {
  Random random(seed);
  std::vector<int> values(n);
  for (int& v : values) v = static_cast<int>(random.below(below));
  return values;
}

constexpr int kSentinel = -777777;

// Runs `kernel(in, out, extra...)` with every compiler and compares with `twin(in, i)`.
template <typename Twin, typename... A>
void against_twin(const std::string& kernel, const std::vector<int>& in, Dim3 grid, Dim3 block,
                  Twin twin, A... extra) {
  for (const Clang& clang : clangs()) {
    INFO(kernel << " by " << clang.command);
    Gpu gpu(compile("control.cu", clang));
    const DevicePtr d_in = gpu.upload(in, "in");
    const DevicePtr d_out = gpu.upload(std::vector<int>(in.size(), kSentinel), "out");
    const LaunchReport report = gpu.run(kernel, grid, block, d_in, d_out, extra...);
    CHECK(to_text(report.findings).empty());
    CHECK(report.completed);
    const std::vector<int> got = gpu.download<int>(d_out, in.size());
    std::size_t wrong = 0, first = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (got[i] == twin(in, static_cast<int>(i))) continue;
      if (wrong++ == 0) first = i;
    }
    INFO("element " << first << ": " << got[first] << " instead of "
                    << twin(in, static_cast<int>(first)));
    CHECK(wrong == 0);
  }
}

TEST_CASE("nested ifs", "[control]") {
  against_twin("nested_ifs", inputs(256, 1000), {2, 1, 1}, {128, 1, 1},
               [](const std::vector<int>& in, int i) {
                 const auto at = [&in](int k) { return in[static_cast<std::size_t>(k)]; };
                 const int v = at(i);
                 int r = 0;
                 if (v & 1) {
                   r += 1;
                   if (v & 2) {
                     r += 10;
                     r = v & 4 ? r + 100 * at(i ^ 1) : r - at(i ^ 2);
                   } else if (v & 8) {
                     r ^= at(i ^ 4);
                   }
                   r *= 3;
                 } else if (v % 3 == 0) {
                   r = at(i ^ 8) + 7;
                 }
                 return r + v;
               });
}

TEST_CASE("loops with a trip count per lane", "[control]") {
  std::vector<int> in = inputs(200, 5000);
  for (int& v : in) v += 1;
  against_twin("trip_counts", in, {2, 1, 1}, {100, 1, 1},
               [](const std::vector<int>& values, int i) {
                 u32 x = static_cast<u32>(values[static_cast<std::size_t>(i)]);
                 int steps = 0;
                 for (; x != 1 && steps < 200; ++steps) x = x & 1 ? 3 * x + 1 : x / 2;
                 return steps;
               });
}

TEST_CASE("break and continue in nested loops", "[control]") {
  const int n = 96;
  against_twin(
      "break_continue", inputs(96, 60), {2, 1, 1}, {48, 1, 1},
      [](const std::vector<int>& in, int i) {
        const int count = static_cast<int>(in.size());
        int sum = 0;
        for (int k = 0; k < count; ++k) {
          const int v = in[static_cast<std::size_t>((i + k) % count)];
          if (v % 7 == 3) continue;
          for (int m = 0; m < 5; ++m) {
            if (v + m == i) break;
            if ((v ^ m) % 5 == 0) continue;
            sum += v * (m + 1);
          }
          if (sum > 1000 + i) break;
          sum -= 1;
        }
        return sum;
      },
      n);
}

TEST_CASE("early returns", "[control]") {
  std::vector<int> in = inputs(128, 100);
  for (std::size_t i = 0; i < in.size(); i += 3) in[i] = -1;
  against_twin("early_return", in, {2, 1, 1}, {64, 1, 1},
               [](const std::vector<int>& values, int i) {
                 const int v = values[static_cast<std::size_t>(i)];
                 if (v < 0) return kSentinel;
                 if (v % 2 == 0) return v + 1;
                 return v % 3 == 0 ? -v : v * 5 + 1;
               });
}

TEST_CASE("return after the last barrier is no mistake", "[control]") {
  against_twin("return_after_barrier", inputs(64, 100), {1, 1, 1}, {64, 1, 1},
               [](const std::vector<int>& in, int i) {
                 return i % 3 == 0 ? kSentinel : in[static_cast<std::size_t>(63 - i)];
               });
}

TEST_CASE("switch, with a jump table or without", "[control]") {
  against_twin("switch_cases", inputs(256, 500), {4, 1, 1}, {64, 1, 1},
               [](const std::vector<int>& in, int i) {
                 const auto at = [&in](int k) { return in[static_cast<std::size_t>(k)]; };
                 const int v = at(i);
                 switch (v % 9) {
                   case 0:
                     return at(i ^ 1);
                   case 1:
                     return (v + 5) * 7;
                   case 2:
                     return v * 7;
                   case 3:
                     return 12345;
                   case 4:
                     return v * v - 1;
                   case 5:
                     return v ^ at(i ^ 2);
                   case 6:
                     return v - 99;
                   case 7:
                     return ~v;
                   default:
                     return -1;
                 }
               });
}

int twice(int x) {
  return x > 10 ? 2 * x : x - 1;
}
int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

TEST_CASE("calls from diverged lanes, parameters of every width", "[control][call]") {
  against_twin("divergent_calls", inputs(128, 100), {1, 1, 1}, {128, 1, 1},
               [](const std::vector<int>& in, int i) {
                 int v = in[static_cast<std::size_t>(i)];
                 if (v % 4 == 0) return kSentinel;
                 if (v % 2) v = static_cast<int>(1.5f * static_cast<float>(v) * 2) + twice(v);
                 return v + twice(v);
               });
}

TEST_CASE("recursion", "[control][call]") {
  against_twin("recursion", inputs(64, 1000), {1, 1, 1}, {64, 1, 1},
               [](const std::vector<int>& in, int i) {
                 const int v = in[static_cast<std::size_t>(i)];
                 return v & 1 ? (v % 40) * (v % 40 + 1) / 2 : fibonacci(v % 9);
               });
}

TEST_CASE("a local array handed to a function", "[control][call]") {
  against_twin("local_array_through_call", inputs(64, 50), {1, 1, 1}, {64, 1, 1},
               [](const std::vector<int>& in, int i) {
                 int s = 0;
                 for (int k = 0; k < 12; ++k)
                   s = s * 3 + in[static_cast<std::size_t>(i)] * ((k * 5 + i) % 12) + 1;
                 return s;
               });
}

TEST_CASE("barriers inside a loop around divergent code", "[control]") {
  const std::vector<int> in = inputs(192, 1000);
  std::vector<int> box = in;
  for (int round = 0; round < 7; ++round) {
    std::vector<int> next = box;
    for (std::size_t b = 0; b < 2; ++b) {
      for (std::size_t t = 0; t < 96; ++t) {
        int v = box[b * 96 + (t + 1) % 96];
        if (v % 2) v = v * 3 + 1;
        next[b * 96 + t] = v & 0xFFFF;
      }
    }
    box = next;
  }
  against_twin(
      "loop_with_barriers", in, {2, 1, 1}, {96, 1, 1},
      [&box](const std::vector<int>&, int i) { return box[static_cast<std::size_t>(i)]; }, 7);
}

TEST_CASE("short-circuit conditions guard their loads", "[control]") {
  const std::vector<int> in = inputs(100, 30);
  // Exactly as many threads as elements: a load that ignores its condition is out of bounds.
  against_twin(
      "short_circuit", in, {1, 1, 1}, {100, 1, 1},
      [](const std::vector<int>& values, int i) {
        int hits = 0;
        for (int j = i - 2; j < i + 3; ++j) {
          if (j < 0 || j >= 100) continue;
          const int v = values[static_cast<std::size_t>(j)];
          hits += v > values[static_cast<std::size_t>(i)] && (v & 1 || v % 3 == 0);
        }
        return hits;
      },
      100);
}

TEST_CASE("active lanes are counted exactly", "[control][count]") {
  for (const Clang& clang : clangs()) {
    INFO(clang.command);
    Gpu gpu(compile("control.cu", clang));
    const std::vector<int> trips = inputs(32, 8);
    const DevicePtr d_trips = gpu.upload(trips, "trips"), out = gpu.device.alloc(32 * 8 * 4, "out");
    const LaunchReport report = gpu.run("active_lanes", {1, 1, 1}, {32, 1, 1}, d_trips, out);
    CHECK(to_text(report.findings).empty());
    u32 lanes = 0, longest = 0;
    for (const int n : trips)
      lanes += static_cast<u32>(n), longest = std::max(longest, static_cast<u32>(n));
    CHECK(report.total.global_store.bytes == lanes * 4);
    CHECK(report.total.thread_instructions > report.total.warp_instructions);
    CHECK(report.total.thread_instructions < 32 * report.total.warp_instructions);
    // Unrolled or not, lanes of the same iteration go together.
    CHECK(report.total.global_store.requests >= longest);
    CHECK(report.total.global_store.requests <= 2 * longest);
  }
}

// A warp's instructions, counted by hand: 10 full, then 4 of 12 lanes, then 3 full.
TEST_CASE("thread and warp instructions of a diverging snippet", "[control][count]") {
  const std::string ptx = ptx_module(R"(
.visible .entry k()
{
  .reg .pred %p; .reg .b32 %r<8>;
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p, %r1, 12;
  @%p bra JOIN;
  add.s32 %r2, %r1, 1;
  add.s32 %r2, %r2, 1;
  add.s32 %r2, %r2, 1;
  @%p add.s32 %r2, %r2, 1;
JOIN:
  xor.b32 %r2, %r1, 5;
  ret;
})");
  Gpu gpu(ptx);
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {32, 1, 1});
  // A guarded instruction whose guard is false in every lane executes in none: not a warp
  // instruction.
  CHECK(report.total.warp_instructions == 3 + 3 + 2);
  CHECK(report.total.thread_instructions == 3 * 32 + 3 * 12 + 2 * 32);
  const auto by_class = [&report](InstructionClass c) {
    return report.total.thread_instructions_by_class[static_cast<std::size_t>(c)];
  };
  CHECK(by_class(InstructionClass::integer) == 36);
  CHECK(by_class(InstructionClass::compare) == 32);
  CHECK(by_class(InstructionClass::logic) == 32);
  CHECK(by_class(InstructionClass::move) == 32);
  CHECK(by_class(InstructionClass::control) == 64);
}

// -------------------------------------------------------------------------------------
// hand-written PTX

std::vector<u32> run_words(const std::string& body, u32 threads, const std::string& before = "") {
  Gpu gpu(ptx_module(before + R"(
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
)" + body + "\n}\n"));
  const DevicePtr out = gpu.upload(std::vector<u32>(threads, 0xDEAD), "out");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {threads, 1, 1}, out);
  CHECK(to_text(report.findings).empty());
  CHECK(report.completed);
  return gpu.download<u32>(out, threads);
}

TEST_CASE("brx.idx jumps every lane to its own target", "[control]") {
  const std::vector<u32> got = run_words(R"(
  rem.u32 %r2, %r1, 3;
TABLE: .branchtargets L0, L1, L2;
  brx.idx %r2, TABLE;
L0: mov.u32 %r3, 100; bra DONE;
L1: mov.u32 %r3, 200; bra DONE;
L2: add.s32 %r3, %r1, 300;
DONE:
  st.global.u32 [%rd1], %r3;
  ret;)",
                                         64);
  for (u32 t = 0; t < 64; ++t) CHECK(got[t] == (t % 3 == 0 ? 100 : t % 3 == 1 ? 200 : t + 300));
}

TEST_CASE("backward branches out of order, and code after ret", "[control]") {
  // Blocks stand in the text in an order that no compiler would choose.
  const std::vector<u32> got = run_words(R"(
  mov.u32 %r3, 0;
  and.b32 %r2, %r1, 7;
  bra.uni TEST;
TAIL:
  st.global.u32 [%rd1], %r3;
  ret;
BODY:
  add.s32 %r3, %r3, %r2;
  sub.s32 %r2, %r2, 1;
TEST:
  setp.eq.s32 %p1, %r2, 0;
  @%p1 bra TAIL;
  bra BODY;)",
                                         40);
  for (u32 t = 0; t < 40; ++t) CHECK(got[t] == (t & 7) * ((t & 7) + 1) / 2);
}

TEST_CASE("guarded ret and exit, in functions and kernels", "[control][call]") {
  const std::string callee = R"(
.func (.param .b32 result) pick(.param .b32 x, .param .b32 out_of)
{
  .reg .pred %p<3>; .reg .b32 %r<4>;
  ld.param.u32 %r1, [x];
  ld.param.u32 %r2, [out_of];
  mov.u32 %r3, 1;
  st.param.b32 [result], %r3;
  setp.lt.u32 %p1, %r1, 5;
  @%p1 ret;
  setp.gt.u32 %p2, %r1, 20;
  @%p2 exit;
  add.s32 %r3, %r1, %r2;
  st.param.b32 [result], %r3;
  ret;
}
)";
  const std::vector<u32> got = run_words(R"(
  {
    .param .b32 a; .param .b32 b; .param .b32 r;
    st.param.b32 [a], %r1;
    st.param.b32 [b], 1000;
    call.uni (r), pick, (a, b);
    ld.param.b32 %r4, [r];
  }
  st.global.u32 [%rd1], %r4;
  ret;)",
                                         32, callee);
  for (u32 t = 0; t < 32; ++t) CHECK(got[t] == (t < 5 ? 1 : t > 20 ? 0xDEAD : t + 1000));
}

TEST_CASE("calls: nested, guarded, struct parameters, no result, forward declaration",
          "[control][call]") {
  const std::string functions = R"(
.func (.param .b64 r) outer(.param .align 8 .b8 s[16]);
.func (.param .b32 r) inner(.param .b32 x)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [x];
  mul.lo.s32 %r1, %r1, 3;
  st.param.b32 [r], %r1;
  ret;
}
.func nothing() { ret; }
.func (.param .b64 r) outer(.param .align 8 .b8 s[16])
{
  .reg .b32 %r<5>; .reg .b64 %rd<3>;
  ld.param.v2.u32 {%r1, %r2}, [s];
  ld.param.u64 %rd1, [s+8];
  { .param .b32 p; .param .b32 q;
    st.param.b32 [p], %r1;
    call.uni (q), inner, (p);
    ld.param.b32 %r3, [q]; }
  call.uni nothing, ();
  call nothing;
  add.s32 %r3, %r3, %r2;
  cvt.u64.u32 %rd2, %r3;
  add.s64 %rd2, %rd2, %rd1;
  st.param.b64 [r], %rd2;
  ret;
}
)";
  const std::vector<u32> got = run_words(R"(
  mov.u32 %r4, 7;
  and.b32 %r2, %r1, 1;
  setp.eq.s32 %p1, %r2, 0;
  mov.u64 %rd3, 0;
  {
    .param .align 8 .b8 s[16]; .param .b64 r;
    st.param.v2.b32 [s], {%r1, %r4};
    st.param.b64 [s+8], 1000;
    @!%p1 bra OVER;
    call (r), outer, (s);
    ld.param.b64 %rd3, [r];
OVER:
  }
  cvt.u32.u64 %r3, %rd3;
  st.global.u32 [%rd1], %r3;
  ret;)",
                                         48, functions);
  for (u32 t = 0; t < 48; ++t) CHECK(got[t] == (t % 2 == 0 ? 3 * t + 7 + 1000 : 0));
}

TEST_CASE("registers of a caller survive recursion", "[control][call]") {
  const std::string functions = R"(
.func (.param .b32 r) power(.param .b32 x, .param .b32 n)
{
  .reg .pred %p; .reg .b32 %r<8>;
  ld.param.u32 %r1, [x]; ld.param.u32 %r2, [n];
  mov.u32 %r3, 1;
  setp.eq.s32 %p, %r2, 0;
  @%p bra END;
  sub.s32 %r4, %r2, 1;
  { .param .b32 a; .param .b32 b; .param .b32 c;
    st.param.b32 [a], %r1; st.param.b32 [b], %r4;
    call.uni (c), power, (a, b);
    ld.param.b32 %r5, [c]; }
  mad.lo.s32 %r3, %r5, %r1, %r2;
END:
  st.param.b32 [r], %r3;
  ret;
}
)";
  const std::vector<u32> got = run_words(R"(
  and.b32 %r2, %r1, 7; and.b32 %r3, %r1, 3;
  { .param .b32 a; .param .b32 b; .param .b32 c;
    st.param.b32 [a], %r3; st.param.b32 [b], %r2;
    call.uni (c), power, (a, b);
    ld.param.b32 %r4, [c]; }
  st.global.u32 [%rd1], %r4;
  ret;)",
                                         64, functions);
  for (u32 t = 0; t < 64; ++t) {
    u32 expected = 1;
    for (u32 n = 1; n <= (t & 7); ++n) expected = expected * (t & 3) + n;
    CHECK(got[t] == expected);
  }
}

TEST_CASE("scopes: registers and labels of inline PTX are their own", "[control]") {
  const std::vector<u32> got = run_words(R"(
  mov.u32 %r2, 5;
  { .reg .b32 %r2; .reg .pred p; mov.u32 %r2, 9; setp.gt.u32 p, %r1, 3; @p bra L; add.s32 %r2, %r2, 1; L: mov.u32 %r3, %r2; }
  { .reg .pred p; setp.gt.u32 p, %r1, 7; @p bra L; add.s32 %r3, %r3, 100; L: }
  add.s32 %r3, %r3, %r2;
  st.global.u32 [%rd1], %r3;
  ret;)",
                                         16);
  for (u32 t = 0; t < 16; ++t) CHECK(got[t] == (t > 3 ? 9u : 10u) + (t > 7 ? 0u : 100u) + 5u);
}

TEST_CASE("warps of a block that is no multiple of 32, in three dimensions", "[control]") {
  Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  activemask.b32 %r1;
  popc.b32 %r1, %r1;
  red.global.add.u32 [%rd1], 1;
  red.global.max.u32 [%rd1+4], %r1;
  red.global.min.u32 [%rd1+8], %r1;
  ret;
})"));
  const DevicePtr out = gpu.upload(std::vector<u32>{0, 0, 99}, "out");
  gpu.run("k", {1, 2, 1}, {7, 3, 5}, out);
  CHECK(gpu.download<u32>(out, 3) == std::vector<u32>{210, 32, 105 - 96});
}

}  // namespace
}  // namespace simgpu::test
