// What lab 5 is about, as numbers: tensor cores make all products, fragments are read without bank
// conflicts and used more than once, and copies arrive while something is being multiplied.
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

std::int64_t products(const Extents& e) {
  return e.m * e.n * e.k;
}

// ---- what was counted

/// All that threads compute in floating point.
double float_arithmetic(const Observed& o) {
  const auto of = [&o](simgpu::InstructionClass one) {
    return o.total.thread_instructions_by_class[static_cast<std::size_t>(one)];
  };
  return static_cast<double>(of(simgpu::InstructionClass::fp32) +
                             of(simgpu::InstructionClass::fp64) + o.total.fma_f16);
}
/// Products that no tensor core made: those that are missing there, and multiply-adds of threads;
/// or all arithmetic of theirs, where there is enough for half of the products: who divides by a
/// reciprocal multiplies, and so does who takes elements as integers in fixed point. Addresses take
/// far fewer products.
double products_elsewhere(const Observed& o) {
  std::int64_t made = 0;
  for (const auto& [type, operations] : o.total.tensor_ops)
    made += static_cast<std::int64_t>(operations / 2);
  const auto by_threads =
      static_cast<double>(o.total.fma_f32 + o.total.fma_f64 + o.total.mul_f32 + o.total.mul_f64);
  const double all = float_arithmetic(o) + static_cast<double>(o.total.products_int);
  const bool enough = 2 * all >= static_cast<double>(products(o.extents));
  return static_cast<double>(std::max<std::int64_t>(0, products(o.extents) - made)) +
         (enough ? all : by_threads);
}
/// Where products are missing there, that is what has to be told.
double made_elsewhere(const Observed& o) {
  const bool missing = products_elsewhere(o) > static_cast<double>(o.extents.m * o.extents.n);
  return missing ? 0 : static_cast<double>(o.made_elsewhere);
}
/// Bytes that warps waited for without anything to multiply meanwhile: copied without a
/// multiply-add between commit and wait, or loaded into registers.
double bytes_not_hidden(const Observed& o) {
  return static_cast<double>(o.total.async_bytes_idle + o.total.global_load.bytes -
                             o.total.async_copy.bytes);
}

// ---- what it may be

/// One multiplication per element of C is free: a kernel may scale its result.
double one_per_element(const Extents& e, const Parameters&, std::uint64_t) {
  return static_cast<double>(e.m * e.n);
}

/// Tiles are filled up: a warp reads WM x BK and BK x WN elements for WM x WN x BK products. Added
/// is what it takes to bring C from fragments into rows.
double shared_bytes(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const std::int64_t m = ceil_div(e.m, whole(p, "BM")) * whole(p, "BM"),
                     n = ceil_div(e.n, whole(p, "BN")) * whole(p, "BN"),
                     k = ceil_div(e.k, whole(p, "BK")) * whole(p, "BK");
  const std::int64_t wm = whole(p, "WM"), wn = whole(p, "WN");
  return p.at("slack") *
         static_cast<double>(m * n * k / wm * static_cast<std::int64_t>(bytes) +
                             m * n * k / wn * static_cast<std::int64_t>(bytes) + m * n * 4);
}

/// As grader::sectors_copied_first, in shared memory, to be transposed; and C once, since sums may
/// pass through shared memory so that a warp stores whole rows of them.
double bytes_copied_first(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  return p.at("slack") *
         static_cast<double>((e.m * e.k + e.k * e.n) * static_cast<std::int64_t>(bytes) +
                             e.m * e.n * 4);
}

/// As grader::few_conflicts, for a copy of A: of the wavefronts that bring each of its elements once.
double few_conflicts_in_a_copy(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  return p.at("share") * static_cast<double>(e.m * e.k) * static_cast<double>(bytes) / 128;
}

/// The first `tiles` pairs of tiles of each block have nothing to hide behind: 128 bytes for each
/// of their rows of A and columns of B.
double first_tiles(const Extents& e, const Parameters& p, std::uint64_t) {
  return p.at("tiles") *
         static_cast<double>(ceil_div(e.m, whole(p, "BM")) * ceil_div(e.n, whole(p, "BN")) * 128 *
                             (whole(p, "BM") + whole(p, "BN")));
}

/// Of C = A, m x k: a fragment of 8 x 8 is two requests of 32 lanes.
double stores_of_fragments(const Extents& e, const Parameters& p, std::uint64_t) {
  return p.at("slack") * static_cast<double>(ceil_div(e.m, 8) * ceil_div(e.k, 8) * 2);
}
double stores_to_c(const Observed& o) {
  return static_cast<double>(o.c.store.requests + o.c.atomic.requests);
}
/// C is as large as A there.
double sectors_of_c(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  return p.at("slack") * static_cast<double>(grader::coalesced_row_sectors(e.m, e.k, e.k, bytes));
}
double sectors_stored(const Observed& o) {
  return static_cast<double>(o.c.store.sectors + o.c.atomic.sectors);
}

const char* const parts_of_sectors =
    "Each store of a warp touches parts of many sectors of C, and storing any part of a sector, 32 "
    "bytes, costs as much as storing all of it. Let neighbouring lanes have neighbouring elements "
    "of a row, not each lane a stretch of its own.";
const char* const lanes_without_elements =
    "Some lanes of a warp store nothing, while others store their elements one after the other: 64 "
    "elements of a fragment are two for each of 32 lanes.";
const char* const not_on_tensor_cores =
    "Some products are not made by tensor cores but by threads, one multiply-add at a time.";
const char* const not_from_tensor_cores =
    "C was computed again with tensor cores that double their results, and did not double: what "
    "they compute does not reach C.";
const char* const no_shared =
    "More is read from A and B than tiles in shared memory need: do warps load their fragments "
    "from global memory?";
const char* const small_tile =
    "More is read from A and B than a 64 x 64 tile per block needs. The block's tile decides how "
    "often, not the fragment's.";
const char* const conflicts =
    "Lanes of a warp touch different words of one bank at the same time. Where a fragment is loaded "
    "or stored as a whole, its rows must begin in different banks: are they padded? Where lanes "
    "take one element each, as in store_fragment, which 32 elements, of how many rows, does a warp "
    "take at once?";
const char* const conflicts_of_chunks =
    "Lanes of a warp touch different words of one bank. The eight rows of one matrix of ldmatrix, "
    "or the four rows whose elements lanes read one by one, must lie in different banks, where "
    "they are stored and where they are read: look at Tile::at.";
const char* const no_reuse =
    "Each warp reads more from shared memory than a 32 x 32 tile of its own needs: load ROWS "
    "fragments of A and COLS of B once, then multiply each with each.";
const char* const copied_again =
    "More of A and B is brought to shared memory than a 128 x 256 tile per block needs.";
const char* const not_by_wgmma =
    "Threads read tiles from shared memory: wgmma reads both operands there by itself.";
const char* const not_hidden =
    "Warps wait for copies while they have nothing to multiply. Begin a copy STAGES - 1 steps "
    "before its tile is needed, and wait only for the oldest group.";

const std::vector<Extents> rows_of_32_bytes = {{256, 256, 256}, {131, 144, 208}};

grader::Goal on_tensor_cores(const char* stage) {
  return {.stage = stage,
          .key = "products_elsewhere",
          .what = "products not made by tensor cores",
          .diagnosis = "NO-TENSOR",
          .missed = not_on_tensor_cores,
          .parameters = {},
          .measure = products_elsewhere,
          .bound = one_per_element};
}
grader::Goal doubled_with_tensor_cores(const char* stage) {
  return {.stage = stage,
          .key = "made_elsewhere",
          .what = "elements of C that tensor cores take no part in",
          .diagnosis = "IDLE-TENSOR",
          .missed = not_from_tensor_cores,
          .parameters = {},
          .measure = made_elsewhere,
          .bound = grader::nothing,
          .doubled = true};
}
grader::Goal sectors(const char* stage, const char* missed, double tile) {
  return {.stage = stage,
          .key = "load_sectors",
          .what = "sectors of A and B",
          .diagnosis = "NO-SHARED",
          .missed = missed,
          .parameters = {{"BM", tile}, {"BN", tile}, {"slack", 1.05}},
          .measure = grader::load_sectors,
          .bound = grader::sectors_of_tiles,
          .at = rows_of_32_bytes};
}
grader::Goal no_conflicts(const char* stage, const char* missed) {
  return {.stage = stage,
          .key = "excess_wavefronts",
          .what = "wavefronts above ideal",
          .diagnosis = "BANK-CONFLICT",
          .missed = missed,
          .parameters = {{"share", 0.01}},
          .measure = grader::excess_wavefronts,
          .bound = grader::few_conflicts,
          .at = rows_of_32_bytes};
}
grader::Goal no_conflicts_in_a_copy(const char* stage) {
  return {.stage = stage,
          .key = "excess_wavefronts",
          .what = "wavefronts above ideal",
          .diagnosis = "BANK-CONFLICT",
          .missed = conflicts_of_chunks,
          .parameters = {{"share", 0.01}},
          .measure = grader::excess_wavefronts,
          .bound = few_conflicts_in_a_copy,
          .at = rows_of_32_bytes};
}
grader::Goal fragments_reused(const char* stage) {
  return {
      .stage = stage,
      .key = "shared_bytes",
      .what = "bytes read from shared memory",
      .diagnosis = "NO-REUSE",
      .missed = no_reuse,
      .parameters = {{"BM", 128}, {"BN", 128}, {"BK", 64}, {"WM", 32}, {"WN", 32}, {"slack", 1.05}},
      .measure = grader::shared_bytes_read,
      .bound = shared_bytes};
}
grader::Goal copies_hidden(const char* stage) {
  return {.stage = stage,
          .key = "bytes_not_hidden",
          .what = "bytes not hidden",
          .diagnosis = "ASYNC-IDLE",
          .missed = not_hidden,
          .parameters = {{"BM", 64}, {"BN", 64}, {"tiles", 1.1}},
          .measure = bytes_not_hidden,
          .bound = first_tiles,
          .at = rows_of_32_bytes};
}

const std::vector<Extents> boxes = {{512, 512, 256}, {131, 144, 208}};

/// Of wgmma: a tile of 128 x 256, whatever brings it. What is copied first so that TMA can read it
/// is read once more.
grader::Goal sectors_of_boxes(const char* stage, double slack) {
  return {.stage = stage,
          .key = "load_sectors",
          .what = "sectors of A and B",
          .diagnosis = "NO-SHARED",
          .missed = copied_again,
          .parameters = {{"BM", 128}, {"BN", 256}, {"slack", slack}},
          .measure = grader::load_sectors,
          .bound = grader::sectors_of_tiles,
          .at = {{512, 512, 256}}};
}
/// So deep that both factors, once per tile, are more than they and C once.
grader::Goal read_by_wgmma(const char* stage) {
  return {.stage = stage,
          .key = "shared_bytes",
          .what = "bytes read from shared memory by threads",
          .diagnosis = "NO-REUSE",
          .missed = not_by_wgmma,
          .parameters = {{"slack", 1.05}},
          .measure = grader::shared_bytes_read,
          .bound = bytes_copied_first,
          .at = {{256, 512, 512}, {131, 144, 208}}};
}

/// Half the lanes make twice the requests.
grader::Goal stored_by_all_lanes(const char* stage) {
  return {.stage = stage,
          .key = "store_requests_c",
          .what = "requests to store C",
          .diagnosis = "IDLE-LANES",
          .missed = lanes_without_elements,
          .parameters = {{"slack", 1.5}},
          .measure = stores_to_c,
          .bound = stores_of_fragments};
}

/// Rows of C begin at whole sectors here. A fragment's rows have eight doubles, two sectors.
grader::Goal whole_sectors_stored(const char* stage) {
  return {.stage = stage,
          .key = "store_sectors_c",
          .what = "sectors written to C",
          .diagnosis = "UNCOALESCED",
          .missed = parts_of_sectors,
          .parameters = {{"slack", 1.5}},
          .measure = sectors_stored,
          .bound = sectors_of_c,
          .at = {{256, 256, 256}},
          .advice = true};
}

const std::vector<grader::Goal> goals = {
    stored_by_all_lanes("5.0"),
    whole_sectors_stored("5.0"),

    on_tensor_cores("5.1"),
    doubled_with_tensor_cores("5.1"),
    sectors("5.1", no_shared, 16),
    no_conflicts("5.1", conflicts),

    on_tensor_cores("5.2"),
    doubled_with_tensor_cores("5.2"),
    sectors("5.2", small_tile, 64),
    no_conflicts("5.2", conflicts),
    fragments_reused("5.2"),
    registers_only("5.2"),
    few_registers("5.2"),

    on_tensor_cores("5.2b"),
    doubled_with_tensor_cores("5.2b"),
    sectors("5.2b", small_tile, 64),
    no_conflicts("5.2b", conflicts),
    fragments_reused("5.2b"),
    registers_only("5.2b"),
    few_registers("5.2b"),

    no_conflicts_in_a_copy("5.3.1"),

    on_tensor_cores("5.3.4"),
    doubled_with_tensor_cores("5.3.4"),
    no_conflicts("5.3.4", conflicts_of_chunks),
    sectors("5.3.4", small_tile, 64),
    fragments_reused("5.3.4"),
    registers_only("5.3.4"),

    on_tensor_cores("5.3"),
    doubled_with_tensor_cores("5.3"),
    copies_hidden("5.3"),
    grader::copies_under_way("5.3", rows_of_32_bytes),
    no_conflicts("5.3", conflicts_of_chunks),
    sectors("5.3", small_tile, 64),
    fragments_reused("5.3"),
    registers_only("5.3"),
    few_registers("5.3"),

    on_tensor_cores("5.3b.1"),
    doubled_with_tensor_cores("5.3b.1"),
    no_conflicts("5.3b.1", conflicts_of_chunks),
    sectors("5.3b.1", small_tile, 64),
    fragments_reused("5.3b.1"),
    registers_only("5.3b.1"),

    on_tensor_cores("5.3b"),
    doubled_with_tensor_cores("5.3b"),
    copies_hidden("5.3b"),
    grader::copies_under_way("5.3b", rows_of_32_bytes),
    no_conflicts("5.3b", conflicts_of_chunks),
    sectors("5.3b", small_tile, 64),
    fragments_reused("5.3b"),
    registers_only("5.3b"),
    few_registers("5.3b"),

    on_tensor_cores("5.3c"),
    doubled_with_tensor_cores("5.3c"),
    copies_hidden("5.3c"),
    grader::copies_under_way("5.3c", rows_of_32_bytes),
    no_conflicts("5.3c", conflicts_of_chunks),
    sectors("5.3c", small_tile, 64),
    fragments_reused("5.3c"),
    registers_only("5.3c"),
    few_registers("5.3c"),

    on_tensor_cores("5.4"),
    doubled_with_tensor_cores("5.4"),
    grader::brought_by_tma("5.4", boxes),
    read_by_wgmma("5.4"),
    sectors_of_boxes("5.4", 1.05),
    registers_only("5.4"),

    on_tensor_cores("5.4b"),
    doubled_with_tensor_cores("5.4b"),
    grader::brought_by_tma("5.4b", boxes),
    read_by_wgmma("5.4b"),
    // B is transposed first: it is read once more.
    sectors_of_boxes("5.4b", 1.4),
    registers_only("5.4b"),
};

const grader::GoalList registered("lab5_tensor_core", goals);

}  // namespace
