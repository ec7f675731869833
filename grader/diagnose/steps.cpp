// What it means if some k were added too often, and others never.
#include "grader/diagnose/steps.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

/// Per k-tile: its count if all its steps agree.

std::optional<Profile> per_tile(const Profile& p, int tile) {
  Profile tiles;
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (k % static_cast<std::size_t>(tile) == 0)
      tiles.push_back(p[k]);
    else if (p[k] != tiles.back())
      return std::nullopt;
  }
  return tiles;
}

/// The first steps are added as often each, and the rest never: a part of the sum is made again where

/// another belongs.

std::optional<Diagnosis> name_others(const Profile& p) {
  const int times = p.front(), k = static_cast<int>(p.size());
  const auto end = std::find_if(p.begin(), p.end(), [times](int x) { return x != times; });
  if (times < 2 || end == p.end() || std::any_of(end, p.end(), [](int x) { return x != 0; }))
    return std::nullopt;
  const auto there = static_cast<int>(end - p.begin());
  return say("K-TILE-REPEATED", "others",
             {{"there", steps(0, there - 1)},
              {"are", there == 1 ? "is" : "are"},
              {"times", times},
              {"missing", steps(there, k - 1)}});
}

/// "k = 8..15": the steps of a tile.

std::string steps_of_tile(int index, int tile, int k) {
  return steps(index * tile, std::min(k, (index + 1) * tile) - 1);
}

/// Which one is missing. `partial`: the last k-tile is not full.
std::string one_missing(const Profile& t, bool partial) {
  if (t.back() == 0) return messages::text(partial ? "part.missing.partial" : "part.missing.last");
  return t.front() == 0 ? messages::text("part.missing.first") : "";
}

/// Each tile is added once or never, by its count. `shared`: see repeated().
std::optional<Diagnosis> missing_tiles(const Profile& t, int tile, int k, bool shared) {
  std::string list, ranges;
  int missing = 0;
  const auto count = static_cast<int>(t.size());
  const auto is_missing = [&t](int i) { return t[static_cast<std::size_t>(i)] == 0; };
  for (int i = 0; i < count; ++i) {
    if (!is_missing(i)) continue;
    const int first = i;
    while (i + 1 < count && is_missing(i + 1)) ++i;
    missing += i - first + 1;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", first);
    if (i > first) list += fmt::format("{}{}", i == first + 1 ? ", " : "..", i);
    ranges +=
        (ranges.empty() ? "" : " and ") + steps(first * tile, std::min(k, (i + 1) * tile) - 1);
  }
  if (missing == count - 1 && count > 2 && !is_missing(0)) {
    Diagnosis d = say("K-TILE-MISSING", "first", {{"there", steps_of_tile(0, tile, k)}});
    if (shared) d.next_step = messages::text("K-TILE-MISSING.shares.next");
    return d;
  }
  const std::string note = missing == 1 ? one_missing(t, k % tile != 0) : "";
  const bool inner = t.front() != 0 && t.back() != 0;
  // Of some in a row, none is between two that are missing.
  const auto first_missing = std::find(t.begin(), t.end(), 0);
  const auto last_missing = std::find(t.rbegin(), t.rend(), 0).base();
  const bool again = std::count(first_missing, last_missing, 0) != last_missing - first_missing;
  const char* const between = missing == 1 ? "ahead" : "inner";
  Diagnosis d = say("K-TILE-MISSING",
                    again           ? "again"
                    : inner         ? between
                    : t.back() != 0 ? "begin"
                                    : "",
                    {{"tiles", (missing == 1 ? "k-tile " : "k-tiles ") + list},
                     {"range", ranges},
                     {"are", missing == 1 ? "is" : "are"},
                     {"before", steps(0, static_cast<int>(first_missing - t.begin()) * tile - 1)},
                     {"note", note}});
  // Some in a row are rather a block's part than a round.
  if (shared && inner && !again && missing > 1)
    d.next_step = messages::text("K-TILE-MISSING.between.next");
  return d;
}

/// What of a sum is added too often. `shared`: by blocks whose parts are added up by another launch.

Diagnosis repeated(const std::string& what, bool shared) {
  return say("K-TILE-REPEATED", shared ? "parts" : "", {{"what", what}});
}

/// A step of a k-tile multiplies the piece before it, or behind it, as where pieces are loaded ahead

/// into the wrong place: one end of each tile is added twice, the other never.

std::optional<Diagnosis> name_late_pieces(const Profile& p, int tile) {
  if (static_cast<int>(p.size()) < tile) return std::nullopt;
  for (const int width : {16, 8, 4, 2, 1}) {
    if (tile % width != 0 || tile / width < 2) continue;
    for (const bool late : {true, false}) {
      const int twice = late ? 0 : tile / width - 1, never = late ? tile / width - 1 : 0;
      bool fits = true;
      for (std::size_t k = 0; k < p.size() && fits; ++k) {
        const int piece = static_cast<int>(k) % tile / width;
        fits = p[k] == (piece == twice ? 2 : piece == never ? 0 : 1);
      }
      if (fits)
        return say("K-TILE-REPEATED", late ? "late" : "early",
                   {{"are", width == 1 ? messages::text("part.one_is")
                                       : messages::text("part.several_are", {{"which", width}})},
                    {"rest", width == 1 ? "one" : std::to_string(width)},
                    {"count", width},
                    {"tile", tile},
                    {"times", tile / width}});
    }
  }
  return std::nullopt;
}

/// Two sets of pieces should take turns, and a step loads into the one that it multiplies: the first piece of a tile is
/// never added, and the last but one, which the set for the last step still holds, twice.
std::optional<Diagnosis> name_turns(const Profile& p, int tile) {
  if (static_cast<int>(p.size()) < tile) return std::nullopt;
  for (const int width : {16, 8, 4, 2, 1}) {
    const int pieces = tile / width;
    if (tile % width != 0 || pieces < 4 || pieces % 2 != 0) continue;
    bool fits = true;
    for (std::size_t k = 0; k < p.size() && fits; ++k) {
      const int piece = static_cast<int>(k) % tile / width;
      fits = p[k] == (piece == pieces - 2 ? 2 : piece == 0 ? 0 : 1);
    }
    if (fits)
      return say("K-TILE-REPEATED", "turns",
                 {{"tile", tile},
                  {"never", steps(0, width - 1)},
                  {"twice", steps(tile - 2 * width, tile - width - 1)}});
  }
  return std::nullopt;
}

/// The sum of a k-tile is added after each of its pieces, or before each but the first, and goes on

/// growing.

std::optional<Diagnosis> name_growing(const Profile& p, int tile) {
  if (static_cast<int>(p.size()) < tile) return std::nullopt;
  for (const int width : {16, 8, 4, 2, 1}) {
    const int pieces = tile / width;
    if (tile % width != 0 || pieces < 2) continue;
    for (const int top : {pieces, pieces - 1}) {
      bool fits = top > 1;
      for (std::size_t k = 0; k < p.size() && fits; ++k)
        fits = p[k] == top - static_cast<int>(k) % tile / width;
      if (fits)
        return say("K-TILE-REPEATED", "growing",
                   {{"tile", tile}, {"width", width}, {"top", top}, {"next", times_text(top - 1)}});
    }
  }
  return std::nullopt;
}

/// The same in every k-tile, and not the same for all of its k.

std::string ordinal(int n) {
  return n == 2 ? "second" : n == 3 ? "third" : fmt::format("{}th", n);
}

/// "k = 7, the last step, is": which single steps are missing, none being added twice.

/// The steps that are there lie regularly apart, and no more than a few of the others are.

std::optional<Diagnosis> name_every(const std::vector<int>& there, int k) {
  if (there.size() < 2 || there[1] - there[0] < 2) return std::nullopt;
  const int step = there[1] - there[0];
  if (there.front() >= step || there.back() + step < k) return std::nullopt;
  for (std::size_t i = 1; i < there.size(); ++i)
    if (there[i] - there[i - 1] != step) return std::nullopt;
  return say("K-MISSING", "every",
             {{"step", ordinal(step)}, {"list", fmt::format("k = {}, {}", there[0], there[1])}});
}

/// The same stretch of every k-tile, and no more.

std::optional<Diagnosis> name_window(const std::vector<int>& there, int k) {
  if (there.empty()) return std::nullopt;
  for (const int tile : {8, 16, 32, 64}) {
    if (k < 2 * tile) break;
    const auto [low, high] = std::minmax_element(
        there.begin(), there.end(), [tile](int x, int y) { return x % tile < y % tile; });
    const int first = *low % tile, last = *high % tile;
    int wanted = 0;
    for (int t = 0; t < k; ++t) wanted += t % tile >= first && t % tile <= last;
    if (last - first + 1 == tile || wanted != static_cast<int>(there.size())) continue;
    if (first != 0 && last != tile - 1) continue;
    return say("K-MISSING", "window",
               {{"tile", tile},
                {"there", messages::text(first == 0 ? "part.first_steps" : "part.last_steps",
                                         {{"count", last - first + 1}})}});
  }
  return std::nullopt;
}

/// The last step alone, or as many as a fragment is deep, and no other.

std::optional<Diagnosis> name_last(const std::vector<int>& there, int k) {
  const auto count = static_cast<int>(there.size());
  if (count < 1 || there.front() != k - count) return std::nullopt;
  if (count == 1 && k > 1) return say("K-ONLY-LAST", "", {{"unit", "step"}});
  if (count == 1 || count > 16 || k < 4 * count) return std::nullopt;
  return say("K-ONLY-LAST", "steps", {{"count", count}});
}

/// The same in every round of a few steps: some are added several times, others never.

std::optional<Diagnosis> name_partial(const Profile& p) {
  constexpr const char* kNth[] = {"first", "second", "third", "4th", "5th", "6th", "7th", "8th"};
  for (const int step : {2, 3, 4, 8}) {
    if (static_cast<int>(p.size()) < 2 * step) break;
    const auto whole = p.size() - p.size() % static_cast<std::size_t>(step);
    bool regular = true;
    for (std::size_t k = 0; k < whole; ++k)
      regular = regular && p[k] == p[k % static_cast<std::size_t>(step)];
    if (!regular) continue;
    const auto end = p.begin() + step;
    const auto most = std::max_element(p.begin(), end), never = std::find(p.begin(), end, 0);
    if (*most < 2 || never == end) continue;
    return say("K-TILE-REPEATED", "partial",
               {{"step", step},
                {"twice", kNth[most - p.begin()]},
                {"times", times_text(*most)},
                {"never", kNth[never - p.begin()]}});
  }
  return std::nullopt;
}

/// Every step inside a k-tile takes the k of the first one.
std::optional<Diagnosis> name_stuck(const Profile& p, int tile) {
  const auto k = static_cast<int>(p.size());
  const int times = p.front(), width = times > 1 ? tile / times : 0;
  if (width < 2 || width * times != tile || k < 2 * tile) return std::nullopt;
  for (int i = 0; i < k; ++i)
    if (p[static_cast<std::size_t>(i)] != (i % tile < width ? times : 0)) return std::nullopt;
  return say("K-TILE-REPEATED", "stuck", {{"tile", tile}, {"width", width}, {"times", times}});
}

/// "k = 15, 31, 40": few enough to be told one by one; else "".
std::string few_steps(const std::vector<int>& list) {
  constexpr std::size_t kFew = 4;
  if (list.size() < 2 || list.size() > kFew) return "";
  return fmt::format("k = {}", fmt::join(list, ", "));
}

Diagnosis repeated_steps(const std::vector<int>& list, const Profile& p, bool shared) {
  const int first = list.front();
  const int count = p[static_cast<std::size_t>(first)];
  // As often as there are steps: every round multiplies the same two factors.
  if (count == static_cast<int>(p.size()) && std::count(p.begin(), p.end(), 0) == count - 1)
    return say("K-TILE-REPEATED", "one", {{"k", first}, {"times", count}});
  const bool alike = std::all_of(list.begin(), list.end(), [&](int step) {
    return p[static_cast<std::size_t>(step)] == count;
  });
  if (const std::string few = few_steps(list); alike && !few.empty())
    return repeated(messages::text("part.are_added", {{"which", few}, {"times", count}}), shared);
  return repeated(messages::text(list.size() > 1 ? "part.is_added.more" : "part.is_added",
                                 {{"which", steps(first, first)},
                                  {"times", p[static_cast<std::size_t>(first)]},
                                  {"more", list.size() - 1}}),
                  shared);
}

/// As many k are added twice as never, each the same distance from one: in its place.
std::optional<Diagnosis> name_replaced(const std::vector<int>& twice, const std::vector<int>& never,
                                       const Profile& p) {
  const std::string there = few_steps(twice), missing = few_steps(never);
  if (there.empty() || missing.empty() || twice.size() != never.size()) return std::nullopt;
  for (std::size_t i = 0; i < twice.size(); ++i)
    if (p[static_cast<std::size_t>(twice[i])] != 2 || never[i] - twice[i] != never[0] - twice[0])
      return std::nullopt;
  return say("K-TILE-REPEATED", never[0] > twice[0] ? "instead" : "instead.before",
             {{"there", there}, {"missing", missing}});
}

Diagnosis missing_only(const std::vector<int>& missing, int k, int tile, bool varied, bool shared) {
  Diagnosis d = say("K-MISSING", "", {{"what", missing_steps(missing, k)}});
  if (shared)
    d.next_step = messages::text("K-MISSING.parts.next");
  else if (varied)
    d.next_step = messages::text("K-MISSING.varied.next");
  // All but the first fragment's of the first tile: what is loaded ahead comes from the next one.
  else if (contiguous(missing) && missing.back() == tile - 1 && missing.front() > 1 && tile < k)
    d.next_step =
        messages::text("K-MISSING.ahead.next", {{"first", missing.front()}, {"tile", tile}});
  return d;
}

/// One k-tile is added twice and the last one never: from there on each step has the tile of the step before.
std::optional<Diagnosis> name_behind(const Profile& t, int tile, int k, bool shared) {
  const auto twice = std::find(t.begin(), t.end(), 2);
  const auto count = std::count(t.begin(), t.end(), 1);
  if (shared || twice == t.end() || t.back() != 0 || count != static_cast<int>(t.size()) - 2)
    return std::nullopt;
  const auto index = static_cast<int>(twice - t.begin()), last = static_cast<int>(t.size()) - 1;
  return say("K-TILE-REPEATED", "behind",
             {{"index", index},
              {"range", steps_of_tile(index, tile, k)},
              {"last", last},
              {"missing", steps_of_tile(last, tile, k)},
              {"next", index + 1}});
}

/// The first step is added twice and the last one never: each step has the factors of the step before.
std::optional<Diagnosis> name_delayed(const std::vector<int>& twice, const std::vector<int>& never,
                                      const Profile& p) {
  const auto last = static_cast<int>(p.size()) - 1;
  if (twice != std::vector<int>{0} || p.front() != 2 || never != std::vector<int>{last})
    return std::nullopt;
  return say("K-TILE-REPEATED", "delayed", {{"last", last}});
}

}  // namespace

std::string steps(int first, int last) {
  return "k = " + from_to(first, last);
}

bool contiguous(const std::vector<int>& steps) {
  return steps.back() - steps.front() + 1 == static_cast<int>(steps.size());
}

std::optional<Diagnosis> name_tiles(const Profile& p, int tile, bool shared) {
  const std::optional<Profile> per = per_tile(p, tile);
  if (!per || per->size() < 2) return std::nullopt;
  const Profile& t = *per;
  const auto count = static_cast<int>(t.size()), k = static_cast<int>(p.size());
  const auto number_of = [&](int value) {
    return static_cast<int>(std::count(t.begin(), t.end(), value));
  };
  const auto range = [&](int index) { return steps_of_tile(index, tile, k); };
  const int missing = number_of(0), once = number_of(1);
  if (t.back() == 1 && missing == count - 1) return say("K-ONLY-LAST", "", {{"unit", "tile"}});
  if (missing + once == count) return missing_tiles(t, tile, k, shared);
  if (t.front() == count && missing == count - 1)
    return say("K-TILE-REPEATED", "",
               {{"what", messages::text("part.only_first_tile",
                                        {{"range", range(0)}, {"rounds", count}})}});
  if (t.front() == 2 && t.back() == 0 && missing == 1 && once == count - 2)
    return say("STALE-TILE", "", {{"what", messages::text("part.round_before")}});
  if (auto d = name_others(p)) return d;
  if (auto d = name_behind(t, tile, k, shared)) return d;
  const auto repeated_tile = std::find_if(t.begin(), t.end(), [](int x) { return x > 1; });
  if (repeated_tile == t.end()) return std::nullopt;
  const auto index = static_cast<int>(repeated_tile - t.begin());
  const auto absent = static_cast<int>(std::find(t.begin(), t.end(), 0) - t.begin());
  return repeated(messages::text(missing == 1 ? "part.tile_added.never" : "part.tile_added",
                                 {{"index", index},
                                  {"range", range(index)},
                                  {"times", *repeated_tile},
                                  {"absent", absent},
                                  {"absent_range", range(absent)}}),
                  shared);
}

std::optional<Diagnosis> name_parts_of_tiles(const Profile& p, const std::vector<int>& tiles) {
  for (const auto told : {name_stuck, name_late_pieces, name_turns, name_growing})
    for (const int tile : tiles)
      if (auto d = told(p, tile)) return d;
  return tiles.empty() ? std::nullopt : name_alternating(p, tiles.front());
}

std::string missing_steps(const std::vector<int>& missing, int k) {
  if (contiguous(missing)) {
    const bool first = missing.front() == 0, last = missing.back() == k - 1;
    const bool one = missing.size() == 1;
    return messages::text(first && !last   ? one ? "part.first_step_is" : "part.first_steps_are"
                          : last && !first ? one ? "part.last_step_is" : "part.last_steps_are"
                          : one            ? "part.which_is"
                                           : "part.several_are",
                          {{"which", steps(missing.front(), missing.back())}});
  }
  const int stride = missing[1] - missing[0];
  bool regular = stride > 1;
  for (std::size_t i = 1; i < missing.size(); ++i)
    regular = regular && missing[i] - missing[i - 1] == stride;
  if (regular)
    return messages::text(
        "part.every_k_is",
        {{"nth", ordinal(stride)}, {"first", missing[0]}, {"second", missing[1]}});
  if (const std::string few = few_steps(missing); !few.empty())
    return messages::text("part.several_are", {{"which", few}});
  return messages::text("part.steps_are",
                        {{"count", missing.size()}, {"k", k}, {"first", missing[0]}});
}

/// One step is added several times, and all others once: is it the last one, or the first?
static std::optional<Diagnosis> name_repeated_end(int step, const Profile& p, bool shared) {
  if (step + 1 == static_cast<int>(p.size()))
    return say("K-TILE-EXTRA", "", {{"last", step}, {"times", p.back()}});
  if (step == 0 && !shared) return say("K-TILE-REPEATED", "first", {{"times", p.front()}});
  return std::nullopt;
}

std::optional<Diagnosis> name_steps(const Profile& p, int tile, bool varied, bool shared) {
  const auto k = static_cast<int>(p.size());
  std::vector<int> missing, repeated, once;
  for (int i = 0; i < k; ++i) {
    if (p[static_cast<std::size_t>(i)] == 1) once.push_back(i);
    if (p[static_cast<std::size_t>(i)] == 0) missing.push_back(i);
    if (p[static_cast<std::size_t>(i)] > 1) repeated.push_back(i);
  }
  if (repeated.empty() && missing.empty()) return std::nullopt;
  if (repeated.empty()) {
    if (auto d = name_last(once, k)) return d;
    if (auto d = name_every(once, k)) return d;
    if (auto d = name_window(once, k)) return d;
    return missing_only(missing, k, tile, varied, shared);
  }
  if (auto d = name_partial(p)) return d;
  // Leftovers of the tile before in the places that zero fill should have cleared.
  const int rest = tile > 1 ? k % tile : 0;
  if (missing.empty() && rest != 0 && k > tile && contiguous(repeated) &&
      repeated.back() == k - rest - 1 && repeated.front() >= k - tile)
    return say("STALE-TILE", "",
               {{"what", messages::text("part.old_columns",
                                        {{"tile", k / tile},
                                         {"end", k - 1},
                                         {"before", k / tile - 1},
                                         {"steps", steps(repeated.front(), repeated.back())}})}});
  if (missing.empty() && repeated.size() == 1)
    if (auto d = name_repeated_end(repeated[0], p, shared)) return d;
  if (auto d = name_replaced(repeated, missing, p)) return d;
  if (auto d = name_delayed(repeated, missing, p)) return d;
  return repeated_steps(repeated, p, shared);
}

std::optional<Diagnosis> name_short_step(const Profile& p, const std::vector<int>& tiles,
                                         bool shared) {
  const auto k = static_cast<int>(p.size());
  for (const int tile : tiles)
    for (const int step : {1, 2, 4, 8, 16, 32}) {
      if (step >= tile || tile > k) break;  // a tile that K cuts off could have any length
      // As many as begin before K, or as many as there are tiles.
      for (const int end : {k, std::min(k, (k + tile - 1) / tile * step)}) {
        Profile windows(p.size());
        for (int k0 = 0; k0 < end; k0 += step)
          for (int i = k0; i < std::min(k, k0 + tile); ++i) ++windows[static_cast<std::size_t>(i)];
        if (windows == p)
          return say("K-TILE-REPEATED", shared ? "overlap" : "step",
                     {{"step", step}, {"tile", tile}});
      }
    }
  return std::nullopt;
}

}  // namespace grader::diag
