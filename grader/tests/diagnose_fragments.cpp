// Wrong fragment layouts and swizzles: named on every shape on which they show.
#include <algorithm>
#include <sstream>
#include <vector>

#include "common/catch2.hpp"
#include "grader/diagnose/case.hpp"
#include "grader/tests/diagnose_bench.hpp"

using namespace diagnose_bench;

namespace {

const Tile kTile{32, 32, 16, 0, 0, 16, 16};
const std::vector<Shape> kShapes = {
    {32, 64, 48}, {17, 33, 65}, {40, 40, 40, 8, 8, 8}, {67, 35, 50}};

struct TensorCores {
  TensorCores() { tensor_cores = true; }
  ~TensorCores() { tensor_cores = false; }
};

double a_at(const Call& call, int i, int k) {
  return i < call.m && k < call.k ? call.at_a(i, k) : 0;
}
double b_at(const Call& call, int k, int j) {
  return k < call.k && j < call.n ? call.at_b(k, j) : 0;
}

/// Tiles of `depth` k, filled up with zeros; `a` and `b` map (row, column) to what is really taken.
template <typename A, typename B>
Kernel multiplied(A a, B b, int depth = 16) {
  return [=](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) {
        double sum = 0;
        for (int k = 0; k < (call.k + depth - 1) / depth * depth; ++k) {
          const auto [ai, ak] = a(i, k);
          const auto [bk, bj] = b(k, j);
          sum += a_at(call, ai, ak) * b_at(call, bk, bj);
        }
        call.put(i, j, sum);
      }
  };
}

const auto same = [](int row, int col) { return std::pair{row, col}; };

void must_be(const char* id, const std::string& words, const Kernel& kernel,
             const std::vector<ElementType>& types = {ElementType::float16, ElementType::bfloat16,
                                                      ElementType::float32, ElementType::float64}) {
  for (const ElementType type : types)
    for (const Shape& s : kShapes) {
      const Diagnosis d = diagnose(evidence(kernel, type, kTile, s));
      std::ostringstream text;
      text << s.m << "x" << s.n << "x" << s.k << " type " << static_cast<int>(type) << ": " << d.id
           << ": " << d.headline;
      INFO(text.str());
      CHECK(d.id == id);
      CHECK(d.headline.find(words) != std::string::npos);
      CHECK(d.headline.find('{') == std::string::npos);
      CHECK_FALSE(d.next_step.empty());
    }
}

}  // namespace

TEST_CASE("fragments whose registers are exchanged") {
  const TensorCores on;
  must_be("FRAGMENT-MAP", "registers 1 and 2",
          multiplied(
              [](int i, int k) {
                const bool other = (i % 16 >= 8) != (k % 16 >= 8);
                return other ? std::pair{i ^ 8, k ^ 8} : std::pair{i, k};
              },
              same));
  must_be("FRAGMENT-MAP", "rows and columns of each 8 x 8 fragment of B",
          multiplied(same, [](int k, int j) {
            return std::pair{k / 8 * 8 + j % 8, j / 8 * 8 + k % 8};
          }));
  const auto turned = [](ElementType type, bool by_ldmatrix) {
    Evidence e = evidence(multiplied(same,
                                     [](int k, int j) {
                                       return std::pair{k / 8 * 8 + j % 8, j / 8 * 8 + k % 8};
                                     }),
                          type, kTile, kShapes[0]);
    const auto count = [by_ldmatrix](Run r) {
      r.launches[0].total.matrix_load.requests = by_ldmatrix ? 64 : 0;
      return r;
    };
    e.run = count(e.run);
    e.run_probe = [count, probe = e.run_probe](const Matrix& a, const Matrix& b, const Matrix& c) {
      return count(*probe(a, b, c));
    };
    return diagnose(e).next_step;
  };
  const std::string asks = "With ldmatrix: is B loaded with .trans (ldmatrix_transposed)";
  CHECK(turned(ElementType::float16, true).find(asks) != std::string::npos);
  // .trans moves 16 bits at a time, and WMMA is told a layout.
  for (const std::string& text :
       {turned(ElementType::float32, true), turned(ElementType::float16, false)})
    CHECK(text.find("(row_major or col_major)") != std::string::npos);
  must_be("FRAGMENT-MAP", "k = 0..7 and 8..15 of B against A", multiplied(same, [](int k, int j) {
            return std::pair{k ^ 8, j};
          }));
  must_be("FRAGMENT-MAP", "rows 0..7 and 8..15 of each fragment of A, or of C, are swapped",
          [](Call& call) {
            for (int i = 0; i < call.m; ++i)
              for (int j = 0; j < call.n; ++j)
                if ((i ^ 8) < call.m) call.put(i ^ 8, j, call.element(i, j));
          });
  must_be("FRAGMENT-MAP", "lane % 4", [](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) {
        const int to = j / 8 * 8 + j % 8 / 2 + j % 2;
        if (to < call.n) call.put(i, to, call.element(i, j));
      }
  });
}

TEST_CASE("half of a fragment is there twice") {
  const TensorCores on;
  must_be("FRAGMENT-MAP", "rows 8..15 of each fragment of A hold what belongs to rows 0..7",
          multiplied(
              [](int i, int k) {
                return std::pair{i / 16 * 16 + i % 8, k};
              },
              same));
  must_be("FRAGMENT-MAP", "k 8..15 of each fragment of B hold what belongs to k 0..7",
          multiplied(same, [](int k, int j) {
            return std::pair{k / 16 * 16 + k % 8, j};
          }));
}

TEST_CASE("the same without tensor cores is about tiles") {
  const Kernel transposed = multiplied(same, [](int k, int j) {
    return std::pair{k / 8 * 8 + j % 8, j / 8 * 8 + k % 8};
  });
  CHECK(diagnose(evidence(transposed, ElementType::float32, kTile, {32, 64, 48})).id == "TILE-MAP");
}

TEST_CASE("a swizzle on one side only") {
  must_be("SWIZZLE-MISMATCH", "columns of B's tile", multiplied(same, [](int k, int j) {
            return std::pair{k, j ^ (k % 8 * 4)};
          }));
  must_be("SWIZZLE-MISMATCH", "columns of A's tile",
          multiplied(
              [](int i, int k) {
                return std::pair{i ^ (k % 4 * 8), k};
              },
              same));
  must_be("SWIZZLE-MISMATCH", "columns of A's tile",
          multiplied(
              [](int i, int k) {
                return std::pair{i, k ^ (i / 2 % 2 * 8)};
              },
              same));
}

TEST_CASE("a swizzle of rows of 128 bytes, deeper than the lab's tile") {
  const auto swizzled = [](int depth, int unit) {
    return multiplied([=](int i, int k) { return std::pair{i, k ^ (i % 8 * unit)}; }, same, depth);
  };
  must_be("SWIZZLE-MISMATCH", "columns of A's tile", swizzled(64, 8), {ElementType::float16});
  must_be("SWIZZLE-MISMATCH", "columns of A's tile", swizzled(32, 4), {ElementType::float32});
}

TEST_CASE("pieces in reverse order") {
  const auto reversed = [](int at, int count) {
    return at / count * count + count - 1 - at % count;
  };
  for (const int count : {2, 4, 8}) {
    const std::string each = "every " + std::to_string(count) + " neighbours";
    must_be("TILE-MAP", each + " in a row of A (or a column of B)",
            multiplied(
                [=](int i, int k) {
                  return std::pair{i, reversed(k, count)};
                },
                same));
  }
}

namespace {

/// Each element holds the sums of those that `before` visits for it, itself included.
template <typename Before>
Kernel summed(Before before) {
  return [=](Call& call) {
    std::vector<double> product;  // each of them once: up to eight are visited for one
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) product.push_back(call.element(i, j));
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) {
        double sum = 0;
        before(i, j, [&](int row, int col) {
          if (row < call.m && col < call.n)
            sum += product[static_cast<std::size_t>(row) * static_cast<std::size_t>(call.n) +
                           static_cast<std::size_t>(col)];
        });
        call.put(i, j, sum);
      }
  };
}

}  // namespace

TEST_CASE("accumulators that were cleared once for several fragments or tiles") {
  const TensorCores on;
  const auto fragments = [](int rows, int cols, bool by_rows) {
    return summed([=](int i, int j, auto&& visit) {
      const auto number = [=](int row, int col) {
        const int down = row % 16 / rows, across = col % 16 / cols;
        return by_rows ? down * 16 + across : across * 16 + down;
      };
      for (int row = i / 16 * 16 + i % rows; row < i / 16 * 16 + 16; row += rows)
        for (int col = j / 16 * 16 + j % cols; col < j / 16 * 16 + 16; col += cols)
          if (number(row, col) <= number(i, j)) visit(row, col);
    });
  };
  must_be("ACC-INIT", "each 8 x 8 fragment", fragments(8, 8, true));
  must_be("ACC-INIT", "each 8 x 8 fragment", fragments(8, 8, false));
  must_be("ACC-INIT", "each 16 x 8 fragment", fragments(16, 8, true));
  for (const int tiles : {2, 4})
    must_be("ACC-INIT", "second tile", summed([=](int i, int j, auto&& visit) {
              const int group = tiles * 32;
              for (int col = j / group * group + j % 32; col <= j; col += 32) visit(i, col);
            }));
}

TEST_CASE("accumulators that go on from a tile far away") {
  // A block's next tile is that of another row of tiles, and only a large C has one.
  const Kernel kernel = summed([](int i, int j, auto&& visit) {
    visit(i, j);
    if (i >= 262 * 64) visit(i - 262 * 64, j);
  });
  const Diagnosis d =
      diagnose(evidence(kernel, ElementType::float32, {64, 64, 16}, {264 * 64 + 3, 3, 5}));
  CHECK(d.id == "ACC-INIT");
  CHECK(d.headline.find("64 x 64 tile that begins at C[16768][0] also holds the sums of the one at "
                        "C[0][0]") != std::string::npos);
  CHECK(d.next_step.find("3 tiles of C also hold") != std::string::npos);
}

TEST_CASE("accumulators that were never set") {
  // Registers that nobody wrote are NaN on the simulated GPU.
  const Kernel nothing_set = [](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) call.put(i, j, std::nan(""));
  };
  must_be("ACC-INIT", "never set", nothing_set);
  // Some of them only is another story.
  const Kernel one_nan = [](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j)
        call.put(i, j, i + j == 0 ? std::nan("") : call.element(i, j));
  };
  CHECK(diagnose(evidence(one_nan, ElementType::float32, kTile, {32, 64, 48})).id == "UNEXPLAINED");
}

TEST_CASE("pictures of C fit a screen") {
  const Kernel odd_ones = [](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j)
        call.put(i, j, call.element(i, j) + ((i * 7 + j * 3) % 5 == 0 && j < 6 ? 1000 : 0));
  };
  const auto count = [](const std::vector<std::string>& lines, const char* characters) {
    return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find_first_of("x.") != std::string::npos &&
             line.find_first_not_of(characters) == std::string::npos;
    });
  };
  // Maps of elements, and of tiles: at most 16 lines, each of which may stand for two.
  for (const int rows : {16, 17, 31, 32}) {
    const Diagnosis d =
        diagnose(evidence(odd_ones, ElementType::float32, {32, 32, 16}, {rows, 30, 8}));
    CHECK(d.id == "UNEXPLAINED");
    CHECK(count(d.details, " x.") == (rows + (rows > 16)) / (rows > 16 ? 2 : 1));
  }
  // C itself: beside what is expected, or above it where that is too wide.
  const auto lines = [&](int extent, int k, Layout layout) {
    return matrix_lines(
        make_case(grader::Operation::product,
                  evidence(odd_ones, ElementType::float32, kTile, {extent, extent, k}).run),
        layout);
  };
  CHECK(lines(3, 4, Layout::beside).size() == 4);
  CHECK(lines(3, 4, Layout::beside) == lines(3, 4, Layout::as_it_fits));
  CHECK(lines(8, 64, Layout::beside).empty());
  const auto stacked = lines(8, 64, Layout::as_it_fits);
  REQUIRE(stacked.size() == 18);
  CHECK(stacked[0] == "computed (wrong elements marked *):");
  CHECK(stacked[9] == "expected:");
  CHECK(stacked[1].find('*') != std::string::npos);
  CHECK(stacked[10].find('*') == std::string::npos);
  for (const std::string& line : stacked) CHECK(line.size() <= 74);
  CHECK(lines(9, 4, Layout::as_it_fits).empty());
}

TEST_CASE("one warp's part alone") {
  must_be("WARP-PART", "only warp 1 of 4", [](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j)
        if (i % 32 < 16 && j % 32 >= 16) call.put(i, j, call.element(i, j));
  });
}
