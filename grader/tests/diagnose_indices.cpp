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

TEST_CASE("both operands may be read with exchanged indices") {
  const Kernel both = product_of(
      [](int i, int, int k) {
        return Pair{k, i};
      },
      [](int, int j, int k) {
        return Pair{j, k};
      });
  for (const Shape& s : {Shape{2, 3, 4}, Shape{40, 30, 20, 1, 2, 3}}) {
    const Diagnosis d = diagnose(evidence(both, ElementType::float32, kNaive, s));
    CHECK(d.id == "WRONG-INDEX");
    CHECK(d.headline.find("A[k][i] * B[j][k]") != std::string::npos);
  }
}

TEST_CASE("an operand that is a step ahead, or behind") {
  const auto shifted = [](bool of_a, int ahead, bool again) {
    return Kernel([=](Call& call) {
      for (int i = 0; i < call.m; ++i)
        for (int j = 0; j < call.n; ++j) {
          double sum = 0;
          for (int k = 0; k < call.k; ++k) {
            const int other = again ? std::clamp(k + ahead, 0, call.k - 1) : k + ahead;
            if (other < 0 || other >= call.k) continue;
            sum += call.at_a(i, of_a ? other : k) * call.at_b(of_a ? k : other, j);
          }
          call.put(i, j, sum);
        }
    });
  };
  const auto headline = [](const Kernel& kernel) {
    const Diagnosis d = diagnose(evidence(kernel, ElementType::float32, kTile, {33, 50, 17}));
    CHECK(d.id == "WRONG-INDEX");
    return d.headline;
  };
  CHECK(headline(shifted(true, 1, true)) ==
        "A is one step ahead of B: step k multiplies A[i][k + 1] by B[k][j]");
  CHECK(headline(shifted(false, 1, true)) ==
        "B is one step ahead of A: step k multiplies A[i][k] by B[k + 1][j]");
  CHECK(headline(shifted(true, -1, false)) ==
        "A is one step behind B: step k multiplies A[i][k - 1] by B[k][j]");
}

TEST_CASE("a block's own tile, but in a matrix behind C, is no missing guard") {
  const Kernel behind = [](Call& call) {
    const int across = (call.n + kTile.bn - 1) / kTile.bn;
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) {
        const int tile = i / kTile.bm * across + j / kTile.bn;
        call.c.block = {static_cast<unsigned>(tile), 0, 0};
        call.put(tile * call.m + i, j, call.element(i, j));
      }
  };
  const Diagnosis d = diagnose(evidence(behind, ElementType::float32, kTile, {70, 90, 20}));
  CHECK(d.id == "OOB");
  CHECK(d.headline.find("1 x 70 rows below C[0][") != std::string::npos);
  CHECK(d.next_step.find("so no guard is missing") != std::string::npos);
}

TEST_CASE("blocks that begin too far apart are seen where they are narrower than the lab's") {
  static const int width = kTile.bn / 2;
  for (const bool half : {true, false}) {  // otherwise half of a block's columns are forgotten
    const Kernel apart = [half](Call& call) {
      for (int i = 0; i < call.m; ++i)
        for (int j = 0; j < call.n; ++j)
          if (j % kTile.bn < width) call.put(i, j, call.element(i, j));
      call.grid.x = static_cast<unsigned>(tiles_of(call.n, half ? width : kTile.bn));
    };
    const Diagnosis d = diagnose(evidence(apart, ElementType::float64, kTile, {70, 90, 20}));
    CHECK(d.id == "UNWRITTEN");
    CHECK((d.next_step.find("what is blockIdx.x multiplied by") != std::string::npos) == half);
  }
}
