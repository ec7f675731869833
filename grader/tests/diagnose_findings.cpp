// What the simulated GPU finds, in words; launches that were refused.
#include <limits>

#include "common/catch2.hpp"
#include "grader/diagnose/case.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/tests/diagnose_bench.hpp"

using namespace diagnose_bench;
using grader::Verdict;
using simgpu::AccessType;
using simgpu::FindingCause;
using simgpu::FindingKind;
using simgpu::MemorySpace;

namespace {

simgpu::Access access(AccessType type, unsigned line, MemorySpace space, std::string object,
                      std::int64_t offset, std::uint64_t bytes, unsigned thread) {
  simgpu::Access a;
  a.type = type;
  a.where = {"gemm.cu", line};
  a.space = space;
  a.object = std::move(object);
  a.offset = offset;
  a.object_bytes = bytes;
  a.bytes = 4;
  a.thread = {thread, 0, 0};
  return a;
}

simgpu::Finding finding(FindingKind kind, simgpu::Access at) {
  simgpu::Finding f;
  f.kind = kind;
  f.at = std::move(at);
  return f;
}

const Tile kTile{16, 16, 16, 1, 1};

/// A right kernel that reports `f` when `when` holds.
Evidence reporting_if(const simgpu::Finding& f, std::function<bool(const Matrix&)> when) {
  return reporting(
      [f, when](const Matrix& a) {
        return when(a) ? std::vector<simgpu::Finding>{f} : std::vector<simgpu::Finding>{};
      },
      kTile);
}

}  // namespace

TEST_CASE("out of bounds names element, array and thread") {
  Run r;
  r.a = Matrix(ElementType::float32, 17, 65, 65);
  r.b = Matrix(ElementType::float32, 65, 33, 40);
  r.c_before = Matrix(ElementType::float32, 17, 33, 33);
  const auto past_b =
      finding(FindingKind::out_of_bounds, access(AccessType::load, 31, MemorySpace::global, "B",
                                                 4 * (65 * 40 + 2), 4 * (64 * 40 + 33), 5));
  const Diagnosis d = explain(past_b, kTile, &r, ElementType::float32);
  CHECK(d.id == "OOB");
  CHECK(d.verdict == Verdict::wrong_answer);
  CHECK(d.headline == "line 31 reads B[65][2], past its end: B is 65 x 33");
  REQUIRE_FALSE(d.details.empty());
  CHECK(d.details[0] == "thread (5, 0), block (0, 0)");

  const auto before =
      finding(FindingKind::out_of_bounds,
              access(AccessType::store, 9, MemorySpace::global, "scratch 1", -8, 64, 0));
  CHECK(explain(before, kTile, &r, ElementType::float32)
            .headline.find("2 element(s) before its start") != std::string::npos);
  const auto farthest = finding(FindingKind::out_of_bounds,
                                access(AccessType::load, 9, MemorySpace::global, "scratch 1",
                                       std::numeric_limits<std::int64_t>::min(), 64, 0));
  CHECK(explain(farthest, kTile, &r, ElementType::float32)
            .headline.find("2305843009213693952 element(s) before its start") != std::string::npos);
  const auto shared =
      finding(FindingKind::out_of_bounds,
              access(AccessType::load, 44, MemorySpace::shared, "As", 1024, 960, 0));
  const Diagnosis s = explain(shared, kTile, nullptr, ElementType::float32);
  CHECK(s.headline == "line 44 reads element 256 of As, 17 past its end: it has 240 elements");
}

TEST_CASE("shared tiles are named with both indices") {
  const auto uninit = finding(FindingKind::uninitialised_read,
                              access(AccessType::load, 47, MemorySpace::shared, "kernel<float>::Bs",
                                     4 * (7 * 16 + 12), 1024, 0));
  const Diagnosis d = explain(uninit, kTile, nullptr, ElementType::float32);
  CHECK(d.id == "UNINIT");
  CHECK(d.headline == "line 47 reads Bs[7][12], which was never written");
}

TEST_CASE("a shared array of unknown shape gets no made-up indices") {
  Run r;
  r.launches.emplace_back();
  r.launches[0].block = {32, 32, 1};
  const auto name_of = [&](std::uint64_t bytes) {
    return explain(
               finding(FindingKind::uninitialised_read,
                       access(AccessType::load, 47, MemorySpace::shared, "Bs", 4 * 33, bytes, 0)),
               Tile{128, 128, 16, 8, 8}, &r, ElementType::float32)
        .headline;
  };
  CHECK(name_of(4 * 32 * 32) == "line 47 reads Bs[1][1], which was never written");
  CHECK(name_of(4 * 2 * 32 * 32) == "line 47 reads element 33 of Bs, which was never written");
  r.launches[0].block = {256, 1, 1};
  CHECK(name_of(4 * 16 * 128) == "line 47 reads Bs[0][33], which was never written");
}

TEST_CASE("races are told apart by a run with a single k-tile") {
  auto race = finding(FindingKind::shared_race, access(AccessType::store, 38, MemorySpace::shared,
                                                       "As", 4 * (3 * 16 + 5), 1024, 37));
  race.other = access(AccessType::load, 44, MemorySpace::shared, "As", 4 * (3 * 16 + 5), 1024, 3);
  const Diagnosis before_reads = diagnose(reporting_if(race, [](const Matrix&) { return true; }));
  CHECK(before_reads.id == "RACE-RAW");
  CHECK(before_reads.headline ==
        "line 44 reads As[3][5] while line 38 of the same round writes it: there is no "
        "__syncthreads() between them");
  const Diagnosis after_reads =
      diagnose(reporting_if(race, [](const Matrix& a) { return a.cols > 16; }));
  CHECK(after_reads.id == "RACE-WAR");
  CHECK(after_reads.headline.find("line 38 overwrites As[3][5] for the next round while line 44") ==
        0);
  CHECK(after_reads.details.size() >= 2);
  race.other->type = AccessType::store;
  CHECK(diagnose(reporting_if(race, [](const Matrix&) { return true; })).id == "RACE-WAW");

  auto early = race;
  early.kind = FindingKind::async_not_waited;
  const Diagnosis d = explain(early, kTile, nullptr, ElementType::float32);
  CHECK(d.id == "ASYNC-NOT-WAITED");
  CHECK(d.verdict == Verdict::wrong_answer);
  CHECK(d.headline.find("line 44 reads ") == 0);
  CHECK(d.headline.find("which the asynchronous copy of line 38 may still be writing") !=
        std::string::npos);
}

TEST_CASE("barriers, faults and limits have ids and verdicts") {
  const auto id_of = [](FindingKind kind) {
    return explain(finding(kind, access(AccessType::load, 12, MemorySpace::global, "A", 0, 64, 0)),
                   kTile, nullptr, ElementType::float32);
  };
  CHECK(id_of(FindingKind::divergent_barrier).id == "BARRIER-DIVERGENT");
  CHECK(id_of(FindingKind::exited_before_barrier).id == "BARRIER-EARLY-EXIT");
  CHECK(id_of(FindingKind::mismatched_barrier).id == "BARRIER-MISMATCH");
  CHECK(id_of(FindingKind::use_after_free).id == "USE-AFTER-FREE");
  CHECK(id_of(FindingKind::null_pointer).id == "NULL-POINTER");
  CHECK(id_of(FindingKind::host_pointer).id == "HOST-POINTER");
  CHECK(id_of(FindingKind::write_to_constant).id == "INPUT-MODIFIED");
  CHECK(id_of(FindingKind::deadlock).id == "DEADLOCK");
  CHECK(id_of(FindingKind::budget_exceeded).verdict == Verdict::timeout);
  CHECK(id_of(FindingKind::unsupported).verdict == Verdict::unsupported);
  CHECK(id_of(FindingKind::trap).id == "TRAP");
  CHECK(id_of(FindingKind::will_spill).id == "LOCAL-MEMORY");
}

TEST_CASE("what is not aligned is told by what is to blame for it") {
  auto wide = finding(FindingKind::misaligned,
                      access(AccessType::load, 29, MemorySpace::global, "B", 516, 4096, 0));
  wide.at.bytes = 16;
  wide.at.address = 0x200000204;
  Run r;
  r.b = Matrix(ElementType::float32, 4, 129, 129);
  const auto told = [&] { return explain(wide, kTile, &r, ElementType::float32); };
  CHECK(told().id == "MISALIGNED");
  CHECK(
      told().headline ==
      "line 29: 16-byte load at B[1][0], whose row does not begin at a multiple of 16 bytes: rows "
      "of B are 129 elements apart");
  CHECK(told().next_step.find("the rows of B, not of another matrix") != std::string::npos);

  wide.at.offset = 520, wide.at.address = 0x200000208;
  // Rows of 129: the second begins one element after a multiple of 16 bytes.
  CHECK(told().headline.find("B[1][1]: this row begins 4 bytes after a multiple of 16 bytes") !=
        std::string::npos);
  CHECK(told().next_step.find("from columns 3, 7 and so on") != std::string::npos);
  r.b = Matrix(ElementType::float32, 4, 128, 128);
  CHECK(told().headline.find(
            "B[1][2]: 4 elements move at once, and column 2 is not a multiple of 4") !=
        std::string::npos);
  // Element 6 is B[1][0] if rows of 6 follow each other.
  r.b = Matrix(ElementType::float32, 4, 6, 8);
  wide.at.offset = 24, wide.at.address = 0x200000018;
  CHECK(told().headline.find("B[0][6], past the 6 columns of its row") != std::string::npos);
  CHECK(told().next_step.find("this would be B[1][0]. Here they are 8 apart") != std::string::npos);
  CHECK(told().next_step.find("B.ld") != std::string::npos);
  wide.at.offset = 520, wide.at.address = 0x200000208;
  wide.at.object = "";
  CHECK(told().headline == "line 29: 16-byte load at an address that is 8 mod 16");

  wide.at.space = MemorySpace::shared;
  wide.at.object = "a_tile", wide.at.offset = 132, wide.at.address = 132;
  CHECK(told().headline.find("element 33 of a_tile") != std::string::npos);
  wide.at.address = 136;
  CHECK(told().headline.find("a_tile, which begins at an address that is 4 mod 16") !=
        std::string::npos);
}

TEST_CASE("a place that two threads store to is told by what tells them apart") {
  auto race = finding(FindingKind::global_race,
                      access(AccessType::store, 44, MemorySpace::global, "C", 64, 4096, 3));
  race.other = race.at;
  race.other->block.x += 1;
  const auto next = [&race] {
    return explain(race, kTile, nullptr, ElementType::float32).next_step;
  };
  CHECK(next().find("only in blockIdx.x") != std::string::npos);
  race.other->thread.x += 40;
  CHECK(next().find("By how much does the first row or column grow") == 0);
  race.other->block = race.at.block;
  race.other->thread = race.at.thread;
  CHECK(next().find("a place of the ring that is not free yet") != std::string::npos);
  race.other->thread.x += 40;
  CHECK(next().find("only in threadIdx.x") != std::string::npos);
  race.other->thread.z += 1;
  CHECK(next().find("Give each element one owner") == 0);
  race.kind = FindingKind::shared_race;
  race.at.space = race.other->space = MemorySpace::shared;
  race.at.object_bytes = race.at.bytes = 4;
  CHECK(next().find("a plain local variable") != std::string::npos);
}

TEST_CASE("who reads and writes decides what is said of a race and of a copy") {
  auto race = finding(FindingKind::shared_race,
                      access(AccessType::load, 44, MemorySpace::shared, "ring", 64, 4096, 3));
  race.other = race.at;
  race.other->type = AccessType::store;
  race.other->thread.x = race.at.thread.x + 32;  // of another warp
  const auto headline = [&race] {
    return explain(race, kTile, nullptr, ElementType::float32).headline;
  };
  CHECK(headline().find("__syncthreads()") != std::string::npos);
  for (const auto actor :
       {simgpu::Actor::async_copy, simgpu::Actor::engine, simgpu::Actor::wgmma}) {
    (actor == simgpu::Actor::wgmma ? race.at : *race.other).actor = actor;
    CHECK(headline().find("__syncthreads()") == std::string::npos);
    CHECK((headline().find("overwrites") == std::string::npos) == (actor == simgpu::Actor::wgmma));
  }
  // A wgmma that comes after the store does not wait for it; one before is still reading.
  CHECK(headline().find("nothing makes it wait for them") != std::string::npos);
  CHECK(diagnose(reporting_if(race, [](const Matrix&) { return true; })).headline == headline());
  race.other->where = {};
  CHECK(explain(race, kTile, nullptr, ElementType::float32).details.at(1) ==
        "write: thread (35, 0), block (0, 0)");
  std::swap(race.at, *race.other);
  CHECK(headline().find("may still be reading it") != std::string::npos);
  std::swap(race.at, *race.other);
  race.kind = FindingKind::async_not_waited;
  race.other->actor = simgpu::Actor::engine;
  CHECK(explain(race, kTile, nullptr, ElementType::float32).next_step.find("mbarrier") !=
        std::string::npos);
  race.kind = FindingKind::trap;
  CHECK(headline().find("stopped itself") == std::string::npos);
}

TEST_CASE("which of three fences is missing") {
  auto missing = finding(FindingKind::proxy_fence_missing,
                         access(AccessType::store, 44, MemorySpace::shared, "ring", 64, 4096, 3));
  const auto next = [&missing] {
    return explain(missing, kTile, nullptr, ElementType::float32).next_step;
  };
  CHECK(next().find("what threads have stored") != std::string::npos);
  missing.at.type = AccessType::atomic;
  CHECK(next().find("fence.mbarrier_init") != std::string::npos);
  missing.at.type = AccessType::load;
  missing.at.bytes = 0;  // registers lie in no memory
  CHECK(next().find("wgmma_fence() of the sums") != std::string::npos);
}

TEST_CASE("a copy that asks for more bytes than it moves has a right place") {
  auto longer = finding(FindingKind::out_of_bounds,
                        access(AccessType::load, 44, MemorySpace::global, "B", 0, 4096, 3));
  longer.detail =
      "asks cp.async for 16 source bytes of a copy of 4: the source may be shorter, not longer";
  longer.cause = FindingCause::longer_source;
  const Diagnosis d = explain(longer, kTile, nullptr, ElementType::float32);
  CHECK(d.id == "OOB");
  CHECK(d.headline == "line 44 " + longer.detail);
}

TEST_CASE("between blocks of a cluster it is the cluster's barrier that is missing") {
  auto race = finding(FindingKind::shared_race,
                      access(AccessType::load, 44, MemorySpace::shared, "part", 64, 4096, 3));
  race.other = access(AccessType::store, 38, MemorySpace::shared, "part", 64, 4096, 5);
  race.other->block.x = race.at.block.x + 1;
  const auto diagnosis = [&race] {
    return diagnose(reporting_if(race, [](const Matrix& a) { return a.cols > 16; }));
  };
  const std::string beside =
      "line 44 reads element 16 of part while line 38, in another block of the cluster, writes it: "
      "there is no barrier of the cluster between them";
  CHECK(diagnosis().id == "BARRIER-CLUSTER");
  CHECK(diagnosis().headline == beside);
  std::swap(race.at, *race.other);  // which of them comes first is chance
  CHECK(diagnosis().id == "BARRIER-CLUSTER");
  CHECK(diagnosis().headline == beside);
  CHECK(diagnosis().details.size() == 2);

  race.detail = "line 38 reaches shared memory of block (0,0,0) of its cluster, which has ended";
  race.other->where = {};  // no access of that block is the other party
  CHECK(diagnosis().id == "BARRIER-CLUSTER");
  CHECK(diagnosis().headline == race.detail);
  CHECK(diagnosis().next_step.find("before any block ends") != std::string::npos);
  CHECK(diagnosis().details == std::vector<std::string>{"thread (5, 0), block (1, 0)"});
}

TEST_CASE("a line of a header is named with its file") {
  auto early = finding(FindingKind::uninitialised_read,
                       access(AccessType::load, 41, MemorySpace::shared, "tile", 4, 64, 0));
  early.at.where.file = "/home/me/lab4_bank_conflict/given/round_trips.cuh";
  CHECK(explain(early, kTile, nullptr, ElementType::float32)
            .headline.find("line 41 of round_trips.cuh reads ") == 0);
}

TEST_CASE("causes are reported before their consequences") {
  simgpu::LaunchReport launch;
  const auto add = [&](FindingKind kind) {
    launch.findings.push_back(
        finding(kind, access(AccessType::load, 1, MemorySpace::shared, "As", 0, 64, 0)));
  };
  CHECK(worst_finding({launch}) == nullptr);
  add(FindingKind::will_spill);
  CHECK(worst_finding({launch}) == nullptr);
  add(FindingKind::uninitialised_read);
  add(FindingKind::shared_race);
  CHECK(worst_finding({launch})->kind == FindingKind::shared_race);
  add(FindingKind::async_not_waited);
  CHECK(worst_finding({launch})->kind == FindingKind::shared_race);  // nobody reads it
  add(FindingKind::async_not_waited);
  launch.findings.back().other = launch.findings.back().at;
  CHECK(worst_finding({launch})->kind == FindingKind::async_not_waited);
  add(FindingKind::exited_before_barrier);
  CHECK(worst_finding({launch})->kind == FindingKind::exited_before_barrier);
  add(FindingKind::divergent_barrier);
  CHECK(worst_finding({launch})->kind == FindingKind::divergent_barrier);
  add(FindingKind::misaligned);
  CHECK(worst_finding({launch})->kind == FindingKind::misaligned);
}

TEST_CASE("refused launches say which limit") {
  LaunchFailure failure;
  failure.grid = {4, 4, 1};
  failure.block = {64, 32, 1};
  failure.error = "cudaErrorInvalidConfiguration";
  const Diagnosis d = explain(failure);
  CHECK(d.id == "LAUNCH");
  CHECK(d.verdict == Verdict::runtime_error);
  CHECK(d.headline == "launch failed: block is 64 x 32 = 2048 threads, the limit is 1024");
  CHECK(d.next_step.find("are the two swapped") == std::string::npos);
  failure.grid = {32, 8, 1};
  CHECK(explain(failure).headline == d.headline);
  CHECK(explain(failure).next_step.find("The grid, 32 x 8, would do as a block") == 0);
  failure.block = {16, 16, 1};
  failure.grid = {0, 4, 1};
  CHECK(explain(failure).headline == "launch failed: the grid is 0 x 4: no extent may be 0");
  failure.grid = {1, 1, 1};
  failure.dynamic_shared_bytes = 70000;
  CHECK(explain(failure).headline.find("70000 bytes") != std::string::npos);
  failure.dynamic_shared_bytes = 0;
  failure.grid = {1, 1u << 27, 1};  // 2^32 threads, of 32 in a column
  CHECK(explain(failure).next_step.find("134217728 blocks are far more") == 0);

  Evidence e;
  e.run.a = Matrix(ElementType::float32, 0, 3, 3);
  e.run.b = Matrix(ElementType::float32, 3, 5, 5);
  e.run.c_before = e.run.c_after = Matrix(ElementType::float32, 0, 5, 5);
  failure.grid = {1, 0, 1};
  e.run.failed_launch = failure;
  CHECK(std::string(diagnose(e).next_step) == "Return before the launch when C has no elements.");
}

TEST_CASE("a grid that rounds down is told so even where it comes out as 0") {
  const auto call = [](const Matrix& a, const Matrix& b, const Matrix& c) {
    Run r = run(
        [](Call& k) {
          for (int i = 0; i < k.m / 16 * 16; ++i)
            for (int j = 0; j < k.n; ++j) k.put(i, j, k.element(i, j));
        },
        a, b, c);
    if (a.rows < 16) {
      r.failed_launch = LaunchFailure{};
      r.failed_launch->grid = {1, 0, 1};
      r.failed_launch->block = {16, 16, 1};
    }
    return r;
  };
  Evidence e;
  e.tile = kTile;
  e.small_integers = true;
  e.run = call(Matrix(e.type, 1, 1, 1), Matrix(e.type, 1, 1, 1), Matrix(e.type, 1, 1, 1));
  e.run_probe = call;
  CHECK(diagnose(e).id == "UNWRITTEN");
}

TEST_CASE("goals bring the lab's sentence") {
  const Diagnosis d =
      explain_goal("UNCOALESCED", "B is read in 32 sectors per request, 4 would do");
  CHECK(d.id == "UNCOALESCED");
  CHECK(d.verdict == Verdict::partial);
  CHECK(d.headline == "right, but B is read in 32 sectors per request, 4 would do");
  CHECK(explain_goal("SOMETHING-NEW", "x").id == "SOMETHING-NEW");
}

TEST_CASE("two threads that store one element: how far apart they are") {
  auto race = finding(FindingKind::global_race,
                      access(AccessType::store, 38, MemorySpace::global, "C", 64, 4096, 3));
  race.other = access(AccessType::store, 38, MemorySpace::global, "C", 64, 4096, 19);
  race.other->thread.x = 66;  // another warp
  CHECK(explain(race, kTile, nullptr, ElementType::float32)
            .next_step.find("differ only in threadIdx.x, by 63") != std::string::npos);
  race.other->thread.x = 67;  // the same lane of it
  CHECK(explain(race, kTile, nullptr, ElementType::float32)
            .next_step.find("64 apart: the same lane of two warps") != std::string::npos);
}

TEST_CASE("beyond a shared array in a later block alone: the block's place is in the index") {
  auto beyond = finding(FindingKind::out_of_bounds,
                        access(AccessType::load, 44, MemorySpace::shared, "As", 1024, 960, 0));
  const auto asks = [&] {
    return explain(beyond, kTile, nullptr, ElementType::float32).next_step.find("blockIdx") !=
           std::string::npos;
  };
  CHECK_FALSE(asks());
  beyond.at.block.x = 1;
  CHECK(asks());
}

TEST_CASE("a copy that reads beyond a matrix is asked what it zeroes") {
  auto beyond = finding(FindingKind::out_of_bounds,
                        access(AccessType::load, 44, MemorySpace::global, "A", 1020, 1024, 0));
  beyond.at.bytes = 12;
  beyond.at.actor = simgpu::Actor::async_copy;
  CHECK(explain(beyond, kTile, nullptr, ElementType::float32).next_step.find("zeros") !=
        std::string::npos);
}

TEST_CASE("what scratch memory and tiles are asked is not what a matrix is asked") {
  const auto scratch =
      finding(FindingKind::out_of_bounds,
              access(AccessType::store, 9, MemorySpace::global, "scratch 1", 64, 64, 0));
  const Diagnosis d = explain(scratch, kTile, nullptr, ElementType::float32);
  CHECK(d.next_step.find("If scratch memory has a part for each block") == 0);
  const auto before =
      finding(FindingKind::out_of_bounds,
              access(AccessType::load, 9, MemorySpace::global, "scratch 1", -4, 64, 0));
  CHECK(explain(before, kTile, nullptr, ElementType::float32)
            .next_step.find("The index is negative here") == 0);

  auto race = finding(FindingKind::shared_race,
                      access(AccessType::store, 38, MemorySpace::shared, "As", 64, 4096, 3));
  race.other = access(AccessType::store, 38, MemorySpace::shared, "As", 64, 4096, 4);
  CHECK(explain(race, kTile, nullptr, ElementType::float32)
            .next_step.find("is a row of the tile longer than the step") != std::string::npos);
}

TEST_CASE("who waits for a flag hears which one, and which others were raised") {
  auto stuck = finding(FindingKind::deadlock,
                       access(AccessType::load, 90, MemorySpace::global, "scratch 3", 32, 48, 0));
  stuck.cause = FindingCause::awaited_memory;
  stuck.detail = "the kernel waits forever";
  const auto told = [&] { return explain(stuck, kTile, nullptr, ElementType::float64); };
  const auto has = [&](const std::string& text) {
    const Diagnosis d = told();
    return std::any_of(d.details.begin(), d.details.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  };
  CHECK(told().headline ==
        "line 90 waits forever for element 8 of scratch memory to change: no thread is left that "
        "could store to it");
  CHECK(has("all 12 elements of scratch memory, 4 bytes each, have the same value"));
  CHECK(has("the kernel waits forever"));

  stuck.written = {{0, 12}, {20, 24}};
  stuck.written_bytes = 16;
  CHECK(has("waited for: 0..2, 5"));
  stuck.written_bytes = 20;
  CHECK(has("waited for: 0..2, 5, ..."));
  CHECK(told().next_step.find("Which thread should store to just this element") == 0);
}

TEST_CASE("the cause of a finding decides, not the words of its sentence") {
  auto stuck = finding(FindingKind::deadlock,
                       access(AccessType::load, 44, MemorySpace::shared, "full", 0, 64, 3));
  stuck.detail = "the block waits forever: warp 0 waits at the barrier of mbarrier_test.cu:3";
  const auto next = [&] { return explain(stuck, kTile, nullptr, ElementType::float32).next_step; };
  CHECK(std::string(next()) == "Which threads reach the barrier, and which cannot?");
  stuck.cause = FindingCause::open_phase;
  CHECK(next().find("The phase of an mbarrier ends when") == 0);
  stuck.cause = FindingCause::awaited_memory;
  CHECK(next().find("A thread there keeps reading memory") == 0);

  stuck.kind = FindingKind::trap;
  const auto own = [&] {
    return explain(stuck, kTile, nullptr, ElementType::float32).headline.find("stopped itself") !=
           std::string::npos;
  };
  stuck.cause = FindingCause::unspecified;
  CHECK_FALSE(own());
  stuck.cause = FindingCause::trap_instruction;
  CHECK(own());
}

TEST_CASE(
    "memory that the launch asked for may be too small, and scratch memory says who shares sums") {
  const auto beyond =
      finding(FindingKind::out_of_bounds,
              access(AccessType::store, 9, MemorySpace::shared, "memory", 4096, 4096, 0));
  Run run;
  run.launches.emplace_back();
  const auto next = [&] { return explain(beyond, kTile, &run, ElementType::float32).next_step; };
  CHECK(next().find("A shared array has a fixed size") == 0);
  run.launches.back().dynamic_shared_bytes = 4096;
  CHECK(next().find("An `extern __shared__` array is as large as the launch says") == 0);

  Case c;
  c.run = run;
  CHECK_FALSE(stores_scratch(c));
  c.run.launches.back().buffers.emplace_back().label = "scratch 2";
  CHECK_FALSE(stores_scratch(c));
  c.run.launches.back().buffers.back().store.requests = 3;
  CHECK(stores_scratch(c));
}

TEST_CASE("a copy that its own thread has waited for wants a barrier") {
  auto early = finding(FindingKind::async_not_waited,
                       access(AccessType::load, 44, MemorySpace::shared, "As", 64, 4096, 3));
  early.other = access(AccessType::store, 38, MemorySpace::shared, "As", 64, 4096, 4);
  const auto next = [&] { return explain(early, kTile, nullptr, ElementType::float32).next_step; };
  early.cause = FindingCause::refilled_place;
  CHECK(next().find("Which place of the ring") != std::string::npos);
  for (const auto cause : {FindingCause::uncommitted_copy, FindingCause::unwaited_copy}) {
    early.cause = cause;
    CHECK(next().find("Count the groups") != std::string::npos);
  }
  early.cause = FindingCause::unpublished_copy;
  CHECK(next().find("Put a __syncthreads()") != std::string::npos);
}

TEST_CASE("a read before the copy has brought anything is told from a copy that comes too early") {
  auto race = finding(FindingKind::shared_race,
                      access(AccessType::store, 132, MemorySpace::shared, "memory", 64, 4096, 128));
  race.at.where.file = "/x/lab6_summit/given/shape_tiles.cuh";
  race.at.actor = simgpu::Actor::engine;
  race.other = access(AccessType::load, 44, MemorySpace::shared, "memory", 64, 4096, 3);
  race.other->where.file = "/x/lab6_summit/tensor_shapes.cu";
  Run run;
  run.launches.emplace_back();
  run.launches.back().kernel = race.kernel;
  const auto headline = [&] { return explain(race, kTile, &run, ElementType::float32).headline; };
  CHECK(headline().find("overwrites") != std::string::npos);
  run.launches.back().findings.push_back(finding(FindingKind::uninitialised_read, *race.other));
  CHECK(headline().find("before the copy of line 132 of shape_tiles.cuh has brought anything") !=
        std::string::npos);
  CHECK(place_of(race).line == 44);  // in the file that is written, not in the one that is given
}

TEST_CASE("half the elements of a tile may be floats: bytes are told, not elements") {
  const auto at = [](std::int64_t offset) {
    auto f = finding(FindingKind::misaligned,
                     access(AccessType::load, 9, MemorySpace::shared, "memory", offset, 4096, 0));
    f.at.bytes = 16;
    f.at.address = static_cast<std::uint64_t>(1024 + offset);
    return explain(f, kTile, nullptr, ElementType::float16).headline;
  };
  CHECK(at(4).find("at byte 4 of shared memory") != std::string::npos);
  CHECK(at(6).find("at element 3 of shared memory: 8 elements move at once") != std::string::npos);
}

TEST_CASE("scratch memory that nobody wrote: who should have stored it") {
  const auto unwritten =
      finding(FindingKind::uninitialised_read,
              access(AccessType::load, 9, MemorySpace::global, "scratch 3", 64, 4096, 0));
  CHECK(explain(unwritten, kTile, nullptr, ElementType::float32)
            .next_step.find("store into its own part") != std::string::npos);
}

TEST_CASE("an access behind packed tiles tells which tile that would be") {
  Run r;
  r.a = Matrix(ElementType::float32, 20, 10, 10);
  r.b = Matrix(ElementType::float32, 10, 40, 40);
  r.c_before = Matrix(ElementType::float32, 20, 40, 40);
  const auto next_step = [&](std::uint64_t tiles, const Tile& tile) {
    return explain(finding(FindingKind::out_of_bounds,
                           access(AccessType::load, 9, MemorySpace::global, "scratch 1",
                                  4 * (256 * 6 + 3), 4 * 256 * tiles, 0)),
                   tile, &r, ElementType::float32)
        .next_step;
  };
  const std::string asks = "this is element 3 of tile 6, which does not exist";
  for (const std::uint64_t tiles :
       {2, 3, 4, 6})  // of A or B, with or without room for one step more
    CHECK(next_step(tiles, kTile).find(asks) != std::string::npos);
  CHECK(next_step(5, kTile).find("room for") == std::string::npos);
  // Rows of 8 x 16 and of 16 x 16 would fit as well: it may be a tile of A or of B.
  CHECK(next_step(3, Tile{8, 16, 16, 1, 1}).find("room for") == std::string::npos);
  const auto packed_by = [&](unsigned block) {
    simgpu::Finding f =
        finding(FindingKind::out_of_bounds, access(AccessType::store, 9, MemorySpace::global,
                                                   "scratch 1", 4 * (256 * 6 + 3), 4 * 256 * 4, 0));
    f.at.block = {block, 0, 0};
    return explain(f, kTile, &r, ElementType::float32).next_step;
  };
  CHECK(packed_by(0).find("the place within the tile goes too far: to 1539") != std::string::npos);
  CHECK(packed_by(1).find(asks) != std::string::npos);
}

TEST_CASE("elements are counted in the type that an access names") {
  auto sum = access(AccessType::load, 72, MemorySpace::shared, "scratch", 4 * 264, 4 * 3072, 24);
  const auto headline = [&] {
    return explain(finding(FindingKind::uninitialised_read, sum), kTile, nullptr,
                   ElementType::float16)
        .headline;
  };
  CHECK(headline() == "line 72 reads element 528 of scratch, which was never written");
  sum.number_bytes = 4;  // a sum, in a product of halves
  CHECK(headline() == "line 72 reads element 264 of scratch, which was never written");
}

TEST_CASE("who arrives a round ahead is asked for the parity") {
  auto late = finding(FindingKind::trap,
                      access(AccessType::atomic, 12, MemorySpace::shared, "memory", 0, 64, 0));
  const auto asks = [&] {
    return explain(late, kTile, nullptr, ElementType::float32).next_step.find("a round ahead") !=
           std::string::npos;
  };
  CHECK_FALSE(asks());
  CHECK(explain(late, kTile, nullptr, ElementType::float32)
            .next_step.find("is the warp's number threadIdx.x / 32") != std::string::npos);
  late.cause = FindingCause::unlike_operands;
  CHECK(explain(late, kTile, nullptr, ElementType::float32).next_step.find("warp / 4, belongs") !=
        std::string::npos);
  late.cause = FindingCause::late_bytes;
  CHECK(asks());
}

TEST_CASE("a place in the ring that is read for the step behind the last") {
  const Tile tile{16, 16, 32, 1, 1, 16, 16};  // a pair of tiles takes 4096 bytes
  auto ahead = finding(
      FindingKind::uninitialised_read,
      access(AccessType::load, 93, MemorySpace::shared, "memory", 2 * 4096 + 64, 3 * 4096, 0));
  ahead.written = {{0, 8192}};
  ahead.written_bytes = 8192;
  const auto next_step = [&] {  // K = 50, two steps
    return diagnose(reporting([&](const Matrix&) { return std::vector{ahead}; }, tile)).next_step;
  };
  const std::string asks = "K = 50 takes 2 steps, numbered from 0, so place 2";
  CHECK(next_step().find(asks) != std::string::npos);
  ahead.written = {{0, 8192}, {8192 + 128, 8192 + 256}};  // part of it is there
  ahead.written_bytes = 8192 + 128;
  CHECK(next_step().find(asks) == std::string::npos);
  ahead.written = {{0, 4096}};
  ahead.written_bytes = 4096;
  ahead.at.offset = 4096 + 64;  // a step that there is
  CHECK(next_step().find(asks) == std::string::npos);
}

TEST_CASE("scratch memory that one block reads while another one writes it: is there a flag?") {
  auto race = finding(FindingKind::global_race,
                      access(AccessType::load, 9, MemorySpace::global, "scratch 3", 64, 4096, 0));
  race.other = access(AccessType::store, 7, MemorySpace::global, "scratch 3", 64, 4096, 0);
  race.other->block.x = 1;
  const Diagnosis d = explain(race, kTile, nullptr, ElementType::float32);
  CHECK(d.id == "RACE-GLOBAL");
  CHECK(d.next_step.find("Where one waits for a flag of another") != std::string::npos);
  race.at.object = race.other->object = "C";
  CHECK(explain(race, kTile, nullptr, ElementType::float32).next_step.find("flag") ==
        std::string::npos);
}

TEST_CASE(
    "dynamic shared memory is called that, and a read in front of which all is stored goes too far") {
  auto ahead = finding(FindingKind::uninitialised_read,
                       access(AccessType::load, 9, MemorySpace::shared, "memory", 4096, 16384, 0));
  const auto explained = [&](std::vector<simgpu::ByteRange> written, std::uint64_t bytes) {
    ahead.written = std::move(written);
    ahead.written_bytes = bytes;
    return explain(ahead, kTile, nullptr, ElementType::float32);
  };
  // A place of a ring, and barriers at the end.
  const Diagnosis d = explained({{0, 4000}, {16000, 16032}}, 4032);
  CHECK(d.headline == "line 9 reads element 1024 of shared memory, which was never written");
  CHECK(d.next_step.find("filled up to element 999, and this read goes 25 beyond") !=
        std::string::npos);
  const auto too_far = [](const Diagnosis& other) {
    return other.next_step.find("beyond that") != std::string::npos;
  };
  CHECK_FALSE(too_far(explained({{0, 4000}, {8000, 12000}}, 8000)));  // in a gap
  CHECK_FALSE(too_far(explained({{4, 4000}}, 3996)));
}
