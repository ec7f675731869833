// Each wrong formula, on every awkward shape on which it shows, must be named exactly; right ones
// must not be named.
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <sstream>

#include "common/catch2.hpp"
#include "grader/messages.hpp"
#include "grader/tests/diagnose_bench.hpp"

using namespace diagnose_bench;
using grader::Operation;
using grader::Verdict;

namespace {

const Tile kTile{16, 16, 8, 2, 4};
const Tile kNaive{16, 16, 1, 1, 1};

const std::vector<Shape> kShapes = {
    {1, 1, 1},
    {1, 129, 1},
    {129, 1, 7},
    {17, 33, 65},
    {33, 17, 5},
    {40, 40, 40},
    {48, 32, 24},
    {15, 17, 9, 1, 2, 3},
    {20, 20, 20, 4, 4, 4},
    {32, 64, 48, 8, 16, 32},
    {16, 16, 16},
    {67, 35, 50, 0, 0, 1},
};

bool is_wrong(const Evidence& e) {
  const auto differs = [&](int i, int j) {
    double sum = 0;
    for (int k = 0; k < e.run.a.cols; ++k) sum += e.run.a.at(i, k) * e.run.b.at(k, j);
    return e.run.c_after.at(i, j) != sum;
  };
  for (int i = 0; i < e.run.c_before.rows; ++i)
    for (int j = 0; j < e.run.c_before.cols; ++j)
      if (differs(i, j)) return true;
  return worst_finding(e.run.launches) != nullptr;
}

/// The kernel must be wrong on at least `failing` of the shapes and get one of `ids` on each of
/// them.
void must_be_named(const char* name, const std::set<std::string>& ids, const Kernel& kernel,
                   const Tile& tile = kTile, std::size_t failing = 3) {
  for (const ElementType type : {ElementType::int32, ElementType::float32, ElementType::float64,
                                 ElementType::float16, ElementType::bfloat16}) {
    std::size_t seen = 0, number = 0;
    for (const Shape& s : kShapes) {
      // The formulas know no types: every third shape is enough for the others.
      if (++number % 3 != 0 && type != ElementType::float32) continue;
      const Evidence e = evidence(kernel, type, tile, s);
      if (!is_wrong(e)) continue;
      ++seen;
      const Diagnosis d = diagnose(e);
      std::ostringstream text;
      text << name << " at " << s.m << "x" << s.n << "x" << s.k << " type "
           << static_cast<int>(type) << ": " << d.id << ": " << d.headline;
      INFO(text.str());
      CHECK(ids.count(d.id) == 1);
      CHECK_FALSE(d.headline.empty());
      CHECK(d.headline.find('{') == std::string::npos);
      CHECK_FALSE(d.next_step.empty());
    }
    INFO(name);
    if (type == ElementType::float32) CHECK(seen >= failing);
  }
}

template <typename Value>
Kernel each(Value value) {
  return [value](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) call.put(i, j, value(call, i, j));
  };
}

template <typename A, typename B>
Kernel product_of(A index_a, B index_b) {
  return each([=](Call& call, int i, int j) {
    double sum = 0;
    for (int k = 0; k < call.k; ++k)
      sum += call.a.read(index_a(call, i, k)) * call.b.read(index_b(call, k, j));
    return sum;
  });
}

template <typename Index>
Kernel stored_at(Index index) {
  return [=](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) call.c.write(index(call, i, j), call.element(i, j));
  };
}

template <typename Condition>
Kernel stored_if(Condition condition) {
  return [=](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j)
        if (condition(call, i, j)) call.put(i, j, call.element(i, j));
  };
}

template <typename Weight>
Kernel weighted(Weight weight) {
  return each([=](Call& call, int i, int j) {
    double sum = 0;
    for (int k = 0; k < call.k; ++k) sum += weight(call, k) * call.at_a(i, k) * call.at_b(k, j);
    return sum;
  });
}

constexpr auto right_a = [](Call& c, int i, int k) { return std::int64_t{i} * c.a.ld() + k; };
constexpr auto right_b = [](Call& c, int k, int j) { return std::int64_t{k} * c.b.ld() + j; };

const Kernel kRight = each([](Call& call, int i, int j) { return call.element(i, j); });

}  // namespace

TEST_CASE("a right result is none") {
  for (const Shape& s : kShapes)
    for (const ElementType type :
         {ElementType::int32, ElementType::float32, ElementType::float64}) {
      CHECK(diagnose(evidence(kRight, type, kTile, s)).id == "none");
      CHECK(diagnose(evidence(kRight, type, kTile, s)).verdict == Verdict::accepted);
    }
  CHECK(diagnose(evidence(kRight, ElementType::float32, kTile, {5, 4, 0})).id == "none");
}

TEST_CASE("operands read with wrong indices") {
  must_be_named("B[j*ldb+k]", {"B-TRANSPOSED"}, product_of(right_a, [](Call& c, int k, int j) {
                  return std::int64_t{j} * c.b.ld() + k;
                }));
  must_be_named("B[j*K+k]", {"B-TRANSPOSED"}, product_of(right_a, [](Call& c, int k, int j) {
                  return std::int64_t{j} * c.k + k;
                }));
  must_be_named(
      "A[k*lda+i]", {"A-TRANSPOSED"},
      product_of([](Call& c, int i, int k) { return std::int64_t{k} * c.a.ld() + i; }, right_b));
  must_be_named(
      "A[k*M+i]", {"A-TRANSPOSED"},
      product_of([](Call& c, int i, int k) { return std::int64_t{k} * c.m + i; }, right_b));
  must_be_named("B[k*K+j]", {"WRONG-LD"}, product_of(right_a, [](Call& c, int k, int j) {
                  return std::int64_t{k} * c.k + j;
                }));
  must_be_named(
      "A[i*N+k]", {"WRONG-LD"},
      product_of([](Call& c, int i, int k) { return std::int64_t{i} * c.n + k; }, right_b));
  must_be_named(
      "A[i*K+k], padded", {"WRONG-LD"},
      product_of([](Call& c, int i, int k) { return std::int64_t{i} * c.k + k; }, right_b));
  must_be_named("both with their widths", {"WRONG-LD"},
                product_of([](Call& c, int i, int k) { return std::int64_t{i} * c.k + k; },
                           [](Call& c, int k, int j) { return std::int64_t{k} * c.n + j; }));
}

TEST_CASE("both factors taken from one matrix") {
  const auto inside = [](const Memory& m, int rows, int cols, int i, int j) {
    return i < rows && j < cols ? m.read(std::int64_t{i} * m.ld() + j) : 0.0;
  };
  must_be_named("A for B", {"WRONG-MATRIX"}, each([=](Call& call, int i, int j) {
                  double sum = 0;
                  for (int k = 0; k < call.k; ++k)
                    sum += call.at_a(i, k) * inside(call.a, call.m, call.k, k, j);
                  return sum;
                }));
  must_be_named("B for A", {"WRONG-MATRIX"}, each([=](Call& call, int i, int j) {
                  double sum = 0;
                  for (int k = 0; k < call.k; ++k)
                    sum += inside(call.b, call.k, call.n, i, k) * call.at_b(k, j);
                  return sum;
                }));
}

TEST_CASE("C stored with wrong indices") {
  must_be_named("C[j*M+i]", {"C-TRANSPOSED"},
                stored_at([](Call& c, int i, int j) { return std::int64_t{j} * c.m + i; }));
  must_be_named("C[j*ldc+i]", {"C-TRANSPOSED"},
                stored_at([](Call& c, int i, int j) { return std::int64_t{j} * c.c.ld() + i; }));
  must_be_named("C[i*N+j], padded", {"WRONG-LD"},
                stored_at([](Call& c, int i, int j) { return std::int64_t{i} * c.n + j; }));
  must_be_named("C[i*K+j]", {"WRONG-LD"},
                stored_at([](Call& c, int i, int j) { return std::int64_t{i} * c.k + j; }));
}

TEST_CASE("extents exchanged") {
  const Kernel guard = [](Call& call) {
    for (int i = 0; i < 160; ++i)
      for (int j = 0; j < 160; ++j)
        if (i < call.n && j < call.m) {
          double sum = 0;
          for (int k = 0; k < call.k; ++k) sum += call.at_a(i, k) * call.at_b(k, j);
          if (j < call.n || j < call.c.ld()) call.put(i, j, sum);
        }
  };
  must_be_named("row < N && col < M", {"SWAPPED-EXTENTS"}, guard);
  must_be_named("k < N", {"SWAPPED-EXTENTS", "OOB"}, each([](Call& call, int i, int j) {
                  double sum = 0;
                  for (int k = 0; k < call.n; ++k) sum += call.at_a(i, k) * call.at_b(k, j);
                  return sum;
                }));
}

TEST_CASE("grids laid the wrong way") {
  // 32 x 8 threads; the launch is part of the evidence.
  const auto judged = [](bool kernel_has_x_along_rows, bool grid_has) {
    const auto call = [=](const Matrix& a, const Matrix& b, const Matrix& c) {
      const auto blocks = [](int extent, int tile) { return (extent + tile - 1) / tile; };
      const int x = blocks(grid_has ? a.rows : b.cols, 32),
                y = blocks(grid_has ? b.cols : a.rows, 8);
      Run r =
          run(stored_if([=](Call&, int i, int j) {
                return kernel_has_x_along_rows ? i < 32 * x && j < 8 * y : j < 32 * x && i < 8 * y;
              }),
              a, b, c);
      r.launches[0].grid = {static_cast<unsigned>(x), static_cast<unsigned>(y), 1};
      r.launches[0].block = {32, 8, 1};
      return r;
    };
    Evidence e = evidence(kRight, ElementType::float32, kNaive, {17, 33, 65});
    e.run = call(e.run.a, e.run.b, e.run.c_before);
    e.run_probe = call;
    return diagnose(e);
  };
  CHECK(judged(false, false).id == "none");
  CHECK(judged(true, true).id == "none");
  CHECK(judged(false, true).id == "SWAPPED-EXTENTS");
  CHECK(judged(false, true).headline.find("the grid covers") != std::string::npos);
  CHECK(judged(true, false).id == "SWAPPED-EXTENTS");
  // No more than C has.
  CHECK(
      judged(true, false).headline ==
      "the kernel counts rows with x, the grid counts columns with x: only 17 rows and 24 columns "
      "of C (17 x 33) are reached");
}

TEST_CASE("never written") {
  must_be_named("nothing", {"UNWRITTEN"}, [](Call&) {});
  must_be_named("M / 16 tiles", {"UNWRITTEN"},
                stored_if([](Call& c, int i, int) { return i < c.m / 16 * 16; }));
  must_be_named("N / 16 tiles", {"UNWRITTEN"},
                stored_if([](Call& c, int, int j) { return j < c.n / 16 * 16; }));
  must_be_named("both", {"UNWRITTEN"}, stored_if([](Call& c, int i, int j) {
                  return i < c.m / 16 * 16 && j < c.n / 16 * 16;
                }));
  must_be_named("whole thread tiles only", {"UNWRITTEN"},
                stored_if([](Call& c, int i, int) { return i / 2 * 2 + 2 <= c.m; }));
  must_be_named("last column of each thread's tile", {"UNWRITTEN"},
                stored_if([](Call&, int, int j) { return j % 4 != 3; }));
  must_be_named("one element", {"UNWRITTEN"},
                stored_if([](Call& c, int i, int j) { return i != c.m / 2 || j != 0; }));
  must_be_named("warp 0 of 8 (16 x 16 threads)", {"WARP-PART"},
                stored_if([](Call&, int i, int) { return i % 16 < 2; }), kNaive);

  const auto first = [](const Kernel& kernel, const Shape& s) {
    return diagnose(evidence(kernel, ElementType::float32, kTile, s)).headline;
  };
  CHECK(first([](Call&) {}, {5, 5, 5}) == "C was never written");
  CHECK(first(stored_if([](Call& c, int i, int) { return i < c.m / 16 * 16; }), {19, 40, 7}) ==
        "C[16..18][*] was never written: the last, partial tile row");
  const Kernel k0 = [](Call& call) {
    if (call.k > 0) kRight(call);
  };
  const Diagnosis d = diagnose(evidence(k0, ElementType::float32, kTile, {5, 7, 0}));
  CHECK(d.id == "UNWRITTEN");
  CHECK(d.headline.find("K = 0") != std::string::npos);
}

TEST_CASE("simple values") {
  must_be_named("zeros", {"ALL-ZERO"}, each([](Call&, int, int) { return 0.0; }));
  must_be_named("C +=", {"ACCUMULATES"},
                each([](Call& c, int i, int j) { return c.old(i, j) + c.element(i, j); }));
}

TEST_CASE("steps of the sum") {
  must_be_named("k < K - 1", {"K-MISSING"}, weighted([](Call& c, int k) { return k < c.k - 1; }),
                kNaive);
  must_be_named("k = 1 ...", {"K-MISSING"}, weighted([](Call&, int k) { return k > 0; }), kNaive);
  must_be_named("k += 2", {"K-MISSING"}, weighted([](Call&, int k) { return k % 2 == 0; }), kNaive);
  must_be_named("k < K - 1, tiled", {"K-MISSING"},
                weighted([](Call& c, int k) { return k < c.k - 1; }));
  must_be_named("last of each tile", {"K-MISSING"},
                weighted([](Call&, int k) { return k % 8 != 7; }));
  must_be_named("=", {"K-ONLY-LAST"}, weighted([](Call& c, int k) { return k == c.k - 1; }),
                kNaive);
  must_be_named("= per tile", {"K-ONLY-LAST"},
                weighted([](Call& c, int k) { return k / 8 == (c.k - 1) / 8; }));
  must_be_named("K / BK tiles", {"K-TILE-MISSING"},
                weighted([](Call& c, int k) { return k < c.k / 8 * 8; }));
  must_be_named("first tile missing", {"K-TILE-MISSING"},
                weighted([](Call&, int k) { return k >= 8; }));
  must_be_named("tile 0 always", {"K-TILE-REPEATED"},
                weighted([](Call& c, int k) { return k < 8 ? (c.k + 7) / 8 : 0; }), kTile, 3);
  must_be_named("one tile twice", {"K-TILE-REPEATED"},
                weighted([](Call&, int k) { return k / 8 == 1 ? 2 : 1; }));
  const Diagnosis one = diagnose(evidence(weighted([](Call& c, int k) { return k == 0 ? c.k : 0; }),
                                          ElementType::float32, kNaive, {17, 33, 24}));
  CHECK(one.headline == "k = 0 is added 24 times, and no other k");
  CHECK(one.next_step.find("A[i][0] by B[0][j]") != std::string::npos);
  must_be_named("leftovers instead of zero fill", {"STALE-TILE"}, weighted([](Call& c, int k) {
                  const int rest = c.k % 8;
                  return rest != 0 && k >= c.k - rest - 8 + rest && k < c.k - rest ? 2 : 1;
                }));
  must_be_named("last k again", {"K-TILE-EXTRA"},
                weighted([](Call& c, int k) { return k == c.k - 1 ? 2 : 1; }), kNaive);
}

TEST_CASE("tiles of operands") {
  must_be_named("A's tile does not move", {"K-TILE-REPEATED"},
                product_of([](Call& c, int i, int k) { return std::int64_t{i} * c.a.ld() + k % 8; },
                           right_b));
  must_be_named("B's tile does not move", {"K-TILE-REPEATED"},
                product_of(right_a, [](Call& c, int k, int j) {
                  return std::int64_t{k % 8} * c.b.ld() + j;
                }));
  must_be_named("B's tile is one round late", {"STALE-TILE"},
                product_of(right_a, [](Call& c, int k, int j) {
                  return std::int64_t{k < 8 ? k : k - 8} * c.b.ld() + j;
                }));
  must_be_named("both one round late", {"STALE-TILE"}, weighted([](Call& c, int k) {
                  const int last = (c.k - 1) / 8;
                  return last == 0                                      ? 1
                         : k / 8 == 0                                   ? 2
                         : k / 8 == last                                ? 0
                         : k / 8 == last - 1 && k % 8 >= c.k - last * 8 ? 1
                                                                        : 1;
                }),
                kTile, 0);
  const Tile square{16, 16, 16, 1, 1};
  must_be_named("Bs[tx][k]", {"TILE-MAP"}, each([](Call& c, int i, int j) {
                  double sum = 0;
                  for (int k = 0; k < (c.k + 15) / 16 * 16; ++k) {
                    const int row = k / 16 * 16 + j % 16, col = j / 16 * 16 + k % 16;
                    if (k < c.k && row < c.k && col < c.n) sum += c.at_a(i, k) * c.at_b(row, col);
                  }
                  return sum;
                }),
                square);
  must_be_named("both", {"TILE-MAP"}, each([](Call& c, int i, int j) {
                  double sum = 0;
                  for (int k = 0; k < (c.k + 15) / 16 * 16; ++k) {
                    const int row_a = i / 16 * 16 + k % 16, col_a = k / 16 * 16 + i % 16;
                    const int row_b = k / 16 * 16 + j % 16, col_b = j / 16 * 16 + k % 16;
                    if (row_a < c.m && col_a < c.k && row_b < c.k && col_b < c.n)
                      sum += c.at_a(row_a, col_a) * c.at_b(row_b, col_b);
                  }
                  return sum;
                }),
                square);
  must_be_named("As[k][ty]", {"TILE-MAP"}, each([](Call& c, int i, int j) {
                  double sum = 0;
                  for (int k = 0; k < c.k; ++k) {
                    const int row = i / 16 * 16 + k % 16, col = k / 16 * 16 + i % 16;
                    if (row < c.m && col < c.k) sum += c.at_a(row, col) * c.at_b(k, j);
                  }
                  return sum;
                }),
                square);
}

TEST_CASE("a rung that is only asked for K = 1 is not probed with more") {
  const Kernel outer = [](Call& call) {
    for (int i = 0; i < std::min(16, call.m); ++i)
      for (int j = 0; j < std::min(16, call.n); ++j)
        call.put(i, j, call.at_a(i, 0) * call.at_b(0, j));
  };
  const Diagnosis d = diagnose(evidence(outer, ElementType::float32, kNaive, {17, 33, 1}));
  CHECK(d.id == "UNWRITTEN");
  CHECK(d.headline.find("C[16][*] and C[*][16..32]") == 0);
}

TEST_CASE("places and accumulators") {
  const Tile even{16, 16, 8, 4, 4};
  const auto moved = [](auto place) {
    return each([=](Call& c, int i, int j) {
      int row = i, col = j;
      place(row, col);
      return row < c.m && col < c.n ? c.element(row, col) : c.element(i, j);
    });
  };
  const std::vector<Shape> aligned = {{32, 48, 24}, {48, 32, 24}, {16, 16, 16}};
  const auto check = [&](const char* name, const Kernel& kernel, const std::string& id,
                         const std::string& part) {
    for (const Shape& s : aligned) {
      const Diagnosis d = diagnose(evidence(kernel, ElementType::float32, even, s));
      INFO(name << ": " << d.id << ": " << d.headline);
      CHECK(d.id == id);
      CHECK(d.headline.find(part) != std::string::npos);
    }
  };
  check("4 x 4 exchanged", moved([](int& i, int& j) {
          const int r = i, q = j;
          i = r / 4 * 4 + q % 4;
          j = q / 4 * 4 + r % 4;
        }),
        "TILE-MAP", "inside each 4 x 4 tile rows and columns");
  check("16 x 16 exchanged", moved([](int& i, int& j) {
          const int r = i, q = j;
          i = r / 16 * 16 + q % 16;
          j = q / 16 * 16 + r % 16;
        }),
        "TILE-MAP", "inside each 16 x 16 tile rows and columns");
  check("rows of a thread's tile reversed", moved([](int& i, int&) { i = i / 4 * 4 + 3 - i % 4; }),
        "TILE-MAP", "each group of 4 neighbouring rows of C is in reverse order");
  const auto of_wide = [&](const Kernel& kernel) {
    return diagnose(evidence(kernel, ElementType::float32, even, {16, 112, 24}));
  };
  const Diagnosis exchanged = of_wide(moved([](int&, int& j) {
    j = j < 16 ? j + 80 : j >= 80 && j < 96 ? j - 80 : j;
  }));
  CHECK(exchanged.headline == "whole 16 x 16 tiles of C are in the wrong places");
  const Diagnosis repeated = of_wide(moved([](int&, int& j) { j = j >= 80 ? j - 80 : j; }));
  CHECK(repeated.id == "TILE-MAP");
  CHECK(repeated.headline.find("whole 16 x 16 tiles of C hold what belongs to others") == 0);
  CHECK(repeated.next_step.find("C[0][80] holds what belongs to C[0][0].") == 0);
  const auto summed = [](auto before) {
    return each([=](Call& c, int i, int j) {
      double sum = 0;
      before(c, i, j, sum);
      return sum;
    });
  };
  check("acc not cleared per element", summed([](Call& c, int i, int j, double& sum) {
          for (int q = j / 4 * 4; q <= j; ++q) sum += c.element(i, q);
        }),
        "ACC-INIT", "before it");
  const Kernel tiles = summed([](Call& c, int i, int j, double& sum) {
    for (int q = j % 16; q <= j; q += 16) sum += c.element(i, q);
  });
  const Diagnosis d = diagnose(evidence(tiles, ElementType::float64, even, {32, 48, 24}));
  CHECK(d.id == "ACC-INIT");
}

TEST_CASE("inputs modified, rows overrun, padding read") {
  const Kernel writes_a = [](Call& call) {
    kRight(call);
    if (call.k > 5) call.a.write(5, 1);
  };
  const Diagnosis d = diagnose(evidence(writes_a, ElementType::float32, kTile, {17, 33, 65}));
  CHECK(d.id == "INPUT-MODIFIED");
  CHECK(d.headline == "your kernel wrote to A[0][5]");

  const Kernel overrun = [](Call& call) {
    kRight(call);
    for (int i = 0; i + 1 < call.m; ++i)
      if (call.c.ld() > call.n) call.put(i, call.n, 0);
  };
  const Diagnosis o =
      diagnose(evidence(overrun, ElementType::float32, kTile, {17, 33, 65, 0, 0, 2}));
  CHECK(o.id == "OOB");
  CHECK(o.headline.find("columns 33..34") != std::string::npos);

  const Kernel padding = each([](Call& call, int i, int j) {
    return call.element(i, j) +
           (call.a.ld() > call.k && i + 1 < call.m ? 0 * call.at_a(i, call.k) : 0);
  });
  const Diagnosis p =
      diagnose(evidence(padding, ElementType::float32, kTile, {17, 33, 65, 2, 0, 0}));
  CHECK(p.id == "OOB");
  CHECK(p.headline.find("of A are read") != std::string::npos);
}

TEST_CASE("precision") {
  const auto in_float = each([](Call& call, int i, int j) {
    float sum = 0;
    for (int k = 0; k < call.k; ++k)
      sum += static_cast<float>(call.at_a(i, k)) * static_cast<float>(call.at_b(k, j));
    return static_cast<double>(sum);
  });
  const auto rounded = each([](Call& call, int i, int j) {
    float sum = 0;
    for (int k = 0; k < call.k; ++k)
      sum += static_cast<float>(inputs::round_to_11_bits(call.at_a(i, k))) *
             static_cast<float>(inputs::round_to_11_bits(call.at_b(k, j)));
    return static_cast<double>(sum);
  });
  const auto half_sums = each([](Call& call, int i, int j) {
    double sum = 0;
    for (int k = 0; k < call.k; ++k)
      sum = inputs::round_to_11_bits(sum + call.at_a(i, k) * call.at_b(k, j));
    return sum;
  });
  for (const Shape& s : {Shape{17, 33, 65}, Shape{40, 40, 40, 1, 2, 3}}) {
    const auto judged = [&](const Kernel& kernel, ElementType type) {
      return diagnose(evidence(kernel, type, kTile, s, false));
    };
    CHECK(judged(in_float, ElementType::float32).id == "none");
    const Diagnosis d = judged(in_float, ElementType::float64);
    CHECK(d.id == "LOW-PRECISION");
    CHECK(d.verdict == Verdict::precision);
    CHECK(d.headline.find("float") != std::string::npos);
    const Diagnosis i = judged(in_float, ElementType::int32);
    CHECK(i.id == "LOW-PRECISION");
    const Diagnosis r = judged(rounded, ElementType::float32);
    CHECK(r.id == "LOW-PRECISION");
    CHECK(r.headline.find("11 bits") != std::string::npos);
    const Diagnosis h = judged(half_sums, ElementType::float32);
    CHECK(h.id == "LOW-PRECISION");
    CHECK(h.headline.find("half") != std::string::npos);
  }
  // Sums beyond 2048 are not exact in half, not even of integers.
  const Diagnosis large =
      diagnose(evidence(half_sums, ElementType::float32, kTile, {30, 30, 1500}));
  CHECK(large.id == "LOW-PRECISION");
}

/// C in float, of factors that went through `of_a` and `of_b`.
template <typename OfA, typename OfB>
Kernel with_factors(OfA of_a, OfB of_b) {
  return each([=](Call& call, int i, int j) {
    double sum = 0;
    for (int k = 0; k < call.k; ++k) sum += of_a(call.at_a(i, k)) * of_b(call.at_b(k, j));
    return static_cast<double>(static_cast<float>(sum));
  });
}

TEST_CASE("a number that is changed on its way to the product is shown with K = 1") {
  const auto whole = [](double x) { return x; };
  const auto cut = [](double x) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x)) & 0xffffe000u;
    return static_cast<double>(std::bit_cast<float>(bits));
  };
  const auto judged = [](const Kernel& kernel, bool integers) {
    return diagnose(evidence(kernel, ElementType::float32, kTile, {17, 33, 65}, integers));
  };
  const Diagnosis both = judged(with_factors(cut, cut), false);
  CHECK(both.id == "LOW-PRECISION");
  CHECK(both.headline.find("only 11 of the 24 bits of the numbers of A and B count") !=
        std::string::npos);
  CHECK(judged(with_factors(whole, cut), false).headline.find("numbers of B count") !=
        std::string::npos);

  // Parts that tensor cores multiply have so many bits.
  Evidence parts =
      evidence(with_factors(cut, whole), ElementType::float32, kTile, {17, 33, 65}, false);
  parts.run.launches.emplace_back();
  parts.run.launches.back().total.tensor_ops["tf32"] = 1;
  CHECK(diagnose(parts).headline.find("small part of A does not count") != std::string::npos);

  const auto bits_as_number = [](double x) {
    return x - static_cast<double>(std::bit_cast<std::uint32_t>(static_cast<float>(x)));
  };
  const Diagnosis a = judged(with_factors(bits_as_number, whole), true);
  CHECK(a.id == "WRONG-VALUE");
  CHECK(a.headline.find("are not those of A,") != std::string::npos);
  CHECK(judged(with_factors(bits_as_number, bits_as_number), true)
            .headline.find("are not those of A and B,") != std::string::npos);
  const auto three_times = [](double x) { return 3 * x; };
  CHECK(judged(with_factors(three_times, three_times), true).headline ==
        "every product is added 9 times, or each of its two factors counts 3 times");
}

TEST_CASE("FP32 made of two parts: the part that is missing is named, or the sum that is cut off") {
  const auto whole = [](double x) { return x; };
  const auto big = [](double x) { return inputs::round_to_11_bits(x); };
  const auto subtracted = [&](double x) { return 2 * big(x) - x; };
  const auto judged = [](const Kernel& kernel) {
    return diagnose(evidence(kernel, ElementType::float32, kTile, {17, 33, 65}, false));
  };
  CHECK(judged(with_factors(whole, whole)).id == "none");
  const Diagnosis a = judged(with_factors(big, whole)), b = judged(with_factors(whole, big));
  CHECK((a.id == "PART-LOST" && b.id == "PART-LOST"));
  CHECK(a.verdict == Verdict::precision);
  CHECK(a.headline.find("small part of A does not count") != std::string::npos);
  CHECK(b.headline.find("small part of B does not count") != std::string::npos);
  CHECK(judged(with_factors(big, big)).id == "LOW-PRECISION");
  for (const Diagnosis& d :
       {judged(with_factors(subtracted, whole)), judged(with_factors(whole, subtracted)),
        judged(with_factors(subtracted, subtracted))}) {
    CHECK(d.id == "PART-LOST");
    CHECK(d.headline.find("subtracted") != std::string::npos);
  }
  const auto bits_left = [](double x) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x)) + 0x1000u;
    const float all = std::bit_cast<float>(bits), read = std::bit_cast<float>(bits & 0xffffe000u);
    const auto small = std::bit_cast<std::uint32_t>(static_cast<float>(x) - all) & 0xffffe000u;
    return static_cast<double>(read) + static_cast<double>(std::bit_cast<float>(small));
  };
  for (const Diagnosis& d :
       {judged(with_factors(bits_left, bits_left)), judged(with_factors(bits_left, whole))}) {
    CHECK(d.id == "PART-LOST");
    CHECK(d.headline.find("bits that a tensor core does not read") != std::string::npos);
  }
  // Every sum too small by a few hundred units, and the same as much too large.
  const auto off = [](double by) {
    return each([by](Call& call, int i, int j) {
      return static_cast<double>(static_cast<float>(call.element(i, j) * (1 + by)));
    });
  };
  CHECK(judged(off(0)).id == "none");
  Evidence long_sum = evidence(off(-400 * 0x1p-24), ElementType::float32, kTile, {17, 33, 769});
  for (Matrix* const m : {&long_sum.run.a, &long_sum.run.b})
    for (int i = 0; i < m->rows; ++i)
      for (int j = 0; j < m->cols; ++j) m->set(i, j, std::fabs(m->at(i, j)) + 1);
  long_sum.run.a_after = long_sum.run.b_after = std::nullopt;  // taken as unchanged
  long_sum.small_integers = false;
  long_sum.integers_passed = true;
  long_sum.run_probe = nullptr;
  for (const double by : {-400 * 0x1p-24, 400 * 0x1p-24, -0x1p-11}) {
    for (int i = 0; i < 17; ++i)
      for (int j = 0; j < 33; ++j) {
        double sum = 0;
        for (int k = 0; k < 769; ++k) sum += long_sum.run.a.at(i, k) * long_sum.run.b.at(k, j);
        long_sum.run.c_after.set(i, j, static_cast<float>(sum * (1 + by)));
      }
    CHECK(diagnose(long_sum).id == (by == -400 * 0x1p-24 ? "SUMS-CUT-OFF" : "LOW-PRECISION"));
  }
}

TEST_CASE("guards removed are out of bounds, and nothing more is claimed") {
  const Kernel unguarded = [](Call& call) {
    for (int i = 0; i < (call.m + 15) / 16 * 16; ++i)
      for (int j = 0; j < (call.n + 15) / 16 * 16; ++j) call.put(i, j, call.element(i, j));
  };
  must_be_named("no guard", {"OOB"}, unguarded);
  const Kernel row_le = [](Call& call) {
    for (int i = 0; i <= call.m; ++i)
      for (int j = 0; j < call.n; ++j) call.put(i, j, call.element(i, j));
  };
  must_be_named("row <= M", {"OOB"}, row_le);
}

TEST_CASE("noise is not explained away") {
  const Kernel noise = each([](Call& call, int i, int j) {
    return call.element(i, j) + ((i * 7 + j * 3) % 5 == 0 ? 1 : 0);
  });
  must_be_named("noise", {"UNEXPLAINED"}, noise);
  // A map is drawn where it says something: some of it is right.
  const auto has_map = [](const Kernel& kernel) {
    const Diagnosis d = diagnose(evidence(kernel, ElementType::float32, kTile, {100, 100, 8}));
    return std::any_of(d.details.begin(), d.details.end(), [](const std::string& line) {
      return line.find("x.") != std::string::npos;
    });
  };
  CHECK_FALSE(has_map(noise));
  CHECK(has_map(each([](Call& call, int i, int j) {
    return call.element(i, j) + (i < 32 && j < 32 && (i * 7 + j * 3) % 5 == 0 ? 1 : 0);
  })));
}

TEST_CASE("small results are printed whole") {
  const Kernel wrong = each(
      [](Call& call, int i, int j) { return call.element(i, j) + (i == 1 && j == 1 ? 1 : 0); });
  const Diagnosis d = diagnose(evidence(wrong, ElementType::int32, kTile, {3, 3, 3}));
  bool star = false;
  for (const std::string& line : d.details) star = star || line.find('*') != std::string::npos;
  CHECK(star);
}

TEST_CASE("a result that changes from run to run is a race") {
  Evidence e = evidence(kRight, ElementType::float32, kTile, {17, 33, 65});
  e.repeat = e.run;
  CHECK(diagnose(e).id == "none");
  e.repeat->c_after.set(2, 3, 1e6);
  CHECK(diagnose(e).id == "RACE");
}

TEST_CASE("copies") {
  const auto copy = [](auto source) {
    return [source](Call& call) {
      for (int i = 0; i < call.m; ++i)
        for (int k = 0; k < call.k; ++k) {
          const auto [row, col] = source(call, i, k);
          call.put(i, k, row < call.m && col < call.k ? call.at_a(row, col) : 0);
        }
    };
  };
  const auto named = [&](const Kernel& kernel, const Shape& s) {
    Evidence e = evidence(kernel, ElementType::float32, {16, 16, 16, 1, 1}, s);
    e.operation = Operation::copy_a;
    const Matrix c = with_poison(Matrix(ElementType::float32, s.m, s.k, s.k + s.pad_c), true);
    e.run = run(kernel, e.run.a, e.run.b, c);
    return diagnose(e).id;
  };
  for (const Shape& s : {Shape{17, 33, 65}, Shape{40, 1, 24, 1, 2, 3}}) {
    CHECK(named(copy([](Call&, int i, int k) { return std::pair{i, k}; }), s) == "none");
    CHECK(named(copy([](Call&, int i, int k) {
                  return std::pair{i / 16 * 16 + k % 16, k / 16 * 16 + i % 16};
                }),
                s) == "TILE-MAP");
    CHECK(named([](Call&) {}, s) == "UNWRITTEN");
    CHECK(named(copy([](Call&, int, int) { return std::pair{1 << 20, 0}; }), s) == "ALL-ZERO");
  }
}
