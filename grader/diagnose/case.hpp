// One call of the rung on small integers, set beside the right answer: what hypotheses are tested
// against.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/diagnose/diagnose.hpp"

namespace grader::diag {

/// How many tiles of so many rows, or columns, or k an extent takes.
constexpr int tiles_of(int extent, int tile) {
  return (extent + tile - 1) / tile;
}

enum class State : std::uint8_t { right, wrong, untouched };

/// A run on integer data whose C held finite garbage before (or, without a probe, poison).
struct Case {
  Operation operation = Operation::product;
  Run run;
  int m = 0, n = 0, k = 0;       ///< C is m x n, A m x k (copies: as the matrices say)
  std::vector<double> correct;   ///< m * n, dense
  std::vector<State> state;      ///< m * n, dense
  std::int64_t wrong = 0;        ///< not right, untouched included
  std::int64_t untouched = 0;    ///< of those, the ones that still hold what C held before
  bool padding_written = false;  ///< C's padding changed
  bool out_of_bounds = false;    ///< some launch had an out-of-bounds access

  std::int64_t size() const { return static_cast<std::int64_t>(m) * n; }
  std::size_t at(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j);
  }
  double got(int i, int j) const { return run.c_after.at(i, j); }
  State state_at(int i, int j) const { return state[at(i, j)]; }
};

/// A thread has several elements of a block's tile: as many as the lab says, or as it takes for a tile of more elements
/// than a block can have threads.
inline bool several_each(const Tile& t) {
  constexpr int kMostThreads = 1024;
  return t.tm > 1 || t.tn > 1 || t.wm > 1 || t.wn > 1 ||
         (t.bm > 0 && t.bn > 0 && t.bm * t.bn > kMostThreads);
}

/// Some launch of some case had products made by tensor cores.
bool on_tensor_cores(const std::vector<Case>& cases);

/// Something was stored to memory that the launcher allocated: parts of sums, for another block to add.
bool stores_scratch(const Case& c);

/// Several blocks seem to share a sum: those that multiply leave what they have added to C by atomics, or to be
/// added up, in scratch memory or in shared memory of the cluster. (A pass that copies does not multiply.)
bool shares_sums(const Case& c);

/// What C should be, dense; empty if the operands are not finite.
std::vector<double> correct_result(Operation operation, const Run& run);

/// Sets a run beside its right answer. The run's data must be integers small enough to be exact.
Case make_case(Operation operation, Run run);

/// Where the two matrices of matrix_lines() stand. One below the other takes twice the lines, but half as
/// many columns.
enum class Layout : std::uint8_t { beside, as_it_fits };

/// C whole, computed beside expected; "-" was never written, "*" marks what is wrong. No lines if nothing
/// is wrong, if C is larger than 8 x 8, or if it does not fit 72 columns.
std::vector<std::string> matrix_lines(const Case& c, Layout layout);

/// Numbers to choose from, and what else shapes the probes.
struct ProbeShape {
  int m = 0, n = 0, k = 0;
  int pad_a = 0, pad_b = 0, pad_c = 0;  ///< ld - width
};

/// That of a call.
ProbeShape shape_of(const Run& run);

/// So many products take no noticeable time.
constexpr double kFewProducts = 4e6;

/// Shapes that tell hypotheses apart: M, N, K distinct, a few tiles, M < N and M > N; as aligned
/// and as dense as the call that failed, because a stage may not have learnt more yet.
std::vector<ProbeShape> telling_shapes(const Evidence& evidence);

/// Fills an operand with `value(row, column)` and its padding with integers found nowhere else.
Matrix filled(ElementType type, int rows, int cols, int pad,
              const std::function<double(int, int)>& value);

/// Small integers in -8..8; `stream` chooses the generator's seed, A and B have different
/// generators.
Matrix integers_a(ElementType type, int rows, int cols, int pad, std::uint64_t stream,
                  int limit = 8);
Matrix integers_b(ElementType type, int rows, int cols, int pad, std::uint64_t stream,
                  int limit = 8);

/// C before a call: finite garbage, each element different and larger than any sum.
Matrix garbage(ElementType type, int rows, int cols, int pad);

/// C's extents for operands of this shape.
std::pair<int, int> result_extents(Operation operation, const ProbeShape& shape);

/// Rows and columns of C that a block computes, if its tile says so; else some are 0.
std::pair<int, int> tile_of_c(Operation operation, const Tile& tile);

/// Runs the rung on small integers; empty if it could not be run or was refused.
std::optional<Case> probe_case(const Evidence& evidence, const ProbeShape& shape,
                               std::uint64_t stream, int limit = 8);

/// A smaller shape that is still wrong: many runs follow, and with a large one they would take minutes. M, N and K are
/// halved in turn, the largest first. Empty: no half of the shape is wrong.
std::optional<Case> halved_case(const Evidence& evidence, ProbeShape shape, std::uint64_t stream);

/// Runs the rung on operands of our choice. Its launches may have no findings: see Evidence::run_unchecked.
std::optional<Run> probe(const Evidence& evidence, Matrix a, Matrix b);

/// C held NaN before the call, was read, and holds NaN.
bool reads_poison(const Run& run);

}  // namespace grader::diag
