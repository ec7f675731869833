// What lab 4 is about, as numbers: every access to shared memory takes as few wavefronts as its
// width allows, operands move 16 bytes at a time, and the lanes of a warp share what they read.
#include <algorithm>

#include "grader/goals.hpp"

namespace {

using grader::ceil_div;
using grader::Extents;
using grader::few_registers;
using grader::nothing;
using grader::Observed;
using grader::Parameters;
using grader::registers_only;
using grader::whole;

/// How many bm x bn tiles of C there are.
std::int64_t blocks_of(const Extents& e, std::int64_t bm, std::int64_t bn) {
  return ceil_div(e.m, bm) * ceil_div(e.n, bn);
}

/// 8-byte elements take two words per bank.
std::int64_t words(std::uint64_t bytes) {
  return static_cast<std::int64_t>(bytes / 4);
}

// ---- 4.1: eight warps of 4 x 4 elements per lane

/// Per warp and k, TM reads of a_tile and TN of b_tile, each one wavefront per word; every element
/// of both tiles is stored once, 32 at a time. In PTX's own scalar accesses, which is an upper
/// bound for what remains after ptxas has merged some.
double scalar_wavefronts(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const std::int64_t bm = whole(p, "BM"), bn = whole(p, "BN"), bk = whole(p, "BK");
  const std::int64_t tm = whole(p, "TM"), tn = whole(p, "TN");
  const std::int64_t warps = bm / tm * (bn / tn) / 32;
  const std::int64_t tiles = blocks_of(e, bm, bn) * ceil_div(e.k, bk);
  const std::int64_t reads = warps * bk * (tm + tn), stores = (bm + bn) * bk / 32;
  return p.at("slack") * static_cast<double>(tiles * words(bytes) * (reads + stores));
}

// ---- 4.2 to 4.4: pieces of 16 bytes

/// The reference: a BM x BN tile of C per block, TM x TN elements per thread, BK columns of A at a
/// time. BN and TN are given for 4-byte elements; an 8-byte element takes two registers, so there
/// are half as many columns.
struct Reference {
  std::int64_t bm, bn, bk, tm, tn, v;  ///< v: elements in 16 bytes
  std::int64_t blocks, tiles, warps;   ///< tiles of C; pairs of tiles; warps of a block

  Reference(const Extents& e, const Parameters& p, std::uint64_t bytes)
      : bm(whole(p, "BM")),
        bn(whole(p, "BN") / words(bytes)),
        bk(whole(p, "BK")),
        tm(whole(p, "TM")),
        tn(whole(p, "TN") / words(bytes)),
        v(static_cast<std::int64_t>(16 / bytes)),
        blocks(blocks_of(e, bm, bn)),
        tiles(blocks * ceil_div(e.k, bk)),
        warps(bm / tm * (bn / tn) / 32) {}

  /// Reads of shared memory per tile: for each k, TM / v pieces of A and TN / v of B.
  std::int64_t reads() const { return warps * bk * (tm / v + tn / v); }
  /// All accesses per tile: A is stored element by element, B by pieces.
  std::int64_t accesses() const { return reads() + bm * bk / 32 + bn * bk / v / 32; }
};

double shared_requests(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const Reference r(e, p, bytes);
  return p.at("slack") * static_cast<double>(r.tiles * r.accesses());
}

/// A 16-byte access whose addresses all differ takes four wavefronts at best: `share` of that.
double few_conflicts(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const Reference r(e, p, bytes);
  return p.at("share") * static_cast<double>(r.tiles * 4 * r.accesses());
}

double global_requests(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const Reference r(e, p, bytes);
  return p.at("slack") * static_cast<double>(r.tiles * (r.bm + r.bn) * r.bk / (32 * r.v));
}

/// Two wavefronts per piece: what remains of four when lanes n and n ^ 1, or n and n ^ 2, read the
/// same piece.
double paired_wavefronts(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const Reference r(e, p, bytes);
  return p.at("slack") * static_cast<double>(r.tiles * 2 * r.reads());
}

/// Of a tile of C: A's elements one by one, since they are transposed; B's by pieces.
double copies(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const Reference r(e, p, bytes);
  return p.at("slack") * static_cast<double>(r.tiles * (r.bm + r.bn / r.v) * r.bk / 32) /
         static_cast<double>(r.blocks);
}

/// Nothing can be multiplied before the first tiles have arrived: `tiles` of them per block.
double bytes_of_first_tiles(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const Reference r(e, p, bytes);
  const auto element = static_cast<std::int64_t>(bytes);
  return p.at("tiles") * static_cast<double>(r.blocks * (r.bm + r.bn) * r.bk * element);
}

/// One per step along K, and one more.
double one_barrier(const Extents& e, const Parameters& p, std::uint64_t) {
  return p.at("per_tile") * static_cast<double>(ceil_div(e.k, whole(p, "BK"))) + 1;
}

/// The part of a tile of C in `all`: blocks with smaller tiles than the reference's are more blocks, and
/// fewer blocks than tiles take several each.
double per_tile_of_c(const Observed& o, double all) {
  std::int64_t blocks = 0;
  for (const auto& launch : o.launches)
    blocks += static_cast<std::int64_t>(launch.grid.x) * launch.grid.y * launch.grid.z;
  const std::int64_t tiles = blocks_of(o.extents, 128, 128 / words(o.element_bytes));
  return all / static_cast<double>(std::max(blocks, tiles));
}
double barriers_per_tile(const Observed& o) {
  return per_tile_of_c(o, grader::block_barriers(o));
}

/// What one access per piece makes of a copy of A, in parts of BM x BK: `times` for each piece.
double pieces_of_a(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const std::int64_t bm = whole(p, "BM"), bk = whole(p, "BK");
  const std::int64_t elements = ceil_div(e.m, bm) * bm * ceil_div(e.k, bk) * bk;
  return p.at("times") * static_cast<double>(elements) * static_cast<double>(bytes) / (32 * 16);
}

/// Rows of A that consist of whole sectors, each read once for every column of tiles, BN wide.
double whole_sectors_per_tile(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  return p.at("slack") * static_cast<double>(e.m * e.k * ceil_div(e.n, whole(p, "BN"))) *
         static_cast<double>(bytes) / 32;
}

/// Rows of A that consist of whole sectors, each read once.
double whole_sectors(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  return p.at("slack") * static_cast<double>(e.m * e.k) * static_cast<double>(bytes) / 32;
}

double loads_by_register(const Observed& o) {
  return static_cast<double>(o.total.global_load.requests - o.total.async_copy.requests);
}
double started_copies(const Observed& o) {
  return static_cast<double>(o.total.async_copy.requests);
}
double idle_bytes(const Observed& o) {
  return static_cast<double>(o.total.async_bytes_idle);
}

const char* const conflicts =
    "Lanes of a warp touch different words of one bank. It stores 32 columns of one row at once, "
    "and reads one column of eight rows: neither the columns nor the rows may meet in a bank, so "
    "let rows begin in different banks, or permute their columns. If reading takes n wavefronts in "
    "float, n of the eight rows still meet in one bank.";
const char* const no_tiles =
    "More is read from global memory than 64 x 64 tiles need, which are read once per block: "
    "without them there are no bank conflicts, but far more traffic.";
const char* const conflicts_of_pieces =
    "The eight lanes of a quarter warp should touch 32 different banks with their 16 bytes, and "
    "32 lanes that store single elements as well: is the transposed tile padded?";
const char* const conflicts_of_fetch =
    "The eight lanes of a quarter warp should touch 32 different banks with their 16 bytes, and "
    "32 lanes that store single elements as well. Is the transposed tile padded? And do two lanes "
    "fetch from each row of A, as fetch_transposed numbers its pieces?";
const char* const scalar_shared =
    "More accesses to shared memory than with 16 bytes each: read fragments and store B's "
    "pieces with move16.";
const char* const scalar_global =
    "More loads from global memory than with 16 bytes each, although every row begins at a "
    "multiple of 16. If only some lanes move less, is it the last whole piece of a row, which ends "
    "exactly at its edge (< for <=)?";
const char* const half_sectors =
    "A sector has 32 bytes, two pieces, and is fetched as a whole: let two neighbouring threads load "
    "both halves of it, so that they come with one request.";
const char* const down_columns =
    "Rows that begin anywhere are copied element by element, and lanes of a warp copy from many rows at "
    "once: let adjacent threads copy adjacent elements of a row.";
const char* const down_rows =
    "Lanes of a warp copy from many rows at once, so that a sector of 32 bytes is fetched for a single "
    "element: let adjacent threads copy adjacent elements of a row.";
const char* const lanes_apart =
    "A warp reads more than two wavefronts per piece. Let lanes n and n ^ 1 read the same rows, "
    "and n and n ^ 2 the same columns, and let each warp have a tile of its own.";
const char* const by_register =
    "Operands still pass through registers on their way to shared memory, and the thread has to "
    "wait for them: copy them with __pipeline_memcpy_async.";
const char* const scalar_copies =
    "More copies than needed: rows that begin at a multiple of 16 bytes can be copied 16 "
    "bytes at a time.";
const char* const not_hidden =
    "Copies are waited for before anything has been multiplied since their start. Wait for the oldest "
    "group only: __pipeline_wait_prior(n) leaves the n youngest in flight.";
const char* const more_barriers =
    "One barrier per k tile is enough with several stages: it says that the next tile is complete "
    "and that nobody reads the last one any more.";

const std::vector<Extents> rows_of_16_bytes = {{256, 256, 256}, {131, 132, 124}};

/// BM, BN, BK, TM and TN of the reference, with one more parameter.
Parameters reference(const char* name, double value) {
  return {{"BM", 128}, {"BN", 128}, {"BK", 8}, {"TM", 8}, {"TN", 8}, {name, value}};
}

/// Of a rung that copies A: at most `times` accesses for each piece of it.
grader::Goal few_per_piece(const char* stage, const char* key, const char* what, const char* missed,
                           double (*measure)(const Observed&), double times) {
  return {.stage = stage,
          .key = key,
          .what = what,
          .diagnosis = "NOT-VECTORISED",
          .missed = missed,
          .parameters = {{"BM", 64}, {"BK", 32}, {"times", times}},
          .measure = measure,
          .bound = pieces_of_a,
          .at = rows_of_16_bytes};
}
grader::Goal only_copies(const char* stage) {
  return {.stage = stage,
          .key = "loads_by_register",
          .what = "loads by register",
          .diagnosis = "ASYNC-IDLE",
          .missed = by_register,
          .parameters = {},
          .measure = loads_by_register,
          .bound = nothing};
}
grader::Goal no_conflicts(const char* stage, const char* missed = conflicts_of_pieces) {
  return {.stage = stage,
          .key = "excess_wavefronts",
          .what = "wavefronts above ideal",
          .diagnosis = "BANK-CONFLICT",
          .missed = missed,
          .parameters = reference("share", 0.01),
          .measure = grader::excess_wavefronts,
          .bound = few_conflicts};
}
grader::Goal shared_by_lanes(const char* stage) {
  return {.stage = stage,
          .key = "load_wavefronts",
          .what = "shared load wavefronts",
          .diagnosis = "BANK-CONFLICT",
          .missed = lanes_apart,
          .parameters = reference("slack", 1.1),
          .measure = grader::shared_load_wavefronts,
          .bound = paired_wavefronts};
}
grader::Goal few_requests(const char* stage) {
  return {.stage = stage,
          .key = "shared_requests",
          .what = "shared requests",
          .diagnosis = "NOT-VECTORISED",
          .missed = scalar_shared,
          .parameters = reference("slack", 1.5),
          .measure = grader::shared_requests,
          .bound = shared_requests};
}
grader::Goal wide_loads(const char* stage) {
  return {.stage = stage,
          .key = "load_requests",
          .what = "loads from global",
          .diagnosis = "NOT-VECTORISED",
          .missed = scalar_global,
          .parameters = reference("slack", 1.5),
          .measure = grader::load_requests,
          .bound = global_requests,
          .at = rows_of_16_bytes};
}

const std::vector<grader::Goal> goals = {
    {.stage = "4.1",
     .key = "shared_wavefronts",
     .what = "shared wavefronts",
     .diagnosis = "BANK-CONFLICT",
     .missed = conflicts,
     .parameters = {{"BM", 64}, {"BN", 64}, {"BK", 32}, {"TM", 4}, {"TN", 4}, {"slack", 1.05}},
     .measure = grader::shared_wavefronts,
     .bound = scalar_wavefronts},
    {.stage = "4.1",
     .key = "load_sectors",
     .what = "sectors of A and B",
     .diagnosis = "NO-SHARED",
     .missed = no_tiles,
     .parameters = {{"BM", 64}, {"BN", 64}, {"slack", 1.05}},
     .measure = grader::load_sectors,
     .bound = grader::sectors_of_tiles,
     .at = {{256, 256, 256}, {131, 144, 208}}},

    few_per_piece("4.2.1", "load_requests", "loads from global", scalar_global,
                  grader::load_requests, 1.25),

    {.stage = "4.2.2",
     .key = "load_sectors",
     .what = "sectors read from A",
     .diagnosis = "UNCOALESCED",
     .missed = half_sectors,
     .parameters = {{"slack", 1.25}},
     .measure = grader::sectors_of_a,
     .bound = whole_sectors,
     .at = {{256, 256, 256}}},

    // One to store each piece, one to read it.
    few_per_piece("4.2.3", "shared_requests", "shared requests", scalar_shared,
                  grader::shared_requests, 2.4),

    no_conflicts("4.2", conflicts_of_fetch),
    few_requests("4.2"),
    wide_loads("4.2"),
    registers_only("4.2"),
    few_registers("4.2"),

    shared_by_lanes("4.3"),
    no_conflicts("4.3", conflicts_of_fetch),
    few_requests("4.3"),
    wide_loads("4.3"),
    registers_only("4.3"),
    few_registers("4.3"),

    few_per_piece("4.4.1", "copies", "copies started", scalar_copies, started_copies, 1.1),
    only_copies("4.4.1"),
    {.stage = "4.4.1",
     .key = "load_sectors",
     .what = "sectors read from A",
     .diagnosis = "UNCOALESCED",
     .missed = down_columns,
     .parameters = {{"slack", 2}},
     .measure = grader::sectors_of_a,
     .bound = whole_sectors,
     .at = {{256, 256, 255}},
     .advice = true},

    only_copies("4.4.2"),

    only_copies("4.4"),
    {.stage = "4.4",
     .key = "async_bytes_idle",
     .what = "bytes not hidden",
     .diagnosis = "ASYNC-IDLE",
     .missed = not_hidden,
     .parameters = reference("tiles", 2),
     .measure = idle_bytes,
     .bound = bytes_of_first_tiles},
    {.stage = "4.4",
     .key = "barriers",
     .what = "barriers per tile of C",
     .diagnosis = "BARRIERS",
     .missed = more_barriers,
     .parameters = reference("per_tile", 1),
     .measure = barriers_per_tile,
     .bound = one_barrier},
    {.stage = "4.4",
     .key = "copies",
     .what = "copies started per tile of C",
     .diagnosis = "NOT-VECTORISED",
     .missed = scalar_copies,
     .parameters = reference("slack", 1.1),
     .measure = [](const Observed& o) { return per_tile_of_c(o, started_copies(o)); },
     .bound = copies,
     .at = rows_of_16_bytes},
    {.stage = "4.4",
     .key = "load_sectors",
     .what = "sectors read from A",
     .diagnosis = "UNCOALESCED",
     .missed = down_rows,
     .parameters = {{"BN", 64}, {"slack", 1.25}},
     .measure = grader::sectors_of_a,
     .bound = whole_sectors_per_tile,
     .at = {{256, 256, 256}}},
    grader::copies_under_way("4.4"),
    shared_by_lanes("4.4"),
    no_conflicts("4.4"),
    few_requests("4.4"),
    registers_only("4.4"),
    few_registers("4.4"),
};

const grader::GoalList registered("lab4_bank_conflict", goals);

}  // namespace
