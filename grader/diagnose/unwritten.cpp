// What was never written.
#include <algorithm>
#include <functional>
#include <set>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

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

/// Do all cuts fall on whole tiles, so that exactly the partial tile is missing?
bool falls_on(const std::vector<std::pair<int, int>>& cuts, int tile) {
  return tile > 1 && std::all_of(cuts.begin(), cuts.end(), [tile](const std::pair<int, int>& cut) {
           return cut.first == cut.second / tile * tile;
         });
}

/// The same for the fragments of a tensor core.
bool falls_on_fragments(const std::vector<std::pair<int, int>>& cuts, const Tile& t) {
  return t.wm > 0 && (falls_on(cuts, 16) || falls_on(cuts, 8));
}

/// It is the last row, or column, and never more: a tile may end there, or a bound be one short.
bool one_short(const std::vector<std::pair<int, int>>& cuts) {
  return std::all_of(cuts.begin(), cuts.end(),
                     [](const std::pair<int, int>& cut) { return cut.first == cut.second - 1; });
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
  const bool warp_tiles = tile.wm > 0 && tile.wn > 0;
  warps = warp_tiles ? tile.bm / tile.wm * (tile.bn / tile.wn) : (threads + 31) / 32;
  if (warps < 2) return std::nullopt;
  int stored = -1;
  const auto warp_of = [&](int i, int j) {
    if (warp_tiles) return i % tile.bm / tile.wm * (tile.bn / tile.wn) + j % tile.bn / tile.wn;
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

/// A launch was stopped on the way: what C does not hold, it might have got later.
bool cut_short(const Case& c) {
  for (const simgpu::LaunchReport& launch : c.run.launches)
    for (const simgpu::Finding& finding : launch.findings)
      if (finding.kind == simgpu::FindingKind::budget_exceeded) return true;
  return false;
}

/// What lies at the wrong address for an access of that many bytes is not stored: that is to be told.
bool stores_refused(const Case& c) {
  for (const simgpu::LaunchReport& launch : c.run.launches)
    for (const simgpu::Finding& finding : launch.findings)
      if (finding.kind == simgpu::FindingKind::misaligned && finding.at.object == "C" &&
          finding.at.type == simgpu::AccessType::store)
        return true;
  return false;
}

using Partial = std::vector<const Case*>;  ///< cases of which some elements were written

/// Whether the call's only launch has a block for every tile of C, all in one row or not; empty: that is not known.
std::optional<bool> covered(const Case& c, const Tile& t) {
  if (c.run.launches.size() != 1 || t.bm < 1 || t.bn < 1) return std::nullopt;
  const simgpu::Dim3& grid = c.run.launches.front().grid;
  const auto across = static_cast<unsigned>(tiles_of(c.n, t.bn)),
             down = static_cast<unsigned>(tiles_of(c.m, t.bm));
  const bool in_one_row = grid.y == 1 && grid.x >= std::uint64_t{across} * down;
  return in_one_row || (grid.x >= across && grid.y >= down);
}

/// Some C has several rows of tiles, and all blocks of its launch lie in one row.
bool in_one_row(const Partial& partial, const Tile& t) {
  return std::any_of(partial.begin(), partial.end(), [&t](const Case* c) {
    const simgpu::Dim3& grid = c->run.launches.front().grid;
    return covered(*c, t) == true && grid.y == 1 && tiles_of(c->m, t.bm) > 1;
  });
}

/// A launch with one thread per element that is too small along y (rows) or x (columns), and ends
/// just where C was no longer written: the question to ask. Empty otherwise.
NextStep too_few_threads(const Case& c, const Tile& t, bool rows, int written) {
  if (several_each(t) || c.run.launches.size() != 1) return {};
  const simgpu::LaunchReport& launch = c.run.launches.front();
  const unsigned blocks = rows ? launch.grid.y : launch.grid.x,
                 size = rows ? launch.block.y : launch.block.x;
  if (std::uint64_t{blocks} * size != static_cast<unsigned>(written)) return {};
  return NextStep::of(
      blocks * size == 1 ? "UNWRITTEN.hint.flat" : "UNWRITTEN.hint.few",
      {{"letter", rows ? "y" : "x"},
       {"blocks", blocks == 1 ? messages::text("part.one_block") : counted(blocks, "block")},
       {"size", size},
       {"threads", counted(size, "thread")},
       {"reached", written},
       {"extent", rows ? c.m : c.n},
       {"what", rows ? "row" : "column"}});
}

/// How many elements each block stores along y (rows) or x (columns), where that is one number whatever
/// the number of blocks, and all that they store is still too little: the question to ask. Empty otherwise.
/// `hint`: what is asked otherwise, which may know more.
NextStep too_few_blocks(const Partial& partial, bool rows, const std::string& hint) {
  if (hint != "UNWRITTEN.hint.covered" && hint != "UNWRITTEN.hint.bound") return {};
  int each = 0;
  unsigned least = 0, most = 0;
  for (const Case* k : partial) {
    const Cut cut = *cut_of(*k);
    const int written = rows ? cut.row : cut.col;
    if (written == (rows ? k->m : k->n)) continue;
    if (k->run.launches.size() != 1) return {};
    const simgpu::Dim3& grid = k->run.launches.front().grid;
    const unsigned blocks = rows ? grid.y : grid.x;
    const int per_block = blocks == 0 ? 0 : written / static_cast<int>(blocks);
    if (per_block < 1 ||
        static_cast<unsigned>(per_block) * blocks != static_cast<unsigned>(written) ||
        (each != 0 && each != per_block))
      return {};
    each = per_block;
    least = least == 0 ? blocks : std::min(least, blocks);
    most = std::max(most, blocks);
  }
  if (least == most) return {};  // a guard may end there
  return NextStep::of("UNWRITTEN.hint.blocks", {{"letter", rows ? "y" : "x"},
                                                {"each", counted(each, rows ? "row" : "column")},
                                                {"what", rows ? "row" : "column"},
                                                {"extent", rows ? "M" : "N"}});
}

Diagnosis nothing_written(const Evidence& evidence, const Cases& cases) {
  const Case& c = shown(cases);
  Diagnosis d = say("UNWRITTEN", c.run.launches.empty() ? "none" : "all", {});
  d.seen = seen_in(c.run);
  if (const std::string text = launched(evidence, c); !text.empty()) d.details.push_back(text);
  return d;
}

/// What to ask about cuts like these. `whole`: they fall on whole tiles of a block; `thread`: what a thread has.
std::string hint_of(const std::vector<std::pair<int, int>>& cuts, bool whole, int thread,
                    std::optional<bool> enough, const Tile& t) {
  if (whole && enough == false) return "UNWRITTEN.hint.grid";
  if (one_short(cuts)) return "UNWRITTEN.hint.one";
  if (falls_on(cuts, thread) || falls_on_fragments(cuts, t)) return "UNWRITTEN.hint.guard";
  return enough == true ? "UNWRITTEN.hint.covered" : "UNWRITTEN.hint.bound";
}

/// The last rows, the last columns or both are missing, in every case.
std::optional<Diagnosis> ends_missing(const Partial& partial, const Tile& t) {
  // (where it was cut, extent), over all cases that were cut: a single shape may fit by chance.
  std::vector<std::pair<int, int>> rows, cols;
  for (const Case* k : partial) {
    const std::optional<Cut> at = cut_of(*k);
    if (!at) return std::nullopt;
    if (at->row < k->m) rows.emplace_back(at->row, k->m);
    if (at->col < k->n) cols.emplace_back(at->col, k->n);
  }
  const Case& c = *partial.front();
  const std::optional<bool> enough = covered(c, t);
  std::string place, said, hint;
  const auto add = [&](const std::string& where, int at, int extent, const auto& all, int block,
                       int thread, const std::string& name) {
    const int missing = extent - at;
    const bool whole = falls_on(all, block);
    const std::string rest = last_of(missing, name);
    place += (place.empty() ? "" : " and ") + where;
    said += (said.empty() ? "" : " and ") +
            (whole ? messages::text("part.last_tile", {{"name", name}}) : rest);
    if (hint.empty()) hint = hint_of(all, whole, thread, enough, t);
  };
  const Cut cut = *cut_of(c);
  const bool both = cut.row < c.m && cut.col < c.n;
  NextStep next;
  if (cut.row < c.m) next = too_few_threads(c, t, true, cut.row);
  if (next.empty() && cut.col < c.n) next = too_few_threads(c, t, false, cut.col);
  if (cut.row < c.m)
    add("C[" + from_to(cut.row, c.m - 1) + "][*]", cut.row, c.m, rows, t.bm, t.tm, "row");
  if (cut.col < c.n)
    add("C[*][" + from_to(cut.col, c.n - 1) + "]", cut.col, c.n, cols, t.bn, t.tn, "column");
  // The lab's tile may be another one in this type, and so may be what the grid is thought to reach.
  if (next.empty()) next = too_few_blocks(partial, cut.row < c.m, hint);
  if (next.empty() && hint == "UNWRITTEN.hint.covered" && in_one_row(partial, t))
    hint = "UNWRITTEN.hint.numbered";
  if (next.empty()) next = NextStep::of(hint, {{"bm", t.bm}, {"bn", t.bn}});
  Diagnosis d = say("UNWRITTEN", "rows",
                    {{"place", place},
                     {"was", both ? "were" : "was"},
                     {"what", said},
                     {"hint", static_cast<const std::string&>(next)}});
  d.next_step = next;
  return d;
}

/// The rows, or the columns, from K on are missing, and nothing else: C is bounded by K. (Blocks that lie
/// wholly inside C may do without bounds.) One K alone may fit by chance.
std::optional<Diagnosis> bounded_by_k(const Partial& partial) {
  const Case& c = *partial.front();
  for (const bool rows : {true, false}) {
    std::set<int> fitting;
    bool beyond_k = true;
    for (const Case* k : partial) {
      for (int i = 0; i < k->m; ++i)
        for (int j = 0; j < k->n; ++j)
          beyond_k &= !is_untouched(*k, i, j) || (rows ? i : j) >= k->k;
      const std::optional<Cut> cut = cut_of(*k);
      const Cut from_k = rows ? Cut{k->k, k->n} : Cut{k->m, k->k};
      if (cut && cut->row == from_k.row && cut->col == from_k.col) fitting.insert(k->k);
    }
    if (!beyond_k || fitting.count(c.k) == 0 || fitting.size() < 2) continue;
    const std::string missing = from_to(c.k, (rows ? c.m : c.n) - 1);
    return say("UNWRITTEN", "by_k",
               {{"place", rows ? "C[" + missing + "][*]" : "C[*][" + missing + "]"},
                {"what", rows ? "row" : "column"},
                {"k", c.k},
                {"extent", rows ? c.m : c.n},
                {"meant", rows ? "c.rows" : "c.cols"}});
  }
  return std::nullopt;
}

/// The first rows, the first columns or both are missing, as many in every case, and nothing else.
std::optional<Diagnosis> beginnings_missing(const Partial& partial) {
  std::optional<Cut> first;  // the first row and column that were written
  for (const Case* k : partial) {
    Cut cut{k->m, k->n};
    for (int i = 0; i < k->m; ++i)
      for (int j = 0; j < k->n; ++j)
        if (!is_untouched(*k, i, j)) cut = {std::min(cut.row, i), std::min(cut.col, j)};
    for (int i = 0; i < k->m; ++i)
      for (int j = 0; j < k->n; ++j)
        if (is_untouched(*k, i, j) != (i < cut.row || j < cut.col)) return std::nullopt;
    if (first && (first->row != cut.row || first->col != cut.col)) return std::nullopt;
    first = cut;
  }
  std::string place, what;
  const auto add = [&](const std::string& where, int count, const char* name) {
    if (count == 0) return;
    place += (place.empty() ? "" : " and ") + where;
    what += (what.empty() ? "" : " and ") + first_of(count, name);
  };
  add("C[" + from_to(0, first->row - 1) + "][*]", first->row, "row");
  add("C[*][" + from_to(0, first->col - 1) + "]", first->col, "column");
  if (place.empty()) return std::nullopt;
  const bool both = first->row > 0 && first->col > 0;
  return say("UNWRITTEN", "first",
             {{"place", place}, {"was", both ? "were" : "was"}, {"what", what}});
}

/// One warp stored its part of each tile, and no other did: the same in every case.
std::optional<Diagnosis> warps_missing(const Partial& partial, const Tile& t) {
  int warps = 0;
  const std::optional<int> warp = only_warp(*partial.front(), t, warps);
  if (!warp || !std::all_of(partial.begin(), partial.end(),
                            [&](const Case* k) { return only_warp(*k, t, warps) == warp; }))
    return std::nullopt;
  return say("WARP-PART", "", {{"warp", *warp}, {"warps", warps}});
}

/// Untouched are exactly the elements of which `says` is true, in every case.
bool untouched_where(const Partial& partial,
                     const std::function<bool(const Case&, int, int)>& says) {
  for (const Case* c : partial)
    for (int i = 0; i < c->m; ++i)
      for (int j = 0; j < c->n; ++j)
        if (is_untouched(*c, i, j) != says(*c, i, j)) return false;
  return true;
}

/// Exactly the elements that should be 0 are missing: nobody stores what has not changed.
std::optional<Diagnosis> zeros_missing(const Partial& partial) {
  const auto zero = [](const Case& c, int i, int j) { return c.correct[c.at(i, j)] == 0; };
  const Case& c = *partial.front();
  const std::vector<messages::Gap> gaps = {{"count", c.untouched}, {"total", c.size()}};
  if (untouched_where(partial, zero)) return say("UNWRITTEN", "zeros", gaps);
  // A condition may test the sign as well.
  const auto above = [](const Case& of, int i, int j) { return of.correct[of.at(i, j)] > 0; };
  const auto below = [](const Case& of, int i, int j) { return of.correct[of.at(i, j)] < 0; };
  const auto is = [&](bool known, const auto& sign) {
    return untouched_where(partial,
                           [&](const Case& of, int i, int j) { return sign(of, i, j) == known; });
  };
  constexpr int kFewest = 16;  // fewer elements may have such signs by chance
  if (c.size() < kFewest) return std::nullopt;
  const std::string_view which = is(true, above)    ? "part.sign.positive"
                                 : is(true, below)  ? "part.sign.negative"
                                 : is(false, above) ? "part.sign.not_positive"
                                 : is(false, below) ? "part.sign.not_negative"
                                                    : "";
  if (which.empty()) return std::nullopt;
  return say("UNWRITTEN", "sign",
             {{"count", c.untouched}, {"total", c.size()}, {"which", messages::text(which)}});
}

/// Exactly the tiles that lie wholly within C are missing.
std::optional<Diagnosis> inner_missing(const Partial& partial, const Tile& t) {
  if (t.bm <= 1 || t.bn <= 1) return std::nullopt;
  const auto inner = [&t](const Case& c, int i, int j) {
    return (i / t.bm + 1) * t.bm <= c.m && (j / t.bn + 1) * t.bn <= c.n;
  };
  // What nobody has set is 0, and so is the place where it is stored.
  const auto corner = [&](const Case& c, int i, int j) { return inner(c, i, j) && i + j > 0; };
  const bool all = untouched_where(partial, inner);
  if (!all && !untouched_where(partial, corner)) return std::nullopt;
  return say("UNWRITTEN", all ? "inner" : "corner", {{"tile", fmt::format("{} x {}", t.bm, t.bn)}});
}

/// The launches have as many blocks along rows, or columns, as have so many of them: a lab's tiles of large
/// elements may be smaller than the one it names.
bool blocks_have(const Partial& partial, int width, bool rows) {
  return std::all_of(partial.begin(), partial.end(), [&](const Case* c) {
    if (c->run.launches.size() != 1) return false;
    const simgpu::Dim3& grid = c->run.launches.front().grid;
    return (rows ? grid.y : grid.x) == static_cast<unsigned>(tiles_of(rows ? c->m : c->n, width));
  });
}

/// Of every `step` columns, or rows, a block stores the first `width`: how large is the step? 0 if it does not.
int step_of_blocks(const Partial& partial, int width, bool rows) {
  const auto place = [rows](int i, int j) { return rows ? i : j; };
  for (const int step : {width + 1, 2 * width, 4 * width, 8 * width}) {
    const bool seen = std::any_of(partial.begin(), partial.end(),
                                  [&](const Case* c) { return place(c->m, c->n) > step; });
    const auto between = [&](const Case&, int i, int j) { return place(i, j) % step >= width; };
    if (seen && untouched_where(partial, between)) return step;
  }
  return 0;
}

Diagnosis apart(bool rows, const char* letter, int width, int step) {
  return say(
      "UNWRITTEN", "apart",
      {{"what", rows ? "rows" : "columns"}, {"letter", letter}, {"width", width}, {"step", step}});
}

/// The same of a launch with a thread per element, whose blocks are as large as it pleases: those cases
/// count that have blocks as the first one has. x may be rows or columns.
std::optional<Diagnosis> thread_blocks_apart(const Partial& partial, const Tile& t) {
  if (t.tm > 1 || t.tn > 1) return std::nullopt;
  const auto block_of = [](const Case& c) {
    return c.run.launches.size() == 1 ? c.run.launches.front().block : simgpu::Dim3{0, 0, 0};
  };
  const simgpu::Dim3 block = block_of(*partial.front());
  Partial alike;
  for (const Case* c : partial)
    if (const simgpu::Dim3 own = block_of(*c); own.x == block.x && own.y == block.y)
      alike.push_back(c);
  for (const bool rows : {false, true})
    for (const bool y : {rows, !rows}) {
      const int width = static_cast<int>(y ? block.y : block.x);
      if (width < 2) continue;
      const int step = step_of_blocks(alike, width, rows);
      if (step > 0 && step == static_cast<int>(y ? block.x : block.y))
        return say("UNWRITTEN", "exchanged",
                   {{"what", rows ? "rows" : "columns"},
                    {"letter", y ? "y" : "x"},
                    {"other", y ? "x" : "y"},
                    {"width", width},
                    {"step", step}});
      if (step > 0) return apart(rows, y ? "y" : "x", width, step);
    }
  return std::nullopt;
}

/// Blocks begin too far apart.
std::optional<Diagnosis> blocks_apart(const Partial& partial, const Tile& t) {
  for (const bool rows : {false, true})
    for (const int part : {1, 2}) {
      const int width = (rows ? t.bm : t.bn) / part;
      if (width < 2 || (part > 1 && !blocks_have(partial, width, rows))) continue;
      if (const int step = step_of_blocks(partial, width, rows); step > 0)
        return apart(rows, rows ? "y" : "x", width, step);
    }
  return thread_blocks_apart(partial, t);
}

/// The thread's number is multiplied by the size of a block, and not the block's: threads lie so far apart, and blocks
/// beside each other. Along x, y or both.
std::optional<Diagnosis> threads_apart(const Partial& partial) {
  const auto single = [](const Case* c) { return c->run.launches.size() == 1; };
  if (!std::all_of(partial.begin(), partial.end(), single)) return std::nullopt;
  const auto left_out = [](const Case& c, int place, bool x) {
    const simgpu::LaunchReport& launch = c.run.launches.front();
    return static_cast<unsigned>(place) % (x ? launch.block.x : launch.block.y) >=
           (x ? launch.grid.x : launch.grid.y);
  };
  for (const auto& [along_x, along_y] : {std::pair{true, true}, {true, false}, {false, true}}) {
    const auto missing = [&, x = along_x, y = along_y](const Case& c, int i, int j) {
      return (x && left_out(c, j, true)) || (y && left_out(c, i, false));
    };
    // Two rounds of threads, at least, and more than one block: else it may as well be the last ones that are missing.
    const bool x = along_x;
    const bool shown = std::any_of(partial.begin(), partial.end(), [x](const Case* c) {
      const simgpu::LaunchReport& launch = c->run.launches.front();
      const unsigned step = x ? launch.block.x : launch.block.y;
      return (x ? launch.grid.x : launch.grid.y) > 1 &&
             static_cast<unsigned>(x ? c->n : c->m) > step;
    });
    if (!shown || !untouched_where(partial, missing)) continue;
    const simgpu::LaunchReport& launch = partial.front()->run.launches.front();
    return say("UNWRITTEN", "threads_apart",
               {{"what", x ? "columns" : "rows"},
                {"letter", x ? "x" : "y"},
                {"step", x ? launch.block.x : launch.block.y},
                {"count", x ? launch.grid.x : launch.grid.y}});
  }
  return std::nullopt;
}

/// Of every `count` rows, or columns, as many as a thread has, only the first `first` were stored.
struct FirstOnes {
  bool rows = false;
  int count = 0, first = 0;
};

std::optional<FirstOnes> first_ones(const Partial& partial, const Tile& t) {
  // A lane's elements lie in pieces all over its warp's tile.
  if (t.wm > 0 || t.wn > 0) return std::nullopt;
  for (const bool rows : {true, false}) {
    const int count = rows ? t.tm : t.tn, tile = rows ? t.bm : t.bn;
    const auto extent = [rows](const Case* c) { return rows ? c->m : c->n; };
    // A thread's elements are neighbours, or as far apart as makes them fill the tile.
    for (const int step : {1, count > 1 ? tile / count : 1})
      for (int first = 1; first < count; ++first) {
        const auto last = [&](const Case&, int i, int j) {
          return (rows ? i : j) % (count * step) / step >= first;
        };
        const bool shown = std::any_of(partial.begin(), partial.end(), [&](const Case* c) {
          return extent(c) >= (first + 1) * step;
        });
        if (step > 0 && shown && untouched_where(partial, last))
          return FirstOnes{rows, count, first};
      }
  }
  return std::nullopt;
}

std::string ask_of(const FirstOnes& part) {
  return messages::text(
      "UNWRITTEN.elements.next",
      {{"count", part.count}, {"what", part.rows ? "rows" : "columns"}, {"first", part.first}});
}

/// A thread that has an element outside C stored those in front of it, in the order of its loops, and no other:
/// rows outside (true) or columns. Empty: no, or no thread tells.
std::optional<bool> left_at_edge(const Partial& partial, const Tile& t) {
  if (t.wm > 0 || t.wn > 0 || t.tm < 2 || t.tn < 2 || t.bn < t.tn) return std::nullopt;
  // A thread's columns are neighbours, or lie as far apart as makes them fill the tile; its rows are neighbours.
  for (const int step : {1, t.bn / t.tn})
    for (const bool rows : {true, false}) {
      const auto skipped = [&](const Case& c, int i, int j) {
        const int group = t.tn * step, last = j / group * group + j % step + (t.tn - 1) * step;
        return rows ? i % t.tm > 0 && last >= c.n
                    : j % group / step > 0 && i / t.tm * t.tm + t.tm > c.m;
      };
      if (untouched_where(partial, skipped)) return rows;
    }
  return std::nullopt;
}

Partial partial_of(const Cases& cases) {
  Partial partial;
  for (const Case& c : cases)
    if (c.untouched > 0 && c.untouched < c.size()) partial.push_back(&c);
  return partial;
}

/// Any other places, which may repeat with what a thread or a block computes.
Diagnosis places_missing(const Partial& partial, const Tile& t) {
  const Case& c = *partial.front();
  const auto [row, col] = first_untouched(c);
  std::vector<messages::Gap> gaps = {
      {"count", c.untouched}, {"total", c.size()}, {"place", element("C", row, col)}};
  for (const auto& tile : {std::pair{t.tm, t.tn}, std::pair{t.bm, t.bn}}) {
    const auto repeats = [&tile](const Case* k) {
      return periodic(*k, tile.first, tile.second) || (k->m <= tile.first && k->n <= tile.second);
    };
    if (!std::all_of(partial.begin(), partial.end(), repeats)) continue;
    gaps.emplace_back("tile", fmt::format("{} x {}", tile.first, tile.second));
    return say("UNWRITTEN", "periodic", gaps);
  }
  return say("UNWRITTEN", "some", gaps);
}

}  // namespace

bool is_telling_part(const Evidence& evidence, const Cases& cases) {
  const Partial partial = partial_of(cases);
  const Tile& t = evidence.tile;
  return first_ones(partial, t) || inner_missing(partial, t) ||
         (!partial.empty() && !ends_missing(partial, t) && blocks_apart(partial, t));
}

namespace {

/// With enough blocks the ones behind the first may be seen to store as well, but too far away.
std::optional<Diagnosis> blocks_far_apart(const Evidence& evidence) {
  constexpr int kBlocks = 5;
  const Tile& t = evidence.tile;
  if (evidence.operation != Operation::product || t.bm < 2 || t.bn < 2) return std::nullopt;
  for (const bool rows : {false, true}) {
    const ProbeShape shape{
        rows ? kBlocks * t.bm : t.bm, rows ? t.bn : kBlocks * t.bn, std::max(1, t.bk), 0, 0, 0};
    const auto c = probe_case(evidence, shape, 59);
    if (!c || c->untouched == 0 || c->untouched != c->wrong) continue;
    auto d = blocks_apart({&*c}, t);
    if (!d) continue;
    describe(evidence, *c, *d);
    if (const std::string text = launched(evidence, *c); !text.empty()) d->details.push_back(text);
    d->seen = seen_in(c->run);
    return d;
  }
  return std::nullopt;
}

/// No pattern fits: the part that is missing, or the first place.
Diagnosis part_missing(const Evidence& evidence, const Partial& partial) {
  const Case& c = *partial.front();
  const bool product = evidence.operation == Operation::product;
  const auto [row, col] = first_untouched(c);
  const std::string part = wrong_part(evidence, c);
  Diagnosis d = part.empty()
                    ? places_missing(partial, evidence.tile)
                    : say("UNWRITTEN", "part", {{"part", part}, {"place", element("C", row, col)}});
  if (const auto some = first_ones(partial, evidence.tile)) d.next_step = ask_of(*some);
  if (const auto rows = left_at_edge(partial, evidence.tile))
    d.next_step = messages::text("UNWRITTEN.left.next",
                                 {{"what", *rows ? "row" : "column"},
                                  {"count", *rows ? evidence.tile.tm : evidence.tile.tn},
                                  {"other", *rows ? "column" : "row"}});
  // The compiler leaves a store out if what it would store was never set.
  if (!product && !part.empty())
    d.next_step = messages::text("UNWRITTEN.copy.next", {{"part", part}});
  // Where a thread has one element there is no tile of its own, and no loop over one.
  if (product && evidence.tile.tm <= 1 && evidence.tile.tn <= 1) {
    d.next_step = shares_missing(evidence, c, row);
    if (d.next_step.empty()) d.next_step = too_few_stores(evidence);
    if (d.next_step.empty())
      d.next_step = messages::text("UNWRITTEN.single.next", {{"place", element("C", row, col)}});
  }
  if (const std::string warps = later_warps_missing(evidence); !warps.empty()) d.next_step = warps;
  ask_of_fewer_blocks(evidence.tile, c, d);
  return d;
}

}  // namespace

std::optional<Diagnosis> explain_unwritten(const Evidence& evidence, const Cases& cases) {
  bool any = false;
  for (const Case& c : cases) {
    if (c.wrong != c.untouched || c.padding_written || cut_short(c) || stores_refused(c))
      return std::nullopt;
    any |= c.untouched > 0;
  }
  const Partial partial = partial_of(cases);
  if (!any) return std::nullopt;
  if (partial.empty()) return nothing_written(evidence, cases);
  std::optional<Diagnosis> d = zeros_missing(partial);
  if (!d && evidence.operation == Operation::product) d = bounded_by_k(partial);
  if (!d) d = ends_missing(partial, evidence.tile);
  if (d && d->next_step.key() == "UNWRITTEN.hint.covered")
    if (auto far = blocks_far_apart(evidence)) return far;
  if (!d) d = beginnings_missing(partial);
  const auto twice = [](const Case* c) { return stored_twice(c->run); };
  if (!d && std::none_of(partial.begin(), partial.end(), twice))
    d = warps_missing(partial, evidence.tile);
  if (!d) d = inner_missing(partial, evidence.tile);
  if (!d) d = blocks_apart(partial, evidence.tile);
  if (!d) d = threads_apart(partial);
  if (!d)
    if (auto far = blocks_far_apart(evidence)) return far;
  if (!d) d = part_missing(evidence, partial);
  describe(evidence, *partial.front(), *d);
  if (const std::string text = launched(evidence, *partial.front()); !text.empty())
    d->details.push_back(text);
  return d;
}

}  // namespace grader::diag
