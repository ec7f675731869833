// Asynchronous copies (cp.async) that are under way. A copy reads its source when it is issued and
// lands in shared memory when its thread waits for the group; in between the destination holds
// poison and is marked in the shadow (kPendingTime), so that plain accesses find out without
// looking here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/simgpu/check/shared_shadow.hpp"

namespace simgpu::check {

/// One executed cp.async: up to 32 copies of equal size and group.
struct AsyncCopy {
  std::uint32_t pc = 0, site = 0;
  std::uint32_t mask = 0;   ///< lanes whose copy is under way
  std::uint32_t bytes = 0;  ///< per lane: 4, 8 or 16
  std::uint32_t group = 0;  ///< groups that its threads had committed before
  bool committed = false;
  std::uint32_t step = 0;                  ///< WarpCopies::steps when it was issued
  std::uint64_t work_at_commit = 0;        ///< multiply-adds the warp had executed
  std::array<std::uint32_t, 32> offset{};  ///< destination, bytes from the start of the arrays
  std::array<std::uint8_t, 32> read{};     ///< bytes taken from the source; zeros fill the rest
  alignas(16) std::byte data[32][16];
};

/// The copies of one warp, in order of issue.
class WarpCopies {
 public:
  void reset() {
    while (!open.empty()) retire(open.size() - 1);
    committed.fill(0);
    steps = 0;
    arrived = 0;
  }
  AsyncCopy& add() {
    if (spare_.empty()) spare_.push_back(std::make_unique<AsyncCopy>());
    open.push_back(std::move(spare_.back()));
    spare_.pop_back();
    AsyncCopy& c = *open.back();
    c.mask = 0;
    c.committed = false;
    return c;
  }
  void retire(std::size_t k) {
    spare_.push_back(std::move(open[k]));
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(k));
  }

  std::vector<std::unique_ptr<AsyncCopy>> open;
  std::array<std::uint32_t, 32> committed{};  ///< groups, by lane
  /// Waits at which something arrived, those counted as one between which nothing was multiplied.
  std::uint32_t steps = 0;
  std::uint64_t work_at_step = 0;  ///< multiply-adds the warp had executed at the last of them
  std::uint64_t arrived = 0;       ///< bytes that have been waited for

 private:
  std::vector<std::unique_ptr<AsyncCopy>> spare_;
};

/// Who landed a granule, as long as the shadow still holds `tag`.
struct Landed {
  static constexpr std::uint8_t kNoSwizzle = 0xff;
  std::uint32_t pc = UINT32_MAX;
  Tag tag = 0;
  std::uint8_t swizzle = kNoSwizzle;  ///< of a bulk copy of a tensor
  bool reduced = false;               ///< by a reduction
};

/// What was in a place of shared memory before the next copy into it, in steps of the warp that
/// copied it there.
struct Stay {
  std::uint32_t issued = 0, arrived = 0;
  std::uint32_t wait_pc = UINT32_MAX;  ///< UINT32_MAX: nothing was there
  std::uint32_t warp = 0;
};

/// Of a block. Empty for kernels without cp.async.
struct AsyncShadow {
  std::vector<WarpCopies> warps;
  std::vector<Landed> landed;  ///< by granule of the SharedShadow
  /// By word of shared memory, for the first lane of each copy alone: a warp's lanes go together.
  std::vector<Stay> stays;
  bool used = false;  ///< this block has issued a copy

  void reset(std::size_t warp_count, std::size_t granules, std::size_t words) {
    warps.resize(warp_count);
    for (WarpCopies& w : warps) w.reset();
    landed.assign(granules, Landed{});
    stays.assign(words, Stay{});
    used = false;
  }
  std::size_t open() const {
    std::size_t n = 0;
    for (const WarpCopies& w : warps) n += w.open.size();
    return n;
  }
};

}  // namespace simgpu::check
