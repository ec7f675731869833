// Where k-tiles begin, read off from how often each k was added.
#include <algorithm>
#include <string>
#include <vector>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/steps.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

/// The first k of each tile of `tile` steps (the last ones cut off at the end of the sum) whose steps
/// together are counted like this, in order; empty if no such tiles are.
std::vector<int> starts_of(std::vector<int> counts, int tile) {
  const auto k = static_cast<int>(counts.size());
  std::vector<int> starts;
  for (int first = 0; first < k; ++first)
    while (counts[static_cast<std::size_t>(first)] > 0) {
      for (int step = first; step < std::min(k, first + tile); ++step)
        if (--counts[static_cast<std::size_t>(step)] < 0) return {};
      starts.push_back(first);
    }
  return starts;
}

/// A few of them, up to number `until` and one more.
std::string listed(const std::vector<int>& values, std::size_t until) {
  constexpr std::size_t kMost = 4;
  const std::size_t end = std::min(values.size(), std::max(kMost, until + 2)),
                    first = end > 2 * kMost ? end - kMost : 0;
  std::string list = first > 0 ? "... " : "";
  for (std::size_t i = first; i < end; ++i)
    list += (i == first ? "" : ", ") + std::to_string(values[i]);
  return end < values.size() ? list + " ..." : list;
}

/// All tiles but the last begin where they should, and that one ends with the sum: it was moved until all
/// of it is there, and holds what the one before has as well.
std::optional<Diagnosis> name_moved(const std::vector<int>& starts, const std::vector<int>& right,
                                    int tile, int k) {
  const bool others = starts.size() > 1 && starts.size() == right.size() &&
                      std::equal(starts.begin(), starts.end() - 1, right.begin());
  if (!others || starts.back() == right.back() || starts.back() + tile != k) return std::nullopt;
  return say("K-TILE-REPEATED", "moved",
             {{"first", starts.back()},
              {"right", right.back()},
              {"end", right.back() - 1},
              {"last", k - 1},
              {"tile", tile}});
}

std::optional<Diagnosis> name_starts_of(const std::vector<int>& counts, int tile, bool shared) {
  const auto k = static_cast<int>(counts.size());
  const std::vector<int> starts = starts_of(counts, tile);
  std::vector<int> right;
  for (int first = 0; first < k; first += tile) right.push_back(first);
  // Whole tiles that are missing or there twice are told by their numbers.
  const auto between = [tile](int first) { return first % tile != 0; };
  // In one block's loop it is more likely that the last tile still holds what the one before has left.
  if (shared)
    if (auto d = name_moved(starts, right, tile, k)) return d;
  // A last tile that ends with the sum may hold what was left of the one before.
  // Where even the first one does not begin at 0, all steps are off alike, and steps are missing.
  if (starts.size() < 2 || starts.size() != right.size() || starts.front() != 0 ||
      std::none_of(starts.begin(), starts.end() - 1, between))
    return std::nullopt;
  const auto differ = static_cast<std::size_t>(
      std::mismatch(starts.begin(), starts.end(), right.begin()).first - starts.begin());
  return say("K-TILE-REPEATED", "starts",
             {{"list", listed(starts, differ)}, {"right", listed(right, differ)}, {"tile", tile}});
}

std::optional<Diagnosis> name_one_start(const std::vector<int>& p, const std::vector<int>& tiles) {
  if (std::find(p.begin(), p.end(), 0) == p.end()) return std::nullopt;  // leftovers, not a tile
  const auto k = static_cast<int>(p.size());
  for (const int tile : tiles)
    for (int right = tile; right < k; right += tile)
      for (int begin = 0; begin < k; ++begin) {
        if (begin % tile == 0) continue;  // another tile: it has names of its own
        std::vector<int> made(p.size(), 1);
        for (int i = right; i < std::min(k, right + tile); ++i) --made[static_cast<std::size_t>(i)];
        for (int i = begin; i < std::min(k, begin + tile); ++i) ++made[static_cast<std::size_t>(i)];
        if (made == p)
          return say("K-TILE-REPEATED", "shifted",
                     {{"index", right / tile},
                      {"right", steps(right, std::min(k, right + tile) - 1)},
                      {"there", steps(begin, std::min(k, begin + tile) - 1)},
                      {"first", right},
                      {"begin", begin},
                      {"tile", tile}});
      }
  return std::nullopt;
}

}  // namespace

std::optional<Diagnosis> name_starts(const std::vector<int>& counts, const std::vector<int>& tiles,
                                     Starts which, bool shared) {
  if (which == Starts::one) return name_one_start(counts, tiles);
  for (const int tile : tiles)
    if (auto d = name_starts_of(counts, tile, shared)) return d;
  return std::nullopt;
}

std::optional<Diagnosis> name_alternating(const std::vector<int>& counts, int tile) {
  const auto k = static_cast<int>(counts.size());
  for (const int width : {16, 8, 4, 2, 1}) {
    if (width >= tile || k < 4 * width) continue;
    // The first group of all may have been multiplied once already when the turns begin. Where a set is filled
    // before its last product, one group of a tile counts once more, and another once less.
    const auto fits = [&](int twice) {
      int groups = 0, twice_there = 0;
      for (int step = width; step < k / width * width; ++step) {
        const int count = counts[static_cast<std::size_t>(step)];
        if (step / width % 2 == twice ? count < 1 || count > 3 : count != 0) return false;
        groups += count > 0;
        twice_there += count == 2;
      }
      return 3 * twice_there > groups && groups > 0;
    };
    if (fits(0) || fits(1))
      return say("K-TILE-REPEATED", width == 1 ? "alternating.one" : "alternating",
                 {{"width", width}});
  }
  return std::nullopt;
}

}  // namespace grader::diag
