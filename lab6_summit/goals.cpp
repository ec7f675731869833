// What lab 6 is about, as numbers: no multiprocessor is without work however few tiles C has, partial
// sums pass through memory once, and nothing is copied or multiplied that does not exist. FP32 by
// tensor cores takes three products of TF32, not fewer and not more.
#include <algorithm>

#include "grader/goals.hpp"

namespace {

using grader::ceil_div;
using grader::Extents;
using grader::few_registers;
using grader::Observed;
using grader::Parameters;
using grader::registers_only;
using grader::whole;

/// Of the simulated GPU, and how many blocks of this kind run at once at most.
constexpr std::int64_t MULTIPROCESSORS = 108, BLOCKS = 4 * MULTIPROCESSORS;

// ---- what was counted

std::uint64_t tensor_operations(const simgpu::Counts& counts) {
  std::uint64_t operations = 0;
  for (const auto& [type, count] : counts.tensor_ops) operations += count;
  return operations;
}

/// What threads multiply, in whatever type: FP32 can be computed in FP64 as well.
std::uint64_t products_of_threads(const simgpu::Counts& counts) {
  return counts.fma_f16 + counts.fma_f32 + counts.fma_f64 + counts.mul_f32 + counts.mul_f64;
}

/// The launch that makes the products: the one with the most of them.
const simgpu::LaunchReport* main_launch(const Observed& o) {
  const auto products = [](const simgpu::LaunchReport& launch) {
    return products_of_threads(launch.total) + tensor_operations(launch.total) / 2;
  };
  const auto most =
      std::max_element(o.launches.begin(), o.launches.end(),
                       [&](const auto& x, const auto& y) { return products(x) < products(y); });
  return most == o.launches.end() ? nullptr : &*most;
}

double idle_multiprocessors(const Observed& o) {
  const auto* const launch = main_launch(o);
  const std::int64_t blocks =
      launch ? std::int64_t{launch->grid.x} * launch->grid.y * launch->grid.z : 0;
  return static_cast<double>(std::max<std::int64_t>(0, MULTIPROCESSORS - blocks));
}
double blocks_of_products(const Observed& o) {
  const auto* const launch = main_launch(o);
  return launch ? static_cast<double>(launch->grid.x) * launch->grid.y * launch->grid.z : 0;
}
double scratch_sectors(const Observed& o) {
  // Atomics can exchange what others store and load.
  return static_cast<double>(o.scratch.load.sectors + o.scratch.store.sectors +
                             o.scratch.atomic.sectors);
}
double atomic_sectors(const Observed& o) {
  return static_cast<double>(o.c.atomic.sectors + o.scratch.atomic.sectors);
}
double started_copies(const Observed& o) {
  return static_cast<double>(o.total.async_copy.requests);
}
double made_elsewhere(const Observed& o) {
  return static_cast<double>(o.made_elsewhere);
}
/// Of two in each block of the launch that makes the products.
double idle_warpgroups(const Observed& o) {
  return 2 * blocks_of_products(o) - static_cast<double>(o.total.wgmma_groups);
}
double requests_of_inputs(const Observed& o) {
  return static_cast<double>(o.a.load.requests + o.a.atomic.requests + o.b.load.requests +
                             o.b.atomic.requests);
}
double multiply_adds(const Observed& o) {
  return static_cast<double>(products_of_threads(o.total));
}
double products_on_tensor_cores(const Observed& o) {
  return static_cast<double>(tensor_operations(o.total)) / 2;
}
/// Of three for each product of A and B, those that no tensor core made.
double products_missing(const Observed& o) {
  const Extents& e = o.extents;
  return std::max(0.0, 3.0 * static_cast<double>(e.m * e.n * e.k) - products_on_tensor_cores(o));
}

// ---- what it may be

/// Nothing hides the copies of a block's first step.
double first_steps(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const std::int64_t bm = whole(p, "BM"), bn = whole(p, "BN");
  return p.at("steps") * static_cast<double>(ceil_div(e.m, bm) * ceil_div(e.n, bn) * (bm + bn) *
                                             whole(p, "BK") * static_cast<std::int64_t>(bytes));
}

/// One per tile: none is shared.
double one_per_tile(const Extents& e, const Parameters& p, std::uint64_t) {
  return static_cast<double>(ceil_div(e.m, whole(p, "BM")) * ceil_div(e.n, whole(p, "BN")));
}
double as_many_as_run(const Extents&, const Parameters& p, std::uint64_t) {
  return p.at("blocks");
}

double few_idle(const Extents&, const Parameters& p, std::uint64_t) {
  return p.at("idle");
}
/// Where C has several of the smallest tiles for every multiprocessor, hardly any has none.
double few_idle_if_many(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  return one_per_tile(e, p, bytes) >= 3 * MULTIPROCESSORS ? p.at("idle of many") : p.at("idle");
}

/// Each split stores its part of C once, and it is read once: as many splits as blocks run at once.
double partial_sums(const Extents& e, const Parameters& p, std::uint64_t) {
  const std::int64_t tiles = ceil_div(e.m, whole(p, "BM")) * ceil_div(e.n, whole(p, "BN"));
  const std::int64_t splits = std::max<std::int64_t>(1, whole(p, "blocks") / tiles);
  return p.at("slack") * static_cast<double>(2 * splits * e.m * ceil_div(e.n, 8));
}

/// A piece of a tile of doubles from each of `blocks` blocks, stored and read, and its warps' flags.
double pieces_handed_over(const Extents&, const Parameters& p, std::uint64_t bytes) {
  const std::int64_t piece =
      whole(p, "BM") * whole(p, "BN") * static_cast<std::int64_t>(bytes) / 32;
  return p.at("slack") * static_cast<double>(2 * whole(p, "blocks") * piece);
}

/// Enough for a counter that every warp of every block increments once; far from a sum.
double one_per_warp(const Extents&, const Parameters& p, std::uint64_t) {
  return p.at("warps");
}

/// A's elements one by one, since they are transposed; B's as many at a time as its rows allow.
double copies(const Extents& e, const Parameters& p, std::uint64_t) {
  const std::int64_t bm = whole(p, "BM"), bn = whole(p, "BN"), bk = whole(p, "BK");
  const std::int64_t width = e.n % 4 == 0 ? 4 : e.n % 2 == 0 ? 2 : 1;
  const std::int64_t tiles = ceil_div(e.m, bm) * ceil_div(e.n, bn), k = ceil_div(e.k, bk) * bk;
  return p.at("slack") * static_cast<double>(tiles * k * (bm + bn / width) / 32);
}

/// Of tiles filled up to BM rows, BN columns and BK terms.
double padded_products(const Extents& e, const Parameters& p, std::uint64_t) {
  const auto up = [&](std::int64_t n, const char* size) {
    return ceil_div(n, whole(p, size)) * whole(p, size);
  };
  return p.at("slack") * static_cast<double>(up(e.m, "BM") * up(e.n, "BN") * up(e.k, "BK"));
}

/// A warp loads 32 pieces of 16 bytes at a time, each of them twice, and the first and the last piece of a
/// row element by element.
double requests_of_pieces(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const std::int64_t of_a_warp = 32 * 16 / static_cast<std::int64_t>(bytes);
  const auto row = [&](std::int64_t cols) {
    return 2 * ceil_div(cols, of_a_warp) + 2 * (16 / static_cast<std::int64_t>(bytes));
  };
  return p.at("slack") * static_cast<double>(e.m * row(e.k) + e.k * row(e.n));
}

/// Every element of C is stored once, in whole sectors but for the ends of rows.
double sectors_of_c(const Extents& e, const Parameters& p, std::uint64_t) {
  return p.at("slack") * static_cast<double>(e.m * (ceil_div(e.n, 8) + 1));
}

/// Tiles are filled up: a warp reads WM x BK and BK x WN floats for WM x WN x BK products.
double shared_bytes(const Extents& e, const Parameters& p, std::uint64_t) {
  const double padded = padded_products(e, p, 4);
  return 4 * (padded / p.at("WM") + padded / p.at("WN"));
}

/// The fragments of one factor, for each tile of C, and B once: to be transposed, or as much for sums.
double bytes_of_fragments(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const double once = static_cast<double>(e.k * e.n * static_cast<std::int64_t>(bytes));
  return padded_products(e, p, bytes) / p.at("BN") * static_cast<double>(bytes) + once;
}

/// The tiles of both factors for each tile of C, and B once, as much as sums take.
double bytes_of_both(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const double padded = padded_products(e, p, bytes) * static_cast<double>(bytes);
  return padded / p.at("BM") + bytes_of_fragments(e, p, bytes);
}

const char* const not_hidden =
    "Warps wait for copies while they have nothing to multiply. Begin a copy STAGES - 1 steps "
    "before its tile is needed, and wait only for the oldest group.";
const char* const few_blocks =
    "Multiprocessors have nothing to do: C has fewer tiles than the GPU has multiprocessors. Let "
    "several blocks share a tile, each with a part of K.";
const char* const estimate_too_few =
    "Multiprocessors have nothing to do: the estimate is too low for a large tile or few splits, or too high "
    "for small tiles or many splits, or it is no number (0 / 0). Work it out by hand for this shape and two of "
    "the table's tiles, with one split and with two. Is the number of blocks that of a single "
    "multiprocessor, all splits counted, and rounded up only then? Does each block multiply its own share of "
    "K alone? Is `full` used for all blocks of a round together, not for each of them? What do splits cost: is "
    "an amount divided by what is done per cycle?";
const char* const short_splits =
    "Blocks share tiles whose sums are short: to bring them together takes longer than it saves. Work the "
    "estimate out by hand for this shape, with one split and with two. How many terms does a step have? "
    "What do splits cost: is it added for every block that shares a tile, and only where there are several?";
const char* const more_than_run =
    "More blocks than run at the same time, though sums are short: work the estimate out by hand for this "
    "shape, with one split and with four. Do all blocks of a tile count among those of the busiest "
    "multiprocessor, and what does a tile cost before and after its steps: is each number per tile, per "
    "64 x 64 elements, or per block, as its comment says?";
const char* const order_of_sums =
    "Sums are added by atomics, in the order in which blocks happen to finish: the result changes "
    "from run to run. Store partial sums, and add them in a fixed order.";
const char* const much_scratch =
    "More goes through scratch memory than the partial sums of as many splits as run at once, "
    "written once and read once: split K into fewer parts.";
const char* const narrow_copies =
    "More copies of B than its rows require: 16 bytes at a time where every row begins at a "
    "multiple of 16, else 8 where it begins at a multiple of 8.";
const char* const not_by_wgmma =
    "Threads read more of the tiles than A's fragments, once per tile of C: both parts of B are "
    "for wgmma to read.";
const char* const not_from_tensor_cores =
    "C was computed again with tensor cores that double their results, and did not double: what "
    "they compute does not reach C.";
const char* const computed_again =
    "C was computed again with tensor cores that double their results, and did not double. What comes out "
    "of them as infinity or NaN is computed once more by threads, from A and B: is some part of a factor, or a "
    "register, never set?";
const char* const passed_again =
    "A factor passes through memory once more. As the first factor, from registers, wgmma takes B "
    "as it lies in memory.";
const char* const parts_by_a_pass =
    "Parts of a factor are stored in memory before they are multiplied: A can be split where TMA has "
    "brought it, in shared memory.";
const char* const tiles_again =
    "Threads read more of the tiles than A once, to split it, and B's fragments, once per tile of C.";
const char* const fragments_again =
    "Threads read more of the tiles than B's fragments, once per tile of C: A is for wgmma to read.";
const char* const padding =
    "Many products are made of rows or columns that C does not have: a large tile hangs over the "
    "edge of a thin matrix. Either the estimate is too low for it, or it is no number (0 / 0, for a tile of "
    "which one block fits): nothing is less than that, so the first tile stays. Work it out by hand for this "
    "shape and two of the table's tiles. Is the number of blocks rounded up, does every round cost all that "
    "a round takes (and is a last one that is not full counted once, not once per block, nor as a full round "
    "as well), and how many terms does a step have?";
const char* const steps_waited_for =
    "Tensor cores are idle between the steps of a tile: the products of a step start only when those of the "
    "last one have finished. Start them first, then wait for all groups but the last.";
const char* const one_group_works =
    "A warpgroup that should take turns makes no products, although every block has at least two tiles.";
const char* const by_elements =
    "Rows are loaded element by element: load 16 bytes at a time, at multiples of 16, and put the "
    "elements together in registers.";
const char* const parts_in_memory =
    "Sums pass through global memory: the blocks of a cluster read each other's shared memory.";
const char* const stored_again =
    "More sectors are stored than C has. Either elements are stored more than once, and each block of "
    "a cluster should add and store its own share of the rows; or the lanes of a warp store to many "
    "rows at once.";
const char* const by_threads =
    "Not all three products of parts are made by tensor cores: small times big, big times small, "
    "big times big.";
const char* const four_products =
    "Tensor cores make more than three products for each of A and B. Small times small is below "
    "what FP32 holds: leave it out.";
const char* const copied_in_memory =
    "Rows are copied in global memory before they are multiplied: TMA can read every other row of a "
    "matrix of doubles, wherever the first one begins.";
const char* const more_than_a_piece =
    "More sums pass through memory than one piece of a tile per block, stored once and read once.";
const char* const no_large_tile =
    "More is read from A and B than tiles of 64 x 128 would need, although C is large. Has the table a large "
    "tile, and has each tile the rates that were measured, `full` for all of its blocks together? Work the "
    "estimate out by hand for this shape, for a large tile and for a small one.";
const char* const small_tile = "More is read from A and B than a 64 x 64 tile per block needs.";
const char* const conflicts =
    "Lanes of a warp touch different words of one bank, where fragments are read or where copies "
    "arrive.";
const char* const no_reuse =
    "Each warp reads more from shared memory than a 32 x 32 tile of its own needs: split a "
    "fragment once it is in registers, and use both parts.";

const std::vector<Extents> aligned_and_ragged = {{256, 256, 256}, {131, 144, 208}};

grader::Goal hidden_copies(const char* stage, double tile, double depth) {
  return {
      .stage = stage,
      .key = "async_bytes_idle",
      .what = "bytes not hidden",
      .diagnosis = "ASYNC-IDLE",
      .missed = not_hidden,
      .parameters = {{"BM", tile}, {"BN", tile}, {"BK", depth}, {"steps", 2}},
      .measure = [](const Observed& o) { return static_cast<double>(o.total.async_bytes_idle); },
      .bound = first_steps};
}
grader::Goal blocks_for_all(const char* stage, std::vector<Extents> at, double idle) {
  return {.stage = stage,
          .key = "idle_multiprocessors",
          .what = "multiprocessors without a block",
          .diagnosis = "FEW-BLOCKS",
          .missed = few_blocks,
          .parameters = {{"idle", idle}},
          .measure = idle_multiprocessors,
          .bound = few_idle,
          .at = std::move(at)};
}
/// Where a stage's own estimate chooses how many blocks share a tile.
grader::Goal blocks_by_estimate(const char* stage, std::vector<Extents> at, double idle) {
  grader::Goal goal = blocks_for_all(stage, std::move(at), idle);
  goal.missed = estimate_too_few;
  return goal;
}
grader::Goal short_sums_unsplit(const char* stage, std::vector<Extents> at, double bm, double bn) {
  return {.stage = stage,
          .key = "blocks",
          .what = "blocks",
          .diagnosis = "MANY-SPLITS",
          .missed = short_splits,
          .parameters = {{"BM", bm}, {"BN", bn}},
          .measure = blocks_of_products,
          .bound = one_per_tile,
          .at = std::move(at)};
}
grader::Goal fixed_order(const char* stage, std::vector<Extents> at) {
  return {.stage = stage,
          .key = "atomic_sectors",
          .what = "sectors of atomics",
          .diagnosis = "SUM-ORDER",
          .missed = order_of_sums,
          .parameters = {{"warps", BLOCKS * 8}},
          .measure = atomic_sectors,
          .bound = one_per_warp,
          .at = std::move(at)};
}
grader::Goal few_partial_sums(const char* stage, std::vector<Extents> at, double tile) {
  return {.stage = stage,
          .key = "scratch_sectors",
          .what = "sectors of scratch memory",
          .diagnosis = "SCRATCH",
          .missed = much_scratch,
          .parameters = {{"BM", tile}, {"BN", tile}, {"blocks", BLOCKS}, {"slack", 1.1}},
          .measure = scratch_sectors,
          .bound = partial_sums,
          .at = std::move(at)};
}
grader::Goal wide_copies(const char* stage) {
  return {.stage = stage,
          .key = "copies",
          .what = "copies started",
          .diagnosis = "NOT-VECTORISED",
          .missed = narrow_copies,
          .parameters = {{"BM", 128}, {"BN", 128}, {"BK", 16}, {"slack", 1.1}},
          .measure = started_copies,
          .bound = copies,
          .at = {{256, 256, 256}, {131, 130, 127}}};
}
grader::Goal three_made(const char* stage) {
  return {.stage = stage,
          .key = "products_missing",
          .what = "products not made by tensor cores",
          .diagnosis = "NO-TENSOR",
          .missed = by_threads,
          .measure = products_missing,
          .bound = grader::nothing,
          .at = aligned_and_ragged};
}
grader::Goal not_four(const char* stage) {
  return {.stage = stage,
          .key = "tensor_products",
          .what = "products made by tensor cores",
          .diagnosis = "MORE-PRODUCTS",
          .missed = four_products,
          .parameters = {{"BM", 128}, {"BN", 128}, {"BK", 32}, {"slack", 3.01}},
          .measure = products_on_tensor_cores,
          .bound = padded_products,
          .at = aligned_and_ragged};
}
grader::Goal tiles_that_fit(const char* stage, double bm, double bn, double bk,
                            std::vector<Extents> at) {
  return {.stage = stage,
          .key = "tensor_products",
          .what = "products made by tensor cores",
          .diagnosis = "PADDING",
          .missed = padding,
          .parameters = {{"BM", bm}, {"BN", bn}, {"BK", bk}, {"slack", 1.05}},
          .measure = products_on_tensor_cores,
          .bound = padded_products,
          .at = std::move(at)};
}
grader::Goal made_by_tensor_cores(const char* stage, const char* missed) {
  return {.stage = stage,
          .key = "made_elsewhere",
          .what = "elements of C that tensor cores take no part in",
          .diagnosis = "IDLE-TENSOR",
          .missed = missed,
          .measure = made_elsewhere,
          .bound = grader::nothing,
          .doubled = true};
}
grader::Goal sectors(const char* stage) {
  return {.stage = stage,
          .key = "load_sectors",
          .what = "sectors of A and B",
          .diagnosis = "NO-SHARED",
          .missed = small_tile,
          .parameters = {{"BM", 64}, {"BN", 64}, {"slack", 1.05}},
          .measure = grader::load_sectors,
          .bound = grader::sectors_of_tiles,
          .at = aligned_and_ragged};
}
/// Where C has a tile of 128 x 256 for every multiprocessor, large ones are best. Others of a good table fit
/// it less well: what remains is that none is as small as those for few rows.
grader::Goal large_tiles(const char* stage) {
  return {.stage = stage,
          .key = "load_sectors",
          .what = "sectors of A and B",
          .diagnosis = "NO-REUSE",
          .missed = no_large_tile,
          .parameters = {{"BM", 64}, {"BN", 128}, {"slack", 1.05}},
          .measure = grader::load_sectors,
          .bound = grader::sectors_of_tiles,
          .at = {{1536, 2304, 32}}};
}
grader::Goal no_conflicts(const char* stage) {
  return {.stage = stage,
          .key = "excess_wavefronts",
          .what = "wavefronts above ideal",
          .diagnosis = "BANK-CONFLICT",
          .missed = conflicts,
          .parameters = {{"share", 0.01}},
          .measure = grader::excess_wavefronts,
          .bound = grader::few_conflicts,
          .at = aligned_and_ragged};
}
grader::Goal fragments_reused(const char* stage) {
  return {
      .stage = stage,
      .key = "shared_bytes",
      .what = "bytes read from shared memory",
      .diagnosis = "NO-REUSE",
      .missed = no_reuse,
      .parameters = {{"BM", 128}, {"BN", 128}, {"BK", 32}, {"WM", 32}, {"WN", 32}, {"slack", 1.05}},
      .measure = grader::shared_bytes_read,
      .bound = shared_bytes,
      .at = aligned_and_ragged};
}

grader::Goal parts_read_by_wgmma(const char* stage) {
  return {.stage = stage,
          .key = "shared_bytes",
          .what = "bytes read from shared memory by threads",
          .diagnosis = "NO-REUSE",
          .missed = not_by_wgmma,
          .parameters = {{"BM", 128}, {"BN", 32}, {"BK", 32}, {"slack", 1.05}},
          .measure = grader::shared_bytes_read,
          .bound = bytes_of_fragments,
          .at = aligned_and_ragged};
}

/// What threads read of the tiles, if wgmma reads the rest.
grader::Goal tiles_read_once(const char* stage, const char* missed,
                             decltype(grader::Goal::bound) bound) {
  return {.stage = stage,
          .key = "shared_bytes",
          .what = "bytes read from shared memory by threads",
          .diagnosis = "NO-REUSE",
          .missed = missed,
          .parameters = {{"BM", 64}, {"BN", 64}, {"BK", 32}, {"slack", 1.05}},
          .measure = grader::shared_bytes_read,
          .bound = std::move(bound),
          .at = aligned_and_ragged};
}

grader::Goal no_scratch(const char* stage, std::vector<Extents> at, const char* missed) {
  return {.stage = stage,
          .key = "scratch_sectors",
          .what = "sectors of scratch memory",
          .diagnosis = "SCRATCH",
          .missed = missed,
          .measure = scratch_sectors,
          .bound = grader::nothing,
          .at = std::move(at)};
}
grader::Goal stored_once(const char* stage, std::vector<Extents> at) {
  return {.stage = stage,
          .key = "sectors_to_c",
          .what = "sectors stored to C",
          .diagnosis = "STORES",
          .missed = stored_again,
          .parameters = {{"slack", 1.05}},
          .measure = grader::sectors_to_c,
          .bound = sectors_of_c,
          .at = std::move(at)};
}

const std::vector<Extents> deep = {{256, 256, 2048}, {131, 129, 2047}};
const std::vector<Extents> whole_tiles = {{256, 256, 2048}};
/// Few tiles with pieces for many blocks each, and more tiles than blocks.
const std::vector<Extents> shared_tiles = {{256, 256, 2048}, {1000, 1000, 96}};
const std::vector<Extents> thin = {{24, 1024, 128}, {1000, 30, 127}};
/// The last has 14 steps: a second block would save 7 of them, which is less than what sharing costs.
const std::vector<Extents> short_and_medium = {{24, 1024, 128}, {1000, 30, 127}, {24, 100, 896}};
const std::vector<Extents> small = {{256, 256, 1024}, {65, 1000, 1023}};

/// Once per tile of 64 x 128: half as large as those given, since a warpgroup may compute less at a time.
grader::Goal starts_once_per_tile(const char* stage) {
  return {.stage = stage,
          .key = "wgmma_alone",
          .what = "products started while none are under way",
          .diagnosis = "TENSOR-WAITS",
          .missed = steps_waited_for,
          .parameters = {{"BM", 64}, {"BN", 128}},
          .measure = [](const Observed& o) { return static_cast<double>(o.total.wgmma_alone); },
          .bound = one_per_tile,
          .at = {{256, 256, 512}, {131, 129, 520}}};
}

const std::vector<grader::Goal> goals = {
    hidden_copies("6.0", 128, 16),
    grader::copies_under_way("6.0"),
    registers_only("6.0"),
    few_registers("6.0"),

    blocks_for_all("6.1", deep, 12),
    fixed_order("6.1", deep),
    few_partial_sums("6.1", deep, 128),
    registers_only("6.1"),
    few_registers("6.1"),

    wide_copies("6.2.1"),
    blocks_for_all("6.2.1", deep, 12),
    fixed_order("6.2.1", deep),
    registers_only("6.2.1"),

    {.stage = "6.2",
     .key = "multiply_adds",
     .what = "multiply-adds",
     .diagnosis = "PADDING",
     .missed = padding,
     .parameters = {{"BM", 32}, {"BN", 64}, {"BK", 32}, {"slack", 1.1}},
     .measure = multiply_adds,
     .bound = padded_products,
     .at = thin},
    blocks_by_estimate("6.2", small, 27),
    short_sums_unsplit("6.2", {{24, 1024, 64}}, 32, 64),
    large_tiles("6.2"),
    fixed_order("6.2", small),
    registers_only("6.2"),

    three_made("6.3.1"),
    not_four("6.3.1"),
    // Given code repairs what is not finite: an element that needs it for finite factors was never right.
    made_by_tensor_cores("6.3.1", computed_again),
    no_conflicts("6.3.1"),
    sectors("6.3.1"),
    fragments_reused("6.3.1"),
    registers_only("6.3.1"),

    three_made("6.3.2"),
    not_four("6.3.2"),
    hidden_copies("6.3.2", 64, 32),
    grader::copies_under_way("6.3.2"),
    no_conflicts("6.3.2"),
    sectors("6.3.2"),
    fragments_reused("6.3.2"),
    registers_only("6.3.2"),
    few_registers("6.3.2"),

    three_made("6.3.4"),
    not_four("6.3.4"),
    grader::brought_by_tma("6.3.4", aligned_and_ragged),
    parts_read_by_wgmma("6.3.4"),
    no_conflicts("6.3.4"),
    registers_only("6.3.4"),
    few_registers("6.3.4"),

    {.stage = "6.4.1",
     .key = "load_requests",
     .what = "load requests of A and B",
     .diagnosis = "NOT-VECTORISED",
     .missed = by_elements,
     .parameters = {{"slack", 1.1}},
     .measure = requests_of_inputs,
     .bound = requests_of_pieces,
     .at = {{9, 2047, 21}}},
    registers_only("6.4.1"),

    blocks_for_all("6.4.2", whole_tiles, 48),
    fixed_order("6.4.2", whole_tiles),
    no_scratch("6.4.2", whole_tiles, parts_in_memory),
    stored_once("6.4.2", whole_tiles),
    grader::brought_by_tma("6.4.2", whole_tiles),
    registers_only("6.4.2"),
    few_registers("6.4.2"),

    tiles_that_fit("6.4.3", 64, 64, 64, {{24, 1024, 128}, {1000, 30, 127}, {24, 100, 31}}),
    blocks_by_estimate("6.4.3", whole_tiles, 80),
    short_sums_unsplit("6.4.3", short_and_medium, 64, 64),
    fixed_order("6.4.3", whole_tiles),
    grader::brought_by_tma("6.4.3", whole_tiles),
    registers_only("6.4.3"),

    made_by_tensor_cores("6.4.4", not_from_tensor_cores),
    grader::brought_by_tma("6.4.4", whole_tiles),
    no_scratch("6.4.4", whole_tiles, passed_again),
    tiles_read_once("6.4.4", fragments_again, bytes_of_fragments),
    no_conflicts("6.4.4"),
    registers_only("6.4.4"),

    three_made("6.4.5"),
    not_four("6.4.5"),
    grader::brought_by_tma("6.4.5", whole_tiles),
    no_scratch("6.4.5", whole_tiles, parts_by_a_pass),
    tiles_read_once("6.4.5", tiles_again, bytes_of_both),
    no_conflicts("6.4.5"),
    registers_only("6.4.5"),

    grader::brought_by_tma("6.5", aligned_and_ragged),
    no_scratch("6.5", {{256, 256, 256}, {131, 129, 127}}, copied_in_memory),

    made_by_tensor_cores("6.5.1", not_from_tensor_cores),
    grader::brought_by_tma("6.5.1", aligned_and_ragged),
    no_scratch("6.5.1", {{256, 256, 256}, {131, 129, 127}}, copied_in_memory),
    no_conflicts("6.5.1"),
    registers_only("6.5.1"),
    few_registers("6.5.1"),

    tiles_that_fit("6.5.2", 32, 64, 32, {{24, 1024, 128}, {1000, 30, 127}, {257, 1500, 8}}),
    // Few tiles with long sums, few columns with long sums, few rows with sums of 12 steps, which become
    // too short to share if steps are counted as longer, and many tiles of a single step.
    {.stage = "6.5.2",
     .key = "idle_multiprocessors",
     .what = "multiprocessors without a block",
     .diagnosis = "FEW-BLOCKS",
     .missed = estimate_too_few,
     .parameters = {{"BM", 32}, {"BN", 64}, {"idle", 48}, {"idle of many", 20}},
     .measure = idle_multiprocessors,
     .bound = few_idle_if_many,
     .at = {{256, 256, 2048}, {288, 33, 2048}, {24, 1024, 384}, {640, 1025, 8}}},
    short_sums_unsplit("6.5.2", {{24, 1024, 64}}, 32, 64),
    {.stage = "6.5.2",
     .key = "blocks_at_once",
     .what = "blocks",
     .diagnosis = "MANY-SPLITS",
     .missed = more_than_run,
     .parameters = {{"blocks", 2 * MULTIPROCESSORS}},
     .measure = blocks_of_products,
     .bound = as_many_as_run,
     .at = {{512, 512, 256}, {65, 768, 320}}},
    fixed_order("6.5.2", whole_tiles),
    no_scratch("6.5.2", whole_tiles, parts_in_memory),
    grader::brought_by_tma("6.5.2", whole_tiles),
    registers_only("6.5.2"),
    few_registers("6.5.2"),

    blocks_for_all("6.5.3", shared_tiles, 12),
    fixed_order("6.5.3", shared_tiles),
    {.stage = "6.5.3",
     .key = "scratch_sectors",
     .what = "sectors of scratch memory",
     .diagnosis = "SCRATCH",
     .missed = more_than_a_piece,
     .parameters = {{"BM", 64}, {"BN", 64}, {"blocks", 2 * MULTIPROCESSORS}, {"slack", 1.05}},
     .measure = scratch_sectors,
     .bound = pieces_handed_over,
     .at = shared_tiles},
    grader::brought_by_tma("6.5.3", aligned_and_ragged),
    registers_only("6.5.3"),
    few_registers("6.5.3"),

    made_by_tensor_cores("6.5.4", not_from_tensor_cores),
    grader::brought_by_tma("6.5.4", aligned_and_ragged),
    no_conflicts("6.5.4"),
    registers_only("6.5.4"),
    few_registers("6.5.4"),

    starts_once_per_tile("6.6.1"),
    grader::brought_by_tma("6.6.1", {{256, 256, 256}}),
    no_conflicts("6.6.1"),
    registers_only("6.6.1"),
    few_registers("6.6.1"),

    // 216 tiles of 128 x 128, two for each multiprocessor, and more steps than places.
    {.stage = "6.6.2",
     .key = "idle_warpgroups",
     .what = "warpgroups that make no products",
     .diagnosis = "TENSOR-WAITS",
     .missed = one_group_works,
     .measure = idle_warpgroups,
     .bound = grader::nothing,
     .at = {{27648, 8, 448}}},
    starts_once_per_tile("6.6.2"),
    stored_once("6.6.2", {{256, 256, 512}}),
    grader::brought_by_tma("6.6.2", {{256, 256, 256}}),
    no_conflicts("6.6.2"),
    registers_only("6.6.2"),
    few_registers("6.6.2"),
};

const grader::GoalList registered("lab6_summit", goals);

}  // namespace
