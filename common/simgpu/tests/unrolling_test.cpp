// Loops as ptxas unrolls them: what the lanes of a warp then do together, and what apart.
#include <algorithm>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

/// One load a turn. %r2 counts, %r3 holds how many turns are wanted.
struct Loop {
  std::string start = "mov.u32 %r2, 0;", step = "1", condition = "lt.s32 %p1, %r2, %r3";
  std::string pragma{};  ///< at the head
  std::string more{};    ///< in the body
  std::string back = "@%p1 bra L;";
};
/// The turns of a warp's lower half and upper half.
struct Turns {
  unsigned lower = 20, upper = 15;
};

/// What a warp loads in such a loop. Every lane must have taken the turns it was to take.
std::uint64_t requests(const Loop& loop, Turns turns = {}) {
  Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 lower, .param .u32 upper)
{
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .f32 %f<4>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
  ld.param.u32 %r5, [lower]; ld.param.u32 %r6, [upper];
  setp.lt.u32 %p2, %r1, 16; selp.b32 %r3, %r5, %r6, %p2;
  mov.u32 %r4, 0;
  )" + loop.start + "\nL:\n" +
                     loop.pragma + R"(
  ld.global.f32 %f1, [%rd2];
  add.s32 %r4, %r4, 1;
  )" + loop.more + "\nadd.s32 %r2, %r2, " +
                     loop.step + ";\nsetp." + loop.condition + R"(;
  )" + loop.back + R"(
X:
  st.global.u32 [%rd4], %r4;
  ret;
}
)"));
  const DevicePtr out = gpu.upload(std::vector<std::uint32_t>(32), "out"),
                  in = gpu.upload(std::vector<std::uint32_t>(1), "in");
  const LaunchReport r = gpu.run("k", {1, 1, 1}, {32, 1, 1}, out, in, turns.lower, turns.upper);
  CHECK(to_text(r.findings) == "");
  std::vector<std::uint32_t> wanted(32, turns.lower);
  std::fill(wanted.begin() + 16, wanted.end(), turns.upper);
  CHECK(gpu.download<std::uint32_t>(out, 32) == wanted);
  return r.total.global_load.requests;
}

std::string times(unsigned n, const std::string& text) {
  std::string all;
  for (unsigned i = 0; i < n; ++i) all += text;
  return all;
}

TEST_CASE("lanes with fewer turns wait for those that take four at a time", "[counts]") {
  // 20 turns are five times four. Of 15, three times four are taken together with the others; then two, then
  // one by the upper half alone.
  CHECK(requests({}) == 20 + 2 + 1);
  CHECK(requests({}, {20, 18}) == 20 + 2);
  CHECK(requests({}, {16, 19}) == 16 + 2 + 1);
  CHECK(requests({}, {1, 2}) == 2 + 1);
  CHECK(requests({}, {20, 20}) == 20);
  CHECK(requests({}, {19, 19}) == 19);
}

TEST_CASE("loops that ptxas leaves as they are", "[counts]") {
  CHECK(requests({.pragma = ".pragma \"nounroll\";"}) == 20);
  CHECK(requests({.more = "membar.cta;"}) == 20);
  CHECK(requests({.more = "red.global.add.u32 [%rd4], 0;"}) == 20);
  CHECK(requests({.more = "ld.volatile.global.f32 %f2, [%rd2];"}) == 40);
  CHECK(requests({.more = times(37, "add.f32 %f2, %f1, %f1;")}) == 23);
  CHECK(requests({.more = times(44, "add.f32 %f2, %f1, %f1;")}) == 20);
  CHECK(requests({.step = "1; add.s32 %r2, %r2, 0"}) == 20);  // not one constant step
}

TEST_CASE("a loop that ends with a branch out of it, and one back", "[counts]") {
  const std::string out = "@%p1 bra X; bra.uni L;";
  CHECK(requests({.condition = "ge.s32 %p1, %r2, %r3", .back = out}) == 23);
  CHECK(requests({.condition = "eq.s32 %p1, %r2, %r3", .back = out}) == 23);
  CHECK(requests({.condition = "gt.s32 %p1, %r3, %r2", .back = "@!%p1 bra X; bra.uni L;"}) == 23);
  CHECK(requests({.condition = "ge.s32 %p1, %r2, %r3", .back = "@!%p1 bra L;"}) == 23);
  // Other code stands behind the loop than that where it goes on.
  CHECK(requests({.condition = "ge.s32 %p1, %r2, %r3",
                  .back = "@%p1 bra X; bra.uni L; ld.global.f32 %f1, [%rd2];"}) == 23);
  CHECK(requests({.start = "neg.s32 %r2, %r3;", .condition = "eq.s32 %p1, %r2, 0", .back = out}) ==
        23);
  // Neither of the two leads back.
  CHECK(requests({.condition = "ge.s32 %p1, %r2, %r3",
                  .back = "@%p1 bra X; mov.u32 %r7, 0; bra.uni L;"}) == 20);
}

TEST_CASE("the bound on the left", "[counts]") {
  CHECK(requests({.condition = "gt.s32 %p1, %r3, %r2"}) == 23);
  CHECK(requests({.condition = "ne.s32 %p1, %r3, %r2"}) == 23);
  CHECK(requests({.start = "mov.u32 %r2, 1;", .condition = "ge.s32 %p1, %r3, %r2"}) == 23);
  CHECK(requests(
            {.start = "shl.b32 %r2, %r3, 2;", .step = "-4", .condition = "lt.s32 %p1, 0, %r2"}) ==
        23);
}

TEST_CASE("an address with an index is one instruction", "[counts]") {
  const std::string index = "mul.wide.u32 %rd5, %r2, 4;", sum = "add.s64 %rd6, %rd2, %rd5;";
  CHECK(requests({.more = times(19, index + sum)}) == 23);
  CHECK(requests({.more = index + times(38, sum)}) == 23);
  CHECK(requests({.more = times(20, sum)}) == 23);
  CHECK(requests({.more = times(21, "add.s64 %rd6, %rd2, %rd2;")}) == 20);
  CHECK(requests({.more = index + times(42, sum)}) == 20);
}

TEST_CASE("up and down, with and without the bound, at the ends of the range", "[counts]") {
  CHECK(requests({.start = "mov.u32 %r2, %r3;", .step = "-1", .condition = "ne.s32 %p1, %r2, 0"}) ==
        23);
  CHECK(requests(
            {.start = "shl.b32 %r2, %r3, 2;", .step = "-4", .condition = "gt.s32 %p1, %r2, 0"}) ==
        23);
  CHECK(requests({.start = "mov.u32 %r2, 1;", .condition = "le.s32 %p1, %r2, %r3"}) == 23);
  CHECK(requests({.start = "mov.u32 %r2, 0xffffffe0; add.s32 %r3, %r3, %r2;",
                  .condition = "lt.u32 %p1, %r2, %r3"}) == 23);
  CHECK(requests({.start = "mov.u32 %r2, 0x7fffffe0; add.s32 %r3, %r3, %r2;"}) == 23);
  CHECK(requests({.start = "mov.u32 %r2, 0x80000000; add.s32 %r3, %r3, %r2;"}) == 23);
}

TEST_CASE("a bound that is a negative number, or a large one without a sign", "[counts]") {
  CHECK(requests({.start = "sub.s32 %r2, -7, %r3;", .condition = "lt.s32 %p1, %r2, -7"}) == 23);
  CHECK(requests({.start = "sub.s32 %r2, -6, %r3;", .condition = "le.s32 %p1, %r2, -7"}) == 23);
  CHECK(requests(
            {.start = "sub.s32 %r2, %r3, 7;", .step = "-1", .condition = "gt.s32 %p1, %r2, -7"}) ==
        23);
  CHECK(requests({.start = "sub.u32 %r2, 0xfffffff0, %r3;",
                  .condition = "lt.u32 %p1, %r2, 0xfffffff0"}) == 23);
}

}  // namespace
}  // namespace simgpu::test
