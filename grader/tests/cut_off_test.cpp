// Which operands of a rung in TF32 are cut off, told by two calls of a product that is made here.
#include "grader/judge/cut_off.hpp"

#include <cmath>
#include <functional>

#include "common/catch2.hpp"

using namespace grader;

namespace {

/// To 10 bits after the point, rounded or cut off.
double tf32(double x, bool rounded) {
  const double scaled = std::ldexp(x, 10);
  return std::ldexp(rounded ? std::round(scaled) : std::floor(scaled), -10);
}

using Rounds = std::function<bool(int row, int col)>;

/// A product whose operands are rounded where the two say so.
ProductOf product_with(const Rounds& a_rounded, const Rounds& b_rounded) {
  return [=](const diag::Matrix& a, const diag::Matrix& b) -> std::optional<diag::Matrix> {
    diag::Matrix c(diag::ElementType::float32, a.rows, b.cols, b.cols);
    for (int i = 0; i < c.rows; ++i)
      for (int j = 0; j < c.cols; ++j) {
        double sum = 0;
        for (int k = 0; k < a.cols; ++k)
          sum += tf32(a.at(i, k), a_rounded(i, k)) * tf32(b.at(k, j), b_rounded(k, j));
        c.set(i, j, sum);
      }
    return c;
  };
}

bool all(int, int) {
  return true;
}
bool none(int, int) {
  return false;
}
bool even_columns(int, int col) {
  return col % 2 == 0;
}

bool says(const std::string& note, const char* words) {
  return note.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("operands that are cut off are told from rounded ones") {
  const auto rounded = cut_off_operands(product_with(all, all));
  REQUIRE(rounded);
  CHECK_FALSE(rounded->any());
  const auto half = cut_off_operands(product_with(even_columns, all));
  REQUIRE(half);
  CHECK(half->part());
  CHECK(half->of_a == 128);
  CHECK(half->of_b == 0);
  CHECK(half->first == "A[0][1]");
  const auto b = cut_off_operands(product_with(all, none));
  REQUIRE(b);
  CHECK(b->of_b == 256);
  CHECK_FALSE(b->part());
}

TEST_CASE("the note names the operands that are not rounded") {
  CHECK(says(cut_off_note("f", product_with(none, all)), "the bits of A went"));
  CHECK(says(cut_off_note("f", product_with(all, none)), "the bits of B went"));
  CHECK(says(cut_off_note("f", product_with(none, none)), "the bits of A and B went"));
  CHECK(says(cut_off_note("f", product_with(all, even_columns)), "0 of A and 128 of B"));
  // A call that fails, or sums that are no such values, leave it open.
  const ProductOf failed = [](const diag::Matrix&, const diag::Matrix&) { return std::nullopt; };
  CHECK(says(cut_off_note("f", failed), "the bits of A or of B went"));
  const ProductOf zero = [](const diag::Matrix& a, const diag::Matrix& b) {
    return std::optional(diag::Matrix(diag::ElementType::float32, a.rows, b.cols, b.cols));
  };
  CHECK(says(cut_off_note("f", zero), "the bits of A or of B went"));
}
