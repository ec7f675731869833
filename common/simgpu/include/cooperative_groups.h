// Cooperative groups: the grid of a cooperative launch, thread_block, tiles of a power of two up to a
// warp, the lanes that are together.
#pragma once
#pragma GCC system_header

// NVIDIA's guards: programs ask for them, and a toolkit's header that is found later adds nothing.
#define _COOPERATIVE_GROUPS_H_

// NVIDIA's brings these along: programs rely on it.
#include <cfloat>
#include <cstdio>
#include <cstring>

#include "cuda_runtime.h"

#if defined(__CUDA__)

namespace cooperative_groups {

#define __SIMGPU_MEMBER __attribute__((device, nodebug, always_inline))

class thread_block {
 public:
  static __SIMGPU_MEMBER void sync() { __syncthreads(); }
  static __SIMGPU_MEMBER unsigned int thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  static __SIMGPU_MEMBER unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static __SIMGPU_MEMBER unsigned int size() { return num_threads(); }
  static __SIMGPU_MEMBER dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static __SIMGPU_MEMBER dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static __SIMGPU_MEMBER dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static __SIMGPU_MEMBER dim3 dim_threads() { return group_dim(); }

  struct arrival_token {};
  static __SIMGPU_MEMBER arrival_token barrier_arrive() { return {}; }
  static __SIMGPU_MEMBER void barrier_wait(arrival_token&&) { sync(); }
};

__SIMGPU_DEVICE thread_block this_thread_block() {
  return thread_block();
}

namespace __simgpu {

/// The caller's number in its warp.
__SIMGPU_DEVICE unsigned int lane() {
  unsigned int id;
  asm("mov.u32 %0, %%laneid;" : "=r"(id));
  return id;
}

/// Lanes of one warp that are named by a mask.
class lanes {
 public:
  __SIMGPU_MEMBER explicit lanes(unsigned int mask) : mask_(mask) {}
  __SIMGPU_MEMBER void sync() const { __syncwarp(mask_); }
  __SIMGPU_MEMBER int any(int predicate) const { return __any_sync(mask_, predicate); }
  __SIMGPU_MEMBER int all(int predicate) const { return __all_sync(mask_, predicate); }

 protected:
  unsigned int mask_;
};

}  // namespace __simgpu

/// `Size` neighbouring threads of a block: 1, 2, 4, 8, 16 or 32.
template <unsigned int Size, typename Parent = void>
class thread_block_tile : public __simgpu::lanes {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "simgpu: tiles of 1, 2, 4, 8, 16 or 32 threads");
  using __simgpu::lanes::mask_;
  static __SIMGPU_MEMBER unsigned int first() { return __simgpu::lane() & ~(Size - 1); }

 public:
  __SIMGPU_MEMBER thread_block_tile()
      : __simgpu::lanes(Size == 32 ? 0xffffffffu : ((1u << (Size & 31)) - 1) << first()) {}
  /// A tile is the same whatever it was cut from.
  template <typename Other>
  __SIMGPU_MEMBER thread_block_tile(const thread_block_tile<Size, Other>&) : thread_block_tile() {}
  static __SIMGPU_MEMBER unsigned int thread_rank() { return __simgpu::lane() & (Size - 1); }
  static constexpr __SIMGPU_MEMBER unsigned int num_threads() { return Size; }
  static constexpr __SIMGPU_MEMBER unsigned int size() { return Size; }
  __SIMGPU_MEMBER unsigned int members() const { return mask_; }
  static __SIMGPU_MEMBER unsigned int meta_group_rank() {
    return thread_block::thread_rank() / Size;
  }
  static __SIMGPU_MEMBER unsigned int meta_group_size() {
    return (thread_block::num_threads() + Size - 1) / Size;
  }
  template <typename T>
  __SIMGPU_MEMBER T shfl(T value, int rank) const {
    return __shfl_sync(mask_, value, rank, static_cast<int>(Size));
  }
  template <typename T>
  __SIMGPU_MEMBER T shfl_up(T value, unsigned int delta) const {
    return __shfl_up_sync(mask_, value, delta, static_cast<int>(Size));
  }
  template <typename T>
  __SIMGPU_MEMBER T shfl_down(T value, unsigned int delta) const {
    return __shfl_down_sync(mask_, value, delta, static_cast<int>(Size));
  }
  template <typename T>
  __SIMGPU_MEMBER T shfl_xor(T value, unsigned int lanes) const {
    return __shfl_xor_sync(mask_, value, static_cast<int>(lanes), static_cast<int>(Size));
  }
  __SIMGPU_MEMBER unsigned int ballot(int predicate) const {
    return (__ballot_sync(mask_, predicate) & mask_) >> first();
  }
  template <typename T>
  __SIMGPU_MEMBER unsigned int match_any(T value) const {
    return (__match_any_sync(mask_, value) & mask_) >> first();
  }
  template <typename T>
  __SIMGPU_MEMBER unsigned int match_all(T value, int& same) const {
    return (__match_all_sync(mask_, value, &same) & mask_) >> first();
  }
};

/// The lanes of a warp that were together when it was made.
class coalesced_group : public __simgpu::lanes {
 public:
  __SIMGPU_MEMBER coalesced_group() : __simgpu::lanes(__activemask()) {}
  /// Some of the lanes of a group, all of which call: part `rank` of `size`.
  __SIMGPU_MEMBER coalesced_group(unsigned int mask, unsigned int rank, unsigned int size)
      : __simgpu::lanes(mask), part_(rank), parts_(size) {}
  __SIMGPU_MEMBER unsigned int meta_group_rank() const { return part_; }
  __SIMGPU_MEMBER unsigned int meta_group_size() const { return parts_; }
  __SIMGPU_MEMBER unsigned int members() const { return mask_; }
  __SIMGPU_MEMBER unsigned int thread_rank() const {
    return static_cast<unsigned int>(__popc(mask_ & ((1u << __simgpu::lane()) - 1)));
  }
  __SIMGPU_MEMBER unsigned int num_threads() const {
    return static_cast<unsigned int>(__popc(mask_));
  }
  __SIMGPU_MEMBER unsigned int size() const { return num_threads(); }
  template <typename T>
  __SIMGPU_MEMBER T shfl(T value, unsigned int rank) const {
    return __shfl_sync(mask_, value, lane_of(rank));
  }
  template <typename T>
  __SIMGPU_MEMBER T shfl_down(T value, unsigned int delta) const {
    const unsigned int from = thread_rank() + delta;
    return __shfl_sync(mask_, value,
                       from < size() ? lane_of(from) : static_cast<int>(__simgpu::lane()));
  }
  template <typename T>
  __SIMGPU_MEMBER T shfl_up(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return __shfl_sync(mask_, value,
                       rank >= delta ? lane_of(rank - delta) : static_cast<int>(__simgpu::lane()));
  }
  __SIMGPU_MEMBER unsigned int ballot(int predicate) const {
    return in_ranks(__ballot_sync(mask_, predicate));
  }
  template <typename T>
  __SIMGPU_MEMBER unsigned int match_any(T value) const {
    return in_ranks(__match_any_sync(mask_, value));
  }
  template <typename T>
  __SIMGPU_MEMBER unsigned int match_all(T value, int& same) const {
    return in_ranks(__match_all_sync(mask_, value, &same));
  }

 private:
  __SIMGPU_MEMBER int lane_of(unsigned int rank) const {
    unsigned int left = mask_;
    for (unsigned int k = 0; k < rank; ++k) left &= left - 1;
    return __ffs(static_cast<int>(left)) - 1;
  }
  /// Bit r is that of the lane with rank r.
  __SIMGPU_MEMBER unsigned int in_ranks(unsigned int lanes) const {
    unsigned int ranks = 0, bit = 1;
    for (unsigned int left = mask_; left != 0; left &= left - 1, bit <<= 1)
      if (lanes & left & (0u - left)) ranks |= bit;
    return ranks;
  }
  unsigned int part_ = 0, parts_ = 1;
};

__SIMGPU_DEVICE coalesced_group coalesced_threads() {
  return coalesced_group();
}

template <unsigned int Size, typename Parent>
__SIMGPU_DEVICE thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return thread_block_tile<Size, Parent>();
}

/// The lanes of `group` that name the same `label`.
template <typename Group, typename Label>
__SIMGPU_DEVICE coalesced_group labeled_partition(const Group& group, Label label) {
  const unsigned int all = group.members(), same = __match_any_sync(all, label);
  // A part counts where its first lane stands.
  const unsigned int firsts =
      __ballot_sync(all, __ffs(static_cast<int>(same)) - 1 == static_cast<int>(__simgpu::lane()));
  const unsigned int below = (same & (0u - same)) - 1;
  return coalesced_group(same, static_cast<unsigned int>(__popc(firsts & below)),
                         static_cast<unsigned int>(__popc(firsts)));
}
template <typename Group>
__SIMGPU_DEVICE coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned int all = group.members(), yes = __ballot_sync(all, predicate);
  return coalesced_group(predicate ? yes : all & ~yes, predicate ? 0 : 1, 2);
}

/// Any of the groups above, known when the program runs: a block, or lanes of one warp.
class thread_group {
 public:
  __SIMGPU_MEMBER thread_group(const thread_block&) : mask_(0) {}
  template <unsigned int Size, typename Parent>
  __SIMGPU_MEMBER thread_group(const thread_block_tile<Size, Parent>& tile)
      : mask_(tile.members()) {}
  __SIMGPU_MEMBER thread_group(const coalesced_group& group) : mask_(group.members()) {}
  __SIMGPU_MEMBER void sync() const {
    if (mask_ == 0)
      __syncthreads();
    else
      __syncwarp(mask_);
  }
  __SIMGPU_MEMBER unsigned long long num_threads() const {
    return mask_ == 0 ? thread_block::num_threads() : static_cast<unsigned int>(__popc(mask_));
  }
  __SIMGPU_MEMBER unsigned long long size() const { return num_threads(); }
  __SIMGPU_MEMBER unsigned long long thread_rank() const {
    return mask_ == 0 ? thread_block::thread_rank()
                      : static_cast<unsigned int>(__popc(mask_ & lanes_below()));
  }
  static constexpr __SIMGPU_MEMBER bool is_valid() { return true; }
  static __SIMGPU_MEMBER thread_group of_lanes(unsigned int mask) {
    thread_group group{thread_block()};
    group.mask_ = mask;
    return group;
  }
  /// The lanes; 0: the whole block.
  __SIMGPU_MEMBER unsigned int members() const { return mask_; }

 private:
  static __SIMGPU_MEMBER unsigned int lanes_below() {
    unsigned int mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
  }
  unsigned int mask_;
};
/// Tiles of `size` neighbouring threads: a power of two up to 32.
__SIMGPU_DEVICE thread_group tiled_partition(const thread_group& parent, unsigned int size) {
  const unsigned int rank = static_cast<unsigned int>(parent.thread_rank());
  if (parent.members() == 0)
    return thread_group::of_lanes(
        size == 32 ? 0xffffffffu : ((1u << size) - 1) << (__simgpu::lane() & ~(size - 1)));
  // Of lanes that need not be neighbours: those whose ranks belong to one tile.
  unsigned int mask = 0, at = 0;
  for (unsigned int left = parent.members(); left != 0; left &= left - 1, ++at)
    if (at / size == rank / size) mask |= left & (0u - left);
  return thread_group::of_lanes(mask);
}

template <typename Group>
__SIMGPU_DEVICE void sync(const Group& group) {
  group.sync();
}

template <typename Group>
__SIMGPU_DEVICE unsigned int thread_rank(const Group& group) {
  return group.thread_rank();
}

/// `f` is called by one thread of the group.
template <typename Group, typename F, typename... Arguments>
__SIMGPU_DEVICE void invoke_one(const Group& group, F&& f, Arguments&&... arguments) {
  if (group.thread_rank() == 0) f(static_cast<Arguments&&>(arguments)...);
}
/// All get what `f` gives that thread: of tiles and coalesced threads, whose lanes shuffle.
template <typename Group, typename F, typename... Arguments>
__SIMGPU_DEVICE auto invoke_one_broadcast(const Group& group, F&& f, Arguments&&... arguments)
    -> decltype(f(static_cast<Arguments&&>(arguments)...)) {
  decltype(f(static_cast<Arguments&&>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = f(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

namespace __simgpu {
/// Bit 31 turns when all blocks of a grid have come to its barrier, and the others are 0 again: the
/// next launch may have another number of blocks.
static __device__ unsigned int blocks_arrived;
/// The runtime writes 1 here before a launch that is not cooperative.
static __device__ unsigned int not_cooperative;
}  // namespace __simgpu

/// All threads of a cooperative launch (cudaLaunchCooperativeKernel), whose blocks are all resident.
class grid_group {
 public:
  static __SIMGPU_MEMBER bool is_valid() {
    return *(volatile unsigned int*)&__simgpu::not_cooperative == 0;
  }
  static __SIMGPU_MEMBER unsigned long long num_blocks() {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
  }
  static __SIMGPU_MEMBER unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static __SIMGPU_MEMBER unsigned long long num_threads() {
    return num_blocks() * thread_block::num_threads();
  }
  static __SIMGPU_MEMBER unsigned long long size() { return num_threads(); }
  static __SIMGPU_MEMBER unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  static __SIMGPU_MEMBER dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static __SIMGPU_MEMBER dim3 dim_blocks() { return group_dim(); }
  static __SIMGPU_MEMBER dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }

  using arrival_token = unsigned int;
  static __SIMGPU_MEMBER arrival_token barrier_arrive() {
    __syncthreads();
    unsigned int before = 0;
    if (thread_block::thread_rank() == 0) {
      if (!is_valid())
        __assertfail("grid.sync() in a kernel that cudaLaunchCooperativeKernel did not launch",
                     "cooperative_groups.h", 0, "sync", sizeof(char));
      const unsigned int others = (unsigned int)num_blocks() - 1;
      __threadfence();
      before = atomicAdd(&__simgpu::blocks_arrived, block_rank() == 0 ? 0x80000000u - others : 1u);
    }
    return before;
  }
  static __SIMGPU_MEMBER void barrier_wait(arrival_token&& before) {
    if (thread_block::thread_rank() == 0) {
      while (((atomicAdd(&__simgpu::blocks_arrived, 0u) ^ before) & 0x80000000u) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
  }
  static __SIMGPU_MEMBER void sync() { barrier_wait(barrier_arrive()); }
};

__SIMGPU_DEVICE grid_group this_grid() {
  return grid_group();
}

/// The blocks of a cluster. `simgpu/cluster.h` has the instructions.
class cluster_group {
 public:
  struct arrival_token {};
  static __SIMGPU_MEMBER void sync() {
    barrier_arrive();
    barrier_wait();
  }
  static __SIMGPU_MEMBER arrival_token barrier_arrive() {
    __cluster_barrier_arrive();
    return {};
  }
  static __SIMGPU_MEMBER void barrier_wait() { __cluster_barrier_wait(); }
  static __SIMGPU_MEMBER void barrier_wait(arrival_token&&) { __cluster_barrier_wait(); }
  static __SIMGPU_MEMBER dim3 dim_blocks() { return __clusterDim(); }
  static __SIMGPU_MEMBER dim3 block_index() { return __clusterRelativeBlockIdx(); }
  static __SIMGPU_MEMBER unsigned int block_rank() { return __clusterRelativeBlockRank(); }
  static __SIMGPU_MEMBER unsigned int num_blocks() { return __clusterSizeInBlocks(); }
  static __SIMGPU_MEMBER unsigned int num_threads() {
    return num_blocks() * thread_block::num_threads();
  }
  static __SIMGPU_MEMBER unsigned int size() { return num_threads(); }
  static __SIMGPU_MEMBER unsigned int thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  static __SIMGPU_MEMBER dim3 dim_threads() {
    const dim3 blocks = dim_blocks();
    return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
  }
  template <typename T>
  static __SIMGPU_MEMBER T* map_shared_rank(T* address, int rank) {
    return static_cast<T*>(__cluster_map_shared_rank((void*)address, (unsigned int)rank));
  }
  static __SIMGPU_MEMBER unsigned int query_shared_rank(const void* address) {
    return __cluster_query_shared_rank(address);
  }
};

__SIMGPU_DEVICE cluster_group this_cluster() {
  return cluster_group();
}

#undef __SIMGPU_MEMBER

}  // namespace cooperative_groups

#endif
