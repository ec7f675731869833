#include "common/simgpu/exec/order.hpp"

#include <algorithm>
#include <cstddef>

namespace simgpu::exec {
namespace {

/// Loops nested deeper than this (only hostile text has them) are ordered by depth-first search
/// alone.
constexpr unsigned kMaxNesting = 64;

/// Tarjan's strongly connected components among the blocks of one region, without recursion.
class Components {
 public:
  Components(const std::vector<std::vector<std::uint32_t>>& successors,
             std::vector<std::uint32_t>& region)
      : successors_(successors),
        region_(region),
        index_(successors.size(), 0),
        low_(successors.size(), 0),
        on_stack_(successors.size(), 0) {}

  /// Components reachable from `root` inside region `id`, without edges into `cut`; in topological
  /// order.
  std::vector<std::vector<std::uint32_t>> find(const std::vector<std::uint32_t>& roots,
                                               std::uint32_t id, std::uint32_t cut) {
    std::vector<std::vector<std::uint32_t>> found;
    for (const std::uint32_t root : roots)
      if (region_[root] == id && index_[root] == 0) search(root, id, cut, found);
    std::reverse(found.begin(), found.end());
    // Leave the tables clean for the next region that holds these blocks.
    for (const auto& component : found)
      for (const std::uint32_t b : component) index_[b] = 0;
    return found;
  }

 private:
  struct Visit {
    std::uint32_t block;
    std::size_t edge;
  };

  void search(std::uint32_t root, std::uint32_t id, std::uint32_t cut,
              std::vector<std::vector<std::uint32_t>>& found) {
    std::vector<Visit> visits;
    auto open = [&](std::uint32_t b) {
      index_[b] = low_[b] = ++counter_;
      on_stack_[b] = 1;
      stack_.push_back(b);
      visits.push_back({b, 0});
    };
    open(root);
    while (!visits.empty()) {
      const std::uint32_t b = visits.back().block;
      if (visits.back().edge < successors_[b].size()) {
        const std::uint32_t s = successors_[b][visits.back().edge++];
        if (region_[s] != id || s == cut) continue;
        if (index_[s] == 0)
          open(s);
        else if (on_stack_[s])
          low_[b] = std::min(low_[b], index_[s]);
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) low_[visits.back().block] = std::min(low_[visits.back().block], low_[b]);
      if (low_[b] != index_[b]) continue;
      std::vector<std::uint32_t> component;
      std::uint32_t member;
      do {
        member = stack_.back();
        stack_.pop_back();
        on_stack_[member] = 0;
        component.push_back(member);
      } while (member != b);
      std::reverse(component.begin(), component.end());  // its head, the first one met, comes first
      found.push_back(std::move(component));
    }
  }

  const std::vector<std::vector<std::uint32_t>>& successors_;
  std::vector<std::uint32_t>& region_;
  std::vector<std::uint32_t> index_, low_;
  std::vector<char> on_stack_;
  std::vector<std::uint32_t> stack_;
  std::uint32_t counter_ = 0;
};

}  // namespace

std::vector<std::uint32_t> running_order(
    const std::vector<std::vector<std::uint32_t>>& successors) {
  const auto n = static_cast<std::uint32_t>(successors.size());
  std::vector<std::uint32_t> region(n, 0), order;
  order.reserve(n);
  Components components(successors, region);
  std::uint32_t next_region = 0;

  // Work list of regions in reverse running order: a component that is a loop is replaced by its
  // head followed by the components of its body without the edges back to the head.
  struct Region {
    std::vector<std::uint32_t> blocks;
    unsigned depth;
  };
  std::vector<std::uint32_t> all(n);
  for (std::uint32_t b = 0; b < n; ++b) all[b] = b;
  std::vector<Region> work;
  auto push_components = [&](std::vector<std::vector<std::uint32_t>> found, unsigned depth) {
    for (auto it = found.rbegin(); it != found.rend(); ++it)
      work.push_back({std::move(*it), depth});
  };
  push_components(components.find({0}, 0, UINT32_MAX), 1);
  while (!work.empty()) {
    Region r = std::move(work.back());
    work.pop_back();
    const std::uint32_t head = r.blocks.front();
    if (r.blocks.size() == 1 || r.depth >= kMaxNesting) {
      order.insert(order.end(), r.blocks.begin(), r.blocks.end());
      continue;
    }
    ++next_region;
    for (const std::uint32_t b : r.blocks) region[b] = next_region;
    order.push_back(head);
    // Start from what the head leads to, so that heads of inner loops are where control enters
    // them.
    std::vector<std::uint32_t> roots, others;
    for (std::size_t k = 1; k < r.blocks.size(); ++k) {
      const auto& next = successors[head];
      const bool led_to = std::find(next.begin(), next.end(), r.blocks[k]) != next.end();
      (led_to ? roots : others).push_back(r.blocks[k]);
    }
    roots.insert(roots.end(), others.begin(), others.end());
    region[head] = UINT32_MAX;
    push_components(components.find(roots, next_region, head), r.depth + 1);
  }
  std::vector<char> seen(n, 0);
  for (const std::uint32_t b : order) seen[b] = 1;
  for (const std::uint32_t b : all)
    if (!seen[b]) order.push_back(b);
  return order;
}

}  // namespace simgpu::exec
