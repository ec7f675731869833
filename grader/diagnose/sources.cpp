// Which elements of A or B were multiplied, read off by probes: the last resort, since it takes two
// runs for each k.
//
// With a single row of B not 0, C[i][j] is the element of A that meets that row; what it is called
// tells its place. The same for B, with a single column of A.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/indices.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

/// Where a factor came from; {-1, -1}: it was 0.
struct Place {
  int row = -1, col = -1;
  friend bool operator==(const Place&, const Place&) = default;
};
using Places = std::vector<Place>;  ///< (k * m + i) * n + j

std::size_t index_of(const Case& c, int k, int i, int j) {
  return static_cast<std::size_t>(k) * c.correct.size() + c.at(i, j);
}

constexpr std::int64_t kMostFactors = 1 << 22;
constexpr int kMostSteps = 100, kMostStepsOfFew = 300;
constexpr std::int64_t kFewFactors = 1 << 14;

std::optional<Places> factors_of(const Evidence& evidence, const Case& c, bool of_a) {
  const Matrix &coded = of_a ? c.run.a : c.run.b, &single = of_a ? c.run.b : c.run.a;
  const int bits = std::min(significant_bits(evidence.type), 24);
  if (std::max(coded.rows, coded.cols) >= 1 << bits) return std::nullopt;
  Places places(c.correct.size() * static_cast<std::size_t>(c.k));
  for (int k = 0; k < c.k; ++k) {
    const Matrix one =
        filled(evidence.type, single.rows, single.cols, single.ld - single.cols,
               [&](int row, int col) { return (of_a ? row : col) == k ? 1.0 : 0.0; });
    for (const bool rows : {true, false}) {
      const Matrix code = filled(evidence.type, coded.rows, coded.cols, coded.ld - coded.cols,
                                 [&](int row, int col) { return (rows ? row : col) + 1.0; });
      const std::optional<Run> run = of_a ? probe(evidence, code, one) : probe(evidence, one, code);
      if (!run) return std::nullopt;
      for (int i = 0; i < c.m; ++i)
        for (int j = 0; j < c.n; ++j) {
          const double value = run->c_after.at(i, j);
          const int extent = rows ? coded.rows : coded.cols;
          if (!(value >= 0 && value <= extent) || value != static_cast<int>(value))
            return std::nullopt;
          Place& place = places[index_of(c, k, i, j)];
          (rows ? place.row : place.col) = static_cast<int>(value) - 1;
        }
    }
  }
  return places;
}

bool reproduces(const Case& c, const Places& places, bool of_a) {
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k) {
        const Place& p = places[index_of(c, k, i, j)];
        if (p.row < 0 || p.col < 0) continue;
        sum += of_a ? c.run.a.at(p.row, p.col) * c.run.b.at(k, j)
                    : c.run.a.at(i, k) * c.run.b.at(p.row, p.col);
      }
      if (sum != c.got(i, j)) return false;
    }
  return true;
}

struct Named {
  Diagnosis diagnosis;
  bool zero = false;  ///< what is taken is none of the matrix
};

/// Rows and columns of the lab's tiles of A, or of B.
struct TileSize {
  int rows = 0, cols = 0;
};

/// Whatever is taken for another element has that one's place in another tile; nothing is taken as well, where a
/// tile hangs over an edge.
bool other_tiles(const Case& c, const Places& places, bool of_a, const TileSize& tile) {
  if (tile.rows < 2 || tile.cols < 2) return false;
  for (int k = 0; k < c.k; ++k)
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const Place& p = places[index_of(c, k, i, j)];
        const Place right = of_a ? Place{i, k} : Place{k, j};
        if (p.row >= 0 && p.col >= 0 &&
            (p.row % tile.rows != right.row % tile.rows ||
             p.col % tile.cols != right.col % tile.cols))
          return false;
      }
  return true;
}

/// A pointer into B goes on along a row by as many elements as it should go down rows, after every `tile` steps
/// (1: in each). At the end of a row it comes to the next one, which no formula of rows and columns says; what
/// lies behind the matrix is 0.
bool walks(const Case& c, const Places& places_of_b, int tile) {
  const Matrix& b = c.run.b;
  for (int k = 0; k < c.k; ++k)
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const int inside = k % tile, gone = k - inside;
        const std::int64_t at = static_cast<std::int64_t>(inside) * b.ld + j + gone;
        const Place& p = places_of_b[index_of(c, k, i, j)];
        const bool nothing = p.row < 0 || p.col < 0;
        if (nothing ? at < static_cast<std::int64_t>(b.rows) * b.ld
                    : at != static_cast<std::int64_t>(p.row) * b.ld + p.col)
          return false;
      }
  return true;
}

/// After how many steps it does; 0: it does not.
int walks_by(const Tile& lab, const Case& c, const Places& places_of_b) {
  for (const int tile : {1, lab.bk, 2, 4, 8, 16, 32, 64})
    if (tile > 0 && tile < c.k && walks(c, places_of_b, tile)) return tile;
  return 0;
}

/// What is wrong of all that is taken of a matrix with so many columns and is not what belongs there; what is taken as
/// nothing says nothing. A single place may have its row and its column swapped by accident.
const char* variant_of_places(const Case& c, const Places& places, bool of_a, int cols) {
  bool turned = true, row = true, column = true;
  bool first = true;  // nearly a row away, it is rather a neighbour of what begins the next one
  for (int k = 0; k < c.k; ++k)
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const Place& got = places[index_of(c, k, i, j)];
        const Place right = of_a ? Place{i, k} : Place{k, j};
        if (got == right || got.row < 0 || got.col < 0) continue;
        turned = turned && got.row == right.col && got.col == right.row;
        row = row && got.col == right.col;
        column =
            column && got.row == right.row && (!first || 2 * std::abs(got.col - right.col) <= cols);
        first = false;
      }
  return turned ? "turned" : row ? "row" : column ? "column" : "";
}

std::optional<Diagnosis> name_walk(const Tile& tile, const Case& c, const Places& places_of_b) {
  const int walked = walks_by(tile, c, places_of_b);
  if (walked == 0) return std::nullopt;
  const Place& got = places_of_b[index_of(c, walked, 0, 0)];
  return say("WRONG-ELEMENT", "walks",
             {{"k", walked},
              {"i", 0},
              {"j", 0},
              {"got", got.row < 0 ? "0" : element("B", got.row, got.col)},
              {"wanted", element("B", walked, 0)},
              {"when", walked == 1 ? messages::text("part.each_step")
                                   : messages::text("part.after_steps", {{"steps", walked}})},
              {"by", walked == 1 ? messages::text("part.one_element") : counted(walked, "element")},
              {"should", walked == 1 ? messages::text("part.one_row_of_b")
                                     : messages::text("part.rows_of_b", {{"rows", walked}})}});
}

std::optional<Named> name(const Tile& tile, const Case& c, const Places& places, bool of_a) {
  const std::string matrix = of_a ? "A" : "B";
  const auto wanted = [of_a](int k, int i, int j) { return of_a ? Place{i, k} : Place{k, j}; };
  bool stuck = c.k > 1;
  std::optional<std::array<int, 3>> first;
  for (int k = 0; k < c.k; ++k)
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const Place& p = places[index_of(c, k, i, j)];
        stuck = stuck && p == wanted(0, i, j);
        if (!first && p != wanted(k, i, j)) first = {k, i, j};
      }
  if (!first) return std::nullopt;
  const auto [k, i, j] = *first;
  const Place got = places[index_of(c, k, i, j)], right = wanted(k, i, j);
  const TileSize size = of_a ? TileSize{tile.bm, tile.bk} : TileSize{tile.bk, tile.bn};
  const bool tiles = got.row >= 0 && other_tiles(c, places, of_a, size);
  const std::vector<messages::Gap> gaps = {
      {"tile", fmt::format("{} x {}", size.rows, size.cols)},
      {"gottile", tiles ? fmt::format("({}, {})", got.row / size.rows, got.col / size.cols) : ""},
      {"wantedtile",
       tiles ? fmt::format("({}, {})", right.row / size.rows, right.col / size.cols) : ""},
      {"gotrow", got.row},
      {"gotcol", got.col},
      {"wantedrow", right.row},
      {"wantedcol", right.col},
      {"matrix", matrix},
      {"k", k},
      {"i", i},
      {"j", j},
      {"got", got.row < 0 ? "0" : element(matrix, got.row, got.col)},
      {"wanted", element(matrix, right.row, right.col)},
      {"stuck", of_a ? "A[i][0]" : "B[0][j]"},
      {"index", of_a ? "column" : "row"}};
  const bool zero = !stuck && (got.row < 0 || got.col < 0);
  const char* const variant =
      stuck   ? "stuck"
      : zero  ? "zero"
      : tiles ? "tile"
              : variant_of_places(c, places, of_a, (of_a ? c.run.a : c.run.b).cols);
  return Named{say("WRONG-ELEMENT", variant, gaps), zero};
}

/// Every product of C[i][j] takes the same two elements: with one operand all ones, C is K times the
/// number that the other's element bears.
std::optional<IndexFormula> stuck_index(const Evidence& evidence, const Case& c, bool of_a) {
  const auto ones = [&](const Matrix& m) {
    return filled(evidence.type, m.rows, m.cols, m.ld - m.cols, [](int, int) { return 1.0; });
  };
  const auto numbers = [&](const Matrix& m) {
    return filled(evidence.type, m.rows, m.cols, m.ld - m.cols,
                  [of_a](int row, int col) { return (of_a ? col : row) + 1.0; });
  };
  const std::optional<Run> run = of_a ? probe(evidence, numbers(c.run.a), ones(c.run.b))
                                      : probe(evidence, ones(c.run.a), numbers(c.run.b));
  if (!run) return std::nullopt;
  SeenIndices seen{c.m, c.n, {0}, std::vector<int>(c.correct.size())};
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      const double number = run->c_after.at(i, j) / c.k;
      if (!(number >= 1 && number <= c.k) || number != static_cast<int>(number))
        return std::nullopt;
      seen.values[c.at(i, j)] = static_cast<int>(number) - 1;
    }
  return fit_index(seen, index_bases(evidence));
}

/// Neither factor follows k: a_k[i] = a(row, i) and b_k[j] = b(j, col), for example.
std::optional<Diagnosis> name_stuck(const Evidence& evidence, const Case& c) {
  const auto col = stuck_index(evidence, c, true), row = stuck_index(evidence, c, false);
  if (!col || !row) return std::nullopt;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (c.got(i, j) != c.k * c.run.a.at(i, col->of(i, j, 0)) * c.run.b.at(row->of(i, j, 0), j))
        return std::nullopt;
  Diagnosis d = say("WRONG-INDEX", "steps",
                    {{"ra", "i"}, {"ca", col->text()}, {"rb", row->text()}, {"cb", "j"}});
  describe(evidence, c, d);
  return d;
}

/// What is taken of A is of its own row, and of B of its own column: k alone is another.
bool other_in_k_alone(const Case& c, const Places& places, bool of_a) {
  for (int k = 0; k < c.k; ++k)
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const Place& p = places[index_of(c, k, i, j)];
        if (of_a ? p.row != i || p.col < 0 : p.col != j || p.row < 0) return false;
      }
  return true;
}

/// Elements of A and of B meet whose k differ, and the sums are the same whichever of the two is said to be
/// out of order.
std::optional<Diagnosis> name_pairs(const Case& c, const Places& of_a, const Places& of_b) {
  if (!other_in_k_alone(c, of_a, true) || !other_in_k_alone(c, of_b, false)) return std::nullopt;
  for (int k = 0; k < c.k; ++k)
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const Place& p = of_b[index_of(c, k, i, j)];
        if (p.row != k)
          return say("WRONG-ELEMENT", "pairs",
                     {{"a", element("A", i, k)},
                      {"b", element("B", p.row, j)},
                      {"i", i},
                      {"j", j},
                      {"k", k},
                      {"other", p.row}});
      }
  return std::nullopt;
}

std::optional<Named> name_source(const Evidence& evidence, const Case& c) {
  std::optional<Named> zero;
  for (const bool of_a : {true, false}) {
    const std::optional<Places> places = factors_of(evidence, c, of_a);
    if (!places || !reproduces(c, *places, of_a)) continue;
    std::optional<Named> named = name(evidence.tile, c, *places, of_a);
    if (!named) continue;
    if (auto walk = of_a ? std::nullopt : name_walk(evidence.tile, c, *places))
      named = Named{*std::move(walk), false};
    if (of_a && !named->zero && other_in_k_alone(c, *places, true))
      if (const auto of_b = factors_of(evidence, c, false); of_b && reproduces(c, *of_b, false))
        if (auto pairs = name_pairs(c, *places, *of_b)) named->diagnosis = *std::move(pairs);
    describe(evidence, c, named->diagnosis);
    if (!named->zero) return named;
    if (!zero) zero = std::move(named);
  }
  return zero;
}

/// An element of A that is in no product of its row of C, or one of B in none of its column, and the
/// one that is there instead.
struct Replaced {
  Place element, extra;
  int line = 0;  ///< the row, or column
};

/// What one operand gives to each line of C (a row of it for A, a column for B) of its column, or row, k,
/// beside an operand that is all ones: the sum of the numbers, from 1, of the elements that are taken.
/// Empty if that is not the same in all of the line.
std::optional<std::vector<double>> taken_of(const Evidence& evidence, const Run& like, bool of_a,
                                            int k) {
  const Matrix &coded = of_a ? like.a : like.b, &other = of_a ? like.b : like.a;
  const Matrix ones = filled(evidence.type, other.rows, other.cols, other.ld - other.cols,
                             [](int, int) { return 1.0; });
  const Matrix code = filled(
      evidence.type, coded.rows, coded.cols, coded.ld - coded.cols,
      [&](int row, int col) { return (of_a ? col : row) == k ? (of_a ? row : col) + 1.0 : 0.0; });
  const auto run = of_a ? probe(evidence, code, ones) : probe(evidence, ones, code);
  if (!run) return std::nullopt;
  const Matrix& c = run->c_after;
  std::vector<double> taken;
  for (int line = 0; line < (of_a ? c.rows : c.cols); ++line) {
    const double value = of_a ? c.at(line, 0) : c.at(0, line);
    for (int other_line = 0; other_line < (of_a ? c.cols : c.rows); ++other_line)
      if ((of_a ? c.at(line, other_line) : c.at(other_line, line)) != value) return std::nullopt;
    if (value != std::floor(value) || value < 0) return std::nullopt;
    taken.push_back(value);
  }
  return taken;
}

/// Both operands may hold other elements than they should: beside one that is all ones, it does not
/// matter which of its elements meet the other's.
std::optional<Replaced> replaced_in(const Evidence& evidence, const Run& like, bool of_a) {
  const auto lines = static_cast<std::size_t>(of_a ? like.a.rows : like.b.cols);
  std::optional<Replaced> lost;
  std::vector<Place> extras(lines);
  for (int k = 0; k < like.a.cols; ++k) {
    const auto taken = taken_of(evidence, like, of_a, k);
    if (!taken) return std::nullopt;
    const auto place = [&](int at) { return of_a ? Place{at, k} : Place{k, at}; };
    for (std::size_t line = 0; line < lines; ++line) {
      const auto own = static_cast<int>(line);
      const double value = (*taken)[line], more = value - (own + 1);
      if (value == 0 && !lost) lost = Replaced{place(own), {}, own};
      if (more >= 1 && more <= static_cast<double>(lines) && extras[line].row < 0)
        extras[line] = place(static_cast<int>(more) - 1);
    }
  }
  if (!lost) return std::nullopt;
  lost->extra = extras[static_cast<std::size_t>(lost->line)];
  return lost->extra.row < 0 ? std::nullopt : lost;
}

/// Elements of both operands are lost, and others there twice.
std::optional<Diagnosis> name_replaced(const Evidence& evidence) {
  constexpr int kSide = 64;
  const int depth = std::min(std::max(evidence.tile.bk, 8), kSide);
  const auto whole = probe_case(evidence, {kSide, kSide, depth, 0, 0, 0}, 43);
  if (!whole || whole->wrong == 0) return std::nullopt;
  const auto of_a = replaced_in(evidence, whole->run, true),
             of_b = replaced_in(evidence, whole->run, false);
  if (!of_a && !of_b) return std::nullopt;
  const Replaced& found = of_a ? *of_a : *of_b;
  const std::string matrix = of_a ? "A" : "B";
  Diagnosis d = say("WRONG-ELEMENT", "replaced",
                    {{"matrix", of_a && of_b ? messages::text("part.a_and_also_of_b") : matrix},
                     {"lost", element(matrix, found.element.row, found.element.col)},
                     {"extra", element(matrix, found.extra.row, found.extra.col)},
                     {"line", (of_a ? "row " : "column ") + std::to_string(found.line)}});
  describe(evidence, *whole, d);
  return d;
}

/// What is taken from beyond an edge is 0, whatever it is: in whole tiles it is an element.
std::optional<Named> name_in_whole_tiles(const Evidence& evidence) {
  constexpr int kSide = 64;
  const int depth = std::min(std::max(evidence.tile.bk, 8), kSide);
  const auto whole = probe_case(evidence, {kSide, kSide, depth, 0, 0, 0}, 43);
  return whole && whole->wrong > 0 ? name_source(evidence, *whole) : std::nullopt;
}

}  // namespace

std::optional<Diagnosis> explain_sources(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product || !evidence.run_probe) return std::nullopt;
  const Case* chosen = nullptr;
  for (const Case& c : cases) {
    const bool few = c.size() * c.k <= kFewFactors;
    if (c.wrong == 0 || c.untouched > 0 || c.k < 2) continue;
    if (c.k > (few ? kMostStepsOfFew : kMostSteps) || c.size() * c.k > kMostFactors) continue;
    if (chosen == nullptr || c.size() * c.k < chosen->size() * chosen->k) chosen = &c;
  }
  if (chosen == nullptr) return std::nullopt;
  if (auto named = name_source(evidence, *chosen)) {
    if (named->zero)
      if (auto whole = name_in_whole_tiles(evidence); whole && !whole->zero)
        return std::move(whole->diagnosis);
    return std::move(named->diagnosis);
  }
  if (auto d = name_stuck(evidence, *chosen)) return d;
  return name_replaced(evidence);
}

}  // namespace grader::diag
