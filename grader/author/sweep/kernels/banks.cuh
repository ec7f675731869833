// What bank conflicts cost, by the rule: shared memory has 32 banks of 4 bytes, and one wavefront
// serves one word of each of them to a warp. Of 8-byte elements it serves half a warp, or all of it
// if lanes n and n ^ 1, or n and n ^ 2, want the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>

namespace sweep {

/// Wavefronts of one request in which lane l reads element place(l) of an array of In.
template <typename In, typename Place>
int wavefronts(Place place) {
  constexpr int WORDS = sizeof(In) > 4 ? 2 : 1;
  bool pairs[2] = {true, true};
  for (int lane = 0; lane < 32; ++lane)
    for (int bit = 0; bit < 2; ++bit)
      pairs[bit] = pairs[bit] && place(lane) == place(lane ^ (bit + 1));
  const int at_once = WORDS == 1 || pairs[0] || pairs[1] ? 32 : 16;
  int total = 0;
  for (int first = 0; first < 32; first += at_once) {
    std::set<int> words[32];
    std::size_t most = 0;
    for (int lane = first; lane < first + at_once; ++lane)
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
