// Clusters: what CUDA's device code has for them beside cooperative_groups::this_cluster().
#pragma once
#pragma GCC system_header

#if defined(__CUDA__)

#define __SIMGPU_CLUSTER_DIM(name, of)                 \
  __SIMGPU_DEVICE dim3 name() {                        \
    unsigned int x, y, z;                              \
    asm volatile("mov.u32 %0, %%" of ".x;" : "=r"(x)); \
    asm volatile("mov.u32 %0, %%" of ".y;" : "=r"(y)); \
    asm volatile("mov.u32 %0, %%" of ".z;" : "=r"(z)); \
    return dim3(x, y, z);                              \
  }
__SIMGPU_CLUSTER_DIM(__clusterDim, "cluster_nctaid")
__SIMGPU_CLUSTER_DIM(__clusterRelativeBlockIdx, "cluster_ctaid")
__SIMGPU_CLUSTER_DIM(__clusterGridDimInClusters, "nclusterid")
__SIMGPU_CLUSTER_DIM(__clusterIdx, "clusterid")
#undef __SIMGPU_CLUSTER_DIM
__SIMGPU_DEVICE unsigned int __clusterRelativeBlockRank() {
  unsigned int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__SIMGPU_DEVICE unsigned int __clusterSizeInBlocks() {
  unsigned int blocks;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}
__SIMGPU_DEVICE void __cluster_barrier_arrive() {
  asm volatile("barrier.cluster.arrive.release;" : : : "memory");
}
__SIMGPU_DEVICE void __cluster_barrier_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed;" : : : "memory");
}
__SIMGPU_DEVICE void __cluster_barrier_wait() {
  asm volatile("barrier.cluster.wait.acquire;" : : : "memory");
}
__SIMGPU_DEVICE void* __cluster_map_shared_rank(const void* address, unsigned int rank) {
  void* mapped;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(address), "r"(rank));
  return mapped;
}
__SIMGPU_DEVICE unsigned int __cluster_query_shared_rank(const void* address) {
  unsigned int rank;
  asm volatile("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(address));
  return rank;
}

#endif
