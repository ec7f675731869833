// Atomics of floats in shared memory: how often warps try that meet in one location.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/count/swap_turns.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;
using count::Updates;

/// Where thread t adds in the given round. `random` stands for the state of its generator.
u32 location_of(const std::string& where, u32 t, u32& random) {
  if (where.rfind("0", 0) == 0) return 0;
  if (where.rfind("t % ", 0) == 0) return t % static_cast<u32>(std::stoul(where.substr(4)));
  random = random * 1664525u + 1013904223u;
  return (random >> 16) % static_cast<u32>(std::stoul(where.substr(7)));
}

unsigned attempts_of(const std::string& where, u32 warps) {
  const bool leaders = where.find(" if t % 32 == 0") != std::string::npos;
  std::vector<u32> random(32 * warps);
  for (u32 t = 0; t < random.size(); ++t) random[t] = t * 2654435761u + 12345u;
  unsigned attempts = 0;
  for (int round = 0; round < (where.rfind("random", 0) == 0 ? 4 : 1); ++round) {
    std::vector<Updates> all(warps);
    for (u32 t = 0; t < random.size(); ++t)
      all[t / 32].location[t % 32] = location_of(where, t, random[t]);
    for (Updates& u : all) u.mask = leaders ? 1 : ~u32{0};
    count::swap_turns(all, [&](std::size_t, u32) { ++attempts; });
  }
  return attempts;
}

TEST_CASE("attempts of warps that meet are those of an H100", "[count]") {
  std::istringstream in(read_text("common/simgpu/tests/data/hopper_swaps.csv"));
  std::string line;
  unsigned rows = 0, exact = 0;
  while (std::getline(in, line)) {
    if (line[0] == '#' || line.rfind("location", 0) == 0) continue;
    std::istringstream cells(line);
    std::string where, cell;
    std::getline(cells, where, ',');
    std::getline(cells, cell, ',');
    const auto warps = static_cast<u32>(std::stoul(cell));
    double least = 1e9, most = 0;
    for (int k = 0; k < 3 && std::getline(cells, cell, ','); ++k) {
      least = std::min(least, std::stod(cell));
      most = std::max(most, std::stod(cell));
    }
    const unsigned here = attempts_of(where, warps);
    CAPTURE(line, here);
    const bool leaders = where.find("if") != std::string::npos;
    const bool random = where.rfind("random", 0) == 0;
    ++rows;
    exact += here >= least && here <= most;
    if (!random && (warps <= 4 || warps == 8 || (leaders && warps <= 16)))
      CHECK((here >= least && here <= most));
    else if (!random && warps <= 8)
      CHECK((here >= most && 0.92 * here <= least));
    else if (warps <= 8)
      CHECK((here >= 0.61 * most && here <= 1.61 * least));
  }
  CHECK(rows == 84);
  CHECK(exact >= 35);
}

TEST_CASE("lanes of several locations succeed in one turn", "[count]") {
  // Warp 0 is first in the first turn, warp 1 in the second.
  Updates a{0xf, {}}, b{0x3, {}};
  a.location = {8, 8, 4, 4};
  b.location = {8, 12};
  std::vector<std::pair<std::size_t, u32>> attempts;
  count::swap_turns(std::vector{a, b},
                    [&](std::size_t warp, u32 lanes) { attempts.emplace_back(warp, lanes); });
  CHECK(attempts ==
        std::vector<std::pair<std::size_t, u32>>{{0, 0xf}, {1, 0x3}, {1, 0x1}, {0, 0xa}, {0, 0x2}});
}

/// A block of `warps` warps, whose first lanes run `body`; %r1: the thread, %rd1: the sum's address.
LaunchReport leaders(unsigned warps, const std::string& body) {
  Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 a)
{
  .reg .pred %p<5>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<2>;
  .shared .align 4 .b8 sums[16];
  mov.u32 %r1, %tid.x; mov.u64 %rd1, sums; mov.f32 %f1, 0f3F800000;
  shr.u32 %r3, %r1, 5;
  and.b32 %r2, %r1, 31; setp.ne.s32 %p1, %r2, 0;
  setp.lt.u32 %p2, %r1, 4; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;
  @%p2 st.shared.f32 [%rd2], 0f00000000;
  bar.sync 0;
  )" + body + R"(
  ret;
})"));
  const DevicePtr a = gpu.upload(std::vector<u32>(32, 0), "a");
  return gpu.run("k", {3, 1, 1}, {32 * warps, 1, 1}, a);
}

TEST_CASE("warps of a block meet in their float atomics between two barriers", "[count]") {
  const std::string add = "@!%p1 red.shared.add.f32 [%rd1], %f1;\n";
  for (const unsigned warps : {1u, 2u, 5u, 16u}) {
    CAPTURE(warps);
    const unsigned once = warps * (warps + 1) / 2;
    const LaunchReport report = leaders(warps, add);
    CHECK(report.total.shared_atomic.requests == 3 * once);
    CHECK(report.total.shared_load.requests == 3 * once);
    CHECK(leaders(warps, add + "bar.sync 0;\n" + add).total.shared_atomic.requests == 6 * once);
    CHECK(leaders(warps, add + add).total.shared_atomic.requests == 6 * once);
  }
  // A warp that comes behind a barrier meets nobody.
  const std::string one_by_one =
      "setp.ne.or.s32 %p3, %r3, 0, %p1;\n@!%p3 red.shared.add.f32 [%rd1], %f1;\nbar.sync 0;\n"
      "setp.ne.or.s32 %p4, %r3, 1, %p1;\n@!%p4 red.shared.add.f32 [%rd1], %f1;\n";
  CHECK(leaders(2, one_by_one).total.shared_atomic.requests == 6);
  // Integers have an instruction.
  CHECK(leaders(4, "@!%p1 red.shared.add.u32 [%rd1], %r1;\n").total.shared_atomic.requests == 12);
}

}  // namespace
}  // namespace simgpu::test
