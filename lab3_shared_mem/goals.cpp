// What lab 3 is about, as numbers: a block reads each element of its tiles from global memory once,
// and a warp reads and writes shared memory along rows.
#include <algorithm>

#include "grader/goals.hpp"

namespace {

using grader::ceil_div;
using grader::Extents;
using grader::Parameters;
using grader::piece_sectors;
using grader::whole;

// ---- 3.0: blocks of 16 x 16 threads, tiles of 16 x 16

/// Per warp and k tile: one store to each tile, then per k a broadcast from A and 16 neighbours of
/// B. An 8-byte element takes two wavefronts where 16 neighbours are touched. In PTX's own scalar
/// accesses, which is an upper bound for what remains after ptxas has merged some. Rows padded by
/// one element take 6 % more: two neighbouring rows then share a bank.
double wavefronts_along_rows(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const std::int64_t tile = whole(p, "TILE"), words = static_cast<std::int64_t>(bytes / 4);
  const std::int64_t warps = ceil_div(e.m, tile) * ceil_div(e.n, tile) * (tile * tile / 32);
  return p.at("slack") *
         static_cast<double>(warps * ceil_div(e.k, tile) * (tile * (1 + words) + 2 * words));
}

double sectors_of_c(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  return p.at("slack") * static_cast<double>(piece_sectors(e.m, e.n, whole(p, "TILE"), bytes));
}

// ---- 3.1 and 3.4.1

/// A warp's request takes 32 elements, each its lane's: of whole tiles, padded at the edges.
double requests_of_copied_a(const Extents& e, const Parameters& p, std::uint64_t) {
  const std::int64_t bm = whole(p, "BM"), bk = whole(p, "BK");
  return p.at("slack") *
         static_cast<double>(ceil_div(e.m, bm) * ceil_div(e.k, bk) * (bm * bk / 32));
}

double sectors_of_copied_a(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  return p.at("slack") * static_cast<double>(piece_sectors(e.m, e.k, whole(p, "BK"), bytes));
}

// ---- 3.2 to 3.5: a block reads BM rows of A and BN columns of B, BK at a time

double sectors_of_a_and_b(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  return p.at("slack") *
         static_cast<double>(
             ceil_div(e.n, whole(p, "BN")) * piece_sectors(e.m, e.k, whole(p, "BK"), bytes) +
             ceil_div(e.m, whole(p, "BM")) *
                 piece_sectors(e.k, e.n, std::min<std::int64_t>(32, whole(p, "BN")), bytes));
}

/// Packed tiles are read without a sector too many, but filled up to whole tiles; A and B
/// themselves are read once. BN is that of 4-byte elements. Pays off from many tiles on: at 1023 x
/// 1023 x 31 fetching straight from A and B reads 9 % more than the bound, at 256 x 256 x 256 it
/// would read a third less.
double sectors_with_packing(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const auto element = static_cast<std::int64_t>(bytes);
  const std::int64_t bm = whole(p, "BM"), bn = whole(p, "BN") * 4 / element, bk = whole(p, "BK");
  const std::int64_t tiles = ceil_div(e.m, bm) * ceil_div(e.n, bn) * ceil_div(e.k, bk);
  const std::int64_t packed = tiles * (bm + bn) * bk * element / 32;
  return p.at("slack") * static_cast<double>(packed + piece_sectors(e.m, e.k, bk, bytes) +
                                             piece_sectors(e.k, e.n, 32, bytes));
}

/// Wavefronts that another layout would save, in parts of the products of whole tiles. Neighbouring
/// columns for each thread make one of 170; lanes that each have a row of their own one of 34.
double few_conflicts(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const auto padded = [](std::int64_t n, std::int64_t tile) { return ceil_div(n, tile) * tile; };
  const auto words = static_cast<std::int64_t>(bytes / 4);
  return p.at("share") *
         static_cast<double>(padded(e.m, whole(p, "BM")) * padded(e.n, whole(p, "BN") / words) *
                             padded(e.k, whole(p, "BK")) * words);
}

const char* const conflicts =
    "The threads of a warp walk down a column of a tile: sixteen rows that begin in two of the 32 "
    "banks. Let neighbouring threads (tx) touch neighbouring elements of a row.";
const char* const stored_too_often =
    "Every element of C is stored once per k tile, but only the last store counts.";
const char* const stored_by_columns =
    "The lanes of a warp store to many rows of C, and read many rows of a tile at once: threadIdx.x "
    "should count the columns, of the tiles and of C, and threadIdx.y the rows.";
const char* const read_by_columns =
    "The lanes of a warp read many rows of a tile at once, which lie in the same banks: give "
    "neighbouring threads (x) neighbouring columns of the block's tile, and rows to the next "
    "threads.";
const char* const fetch_scattered =
    "The threads of a warp fetch from many rows at once: number the elements of the tile row by "
    "row and give neighbouring elements to neighbouring threads.";
const char* const idle_lanes =
    "Some lanes of a warp fetch nothing, while others do their part: number all threads of the "
    "block one after the other, and let thread t take elements t, t + THREADS, and so on.";
const char* const no_shared =
    "Each tile should be read from global memory once per block. More is read: are operands still "
    "taken from A and B inside the k loop of the product?";
const char* const no_tiles =
    "More is read from global memory than the tiles of the given kernel need, which are read once "
    "per block: without them there are no bank conflicts, but far more traffic.";
const char* const small_tile =
    "More is read from global memory than a 64 x 64 tile per block needs. The block's tile, not "
    "the thread's, decides how often A and B are read.";
const char* const more_barriers =
    "More than two barriers per k tile. Two are enough: one when the tiles are complete, one when "
    "nobody reads them any more. Each further one in the loop over k makes the whole block wait; "
    "outside of it, it costs little.";
const char* const packing_missed =
    "Packed tiles are contiguous and aligned, so reading one should not cost a single extra sector. "
    "Yet more are read.";

const std::vector<Extents> inside = {{256, 256, 256}};
const std::vector<Extents> for_packing = {{256, 256, 256}, {1023, 1023, 31}};

Parameters tile_with_slack(double bm, double bn, double bk) {
  return {{"BM", bm}, {"BN", bn}, {"BK", bk}, {"slack", 1.05}};
}

/// Of a copy there and back: what is read from A itself.
double sectors_of_a_itself(const grader::Observed& o) {
  return static_cast<double>(o.a.load.sectors + o.a.atomic.sectors);
}

double requests_of_a_itself(const grader::Observed& o) {
  return static_cast<double>(o.a.load.requests + o.a.atomic.requests);
}

/// Half the lanes make twice the requests.
grader::Goal fetched_by_all_lanes(const char* stage) {
  return {.stage = stage,
          .key = "load_requests_a",
          .what = "requests to read A",
          .diagnosis = "IDLE-LANES",
          .missed = idle_lanes,
          .parameters = {{"BM", 64}, {"BK", 16}, {"slack", 1.5}},
          .measure = requests_of_a_itself,
          .bound = requests_of_copied_a};
}
grader::Goal fetched_by_rows(const char* stage) {
  return {.stage = stage,
          .key = "load_sectors_a",
          .what = "sectors read from A",
          .diagnosis = "UNCOALESCED",
          .missed = fetch_scattered,
          .parameters = {{"BK", 8}, {"slack", 1.05}},
          .measure = sectors_of_a_itself,
          .bound = sectors_of_copied_a};
}
grader::Goal few_sectors(const char* stage, const char* missed, double bm, double bn, double bk) {
  return {.stage = stage,
          .key = "load_sectors",
          .what = "sectors of A and B",
          .diagnosis = "NO-SHARED",
          .missed = missed,
          .parameters = tile_with_slack(bm, bn, bk),
          .measure = grader::load_sectors,
          .bound = sectors_of_a_and_b};
}
grader::Goal packed(const char* stage, const std::vector<Extents>& at) {
  return {.stage = stage,
          .key = "load_sectors",
          .what = "sectors read",
          .diagnosis = "UNCOALESCED",
          .missed = packing_missed,
          .parameters = tile_with_slack(128, 128, 16),
          .measure = grader::load_sectors,
          .bound = sectors_with_packing,
          .at = at};
}

/// How many barriers a k tile takes is known only where the tile is: of kernels with another one, which
/// show by their blocks or by their shared memory, no barrier is counted. Rows may be padded by a quarter.
double barriers_of_tile(const grader::Observed& o, std::int64_t bm, std::int64_t bn,
                        std::int64_t bk) {
  double barriers = 0;
  for (const simgpu::LaunchReport& launch : o.launches) {
    if (launch.total.block_barriers == 0) continue;
    const auto blocks = static_cast<std::int64_t>(launch.grid.x) * launch.grid.y * launch.grid.z;
    const double bytes = launch.static_shared_bytes + launch.dynamic_shared_bytes,
                 tiles = static_cast<double>((bm + bn) * bk) * static_cast<double>(o.element_bytes);
    if (blocks != ceil_div(o.extents.m, bm) * ceil_div(o.extents.n, bn) || bytes < tiles ||
        bytes > 1.25 * tiles)
      return 0;
    barriers += static_cast<double>(launch.total.block_barriers);
  }
  return barriers;
}

/// Advice: shown, never judged. A third barrier per k tile is half of two; a quarter is for a round that
/// fetches nothing but zeros, and for a barrier in front of the loop. `bn` is that of 4-byte elements.
grader::Goal few_barriers(const char* stage, std::int64_t bm, std::int64_t bn, std::int64_t bk,
                          bool narrower) {
  const auto columns = [=](std::uint64_t bytes) {
    return narrower ? bn * 4 / static_cast<std::int64_t>(bytes) : bn;
  };
  grader::Goal goal = {.stage = stage,
                       .key = "barriers",
                       .what = "barriers",
                       .diagnosis = "BARRIERS",
                       .missed = more_barriers,
                       .parameters = {{"per_tile", 2}, {"slack", 1.25}},
                       .measure =
                           [=](const grader::Observed& o) {
                             return barriers_of_tile(o, bm, columns(o.element_bytes), bk);
                           },
                       .bound =
                           [=](const Extents& e, const Parameters& p, std::uint64_t bytes) {
                             return p.at("slack") * p.at("per_tile") *
                                    static_cast<double>(ceil_div(e.m, bm) *
                                                        ceil_div(e.n, columns(bytes)) *
                                                        ceil_div(e.k, bk));
                           }};
  goal.advice = true;
  return goal;
}

/// Advice: neighbouring columns for each thread cost more than interleaved ones, and are no mistake.
grader::Goal tiles_read_by_rows(const char* stage) {
  grader::Goal goal = {.stage = stage,
                       .key = "excess_wavefronts",
                       .what = "wavefronts above ideal",
                       .diagnosis = "BANK-CONFLICT",
                       .missed = read_by_columns,
                       .parameters = {{"BM", 128}, {"BN", 128}, {"BK", 16}, {"share", 1.0 / 80}},
                       .measure = grader::excess_wavefronts,
                       .bound = few_conflicts};
  goal.advice = true;
  return goal;
}

const std::vector<grader::Goal> goals = {
    {.stage = "3.0",
     .key = "shared_wavefronts",
     .what = "shared wavefronts",
     .diagnosis = "BANK-CONFLICT",
     .missed = conflicts,
     .parameters = {{"TILE", 16}, {"slack", 1.10}},
     .measure = grader::shared_wavefronts,
     .bound = wavefronts_along_rows},
    {.stage = "3.0",
     .key = "store_sectors_c",
     .what = "sectors written to C",
     .diagnosis = "STORES",
     .missed = stored_too_often,
     .parameters = {{"TILE", 16}, {"slack", 1.05}},
     .measure = grader::sectors_to_c,
     .bound = sectors_of_c},
    few_sectors("3.0", no_tiles, 16, 16, 16),

    fetched_by_rows("3.1"),
    fetched_by_all_lanes("3.1"),

    few_sectors("3.2", no_shared, 16, 16, 16),
    {.stage = "3.2",
     .key = "store_sectors_c",
     .what = "sectors written to C",
     .diagnosis = "UNCOALESCED",
     .missed = stored_by_columns,
     .parameters = {{"TILE", 8}, {"slack", 1.6}},
     .measure = grader::sectors_to_c,
     .bound = sectors_of_c},
    few_barriers("3.2", 32, 32, 32, false),

    few_sectors("3.3", small_tile, 64, 64, 8),
    grader::registers_only("3.3"),
    grader::few_registers("3.3"),
    few_barriers("3.3", 128, 128, 16, true),
    tiles_read_by_rows("3.3"),

    fetched_by_rows("3.4.1"),
    fetched_by_all_lanes("3.4.1"),

    packed("3.4", for_packing),
    packed("3.5", inside),
};

const grader::GoalList registered("lab3_shared_mem", goals);

}  // namespace
