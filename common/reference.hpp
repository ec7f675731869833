// What C = A * B should be, and how far a correct kernel may be off.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "common/float16.hpp"
#include "common/host_matrix.hpp"

/// Matrix multiplication in its plainest form: each element of C is the dot product of a row of A
/// and a column of B. All labs compute this, only faster. Products of 16-bit elements are summed in
/// float. Signed integers wrap modulo 2^32, as on a GPU; in C++ their overflow would be undefined.
template <typename T>
void gemm_plain(MatrixView<const T> a, MatrixView<const T> b, MatrixView<ResultOf<T>> c) {
  using Sum = std::conditional_t<std::is_integral_v<T>, std::uint32_t, ResultOf<T>>;
  for (int row = 0; row < c.rows; ++row) {
    for (int col = 0; col < c.cols; ++col) {
      Sum sum = 0;
      for (int k = 0; k < a.cols; ++k)
        sum += static_cast<Sum>(a(row, k)) * static_cast<Sum>(b(k, col));
      c(row, col) = static_cast<ResultOf<T>>(sum);
    }
  }
}

/// The type of the expected result. Products of floats and of 16-bit elements are summed in double,
/// where a product of two floats is exact. int32 wraps modulo 2^32. For double, the reference
/// itself has rounding errors of a few u = 2^-53.
template <typename T>
using Exact = std::conditional_t<std::is_integral_v<T>, T, double>;

template <typename T>
struct Expected {
  HostMatrix<Exact<T>> value;  ///< A * B
  /// |A| * |B|, what the limit is proportional to; empty for integers, and unless `bounded`.
  HostMatrix<double> magnitude;
};

/// Blocked, on all cores (OpenMP). `bounded`: C will be compared within a limit, which takes twice
/// the work of a comparison for equality. Throws std::invalid_argument if the extents do not match, and
/// std::domain_error if the result is not finite, as no correct C could be told from a wrong one.
template <typename T>
Expected<T> expected_product(MatrixView<const T> a, MatrixView<const T> b, bool bounded = true);

/// Unit roundoff u, half the distance from 1 to the next number: 2^-24 for float, 2^-53 for double,
/// 2^-11 for Half, 2^-8 for BFloat16, 0 for integers.
template <typename T>
constexpr double unit_roundoff() {
  if constexpr (is_real<T>)
    return 1.0 / static_cast<double>(std::int64_t{1} << significant_bits<T>());
  else
    return 0;
}

/// |C - AB|_ij <= 32 u (|A||B|)_ij, for zero-mean data.
///
/// The worst case is K u (|A||B|)_ij: Higham, "Accuracy and Stability of Numerical Algorithms", 2nd
/// ed., SIAM 2002, section 3.5, with gamma_K = K u / (1 - K u). With zero-mean data the rounding
/// errors do not add up like that: the error stays at a few u whatever K is (Higham and Mary,
/// "Sharper probabilistic backward error analysis for basic linear algebra kernels with random
/// data", SIAM J. Sci. Comput. 42(5), 2020; we measured 2 to 4 u for K up to 16384). 32 u is about
/// 8 times what any order of summation needs in the right precision, and a fifth of what TF32 or
/// FP16 inputs give at K = 16384. A bound with a factor sqrt(K) would let those pass.
constexpr double kAllowedUnits = 32;

/// The same for tensor cores with FP32 accumulators. How they add the products of one instruction
/// is not specified, and they may truncate the sum instead of rounding it: if they do so every 16
/// terms, that is 3.5 u at K = 256 and 22 u at K = 16384. FP16 accumulators are off by 4500 u or
/// more at any K. Rounding the result to float costs one of these units, u |C_ref|.
constexpr double kAllowedTensorUnits = 128;

/// What TF32 inputs add to that, in units of u = 2^-24: both factors of each product are rounded to
/// 11 bits, hence 2 * 2^-11 (|A||B|)_ij, and twice that if they are truncated instead.
constexpr double kRoundedTf32Units = 2.0 * (1 << 13);
constexpr double kTruncatedTf32Units = 2 * kRoundedTf32Units;

struct Comparison {
  std::int64_t wrong = 0;  ///< elements over the limit or not finite
  double max_units = 0;    ///< largest |C - AB| / (u (|A||B|)); infinity if any is not finite

  bool passed() const { return wrong == 0; }
};

/// C has the type ResultOf<T>, whose u the limit uses: 2^-24 for 16-bit operands. Integers must
/// match exactly, and so must everything if allowed_units is 0, for integer-valued data. Anything
/// that is not finite is wrong: the test is !(error <= limit), which is true for NaN. max_units is
/// known only with a magnitude. Throws std::invalid_argument if the extents differ.
template <typename T>
Comparison compare(MatrixView<const ResultOf<T>> got, const Expected<T>& expected,
                   double allowed_units = kAllowedUnits);

struct ProbabilisticResult {
  bool passed = false;
  int row = -1;  ///< the first whose sum is off
};

/// Freivalds' check (R. Freivalds, "Probabilistic machines can use less running time", IFIP 1977):
/// compares C x with A (B x) for random x, in O(M N + N K + M K) per round instead of O(M N K).
///
/// Floating point: each element of x is +1 or -1. Row i may be off by t_i = allowed_units u s_i
/// sqrt(2 ln(2 M rounds / p)) plus this function's own rounding, with s_i >= the 2-norm of row i of
/// |A||B|. By Hoeffding's inequality, a C within the componentwise limit is rejected with
/// probability at most p = 1e-6. If |C - AB|_ij > t_i for some element, then x and x with x_j
/// flipped cannot both give a residual within t_i. So one round misses it with probability at most
/// 1/2, and all rounds with 2^-rounds. Every round sees a single wrong element (up to rounding).
///
/// int32: x is uniform modulo 2^32 and the comparison is exact, so there are no false alarms. A
/// nonzero difference times its x_j is zero modulo 2^32 with probability at most 1/2 (exactly 1/2
/// if only the top bit differs): again 2^-rounds in all.
template <typename T>
ProbabilisticResult check_probabilistically(MatrixView<const T> a, MatrixView<const T> b,
                                            MatrixView<const ResultOf<T>> c, std::uint64_t seed,
                                            int rounds = 20, double allowed_units = kAllowedUnits);
