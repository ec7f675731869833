// What was never written, and results that are wrong in a simple way.
#include <algorithm>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

std::string range(int first, int last) {
  return first == last ? std::to_string(first)
                       : std::to_string(first) + ".." + std::to_string(last);
}

std::pair<int, int> first_untouched(const Case& c) {
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (c.state_at(i, j) == State::untouched) return {i, j};
  return {0, 0};
}

bool is_untouched(const Case& c, int i, int j) {
  return c.state_at(i, j) == State::untouched;
}

/// Untouched are exactly the rows from `row` on and the columns from `col` on. Extents mean none.
struct Cut {
  int row = 0, col = 0;
};

std::optional<Cut> cut_of(const Case& c) {
  Cut cut{c.m, c.n};
  const auto row_untouched = [&](int i) {
    for (int j = 0; j < c.n; ++j)
      if (!is_untouched(c, i, j)) return false;
    return true;
  };
  while (cut.row > 0 && row_untouched(cut.row - 1)) --cut.row;
  const auto col_untouched = [&](int j) {
    for (int i = 0; i < cut.row; ++i)
      if (!is_untouched(c, i, j)) return false;
    return true;
  };
  while (cut.row > 0 && cut.col > 0 && col_untouched(cut.col - 1)) --cut.col;
  for (int i = 0; i < cut.row; ++i)
    for (int j = 0; j < cut.col; ++j)
      if (is_untouched(c, i, j)) return std::nullopt;
  return cut;
}

std::string cut_hint(int at, int block, int thread) {
  if (block > 1 && at % block == 0) return "UNWRITTEN.hint.grid";
  if (thread > 1 && at % thread == 0) return "UNWRITTEN.hint.guard";
  return "UNWRITTEN.hint.bound";
}

/// The untouched places repeat with the tile.
bool periodic(const Case& c, int rows, int cols) {
  if (rows < 1 || cols < 1 || (c.m <= rows && c.n <= cols)) return false;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (is_untouched(c, i, j) != is_untouched(c, i % rows, j % cols)) return false;
  return true;
}

/// The one warp that stored, if exactly its elements of each reference tile were stored.
std::optional<int> only_warp(const Case& c, const Tile& tile, int& warps) {
  const int tm = std::max(1, tile.tm), tn = std::max(1, tile.tn);
  if (tile.bm <= 0 || tile.bn <= 0) return std::nullopt;
  const int across = tile.bn / tn, threads = across * (tile.bm / tm);
  warps = (threads + 31) / 32;
  if (warps < 2) return std::nullopt;
  int stored = -1;
  const auto warp_of = [&](int i, int j) {
    return (i % tile.bm / tm * across + j % tile.bn / tn) / 32;
  };
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      if (is_untouched(c, i, j)) continue;
      if (stored < 0) stored = warp_of(i, j);
      if (warp_of(i, j) != stored) return std::nullopt;
    }
  if (stored < 0) return std::nullopt;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (is_untouched(c, i, j) && warp_of(i, j) == stored) return std::nullopt;
  return stored;
}

}  // namespace

std::optional<Diagnosis> explain_unwritten(const Evidence& evidence, const Cases& cases) {
  std::vector<const Case*> partial;
  bool any = false;
  for (const Case& c : cases) {
    if (c.wrong != c.untouched || c.padding_written) return std::nullopt;
    any |= c.untouched > 0;
    if (c.untouched > 0 && c.untouched < c.size()) partial.push_back(&c);
  }
  if (!any) return std::nullopt;
  if (partial.empty()) {
    Diagnosis d = say("UNWRITTEN", "all", {});
    // Other shapes may be right: then these are special.
    const Case& c = shown(cases);
    const bool some_right =
        std::any_of(cases.begin(), cases.end(), [](const Case& k) { return k.wrong == 0; });
    if (some_right)
      d.details.push_back(messages::text(
          "detail.shape",
          {{"m", std::to_string(c.m)}, {"n", std::to_string(c.n)}, {"k", std::to_string(c.k)}}));
    return d;
  }

  const Case& c = *partial.front();
  const Tile& t = evidence.tile;
  const auto [row, col] = first_untouched(c);
  Diagnosis d;
  int warps = 0;
  const auto each = [&](auto holds) { return std::all_of(partial.begin(), partial.end(), holds); };
  const bool cuts = each([](const Case* k) { return cut_of(*k).has_value(); });
  const std::optional<int> warp = only_warp(c, t, warps);
  if (cuts) {
    const Cut cut = *cut_of(c);
    const auto what = [](int at, int extent, int block, const std::string& name) {
      const int missing = extent - at;
      if (block > 1 && at % block == 0 && missing < block) return "the last, partial tile " + name;
      if (block > 1 && at % block == 0 && missing == block) return "the last tile " + name;
      return missing == 1 ? "the last " + name
                          : "the last " + std::to_string(missing) + " " + name + "s";
    };
    std::string place, said;
    std::string hint;
    if (cut.row < c.m) {
      place = "C[" + range(cut.row, c.m - 1) + "][*]";
      said = what(cut.row, c.m, t.bm, "row");
      hint = cut_hint(cut.row, t.bm, t.tm);
    }
    if (cut.col < c.n) {
      place +=
          (place.empty() ? "" : " and ") + std::string("C[*][") + range(cut.col, c.n - 1) + "]";
      said += (said.empty() ? "" : " and ") + what(cut.col, c.n, t.bn, "column");
      if (hint.empty()) hint = cut_hint(cut.col, t.bn, t.tn);
    }
    d = say("UNWRITTEN", "rows",
            {{"place", place}, {"what", said}, {"hint", messages::text(hint)}});
  } else if (warp && each([&](const Case* k) { return only_warp(*k, t, warps) == warp; })) {
    d = say("WARP-PART", "", {{"warp", std::to_string(*warp)}, {"warps", std::to_string(warps)}});
  } else {
    const std::vector<messages::Gap> gaps = {{"count", std::to_string(c.untouched)},
                                             {"total", std::to_string(c.size())},
                                             {"place", element("C", row, col)}};
    d = say("UNWRITTEN", "some", gaps);
    for (const auto& [rows, cols] : {std::pair{t.tm, t.tn}, std::pair{t.bm, t.bn}}) {
      const int r = rows, q = cols;
      if (!each([&](const Case* k) { return periodic(*k, r, q) || (k->m <= r && k->n <= q); }))
        continue;
      std::vector<messages::Gap> with_tile = gaps;
      with_tile.emplace_back("tile", std::to_string(rows) + " x " + std::to_string(cols));
      d = say("UNWRITTEN", "periodic", with_tile);
      break;
    }
  }
  describe(evidence, c, d);
  return d;
}

std::optional<Diagnosis> explain_simple(const Cases& cases) {
  bool zero = true, accumulates = true, any = false;
  for (const Case& c : cases) {
    any |= c.wrong > 0;
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const double value = c.got(i, j);
        zero = zero && value == 0;
        accumulates = accumulates && value == c.correct[c.at(i, j)] + c.run.c_before.at(i, j);
      }
  }
  if (!any) return std::nullopt;
  if (accumulates) return say("ACCUMULATES", "", {});
  if (zero) return say("ALL-ZERO", "", {});
  return std::nullopt;
}

}  // namespace grader::diag
