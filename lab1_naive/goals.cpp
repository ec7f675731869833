// What lab 1 is about, as numbers: neighbouring threads stand side by side in a row of C.
//
// With warps along the rows every k step of a warp reads one element of A (all lanes the same) and
// 32 neighbours of B. A warp that stands in a column of C gets the right result too, but reads 32
// rows of A and stores to 32 rows of C: 32 sectors where 1 to 8 do.
#include "grader/goals.hpp"

namespace {

using grader::ceil_div;
using grader::coalesced_row_sectors;
using grader::Extents;
using grader::Observed;
using grader::Parameters;

/// Up to `rows_per_warp` rows of A in each k step of each warp of 32 threads. 1 is a warp along a
/// row; a warp of 8 x 4 threads needs 4 and saves as much on B.
double sectors_of_a(const Extents& e, const Parameters& p, std::uint64_t) {
  return p.at("slack") * p.at("rows_per_warp") * static_cast<double>(e.k * e.m * ceil_div(e.n, 32));
}

/// Every row of C needs every row of B once, 32 neighbours at a time.
double sectors_of_b(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  return p.at("slack") * static_cast<double>(e.m * coalesced_row_sectors(e.k, e.n, e.n, bytes));
}

/// C is stored once; parts of a sum may be added by atomics, which coalesced or not show on A and
/// B. A warp of 8 x 4 threads may touch one sector more per row at ragged widths.
double sectors_of_c(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  return p.at("slack") * static_cast<double>(coalesced_row_sectors(e.m, e.n, e.n, bytes));
}

/// Threads of blocks no larger than 32 x 32 that cover C.
double threads(const Extents& e, const Parameters& p, std::uint64_t) {
  return p.at("slack") * static_cast<double>(32 * ceil_div(e.m, 32) * 32 * ceil_div(e.n, 32));
}

/// A result that is put together elsewhere and copied to C, or parts of one, cost what their stores to
/// many rows take beyond the least.
double sectors_stored(const Observed& o) {
  return static_cast<double>(o.c.store.sectors + o.parts_of_c.sectors - o.parts_of_c.ideal_sectors);
}

/// Parts of a sum that are added by atomics are none.
double elements_stored(const Observed& o) {
  return static_cast<double>(o.c.store.bytes) / static_cast<double>(o.element_bytes);
}

/// Along z they share the work on an element.
double threads_started(const Observed& o) {
  double sum = 0;
  for (const auto& launch : o.launches)
    sum += static_cast<double>(launch.grid.x) * launch.grid.y * launch.block.x * launch.block.y;
  return sum;
}

const std::vector<grader::Goal> goals = {
    {.stage = "1.2",
     .key = "load_sectors_a",
     .what = "sectors read from A",
     .diagnosis = "UNCOALESCED",
     .missed =
         "The lanes of a warp read A from many rows at once. Neighbouring threads (x) should share a "
         "row of C: then they also share the element of A.",
     .parameters = {{"slack", 1.05}, {"rows_per_warp", 4}},
     .measure = grader::sectors_of_a,
     .bound = sectors_of_a},
    {.stage = "1.2",
     .key = "load_sectors_b",
     .what = "sectors read from B",
     .diagnosis = "UNCOALESCED",
     .missed =
         "The lanes of a warp do not read neighbouring elements of B: threads that are neighbours in x "
         "should have neighbouring columns.",
     .parameters = {{"slack", 1.20}},
     .measure = grader::sectors_of_b,
     .bound = sectors_of_b},
    {.stage = "1.2",
     .key = "store_elements_c",
     .what = "elements written to C",
     .diagnosis = "STORES",
     .missed =
         "Elements of C are stored more than once: keep the sum in a variable of the thread, and store "
         "it after the loop over k.",
     .parameters = {{"times", 1}},
     .measure = elements_stored,
     .bound = grader::elements_of_c},
    {.stage = "1.2",
     .key = "store_sectors_c",
     .what = "sectors written to C",
     .diagnosis = "UNCOALESCED",
     .missed =
         "The lanes of a warp store to many rows of C. Each store then moves 32 sectors where a row of "
         "neighbours needs 4 (8 in double): lay x along the columns.",
     .parameters = {{"slack", 1.60}},
     .measure = sectors_stored,
     .bound = sectors_of_c},
    {.stage = "1.2",
     .key = "threads",
     .what = "threads started",
     .diagnosis = "UNCOALESCED",
     .missed =
         "Many threads have no element of C. ceil(columns / block.x) by ceil(rows / block.y) blocks "
         "are enough. If that is what you launch, most of a block lies beyond the edge of C: take a "
         "smaller one.",
     .parameters = {{"slack", 1.00}},
     .measure = threads_started,
     .bound = threads,
     .at = {{256, 256, 256}, {131, 129, 127}},
     .advice = true},
};

const grader::GoalList registered("lab1_naive", goals);

}  // namespace
