// Order between threads of one block by what they hand over themselves: a thread writes, fences and
// changes a variable by an atomic or volatile store; another sees the variable, fences and reads.
// Locks and flags work so. A warp that leaves out its fence is ordered with nobody.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/simgpu/check/clocks.hpp"

namespace simgpu::check {

class Handovers {
 public:
  void reset() {
    fenced_ = 0;
    variables_.clear();
    released_.clear();
    acquired_.clear();
    settled_ = {};
  }

  /// What lanes `mask` of `warp` (of those that are `live`) saw before this fence happened before what they do
  /// behind it; what they did before goes with the variables that the warp changes from now on.
  void fence(unsigned warp, BlockClocks& clocks, std::uint32_t mask = 0xffffffffu,
             std::uint32_t live = 0xffffffffu) {
    if (released_.empty()) {
      released_.resize(kMaxWarps);
      acquired_.resize(kMaxWarps);
    }
    fenced_ |= 1u << warp;
    clocks.join(warp, acquired_[warp], mask, live);
    // Other lanes may have looked, or fenced, and go on later.
    if ((live & ~mask) == 0) {
      acquired_[warp] = Arrivals{};
      settled_.take(released_[warp]);
      released_[warp] = Arrivals{};
    }
    clocks.arrive(warp, released_[warp], mask, live);
  }

  /// Nobody has fenced.
  bool empty() const { return fenced_ == 0; }
  /// What `warp` releases when it changes a variable: what came before the fences that it knows of, those of
  /// other warps included.
  Knowledge released_by(unsigned warp, const BlockClocks& clocks) const {
    Knowledge k = settled_;
    for (unsigned w = 0; w < released_.size(); ++w)
      if (w == warp ||
          (released_[w].seen[w] != 0 && released_[w].seen[w] <= clocks.of(warp).seen[w]))
        k.take(released_[w]);
    return k;
  }

  /// `warp` looks at the variable at `address`, or changes it.
  void touch(unsigned warp, std::uint64_t address, bool looks, bool changes) {
    if (fenced_ == 0) return;
    const auto found = variables_.find(address);
    if (looks && found != variables_.end()) add(acquired_[warp], found->second);
    if (!changes || ((fenced_ >> warp) & 1u) == 0) return;
    if (found != variables_.end())
      add(found->second, released_[warp]);
    else if (variables_.size() < kMaxVariables)
      variables_[address] = released_[warp];
  }

 private:
  /// Synchronisation goes through few variables; a histogram is none.
  static constexpr std::size_t kMaxVariables = 1024;

  static void add(Arrivals& to, const Arrivals& from) {
    to.take(from);
    take_later(to.proxied, from.proxied);
  }

  std::uint32_t fenced_ = 0;
  std::unordered_map<std::uint64_t, Arrivals> variables_;
  std::vector<Arrivals> released_, acquired_;  ///< by warp
  Knowledge settled_;  ///< what was released by fences before the last one of each warp
};

}  // namespace simgpu::check
