// Copies through a tile, and what single threads do to one: which place an element came from, which
// part of an element or a piece was stored, where a thread begins and how it goes on.
#include <cmath>
#include <functional>
#include <string>

#include "common/catch2.hpp"
#include "grader/tests/diagnose_bench.hpp"

using namespace diagnose_bench;
using grader::Operation;
using simgpu::AccessType;
using simgpu::FindingKind;

namespace {

const Tile kCopy{64, 0, 32, 0, 0, 0, 0};
const Tile kProduct{16, 16, 8, 4, 4};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// C[i][j] = value(a, i, j), or nothing is stored there where that is NaN.
Diagnosis of_copy(const std::function<double(const Matrix&, int, int)>& value, int m, int k,
                  ElementType type = ElementType::float32) {
  const auto copy = [value](const Matrix& a, const Matrix& b, const Matrix& c) {
    Run r;
    r.a = r.a_after.emplace(a);
    r.b = r.b_after.emplace(b);
    r.c_before = r.c_after = c;
    for (int i = 0; i < c.rows; ++i)
      for (int j = 0; j < c.cols; ++j)
        if (const double v = value(a, i, j); !std::isnan(v)) r.c_after.set(i, j, v);
    r.launches.emplace_back();
    return r;
  };
  Evidence e;
  e.operation = Operation::copy_a;
  e.tile = kCopy;
  e.type = type;
  e.small_integers = true;
  const Matrix a = random_matrix(e.type, m, k, 0, inputs::SplitMix64(1), true);
  e.run = copy(a, random_matrix(e.type, k, 30, 0, inputs::Pcg(1), true),
               Matrix(result_type(e.type), m, k, k));
  e.run_probe = copy;
  return diagnose(e);
}

double inside(const Matrix& a, int i, int j) {
  return i < a.rows && j < a.cols ? a.at(i, j) : 0;
}

template <typename Value>
Diagnosis of_product(Value value, const Shape& s) {
  const Kernel kernel = [value](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) call.put(i, j, value(call, i, j));
  };
  return diagnose(evidence(kernel, ElementType::float32, kProduct, s));
}

simgpu::Access store(unsigned thread, std::int64_t element) {
  simgpu::Access a;
  a.where = {"gemm.cu", 44};
  a.thread = {thread, 0, 0};
  a.type = AccessType::store;
  a.space = simgpu::MemorySpace::shared;
  a.bytes = 4;
  a.object = "tile";
  a.object_bytes = 4096;
  a.offset = 4 * element;
  a.address = 256 + 4 * static_cast<std::uint64_t>(element);  // the array begins at byte 256
  return a;
}

/// A finding of a right product whose line 44 has each thread t of the first warps store elements
/// place(t, 0) ... place(t, count - 1) of tile, or load them from what `at` names.
Diagnosis of_stores(FindingKind kind, const simgpu::Access& at, const simgpu::Access* other,
                    int count, const std::function<int(int, int)>& place, unsigned warps = 1,
                    const Tile& tile = {16, 16, 16, 1, 1}) {
  simgpu::Finding f;
  f.kind = kind;
  f.at = at;
  if (other != nullptr) f.other = *other;
  Evidence e;
  e.tile = tile;
  e.small_integers = true;
  const auto call = [f](const Matrix& a, const Matrix& b, const Matrix& c) {
    Run r = run([](Call& k) { k.put(0, 0, k.element(0, 0)); }, a, b, c);
    r.launches[0].block = {128, 1, 1};
    r.launches[0].findings.push_back(f);
    return r;
  };
  e.run = call(Matrix(e.type, 1, 4, 4), Matrix(e.type, 4, 1, 1), Matrix(e.type, 1, 1, 1));
  e.follow = [&](const Run& run, const simgpu::WarpOf& warp) {
    Run again = run;
    if (kind != FindingKind::uninitialised_read) CHECK(warp.warp < warps);
    if (warp.warp >= warps) return std::optional<Run>(again);  // only the first ones store
    for (int n = 0; n < count; ++n) {
      simgpu::AccessSample s;
      s.where = at.where;
      s.type = kind == FindingKind::uninitialised_read ? AccessType::store : at.type;
      s.space = simgpu::MemorySpace::shared;
      s.bytes = 4;
      s.object = at.object;
      for (int lane = 0; lane < 32; ++lane) {
        const int element = place(static_cast<int>(warp.warp) * 32 + lane, n);
        if (element >= 1024) continue;  // outside: never made
        s.mask |= 1u << lane;
        s.address[static_cast<std::size_t>(lane)] = 256 + 4 * static_cast<std::uint64_t>(element);
      }
      again.launches[0].samples.push_back(s);
    }
    return std::optional<Run>(again);
  };
  return diagnose(e);
}

/// A = C through blocks of four warps and 16 x 16 elements, of which warp w stores part (w / 2, w % 2) if stores(w).
Diagnosis parts_stored(const std::function<bool(unsigned)>& stores) {
  constexpr int kSide = 16, kHalf = 8;
  const auto call = [stores](const Matrix& a, const Matrix& b, const Matrix& c) {
    Run r = run(
        [&](Call& k) {
          for (int i = 0; i < k.m; ++i)
            for (int j = 0; j < k.k; ++j)
              if (stores(static_cast<unsigned>(i % kSide / kHalf * 2 + j % kSide / kHalf)))
                k.put(i, j, k.at_a(i, j));
        },
        a, b, c);
    r.launches[0].grid = {static_cast<unsigned>((c.cols + kSide - 1) / kSide),
                          static_cast<unsigned>((c.rows + kSide - 1) / kSide), 1};
    r.launches[0].block = {128, 1, 1};
    return r;
  };
  Evidence e;
  e.operation = grader::Operation::copy_a;
  e.tile = {kSide, 0, kSide, 0, 0};
  e.small_integers = true;
  Matrix a(e.type, 33, 48, 48);
  for (std::size_t i = 0; i < a.elements(); ++i) a.set(i, static_cast<double>(i % 17) - 8);
  e.run = call(a, Matrix(e.type, 48, 5, 5), with_poison(Matrix(e.type, 33, 48, 48), true));
  e.run_probe = call;
  e.follow = [stores](const Run& run, const simgpu::WarpOf& warp) {
    Run again = run;
    simgpu::AccessSample s;
    s.type = AccessType::store;
    s.object = "C";
    s.mask = stores(warp.warp) ? ~0u : 0u;
    again.launches[0].samples.push_back(s);
    return std::optional<Run>(again);
  };
  return diagnose(e);
}

bool told(const Diagnosis& d, const std::string& part) {
  for (const std::string& line : d.details)
    if (has(line, part)) return true;
  return false;
}

}  // namespace

TEST_CASE("a copy that is off by as much everywhere") {
  const Diagnosis above = of_copy(
      [](const Matrix& a, int i, int j) { return i + 4 < a.rows ? a.at(i + 4, j) : 0; }, 131, 67);
  CHECK(above.id == "TILE-MAP");
  CHECK(above.headline == "everything lands 4 rows above its place");
  CHECK(has(above.next_step, "all others are off by as much"));
  const Diagnosis right =
      of_copy([](const Matrix& a, int i, int j) { return j >= 8 ? a.at(i, j - 8) : 0; }, 131, 67);
  CHECK(right.headline == "everything lands 8 columns right of its place");
}

TEST_CASE("a copy whose blocks all fetch the part of the first") {
  const Diagnosis columns =
      of_copy([](const Matrix& a, int i, int j) { return a.at(i, j % 32); }, 70, 100);
  CHECK(columns.id == "TILE-MAP");
  CHECK(columns.headline == "every block copies the columns of A that belong to the first one");
  CHECK(has(columns.next_step, "col0"));
  const Diagnosis rows =
      of_copy([](const Matrix& a, int i, int j) { return a.at(i % 64, j); }, 150, 40);
  CHECK(rows.headline == "every block copies the rows of A that belong to the first one");
  CHECK(has(rows.next_step, "row0"));
}

TEST_CASE("a copy that goes to the right where it should go down") {
  const Diagnosis d = of_copy(
      [](const Matrix& a, int i, int j) {
        const int r = i % 64, at = (i - r + r % 16) * a.ld + j + r / 16 * 16;
        return a.at(static_cast<std::size_t>(at));
      },
      128, 128);
  CHECK(d.id == "TILE-MAP");
  CHECK(has(d.headline, "16 rows down in A, it goes 16 elements to the right"));
}

TEST_CASE("a copy whose source goes on by fewer rows than its tile, or by none") {
  for (const int by : {0, 1, 8}) {
    const Diagnosis d =
        of_copy([by](const Matrix& a, int i,
                     int j) { return inside(a, i / 64 * 64 + i % 64 % 4 + i % 64 / 4 * by, j); },
                33, 5);
    CHECK(d.id == "TILE-MAP");
    CHECK(has(d.headline, "group of 4 rows to the next A moves on by " + std::to_string(by)));
    CHECK(has(d.next_step, "4 * ld"));
  }
}

TEST_CASE("a copy that stores two elements to one place and none to another") {
  const Diagnosis rows = of_copy(
      [](const Matrix& a, int i, int j) {
        return i % 16 >= 8 ? std::nan("") : i + 8 < a.rows ? a.at(i + 8, j) : a.at(i, j);
      },
      64, 40);
  CHECK(rows.id == "TILE-MAP");
  CHECK(has(rows.headline, "stored 8 rows before their place, over others"));
  CHECK(has(rows.next_step, "e / 2"));
}

TEST_CASE("8 x 8 parts of a fragment of 16-bit elements that come from other places") {
  // Lanes 8 r ... 8 r + 7 pass rows 0 to 7 and chunk r: what they should pass is r % 2 and r / 2.
  const auto parts = [](const Matrix& a, int i, int j) {
    const int r = i % 16 / 8 + j % 16 / 8 * 2, col = j / 16 * 16 + r * 8 + j % 8;
    return col < a.cols ? a.at(i / 16 * 16 + i % 8, col) : 0;
  };
  const Diagnosis d = of_copy(parts, 64, 256, ElementType::float16);
  CHECK(d.id == "TILE-MAP");
  CHECK(has(d.headline, "some 8 x 8 parts"));
  CHECK(has(d.next_step,
            "register 1 (rows 8..15, columns 0..7 of the fragment) holds rows 0..7, "
            "columns 8..15"));
}

TEST_CASE("a piece of which every element is the first") {
  const Diagnosis d =
      of_copy([](const Matrix& a, int i, int j) { return inside(a, i, j / 4 * 4); }, 33, 21);
  CHECK(d.id == "TILE-MAP");
  CHECK(has(d.next_step, "Every piece of 4 elements holds its first one 4 times"));
}

TEST_CASE("pieces of a thread that are read too near to each other, or stored over each other") {
  const Diagnosis near = of_copy(
      [](const Matrix& a, int i, int j) { return a.at(i, j / 32 * 32 + j % 32 / 16 * 4 + j % 16); },
      64, 128);
  CHECK(near.id == "TILE-MAP");
  CHECK(has(near.headline, "from one group of 16 columns to the next A moves on by 4 columns"));
  const Diagnosis over = of_copy(
      [](const Matrix& a, int i, int j) {
        const bool first = j / 16 % 2 == 0 && j % 4 > 0;  // the rest of it holds the next piece
        return a.at(i, first ? j - 1 + 16 : j);
      },
      64, 128);
  CHECK(over.id == "TILE-MAP");
  CHECK(has(over.headline, "a thread's pieces lie 16 columns apart in A"));
  CHECK(has(over.headline, "only 1 apart"));
}

TEST_CASE("one row more than the copies of a thread are apart shows by how much they go on") {
  const Diagnosis d =
      of_copy([](const Matrix& a, int i, int j) { return a.at(i / 16 + i % 16, j); }, 17, 21);
  CHECK(has(d.headline, "from one group of 16 rows to the next A moves on by 1 row:"));
}

TEST_CASE("two sets of fragments of which a step loads the one that it multiplies") {
  const Diagnosis d = of_product(
      [](Call& c, int i, int j) {
        double sum = c.element(i, j);
        for (int k = 0; k < c.k; k += 8) sum -= c.at_a(i, k) * c.at_b(k, j);
        for (int k = 6; k < c.k; k += 8) sum += c.at_a(i, k) * c.at_b(k, j);
        return sum;
      },
      {33, 50, 21});
  CHECK(d.id == "K-TILE-REPEATED");
  CHECK(has(d.headline, "of every 8 k, k = 0 never counts, k = 6 counts twice"));
}

TEST_CASE("a piece that is fetched downwards, in a tile that then holds too much") {
  // As the labs' round trips do: 1 more where the tile holds anything beyond the edge.
  const Diagnosis d = of_copy(
      [](const Matrix& a, int i, int j) {
        const bool beyond = j / 32 * 32 + 32 > a.cols || i / 64 * 64 + 64 > a.rows;
        return inside(a, i + j % 4, j / 4 * 4) + (beyond ? 1 : 0);
      },
      33, 21);
  CHECK(d.id == "TILE-MAP");
  CHECK(has(d.headline, "C[i][j] holds A[i + j % 4][j / 4 * 4]"));
  CHECK(told(d, "too large by 1"));
}

TEST_CASE("a copy that is all zeros where an edge cuts tiles off, and right with whole ones") {
  const auto whole = [](const Matrix& a, int i, int j) {
    return a.rows % 64 == 0 && a.cols % 32 == 0 ? a.at(i, j) : 0.0;
  };
  CHECK(has(of_copy(whole, 67, 81).headline, "and right at 128 x 64"));
  CHECK(of_copy([](const Matrix&, int, int) { return 0.0; }, 67, 81).headline == "C is all zeros");
}

TEST_CASE("sums that end with the whole tile that reaches another extent") {
  const Diagnosis d = of_product(
      [](Call& c, int i, int j) {
        double sum = 0;
        for (int k = 0; k < std::min(c.k, (c.n + 7) / 8 * 8); ++k)
          sum += c.at_a(i, k) * c.at_b(k, j);
        return sum;
      },
      {50, 13, 37});
  CHECK(d.id == "SWAPPED-EXTENTS");
  CHECK(has(d.headline, "as many as N = 13 takes"));
}

TEST_CASE("a step that is made of registers which nobody set") {
  const Diagnosis d = of_product(
      [](Call& c, int i, int j) { return c.element(i, j) - c.at_a(i, 0) * c.at_b(0, j) + 1; },
      {33, 50, 17});
  CHECK(d.id == "K-MISSING");
  CHECK(has(d.headline, "comes from neither A nor B"));
  CHECK(has(d.next_step, "multiplied at k = 0"));
  // A start that is wrong is no step that is missing.
  CHECK(of_product([](Call& c, int i, int j) { return c.element(i, j) + 1; }, {33, 50, 17}).id ==
        "ACC-INIT");
}

TEST_CASE("a k-tile that begins at the wrong k") {
  const Diagnosis d = of_product(
      [](Call& c, int i, int j) {
        double sum = c.element(i, j);
        for (int k = 8; k < std::min(c.k, 16); ++k) sum -= c.at_a(i, k) * c.at_b(k, j);
        for (int k = 1; k < std::min(c.k, 9); ++k) sum += c.at_a(i, k) * c.at_b(k, j);
        return sum;
      },
      {33, 50, 21});
  CHECK(d.id == "K-TILE-REPEATED");
  CHECK(has(d.headline, "in place of k-tile 1 (k = 8..15), k = 1..8 is multiplied"));
}

TEST_CASE("steps, or k-tiles, that are one behind") {
  const auto added = [](Call& c, int i, int j, int first, int last) {
    double sum = 0;
    for (int k = first; k < std::min(c.k, last); ++k) sum += c.at_a(i, k) * c.at_b(k, j);
    return sum;
  };
  const Diagnosis steps = of_product(
      [&](Call& c, int i, int j) { return added(c, i, j, 0, 1) + added(c, i, j, 0, c.k - 1); },
      {33, 50, 21});
  CHECK(steps.id == "K-TILE-REPEATED");
  CHECK(steps.headline ==
        "k = 0 is added twice, and k = 20, the last one, never: each step multiplies what belongs "
        "to the step before");
  const Diagnosis tiles = of_product(
      [&](Call& c, int i, int j) {
        return added(c, i, j, 0, (c.k + 7) / 8 * 8 - 8) + (c.k > 16 ? added(c, i, j, 8, 16) : 0);
      },
      {33, 50, 30});
  CHECK(has(tiles.headline, "k-tile 1 (k = 8..15) is added twice, and k-tile"));
  CHECK(has(tiles.next_step,
            "From step 2 on, each step seems to multiply the k-tile of the step before"));
}

TEST_CASE("a sum that is an int where the type is not") {
  const Kernel kernel = [](Call& c) {
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        double sum = 0;
        for (int k = 0; k < c.k; ++k) sum = std::trunc(sum + c.at_a(i, k) * c.at_b(k, j));
        c.put(i, j, sum);
      }
  };
  const Diagnosis d =
      diagnose(evidence(kernel, ElementType::float32, kProduct, {17, 33, 65}, false));
  CHECK(d.id == "LOW-PRECISION");
  CHECK(has(d.headline, "every element of C is a whole number"));
}

TEST_CASE("tiles of B that begin at (col0, k0): right only in a transposed copy") {
  const Diagnosis d = of_product(
      [](Call& c, int i, int j) {
        double sum = 0;
        for (int k = 0; k < c.k; ++k) {
          const int row = j / 16 * 16 + k % 8, col = k / 8 * 8 + j % 16;
          if (row < c.k && col < c.n) sum += c.at_a(i, k) * c.at_b(row, col);
        }
        return sum;
      },
      {40, 50, 37});
  CHECK(d.id == "TILE-MAP");
  CHECK(has(d.headline, "each begins at row col0 and column k0, swapped"));
  CHECK(has(d.next_step, "In a transposed copy rows and columns are swapped"));
}

TEST_CASE("tiles of an operand that are taken for each other") {
  // Tiles of 16 x 8 of A, of which there are two side by side: numbered down instead of along.
  const Diagnosis d = of_product(
      [](Call& c, int i, int j) {
        double sum = 0;
        const int down = (c.m + 15) / 16, across = (c.k + 7) / 8;
        for (int k = 0; k < c.k; ++k) {
          const int number = k / 8 * down + i / 16, row = number / across * 16 + i % 16,
                    col = number % across * 8 + k % 8;
          if (row < c.m && col < c.k) sum += c.at_a(row, col) * c.at_b(k, j);
        }
        return sum;
      },
      {40, 20, 24});
  CHECK(d.id == "WRONG-ELEMENT");
  CHECK(has(d.headline, "of A (16 x 8) in place of tile"));
}

TEST_CASE("two threads that meet in a tile: with which of their stores") {
  const simgpu::Access one = store(0, 64), other = store(1, 64);
  const Diagnosis steps = of_stores(FindingKind::shared_race, one, &other, 4,
                                    [](int t, int n) { return 64 * (t + n); });
  CHECK(steps.id == "RACE-WAW");
  CHECK(told(steps, "thread (0, 0) writes elements 0, 64, 128, 192 of tile"));
  CHECK(told(steps, "thread (1, 0) writes elements 64, 128, 192, 256 of tile"));
  CHECK(has(steps.next_step, "and thread (1, 0) as its number 1"));
  const Diagnosis same = of_stores(FindingKind::shared_race, one, &other, 4,
                                   [](int t, int n) { return 64 + t / 2 + 64 * n; });
  CHECK(has(same.next_step, "each stores it as its element number 1."));
  CHECK(has(same.next_step, "So what tells these threads apart does not reach the index"));
  CHECK(has(same.next_step, "lost by a /, a % or an &"));
  simgpu::Access below = one;  // in a row of threads of its own
  below.thread = {0, 1, 0};
  CHECK(has(of_stores(
                FindingKind::shared_race, one, &below, 4, [](int, int n) { return 64 + n; }, 5)
                .next_step,
            "They differ only in threadIdx.y"));
  // An array that is as small as one thread's own.
  simgpu::Access small = one, beside = other;
  small.object_bytes = beside.object_bytes = 512;
  CHECK(
      has(of_stores(FindingKind::shared_race, small, &beside, 4, [](int, int n) { return 64 + n; })
              .next_step,
          "leave out __shared__"));
  CHECK(has(of_stores(FindingKind::shared_race, store(0, 32), &other, 4,
                      [](int t, int n) { return 31 + t % 32 + n; })
                .next_step,
            "they take 128 at a time"));
  const Diagnosis stuck =
      of_stores(FindingKind::shared_race, one, &one, 4, [](int, int) { return 64; });
  CHECK(has(stuck.next_step, "All 4 that this thread writes there"));
}

TEST_CASE("a thread that leaves a shared array, or begins outside") {
  const Diagnosis leaves = of_stores(FindingKind::out_of_bounds, store(3, 1024), nullptr, 4,
                                     [](int t, int n) { return 64 * t + 512 * n; });
  CHECK(leaves.id == "OOB");
  CHECK(told(leaves, "thread (3, 0) writes elements 192, 704 of tile"));
  CHECK(told(leaves, "threads 0 to 5 begin with elements 0, 64, 128, 192, 256, 320"));
  CHECK(has(leaves.next_step,
            "begins inside the array, with element 192, and leaves it at element "
            "1024"));
  CHECK(has(leaves.next_step, "side by side begin 64 elements apart"));
  const auto filled_by = [](int told) {
    return of_stores(FindingKind::out_of_bounds, store(3, 1024), nullptr, 4,
                     [told](int t, int n) { return t + told * n; });
  };
  CHECK(has(filled_by(64).next_step, "moves on by 64, as if 64 threads filled it together"));
  CHECK_FALSE(has(filled_by(128).next_step, "as if"));
  const Diagnosis over = of_stores(FindingKind::out_of_bounds, store(3, 1024), nullptr, 4,
                                   [](int t, int n) { return 900 + t + 8 * n; });
  CHECK(told(over, "cover 32 elements in one go, and each of them moves on by 8"));
  CHECK(has(over.next_step, "but each moves on by only 8, to where another lane has been"));
  CHECK_FALSE(told(leaves, "in one go"));
  simgpu::Access small = store(3, 256);
  small.object_bytes = 1024;  // (16, 16) floats
  const auto in_rows = [&small](int step) {
    return of_stores(FindingKind::out_of_bounds, small, nullptr, 2,
                     [step](int t, int n) { return 100 + t + step * n; })
        .next_step;
  };
  CHECK(has(in_rows(64), "In rows of 16, 64 elements further is the same column, 4 rows on."));
  CHECK(has(in_rows(16), "the same column, the next row."));
  CHECK_FALSE(has(in_rows(40), "In rows of"));
  const auto rows_of_threads = [](int apart) {
    return of_stores(FindingKind::out_of_bounds, store(3, 1024), nullptr, 4,
                     [apart](int t, int n) { return 800 + apart * (t / 16) + 64 * n; })
        .next_step;
  };
  CHECK(has(rows_of_threads(8),
            "16 neighbouring threads begin with the same element, and the next 16 begin 8 "
            "further on, where each takes 1: no thread takes the 7 in between"));
  CHECK_FALSE(has(rows_of_threads(1), "16 neighbouring threads"));
  CHECK_FALSE(has(rows_of_threads(64), "16 neighbouring threads"));
  const Diagnosis outside = of_stores(FindingKind::out_of_bounds, store(3, 1536), nullptr, 4,
                                      [](int t, int n) { return 512 * t + n; });
  CHECK(has(outside.next_step, "This thread's first element is already outside"));
}

TEST_CASE("threads that are counted for longer rows than an array has") {
  const simgpu::Access one = store(64, 16), other = store(16, 16);
  const auto place = [](int across) {
    return [across](int t, int n) { return t / across * 16 + t % across + 64 * n; };
  };
  const Diagnosis d = of_stores(FindingKind::shared_race, one, &other, 4, place(64), 3);
  CHECK(has(d.next_step, "thread 64 begins only 16 elements after thread 0"));
  CHECK(has(d.next_step, "It should be the length of a row of tile"));
}

TEST_CASE("a swizzle that leaves its row, and columns of B that are too large or all the same") {
  const Diagnosis swizzle = of_stores(FindingKind::out_of_bounds, store(3, 1024), nullptr, 2,
                                      [](int t, int n) { return 224 + (t ^ 7) + 800 * n; });
  CHECK(has(swizzle.next_step, "in the order of an xor with 7: a swizzle"));
  simgpu::Access at = store(3, 256);
  at.type = AccessType::load;
  at.object = "b_tile";
  at.object_bytes = 1024;  // (16, 16) floats
  const auto next = [&at](const std::function<int(int, int)>& place) {
    return of_stores(FindingKind::out_of_bounds, at, nullptr, 2, place).next_step;
  };
  CHECK(has(next([](int t, int n) { return 16 * t + 128 * n; }),
            "that is column 48; the last one is 15"));
  CHECK(has(next([](int, int n) { return 8 + 248 * n; }), "begin with the same element"));
}

TEST_CASE("the lanes of a warp that lie the wrong way over its tile") {
  simgpu::Access at = store(0, 1024);
  at.type = AccessType::load;
  at.object = "b_tile";
  // 32 x 16 elements of a warp, 4 x 4 of a lane: 8 lanes down and 4 across.
  const auto next = [&at](int lanes_across) {
    return of_stores(
               FindingKind::out_of_bounds, at, nullptr, 2,
               [=](int t, int n) { return 900 + t % lanes_across * 4 + 100 * n; }, 1,
               Tile{64, 64, 16, 4, 4, 32, 16})
        .next_step;
  };
  CHECK(has(next(8), "begin at 8 different places in b_tile"));
  CHECK(has(next(8), "8 down and 4 across, its columns have 4"));
  CHECK_FALSE(has(next(4), "different places"));
}

TEST_CASE("parts of elements and of pieces that were stored") {
  simgpu::Access read = store(0, 0);
  read.type = AccessType::load;
  simgpu::Finding f;
  f.kind = FindingKind::uninitialised_read;
  f.at = read;
  f.at.bytes = 8;
  f.written = {{0, 4}, {8, 4096}};
  f.written_bytes = 4092;
  const auto said = [&f](ElementType type) { return explain(f, kCopy, nullptr, type); };
  CHECK(told(said(ElementType::float64), "of its 8 bytes only the first 4 had been stored"));
  CHECK(has(said(ElementType::float64).next_step, "sizeof(T)"));
  f.at = store(0, 1);
  f.at.type = AccessType::load;
  f.written = {{0, 4}, {16, 20}, {32, 36}};
  f.written_bytes = 12;
  CHECK(has(said(ElementType::float32).next_step, "Of every 16 bytes only the first 4"));
}

TEST_CASE("a tile that is left only from the second round on asks what counts rounds") {
  simgpu::Finding f;
  f.kind = FindingKind::out_of_bounds;
  f.at = store(0, 1024);
  Evidence e;
  e.tile = {16, 16, 16, 1, 1};
  e.small_integers = true;
  e.run_probe = [f](const Matrix& a, const Matrix& b, const Matrix& c) {
    Run r = run([](Call& k) { k.put(0, 0, k.element(0, 0)); }, a, b, c);
    if (a.cols > 16) r.launches[0].findings.push_back(f);
    return r;
  };
  const auto of = [&](int k) {
    e.run = *e.run_probe(Matrix(e.type, 1, k, k), Matrix(e.type, k, 1, 1), Matrix(e.type, 1, 1, 1));
    return diagnose(e);
  };
  CHECK(has(of(40).next_step, "With one k-tile (16 of k) this does not happen"));
  CHECK(has(of(40).next_step, "A tile in shared memory begins at 0 in every round"));
  // In two rounds the line reads as much as in four.
  f.at.type = AccessType::load;
  e.run_probe = [f, probe = e.run_probe](const Matrix& a, const Matrix& b, const Matrix& c) {
    Run r = *probe(a, b, c);
    for (auto& finding : r.launches[0].findings) finding.at.type = AccessType::load;
    simgpu::LineCounts line;
    line.where = f.at.where;
    line.counts.shared_load.requests = a.cols > 16 ? 40 : 10;
    r.launches[0].lines.push_back(line);
    return r;
  };
  CHECK(has(of(40).next_step, "the loop over the k of a tile runs on to K"));
  f.at.block = {1, 0, 0};  // another block's: rounds are not all that is different
  e.run_probe = [f, probe = e.run_probe](const Matrix& a, const Matrix& b, const Matrix& c) {
    Run r = *probe(a, b, c);
    for (auto& finding : r.launches[0].findings) finding.at.block = f.at.block;
    return r;
  };
  CHECK_FALSE(has(of(40).next_step, "With one k-tile"));
}

TEST_CASE("later warps of a block that store nothing may count its threads") {
  const auto next = [](const std::function<bool(unsigned)>& stores) {
    return parts_stored(stores).next_step;
  };
  CHECK(has(next([](unsigned w) { return w < 2; }),
            "only warps 0 and 1 store to C; warps 2 and 3 store nothing"));
  CHECK(has(next([](unsigned w) { return w < 3; }), "only warps 0 to 2 store to C; warp 3 stores"));
  CHECK_FALSE(has(next([](unsigned w) { return w % 2 == 0; }), "threadIdx.x % 32"));
}

TEST_CASE("an element that nobody wrote, where some threads store less often than others") {
  simgpu::Access at = store(0, 40);
  at.type = AccessType::load;
  const auto next_step = [&](const std::function<int(int, int)>& place) {
    return of_stores(FindingKind::uninitialised_read, at, nullptr, 4, place).next_step;
  };
  const auto row = [](int thread, int n) { return 32 * n + thread; };
  const std::string uneven =
      next_step([&](int thread, int n) { return thread == 0 || n == 0 ? row(thread, n) : 1024; });
  CHECK(has(uneven, "thread 0 stores into tile 4 times, and thread 1 once"));
  CHECK_FALSE(has(next_step(row), "equally often"));
  // Who stores nothing at all may be beyond the edge.
  CHECK_FALSE(has(next_step([&](int thread, int n) { return thread < 8 ? row(thread, n) : 1024; }),
                  "equally often"));
}
