#include "common/reference.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "common/catch2.hpp"
#include "common/inputs.hpp"

namespace {

struct Shape {
  int m, n, k, pad;
};
const std::vector<Shape> kShapes = {
    {1, 1, 1, 0},       {1, 129, 1, 3},    {129, 1, 7, 1}, {17, 33, 65, 0}, {33, 17, 5, 2},
    {131, 129, 127, 5}, {64, 300, 200, 0}, {0, 5, 3, 0},   {5, 0, 3, 0},    {4, 3, 0, 2}};

template <typename T>
struct Product {
  HostMatrix<T> a, b, c;
  Expected<T> expected;
};

template <typename T>
Product<T> zero_mean_product(const Shape& s) {
  inputs::SplitMix64 random_a(11);
  inputs::Pcg random_b(12);
  Product<T> p{{s.m, s.k, s.k + s.pad}, {s.k, s.n, s.n + s.pad}, {s.m, s.n, s.n + s.pad}, {}};
  inputs::zero_mean(p.a, random_a);
  inputs::zero_mean(p.b, random_b);
  gemm_plain<T>(p.a.view(), p.b.view(), p.c.view());
  p.expected = expected_product<T>(p.a.view(), p.b.view());
  return p;
}

float as_float(double x) {
  return static_cast<float>(x);
}

/// C computed with inputs rounded to 11 bits and float accumulation, as TF32 tensor cores would.
void gemm_11_bits(const HostMatrix<float>& a, const HostMatrix<float>& b, HostMatrix<float>& c) {
  for (int row = 0; row < c.rows(); ++row)
    for (int col = 0; col < c.cols(); ++col) {
      float sum = 0;
      for (int k = 0; k < a.cols(); ++k)
        sum += as_float(inputs::round_to_11_bits(static_cast<double>(a(row, k)))) *
               as_float(inputs::round_to_11_bits(static_cast<double>(b(k, col))));
      c(row, col) = sum;
    }
}

}  // namespace

TEST_CASE("the blocked reference agrees with the plain loop") {
  for (const Shape& s : kShapes) {
    CAPTURE(s.m, s.n, s.k, s.pad);
    CHECK(compare<std::int32_t>(zero_mean_product<std::int32_t>(s).c.view(),
                                zero_mean_product<std::int32_t>(s).expected)
              .passed());
    const auto f = zero_mean_product<float>(s);
    CHECK(compare<float>(f.c.const_view(), f.expected).passed());
    const auto d = zero_mean_product<double>(s);
    CHECK(compare<double>(d.c.const_view(), d.expected).passed());
  }
}

TEST_CASE("int32 products wrap modulo 2^32") {
  HostMatrix<std::int32_t> a(1, 2), b(2, 1), c(1, 1);
  a(0, 0) = 1 << 30;
  b(0, 0) = 6;
  a(0, 1) = -1;
  b(1, 0) = 5;
  gemm_plain<std::int32_t>(a.view(), b.view(), c.view());
  CHECK(c(0, 0) == 2147483643);  // 6 * 2^30 - 5 = 2^32 + 2^31 - 5
  CHECK(expected_product<std::int32_t>(a.view(), b.view()).value(0, 0) == c(0, 0));
}

TEST_CASE("integer inputs are exact in float, in any order") {
  inputs::SplitMix64 random_a(1);
  inputs::Pcg random_b(1);
  HostMatrix<float> a(31, 1003), b(1003, 29), c(31, 29);
  inputs::integers(a, random_a);
  inputs::integers(b, random_b);
  const auto expected = expected_product<float>(a.view(), b.view());
  for (int row = 0; row < c.rows(); ++row)
    for (int col = 0; col < c.cols(); ++col) {
      float sum = 0;
      for (int k = a.cols() - 1; k >= 0; --k) sum += a(row, k) * b(k, col);
      c(row, col) = sum;
    }
  CHECK(compare<float>(c.const_view(), expected, 0).passed());
}

TEST_CASE("the limit holds for float sums and not for 11-bit inputs") {
  for (const int k : {16, 64, 256, 4096}) {
    CAPTURE(k);
    auto p = zero_mean_product<float>({64, 64, k, 0});
    const Comparison right = compare<float>(p.c.const_view(), p.expected);
    CHECK(right.passed());
    CHECK(right.max_units > 0.2);
    CHECK(right.max_units < 8);
    gemm_11_bits(p.a, p.b, p.c);
    const Comparison wrong = compare<float>(p.c.const_view(), p.expected);
    CHECK(wrong.max_units > 5 * kAllowedUnits);
    CHECK(wrong.wrong > 0);
  }
}

// What docs/lab5.md says of tensor cores: 16 products of halves are exact, their sum with what was
// there before is cut off to a float, or rounded to a half.
TEST_CASE("float sums that are cut off keep the limit of tensor cores, sums in half do not") {
  for (const int k : {256, 4096, 16384}) {
    CAPTURE(k);
    inputs::SplitMix64 random_a(21);
    inputs::Pcg random_b(22);
    HostMatrix<float> a(64, k), b(k, 64), cut(64, 64), half(64, 64);
    inputs::zero_mean(a, random_a);
    inputs::zero_mean(b, random_b);
    for (HostMatrix<float>* m : {&a, &b})
      for (float& x : m->storage()) x = as_float(inputs::round_to_11_bits(static_cast<double>(x)));
    for (int row = 0; row < 64; ++row)
      for (int col = 0; col < 64; ++col) {
        float sum = 0, narrow = 0;
        for (int from = 0; from < k; from += 16) {
          double sixteen = 0;
          for (int i = from; i < from + 16; ++i)
            sixteen += static_cast<double>(a(row, i)) * static_cast<double>(b(i, col));
          const double exact = static_cast<double>(sum) + sixteen;
          sum = as_float(exact);
          if (std::abs(static_cast<double>(sum)) > std::abs(exact)) sum = std::nextafter(sum, 0.0f);
          narrow = as_float(inputs::round_to_11_bits(static_cast<double>(narrow) + sixteen));
        }
        cut(row, col) = sum;
        half(row, col) = narrow;
      }
    const auto expected = expected_product<float>(a.view(), b.view());
    CHECK(compare<float>(cut.const_view(), expected).max_units < 25);
    CHECK(compare<float>(half.const_view(), expected).max_units > 4500);
  }
}

TEST_CASE("the canary exposes 11-bit inputs at any K") {
  for (const int k : {2, 17, 1024, 16384}) {
    CAPTURE(k);
    inputs::SplitMix64 random_a(3);
    inputs::Pcg random_b(4);
    HostMatrix<float> a(16, k), b(k, 16), c(16, 16);
    inputs::canary(a, b, random_a, random_b);
    const auto expected = expected_product<float>(a.view(), b.view());
    gemm_plain<float>(a.view(), b.view(), c.view());
    CHECK(compare<float>(c.const_view(), expected).passed());
    gemm_11_bits(a, b, c);
    double error = 0, norm = 0;
    for (int row = 0; row < 16; ++row)
      for (int col = 0; col < 16; ++col) {
        error += std::pow(static_cast<double>(c(row, col)) - expected.value(row, col), 2);
        norm += std::pow(expected.value(row, col), 2);
      }
    CHECK(std::sqrt(error / norm) > 0.5);
    CHECK_FALSE(compare<float>(c.const_view(), expected).passed());
  }
}

TEST_CASE("a double product in float is far over the limit") {
  auto p = zero_mean_product<double>({20, 20, 100, 0});
  CHECK(compare<double>(p.c.const_view(), p.expected).max_units < 8);
  for (double& value : p.c.storage()) value = static_cast<double>(static_cast<float>(value));
  CHECK(compare<double>(p.c.const_view(), p.expected).max_units > 1e5);
}

TEST_CASE("compare counts wrong elements and never passes NaN") {
  auto p = zero_mean_product<float>({17, 33, 65, 4});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  SECTION("one NaN") {
    p.c(3, 7) = nan;
    const Comparison result = compare<float>(p.c.const_view(), p.expected);
    CHECK_FALSE(result.passed());
    CHECK(result.wrong == 1);
    CHECK(std::isinf(result.max_units));
  }
  SECTION("all NaN, infinite limit") {
    p.c.fill(nan);
    CHECK(compare<float>(p.c.const_view(), p.expected, std::numeric_limits<double>::infinity())
              .wrong == 17 * 33);
  }
  SECTION("infinity") {
    p.c(0, 0) = std::numeric_limits<float>::infinity();
    CHECK(compare<float>(p.c.const_view(), p.expected).wrong == 1);
  }
  SECTION("wrong values, of which the worst counts") {
    p.c(2, 30) += 1.0f;
    const double units = compare<float>(p.c.const_view(), p.expected).max_units;
    p.c(9, 1) += 100.0f;
    const Comparison result = compare<float>(p.c.const_view(), p.expected);
    CHECK(result.wrong == 2);
    CHECK(result.max_units > units);
    CHECK(std::isfinite(result.max_units));
  }
  SECTION("where |A||B| is zero only zero passes") {
    for (float& value : p.a.storage()) value = 0;
    const auto expected = expected_product<float>(p.a.const_view(), p.b.const_view());
    p.c.fill(0);
    CHECK(compare<float>(p.c.const_view(), expected).passed());
    p.c(1, 1) = 1e-30f;
    CHECK(compare<float>(p.c.const_view(), expected).wrong == 1);
  }
}

TEST_CASE("the reference refuses what it cannot judge") {
  HostMatrix<float> a(2, 3), b(4, 2), c(1, 2);
  CHECK_THROWS_AS(expected_product<float>(a.view(), b.view()), std::invalid_argument);
  HostMatrix<float> b3(3, 2);
  CHECK_THROWS_AS(compare<float>(c.const_view(), expected_product<float>(a.view(), b3.view())),
                  std::invalid_argument);
  a(0, 0) = std::numeric_limits<float>::infinity();
  b3(0, 0) = 1;
  CHECK_THROWS_AS(expected_product<float>(a.view(), b3.view()), std::domain_error);
}

TEST_CASE("the reference product is not symmetric, and A is not B") {
  inputs::SplitMix64 random_a(5);
  inputs::Pcg random_b(5);
  HostMatrix<float> a(32, 32), b(32, 32);
  inputs::integers(a, random_a);
  inputs::integers(b, random_b);
  CHECK(a.storage() != b.storage());
  const auto c = expected_product<float>(a.view(), b.view()).value;
  int asymmetric = 0;
  for (int row = 0; row < 32; ++row)
    for (int col = 0; col < row; ++col) asymmetric += c(row, col) != c(col, row);
  CHECK(asymmetric > 400);
}

TEMPLATE_TEST_CASE("the probabilistic check accepts products and catches one wrong element", "",
                   std::int32_t, float, double) {
  for (const Shape& s : kShapes) {
    CAPTURE(s.m, s.n, s.k);
    auto p = zero_mean_product<TestType>(s);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const auto result = check_probabilistically<TestType>(p.a.const_view(), p.b.const_view(),
                                                            p.c.const_view(), seed);
      CHECK(result.passed);
    }
    if (s.m == 0 || s.n == 0) continue;
    const int row = s.m / 2, col = s.n - 1;
    if constexpr (std::is_integral_v<TestType>)
      p.c(row, col) =
          static_cast<TestType>(static_cast<std::uint32_t>(p.c(row, col)) ^ 0x80000000u);
    else
      p.c(row, col) += static_cast<TestType>(0.02);
    const auto result =
        check_probabilistically<TestType>(p.a.const_view(), p.b.const_view(), p.c.const_view(), 1);
    CHECK_FALSE(result.passed);
    CHECK(result.row == row);
  }
}

TEST_CASE("the probabilistic check never passes NaN and sees 11-bit inputs at moderate K") {
  auto p = zero_mean_product<float>({40, 50, 60, 0});
  p.c(7, 7) = std::numeric_limits<float>::quiet_NaN();
  const auto nan =
      check_probabilistically<float>(p.a.const_view(), p.b.const_view(), p.c.const_view(), 1);
  CHECK_FALSE(nan.passed);
  CHECK(nan.row == 7);
  gemm_11_bits(p.a, p.b, p.c);
  CHECK_FALSE(
      check_probabilistically<float>(p.a.const_view(), p.b.const_view(), p.c.const_view(), 1)
          .passed);
}

TEST_CASE("false alarms of the probabilistic check are rare at the componentwise limit") {
  // A result that is as wrong as the limit allows, with random signs, must pass.
  auto p = zero_mean_product<float>({60, 70, 30, 0});
  inputs::SplitMix64 random(99);
  HostMatrix<double> c(60, 70);
  for (int row = 0; row < 60; ++row)
    for (int col = 0; col < 70; ++col) {
      const double sign = (random() & 1) != 0 ? 1 : -1;
      p.c(row, col) =
          static_cast<float>(p.expected.value(row, col) +
                             sign * 31 * unit_roundoff<float>() * p.expected.magnitude(row, col));
    }
  REQUIRE(compare<float>(p.c.const_view(), p.expected).max_units > 25);
  REQUIRE(compare<float>(p.c.const_view(), p.expected).passed());
  for (std::uint64_t seed = 1; seed <= 50; ++seed)
    CHECK(check_probabilistically<float>(p.a.const_view(), p.b.const_view(), p.c.const_view(), seed)
              .passed);
}

namespace {

template <typename T>
void check_every_value(double largest, double smallest, int fraction) {
  for (int code = 0; code < 65536; ++code) {
    T x;
    x.bits = static_cast<std::uint16_t>(code);
    const double value = static_cast<double>(x);
    if (std::isnan(value)) {
      CHECK(std::isnan(static_cast<double>(T(value))));
      continue;
    }
    REQUIRE(T(value).bits == code);
    if (!std::isfinite(value) || (code & 0x7fff) == 0x7fff) continue;
    // Half way to the next number of the same sign: to the even one; a little off: to the nearer.
    T next;
    next.bits = static_cast<std::uint16_t>(code + 1);
    const double above = static_cast<double>(next);
    if (!std::isfinite(above)) continue;
    const double middle = (value + above) / 2;
    REQUIRE(T(middle).bits == (code % 2 == 0 ? code : code + 1));
    REQUIRE(T(std::nextafter(middle, value)).bits == code);
    REQUIRE(T(std::nextafter(middle, above)).bits == code + 1);
  }
  CHECK(static_cast<double>(T(largest)) == largest);
  // From half a unit above the largest number on: infinity.
  const double unit = std::ldexp(1.0, std::ilogb(largest) - fraction);
  CHECK(std::isinf(static_cast<double>(T(largest + unit / 2))));
  CHECK(static_cast<double>(T(std::nextafter(largest + unit / 2, 0))) == largest);
  CHECK(static_cast<double>(T(smallest)) == smallest);
  CHECK(static_cast<double>(T(smallest / 2)) == 0);
  CHECK(T(-0.0).bits == 0x8000);
  CHECK(std::isinf(static_cast<double>(T(std::numeric_limits<double>::infinity()))));
}

/// Sums of half products, kept in half after each step.
template <typename T>
void gemm_half_sums(const HostMatrix<T>& a, const HostMatrix<T>& b, HostMatrix<float>& c) {
  for (int row = 0; row < c.rows(); ++row)
    for (int col = 0; col < c.cols(); ++col) {
      Half sum;
      for (int k = 0; k < a.cols(); ++k)
        sum = Half(static_cast<double>(sum) +
                   static_cast<double>(a(row, k)) * static_cast<double>(b(k, col)));
      c(row, col) = static_cast<float>(sum);
    }
}

template <typename T>
void check_tensor_limit() {
  for (const Shape& s : std::vector<Shape>{
           {17, 33, 1, 0}, {17, 33, 2, 0}, {13, 16, 16, 0}, {33, 17, 65, 0}, {16, 16, 256, 0}}) {
    for (const bool canary : {false, true}) {
      CAPTURE(s.k, canary);
      inputs::SplitMix64 random_a(11);
      inputs::Pcg random_b(12);
      HostMatrix<T> a(s.m, s.k), b(s.k, s.n);
      if (canary && s.k < 2) continue;
      if (canary)
        inputs::canary(a, b, random_a, random_b);
      else
        inputs::zero_mean(a, random_a), inputs::zero_mean(b, random_b);
      HostMatrix<float> right(s.m, s.n), half(s.m, s.n);
      gemm_plain<T>(a.view(), b.view(), right.view());
      gemm_half_sums(a, b, half);
      const Expected<T> expected = expected_product<T>(a.view(), b.view());
      CHECK(compare<T>(right.view(), expected, kAllowedTensorUnits).passed());
      const Comparison wrong = compare<T>(half.view(), expected, kAllowedTensorUnits);
      CHECK(wrong.wrong > std::int64_t{right.rows()} * right.cols() / 2);
      CHECK(check_probabilistically<T>(a.view(), b.view(), right.view(), 1, 20, kAllowedTensorUnits)
                .passed);
    }
  }
}

}  // namespace

TEST_CASE("16-bit types round to nearest, ties to even, at every value") {
  check_every_value<Half>(65504, 0x1p-24, 10);
  check_every_value<BFloat16>(0x1.fep127, 0x1p-133, 7);
  CHECK(Half(1).bits == 0x3c00);
  CHECK(BFloat16(1).bits == 0x3f80);
  for (int i = -2048; i <= 2048; ++i) REQUIRE(static_cast<double>(Half(i)) == i);
  for (int i = -256; i <= 256; ++i) REQUIRE(static_cast<double>(BFloat16(i)) == i);
}

TEST_CASE("the limit of tensor rungs lets FP32 sums pass and refuses half sums") {
  check_tensor_limit<Half>();
  check_tensor_limit<BFloat16>();
}

TEST_CASE("the truncation canary tells TF32 inputs that are cut off from rounded ones") {
  for (const int k : {1, 7, 64, 300}) {
    CAPTURE(k);
    inputs::SplitMix64 random_a(11);
    inputs::Pcg random_b(12);
    HostMatrix<float> a(17, k), b(k, 33), c(17, 33);
    inputs::truncation_canary(a, b, random_a, random_b);
    const Expected<float> expected = expected_product<float>(a.view(), b.view());
    gemm_11_bits(a, b, c);
    CHECK(compare<float>(c.view(), expected, kAllowedTensorUnits + kRoundedTf32Units).passed());
    // Nor do they pass if a factor has gone through half, which ends at 65504.
    CHECK(std::abs(a(0, 0)) > 65504);
    CHECK(std::abs(b(0, 0)) < 0x1p-14F);
    const auto cut = [](HostMatrix<float>& m) {
      for (float& x : m.storage()) {
        std::uint32_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        bits &= ~0x1fffu;
        std::memcpy(&x, &bits, sizeof bits);
      }
    };
    cut(a), cut(b);
    gemm_plain<float>(a.view(), b.view(), c.view());
    const Comparison seen =
        compare<float>(c.view(), expected, kAllowedTensorUnits + kRoundedTf32Units);
    CHECK(seen.wrong == std::int64_t{c.rows()} * c.cols());
    CHECK(compare<float>(c.view(), expected, kAllowedTensorUnits + kTruncatedTf32Units).passed());
  }
}
