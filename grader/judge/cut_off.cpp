#include "grader/judge/cut_off.hpp"

#include <cmath>

#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader {
namespace {

/// Between two neighbours of TF32, whose last bit is 2^-10: rounded it is the upper one, cut off the lower.
constexpr int kLastBit = -10;
const double kValue = 1 + 0.75 * std::ldexp(1, kLastBit), kRounded = 1 + std::ldexp(1, kLastBit),
             kCut = 1;

diag::Matrix square_of(bool identity) {
  diag::Matrix m(diag::ElementType::float32, CutOff::kSide, CutOff::kSide, CutOff::kSide);
  for (int i = 0; i < CutOff::kSide; ++i)
    for (int j = 0; j < CutOff::kSide; ++j) m.set(i, j, !identity ? kValue : i == j ? 1.0 : 0.0);
  return m;
}

}  // namespace

std::optional<CutOff> cut_off_operands(const ProductOf& product) {
  const diag::Matrix one = square_of(true), values = square_of(false);
  CutOff found;
  for (const bool of_a : {true, false}) {
    const std::optional<diag::Matrix> c = of_a ? product(values, one) : product(one, values);
    if (!c || c->rows != CutOff::kSide || c->cols != CutOff::kSide) return std::nullopt;
    for (int i = 0; i < CutOff::kSide; ++i)
      for (int j = 0; j < CutOff::kSide; ++j) {
        const double got = c->at(i, j);
        if (got != kCut && got != kRounded) return std::nullopt;
        if (got == kRounded) continue;
        ++(of_a ? found.of_a : found.of_b);
        if (found.first.empty()) found.first = diag::element(of_a ? "A" : "B", i, j);
      }
  }
  return found;
}

std::string cut_off_note(const std::string& entry, const ProductOf& product) {
  const std::optional<CutOff> found = cut_off_operands(product);
  const std::vector<messages::Gap> gaps = {
      {"entry", entry},
      {"what", !found || !found->any() ? std::string("A or of B")
               : found->of_a == 0      ? std::string("B")
               : found->of_b == 0      ? std::string("A")
                                       : std::string("A and B")},
      {"a", found ? found->of_a : 0},
      {"b", found ? found->of_b : 0},
      {"all", CutOff::kSide * CutOff::kSide},
      {"first", found ? found->first : std::string()}};
  return messages::text(found && found->part() ? "note.tf32.part" : "note.tf32", gaps);
}

}  // namespace grader
