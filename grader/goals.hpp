// Goals: what a lab's lesson looks like as numbers.
//
// A goal is an upper bound on an absolute count, as a function of M, N, K and named parameters (the
// reference tile, the slack). Counts are summed over every launch of one call of a rung, so that
// work moved to another launch still counts, and are never ratios, so that dummy work cannot dilute
// them. Each lab lists its goals in labN_*/goals.cpp; the grader links every such file and holds no
// list of labs itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/simgpu/device.hpp"

namespace grader {

/// One product's extents: C (m x n) = A (m x k) * B (k x n).
struct Extents {
  std::int64_t m = 0, n = 0, k = 0;
};

/// What one call of a rung did on the simulated GPU, summed over its launches.
struct Observed {
  simgpu::Counts total;
  simgpu::BufferCounts a, b, c, scratch;  ///< scratch: all that the student's code allocated
  /// Reads of scratch memory that holds a copy of A or B (of both: half each). Without them, a copy
  /// would hide from a goal what it counts.
  simgpu::GlobalCounts copies_of_a, copies_of_b;
  /// Writes to scratch that depends on both A and B, and so may become C.
  simgpu::GlobalCounts parts_of_c;
  std::vector<simgpu::LaunchReport> launches;
  unsigned live_registers = 0;      ///< largest estimate over the launches
  std::uint64_t element_bytes = 0;  ///< of one element of A and B; C has 4 bytes where these have 2
  Extents extents;                  ///< of the product
  /// Elements of C that stay the same when tensor cores double their products: something else
  /// computed them. 0 if it was not tried.
  std::int64_t made_elsewhere = 0;
};

using Parameters = std::map<std::string, double>;  ///< "BM" -> 64, "slack" -> 1.05

struct Goal {
  std::string stage;        ///< "1.2"
  std::string key;          ///< "load_sectors_b": names the goal in COURSE=course.toml
  std::string what;         ///< "sectors read from B", shown as "what: yours / goal"
  std::string diagnosis;    ///< catalogue id if missed: "UNCOALESCED", "NO-REUSE", "NO-SHARED" ...
  std::string missed;       ///< one sentence: what the number means and where to look
  Parameters parameters{};  ///< defaults; an instructor may override each by name
  std::function<double(const Observed&)> measure;
  std::function<double(const Extents&, const Parameters&, std::uint64_t element_bytes)> bound;
  std::vector<Extents> at = {{256, 256, 256}, {131, 129, 127}};  ///< where: aligned and ragged
  bool advice = false;   ///< shown, never judged ("more barriers than needed")
  bool doubled = false;  ///< needs Observed::made_elsewhere, which takes another call
};

/// Sectors that `rows` rows of `width` elements touch when each row starts `ld` elements after the
/// last and warps read 32 neighbouring elements at a time, first element at a multiple of 256 bytes
/// (cudaMalloc's alignment). Closed form of docs: span(o, n) = floor((o+n-1)/e) - floor(o/e) + 1
/// with e = 32 / element_bytes.
std::int64_t coalesced_row_sectors(std::int64_t rows, std::int64_t width, std::int64_t ld,
                                   std::uint64_t element_bytes);

// What several labs' goals measure and bound.

/// n / d, rounded up; d > 0.
std::int64_t ceil_div(std::int64_t n, std::int64_t d);
/// A parameter as a whole number.
std::int64_t whole(const Parameters& parameters, const char* name);

/// Sectors of `rows` x `cols` elements, rows contiguous in memory one after the other, read `piece`
/// neighbours at a time: as coalesced_row_sectors, for tiles narrower than a warp.
std::int64_t piece_sectors(std::int64_t rows, std::int64_t cols, std::int64_t piece,
                           std::uint64_t element_bytes);

/// Sectors, where a block reads BM rows of A and BN columns of B once and rows begin at whole
/// sectors; times `slack`.
double sectors_of_tiles(const Extents& extents, const Parameters& parameters,
                        std::uint64_t element_bytes);
/// Sectors of A and B once each, times `slack`: operands that TMA or wgmma cannot take as they lie
/// pass through threads once, to be copied.
double sectors_copied_first(const Extents& extents, const Parameters& parameters,
                            std::uint64_t element_bytes);
/// Wavefronts above ideal: `share` of those that bring each product's operands once per 16 x 16
/// tile.
double few_conflicts(const Extents& extents, const Parameters& parameters,
                     std::uint64_t element_bytes);
/// The elements of C, `times` times.
double elements_of_c(const Extents& extents, const Parameters& parameters, std::uint64_t);
/// The bound 0.
double nothing(const Extents&, const Parameters&, std::uint64_t);
/// The bound `registers`.
double live_registers_bound(const Extents&, const Parameters& parameters, std::uint64_t);

// Reads count whichever way they are made: loads, asynchronous copies, bulk copies, atomics, constants
// (each different word that a warp reads at once). Atomics on C count if their result is used: else
// they are how it is summed up.
double load_requests(const Observed& seen);
double load_sectors(const Observed& seen);
double thread_sectors(const Observed& seen);  ///< the same without bulk copies
double sectors_of_a(const Observed& seen);    ///< read from A, and from copies of it
double sectors_of_b(const Observed& seen);    ///< read from B, and from copies of it
double sectors_to_c(const Observed& seen);    ///< written to C and what becomes C; atomics included
// So do accesses to shared memory: loads, stores, atomics, and those to other blocks' shared memory,
// each of which counts as the worst of its kind.
double shared_bytes_read(const Observed& seen);  ///< by threads
double shared_load_wavefronts(const Observed& seen);
double shared_wavefronts(const Observed& seen);  ///< reads and writes
double shared_requests(const Observed& seen);    ///< reads and writes as written
/// Wavefronts of accesses and asynchronous copies that another layout would save. Of the
/// accesses as written or as ptxas merges loads, whichever are fewer: what ptxas makes of them is
/// not the author's fault.
double excess_wavefronts(const Observed& seen);
double early_bytes(
    const Observed& seen);  ///< of copies, waited for a step or more before their turn
double block_barriers(const Observed& seen);
double local_accesses(const Observed& seen);
double live_registers(const Observed& seen);

/// The goal that nothing lies in local memory. `missed`: the lab's own sentence, if it has one.
Goal registers_only(std::string stage, std::string missed = "");
/// The goal that TMA brings what a block multiplies: threads load what is copied first, and no more.
Goal brought_by_tma(std::string stage, std::vector<Extents> at);
/// Advice: a thread's registers suffice, at 256 x 256 x 256. Their number is an estimate, which fails no
/// stage; it is told where no ptxas could make do.
Goal few_registers(std::string stage);

/// Advice: a ring of STAGES places can keep the copies of STAGES - 1 steps under way.
Goal copies_under_way(std::string stage, std::vector<Extents> at = Goal().at);

/// Static registration, at namespace scope: `const grader::GoalList registered("lab1_naive", goals);`
/// Goals are written with designated initialisers: `{.stage = "1.2", .key = "threads", ...}`.
struct GoalList {
  GoalList(std::string lab, std::vector<Goal> goals);
};

/// All goals registered for `lab`, in the order written.
const std::vector<Goal>& goals_of(const std::string& lab);

}  // namespace grader
