#include "common/reference.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/inputs.hpp"

namespace {

// A panel of B of kPanelK x kPanelN accumulators (double: 256 KiB) stays in a core's second-level
// cache while all rows of C pass over it. kDeep of its rows are added to a row at once, in order.
constexpr int kPanelK = 128, kPanelN = 256, kDeep = 4;

template <typename T>
using Accumulator = std::conditional_t<std::is_integral_v<T>, std::uint32_t, double>;

/// c += transform(a) * transform(b), c dense m x n.
template <typename T, typename Transform>
std::vector<Accumulator<T>> blocked_product(MatrixView<const T> a, MatrixView<const T> b,
                                            Transform transform) {
  using Acc = Accumulator<T>;
  const int m = a.rows, n = b.cols, depth = a.cols;
  std::vector<Acc> c(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
  std::vector<Acc> panel(static_cast<std::size_t>(kPanelK) * kPanelN);
  for (int col0 = 0; col0 < n; col0 += kPanelN) {
    const int width = std::min(kPanelN, n - col0);
    for (int k0 = 0; k0 < depth; k0 += kPanelK) {
      const int height = std::min(kPanelK, depth - k0);
      for (int k = 0; k < (height + kDeep - 1) / kDeep * kDeep; ++k)
        for (int col = 0; col < width; ++col)
          panel.data()[k * kPanelN + col] = k < height ? transform(b(k0 + k, col0 + col)) : Acc{};
#pragma omp parallel for schedule(static)
      for (int row = 0; row < m; ++row) {
        Acc* const out = c.data() + static_cast<std::ptrdiff_t>(row) * n + col0;
        for (int k = 0; k < height; k += kDeep) {
          Acc f[kDeep] = {};
          for (int i = 0; i < std::min(kDeep, height - k); ++i)
            f[i] = transform(a(row, k0 + k + i));
          const Acc* const in = panel.data() + k * kPanelN;
#pragma omp simd
          for (int col = 0; col < width; ++col)
            out[col] = out[col] + f[0] * in[col] + f[1] * in[kPanelN + col] +
                       f[2] * in[2 * kPanelN + col] + f[3] * in[3 * kPanelN + col];
        }
      }
    }
  }
  return c;
}

template <typename T>
void require_product(const MatrixView<const T>& a, const MatrixView<const T>& b) {
  if (a.cols != b.rows)
    throw std::invalid_argument("A has " + std::to_string(a.cols) + " columns, B has " +
                                std::to_string(b.rows) + " rows");
}

template <typename T>
void require_extents(const MatrixView<const T>& c, int rows, int cols) {
  if (c.rows != rows || c.cols != cols)
    throw std::invalid_argument("C is " + std::to_string(c.rows) + " x " + std::to_string(c.cols) +
                                ", expected " + std::to_string(rows) + " x " +
                                std::to_string(cols));
}

/// high + low, where low collects what high rounds away: Ogita, Rump, Oishi, "Accurate sum and dot
/// product", SIAM J. Sci. Comput. 26(6), 2005 (Dot2). In plain double, the check's own rounding
/// errors would hide those of the product.
struct Twofold {
  double high = 0, low = 0;
  void add(double x) {
    const double sum = high + x;
    const double part = sum - high;
    low += (high - (sum - part)) + (x - part);
    high = sum;
  }
  void add(double element, double sign) { add(element * sign); }
  void subtract(double element, const Twofold& y) {
    const double product = -element * y.high;
    low += std::fma(-element, y.high, -product);
    add(product);
    low -= element * y.low;
  }
};

/// Modulo 2^32.
struct Wrapped {
  std::uint32_t value = 0;
  void add(std::uint32_t element, std::uint32_t x) { value += element * x; }
  void subtract(std::uint32_t element, const Wrapped& y) { value -= element * y.value; }
};

/// The first row of C x - A (B x) for which is_off(row, residual), with another x from `draw` in each
/// round; -1 if there is none.
template <typename T, typename Draw, typename IsOff>
int row_off(MatrixView<const T> a, MatrixView<const T> b, MatrixView<const ResultOf<T>> c,
            int rounds, Draw draw, IsOff is_off) {
  using Acc = Accumulator<T>;
  using Total = std::conditional_t<std::is_integral_v<T>, Wrapped, Twofold>;
  std::vector<Acc> x(static_cast<std::size_t>(c.cols));
  std::vector<Total> bx(static_cast<std::size_t>(b.rows));
  for (int round = 0; round < rounds; ++round) {
    for (Acc& value : x) value = draw();
    for (int k = 0; k < b.rows; ++k) {
      Total sum;
      for (int col = 0; col < b.cols; ++col) sum.add(static_cast<Acc>(b(k, col)), x.data()[col]);
      bx.data()[k] = sum;
    }
    for (int row = 0; row < c.rows; ++row) {
      Total sum;
      for (int col = 0; col < c.cols; ++col) sum.add(static_cast<Acc>(c(row, col)), x.data()[col]);
      for (int k = 0; k < a.cols; ++k) sum.subtract(static_cast<Acc>(a(row, k)), bx.data()[k]);
      if (is_off(row, sum)) return row;
    }
  }
  return -1;
}

/// How often a result within the componentwise limit is refused, at most: p of reference.hpp.
constexpr double kAlarmProbability = 1e-6;

/// How much of a row's residual rounding can explain: t_i of reference.hpp.
template <typename T>
std::vector<double> allowed_residuals(MatrixView<const T> a, MatrixView<const T> b, int rounds,
                                      double allowed_units) {
  // s_i >= the 2-norm of row i of |A||B|: sqrt(largest element * sum of elements), both bounded
  // through B's rows.
  std::vector<double> largest(static_cast<std::size_t>(b.rows)), total(largest.size());
  for (int k = 0; k < b.rows; ++k)
    for (int col = 0; col < b.cols; ++col) {
      const double value = std::abs(static_cast<double>(b(k, col)));
      largest.data()[k] = std::max(largest.data()[k], value);
      total.data()[k] += value;
    }
  const double spread = std::sqrt(
      2 * std::log(2.0 * std::max(1, a.rows) * static_cast<double>(rounds) / kAlarmProbability));
  const double terms = static_cast<double>(a.cols) + static_cast<double>(b.cols);
  // Dot2 returns the sum rounded once, plus (terms u)^2 of the absolute sum; twice for two nested
  // sums.
  constexpr double u = std::numeric_limits<double>::epsilon() / 2;
  const double own = 4 * (terms * u) * (terms * u) + 2 * u * u * terms;
  std::vector<double> allowed;
  for (int row = 0; row < a.rows; ++row) {
    double high = 0, sum = 0;
    for (int k = 0; k < a.cols; ++k) {
      const double value = std::abs(static_cast<double>(a(row, k)));
      high += value * largest.data()[k];
      sum += value * total.data()[k];
    }
    allowed.push_back(
        allowed_units * unit_roundoff<ResultOf<T>>() * std::sqrt(high * sum) * spread + own * sum);
  }
  return allowed;
}

}  // namespace

template <typename T>
Expected<T> expected_product(MatrixView<const T> a, MatrixView<const T> b, bool bounded) {
  require_product(a, b);
  Expected<T> expected{HostMatrix<Exact<T>>(a.rows, b.cols), {}};
  if constexpr (std::is_integral_v<T>) {
    const auto product = blocked_product(a, b, [](T x) { return static_cast<std::uint32_t>(x); });
    std::transform(product.begin(), product.end(), expected.value.storage().begin(),
                   [](std::uint32_t x) { return static_cast<T>(x); });
  } else {
    expected.value.storage() = blocked_product(a, b, [](T x) { return static_cast<double>(x); });
    if (bounded) {
      expected.magnitude = HostMatrix<double>(a.rows, b.cols);
      expected.magnitude.storage() =
          blocked_product(a, b, [](T x) { return std::abs(static_cast<double>(x)); });
    }
    for (const double value : expected.value.storage())
      if (!std::isfinite(value)) throw std::domain_error("the expected result is not finite");
  }
  return expected;
}

template <typename T>
Comparison compare(MatrixView<const ResultOf<T>> got, const Expected<T>& expected, double units) {
  require_extents(got, expected.value.rows(), expected.value.cols());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool bounded = expected.magnitude.rows() != 0;
  Comparison result;
  for (int row = 0; row < got.rows; ++row)
    for (int col = 0; col < got.cols; ++col) {
      const double value = static_cast<double>(got(row, col));
      const double error = std::abs(value - static_cast<double>(expected.value(row, col)));
      const double unit = bounded ? unit_roundoff<ResultOf<T>>() * expected.magnitude(row, col) : 0;
      const double error_in_units = error == 0 ? 0 : unit > 0 ? error / unit : infinity;
      result.max_units =
          std::max(result.max_units, std::isfinite(value) ? error_in_units : infinity);
      const double allowed = unit > 0 ? units * unit : 0;
      if (!(error <= allowed)) ++result.wrong;
    }
  return result;
}

template <typename T>
ProbabilisticResult check_probabilistically(MatrixView<const T> a, MatrixView<const T> b,
                                            MatrixView<const ResultOf<T>> c, std::uint64_t seed,
                                            int rounds, double allowed_units) {
  require_product(a, b);
  require_extents(c, a.rows, b.cols);
  if (rounds < 1) throw std::invalid_argument("check_probabilistically: at least one round");
  inputs::SplitMix64 random(seed);
  int row = -1;
  if constexpr (std::is_integral_v<T>) {
    const auto draw = [&] { return static_cast<std::uint32_t>(random() >> 32); };
    row = row_off<T>(a, b, c, rounds, draw, [](int, const Wrapped& sum) { return sum.value != 0; });
  } else {
    const std::vector<double> allowed = allowed_residuals(a, b, rounds, allowed_units);
    const auto draw = [&] { return (random() >> 63) != 0 ? 1.0 : -1.0; };
    row = row_off<T>(a, b, c, rounds, draw, [&](int i, const Twofold& sum) {
      return !(std::abs(sum.high + sum.low) <= allowed.data()[i]);
    });
  }
  return {row < 0, row};
}

#define GEMM_LAB_INSTANTIATE(T)                                                                    \
  template Expected<T> expected_product<T>(MatrixView<const T>, MatrixView<const T>, bool);        \
  template Comparison compare<T>(MatrixView<const ResultOf<T>>, const Expected<T>&, double);       \
  template ProbabilisticResult check_probabilistically<T>(                                         \
      MatrixView<const T>, MatrixView<const T>, MatrixView<const ResultOf<T>>, std::uint64_t, int, \
      double)
GEMM_LAB_INSTANTIATE(std::int32_t);
GEMM_LAB_INSTANTIATE(float);
GEMM_LAB_INSTANTIATE(double);
GEMM_LAB_INSTANTIATE(Half);
GEMM_LAB_INSTANTIATE(BFloat16);
#undef GEMM_LAB_INSTANTIATE
