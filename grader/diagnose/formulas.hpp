// Wrong index formulas: what a program would leave in C that reads A or B, or stores C, at other indices.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "grader/diagnose/hypotheses.hpp"

namespace grader::diag {

constexpr std::int64_t kZero =
    -1;  ///< index of a tile element that zero fill provides; -2 and less are outside
constexpr std::int64_t kOutside = -2;

/// Storage index for (row, column) of a matrix.
using Index = std::function<std::int64_t(const Case&, int, int)>;
/// A number known by name in the student's code: M, a.ld ...
using Size = std::function<int(const Case&)>;

enum class Which : std::uint8_t { a, b, c };

struct Formula {
  Index a, b, c;                   ///< empty: the right one
  std::optional<Which> taken_for;  ///< of a and b: the other matrix is read in its place
  Size depth;                      ///< number of terms; empty: K
  bool leaves_tile = false;        ///< what is read outside of a tile may be anything
  int high = 1, wide = 1;  ///< of the parts that C is stored in: they hold 0 beyond C's edge
  std::function<Diagnosis(const Case&)> name;
};

std::int64_t right_index(const Matrix& m, int row, int col);
const char* name_of(Which w);  ///< "A"
const Matrix& matrix_of(Which w, const Case& c);
void set_index(Formula& f, Which w, Index index);
int round_up(int value, int multiple);

/// A place inside a tile, and what is found there instead.
using Exchange = std::function<std::pair<int, int>(int row, int col)>;

/// An operand's tiles of rows x cols elements, permuted inside; what lies outside the matrix is zero fill, and the sum
/// has terms for every k of the last tile.
/// Where the exchange leads out of a tile of high x wide elements (0: it is not known), nobody knows what is read.
Formula permuted_operand(Which w, int rows, int cols, const Exchange& exchange, int high = 0,
                         int wide = 0);

/// The same for C: element (row, col) of a tile is stored at another place, if C has that.
Formula permuted_result(int rows, int cols, const Exchange& exchange);

/// The first that fits all cases, named.
std::optional<Diagnosis> first_fitting(const Evidence& evidence, const Cases& cases,
                                       const std::vector<Formula>& formulas);

}  // namespace grader::diag
