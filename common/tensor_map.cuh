// Tensor maps: they tell Hopper's copy engine (TMA) how a matrix lies in memory.
//
// Only the driver can encode them. Its function is looked up at run time, so that nothing has to be
// linked with libcuda, and by the program that runs a lab, since a lab's own object may not ask for
// functions of the driver (grader/gpu/object_gate.hpp). If you link a lab into a program of your
// own, define GEMM_LAB_TENSOR_MAP_ENCODER before you include this in one of its sources.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include "common/cuda_check.cuh"

#if CUDA_VERSION >= 12000  // older toolkits know no tensor maps

/// The driver's cuTensorMapEncodeTiled.
decltype(&cuTensorMapEncodeTiled) tensor_map_encoder();

/// Throws CudaError if the driver refused a tensor map. Reasons: an address or row pitch that is
/// not a multiple of 16 bytes, an extent of 0, or a box that is wider than its swizzle.
inline void tensor_map_check(CUresult result) {
  cuda_check(result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue, "cuTensorMapEncodeTiled",
             __FILE__, __LINE__);
}

#ifdef GEMM_LAB_TENSOR_MAP_ENCODER
decltype(&cuTensorMapEncodeTiled) tensor_map_encoder() {
  static void* const function = [] {
    const char* const name = "cuTensorMapEncodeTiled";
    void* found = nullptr;
    cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    CUDA_CHECK(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &status));
#else
    CUDA_CHECK(cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &status));
#endif
    if (status != cudaDriverEntryPointSuccess)
      cuda_check(cudaErrorNotSupported, name, __FILE__, __LINE__);
    return found;
  }();
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}
#endif

#endif
