// What lab 2 is about, as numbers: a thread that owns TM x TN elements loads TM + TN values per k
// step and uses each of them many times.
//
// Bounds are those of 4 x 4 tiles, which every larger tile meets and one element per thread, or an
// edge computed one element at a time, does not.
#include <algorithm>

#include "grader/goals.hpp"

namespace {

using grader::ceil_div;
using grader::Extents;
using grader::Parameters;
using grader::whole;

/// Warps with TM x TN elements per thread that cover C: warps that lie wholly outside of it load
/// nothing. They are 2 x 16 threads, in wide blocks 1 x 32, in narrow ones 4 x 8: as many as the worst
/// of them takes.
double warps(const Extents& e, const Parameters& p) {
  const auto of = [&](std::int64_t down, std::int64_t across) {
    return ceil_div(e.m, down * whole(p, "TM")) * ceil_div(e.n, across * whole(p, "TN"));
  };
  return static_cast<double>(std::max({of(2, 16), of(1, 32), of(4, 8)}));
}

double requests_of_tiles(const Extents& e, const Parameters& p, std::uint64_t) {
  return p.at("slack") * warps(e, p) * static_cast<double>(e.k) * (p.at("TM") + p.at("TN"));
}

/// 16 neighbouring elements of B per request; one sector more where the row does not begin at one.
double sectors_of_b(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const double sectors = 16.0 * static_cast<double>(bytes) / 32;
  const bool aligned = e.n * static_cast<std::int64_t>(bytes) % 32 == 0;
  return p.at("slack") * warps(e, p) * static_cast<double>(e.k) * p.at("TN") *
         (sectors + (aligned ? 0 : 1));
}

/// One sector for each of the rows of a request: four in a narrow block. Lanes that lie down the rows
/// take eight or more.
double sectors_of_a(const Extents& e, const Parameters& p, std::uint64_t) {
  return p.at("slack") * warps(e, p) * static_cast<double>(e.k) * 4 * p.at("TM");
}

double elements_stored(const grader::Observed& o) {
  return static_cast<double>(o.c.store.bytes + o.c.atomic.bytes + o.parts_of_c.bytes) /
         static_cast<double>(o.element_bytes);
}

/// One for each 4 x 4 elements of C, in blocks of 16 x 16 that cover it.
double threads_of_tiles(const Extents& e, const Parameters& p, std::uint64_t) {
  const auto blocks = [&](std::int64_t extent, const char* of_thread) {
    return ceil_div(extent, 16 * whole(p, of_thread));
  };
  return p.at("slack") * 256 * static_cast<double>(blocks(e.m, "TM") * blocks(e.n, "TN"));
}

double threads_started(const grader::Observed& o) {
  double sum = 0;
  for (const auto& launch : o.launches)
    sum += static_cast<double>(launch.grid.x) * launch.grid.y * launch.grid.z * launch.block.x *
           launch.block.y * launch.block.z;
  return sum;
}

const char* const idle_threads =
    "Most threads have no element of C. A thread has TM x TN of them, and a block BX * TN columns "
    "and BY * TM rows: ceil(columns / (BX * TN)) by ceil(rows / (BY * TM)) blocks are enough.";
const char* const too_many_loads =
    "A thread that owns TM x TN elements of C needs TM + TN loads per k step, not two for each "
    "multiplication: load a column of A and a row of B into registers, then multiply each with each.";
const char* const edge_loads =
    "Tiles at the edge load far more than tiles inside: let them run the same loop on clamped "
    "indices, and test only in the store which elements exist.";
const char* const in_local_memory =
    "The accumulators lie in local memory, which is slow global memory in disguise: an array "
    "stays in registers only if every index is known when the kernel is compiled (#pragma unroll).";
const char* const half_empty =
    "By an estimate, a thread needs more than 128 registers: then only one block of 256 threads fits "
    "on a multiprocessor.";
const char* const scattered =
    "The lanes of a warp read B with a stride: give neighbouring threads neighbouring columns and "
    "let a thread's columns lie as far apart as there are threads in a row.";

const char* const stored_again =
    "Elements at the edge are stored more than once. A clamped row or column is a copy of another: "
    "store an element only if its row and its column exist as they were before clamping.";

const std::vector<Extents> inside = {{256, 256, 256}};
const std::vector<Extents> edges = {{256, 256, 256}, {131, 129, 127}, {255, 255, 127}};

/// The slack is for threads wholly outside of C that load what they do not need.
grader::Goal few_loads(const char* stage, const char* missed, const std::vector<Extents>& at) {
  return {.stage = stage,
          .key = "load_requests",
          .what = "global load requests",
          .diagnosis = "NO-REUSE",
          .missed = missed,
          .parameters = {{"TM", 4}, {"TN", 4}, {"slack", 1.15}},
          .measure = grader::load_requests,
          .bound = requests_of_tiles,
          .at = at};
}
grader::Goal registers_only(const char* stage, const std::vector<Extents>& at) {
  grader::Goal goal = grader::registers_only(stage, in_local_memory);
  goal.at = at;
  return goal;
}
grader::Goal stored_once(const char* stage) {
  return {.stage = stage,
          .key = "store_elements_c",
          .what = "elements written to C",
          .diagnosis = "STORES",
          .missed = stored_again,
          .parameters = {{"times", 1}},
          .measure = elements_stored,
          .bound = grader::elements_of_c,
          .at = edges};
}

const std::vector<grader::Goal> goals = {
    few_loads("2.1", too_many_loads, inside),
    registers_only("2.1", inside),
    grader::few_registers("2.1"),
    {.stage = "2.1",
     .key = "threads",
     .what = "threads started",
     .diagnosis = "UNCOALESCED",
     .missed = idle_threads,
     .parameters = {{"TM", 4}, {"TN", 4}, {"slack", 1.00}},
     .measure = threads_started,
     .bound = threads_of_tiles,
     .at = inside,
     .advice = true},
    {.stage = "2.1",
     .key = "live_registers_128",
     .what = "registers, two blocks",
     .diagnosis = "REGISTERS",
     .missed = half_empty,
     .parameters = {{"registers", 128}},
     .measure = grader::live_registers,
     .bound = grader::live_registers_bound,
     .at = inside,
     .advice = true},

    few_loads("2.2", edge_loads, edges),
    stored_once("2.2"),
    registers_only("2.2", edges),
    grader::few_registers("2.2"),

    {.stage = "2.3",
     .key = "load_sectors_b",
     .what = "sectors read from B",
     .diagnosis = "UNCOALESCED",
     .missed = scattered,
     .parameters = {{"TM", 4}, {"TN", 4}, {"slack", 1.05}},
     .measure = grader::sectors_of_b,
     .bound = sectors_of_b,
     .at = edges},
    {.stage = "2.3",
     .key = "load_sectors_a",
     .what = "sectors read from A",
     .diagnosis = "NO-REUSE",
     .missed = too_many_loads,
     .parameters = {{"TM", 4}, {"TN", 4}, {"slack", 1.25}},
     .measure = grader::sectors_of_a,
     .bound = sectors_of_a,
     .at = edges},
    few_loads("2.3", edge_loads, edges),
    stored_once("2.3"),
    registers_only("2.3", edges),
    grader::few_registers("2.3"),
};

const grader::GoalList registered("lab2_register_tile", goals);

}  // namespace
