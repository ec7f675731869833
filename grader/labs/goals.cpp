// The registry behind grader/goals.hpp. Filled by static objects in labN_*/goals.cpp before main
// starts.
#include "grader/goals.hpp"

#include <algorithm>
#include <utility>

namespace grader {
namespace {

std::map<std::string, std::vector<Goal>>& registry() {
  // Constructed on first use: the order of files is not defined.
  static std::map<std::string, std::vector<Goal>> lists;
  return lists;
}

/// What another layout would save of one kind of access.
std::uint64_t excess(const simgpu::SharedCounts& s) {
  const auto above = [](std::uint64_t cost, std::uint64_t ideal) {
    return cost > ideal ? cost - ideal : 0;
  };
  return std::min(above(s.wavefronts, s.ideal_wavefronts),
                  above(s.raw_wavefronts, s.raw_ideal_wavefronts));
}

/// Accesses to other blocks' shared memory, which are counted by the warp alone. Each may be the worst
/// that there is: where they matter, nobody has a reason for many.
std::uint64_t peer_reads(const simgpu::Counts& c) {
  return c.cluster_load_requests + c.cluster_atomic_requests;
}
std::uint64_t peer_accesses(const simgpu::Counts& c) {
  return peer_reads(c) + c.cluster_store_requests;
}

}  // namespace

std::int64_t coalesced_row_sectors(std::int64_t rows, std::int64_t width, std::int64_t ld,
                                   std::uint64_t element_bytes) {
  const auto per_sector = static_cast<std::int64_t>(32 / element_bytes);
  std::int64_t sectors = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t first = 0; first < width; first += 32) {
      const std::int64_t count = width - first < 32 ? width - first : 32;
      const std::int64_t begin = row * ld + first;
      sectors += (begin + count - 1) / per_sector - begin / per_sector + 1;
    }
  }
  return sectors;
}

std::int64_t ceil_div(std::int64_t n, std::int64_t d) {
  return (n + d - 1) / d;
}

std::int64_t whole(const Parameters& parameters, const char* name) {
  return static_cast<std::int64_t>(parameters.at(name));
}

std::int64_t piece_sectors(std::int64_t rows, std::int64_t cols, std::int64_t piece,
                           std::uint64_t element_bytes) {
  const auto per_sector = static_cast<std::int64_t>(32 / element_bytes);
  std::int64_t sectors = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t first = 0; first < cols; first += piece) {
      const std::int64_t begin = row * cols + first;
      const std::int64_t end = begin + std::min(piece, cols - first);
      sectors += (end - 1) / per_sector - begin / per_sector + 1;
    }
  }
  return sectors;
}

double sectors_of_tiles(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const auto size = static_cast<std::int64_t>(bytes);
  return p.at("slack") *
         static_cast<double>(ceil_div(e.n, whole(p, "BN")) * e.m * ceil_div(e.k * size, 32) +
                             ceil_div(e.m, whole(p, "BM")) * e.k * ceil_div(e.n * size, 32));
}

double sectors_copied_first(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const auto size = static_cast<std::int64_t>(bytes);
  return p.at("slack") *
         static_cast<double>(e.m * ceil_div(e.k * size, 32) + e.k * ceil_div(e.n * size, 32));
}

double few_conflicts(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  return p.at("share") * static_cast<double>(e.m * e.n * e.k) * 2 / 16 *
         static_cast<double>(bytes) / 128;
}

double elements_of_c(const Extents& e, const Parameters& p, std::uint64_t) {
  return p.at("times") * static_cast<double>(e.m * e.n);
}

double nothing(const Extents&, const Parameters&, std::uint64_t) {
  return 0;
}

double live_registers_bound(const Extents&, const Parameters& p, std::uint64_t) {
  return p.at("registers");
}

double load_requests(const Observed& o) {
  return static_cast<double>(o.total.global_load.requests + o.a.atomic.requests +
                             o.b.atomic.requests + o.scratch.atomic.requests +
                             o.c.fetched.requests + o.total.bulk_load.requests +
                             o.total.constant_words);
}
double thread_sectors(const Observed& o) {
  return static_cast<double>(o.total.global_load.sectors + o.a.atomic.sectors + o.b.atomic.sectors +
                             o.scratch.atomic.sectors + o.c.fetched.sectors +
                             o.total.constant_words);
}
double load_sectors(const Observed& o) {
  return thread_sectors(o) + static_cast<double>(o.total.bulk_load.sectors);
}
double sectors_of_a(const Observed& o) {
  return static_cast<double>(o.a.load.sectors + o.a.atomic.sectors + o.copies_of_a.sectors);
}
double sectors_of_b(const Observed& o) {
  return static_cast<double>(o.b.load.sectors + o.b.atomic.sectors + o.copies_of_b.sectors);
}
double sectors_to_c(const Observed& o) {
  return static_cast<double>(o.c.store.sectors + o.c.atomic.sectors + o.parts_of_c.sectors);
}
double shared_bytes_read(const Observed& o) {
  return static_cast<double>(o.total.shared_load.bytes + o.total.shared_atomic.bytes +
                             32 * 16 * peer_reads(o.total));
}
double shared_load_wavefronts(const Observed& o) {
  return static_cast<double>(o.total.shared_load.wavefronts + o.total.shared_atomic.wavefronts +
                             32 * peer_reads(o.total));
}
double shared_wavefronts(const Observed& o) {
  return shared_load_wavefronts(o) +
         static_cast<double>(o.total.shared_store.wavefronts + 32 * o.total.cluster_store_requests);
}
double shared_requests(const Observed& o) {
  return static_cast<double>(o.total.shared_load.raw_requests + o.total.shared_store.raw_requests +
                             o.total.shared_atomic.raw_requests + peer_accesses(o.total));
}
double excess_wavefronts(const Observed& o) {
  return static_cast<double>(excess(o.total.shared_load) + excess(o.total.shared_store) +
                             excess(o.total.shared_atomic) + excess(o.total.async_store) +
                             31 * peer_accesses(o.total));
}
double early_bytes(const Observed& o) {
  return static_cast<double>(o.total.async_early.bytes);
}
double block_barriers(const Observed& o) {
  return static_cast<double>(o.total.block_barriers);
}
/// Without what only hands arguments to printf.
double local_accesses(const Observed& o) {
  return static_cast<double>(o.total.local_load_requests + o.total.local_store_requests -
                             o.total.printed_store_requests);
}
double live_registers(const Observed& o) {
  return o.live_registers;
}

Goal registers_only(std::string stage, std::string missed) {
  if (missed.empty())
    missed =
        "An array lies in local memory: it stays in registers only if every index is known when "
        "the kernel is compiled (#pragma unroll).";
  return {.stage = std::move(stage),
          .key = "local_accesses",
          .what = "local memory accesses",
          .diagnosis = "LOCAL-MEMORY",
          .missed = std::move(missed),
          .parameters = {},
          .measure = local_accesses,
          .bound = nothing};
}

Goal brought_by_tma(std::string stage, std::vector<Extents> at) {
  return {.stage = std::move(stage),
          .key = "thread_sectors",
          .what = "sectors loaded by threads",
          .diagnosis = "NO-SHARED",
          .missed =
              "Threads load what a block multiplies: TMA can bring whole tiles, ordered by one "
              "thread.",
          .parameters = {{"slack", 1.05}},
          .measure = thread_sectors,
          .bound = sectors_copied_first,
          .at = std::move(at)};
}

/// A thread has 255 at most, but ptxas computes addresses anew where the estimate counts them as kept:
/// what was estimated at 291 to 352 took 254 or 255 of them, with at most 92 bytes spilt.
constexpr double kTooManyRegisters = 400;

Goal few_registers(std::string stage) {
  return {.stage = std::move(stage),
          .key = "live_registers",
          .what = "live registers",
          .diagnosis = "REGISTERS",
          .missed =
              "By an estimate, a thread needs more registers than it can have: ptxas would "
              "spill some to local memory. A smaller tile is faster.",
          .parameters = {{"registers", kTooManyRegisters}},
          .measure = live_registers,
          .bound = live_registers_bound,
          .at = {{256, 256, 256}},
          .advice = true};
}

Goal copies_under_way(std::string stage, std::vector<Extents> at) {
  return {
      .stage = std::move(stage),
      .key = "early_bytes",
      .what = "bytes waited for early",
      .diagnosis = "ASYNC-EARLY",
      .missed =
          "A wait counts groups, and every commit ends one: with one commit per step and a ring "
          "of STAGES places, leave STAGES - 2 groups under way.",
      .parameters = {},
      .measure = early_bytes,
      .bound = nothing,
      .at = std::move(at),
      .advice = true};
}

GoalList::GoalList(std::string lab, std::vector<Goal> goals) {
  auto& list = registry()[std::move(lab)];
  for (auto& goal : goals) list.push_back(std::move(goal));
}

const std::vector<Goal>& goals_of(const std::string& lab) {
  return registry()[lab];
}

}  // namespace grader
