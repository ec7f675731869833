// What bank conflicts cost, by the rule: shared memory has 32 banks of 4 bytes, and one wavefront
// serves one word of each of them to a warp; of 8-byte elements it serves half a warp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>

namespace sweep {

/// Wavefronts of one request in which lane l reads element place(l) of an array of In.
template <typename In, typename Place>
int wavefronts(Place place) {
  constexpr int WORDS = sizeof(In) > 4 ? 2 : 1, AT_ONCE = 32 / WORDS;
  int total = 0;
  for (int first = 0; first < 32; first += AT_ONCE) {
    std::set<int> words[32];
    std::size_t most = 0;
    for (int lane = first; lane < first + AT_ONCE; ++lane)
      for (int w = 0; w < WORDS; ++w) {
        const int word = place(lane) * WORDS + w;
        words[word % 32].insert(word);
        most = std::max(most, words[word % 32].size());
      }
    total += static_cast<int>(most);
  }
  return total;
}

}  // namespace sweep
