// Loads from shared memory that nvcc moves before the `if` that they stand in.
#include "common/simgpu/count/early_reads.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/ptx/parser.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

std::string kernel(const std::string& body) {
  return ".visible .entry k(.param .u64 p)\n{\n"
         ".reg .pred %p<4>; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .f64 %d<4>; .reg .b64 %rd<9>;\n"
         ".shared .align 4 .b8 s[128];\n"
         "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
         "mov.u64 %rd3, s; add.u64 %rd4, %rd3, %rd2; and.b32 %r9, %r1, 31;\n"
         "mul.wide.u32 %rd5, %r9, 4; add.u64 %rd6, %rd3, %rd5; st.shared.u32 [%rd6], %r1;\n"
         "bar.sync 0; shr.u32 %r2, %r1, 5; setp.lt.u32 %p1, %r2, 4; mov.f32 %f1, 0f3F800000;\n"
         "mov.u32 %r3, 5; setp.lt.u32 %p2, %r1, 5;\n" +
         body + "\nst.global.f32 [%rd1], %f1; st.global.u32 [%rd1], %r3; ret;\n}\n";
}

/// How many loads of this `if`'s body nvcc moves.
long moved(const std::string& body, const std::string& end = "\nL:") {
  const ptx::Module m = ptx::parse(".version 8.0\n.target sm_90\n.address_size 64\n" +
                                   kernel("@%p1 bra L;\n" + body + end));
  const std::vector<std::uint32_t> early = count::find_early_reads(m, m.functions[0]);
  return std::count_if(early.begin(), early.end(),
                       [](std::uint32_t branch) { return branch != count::kNotEarly; });
}
std::string load(int word, const std::string& to = "%f2") {
  return "ld.shared.f32 " + to + ", [s+" + std::to_string(4 * word) + "];";
}
std::string add(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += "add.f32 %f1, %f1, %f2;";
  return text;
}

// As nvcc 13.0 has it for sm_90: it moves what costs at most 5.
TEST_CASE("what an if costs decides whether its loads are early", "[count][early_reads]") {
  CHECK(moved(load(3) + add(1)) == 1);  // x += s[3]
  CHECK(moved(load(3) + add(4)) == 1);  // x = x + s[3] - a - b - c
  CHECK(moved(load(3) + add(5)) == 0);
  CHECK(moved(load(3) + load(9, "%f3") + add(3)) == 2);  // x += s[3] + s[9] - a
  CHECK(moved(load(3) + load(9, "%f3") + add(4)) == 0);
  CHECK(moved(load(3) + load(9, "%f3") + load(17, "%f4") + add(2)) ==
        3);  // x = s[3] * s[9] - s[17]
  CHECK(moved(load(3) + load(9, "%f3") + load(17, "%f4") + add(3)) == 0);
  CHECK(moved(load(3) + "fma.rn.f32 %f1, %f1, %f2, %f3;") == 1);  // x = x * s[3] + 2
  CHECK(moved(load(3) + "fma.rn.f32 %f1, %f1, %f2, %f3; fma.rn.f32 %f1, %f1, %f3, %f3;") == 1);
  CHECK(moved(load(3) + "fma.rn.f32 %f1, %f1, %f2, %f3; fma.rn.f32 %f1, %f1, %f3, %f3;" + add(1)) ==
        0);
  CHECK(moved("ld.shared.f64 %d1, [s+24]; cvt.rn.f32.f64 %f2, %d1;" + add(1)) == 1);
  CHECK(moved("ld.shared.u32 %r4, [s+12]; xor.b32 %r3, %r3, %r4; mul.lo.u32 %r3, %r3, 5;") == 1);
  CHECK(moved(add(2)) == 0);
}

TEST_CASE("an if that stays, stays with its loads", "[count][early_reads]") {
  CHECK(moved("ld.shared.f32 %f2, [%rd6];" + add(1)) == 0);  // at a place that is no constant
  CHECK(moved("ld.shared.f32 %f2, [%rd3+12];" + add(1)) == 1);
  CHECK(moved(load(32) + add(1)) == 0);  // behind the array
  CHECK(moved("ld.volatile.shared.f32 %f2, [s];" + add(1)) == 0);
  CHECK(moved(load(3) + "st.global.f32 [%rd1], %f2;") == 0);
  CHECK(moved(load(3) + "ld.global.f32 %f3, [%rd1];") == 0);
  CHECK(moved(load(3) + "div.rn.f32 %f1, %f1, %f2;") == 0);
  CHECK(moved(load(3) + "ex2.approx.f32 %f1, %f2;") == 0);
  CHECK(moved(load(3) + add(1) + "bra.uni E;\nL: add.f32 %f1, %f1, %f1;\nE:", "") == 0);  // an else
  CHECK(moved(load(3) + "@%p2 bra L;" + add(1)) == 0);
}

TEST_CASE("early loads are counted for all warps, and with their neighbours",
          "[count][early_reads]") {
  // for (int i = 0; i < 8; ++i) if (i < warp) x += s[i], by eight warps: nvcc has two LDS.128 that each of them executes.
  std::string body;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    body += "setp.le.u32 %p1, %r2, " + n + "; @%p1 bra L" + n + ";\n" + load(i) + add(1) + "\nL" +
            n + ":\n";
  }
  Gpu gpu(ptx_module(kernel(body)));
  const DevicePtr out = gpu.upload(std::vector<float>(4, 0.0f), "out");
  const LaunchReport r = gpu.run("k", {1, 1, 1}, {256, 1, 1}, out);
  CHECK(r.total.shared_load.requests == 16);
  CHECK(r.total.shared_load.wavefronts == 16);
  CHECK(r.total.shared_load.ideal_wavefronts == 16);
  CHECK(r.total.shared_load.raw_requests == 64);
}

}  // namespace
}  // namespace simgpu::test
