// Indices that nobody thought of beforehand: read off by probes and written down as formulas.
#include "common/catch2.hpp"
#include "grader/diagnose/indices.hpp"
#include "grader/tests/diagnose_bench.hpp"

using namespace diagnose_bench;

namespace {

const Tile kTile{16, 16, 8, 2, 4};
const Tile kNaive{16, 16, 1, 1, 1};

template <typename A, typename B>
Kernel product_of(A index_a, B index_b) {
  return [=](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) {
        double sum = 0;
        for (int k = 0; k < call.k; ++k) {
          const auto [ar, ac] = index_a(i, j, k);
          const auto [br, bc] = index_b(i, j, k);
          sum += call.at_a(ar, ac) * call.at_b(br, bc);
        }
        call.put(i, j, sum);
      }
  };
}

using Pair = std::pair<int, int>;
constexpr auto right_a = [](int i, int, int k) { return Pair{i, k}; };
constexpr auto right_b = [](int, int j, int k) { return Pair{k, j}; };

SeenIndices seen_of(int m, int n, int (*index)(int, int, int)) {
  SeenIndices seen{m, n, {0, 1, 2, 7, 8, 9}, {}};
  for (const int k : seen.steps)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) seen.values.push_back(index(i, j, k));
  return seen;
}

std::string formula_of(int (*index)(int, int, int)) {
  const auto f = fit_index(seen_of(48, 64, index), {2, 4, 8, 16, 32});
  return f ? f->text() : "";
}

}  // namespace

TEST_CASE("indices are written as sums of what i, j and k contribute") {
  CHECK(formula_of([](int i, int, int) { return i; }) == "i");
  CHECK(formula_of([](int, int, int k) { return k + 1; }) == "k + 1");
  CHECK(formula_of([](int, int, int) { return 0; }) == "0");
  CHECK(formula_of([](int i, int j, int) { return i / 16 * 16 + j % 16; }) ==
        "i / 16 * 16 + j % 16");
  CHECK(formula_of([](int i, int, int) { return 4 * (i / 8) + i % 8; }) == "4 * (i / 8) + i % 8");
  CHECK(formula_of([](int i, int, int) { return i / 32 * 32 + i % 32 / 8 + i % 8; }) ==
        "i / 32 * 32 + i % 32 / 8 + i % 8");
  CHECK(formula_of([](int i, int, int) { return 50 - i; }) == "-i + 50");
  CHECK(formula_of([](int i, int j, int k) { return i + 2 * j + k; }) == "i + 2 * j + k");
  CHECK(formula_of([](int i, int j, int) { return i ^ j; }).empty());
  CHECK(formula_of([](int i, int, int) { return i * i; }).empty());
}

TEST_CASE("what was not seen does not count") {
  SeenIndices seen = seen_of(48, 64, [](int i, int, int) { return i / 4; });
  for (std::size_t e = 5; e < seen.values.size(); e += 7) seen.values[e] = -1;
  const auto f = fit_index(seen, {2, 4, 8});
  REQUIRE(f);
  CHECK(f->text() == "i / 4");
}

TEST_CASE("a wrong index is named by its formula") {
  struct Expected {
    Kernel kernel;
    Tile tile;
    std::string factors;
  };
  const Expected list[] = {
      {product_of(
           [](int i, int j, int) {
             return Pair{i, j};
           },
           right_b),
       kNaive, "A[i][j] * B[k][j]"},
      {product_of(right_a,
                  [](int i, int, int k) {
                    return Pair{k, i};
                  }),
       kNaive, "A[i][k] * B[k][i]"},
      {product_of(right_a,
                  [](int i, int j, int k) {
                    return Pair{k, i / 16 * 16 + j % 16};
                  }),
       kTile, "A[i][k] * B[k][i / 16 * 16 + j % 16]"},
      {product_of(
           [](int i, int, int k) {
             return Pair{i / 4, k};
           },
           right_b),
       kTile, "A[i / 4][k] * B[k][j]"},
  };
  for (const Expected& e : list)
    for (const ElementType type : {ElementType::int32, ElementType::float32, ElementType::float64,
                                   ElementType::float16, ElementType::bfloat16}) {
      for (const Shape& s :
           {Shape{40, 40, 24}, Shape{33, 50, 17}, Shape{48, 32, 24}, Shape{22, 41, 10}}) {
        const Evidence seen = evidence(e.kernel, type, e.tile, s);
        const Diagnosis d = diagnose(seen);
        INFO(e.factors << ": " << d.id << ": " << d.headline);
        CHECK(d.id == "WRONG-INDEX");
        CHECK(d.headline.find(e.factors) != std::string::npos);
        CHECK(d.next_step.find('{') == std::string::npos);
      }
    }
}

TEST_CASE("rows that merely change places are no wrong index") {
  const Kernel turned = product_of([](int i, int, int k) { return Pair{i ^ 1, k}; }, right_b);
  CHECK(diagnose(evidence(turned, ElementType::float32, kTile, {48, 32, 24})).id == "TILE-MAP");
}
