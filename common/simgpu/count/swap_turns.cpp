#include "common/simgpu/count/swap_turns.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace simgpu::count {

void swap_turns(std::span<const Updates> warps,
                const std::function<void(std::size_t, std::uint32_t)>& attempt) {
  std::vector<std::uint32_t> locations;
  for (const Updates& u : warps)
    for (std::uint32_t lanes = u.mask; lanes != 0; lanes &= lanes - 1)
      locations.push_back(u.location[static_cast<std::size_t>(std::countr_zero(lanes))]);
  std::sort(locations.begin(), locations.end());
  locations.erase(std::unique(locations.begin(), locations.end()), locations.end());

  std::vector<Updates> left(warps.begin(), warps.end());  // locations by their place in the list
  for (Updates& u : left)
    for (std::uint32_t lanes = u.mask; lanes != 0; lanes &= lanes - 1) {
      std::uint32_t& location = u.location[static_cast<std::size_t>(std::countr_zero(lanes))];
      const auto at = std::lower_bound(locations.begin(), locations.end(), location);
      location = static_cast<std::uint32_t>(at - locations.begin());
    }

  std::vector<std::uint32_t> changed(locations.size(), 0);  // the turn of the last success
  bool more = true;
  for (std::uint32_t turn = 1; more; ++turn) {
    more = false;
    for (std::size_t k = 0; k < left.size(); ++k) {
      const std::size_t warp = (k + turn - 1) % left.size();
      Updates& u = left[warp];
      if (u.mask == 0) continue;
      attempt(warp, u.mask);
      for (std::uint32_t lanes = u.mask; lanes != 0; lanes &= lanes - 1) {
        const int lane = std::countr_zero(lanes);
        std::uint32_t& last = changed[u.location[static_cast<std::size_t>(lane)]];
        if (last == turn) continue;
        last = turn;
        u.mask &= ~(1u << lane);
      }
      more |= u.mask != 0;
    }
  }
}

}  // namespace simgpu::count
