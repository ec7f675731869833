#include "grader/judge/cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/core.h>

#include "common/inputs.hpp"
#include "common/reference.hpp"
#include "grader/errors.hpp"

namespace grader {
namespace {

using diag::ElementType;

template <typename Function>
auto with_type(ElementType type, Function function) {
  switch (type) {
    case ElementType::int32:
      return function(std::int32_t{});
    case ElementType::float64:
      return function(double{});
    case ElementType::float16:
      return function(Half{});
    case ElementType::bfloat16:
      return function(BFloat16{});
    case ElementType::float32:
      break;
  }
  return function(float{});
}

template <typename T>
MatrixView<const T> view_of(const diag::Matrix& m) {
  return {reinterpret_cast<const T*>(m.storage.data()), m.rows, m.cols, m.ld};
}

template <typename T>
diag::Matrix matrix_of(const HostMatrix<T>& m) {
  return diag::Matrix::of<T>(m.storage(), m.rows(), m.cols(), m.ld());
}

int as_int(std::int64_t value) {
  return static_cast<int>(value);
}

/// One number per shape: different shapes see different data.
std::uint64_t shape_seed(std::uint64_t seed, const Extents& e, Fill fill) {
  inputs::SplitMix64 mix(seed ^ (static_cast<std::uint64_t>(e.m) << 42) ^
                         (static_cast<std::uint64_t>(e.n) << 21) ^ static_cast<std::uint64_t>(e.k) ^
                         (static_cast<std::uint64_t>(fill) << 60));
  return mix();
}

/// An unwritten element is told from a written NaN by its bits; equal bits are "the same" for every
/// type.
bool padding_kept(const diag::Matrix& before, const diag::Matrix& after) {
  for (int row = 0; row + 1 < before.rows; ++row)
    for (int col = before.cols; col < before.ld; ++col)
      if (!before.same_bits(after, before.index(row, col))) return false;
  return true;
}

/// The same infinities and NaNs as multiply-adds in FP32, in order of k, and finite elements within
/// the limit.
bool right_with_infinities(const diag::Matrix& a, const diag::Matrix& b, const diag::Matrix& c,
                           double units) {
  for (int row = 0; row < c.rows; ++row)
    for (int col = 0; col < c.cols; ++col) {
      float sum = 0;
      double exact = 0, magnitude = 0;
      for (int k = 0; k < a.cols; ++k) {
        const double x = a.at(row, k), y = b.at(k, col);
        sum = std::fma(static_cast<float>(x), static_cast<float>(y), sum);
        exact += x * y;
        magnitude += std::fabs(x * y);
      }
      const double got = c.at(row, col);
      const bool right = std::isnan(sum) ? std::isnan(got)
                         : std::isinf(sum)
                             ? got == static_cast<double>(sum)
                             : std::fabs(got - exact) <= units * unit_roundoff<float>() * magnitude;
      if (!right) return false;
    }
  return true;
}

}  // namespace

std::string shape_name(const Extents& e) {
  return fmt::format("{}×{}×{}", e.m, e.n, e.k);
}

std::string Case::name() const {
  return shape_name(extents) + (strided() ? " (ld > width)" : "");
}

diag::ElementType element_type(const std::string& type) {
  return type == "int32"      ? ElementType::int32
         : type == "double"   ? ElementType::float64
         : type == "half"     ? ElementType::float16
         : type == "bfloat16" ? ElementType::bfloat16
                              : ElementType::float32;
}

// Floats for TF32 (mutant L5-10, raw bits): rounding to 11 bits changes a factor by at most 2^-11
// of it, cutting the other 13 off, which is what a tensor core does with bits that it does not
// read, by less than 2^-10 and always towards zero. Either is the error of a number format:
// independent of K, and far below what a wrong index, a missing term or an FP16 sum causes. So raw
// bits are no wrong answer: the limit is that of cutting off, and a result beyond the limit of
// rounding, which only the canary can tell apart, passes with a note (note.tf32).
double allowed_units(const Rung& rung, const std::string& type, Fill fill) {
  if (!rung.tensor(type)) return kAllowedUnits;
  // Only here are inputs other than a tensor core takes them over.
  const bool cut = rung.precision == Precision::tf32 && fill == Fill::canary;
  return kAllowedTensorUnits + (cut ? kTruncatedTf32Units : 0);
}

namespace {

/// Smallest first, at the same volume rows that follow each other, then the shape that is further from a
/// square; and each once.
void order(std::vector<Case>& list) {
  std::stable_sort(list.begin(), list.end(), [](const Case& x, const Case& y) {
    const auto key = [](const Case& c) {
      const auto& e = c.extents;
      return std::make_tuple(e.m * e.n * e.k, c.strided(), e.m == e.n, e.m * e.n);
    };
    return key(x) < key(y);
  });
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>> seen;
  list.erase(std::remove_if(
                 list.begin(), list.end(),
                 [&](const Case& c) {
                   return !seen.insert({c.extents.m, c.extents.n, c.extents.k, c.strided()}).second;
                 }),
             list.end());
}

}  // namespace

std::vector<Case> drawn_cases(const Lab& lab, const Stage& stage, const Key& key) {
  if (std::find(stage.shapes.begin(), stage.shapes.end(), "ragged") == stage.shapes.end())
    return {};
  ChaCha20 random(hmac_sha256(key, stage.rung + " shapes"), 0);
  const auto draw = [&random](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  const auto padding = [&draw] { return static_cast<int>(draw(0, 7)); };
  // One that every type can afford, and one of more than a block's tile each way.
  std::vector<Case> list = {{{draw(6, 40), draw(6, 40), draw(1, 60)}, 0, 0, 0, true}};
  const auto beyond = [&](const char* tile) {
    const std::int64_t size = lab.tile_size(tile, 16);
    return draw(size + 1, 2 * size + 15);
  };
  list.push_back(
      {{beyond("BM"), beyond("BN"), draw(20, 90)}, padding(), padding(), padding(), true});
  list.back().one_type = true;
  return list;
}

std::vector<Case> cases_of(const Lab& lab, const Stage& stage) {
  const std::int64_t bm = lab.tile_size("BM", 16), bn = lab.tile_size("BN", 16),
                     bk = lab.tile_size("BK", 16);
  using Sides = std::array<std::int64_t, 3>;
  std::vector<Case> list;
  const auto has = [&](const char* shape) {
    return std::find(stage.shapes.begin(), stage.shapes.end(), shape) != stage.shapes.end();
  };
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k,
                       bool precision = false) -> Case& {
    list.push_back({{m, n, std::max<std::int64_t>(k, 1)}, 0, 0, 0, precision});
    return list.back();
  };
  if (has("tiny"))
    for (const auto& [m, n, k] : {Sides{1, 1, 1}, Sides{2, 3, 4}, Sides{5, 2, 3}, Sides{3, 5, 7}})
      add(m, n, k);
  if (has("k1")) {
    add(2, 3, 1);
    add(17, 33, 1, true);
    add(2 * bm + 7, 4 * bn + 5, 1);
    add(4 * bm + 5, 2 * bn + 7, 1);
  }
  if (has("thin")) {
    add(1, 261, 1);  // more than the 256 of a grid of 8 blocks of 32 that somebody took for enough
    add(261, 1, 7);
    add(1, 33, 64);
    add(9, 1, 261);  // more steps than a char or a byte can count
    add(13, 128, 33, true);
    add(128, 13, 17);
  }
  if (has("aligned")) {
    add(bm, 2 * bn, 2 * bk, true);
    add(2 * bm, bn, bk);
    // Whole tiles and rows of whole pieces, of which all but the first begin anywhere: who moves 16 bytes
    // at a time must ask for the leading dimension, and not for the width.
    list.push_back({{bm, bn, 2 * bk}, 3, 5, 7, false});
  }
  // Wider and taller than any block of threads; not so narrow that a square grid were far too large. Who launches once
  // for each row of blocks must find the next ones by the leading dimensions.
  if (has("wide")) {
    add(300, 1037, 2).one_type = true;
    list.push_back({{1037, 300, 2}, 3, 5, 7, false, true});
  }
  if (has("odd_k")) add(bm, 2 * bn, 2 * bk - 1);
  // Long enough to show a sum that is cut off wherever 8 terms are added, even if eight blocks share
  // its terms: on positive data it loses a fifth of a unit per term.
  if (has("extremes")) add(33, 17, 2049, true).extremes = true;
  // Rings of tiles are passed more than once, along K and from one tile of C to the next of a block.
  // The last step is neither whole nor of a single term, so that a diagnosis can count in steps.
  if (has("deep")) {
    const std::int64_t step = lab.tile_size(lab.rung(stage.rung), "BK", 16);
    add(33, 17, 24 * step + step / 2 + 1);
  }
  // More steps, of 32 terms as of 64, than one block should make: five blocks share them, or an odd number.
  if (has("long")) add(33, 17, 1500);
  // A tile more than a GPU has multiprocessors; and four for each of those, one more, in rows of 16 bytes.
  if (has("many")) add(132 * bm + 1, 3, 5).one_type = true;
  if (has("turns")) add(4 * 132 * bm + 1, 8, 8).one_type = true;
  if (has("ragged")) {
    add(17, 33, 65, true);
    add(33, 17, 5);
    add(bm - 1, bn + 1, bk + 1);
    add(bm + 1, bn - 1, 2 * bk - 1);
    add(bm + 1, bn + 1, bk - 1);
    add(131, 129, 127, true).one_type = true;
  }
  if (has("strided")) {
    list.push_back({{17, 33, 21}, 3, 5, 7, true});
    list.push_back({{33, 21, 17}, 0, 3, 0, false});
    list.push_back({{bm, bn, 3 * bk}, 4, 8, 4, false});
  }
  order(list);
  if (has("empty"))
    for (const auto& [m, n, k] : {Sides{5, 7, 0}, Sides{0, 7, 5}, Sides{5, 0, 7}})
      list.push_back({{m, n, k}, 0, 0, 0, false});
  return list;
}

namespace {

/// Column k of A is scaled by a power of two and row k of B by its inverse, then each element by a
/// small one: products of all sizes from 2^-12 to 2^12.
template <typename RandomA, typename RandomB>
void grade(HostMatrix<float>& a, HostMatrix<float>& b, RandomA& random_a, RandomB& random_b) {
  std::vector<int> exponents(static_cast<std::size_t>(a.cols()));
  for (int& exponent : exponents) exponent = static_cast<int>(random_a() >> 32) % 95;
  const auto scale = [&](float& element, int exponent, auto& random) {
    element = std::ldexp(element, exponent + static_cast<int>((random() >> 32) % 13) - 6);
  };
  for (int row = 0; row < a.rows(); ++row)
    for (int k = 0; k < a.cols(); ++k)
      scale(a(row, k), exponents[static_cast<std::size_t>(k)], random_a);
  for (int k = 0; k < b.rows(); ++k)
    for (int col = 0; col < b.cols(); ++col)
      scale(b(k, col), -exponents[static_cast<std::size_t>(k)], random_b);
}

/// Most rows and columns stay as they are.
template <typename RandomA, typename RandomB>
void strew_infinities(HostMatrix<float>& a, HostMatrix<float>& b, RandomA& random_a,
                      RandomB& random_b) {
  constexpr float INF = std::numeric_limits<float>::infinity(), MOST = 3.4e38F;
  const auto strew = [](HostMatrix<float>& m, auto& random, std::initializer_list<float> values) {
    if (m.rows() == 0 || m.cols() == 0) return;
    for (const float value : values)
      m(static_cast<int>((random() >> 32) % static_cast<std::uint64_t>(m.rows())),
        static_cast<int>((random() >> 32) % static_cast<std::uint64_t>(m.cols()))) = value;
  };
  strew(a, random_a, {INF, -INF, std::nanf(""), MOST, std::numeric_limits<float>::max()});
  strew(b, random_b, {INF, -INF, 1.5F, 100});
}

/// Fills A and B, and C with what is in it beforehand.
template <typename T, typename RandomA, typename RandomB, typename RandomC>
Inputs draw(const Rung& rung, const Case& shape, Fill fill, Before before, RandomA random_a,
            RandomB random_b, RandomC random_c) {
  const Operation operation = rung.operation;
  const bool tf32 = rung.precision == Precision::tf32;
  const Extents& e = shape.extents;
  const int m = as_int(e.m), n = as_int(e.n), k = as_int(e.k);
  HostMatrix<T> a(m, k, k + shape.pad_a), b(k, n, n + shape.pad_b);
  const int c_rows = operation == Operation::copy_b ? k : m,
            c_cols = operation == Operation::copy_a ? k : n;
  HostMatrix<ResultOf<T>> c(c_rows, c_cols, c_cols + shape.pad_c);
  if (fill == Fill::canary) {
    if constexpr (std::is_same_v<T, float>) {
      if (tf32)
        inputs::truncation_canary(a, b, random_a, random_b);
      else
        inputs::canary(a, b, random_a, random_b);
    } else if constexpr (is_real<T>) {
      inputs::canary(a, b, random_a, random_b);
    }
  } else if (!small_integers(fill) || operation != Operation::product) {
    // A copy must keep every bit: small integers would repeat too often to show a permutation.
    inputs::zero_mean(a, random_a);
    inputs::zero_mean(b, random_b);
    if constexpr (std::is_same_v<T, float>) {
      if (tf32) inputs::round_to_11_bits(a), inputs::round_to_11_bits(b);
      if (fill == Fill::positive) {
        for (HostMatrix<T>* const matrix : {&a, &b})
          for (int row = 0; row < matrix->rows(); ++row)
            for (int col = 0; col < matrix->cols(); ++col)
              (*matrix)(row, col) = std::fabs((*matrix)(row, col));
      }
      if (fill == Fill::graded) grade(a, b, random_a, random_b);
      if (fill == Fill::infinite) strew_infinities(a, b, random_a, random_b);
    }
  } else {
    inputs::integers(a, random_a);
    inputs::integers(b, random_b);
  }
  inputs::poison_all(c);
  if (before == Before::garbage) inputs::integers(c, random_c, -1000, 1000);
  return Inputs{matrix_of(a), matrix_of(b), matrix_of(c)};
}

}  // namespace

Inputs make_inputs(ElementType type, const Rung& rung, const Case& shape, Fill fill, Before before,
                   const DataSeed& seed) {
  return with_type(type, [&](auto zero) {
    using T = decltype(zero);
    if (seed.key)
      return draw<T>(rung, shape, fill, before, ChaCha20(*seed.key, 0), ChaCha20(*seed.key, 1),
                     ChaCha20(*seed.key, 2));
    const std::uint64_t base = shape_seed(seed.number, shape.extents, fill);
    return draw<T>(rung, shape, fill, before, inputs::SplitMix64(base), inputs::Pcg(base + 1),
                   inputs::SplitMix64(base + 2));
  });
}

Verification verify(Operation operation, const diag::Matrix& a, const diag::Matrix& b,
                    const diag::Matrix& before, const diag::Matrix& after, Fill fill,
                    double units) {
  Verification result;
  result.padding_touched = !padding_kept(before, after);
  if (after.rows == 0 || after.cols == 0) {
    result.right = !result.padding_touched;
    return result;
  }
  bool equal = true;
  if (fill == Fill::infinite && operation == Operation::product) {
    equal = right_with_infinities(a, b, after, units);
  } else if (operation != Operation::product) {
    const diag::Matrix& from = operation == Operation::copy_a ? a : b;
    const std::size_t size = diag::size_of(after.type);
    for (int row = 0; row < after.rows; ++row)
      for (int col = 0; col < after.cols; ++col)
        equal = equal &&
                (after.type == from.type
                     ? std::memcmp(after.storage.data() + after.index(row, col) * size,
                                   from.storage.data() + from.index(row, col) * size, size) == 0
                     : after.at(row, col) == from.at(row, col));  // half and bfloat16: C is float
  } else {
    with_type(a.type, [&](auto zero) {
      using T = decltype(zero);
      using Out = ResultOf<T>;
      try {
        const bool bounded = is_real<T> && !small_integers(fill);
        const Expected<T> expected = expected_product(view_of<T>(a), view_of<T>(b), bounded);
        const Comparison comparison =
            compare<T>(view_of<Out>(after), expected, bounded ? units : 0);
        equal = comparison.passed();
        result.max_units = bounded ? comparison.max_units : 0;
      } catch (const std::domain_error& error) {
        throw InfraError(std::string("the expected result is not finite: ") + error.what());
      }
      return 0;
    });
  }
  result.right = equal && !result.padding_touched;
  return result;
}

}  // namespace grader
