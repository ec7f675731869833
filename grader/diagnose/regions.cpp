// Which part of C is wrong, where nobody knows why: the last column, every fourth row, all but the
// first tile.
//
// A part is some of the rows times some of the columns. Each of the two is put into words if it is one
// stretch, or the same stretch of every so many.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/indices.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

using Chosen = std::vector<bool>;  ///< of all rows, or of all columns

bool all_of(const Chosen& some) {
  return std::all_of(some.begin(), some.end(), [](bool x) { return x; });
}

/// "rows 3..7", "the last 2 rows", "column 5".
std::string stretch(const std::string& what, int first, int last, int extent) {
  const int count = last - first + 1;
  if (count == extent) return messages::text("part.all", {{"what", what}});
  if (last == extent - 1)
    return messages::text("part.last_at",
                          {{"which", last_of(count, what)}, {"numbers", from_to(first, last)}});
  return from_to(what, first, last);
}

/// The same stretch of every `period`; empty if they are none.
std::string repeated(const std::string& what, const Chosen& some, int period) {
  const auto extent = static_cast<int>(some.size());
  if (period < 2 || 2 * period > extent) return "";
  const auto at = [&some](int x) { return some[static_cast<std::size_t>(x)]; };
  int first = -1, last = -1;
  for (int x = 0; x < period; ++x) {
    if (!at(x)) continue;
    if (first < 0) first = x;
    if (last >= 0 && x != last + 1) return "";
    last = x;
  }
  if (first < 0 || last - first + 1 == period) return "";
  for (int x = period; x < extent; ++x)
    if (at(x) != at(x % period)) return "";
  return messages::text("part.of_every",
                        {{"which", from_to(what, first, last)}, {"period", period}});
}

/// In words; empty if they follow no simple rule.
std::string words(const std::string& what, const Chosen& some, const std::vector<int>& periods) {
  const auto first = std::find(some.begin(), some.end(), true);
  if (first == some.end()) return "";
  const auto end = std::find(first, some.end(), false);
  if (std::find(end, some.end(), true) == some.end())
    return stretch(what, static_cast<int>(first - some.begin()),
                   static_cast<int>(end - some.begin()) - 1, static_cast<int>(some.size()));
  for (const int period : periods)
    if (std::string text = repeated(what, some, period); !text.empty()) return text;
  return "";
}

struct Cross {
  Chosen rows, cols;
};

/// Rows and columns in which some element is so; none if that is not nearly all of the elements where
/// they cross. A wrong sum is right by chance now and then.
template <typename Is>
std::optional<Cross> part_of(const Case& c, Is is) {
  Cross p{Chosen(static_cast<std::size_t>(c.m)), Chosen(static_cast<std::size_t>(c.n))};
  std::int64_t count = 0;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (is(i, j)) {
        p.rows[static_cast<std::size_t>(i)] = p.cols[static_cast<std::size_t>(j)] = true;
        ++count;
      }
  const auto crossing = [&p] {
    return std::count(p.rows.begin(), p.rows.end(), true) *
           std::count(p.cols.begin(), p.cols.end(), true);
  };
  if (count > 0 && count == crossing() && count < c.size()) return p;
  // Where few elements cross, a row or a column may be right by chance.
  for (Chosen* const some : {&p.rows, &p.cols})
    if (4 * std::count(some->begin(), some->end(), true) > 3 * std::ssize(*some))
      some->assign(some->size(), true);
  const auto size = crossing();
  if (count == 0 || 4 * count < 3 * size || (all_of(p.rows) && all_of(p.cols))) return std::nullopt;
  return p;
}

std::string words(const Evidence& evidence, const Cross& p) {
  const std::vector<int> periods = index_bases(evidence);
  const std::string rows = words("row", p.rows, periods), cols = words("column", p.cols, periods);
  if (rows.empty() || cols.empty()) return "";
  if (all_of(p.rows)) return cols;
  if (all_of(p.cols)) return rows;
  return messages::text("part.both", {{"rows", rows}, {"columns", cols}});
}

}  // namespace

std::string part_where(const Evidence& evidence, const Case& c,
                       const std::function<bool(int, int)>& is) {
  if (const auto p = part_of(c, is)) return words(evidence, *p);
  return "";
}

std::string wrong_part(const Evidence& evidence, const Case& c) {
  return part_where(evidence, c, [&c](int i, int j) { return c.state_at(i, j) != State::right; });
}

std::string right_part(const Evidence& evidence, const Case& c) {
  // What is right by chance in the rest is not looked for: the right part must hold nothing wrong.
  const auto right = [&c](int i, int j) { return c.state_at(i, j) == State::right; };
  Cross p{Chosen(static_cast<std::size_t>(c.m)), Chosen(static_cast<std::size_t>(c.n))};
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (right(i, j) && right(i, 0) && right(0, j))
        p.rows[static_cast<std::size_t>(i)] = p.cols[static_cast<std::size_t>(j)] = true;
  std::int64_t size = 0;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      if (!p.rows[static_cast<std::size_t>(i)] || !p.cols[static_cast<std::size_t>(j)]) continue;
      if (!right(i, j)) return "";
      ++size;
    }
  if (size < 8 || 16 * size < c.size()) return "";
  return words(evidence, p);
}

namespace {

/// A tile's elements are all off by what it holds beyond the edge: the round trips of the labs add
/// that to each of them, and it should be 0. Where one tile ends and the next begins that changes.
bool off_alike(const Case& c) {
  constexpr int kNarrowest = 4;
  std::int64_t neighbours = 0;
  int width = 0;  // of tiles: a divisor of all columns at which it changes
  for (int i = 0; i < c.m; ++i)
    for (int j = 1; j < c.n; ++j) {
      if (c.state_at(i, j) != State::wrong || c.state_at(i, j - 1) != State::wrong) continue;
      if (c.got(i, j) - c.correct[c.at(i, j)] != c.got(i, j - 1) - c.correct[c.at(i, j - 1)])
        width = std::gcd(width, j);
      else
        ++neighbours;
    }
  return 2 * neighbours >= c.wrong && (width == 0 || width >= kNarrowest);
}

/// What C held before was added to, here and there.
std::optional<Diagnosis> added_in_part(const Case& c) {
  std::optional<std::pair<int, int>> first;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      if (c.state_at(i, j) == State::right) continue;
      if (c.got(i, j) != c.correct[c.at(i, j)] + c.run.c_before.at(i, j)) return std::nullopt;
      if (!first) first = {i, j};
    }
  if (!first) return std::nullopt;
  return say("ACCUMULATES", "part",
             {{"count", c.wrong},
              {"total", c.size()},
              {"place", element("C", first->first, first->second)}});
}

}  // namespace

namespace {

/// Rows and columns from its first element on, of a tile of C.
struct Corner {
  int row = 0, col = 0;
};

/// The tile at `to` holds the sums of the one at `from` as well as its own.
bool also_holds(const Case& c, const Tile& tile, Corner to, Corner from) {
  for (int i = to.row; i < std::min(c.m, to.row + tile.bm); ++i)
    for (int j = to.col; j < std::min(c.n, to.col + tile.bn); ++j) {
      const int row = from.row + i - to.row, col = from.col + j - to.col;
      const double more = row < c.m && col < c.n ? c.got(row, col) : 0;
      if (c.got(i, j) != c.correct[c.at(i, j)] + more) return false;
    }
  return true;
}

/// A block that makes many tiles, far apart, goes on with the sums of the one before: all wrong tiles
/// hold those of another one.
std::optional<Diagnosis> carried_from_afar(const Evidence& evidence, const Case& c) {
  const Tile& tile = evidence.tile;
  constexpr std::size_t kMostTiles = 1024;
  if (evidence.operation != Operation::product || tile.bm < 2 || tile.bn < 2 || c.untouched > 0)
    return std::nullopt;
  std::vector<Corner> all, wrong;
  for (int row = 0; row < c.m; row += tile.bm)
    for (int col = 0; col < c.n; col += tile.bn) {
      all.push_back({row, col});
      bool right = true;
      for (int i = row; i < std::min(c.m, row + tile.bm); ++i)
        for (int j = col; j < std::min(c.n, col + tile.bn); ++j)
          right = right && c.state_at(i, j) == State::right;
      if (!right) wrong.push_back({row, col});
    }
  if (all.size() > kMostTiles || wrong.empty()) return std::nullopt;
  Corner source;  // of the first
  for (const Corner& to : wrong) {
    const auto from = std::find_if(all.begin(), all.end(), [&](const Corner& other) {
      return (other.row != to.row || other.col != to.col) && also_holds(c, tile, to, other);
    });
    if (from == all.end()) return std::nullopt;
    if (&to == &wrong.front()) source = *from;
  }
  return say("ACC-INIT", "afar",
             {{"tile", fmt::format("{} x {}", tile.bm, tile.bn)},
              {"tiles", counted(std::ssize(wrong), "tile")},
              {"hold", wrong.size() == 1 ? "holds" : "hold"},
              {"place", element("C", wrong.front().row, wrong.front().col)},
              {"source", element("C", source.row, source.col)}});
}

/// Which of `count` elements that a thread has along a row, or down a column, are wrong wherever they exist, if
/// others never are; they lie `step` apart. Empty: it is not so.
std::vector<int> own_of_thread(const Case& c, int count, int step, bool rows) {
  std::vector<std::int64_t> wrong(static_cast<std::size_t>(count)), all = wrong;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      const auto own = static_cast<std::size_t>((rows ? i : j) / step % count);
      ++all[own];
      wrong[own] += c.state_at(i, j) == State::wrong;
    }
  std::vector<int> list;
  for (std::size_t own = 0; own < wrong.size(); ++own) {
    if (wrong[own] == 0) continue;
    if (2 * wrong[own] < all[own]) return {};  // sums of small integers are right by accident
    list.push_back(static_cast<int>(own));
  }
  return list.size() < wrong.size() ? list : std::vector<int>{};
}

/// Where it is always the same of a thread's rows, or columns, that are wrong, asks about these.
void ask_of_own(const Tile& tile, const Case& c, Diagnosis& d) {
  for (const bool rows : {false, true}) {
    const int count = rows ? tile.tm : tile.tn, extent = rows ? tile.bm : tile.bn;
    if (count < 2 || extent < count) continue;
    for (const int step : {1, extent / count}) {
      const std::vector<int> own = own_of_thread(c, count, step, rows);
      if (own.empty()) continue;
      std::string list;
      for (const int number : own) list += (list.empty() ? "" : ", ") + std::to_string(number);
      d.next_step = messages::text(
          "WRONG-PART.own.next",
          {{"tm", tile.tm}, {"tn", tile.tn}, {"what", rows ? "row" : "column"}, {"list", list}});
      return;
    }
  }
}

std::optional<Diagnosis> part_of_case(const Evidence& evidence, const Case& c) {
  if (auto d = carried_from_afar(evidence, c)) {
    describe(evidence, c, *d);
    return d;
  }
  if (auto d = added_in_part(c)) {
    describe(evidence, c, *d);
    return d;
  }
  if (evidence.operation != Operation::product && off_alike(c)) {
    Diagnosis d = say("WRONG-PART", "fill", {});
    describe(evidence, c, d);
    return d;
  }
  std::int64_t zeros = 0, nans = 0;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      if (c.state_at(i, j) != State::wrong) continue;
      zeros += c.got(i, j) == 0;
      nans += std::isnan(c.got(i, j));
    }
  std::string part = wrong_part(evidence, c);
  // As in explain_simple(): from finite numbers only a register that nobody set makes a NaN.
  const char* variant = zeros == c.wrong ? "zero" : nans == c.wrong ? "never" : "";
  if (part.empty()) {
    part = right_part(evidence, c);
    variant = "right";
  }
  if (part.empty()) return std::nullopt;
  Diagnosis d = say("WRONG-PART", variant, {{"part", part}});
  if (evidence.operation == Operation::product && evidence.tile.wm < 1 && *variant == '\0')
    ask_of_own(evidence.tile, c, d);
  describe(evidence, c, d);
  return d;
}

}  // namespace

std::optional<Diagnosis> explain_part(const Evidence& evidence, const Cases& cases) {
  // A few elements are no part, and where all is wrong there is none.
  constexpr std::int64_t kFew = 4;
  std::vector<const Case*> partly;
  for (const Case& c : cases)
    if (c.wrong >= kFew && c.wrong < c.size()) partly.push_back(&c);
  // The largest shows best what is repeated.
  std::sort(partly.begin(), partly.end(),
            [](const Case* x, const Case* y) { return x->size() > y->size(); });
  for (const Case* const c : partly)
    if (auto d = part_of_case(evidence, *c)) return d;
  return std::nullopt;
}

}  // namespace grader::diag
