// How often each k was added, read off by probes.
//
// With A all ones and B[k][j] = 4^d at the d-th k of a window and 0 elsewhere, the base-4 digits of
// C[i][j] say how often each k of that window went into C[i][j]. Where that is more than three times,
// the same with powers of 64.
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

/// Digits of `bits` bits that sums of operands of a type hold exactly, each operand a power of
/// 2^bits.
int digits_of(ElementType type, int bits) {
  const int digits = significant_bits(result_type(type)) / bits;
  return type == ElementType::float16 ? std::min(digits, 15 / bits + 1) : digits;  // to 2^15
}

/// counts[(i * n + j) * k + t]: how often step t was counted in C[i][j], less than 2^bits times.
using Counts = std::vector<std::uint8_t>;

std::optional<Counts> count_steps(const Evidence& evidence, const Case& c, int bits) {
  const int digits = digits_of(evidence.type, bits);
  Counts counts(c.correct.size() * static_cast<std::size_t>(c.k));
  for (int first = 0; first < c.k; first += digits) {
    const auto code = [&](int k) {
      return k >= first && k < first + digits ? std::ldexp(1.0, bits * (k - first)) : 0.0;
    };
    const Matrix& a = c.run.a;
    const Matrix& b = c.run.b;
    const std::optional<Run> run = probe(
        evidence, filled(evidence.type, a.rows, a.cols, a.ld - a.cols, [](int, int) { return 1; }),
        filled(evidence.type, b.rows, b.cols, b.ld - b.cols, [&](int k, int) { return code(k); }));
    if (!run) return std::nullopt;
    const int width = std::min(digits, c.k - first);
    for (int i = 0; i < c.m; ++i) {
      for (int j = 0; j < c.n; ++j) {
        const double value = run->c_after.at(i, j);
        if (!(value >= 0) || value >= std::ldexp(1.0, bits * digits) || value != std::floor(value))
          return std::nullopt;
        auto rest = static_cast<std::uint64_t>(value);
        for (int d = 0; d < width; ++d, rest >>= bits)
          counts[c.at(i, j) * static_cast<std::size_t>(c.k) + static_cast<std::size_t>(first + d)] =
              static_cast<std::uint8_t>(rest % (1u << bits));
        if (rest != 0) return std::nullopt;
      }
    }
  }
  return counts;
}

/// Do these counts reproduce the wrong result exactly?
bool reproduces(const Case& c, const Counts& counts) {
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k)
        sum += counts[c.at(i, j) * static_cast<std::size_t>(c.k) + static_cast<std::size_t>(k)] *
               c.run.a.at(i, k) * c.run.b.at(k, j);
      if (sum != c.got(i, j)) return false;
    }
  return true;
}

using Profile = std::vector<int>;

std::string steps(int first, int last) {
  return first == last ? fmt::format("k = {}", first) : fmt::format("k = {}..{}", first, last);
}

bool contiguous(const std::vector<int>& steps) {
  return steps.back() - steps.front() + 1 == static_cast<int>(steps.size());
}

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

/// Each tile is added once or never, by its count.
std::optional<Diagnosis> missing_tiles(const Profile& t, int tile, int k) {
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
  if (missing == count - 1 && count > 2 && !is_missing(0))
    return say("K-TILE-MISSING", "first", {{"there", steps_of_tile(0, tile, k)}});
  const bool last = missing == 1 && t.back() == 0;
  const std::string note = last && k % tile != 0            ? ": the last, partial one"
                           : last                           ? ": the last one"
                           : missing == 1 && t.front() == 0 ? ": the first one"
                                                            : "";
  const bool inner = t.front() != 0 && t.back() != 0;
  // Of some in a row, none is between two that are missing.
  const auto first_missing = std::find(t.begin(), t.end(), 0);
  const auto last_missing = std::find(t.rbegin(), t.rend(), 0).base();
  const bool again = std::count(first_missing, last_missing, 0) != last_missing - first_missing;
  return say("K-TILE-MISSING",
             again           ? "again"
             : inner         ? "inner"
             : t.back() != 0 ? "begin"
                             : "",
             {{"tiles", (missing == 1 ? "k-tile " : "k-tiles ") + list},
              {"range", ranges},
              {"are", missing == 1 ? "is" : "are"},
              {"note", note}});
}

/// What of a sum is added too often. `shared`: by blocks whose parts are added up by another launch.
Diagnosis repeated(const std::string& what, bool shared) {
  return say("K-TILE-REPEATED", shared ? "parts" : "", {{"what", what}});
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
  if (missing + once == count) return missing_tiles(t, tile, k);
  if (t.front() == count && missing == count - 1)
    return say("K-TILE-REPEATED", "",
               {{"what", fmt::format("k-tile 0 ({}) is added in all {} rounds, and no other",
                                     range(0), count)}});
  if (t.front() == 2 && t.back() == 0 && missing == 1 && once == count - 2)
    return say("STALE-TILE", "",
               {{"what", "each k-tile is computed with the data of the round before"}});
  if (auto d = name_others(p)) return d;
  const auto repeated_tile = std::find_if(t.begin(), t.end(), [](int x) { return x > 1; });
  if (repeated_tile == t.end()) return std::nullopt;
  const auto index = static_cast<int>(repeated_tile - t.begin());
  return repeated(
      fmt::format("k-tile {} ({}) is added {} times", index, range(index), *repeated_tile), shared);
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
                   {{"are", width == 1 ? "one is" : fmt::format("{} are", width)},
                    {"rest", width == 1 ? "one" : std::to_string(width)},
                    {"count", width},
                    {"tile", tile},
                    {"times", tile / width}});
    }
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
                   {{"tile", tile},
                    {"width", width},
                    {"top", top},
                    {"next", top == 2 ? std::string("once") : fmt::format("{} times", top - 1)}});
    }
  }
  return std::nullopt;
}

/// The same in every k-tile, and not the same for all of its k.
std::optional<Diagnosis> name_parts_of_tiles(const Profile& p, const std::vector<int>& tiles) {
  for (const auto told : {name_late_pieces, name_growing})
    for (const int tile : tiles)
      if (auto d = told(p, tile)) return d;
  return tiles.empty() ? std::nullopt : name_alternating(p, tiles.front());
}

std::string ordinal(int n) {
  return n == 2 ? "second" : n == 3 ? "third" : fmt::format("{}th", n);
}

/// "k = 7, the last step, is": which single steps are missing, none being added twice.
std::string missing_steps(const std::vector<int>& missing, int k) {
  if (contiguous(missing)) {
    const bool first = missing.front() == 0, last = missing.back() == k - 1;
    const bool one = missing.size() == 1;
    const char* const note =
        first && !last   ? one ? ", the first step, is" : ", the first steps, are"
        : last && !first ? one ? ", the last step, is" : ", the last steps, are"
        : one            ? " is"
                         : " are";
    return steps(missing.front(), missing.back()) + note;
  }
  const int stride = missing[1] - missing[0];
  bool regular = stride > 1;
  for (std::size_t i = 1; i < missing.size(); ++i)
    regular = regular && missing[i] - missing[i - 1] == stride;
  if (regular)
    return fmt::format("every {} k ({}, {} ...) is", ordinal(stride), missing[0], missing[1]);
  return fmt::format("{} of {} steps (first k = {}) are", missing.size(), k, missing[0]);
}

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
    const char* const end = first == 0 ? "first" : last == tile - 1 ? "last" : "";
    if (*end == 0) continue;
    return say("K-MISSING", "window",
               {{"tile", tile}, {"there", fmt::format("the {} {}", end, last - first + 1)}});
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
                {"times", *most == 2 ? "twice" : fmt::format("{} times", *most)},
                {"never", kNth[never - p.begin()]}});
  }
  return std::nullopt;
}

Diagnosis repeated_steps(const std::vector<int>& list, const Profile& p, bool shared) {
  const int first = list.front();
  const std::string more =
      list.size() > 1 ? fmt::format(" and {} more like it", list.size() - 1) : "";
  return repeated(fmt::format("{} is added {} times{}", steps(first, first),
                              p[static_cast<std::size_t>(first)], more),
                  shared);
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

/// `varied`: other elements have other steps. `shared`: see repeated().
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
    return say(
        "STALE-TILE", "",
        {{"what",
          fmt::format("k-tile {} ends at k = {}; its other columns still hold the data of "
                      "k-tile {} ({} is added twice)",
                      k / tile, k - 1, k / tile - 1, steps(repeated.front(), repeated.back()))}});
  if (missing.empty() && repeated.size() == 1 && repeated[0] == k - 1)
    return say("K-TILE-EXTRA", "", {{"last", k - 1}, {"times", p.back()}});
  return repeated_steps(repeated, p, shared);
}

/// The loop over k-tiles goes on by less than a tile: windows overlap.
std::optional<Diagnosis> name_short_step(const Profile& p, const std::vector<int>& tiles) {
  const auto k = static_cast<int>(p.size());
  for (const int tile : tiles)
    for (const int step : {1, 2, 4, 8, 16, 32}) {
      if (step >= tile || tile > k) break;  // a tile that K cuts off could have any length
      // As many as begin before K, or as many as there are tiles.
      for (const int end : {k, std::min(k, (k + tile - 1) / tile * step)}) {
        Profile windows(p.size());
        for (int k0 = 0; k0 < end; k0 += step)
          for (int i = k0; i < std::min(k, k0 + tile); ++i) ++windows[static_cast<std::size_t>(i)];
        if (windows == p) return say("K-TILE-REPEATED", "step", {{"step", step}, {"tile", tile}});
      }
    }
  return std::nullopt;
}

/// What a thread asks before it fetches an element of an operand that has nothing to do with that.
struct Asked {
  bool of_c;  ///< whether its column (of an element of A) or its row (of B) of C exists
  bool of_k;  ///< whether the k exists that it fetches of the other operand
};

/// A thread that fetches an element of A and one of B for tiles of one element per thread, and asks
/// only once whether they exist. Thread (x, y) fetches A at k = x and B at k = y of its tile.
bool kept(const Case& c, int tile, const Asked& a, const Asked& b, int i, int j, int k) {
  const int of_k = k % tile, k0 = k - of_k;
  return (!a.of_c || j / tile * tile + of_k < c.n) && (!a.of_k || k0 + i % tile < c.k) &&
         (!b.of_c || i / tile * tile + of_k < c.m) && (!b.of_k || k0 + j % tile < c.k);
}

bool counted_as_kept(const Case& c, const Counts& counts, int tile, const Asked& a,
                     const Asked& b) {
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      for (int k = 0; k < c.k; ++k)
        if (counts[c.at(i, j) * static_cast<std::size_t>(c.k) + static_cast<std::size_t>(k)] !=
            (kept(c, tile, a, b, i, j, k) ? 1 : 0))
          return false;
  return true;
}

std::optional<Diagnosis> name_one_guard(const Tile& t, const Case& c, const Counts& counts) {
  if (t.tm > 1 || t.tn > 1 || t.bm < 2 || t.bm != t.bn) return std::nullopt;
  constexpr Asked kNothing{false, false}, kWays[] = {{true, false}, {false, true}, {true, true}};
  for (const Asked& way : kWays)
    for (const auto& [a, b, what] :
         {std::tuple{way, way, "A and of B"}, {way, kNothing, "A"}, {kNothing, way, "B"}})
      if (counted_as_kept(c, counts, t.bm, a, b))
        return say("K-MISSING", "guard", {{"what", what}});
  return std::nullopt;
}

/// Inside each k-tile the loop over fragments goes on by less than a fragment is deep.
std::optional<Diagnosis> name_short_window(const Profile& p, const std::vector<int>& tiles) {
  const auto k = static_cast<int>(p.size());
  for (const int tile : tiles)
    for (const int width : {4, 8, 16})
      for (const int step : {1, 2, 4, 8}) {
        if (step >= width || width >= tile) break;
        Profile windows(p.size());
        for (int i = 0; i < k; ++i)
          for (int w = 0; w < tile / width; ++w) {
            const int inside = i % tile - w * step;
            if (inside >= 0 && inside < width) ++windows[static_cast<std::size_t>(i)];
          }
        if (windows == p)
          return say("K-TILE-REPEATED", "window", {{"step", step}, {"width", width}});
      }
  return std::nullopt;
}

/// Two or three k-tiles, the last of them not a single step, tell most; digits count to 3.
const Case* most_telling(const Cases& cases, const std::vector<int>& tiles) {
  const auto telling = [&](const Case& c) {
    if (tiles.empty()) return c.k > 3 ? 1 : 0;
    const int tile = tiles.front();
    return c.k > 2 * tile && c.k <= 3 * tile && c.k % tile != 1 ? 2 : c.k > tile ? 1 : 0;
  };
  const Case* chosen = nullptr;
  for (const Case& c : cases)
    if (c.wrong > 0 && c.k > 0 && (chosen == nullptr || telling(c) > telling(*chosen))) chosen = &c;
  return chosen;
}

/// The different sets of counts that elements have, all ones left out; none if there are too many
/// to be one bug.
std::set<Profile> profiles_of(const Case& c, const Counts& counts) {
  std::set<Profile> profiles;
  for (std::size_t e = 0; e < c.correct.size(); ++e) {
    Profile p(static_cast<std::size_t>(c.k));
    for (std::size_t k = 0; k < p.size(); ++k) p[k] = counts[e * p.size() + k];
    profiles.insert(std::move(p));
    if (profiles.size() > 64) return {};
  }
  profiles.erase(Profile(static_cast<std::size_t>(c.k), 1));
  return profiles;
}

/// The counts of the first element that is wrong.
Profile first_wrong_profile(const Case& c, const Counts& counts) {
  Profile p(static_cast<std::size_t>(c.k), 1);
  std::size_t e = 0;
  while (e < c.state.size() && c.state[e] == State::right) ++e;
  for (std::size_t k = 0; k < p.size() && e < c.state.size(); ++k) p[k] = counts[e * p.size() + k];
  return p;
}

/// One of several sets of steps is named: best that of the element that is shown as well.
std::optional<Diagnosis> name_shown_steps(const std::set<Profile>& profiles, const Profile& shown,
                                          const std::vector<int>& tiles, bool shared) {
  const int tile = tiles.empty() ? 1 : tiles.front();
  const bool varied = profiles.size() > 1;
  std::optional<Diagnosis> d = name_steps(*profiles.begin(), tile, varied, shared);
  if (!d || d->id != "K-MISSING") return d;
  const std::optional<Diagnosis> own = name_steps(shown, tile, varied, shared);
  return own && own->id == d->id ? own : d;
}

/// Which pieces of a larger tile hold products, where the same ones do in every tile: elements of a
/// thread's, fragments of a warp's.
std::optional<Diagnosis> name_pieces(const Case& c, int rows, int cols, int high, int wide) {
  if (high < 1 || wide < 1 || rows <= high || cols <= wide) return std::nullopt;
  if (rows % high != 0 || cols % wide != 0) return std::nullopt;
  const int down = rows / high, across = cols / wide;
  const auto piece = [&](int i, int j) {
    return static_cast<std::size_t>(i % rows / high * across + j % cols / wide);
  };
  std::vector<bool> made(static_cast<std::size_t>(down) * static_cast<std::size_t>(across));
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (c.got(i, j) != 0) made[piece(i, j)] = true;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (made[piece(i, j)] ? c.state_at(i, j) != State::right : c.got(i, j) != 0)
        return std::nullopt;
  constexpr int kMostListed = 4;
  std::string list;
  int count = 0;
  for (int p = 0; p < down * across; ++p)
    if (made[static_cast<std::size_t>(p)] && ++count <= kMostListed)
      list += fmt::format("{}[{}][{}]", list.empty() ? "" : ", ", p / across, p % across);
  if (count == 0 || count == down * across) return std::nullopt;
  if (count > kMostListed) list += " ...";
  const bool single = high == 1 && wide == 1;
  return say(
      "ALL-ZERO", "pieces",
      {{"what", single ? std::string("elements") : fmt::format("{} x {} fragments", high, wide)},
       {"whose", single ? "thread" : "warp"},
       {"tile", fmt::format("{} x {}", rows, cols)},
       {"list", list}});
}

std::optional<Diagnosis> name_any_pieces(const Tile& t, const Case& c) {
  for (const auto& [high, wide] : {std::pair{16, 16}, std::pair{16, 8}, std::pair{8, 8}})
    if (on_tensor_cores({c}))
      if (auto d = name_pieces(c, t.wm, t.wn, high, wide)) return d;
  return name_pieces(c, t.tm, t.tn, 1, 1);
}

/// Some elements have no products, and all others are right.
Diagnosis name_zeros(const Evidence& evidence, const Case& c) {
  if (const std::string part = wrong_part(evidence, c); !part.empty())
    return say("ALL-ZERO", "where", {{"part", part}});
  if (auto d = name_any_pieces(evidence.tile, c)) return *std::move(d);
  return say("ALL-ZERO", "some", {{"wrong", c.wrong}, {"total", c.size()}});
}

/// Elements without any product, others with all of theirs: places of C, not steps, are left out.
std::optional<Diagnosis> name_empty(const Evidence& evidence, const Case& c,
                                    const std::set<Profile>& profiles) {
  const Profile nothing(static_cast<std::size_t>(c.k));
  if (profiles.count(nothing) == 0) return std::nullopt;
  const bool only_zero = profiles.size() == 1;
  if (only_zero && c.wrong == c.size()) return std::nullopt;
  const Tile& t = evidence.tile;
  const auto zero = [&c](int i, int j) { return c.got(i, j) == 0; };
  int rows = -1, cols = -1;  // from which row, or column, of each thread's part on
  for (int i = c.m; i-- > 0;)
    for (int j = c.n; j-- > 0;)
      if (zero(i, j) && c.state_at(i, j) != State::right) {
        rows = t.tm > 1 && (rows < 0 || i % t.tm < rows) ? i % t.tm : rows;
        cols = t.tn > 1 && (cols < 0 || j % t.tn < cols) ? j % t.tn : cols;
      }
  const auto all_from = [&](int first, int count, bool by_row) {
    if (first < 1) return false;
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j)
        if (const bool beyond = (by_row ? i : j) % count >= first;
            beyond != zero(i, j) && (beyond || c.state_at(i, j) != State::right))
          return false;  // a right 0 may be anywhere
    return true;
  };
  if (all_from(rows, t.tm, true))
    return say("ALL-ZERO", "part",
               {{"what", "rows"}, {"first", rows}, {"last", t.tm - 1}, {"count", t.tm}});
  if (all_from(cols, t.tn, false))
    return say("ALL-ZERO", "part",
               {{"what", "columns"}, {"first", cols}, {"last", t.tn - 1}, {"count", t.tn}});
  if (!only_zero) return std::nullopt;
  return name_zeros(evidence, c);
}

std::optional<Diagnosis> name_sums(const Evidence& evidence, const Case& c) {
  std::optional<Counts> counts = count_steps(evidence, c, 2);
  if (!counts || !reproduces(c, *counts)) counts = count_steps(evidence, c, 6);
  if (!counts || !reproduces(c, *counts)) return std::nullopt;
  const std::set<Profile> profiles = profiles_of(c, *counts);
  if (profiles.empty()) return std::nullopt;
  const std::vector<int> tiles = k_tiles(evidence);
  const auto [least, most] = std::minmax_element(counts->begin(), counts->end());
  std::optional<Diagnosis> d = name_empty(evidence, c, profiles);
  const bool parts = evidence.type == ElementType::float32 && on_tensor_cores({c});
  if (!d && *least == *most && *least > 1)
    d = say("K-TILE-REPEATED", parts ? "twice" : "all", {{"times", static_cast<int>(*least)}});
  const Profile& p = *profiles.begin();
  const bool shared = c.run.launches.size() > 1 || stores_scratch(c);
  if (!d) d = name_one_guard(evidence.tile, c, *counts);
  if (!d) d = name_short_step(p, tiles);
  if (!d && on_tensor_cores({c})) d = name_short_window(p, tiles);
  if (!d) d = name_parts_of_tiles(p, tiles);
  for (const int tile : tiles)
    if (!d && c.k > tile && c.k % tile != 1)
      d = name_tiles(p, tile, shared);  // a tile of one step is a step
  if (!d) d = name_starts(p, tiles);
  if (!d) d = name_shown_steps(profiles, first_wrong_profile(c, *counts), tiles, shared);
  if (!d) return std::nullopt;
  if (profiles.size() > 1)
    d->details.push_back(fmt::format(
        "not the same for all elements: {} different sets of k were added", profiles.size()));
  describe(evidence, c, *d);
  // Steps may be missing because another kernel was launched than the one that is looked at.
  if (d->id == "K-MISSING" && c.run.launches.size() == 1)
    d->details.push_back(messages::text("detail.launch.kernel",
                                        {{"kernel", kernel_name(c.run.launches.front().kernel)}}));
  return d;
}

}  // namespace

namespace {

/// What has been summed up so far is added after each tile of k: the first tile counts as often as
/// there are tiles, the last one once.
bool adds_so_far(const Case& c, int tile) {
  const int tiles = (c.k + tile - 1) / tile;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k) sum += (tiles - k / tile) * c.run.a.at(i, k) * c.run.b.at(k, j);
      if (sum != c.got(i, j)) return false;
    }
  return true;
}

std::optional<Diagnosis> name_so_far(const Evidence& evidence, const Cases& cases) {
  std::vector<int> tiles = k_tiles(evidence);
  tiles.insert(tiles.begin(), 1);
  const auto wrong = [](const Case& c) { return c.wrong > 0; };
  const auto first = std::find_if(cases.begin(), cases.end(), wrong);
  if (first == cases.end()) return std::nullopt;
  for (const int tile : tiles) {
    const auto fits = [tile](const Case& c) { return adds_so_far(c, tile); };
    if (!std::all_of(cases.begin(), cases.end(), fits)) continue;
    Diagnosis d =
        say("K-TILE-REPEATED", first->run.launches.size() > 1 ? "sofar.parts" : "sofar",
            {{"unit", tile > 1 ? "k-tile" : "step"}, {"count", (first->k + tile - 1) / tile}});
    describe(evidence, *first, d);
    return d;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Diagnosis> explain_zeros(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product || !evidence.run_probe || evidence.tile.bk < 2)
    return std::nullopt;
  const Case& c = shown(cases);
  const auto whole =
      probe_case(evidence,
                 {c.m, c.n, 4 * std::max(32, evidence.tile.bk), c.run.a.ld - c.run.a.cols,
                  c.run.b.ld - c.run.b.cols, c.run.c_before.ld - c.run.c_before.cols},
                 31);
  if (!whole || whole->wrong == 0) return std::nullopt;
  auto d = name_sums(evidence, *whole);
  return d && d->id == "K-ONLY-LAST" ? d : std::nullopt;
}

namespace {

std::optional<Diagnosis> found_in(const Evidence& evidence, const Case& c) {
  const simgpu::Finding* const finding = worst_finding(c.run.launches);
  if (finding == nullptr) return std::nullopt;
  Diagnosis d = explain(*finding, evidence.tile, &c.run, evidence.type);
  d.seen = seen_in(c.run);
  d.place = place_of(*finding);
  return d;
}

}  // namespace

std::optional<Diagnosis> explain_sums(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product || !evidence.run_probe) return std::nullopt;
  if (auto d = name_so_far(evidence, cases)) return d;
  const std::vector<int> tiles = k_tiles(evidence);
  const Case* const chosen = most_telling(cases, tiles);
  if (chosen == nullptr) return std::nullopt;
  std::optional<Diagnosis> d = name_sums(evidence, *chosen);
  // The last of a few k-tiles may be any one: is it the last of more, too?
  if (d && d->id == "K-TILE-MISSING" && !tiles.empty()) {
    const Run& run = chosen->run;
    const auto longer = probe_case(evidence,
                                   {chosen->m, chosen->n, 6 * tiles.front(), run.a.ld - run.a.cols,
                                    run.b.ld - run.b.cols, run.c_before.ld - run.c_before.cols},
                                   23);
    if (longer && longer->wrong > 0) {
      if (auto said = name_sums(evidence, *longer)) return said;
      if (auto found = found_in(evidence, *longer)) return found;
    }
  }
  return d;
}

}  // namespace grader::diag
