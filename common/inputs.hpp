// Inputs for tests, the same on every machine. A and B come from different generators: with one
// generator and seed, square ones would be equal, and a kernel that exchanges them would pass.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "common/float16.hpp"
#include "common/host_matrix.hpp"

namespace inputs {

/// Generator of A. Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

/// Generator of B: two steps of the 64-bit linear congruential generator with the XSH-RR output
/// function per number. O'Neill, "PCG", HMC-CS-2014-0905.
class Pcg {
 public:
  explicit Pcg(std::uint64_t seed) : state_(seed * 2 + 0x853c49e6748fea9bu) { next(); }
  std::uint64_t operator()() {
    const std::uint64_t high = next();
    return high << 32 | next();
  }

 private:
  std::uint32_t next() {
    const std::uint64_t old = state_;
    state_ = old * 6364136223846793005u + 1442695040888963407u;
    const auto shifted = static_cast<std::uint32_t>(((old >> 18) ^ old) >> 27);
    const auto turn = static_cast<unsigned>(old >> 59);
    return (shifted >> turn) | (shifted << ((32 - turn) & 31));
  }
  std::uint64_t state_;
};

/// Marks memory that nobody has written: a quiet NaN that no arithmetic gives, or a rare integer.
template <typename T>
T poison() {
  if constexpr (is_float16<T>) {
    T value;
    value.bits = std::is_same_v<T, Half> ? 0x7eedu : 0x7fedu;
    return value;
  } else if constexpr (std::is_same_v<T, float>) {
    return of_bits<T>(0x7fc5eed5u);
  } else if constexpr (std::is_same_v<T, double>) {
    return of_bits<T>(std::uint64_t{0x7ff85eed5eed5eedu});
  } else {
    return of_bits<T>(std::int32_t{0x5eed5eed});
  }
}

/// Calls fill(element, row, col) for every element, and poisons the padding.
template <typename T, typename Fill>
void for_each(HostMatrix<T>& m, Fill fill) {
  m.fill_padding(poison<T>());
  for (int row = 0; row < m.rows(); ++row)
    for (int col = 0; col < m.cols(); ++col) fill(m(row, col), row, col);
}

template <typename T>
void poison_all(HostMatrix<T>& m) {
  m.fill(poison<T>());
}

/// Uniform integers in [low, high]. For -8..8 the product is exact in float in any order of
/// summation while 64 * K < 2^24.
template <typename T, typename Generator>
void integers(HostMatrix<T>& m, Generator& random, int low = -8, int high = 8) {
  const auto values = static_cast<std::uint64_t>(high - low + 1);
  for_each(m, [&](T& element, int, int) {
    element = static_cast<T>(low + static_cast<int>((random() >> 11) % values));
  });
}

/// Zero-mean: multiples of 2^-23 (float) or 2^-52 (double) in [-1, 1). 16-bit types round such a
/// float, so that C's error contains no rounding of inputs. int32 takes all 2^32 values, so that
/// sums wrap. Positive data would hide lost precision: its errors grow like sqrt(K) in units of u
/// (|A||B|), so a tolerance would have to grow as well.
template <typename T, typename Generator>
void zero_mean(HostMatrix<T>& m, Generator& random) {
  for_each(m, [&](T& element, int, int) {
    if constexpr (std::is_same_v<T, std::int32_t>) {
      element = static_cast<std::int32_t>(static_cast<std::uint32_t>(random() >> 32));
    } else {
      constexpr int bits = significant_bits<ResultOf<T>>();
      const auto unit = static_cast<std::int64_t>(random() >> (64 - bits));
      const auto half = std::int64_t{1} << (bits - 1);
      element = static_cast<T>(static_cast<double>(unit - half) / static_cast<double>(half));
    }
  });
}

/// `value` rounded to the 11 significant bits of TF32 and FP16, to nearest, ties away from zero.
inline double round_to_11_bits(double value) {
  if (value == 0) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // 0.5 <= |mantissa| < 1
  return std::ldexp(std::round(std::ldexp(mantissa, 11)), exponent - 11);
}

/// Rounds all elements to 11 significant bits, which a tensor core reads exactly.
template <typename T>
void round_to_11_bits(HostMatrix<T>& m) {
  static_assert(std::is_floating_point_v<T>);
  for_each(m, [](T& element, int, int) {
    element = static_cast<T>(round_to_11_bits(static_cast<double>(element)));
  });
}

/// Truncation canary for TF32, which keeps 11 of float's 24 bits. Numbers are (1 + 0.9 * 2^-10)
/// times 1, 2, 4 or 8 (in A times 2^20, in B 2^-20: FP16 has no such numbers), and rounding loses
/// 0.1 of TF32's last place, truncation 0.9. Signs are s_i t_k and t_k r_j, so that no errors of an
/// element cancel. Relative to |A||B|, C loses 0.2 * 2^-10 if rounded, 1.8 * 2^-10 if truncated.
template <typename GeneratorA, typename GeneratorB>
void truncation_canary(HostMatrix<float>& a, HostMatrix<float>& b, GeneratorA& random_a,
                       GeneratorB& random_b) {
  const auto signs = [](auto& random, int count) {
    std::vector<float> list(static_cast<std::size_t>(count));
    for (float& sign : list) sign = (random() >> 63) != 0 ? -1.0F : 1.0F;
    return list;
  };
  const auto rows = signs(random_a, a.rows()), steps = signs(random_a, a.cols()),
             cols = signs(random_b, b.cols());
  const auto magnitude = [](auto& random) {
    return std::ldexp(1.0F + 0.9F * 0x1p-10F, static_cast<int>(random() >> 62));
  };
  const auto at = [](const std::vector<float>& list, int i) {
    return list[static_cast<std::size_t>(i)];
  };
  for_each(a, [&](float& element, int row, int k) {
    element = at(rows, row) * at(steps, k) * magnitude(random_a) * 0x1p20F;
  });
  for_each(b, [&](float& element, int k, int col) {
    element = at(steps, k) * at(cols, col) * magnitude(random_b) * 0x1p-20F;
  });
}

/// Precision canary: column 2j+1 of A is minus column 2j, rounded to 11 bits, and rows 2j and 2j+1
/// of B are equal. The product is then exactly the part that TF32 or FP16 inputs lose: such kernels
/// compute noise, whatever K is. If A has an odd number of columns, the last one is zero.
///
/// 16-bit inputs are exact, so there the canary tests the sums: column 2j+1 of A is minus column
/// 2j, smaller by one unit in the last place. Each pair of products leaves 2^-10 of itself (2^-7
/// for bfloat16), which sums of 11 bits lose.
template <typename T, typename GeneratorA, typename GeneratorB>
void canary(HostMatrix<T>& a, HostMatrix<T>& b, GeneratorA& random_a, GeneratorB& random_b) {
  static_assert(is_real<T>);
  zero_mean(a, random_a);
  zero_mean(b, random_b);
  for (int row = 0; row < a.rows(); ++row)
    for (int k = 1; k < a.cols(); k += 2) {
      if constexpr (is_float16<T>) {
        a(row, k) = a(row, k - 1);
        a(row, k).bits ^= 0x8000u;
        if ((a(row, k).bits & 0x7fffu) != 0) --a(row, k).bits;
      } else {
        a(row, k) = static_cast<T>(-round_to_11_bits(static_cast<double>(a(row, k - 1))));
      }
    }
  if (a.cols() % 2 == 1)
    for (int row = 0; row < a.rows(); ++row) a(row, a.cols() - 1) = static_cast<T>(0);
  for (int k = 1; k < b.rows(); k += 2)
    for (int col = 0; col < b.cols(); ++col) b(k, col) = b(k - 1, col);
}

}  // namespace inputs
