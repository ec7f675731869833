// Right where rows begin at multiples of 16 bytes, wrong elsewhere: whatever the sums look like, the
// way from a row that begins anywhere is to blame.
#include <algorithm>
#include <optional>
#include <string>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

constexpr int kPiece = 16;  ///< bytes

/// Elements behind a row of `cols` with which the next one begins at a multiple of 16 bytes.
int padding_of(int cols, ElementType type) {
  const int piece = kPiece / static_cast<int>(size_of(type));
  return (piece - cols % piece) % piece;
}

bool aligned(const Matrix& m) {
  return m.rows < 2 || m.ld % (kPiece / static_cast<int>(size_of(m.type))) == 0;
}

/// The same call with rows of A, of B or of both moved to multiples of 16 bytes.
bool right_if_aligned(const Evidence& evidence, const Case& c, bool move_a, bool move_b) {
  const Matrix &a = c.run.a, &b = c.run.b;
  const ProbeShape shape{a.rows,
                         b.cols,
                         a.cols,
                         move_a ? padding_of(a.cols, a.type) : a.ld - a.cols,
                         move_b ? padding_of(b.cols, b.type) : b.ld - b.cols,
                         c.run.c_before.ld - c.run.c_before.cols};
  const std::optional<Case> moved = probe_case(evidence, shape, 53);
  return moved && moved->wrong == 0;
}

}  // namespace

std::optional<Diagnosis> explain_alignment(const Evidence& evidence, const Cases& cases) {
  const Case& c = shown(cases);
  const bool of_b = evidence.operation == Operation::product;
  const bool moves_a = !aligned(c.run.a), moves_b = of_b && !aligned(c.run.b);
  if (!evidence.run_probe || c.wrong == 0 || (!moves_a && !moves_b)) return std::nullopt;
  if (!right_if_aligned(evidence, c, moves_a, moves_b)) return std::nullopt;
  // One of them alone, if moving it is enough.
  const bool only_a = moves_a && moves_b && right_if_aligned(evidence, c, true, false);
  const bool only_b = moves_a && moves_b && !only_a && right_if_aligned(evidence, c, false, true);
  const std::string matrix = factors(moves_a && !only_b, moves_b && !only_a);
  Diagnosis d = say("ROWS-UNALIGNED", "", {{"matrix", matrix}});
  describe(evidence, c, d);
  return d;
}

}  // namespace grader::diag
