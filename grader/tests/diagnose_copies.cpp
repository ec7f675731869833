// What single threads do to a tile: where one begins and how it goes on.
#include <functional>

#include "common/catch2.hpp"
#include "grader/tests/diagnose_bench.hpp"

using namespace diagnose_bench;
using simgpu::AccessType;
using simgpu::FindingKind;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

simgpu::Access store(unsigned thread, std::int64_t element) {
  simgpu::Access a;
  a.where = {"gemm.cu", 44};
  a.thread = {thread, 0, 0};
  a.type = AccessType::store;
  a.space = simgpu::MemorySpace::shared;
  a.bytes = 4;
  a.object = "tile";
  a.object_bytes = 4096;
  a.offset = 4 * element;
  a.address = 256 + 4 * static_cast<std::uint64_t>(element);  // the array begins at byte 256
  return a;
}

/// A finding of a right product whose line 44 has each thread t of the first warp store elements
/// place(t, 0) ... place(t, count - 1) of tile.
Diagnosis of_stores(FindingKind kind, const simgpu::Access& at, const simgpu::Access* other,
                    int count, const std::function<int(int, int)>& place) {
  simgpu::Finding f;
  f.kind = kind;
  f.at = at;
  if (other != nullptr) f.other = *other;
  Evidence e;
  e.tile = {16, 16, 16, 1, 1};
  e.small_integers = true;
  const auto call = [f](const Matrix& a, const Matrix& b, const Matrix& c) {
    Run r = run([](Call& k) { k.put(0, 0, k.element(0, 0)); }, a, b, c);
    r.launches[0].block = {64, 1, 1};
    r.launches[0].findings.push_back(f);
    return r;
  };
  e.run = call(Matrix(e.type, 1, 4, 4), Matrix(e.type, 4, 1, 1), Matrix(e.type, 1, 1, 1));
  e.follow = [&](const Run& run, const simgpu::WarpOf& warp) {
    Run again = run;
    CHECK(warp.warp == 0);
    for (int n = 0; n < count; ++n) {
      simgpu::AccessSample s;
      s.where = at.where;
      s.type = AccessType::store;
      s.space = simgpu::MemorySpace::shared;
      s.bytes = 4;
      s.object = "tile";
      for (int lane = 0; lane < 32; ++lane) {
        const int element = place(lane, n);
        if (element >= 1024) continue;  // outside: never made
        s.mask |= 1u << lane;
        s.address[static_cast<std::size_t>(lane)] = 256 + 4 * static_cast<std::uint64_t>(element);
      }
      again.launches[0].samples.push_back(s);
    }
    return std::optional<Run>(again);
  };
  return diagnose(e);
}

bool told(const Diagnosis& d, const std::string& part) {
  for (const std::string& line : d.details)
    if (has(line, part)) return true;
  return false;
}

}  // namespace

TEST_CASE("two threads that meet in a tile: with which of their stores") {
  const simgpu::Access one = store(0, 64), other = store(1, 64);
  const Diagnosis steps = of_stores(FindingKind::shared_race, one, &other, 4,
                                    [](int t, int n) { return 64 * (t + n); });
  CHECK(steps.id == "RACE-WAW");
  CHECK(told(steps, "thread (0, 0) writes elements 0, 64, 128, 192 of tile"));
  CHECK(told(steps, "thread (1, 0) writes elements 64, 128, 192, 256 of tile"));
  CHECK(has(steps.next_step, "thread (0, 0) stores it is number 2, of those of thread (1, 0)"));
  const Diagnosis same = of_stores(FindingKind::shared_race, one, &other, 4,
                                   [](int t, int n) { return 64 + t / 2 + 64 * n; });
  CHECK(has(same.next_step, "for both it is number 1"));
  const Diagnosis stuck =
      of_stores(FindingKind::shared_race, one, &one, 4, [](int, int) { return 64; });
  CHECK(has(stuck.next_step, "All 4 that this thread writes there"));
}

TEST_CASE("a thread that leaves a shared array, or begins outside") {
  const Diagnosis leaves = of_stores(FindingKind::out_of_bounds, store(3, 1024), nullptr, 4,
                                     [](int t, int n) { return 64 * t + 512 * n; });
  CHECK(leaves.id == "OOB");
  CHECK(told(leaves, "thread (3, 0) writes elements 192, 704 of tile"));
  CHECK(told(leaves, "threads 0 to 5 begin with elements 0, 64, 128, 192, 256, 320"));
  CHECK(has(leaves.next_step,
            "begins inside, with element 192, and leaves the array at element "
            "1024"));
  const Diagnosis outside = of_stores(FindingKind::out_of_bounds, store(3, 1536), nullptr, 4,
                                      [](int t, int n) { return 512 * t + n; });
  CHECK(has(outside.next_step, "All that this thread accesses here lies outside"));
}
