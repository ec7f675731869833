// What `kernel<<<grid, block, shared, stream>>>(...)` compiles to. Part of <cuda_runtime.h>.
//
// clang calls __cudaPushCallConfiguration and then the kernel's host stub, which pops the
// configuration and calls cudaLaunchKernel. cudaConfigureCall is only ever looked up, by the device
// pass.
#pragma once
#pragma GCC system_header

#include "../cuda_runtime_api.h"

extern "C" {
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                         struct CUstream_st* stream = 0);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream);
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0,
                              cudaStream_t stream = 0);
}
