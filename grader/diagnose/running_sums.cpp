// Sums that are added up more than once on the way.
#include <algorithm>
#include <vector>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

/// What has been summed up so far is added after each tile of k: the first tile counts as often as
/// there are tiles, the last one once.
bool adds_so_far(const Case& c, int tile) {
  const int tiles = tiles_of(c.k, tile);
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k) sum += (tiles - k / tile) * c.run.a.at(i, k) * c.run.b.at(k, j);
      if (sum != c.got(i, j)) return false;
    }
  return true;
}

}  // namespace

std::optional<Diagnosis> explain_running_sums(const Evidence& evidence, const Cases& cases) {
  std::vector<int> tiles = k_tiles(evidence);
  tiles.insert(tiles.begin(), 1);
  const auto wrong = [](const Case& c) { return c.wrong > 0; };
  const auto first = std::find_if(cases.begin(), cases.end(), wrong);
  if (first == cases.end()) return std::nullopt;
  for (const int tile : tiles) {
    const auto fits = [tile](const Case& c) { return adds_so_far(c, tile); };
    if (!std::all_of(cases.begin(), cases.end(), fits)) continue;
    Diagnosis d =
        say("K-TILE-REPEATED", shares_sums(*first) ? "sofar.parts" : "sofar",
            {{"unit", tile > 1 ? "k-tile" : "step"}, {"count", (first->k + tile - 1) / tile}});
    describe(evidence, *first, d);
    return d;
  }
  return std::nullopt;
}

}  // namespace grader::diag
