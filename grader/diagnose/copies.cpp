// How elements of a copy have changed places on their way through a tile: which step, or which beginning of a
// part, does that.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "grader/diagnose/places.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader::diag {

Place first_moved(const Case& c, const std::vector<Place>& places) {
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (const Place& p = places[c.at(i, j)]; p != kUnknown && p != Place{i, j}) return {i, j};
  return {0, 0};
}

bool some_twice(const std::vector<Place>& places) {
  std::set<std::pair<int, int>> met;
  return std::any_of(places.begin(), places.end(), [&met](const Place& p) {
    return p != kUnknown && !met.emplace(p.row, p.col).second;
  });
}

namespace {

/// Every block of a copy fetches what the first block, in its row or column of blocks, should: the
/// column, or the row, at which a block's part begins is missing. Empty: it is not so.
std::string lost_origin(const Evidence& evidence, const Case& c, const std::vector<Place>& places) {
  const Tile& t = evidence.tile;
  const bool a = evidence.operation == Operation::copy_a;
  const int high = a ? t.bm : t.bk, wide = a ? t.bk : t.bn;
  for (const bool rows : {false, true}) {
    const int part = rows ? high : wide;
    if (part < 2 || (rows ? c.m : c.n) <= part) continue;
    bool fits = true;
    for (int i = 0; i < c.m && fits; ++i)
      for (int j = 0; j < c.n && fits; ++j) {
        const Place& p = places[c.at(i, j)];
        fits = p == kUnknown || p == (rows ? Place{i % part, j} : Place{i, j % part});
      }
    if (fits) return rows ? "row0" : "col0";
  }
  return "";
}

/// A pointer that should go down so many rows goes as many elements to the right: how many at a time;
/// 0: it does not.
int rows_for_elements(const Evidence& evidence, const Case& c, const std::vector<Place>& places) {
  const Tile& t = evidence.tile;
  const int high = evidence.operation == Operation::copy_a ? t.bm : t.bk;
  constexpr int kNarrowest = 4;  // in fewer columns, other mistakes look alike
  if (evidence.operation == Operation::product || high < 2 || c.n < kNarrowest) return 0;
  const Matrix& m = evidence.operation == Operation::copy_a ? c.run.a : c.run.b;
  for (int step = 2; step < high && step < c.m; step *= 2) {
    const auto fits = [&](int i, int j) {
      const Place& p = places[c.at(i, j)];
      const int first = i / high * high + i % high % step, down = i - first;
      return p == kUnknown || p.row * m.ld + p.col == first * m.ld + j + down;
    };
    bool all = true;
    for (int i = 0; i < c.m && all; ++i)
      for (int j = 0; j < c.n && all; ++j) all = fits(i, j);
    if (all) return step;
  }
  return 0;
}

/// The next group of `step` rows, or columns, of a block's part comes from `by` further on in the matrix.
struct Advance {
  bool rows = true;
  int step = 0, by = 0;
};
std::optional<Advance> other_advance(const Evidence& evidence, const Case& c,
                                     const std::vector<Place>& places) {
  const Tile& t = evidence.tile;
  if (evidence.operation == Operation::product) return std::nullopt;
  const bool of_a = evidence.operation == Operation::copy_a;
  const auto fits = [&](const Advance& a, int part) {
    bool any = false;
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const Place& p = places[c.at(i, j)];
        const int at = a.rows ? i : j, within = at % part,
                  to = at - within + within % a.step + within / a.step * a.by;
        if (p == kUnknown) continue;
        if (p != (a.rows ? Place{to, j} : Place{i, to})) return false;
        any |= to != at;
      }
    return any;
  };
  for (const bool rows : {true, false}) {
    const int part = rows == of_a ? (of_a ? t.bm : t.bn) : t.bk;
    for (int step = 2; step < part && step < (rows ? c.m : c.n); step *= 2)
      for (const int by : {0, 1, 2, 4, 8, 16, 32, 64})
        if (const Advance a{rows, step, by}; by != step && fits(a, part)) return a;
  }
  return std::nullopt;
}

/// Pieces of `piece` neighbours lie `step` apart in a row, and each is stored `by` after the one before in a thread's
/// registers, over what is left of that.
struct Crowded {
  int step = 0, by = 0;
};
std::optional<Crowded> crowded_pieces(const Case& c, const std::vector<Place>& places, int piece) {
  const auto fits = [&](const Crowded& s) {
    std::int64_t known = 0;
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const Place& p = places[c.at(i, j)];
        if (p == kUnknown || j / s.step % 2 != 0 || j % piece < s.by) continue;
        if (j - s.by + s.step >= c.n) continue;
        if (p != Place{i, j - s.by + s.step}) return false;
        ++known;
      }
    return known > 0;
  };
  for (int step = piece; 2 * step <= c.n; step *= 2)
    for (int by = 1; by < piece; ++by)
      if (const Crowded s{step, by}; fits(s)) return s;
  return std::nullopt;
}

/// What C holds belongs `rows` rows and `cols` columns further on, where nothing was ever stored: it was
/// stored over what belongs here. Empty: it is not so.
std::optional<Place> stored_over(const Case& c, const std::vector<Place>& places) {
  if (c.untouched == 0) return std::nullopt;
  std::optional<Place> off;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      const Place& p = places[c.at(i, j)];
      if (p == kUnknown || p == Place{i, j}) continue;
      const Place here{p.row - i, p.col - j};
      if (off && !(*off == here)) return std::nullopt;
      if (c.state_at(p.row, p.col) != State::untouched) return std::nullopt;
      off = here;
    }
  return off;
}

/// By how much each 8 x 8 part of a 16 x 16 fragment, in the order of ldmatrix' registers, comes from
/// another place than its own, as the first fragment shows. What leaves the tile may lie anywhere, so a
/// quarter may disagree. Empty: parts are not moved as such, or all alike.
constexpr int kQuarterSide = 8, kQuarters = 4;
std::optional<std::array<Place, kQuarters>> moved_parts(const Case& c,
                                                        const std::vector<Place>& places) {
  std::array<std::optional<Place>, kQuarters> off;
  std::int64_t known = 0, agree = 0;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      const Place& p = places[c.at(i, j)];
      if (p == kUnknown) continue;
      auto& part = off[static_cast<std::size_t>(i / kQuarterSide % 2 + j / kQuarterSide % 2 * 2)];
      const Place here{p.row - i, p.col - j};
      if (!part) part = here;
      ++known;
      agree += *part == here;
    }
  std::array<Place, kQuarters> all;
  bool differ = false;
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (!off[r]) return std::nullopt;
    all[r] = *off[r];
    differ |= !(all[r] == all[0]);
  }
  return differ && 4 * agree >= 3 * known ? std::optional(all) : std::nullopt;
}

/// "rows 8..15, columns 0..7": of a fragment's part that begins there.
std::string part_text(int row, int col) {
  return messages::text("part.quarter", {{"rows", from_to(row, row + kQuarterSide - 1)},
                                         {"columns", from_to(col, col + kQuarterSide - 1)}});
}

Diagnosis name_parts(const std::array<Place, kQuarters>& off, const std::string& matrix) {
  std::string list;
  for (int r = 0; r < kQuarters; ++r) {
    const Place& by = off[static_cast<std::size_t>(r)];
    const int row = r % 2 * kQuarterSide, col = r / 2 * kQuarterSide;
    if (by == Place{}) continue;
    list +=
        (list.empty() ? "" : "; ") +
        messages::text("TILE-MAP.registers.one", {{"register", r},
                                                  {"right", part_text(row, col)},
                                                  {"got", part_text(row + by.row, col + by.col)}});
  }
  return say("TILE-MAP", "registers", {{"matrix", matrix}, {"list", list}});
}

/// The elements of a piece of `count` neighbours are fetched one below the other.
bool turned_pieces(const Case& c, const std::vector<Place>& places, int count) {
  std::int64_t known = 0;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      const Place& p = places[c.at(i, j)];
      if (p == kUnknown) continue;
      if (p != Place{i + j % count, j / count * count}) return false;
      ++known;
    }
  return known > 0 && count > 1;
}

/// Every element of a piece of so many is the first of them.
bool first_of_pieces(const Case& c, const std::vector<Place>& places, int piece) {
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (!(places[c.at(i, j)] == Place{i, j / piece * piece})) return false;
  return true;
}

/// Where each element of a copy comes from, as a formula; of two that come from one place, which.
void name_formula(const Case& c, const std::vector<Place>& places, const std::string& matrix,
                  const std::string& formula, Diagnosis& d) {
  const bool twice = some_twice(places);
  d.headline = messages::text(twice ? "TILE-MAP.copy.twice" : "TILE-MAP.copy.formula",
                              {{"matrix", matrix}, {"place", formula}});
  if (!twice) return;
  const Place to = first_moved(c, places), from = places[c.at(to.row, to.col)];
  if (!(places[c.at(from.row, from.col)] == from)) return;  // what belongs there is elsewhere, too
  for (const int piece : {2, 4, 8})
    if (first_of_pieces(c, places, piece)) {
      d.next_step = messages::text("TILE-MAP.copy.first.next", {{"piece", piece}});
      return;
    }
  d.next_step = messages::text("TILE-MAP.copy.twice.next",
                               {{"i", to.row}, {"j", to.col}, {"i2", from.row}, {"j2", from.col}});
}

/// Elements that are not 0 in A, and are right or 0 in C, in whole pieces of 16 bytes of a row or in its last, partial one.
struct PieceCounts {
  std::int64_t right_whole = 0, lost_whole = 0, right_partial = 0, lost_partial = 0;
};

/// Empty: something else is wrong as well.
std::optional<PieceCounts> count_in_pieces(const Case& c, int piece) {
  PieceCounts n;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      const bool right = c.state_at(i, j) == State::right, whole = j / piece * piece + piece <= c.n;
      if (!right && (c.state_at(i, j) == State::untouched || c.got(i, j) != 0)) return std::nullopt;
      if (right && c.got(i, j) == 0) continue;
      ++(whole ? right ? n.right_whole : n.lost_whole : right ? n.right_partial : n.lost_partial);
    }
  return n;
}

}  // namespace

std::optional<Diagnosis> explain_lost_pieces(const Evidence& evidence, const Cases& cases) {
  const int piece = 16 / static_cast<int>(size_of(evidence.type));
  if (evidence.operation == Operation::product) return std::nullopt;
  PieceCounts all;
  for (const Case& c : cases) {
    if (c.wrong == 0) continue;
    const auto n = count_in_pieces(c, piece);
    if (!n || c.padding_written) return std::nullopt;
    all.right_whole += n->right_whole, all.lost_whole += n->lost_whole;
    all.right_partial += n->right_partial, all.lost_partial += n->lost_partial;
  }
  const bool partial = all.lost_partial > 1 && all.right_partial == 0 && all.lost_whole == 0 &&
                       all.right_whole > 0,
             whole = all.lost_whole > 1 && all.right_whole == 0 && all.lost_partial == 0 &&
                     all.right_partial > 0;
  if (!partial && !whole) return std::nullopt;
  Diagnosis d = say("ALL-ZERO", partial ? "partial" : "whole", {{"count", piece}});
  describe(evidence, shown(cases), d);
  return d;
}

bool name_copy(const Evidence& evidence, const Case& c, const std::vector<Place>& places,
               const std::string& formula, Diagnosis& d) {
  const std::string matrix = evidence.operation == Operation::copy_b ? "B" : "A";
  const int bytes = static_cast<int>(size_of(evidence.type)), piece = 16 / bytes;
  const auto parts = bytes == 2 ? moved_parts(c, places) : std::nullopt;
  if (!formula.empty()) name_formula(c, places, matrix, formula, d);
  bool found = true;
  if (const std::string origin = lost_origin(evidence, c, places); !origin.empty())
    d = say("TILE-MAP", "copy.origin",
            {{"origin", origin},
             {"matrix", matrix},
             {"what", origin == "row0" ? "row" : "column"},
             {"index", origin == "row0" ? "blockIdx.y" : "blockIdx.x"}});
  else if (const int step = rows_for_elements(evidence, c, places); step > 0)
    d = say("TILE-MAP", "copy.step", {{"matrix", matrix}, {"step", step}});
  else if (const auto advance = other_advance(evidence, c, places))
    d = say("TILE-MAP", advance->rows ? "copy.advance" : "copy.across",
            {{"matrix", matrix},
             {"step", advance->step},
             {"by", advance->by},
             {"far", fmt::format("{} {}{}", advance->by, advance->rows ? "row" : "column",
                                 advance->by == 1 ? "" : "s")},
             {"piece", piece}});
  else if (const auto crowded = crowded_pieces(c, places, piece))
    d = say("TILE-MAP", "copy.crowded",
            {{"matrix", matrix}, {"step", crowded->step}, {"by", crowded->by}, {"piece", piece}});
  else if (turned_pieces(c, places, piece))
    d = say("TILE-MAP", "copy.down", {{"matrix", matrix}, {"count", piece}});
  else if (const auto off = stored_over(c, places))
    d = say("TILE-MAP", off->col == 0 || off->row == 0 ? "copy.over" : "copy.over.both",
            {{"matrix", matrix},
             {"what", off->col == 0 ? "row" : "column"},
             {"off", off->col == 0 ? off->row : off->col},
             {"rows", off->row},
             {"cols", off->col}});
  else if (parts)
    d = name_parts(*parts, matrix);
  else
    found = false;
  const auto marked = [](const Place& p) { return p != kUnknown && p.marked; };
  if (std::any_of(places.begin(), places.end(), marked))
    d.details.push_back(messages::text("detail.places.marked"));
  return found;
}

}  // namespace grader::diag
