// Tensor sums, as each kind of processor makes them: a run of the engine uses one way alone.
#include "common/simgpu/exec/kernels/float_tile.hpp"

#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "common/catch2.hpp"

using namespace simgpu::exec::kernels;

namespace {

constexpr unsigned kK = 16;

/// A: 16 x kK, B: kK x 8, C: 16 x 8 as the lanes hold it.
struct Product {
  alignas(64) double a[16 * kK], b[kK * 8];
  float c[4][32];
};

/// Numbers as tensor cores multiply them, from tiny to large, with what is no number among them.
Product random_product(std::mt19937& random, unsigned rare) {
  const float special[] = {0.0f,
                           -0.0f,
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::denorm_min(),
                           std::numeric_limits<float>::max()};
  const auto number = [&] {
    if (rare > 0 && random() % rare == 0) return special[random() % std::size(special)];
    return std::ldexp(static_cast<float>(static_cast<int>(random() % 4097) - 2048),
                      static_cast<int>(random() % 40) - 20);
  };
  Product p;
  for (double& x : p.a) x = static_cast<double>(number());
  for (double& x : p.b) x = static_cast<double>(number());
  for (auto& row : p.c)
    for (float& x : row) x = number();
  return p;
}

using Way = void (*)(const double*, const double*, const FloatTile&);

/// D as bits. `in_place`: D is C.
std::vector<std::uint32_t> multiplied(Way way, const Product& given, bool in_place) {
  Product p = given;
  float d[4][32] = {};
  FloatTile t{};
  for (int i = 0; i < 4; ++i) {
    t.c[i] = p.c[i];
    t.d[i] = in_place ? p.c[i] : d[i];
  }
  way(p.a, p.b, t);
  std::vector<std::uint32_t> bits;
  for (const float* row : t.d)
    for (int lane = 0; lane < 32; ++lane) bits.push_back(std::bit_cast<std::uint32_t>(row[lane]));
  return bits;
}

}  // namespace

TEST_CASE("tensor sums are the same bits on every processor", "[mma]") {
  std::vector<Way> others;
#if defined(__AVX2__) && defined(__FMA__)
  others.push_back([](const double* a, const double* b, const FloatTile& t) {
    multiply_by_half_rows<kK>(a, b, t);
  });
  if (kHasAvx512)
    others.push_back([](const double* a, const double* b, const FloatTile& t) {
      multiply_by_rows<kK>(a, b, t);
    });
#endif
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    const Product p = random_product(random, i % 4 == 0 ? 0 : 200);
    const auto expected = multiplied([](const double* a, const double* b,
                                        const FloatTile& t) { multiply_by_elements<kK>(a, b, t); },
                                     p, false);
    for (const Way other : others)
      for (const bool in_place : {false, true}) REQUIRE(multiplied(other, p, in_place) == expected);
  }
}
