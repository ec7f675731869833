// Which operands of a rung in TF32 go into the tensor core as they are.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/diagnose/diagnose.hpp"

namespace grader {

/// Calls the rung on these operands and returns C; empty if it did not come that far.
using ProductOf =
    std::function<std::optional<diag::Matrix>(const diag::Matrix& a, const diag::Matrix& b)>;

/// Of each operand, 16 x 16 elements of one value: how many are cut off and not rounded.
struct CutOff {
  static constexpr int kSide = 16;
  int of_a = 0, of_b = 0;
  std::string first;  ///< "A[0][4]"
  bool part() const {
    constexpr int kAll = kSide * kSide;
    return (of_a > 0 && of_a < kAll) || (of_b > 0 && of_b < kAll);
  }
  bool any() const { return of_a + of_b > 0; }
};

/// By two calls with the identity on one side; empty if that does not show it.
std::optional<CutOff> cut_off_operands(const ProductOf& product);

/// The note about a rung that loses more than rounding does; it names the operands where that can be found out.
std::string cut_off_note(const std::string& entry, const ProductOf& product);

}  // namespace grader
