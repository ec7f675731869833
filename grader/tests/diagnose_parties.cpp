// Who stores where, who reads what nobody stored, and sums that are wrong element by element.
#include <algorithm>
#include <utility>

#include "common/catch2.hpp"
#include "grader/diagnose/hypotheses.hpp"
#include "grader/tests/diagnose_bench.hpp"

using namespace diagnose_bench;
using grader::Operation;
using simgpu::Access;
using simgpu::AccessType;
using simgpu::Finding;
using simgpu::FindingCause;
using simgpu::FindingKind;
using simgpu::MemorySpace;

namespace {

const Tile kNaive{16, 16, 1, 1, 1};
const Tile kRegisters{16, 16, 8, 4, 2};

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

Access stored(const std::string& object, simgpu::Dim3 thread) {
  Access a;
  a.type = AccessType::store;
  a.where = {"gemm.cu", 38};
  a.space = MemorySpace::global;
  a.object = object;
  a.offset = 64;
  a.object_bytes = 4096;
  a.bytes = 4;
  a.thread = thread;
  return a;
}

Finding race(const std::string& object, simgpu::Dim3 one, simgpu::Dim3 other) {
  Finding f;
  f.kind = FindingKind::global_race;
  f.at = stored(object, one);
  f.other = stored(object, other);
  return f;
}

/// Thread 3 writes in an array of the block what another thread reads.
Finding tile_race(std::uint64_t bytes, unsigned reader) {
  Finding f = race("As", {3, 0, 0}, {reader, 0, 0});
  f.kind = FindingKind::shared_race;
  f.other->type = AccessType::load;
  for (Access* const one : {&f.at, &*f.other}) {
    one->space = MemorySpace::shared;
    one->object_bytes = bytes;
  }
  return f;
}

/// A call that is right but for these findings.
Diagnosis found(const std::vector<Finding>& findings, const Tile& tile) {
  return diagnose(reporting([findings](const Matrix&) { return findings; }, tile));
}

template <typename Value>
Diagnosis named(Value value, const Shape& s, const Tile& tile = kNaive) {
  const Kernel kernel = [value](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) value(call, i, j);
  };
  return diagnose(evidence(kernel, ElementType::float32, tile, s));
}

}  // namespace

TEST_CASE("two threads that store one element are asked what a thread has") {
  const auto asked = [](const Tile& tile, simgpu::Dim3 one, simgpu::Dim3 other) {
    return found({race("C", one, other)}, tile).next_step;
  };
  CHECK(has(asked(kNaive, {0, 0, 0}, {0, 1, 0}), "Each thread has one element of its own"));
  CHECK(has(asked(kRegisters, {0, 0, 0}, {0, 2, 0}), "several rows"));
  CHECK(has(asked(kRegisters, {0, 0, 0}, {0, 2, 0}), "only in threadIdx.y, by 2"));
  CHECK(has(asked(kRegisters, {0, 0, 0}, {2, 0, 0}), "several columns"));
  // Eight threads share a row of the tile: so many further on is another row.
  CHECK(has(asked(kRegisters, {0, 0, 0}, {8, 0, 0}), "several rows"));
  // Two differences tell nothing apart, and fragments are no rectangles.
  CHECK_FALSE(has(asked(kRegisters, {0, 0, 0}, {2, 1, 0}), "several"));
  Tile warps = kRegisters;
  warps.wm = warps.wn = 8;
  CHECK_FALSE(has(asked(warps, {0, 0, 0}, {2, 0, 0}), "several"));
}

TEST_CASE("blocks that share a tile: one stores what is another's, or leaves out what is its own") {
  const Tile warps{64, 64, 64, 0, 0, 16, 64};
  const auto asked = [&](unsigned one, unsigned other, unsigned blocks) {
    Finding twice = race("C", {0, 0, 0}, {128, 0, 0});
    twice.at.block.x = one, twice.other->block.x = other;
    Evidence e = evidence([](Call&) {}, ElementType::float32, warps, {17, 133, 21});
    simgpu::LaunchReport launch;  // three tiles
    launch.grid = {blocks, 1, 1};
    launch.findings = {twice};
    e.run.launches = {launch};
    Diagnosis d;
    grader::diag::ask_of_parts(e, e.run, twice, d);
    return d.next_step;
  };
  CHECK(has(asked(2, 3, 6), "Blocks 2 and 3 share a tile of C here: the launch has 2 blocks"));
  CHECK_FALSE(has(asked(1, 2, 6), "share a tile"));
  CHECK_FALSE(has(asked(0, 1, 3), "share a tile"));
}

TEST_CASE("parts that are stored over each other come before what is then missing") {
  Finding unwritten;
  unwritten.kind = FindingKind::uninitialised_read;
  unwritten.at = stored("scratch 3", {0, 0, 0});
  unwritten.at.type = AccessType::load;
  const Finding twice = race("scratch 3", {0, 0, 0}, {5, 0, 0});
  const Diagnosis d = found({unwritten, twice}, kNaive);
  CHECK(d.id == "RACE-WAW");
  CHECK(has(d.next_step, "Two elements get the same place"));
  Finding blocks = race("scratch 3", {0, 0, 0}, {0, 0, 0});
  blocks.other->block.x = 1;
  CHECK(has(found({unwritten, blocks}, kNaive).next_step, "Two blocks store to one place"));
  CHECK(found({unwritten, race("scratch 4", {0, 0, 0}, {5, 0, 0})}, kNaive).id == "UNINIT");
}

TEST_CASE("a read behind all that was stored in scratch memory may ask for too much") {
  Finding unwritten;
  unwritten.kind = FindingKind::uninitialised_read;
  unwritten.at = stored("scratch 3", {0, 0, 0});
  unwritten.at.type = AccessType::load;
  const auto next = [&unwritten](std::uint64_t begin, std::uint64_t end) {
    unwritten.written = {{begin, end}};
    unwritten.written_bytes = end - begin;
    return explain(unwritten, kNaive, nullptr, ElementType::float32).next_step;
  };
  CHECK(has(next(0, 64), "Everything that was stored lies before this element"));
  CHECK(has(next(0, 64), "multiplied by the elements of one part"));
  CHECK_FALSE(has(next(128, 256), "Everything that was stored"));
}

TEST_CASE("a sum that ends where the numbers say so") {
  const Diagnosis d = named(
      [](Call& c, int i, int j) {
        double sum = 0;
        for (int k = 0; k < c.k; ++k) {
          sum += c.at_a(i, k) * c.at_b(k, j);
          if (sum == 0) break;
        }
        c.put(i, j, sum);
      },
      {17, 33, 21});
  CHECK(d.id == "K-MISSING");
  CHECK(has(d.headline, "ends after its first"));
}

TEST_CASE("of two partial sums one is added twice") {
  const Diagnosis d = named(
      [](Call& c, int i, int j) {
        double even = 0;
        for (int k = 0; k < c.k; k += 2) even += c.at_a(i, k) * c.at_b(k, j);
        c.put(i, j, 2 * even);
      },
      {17, 33, 21});
  CHECK(d.id == "K-TILE-REPEATED");
  CHECK(d.headline == "of every 2 k, the first is added twice and the second not at all");
}

TEST_CASE("the steps that are named are those of the element that is shown") {
  const Diagnosis d = named(
      [](Call& c, int i, int j) {
        double sum = 0;
        for (int k = j % 16; k < c.k; k += 16) sum += c.at_a(i, k) * c.at_b(k, j);
        c.put(i, j, sum);
      },
      {17, 33, 41});
  CHECK(d.id == "K-MISSING");
  CHECK(has(d.headline, "only every 16th k is added to a sum: k = 0, 16"));
  const Diagnosis late = named(
      [](Call& c, int i, int j) {
        double sum = 0;
        for (int k = i % 16; k < c.k; ++k) sum += c.at_a(i, k) * c.at_b(k, j);
        c.put(i, j, sum);
      },
      {17, 33, 41});
  CHECK(late.headline == "k = 0, the first step, is missing from the sum");
  CHECK(has(late.next_step, "for two elements of C"));
}

TEST_CASE("elements that are added to what C held, among right ones") {
  const auto cleared = [](int rows) {
    return [rows](Call& c, int i, int j) {
      c.put(i, j, c.element(i, j) + (i < rows ? 0 : c.old(i, j)));
    };
  };
  const Diagnosis d = named(cleared(9), {17, 33, 21});
  CHECK(d.id == "ACCUMULATES");
  CHECK(has(d.headline, "first C[9][0]"));
  CHECK(has(d.next_step, "c.ld"));
}

TEST_CASE("what a thread leaves out of its own part is said of the thread") {
  const Diagnosis rows = named(
      [](Call& c, int i, int j) {
        if (i % 4 < 2) c.put(i, j, c.element(i, j));
      },
      {33, 17, 5}, kRegisters);
  CHECK(rows.headline == "never written: rows 2..3 of every 4 of C");
  CHECK(has(rows.next_step, "If a thread has 4 rows of C, it stores just the first 2 of them"));
  const auto inside = [](Call& c, int i, int j) {
    const bool whole = (i / 16 + 1) * 16 <= c.m && (j / 16 + 1) * 16 <= c.n;
    if (!whole || i + j == 0) c.put(i, j, c.element(i, j));
  };
  const Diagnosis corner = named(inside, {33, 17, 5}, kRegisters);
  CHECK(has(corner.headline, "only C[0][0] was written"));
}

TEST_CASE("a row that is missing but for a few is named although nearly all are") {
  const Diagnosis d = named(
      [](Call& c, int i, int j) {
        if (i % 16 == 0) c.put(i, j, c.element(i, j));
      },
      {17, 31, 1});
  CHECK(has(d.headline, "never written: rows 1..15 of C"));
}

TEST_CASE("what a tile holds beyond the edge changes from tile to tile") {
  const auto copied = [](int width) {
    return [width](const Matrix& a, const Matrix& b, const Matrix& c) {
      Run r;
      r.a = r.a_after.emplace(a);
      r.b = r.b_after.emplace(b);
      r.c_before = r.c_after = c;
      for (int i = 0; i < c.rows; ++i)
        for (int j = 0; j < c.cols; ++j)
          r.c_after.set(i, j, a.at(i, j) + (i >= c.rows / 16 * 16 ? 1 + j / width % 5 : 0));
      r.launches.emplace_back();
      return r;
    };
  };
  const auto headline = [&copied](int width) {
    Evidence e;
    e.operation = Operation::copy_a;
    e.tile = kNaive;
    e.small_integers = true;
    e.run_probe = copied(width);
    const Matrix a = random_matrix(e.type, 40, 50, 0, inputs::SplitMix64(1), true);
    e.run = *e.run_probe(a, random_matrix(e.type, 50, 30, 0, inputs::Pcg(1), true),
                         Matrix(e.type, 40, 50, 50));
    return diagnose(e).headline;
  };
  CHECK(has(headline(16), "what it holds beyond the edge is not 0"));
  CHECK_FALSE(has(headline(1), "what it holds beyond the edge is not 0"));
}

TEST_CASE("what the headline says of a copy is not said again, only what it lacks") {
  Finding early = tile_race(4096, 3);
  early.kind = FindingKind::async_not_waited;
  std::swap(early.at.type, early.other->type);
  const std::string first = "gemm.cu:38 reads As+64, bytes of a cp.async of gemm.cu:30, before ";
  const auto said = [&](const std::string& words) {
    const Diagnosis d = explain(early, kNaive, nullptr, ElementType::float32);
    return std::any_of(d.details.begin(), d.details.end(),
                       [&](const std::string& one) { return has(one, words); });
  };
  early.detail = first + "wait_group: the thread must wait for the group first";
  early.cause = FindingCause::unwaited_copy;
  CHECK_FALSE(said("wait for the group"));
  early.detail = first + "commit_group and wait_group: it can be waited for once it is committed";
  early.cause = FindingCause::uncommitted_copy;
  CHECK(said("it can be waited for once it is committed"));
  CHECK_FALSE(said("As+64"));
}

TEST_CASE("tiles take turns only where an array holds several") {
  Run run;
  run.launches.emplace_back();
  const auto turns = [&](std::uint64_t bytes, unsigned reader, unsigned dynamic) {
    run.launches.back().dynamic_shared_bytes = dynamic;
    const Diagnosis d =
        explain(tile_race(bytes, reader), Tile{16, 16, 16, 1, 1}, &run, ElementType::float32);
    return has(d.next_step, "take turns");
  };
  // A tile of 16 x 16 floats has 1024 bytes, here with some padding; threads 3 and 40 are of two warps.
  CHECK_FALSE(turns(1088, 40, 0));
  CHECK(turns(2176, 40, 0));
  CHECK_FALSE(turns(2176, 5, 0));      // each warp may have memory of its own
  CHECK_FALSE(turns(2176, 40, 2176));  // a tile of A and one of B
  CHECK(turns(4096, 40, 4096));
  // With a barrier in each of three rounds it is not the barrier.
  run.launches.back().grid = {1, 1, 1};
  run.a = Matrix(ElementType::float32, 16, 48, 48);
  run.launches.back().total.block_barriers = 3;
  const auto next = [&] {
    return explain(tile_race(2176, 40), Tile{16, 16, 16, 1, 1}, &run, ElementType::float32)
        .next_step;
  };
  CHECK(has(next(), "both use the same tile"));
  run.launches.back().total.block_barriers = 2;
  CHECK_FALSE(has(next(), "both use the same tile"));
}

TEST_CASE("a launch of few threads that never ends is not called too large") {
  const auto headline = [](simgpu::Dim3 grid, int side) {
    Finding endless;
    endless.kind = FindingKind::budget_exceeded;
    endless.at.actor = simgpu::Actor::launch;
    endless.detail = "the grid needs more than there is";
    Run run;
    run.launches.emplace_back();
    run.c_before = Matrix(ElementType::float32, side, side, side);
    run.launches[0].kernel = endless.kernel;
    run.launches[0].grid = grid;
    run.launches[0].block = {256, 1, 1};
    run.launches[0].findings.push_back(endless);
    return grader::diag::explain(run.launches[0].findings[0], kNaive, &run, ElementType::float32)
        .headline;
  };
  CHECK(headline({1, 1, 1}, 1000).find("although it has few threads") != std::string::npos);
  CHECK(headline({1 << 20, 4, 1}, 1000).find("far too large") != std::string::npos);
  // Four times the blocks that cover C are not what used the budget up.
  CHECK(headline({64, 64, 1}, 512).find("far too large") == std::string::npos);
  CHECK(headline({64, 64, 1}, 512).find("needs more than there is") != std::string::npos);
}
