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

template <typename Value>
Kernel each(Value value) {
  return [value](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) call.put(i, j, value(call, i, j));
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
  CHECK(d.headline.find("but 1 times the 70 rows of C further down") != std::string::npos);
  CHECK(d.next_step.find("so no guard is missing") != std::string::npos);
}

TEST_CASE(
    "a row or column that grows with k is no missing guard, and not too large a step of threads") {
  const auto summed = [](int rows, int cols) {
    return each([=](Call& call, int i, int j) {
      double sum = 0;
      for (int k = 0; k < call.k; ++k)
        sum += call.at_a(i + rows * k, k) * call.at_b(k, j + cols * k);
      return sum;
    });
  };
  const auto diagnosed = [](const Kernel& kernel) {
    return diagnose(evidence(kernel, ElementType::float32, kTile, {32, 48, 17}));
  };
  const auto has = [](const Diagnosis& d, const char* text) {
    return d.next_step.find(text) != std::string::npos;
  };
  const Diagnosis row = diagnosed(summed(1, 0)), column = diagnosed(summed(0, 1));
  CHECK(row.id == "OOB");
  CHECK(has(row, "so the row grows with k"));
  CHECK(column.id == "OOB");
  CHECK(has(column, "so the column grows with k"));
  const Diagnosis guard = diagnosed([](Call& call) {
    for (int i = 0; i < call.m + 1; ++i)
      for (int j = 0; j < call.n; ++j) {
        double sum = 0;
        for (int k = 0; k < call.k; ++k) sum += call.at_a(i, k) * call.at_b(k, j);
        if (i < call.m) call.put(i, j, sum);
      }
  });
  CHECK(guard.id == "OOB");
  CHECK(!has(guard, "grows with k"));
}

TEST_CASE("a bound that is a leading dimension") {
  // Columns of B up to `end` go through a tile; what lies beyond N adds nothing.
  const auto fetched = [](bool to_ld) {
    return Kernel([=](Call& call) {
      const int end = to_ld ? call.b.ld() : call.n + 1;
      for (int i = 0; i < call.m; ++i)
        for (int j = 0; j < end; ++j) {
          double sum = 0;
          for (int k = 0; k < call.k; ++k) sum += call.at_a(i, k) * call.at_b(k, j);
          if (j < call.n) call.put(i, j, sum);
        }
    });
  };
  const auto next = [](const Kernel& kernel) {
    return diagnose(evidence(kernel, ElementType::float32, kTile, {17, 33, 21, 3, 3, 3})).next_step;
  };
  CHECK(next(fetched(true)).find("is ld, the step from row to row") != std::string::npos);
  CHECK(next(fetched(false)).find("is ld, the step from row to row") == std::string::npos);
}

TEST_CASE("a guard that forgets where its block's tile begins") {
  const auto guarded = [](bool at_all) {
    return Kernel([=](Call& call) {
      for (int row0 = 0; row0 < call.m; row0 += kTile.bm)
        for (int r = 0; r < kTile.bm; ++r) {
          call.a.block = {0, static_cast<unsigned>(row0 / kTile.bm), 0};
          for (int j = 0; j < call.n && (r < call.m || !at_all); ++j) {
            double sum = 0;
            for (int k = 0; k < call.k; ++k) sum += call.at_a(row0 + r, k) * call.at_b(k, j);
            if (row0 + r < call.m) call.put(row0 + r, j, sum);
          }
        }
    });
  };
  const auto next = [](const Kernel& kernel) {
    const Shape s{kTile.bm + 3, 20, 17};
    return diagnose(evidence(kernel, ElementType::float32, kTile, s)).next_step;
  };
  CHECK(next(guarded(true)).find("forget where the tile begins") != std::string::npos);
  CHECK(next(guarded(false)).find("forget where the tile begins") == std::string::npos);
}

TEST_CASE("rows of a tile that come from different tiles are no whole tile that moved") {
  const Tile tile{16, 16, 16, 4, 4};
  const Kernel torn = each([](Call& call, int i, int j) {
    const int row = i / 8 * 8 + 5 * (i % 8);
    return row < call.m ? call.element(row, j) : 0.0;
  });
  const Diagnosis d = diagnose(evidence(torn, ElementType::float32, tile, {64, 48, 17}));
  CHECK(d.id == "TILE-MAP");
  CHECK(d.headline.find("whole") == std::string::npos);
  CHECK(d.next_step.find("the row is off by 4") != std::string::npos);
}

TEST_CASE("rows or columns of C that are bounded by K") {
  const auto bounded = [](bool rows, int more) {
    return Kernel([=](Call& call) {
      for (int i = 0; i < call.m; ++i)
        for (int j = 0; j < call.n; ++j)
          if ((rows ? i : j) < call.k + more) call.put(i, j, call.element(i, j));
    });
  };
  const auto diagnosed = [](const Kernel& kernel) {
    return diagnose(evidence(kernel, ElementType::float32, kTile, {33, 19, 5}));
  };
  const Diagnosis rows = diagnosed(bounded(true, 0)), columns = diagnosed(bounded(false, 0));
  CHECK(rows.id == "UNWRITTEN");
  CHECK(rows.next_step.find("where c.rows is meant") != std::string::npos);
  CHECK(columns.id == "UNWRITTEN");
  CHECK(columns.next_step.find("where c.cols is meant") != std::string::npos);
  const Diagnosis other = diagnosed(bounded(false, 1));
  CHECK(other.id == "UNWRITTEN");
  CHECK(other.next_step.find("is meant") == std::string::npos);
}

TEST_CASE("where one block computes all of C its number is not to blame") {
  const Tile tile{0, 0, 16, 4, 4};
  const auto diagnosed = [&](unsigned blocks) {
    const Kernel moved = [=](Call& call) {
      call.grid.x = blocks;
      for (int i = 0; i < call.m; ++i)
        for (int j = 0; j < call.n; ++j) call.put(i, j, call.element((i + 4) % call.m, j));
    };
    return diagnose(evidence(moved, ElementType::float32, tile, {16, 16, 17})).next_step;
  };
  CHECK(diagnosed(1).find("blockIdx is not to blame") != std::string::npos);
  CHECK(diagnosed(4).find("blockIdx is not to blame") == std::string::npos);
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

TEST_CASE("an estimate beside a wrong index changes nothing of what is told") {
  const Kernel kernel = [](Call& call) {
    for (int i = 0; i < call.m; ++i)
      for (int j = 0; j < call.n; ++j) {
        double sum = 0;
        for (int k = 0; k < call.k; ++k)
          sum += call.at_a(std::min(i / 16 + i % 16, call.m - 1), k) * call.at_b(k, j);
        call.put(i, j, sum);
      }
  };
  const Evidence plain = evidence(kernel, ElementType::float32, Tile{16, 16, 8, 2, 4}, {33, 17, 5});
  Evidence noted = plain;
  const auto note = [](Run run) {
    simgpu::Finding spill;
    spill.kind = simgpu::FindingKind::will_spill;
    for (simgpu::LaunchReport& launch : run.launches) launch.findings.push_back(spill);
    return run;
  };
  noted.run = note(plain.run);
  noted.run_probe = [&](const Matrix& a, const Matrix& b, const Matrix& c) {
    return note(*plain.run_probe(a, b, c));
  };
  const Diagnosis without = diagnose(plain), with = diagnose(noted);
  CHECK(without.id == "WRONG-INDEX");
  CHECK(with.id == without.id);
  CHECK(with.headline == without.headline);
}

TEST_CASE("a thread's columns, or rows, that are read by another step than they are stored by") {
  const auto asked = [](const Kernel& kernel) {
    return diagnose(evidence(kernel, ElementType::float32, kTile, {33, 65, 17})).next_step;
  };
  // 4 columns of a thread, 4 apart in C, and side by side where B is read.
  const std::string columns = asked(product_of(right_a, [](int, int j, int k) {
    return Pair{k, j / 16 * 16 + j % 4 + j % 16 / 4};
  }));
  CHECK(columns.find("4 columns lie 4 apart in C, and 1 apart where B is read") !=
        std::string::npos);
  const std::string rows = asked(product_of(
      [](int i, int, int k) {
        return Pair{i / 16 * 16 + i % 8 + i % 16 / 8, k};
      },
      right_b));
  CHECK(rows.find("2 rows lie 8 apart in C, and 1 apart where A is read") != std::string::npos);
  const std::string other = asked(product_of(right_a, [](int, int j, int k) {
    return Pair{k, j / 16 * 16 + (j % 16) / 3};
  }));
  CHECK(other.find("apart in C") == std::string::npos);
}
