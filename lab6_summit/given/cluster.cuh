// Clusters: blocks that run at the same time and can read each other's shared memory.
#pragma once

#include "common/async_copy.cuh"

/// This block's number in its cluster, and how many blocks the cluster has.
__device__ inline int cluster_rank() {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline int cluster_size() {
  int size;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}
/// A barrier for all threads of the cluster. What was stored before it can be read after it.
GEMM_LAB_DEVICE inline void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" : : : "memory");
}
/// Loads four floats from the shared memory of block `rank`; `own` is their place in this block's.
GEMM_LAB_DEVICE inline float4 load_from(int rank, const float* own) {
  float4 v;
  asm volatile(
      "{\n.reg .u32 there;\n"
      "mapa.shared::cluster.u32 there, %4, %5;\n"
      "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n}"
      : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
      : "r"(shared_address(own)), "r"(rank)
      : "memory");
  return v;
}

/// Steps along K: first, first + 1, ... end - 1.
struct Steps {
  int first, end;
  GEMM_LAB_HOST_DEVICE int count() const { return end - first; }
};
/// The steps of block `rank` if `blocks` blocks share all of them.
__device__ inline Steps steps_of(int rank, int blocks, int all) {
  return {all * rank / blocks, all * (rank + 1) / blocks};
}
