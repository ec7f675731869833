// Right sums in wrong places, and sums that were not started afresh.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/indices.hpp"
#include "grader/diagnose/places.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

/// Whether C holds what the places say: those of half of it at least are known, and some moved.
bool confirmed(const Case& c, const std::vector<Place>& places) {
  std::size_t known = 0, moved = 0;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      const Place& p = places[c.at(i, j)];
      if (p == kUnknown) continue;
      if (c.got(i, j) != c.correct[c.at(p.row, p.col)] + (p.marked ? 1 : 0)) return false;
      ++known;
      if (p != Place{i, j}) ++moved;
    }
  return moved > 0 && 2 * known >= places.size();
}

/// For each element of C, the element of the right result that it holds; empty if the probes cannot
/// tell, or only of less than half of them.
std::optional<std::vector<Place>> sources(const Evidence& evidence, const Case& c) {
  std::vector<Place> places(c.correct.size());
  const Matrix& a = c.run.a;
  const Matrix& b = c.run.b;
  const auto a_of = [&](auto value) {
    return filled(evidence.type, a.rows, a.cols, a.ld - a.cols, value);
  };
  const auto b_of = [&](auto value) {
    return filled(evidence.type, b.rows, b.cols, b.ld - b.cols, value);
  };
  // Row and column numbers must be exact in the operands' type.
  const int exact = 1 << std::min(significant_bits(evidence.type), 24), most = std::max(c.m, c.n);
  if (most > exact) return std::nullopt;
  // Even numbers, where they are exact: an odd one in C then shows the mark.
  const int unit = evidence.operation != Operation::product && 2 * most < exact ? 2 : 1;
  for (const bool rows : {true, false}) {
    std::optional<Run> run;
    if (evidence.operation == Operation::product)
      run = rows ? probe(evidence, a_of([](int i, int k) { return k == 0 ? i + 1.0 : 0.0; }),
                         b_of([](int, int) { return 1.0; }))
                 : probe(evidence, a_of([](int, int) { return 1.0; }),
                         b_of([](int k, int j) { return k == 0 ? j + 1.0 : 0.0; }));
    else
      run = probe(evidence, a_of([&](int i, int k) { return unit * (rows ? i + 1.0 : k + 1.0); }),
                  b_of([&](int k, int j) { return unit * (rows ? k + 1.0 : j + 1.0); }));
    if (!run) return std::nullopt;
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        Place& place = places[c.at(i, j)];
        const double value = run->c_after.at(i, j);
        if (c.state_at(i, j) == State::untouched || value < unit) place = kUnknown;
        if (place == kUnknown) continue;
        if (!(value / unit < (rows ? c.m : c.n) + 1)) return std::nullopt;
        const int number = static_cast<int>(value);
        (rows ? place.row : place.col) = number / unit - 1;
        place.marked = number % unit != 0;
        // A finding tells more than what such a call leaves behind, and few elements fit anything.
        constexpr std::int64_t kFew = 64;
        if (place.marked && (c.size() < kFew || worst_finding(c.run.launches) != nullptr))
          return std::nullopt;
      }
  }
  if (!confirmed(c, places)) return std::nullopt;
  return places;
}

std::string size_text(int rows, int cols) {
  return fmt::format("{} x {}", rows, cols);
}

/// Tiles inside which, or between which, elements may have been exchanged; most likely first.
std::vector<std::pair<int, int>> tiles_to_try(const Evidence& evidence) {
  const Tile& t = evidence.tile;
  std::vector<std::pair<int, int>> tiles;
  const auto add = [&](int rows, int cols) {
    if (rows > 0 && cols > 0 && rows * cols > 1 &&
        std::find(tiles.begin(), tiles.end(), std::pair{rows, cols}) == tiles.end())
      tiles.emplace_back(rows, cols);
  };
  add(t.tm, t.tn);
  add(t.bm, t.bn);
  if (evidence.operation == Operation::copy_a) add(t.bm, t.bk);
  if (evidence.operation == Operation::copy_b) add(t.bk, t.bn);
  for (const int s : square_tiles(evidence)) add(s, s);
  return tiles;
}

/// Where C[i][j] comes from as formulas of i and j: "[i][j / 4 * 4]"; "" if no simple ones fit.
std::string place_formula(const Evidence& evidence, const Case& c,
                          const std::vector<Place>& places) {
  SeenIndices rows{c.m, c.n, {0}, {}}, cols{c.m, c.n, {0}, {}};
  for (const Place& p : places) {
    rows.values.push_back(p.row);
    cols.values.push_back(p.col);
  }
  const std::vector<int> bases = index_bases(evidence);
  const auto row = fit_index(rows, bases), col = fit_index(cols, bases);
  return row && col ? fmt::format("[{}][{}]", row->text(), col->text()) : "";
}

/// Of the tiles that move as such the largest that C holds whole: smaller ones move with it.
std::optional<std::pair<int, int>> largest(const Case& c,
                                           const std::vector<std::pair<int, int>>& tiles,
                                           const std::function<bool(int, int)>& whole) {
  std::optional<std::pair<int, int>> moved;
  for (const auto& [rows, cols] : tiles) {
    if (!whole(rows, cols)) continue;
    if (!moved || (rows <= c.m && cols <= c.n && rows * cols > moved->first * moved->second))
      moved = {rows, cols};
  }
  return moved;
}

using Holds = std::function<bool(int, int, const Place&)>;

/// The side of the parts of a square tile that stand at (column, row) where (row, column) belongs, and are
/// right inside, as where the first row and column of a warp's part are exchanged; 0: there are none.
int swapped_parts(const Case& c, int rows, int cols, const std::function<bool(const Holds&)>& all) {
  if (rows != cols || c.m < 2 || c.n < 2) return 0;
  for (const int part : {4, 8, 16, 32}) {
    if (part >= rows || rows % part != 0) continue;
    const auto exchanged = [=](int i, int j, const Place& p) {
      return p == Place{i / rows * rows + j % rows / part * part + i % part,
                        j / rows * rows + i % rows / part * part + j % part};
    };
    if (all(exchanged)) return part;
  }
  return 0;
}

/// Whatever has moved has changed places with what stands `down` rows and `right` columns from it, in one
/// direction or the other.
bool in_pairs(const Case& c, const std::vector<Place>& places, int down, int right,
              const std::function<bool(const Holds&)>& all) {
  return all([&](int i, int j, const Place& p) {
    if (p == Place{i, j}) return true;
    if (std::abs(p.row - i) != down || std::abs(p.col - j) != right) return false;
    const Place& other = places[c.at(p.row, p.col)];
    return other == kUnknown || other == Place{i, j};
  });
}

/// Elements come from so many rows (or columns) further on as a thread's own part lies behind the beginning of its
/// block's tile: that place is added to where the whole tile is fetched.
bool own_place_added(const Tile& t, bool row, const std::function<bool(const Holds&)>& all) {
  if (t.tm < 2 || t.tn < 2 || t.wm > 0 || t.bn % t.tn != 0) return false;
  return all([&](int i, int j, const Place& p) {
    const int off = row ? p.row - i : p.col - j;
    return row ? p.col == j && off >= 0 && off % t.tm == 0
               : p.row == i && (off == j % (t.bn / t.tn) || off == j % t.bn / t.tn * t.tn);
  });
}

/// Only the row, or only the column, is another than it should be: which, and by how much.
void ask_of_shift(const Tile& tile, const Case& c, const std::vector<Place>& places,
                  const char* matrix, const std::function<bool(const Holds&)>& all, Diagnosis& d) {
  const Place to = first_moved(c, places), from = places[c.at(to.row, to.col)];
  if ((to.row == from.row) == (to.col == from.col)) return;
  const bool row = to.row != from.row;
  const int here = row ? to.row : to.col, there = row ? from.row : from.col,
            off = std::abs(here - there);
  const bool pairs = in_pairs(c, places, row ? off : 0, row ? 0 : off, all);
  const bool own = !pairs && matrix[0] == 'C' && own_place_added(tile, row, all);
  d.next_step = messages::text(pairs ? "TILE-MAP.pairs.next"
                               : own ? "TILE-MAP.own.next"
                                     : "TILE-MAP.shift.next",
                               {{"i", to.row},
                                {"j", to.col},
                                {"i2", from.row},
                                {"j2", from.col},
                                {"matrix", matrix},
                                {"what", row ? "row" : "column"},
                                {"operand", row ? "A" : "B"},
                                {"apart", (off == 1 ? "one " : std::to_string(off) + " ") +
                                              (row ? "row" : "column") + (off == 1 ? "" : "s")},
                                {"off", off}});
}

struct Named {
  Diagnosis diagnosis;
  bool whole_tiles = false;  ///< they moved as such: it says more than which element lies where
};
/// Elements change places inside each rows x cols tile: in which way. `all`: see name_places().
Diagnosis name_inside(const Case& c, int rows, int cols,
                      const std::function<bool(const Holds&)>& all, const char* variant,
                      std::vector<messages::Gap> gaps) {
  gaps.emplace_back("tile", size_text(rows, cols));
  const bool swapped = rows == cols && all([rows](int i, int j, const Place& p) {
                         return p.row % rows == j % rows && p.col % rows == i % rows;
                       });
  if (swapped) return say("TILE-MAP", "swap", gaps);
  const int part = swapped_parts(c, rows, cols, all);
  if (part == 0) return say("TILE-MAP", variant, gaps);
  gaps.emplace_back("part", size_text(part, part));
  return say("TILE-MAP", "parts", gaps);
}

/// Everything is off by as much in one direction: that is no exchange of tiles.
std::optional<Diagnosis> named_offset(const Place& to, const Place& from,
                                      const std::function<bool(const Holds&)>& all,
                                      std::vector<messages::Gap> gaps) {
  const int down = from.row - to.row, right = from.col - to.col;
  if ((down == 0) == (right == 0) || !all([=](int i, int j, const Place& p) {
        return p == Place{i + down, j + right};
      }))
    return std::nullopt;
  gaps.emplace_back("what", down != 0 ? "row" : "column");
  gaps.emplace_back("off", std::abs(down + right));
  gaps.emplace_back("where", messages::text(down > 0    ? "part.above"
                                            : down < 0  ? "part.below"
                                            : right > 0 ? "part.left_of"
                                                        : "part.right_of"));
  return say("TILE-MAP", "offset", gaps);
}

/// A thread's rows, or columns, each stand where its last but as many belongs: an array is filled, or read, from its
/// end. Beyond C a guard or a clamped index decides.
std::optional<Diagnosis> named_reversal(const Evidence& evidence, const Case& c,
                                        const std::function<bool(const Holds&)>& all,
                                        std::vector<messages::Gap> gaps) {
  constexpr int kFewest = 3;  // two that are exchanged are a pair
  const Tile& t = evidence.tile;
  for (const bool rows : {false, true}) {
    const int own = rows ? t.tm : t.tn, block = rows ? t.bm : t.bn, extent = rows ? c.m : c.n;
    for (const auto& [count, step] :
         {std::pair{own, 1}, {own, own > 0 ? block / own : 0}, {4, 1}, {8, 1}}) {
      if (count < kFewest || step < 1 || extent < count * step) continue;
      const auto turned = [count = count, step = step](int x) {
        const int span = count * step;
        return x / span * span + (count - 1 - x % span / step) * step + x % step;
      };
      const auto holds = [&](int i, int j, const Place& p) {
        const int to = turned(rows ? i : j);
        return (rows ? p.col == j : p.row == i) && (to >= extent || (rows ? p.row : p.col) == to);
      };
      if (!all(holds)) continue;
      const char* const what = rows ? "rows" : "columns";
      gaps.emplace_back(
          "group", step == 1 ? messages::text("part.group", {{"count", count}, {"what", what}})
                             : messages::text("part.group.apart",
                                              {{"count", count}, {"what", what}, {"apart", step}}));
      gaps.emplace_back("what", what);
      gaps.emplace_back("operand", rows ? "A" : "B");
      return say("TILE-MAP", "reversed", gaps);
    }
  }
  return std::nullopt;
}

/// Blocks differ in blockIdx.x alone, though C has several rows of tiles: each computes its tile's row and
/// column from one number. (The tile that moved may be a part of a block's, or several of them.)
bool blocks_in_one_row(const Evidence& evidence, const Case& c, std::pair<int, int> moved) {
  if (c.run.launches.empty()) return false;
  const simgpu::Dim3& grid = c.run.launches.back().grid;
  return grid.y == 1 && grid.z == 1 && c.m > std::max(moved.first, evidence.tile.bm);
}

/// All of C is computed by one block, so that blockIdx cannot be to blame.
bool one_block(const Case& c) {
  return !c.run.launches.empty() && c.run.launches.back().grid == simgpu::Dim3{1, 1, 1};
}

/// Which text fits tiles of this size that change places as a whole.
const char* how_tiles_move(const Evidence& evidence, const Case& c,
                           const std::vector<Place>& places, std::pair<int, int> tile) {
  const Place to = first_moved(c, places), from = places[c.at(to.row, to.col)];
  const Tile& t = evidence.tile;
  if (some_twice(places))
    return t.wm > 0 && from.col == to.col && to.row > from.row &&
                   to.row / t.bm == from.row / t.bm && (to.row - from.row) % t.wm == 0
               ? "repeated.warps"
               : "repeated";
  if (evidence.operation != Operation::product) return "numbers";
  if (one_block(c)) return "blocks.one";
  return blocks_in_one_row(evidence, c, tile) ? "blocks.flat" : "blocks";
}

/// All of a copy is transposed, or a thread's elements are in reverse order everywhere.
std::optional<Named> name_all(const Evidence& evidence, const Case& c,
                              const std::function<bool(const Holds&)>& all,
                              const std::vector<messages::Gap>& gaps) {
  if (evidence.operation == Operation::product) {
    const auto d = named_reversal(evidence, c, all, gaps);
    return d ? std::optional(Named{*d, true}) : std::nullopt;
  }
  if (!all([](int i, int j, const Place& p) { return p == Place{j, i}; })) return std::nullopt;
  return Named{say("TILE-MAP", "copy", gaps)};
}

Named name_places(const Evidence& evidence, const Case& c, const std::vector<Place>& places) {
  const bool product = evidence.operation == Operation::product;
  const Place to = first_moved(c, places), from = places[c.at(to.row, to.col)];
  const char* const matrix = evidence.operation == Operation::copy_b ? "B" : "A";
  std::vector<messages::Gap> gaps = {
      {"i", to.row}, {"j", to.col}, {"i2", from.row}, {"j2", from.col}, {"matrix", matrix}};
  const auto all = [&](const Holds& holds) {
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j)
        if (const Place& p = places[c.at(i, j)]; p != kUnknown && !holds(i, j, p)) return false;
    return true;
  };
  if (auto named = name_all(evidence, c, all, gaps)) return *named;
  const auto tiles = tiles_to_try(evidence);
  // All of a tile comes from one other tile: rows of it that come from different ones do not move with it.
  const auto whole = [&](int r, int q) {
    std::map<std::pair<int, int>, Place> source;
    return all([&](int i, int j, const Place& p) {
      const Place tile{p.row / r, p.col / q};
      return p.row % r == i % r && p.col % q == j % q &&
             source.try_emplace({i / r, j / q}, tile).first->second == tile;
    });
  };
  const auto all_of_c = [&c](int r, int q) { return r >= c.m && q >= c.n; };
  const bool tiles_move = std::any_of(tiles.begin(), tiles.end(), [&](const auto& t) {
    return !all_of_c(t.first, t.second) && whole(t.first, t.second);
  });
  for (const auto& [rows, cols] : tiles) {
    const int r = rows, q = cols;
    // All of C is one such tile: then it says less than that smaller ones move as a whole.
    if (all_of_c(r, q) && tiles_move) continue;
    const bool inside =
        all([&](int i, int j, const Place& p) { return p.row / r == i / r && p.col / q == j / q; });
    if (!inside) continue;
    Named named{name_inside(c, r, q, all, product ? "inside" : "copy", gaps)};
    ask_of_shift(evidence.tile, c, places, product ? "C" : matrix, all, named.diagnosis);
    return named;
  }
  if (const auto d = named_offset(to, from, all, gaps)) return {*d, true};
  if (const auto moved = largest(c, tiles, whole)) {
    gaps.emplace_back("tile", size_text(moved->first, moved->second));
    const int each = evidence.tile.wm, rows = to.row - from.row;
    gaps.emplace_back("rows", rows);
    gaps.emplace_back("each", each);
    gaps.emplace_back("warps", each > 0 && rows != each ? counted(rows / each, "warp")
                                                        : messages::text("part.one_warp"));
    return {say("TILE-MAP", how_tiles_move(evidence, c, places, *moved), gaps), true};
  }
  Named named{say("TILE-MAP", product ? "all" : "copy", gaps)};
  ask_of_shift(evidence.tile, c, places, product ? "C" : matrix, all, named.diagnosis);
  return named;
}

/// Element (i, j) holds the sum of the right elements that `before` lists for it, itself included.
using Before = std::function<std::vector<Place>(int, int)>;

bool sums_of(const Cases& cases, const Before& before) {
  bool any = false;
  for (const Case& c : cases)
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        double sum = 0;
        for (const Place& p : before(i, j))
          if (p.row < c.m && p.col < c.n) sum += c.correct[c.at(p.row, p.col)];
        if (sum != c.got(i, j)) return false;
        any |= c.state_at(i, j) != State::right;
      }
  return any;
}

/// One accumulator for the rows x cols fragments of a warp's tile, one after the other, by rows or
/// by columns of fragments.
Before fragments_before(const Tile& t, int rows, int cols, bool by_rows) {
  const int down = t.wm / rows, across = t.wn / cols;
  return [=, wm = t.wm, wn = t.wn](int i, int j) {
    const int fi = i % wm / rows, fj = j % wn / cols;
    const int last = by_rows ? fi * across + fj : fj * down + fi;
    std::vector<Place> places;
    for (int f = 0; f <= last; ++f) {
      const int row = by_rows ? f / across : f % down, col = by_rows ? f % across : f / down;
      places.push_back({i / wm * wm + row * rows + i % rows, j / wn * wn + col * cols + j % cols});
    }
    return places;
  };
}

Before along_row(int group, int step) {
  return [=](int i, int j) {
    std::vector<Place> places;
    for (int col = j; col >= j / group * group; col -= step) places.push_back({i, col});
    return places;
  };
}

Before along_col(int group, int step) {
  return [=](int i, int j) {
    std::vector<Place> places;
    for (int row = i; row >= i / group * group; row -= step) places.push_back({row, j});
    return places;
  };
}

Before whole_tile(int rows, int cols) {
  return [=](int i, int j) {
    std::vector<Place> places;
    for (int row = i / rows * rows; row <= i; ++row)
      for (int col = j / cols * cols; col < j / cols * cols + cols && (row < i || col <= j); ++col)
        places.push_back({row, col});
    return places;
  };
}

/// An accumulator that goes on where it should begin anew, and how that is said.
struct Carried {
  Before before;
  std::string what;
};

/// From one element of a thread's tile to the next.
void add_elements(const Tile& t, std::vector<Carried>& patterns) {
  const std::string text{messages::raw("ACC-INIT.elements")};
  if (t.tm > 1 && t.tn > 1) patterns.push_back({whole_tile(t.tm, t.tn), text});
  if (t.tn > 1) {
    patterns.push_back({along_row(t.tn, 1), text});
    if (t.bn > t.tn) patterns.push_back({along_row(t.bn, t.bn / t.tn), text});
  }
  if (t.tm > 1) {
    patterns.push_back({along_col(t.tm, 1), text});
    if (t.bm > t.tm) patterns.push_back({along_col(t.bm, t.bm / t.tm), text});
  }
}

/// Of a block that makes two, four or all tiles of a row or column of tiles.
void add_tiles(const Tile& t, std::vector<Carried>& patterns) {
  constexpr int kAll = 1 << 28;
  const std::string text{messages::raw("ACC-INIT.tiles")};
  for (const int tiles : {0, 2, 4}) {
    if (t.bn > 0) patterns.push_back({along_row(tiles > 0 ? tiles * t.bn : kAll, t.bn), text});
    if (t.bm > 0) patterns.push_back({along_col(tiles > 0 ? tiles * t.bm : kAll, t.bm), text});
  }
}

/// From one fragment of a warp's tile to the next.
void add_fragments(const Tile& t, std::vector<Carried>& patterns) {
  if (t.wm <= 0 || t.wn <= 0) return;
  for (const auto& [rows, cols] : {std::pair{16, 16}, std::pair{16, 8}, std::pair{8, 8}}) {
    if (t.wm % rows != 0 || t.wn % cols != 0) continue;
    const std::string text =
        messages::text("ACC-INIT.fragments", {{"tile", size_text(rows, cols)}});
    patterns.push_back({fragments_before(t, rows, cols, true), text});
    patterns.push_back({fragments_before(t, rows, cols, false), text});
    patterns.push_back({along_row(t.wn, cols), text});
    patterns.push_back({along_col(t.wm, rows), text});
  }
}

std::optional<Diagnosis> not_cleared(const Evidence& evidence, const Cases& cases) {
  std::vector<Carried> patterns;
  add_elements(evidence.tile, patterns);
  add_tiles(evidence.tile, patterns);
  if (on_tensor_cores(cases)) add_fragments(evidence.tile, patterns);
  for (const Carried& pattern : patterns) {
    if (!sums_of(cases, pattern.before)) continue;
    Diagnosis d = say("ACC-INIT", "", {{"what", pattern.what}});
    describe(evidence, shown(cases), d);
    return d;
  }
  return std::nullopt;
}

/// All sums of a thread's tile along one direction in the first element of it, and 0 in the others:
/// `count` elements, `step` apart.
Before gathered(bool rows, int count, int step) {
  return [=](int i, int j) {
    std::vector<Place> places;
    const int at = rows ? i : j;
    for (int e = 0; at % (count * step) < step && e < count; ++e)
      places.push_back(rows ? Place{i + e * step, j} : Place{i, j + e * step});
    return places;
  };
}

/// An index of acc is a constant: acc[0][j] where acc[i][j] belongs.
std::optional<Diagnosis> one_accumulator(const Evidence& evidence, const Cases& cases) {
  const Tile& t = evidence.tile;
  struct Direction {
    bool rows;
    int count, step;
  };
  std::vector<Direction> directions;
  if (t.tm > 1) directions.push_back({true, t.tm, 1});
  if (t.tm > 1 && t.bm > t.tm) directions.push_back({true, t.tm, t.bm / t.tm});
  if (t.tn > 1) directions.push_back({false, t.tn, 1});
  if (t.tn > 1 && t.bn > t.tn) directions.push_back({false, t.tn, t.bn / t.tn});
  for (const Direction& d : directions) {
    if (!sums_of(cases, gathered(d.rows, d.count, d.step))) continue;
    Diagnosis named = say("TILE-MAP", "gathered",
                          {{"what", d.rows ? "rows" : "columns"},
                           {"first", d.rows ? "row" : "column"},
                           {"count", d.count},
                           {"got", d.rows ? "acc[0][j]" : "acc[i][0]"}});
    describe(evidence, shown(cases), named);
    return named;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Diagnosis> explain_places(const Evidence& evidence, const Cases& cases) {
  const bool copy = evidence.operation != Operation::product;
  std::optional<Diagnosis> moved;  // only where elements come from, and not why
  const auto named = [&](const Case& c) -> std::optional<Diagnosis> {
    if (!evidence.run_probe || c.k == 0 || c.wrong == 0) return std::nullopt;
    const std::optional<std::vector<Place>> places = sources(evidence, c);
    if (!places) return std::nullopt;
    auto [d, whole_tiles] = name_places(evidence, c, *places);
    const std::string formula = place_formula(evidence, c, *places);
    const bool in_headline = copy && !whole_tiles;
    if (!formula.empty() && !in_headline)
      d.details.push_back(messages::text("detail.places", {{"place", formula}}));
    const bool cause = !copy || name_copy(evidence, c, *places, in_headline ? formula : "", d);
    if (c.untouched > 0)
      d.details.push_back(
          messages::text("detail.places.rest", {{"count", c.untouched}, {"total", c.size()}}));
    describe(evidence, c, d);
    if (cause || !in_headline) return d;
    if (!moved) moved = std::move(d);
    return std::nullopt;
  };
  if (auto d = named(shown(cases))) return d;
  // Where the last tiles are not full, more may be wrong than places: once more with full ones. (A copy takes no time.)
  for (const int full_side : copy ? std::vector<int>{128, 256} : std::vector<int>{128}) {
    const auto full = probe_case(evidence, {full_side, full_side, full_side, 0, 0, 0}, 17);
    if (!full) continue;
    if (auto d = named(*full)) return d;
  }
  if (copy) return moved;
  if (auto d = one_accumulator(evidence, cases)) return d;
  return not_cleared(evidence, cases);
}

}  // namespace grader::diag
