// Launches that overlap: blocks of one start as soon as blocks of the previous one have ended.
#pragma once

#include "common/kernel.cuh"

/// Waits until the previous launch has ended. Every thread calls this before it touches memory.
GEMM_LAB_DEVICE inline void wait_for_last_launch() {
  asm volatile("griddepcontrol.wait;" : : : "memory");
}

/// Lets the next launch begin once all blocks of this one have begun, instead of ended. Not for
/// blocks that share a multiprocessor: those of the next launch would crowd where places are free
/// first, and stay there.
GEMM_LAB_DEVICE inline void let_next_launch_begin() {
  asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
}

/// Launches a kernel that calls wait_for_last_launch(), in clusters of `cluster` blocks.
template <typename... Parameters, typename... Arguments>
void launch_early(void (*kernel)(Parameters...), dim3 grid, dim3 block, int bytes, int cluster,
                  cudaStream_t stream, const Arguments&... arguments) {
  if (bytes > 48 * 1024)  // what a block gets without asking
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {unsigned(cluster), 1, 1};
  const cudaLaunchConfig_t config = {grid,   block,      std::size_t(bytes),
                                     stream, attributes, cluster > 1 ? 2u : 1u};
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}
