// The usual cause of a CUDA error, by its name. Plain C++, so it can be tested without CUDA.
#pragma once

#include <cstring>

/// One sentence for the common errors, "" for the others. `name` is what cudaGetErrorName returns.
inline const char* cuda_error_hint(const char* name) {
  struct Hint {
    const char *name, *text;
  };
  static const Hint hints[] = {
      {"cudaErrorInvalidConfiguration",
       "a grid or block extent is 0, or a block has more than 1024 threads"},
      {"cudaErrorLaunchOutOfResources",
       "threads per block times registers per thread (or shared memory) is more than one "
       "multiprocessor has: use a smaller block or tile"},
      {"cudaErrorInvalidValue",
       "a null pointer, a size or pitch that does not fit, a grid or block extent of 0, more than 1024 "
       "threads, or more than 48 KiB of dynamic shared memory without cudaFuncSetAttribute"},
      {"cudaErrorMemoryAllocation",
       "not enough device memory: is the size in bytes right, and is earlier memory freed?"},
      {"cudaErrorIllegalAddress",
       "a kernel went outside its arrays: check the guards at the edges of the matrices"},
      {"cudaErrorMisalignedAddress",
       "a vector access (float4, int2 ...) at an address that is not a multiple of its size: is "
       "the leading dimension one?"},
      {"cudaErrorInvalidDevicePointer", "a host pointer where a device pointer is needed"},
      {"cudaErrorInvalidDeviceFunction",
       "the kernel was not compiled for this device: check the architecture (ARCH=...)"},
      {"cudaErrorNoKernelImageForDevice",
       "the program holds no code for this GPU: check the architecture (ARCH=...)"},
      {"cudaErrorUnsupportedPtxVersion", "the driver is older than the compiler: update it"},
      {"cudaErrorInsufficientDriver", "the driver is older than the CUDA runtime: update it"},
      {"cudaErrorNoDevice", "no GPU is visible: try DEVICE=sim, or look at `make doctor`"},
      {"cudaErrorLaunchTimeout", "the kernel ran for too long: does every loop end?"},
      {"cudaErrorLaunchFailure",
       "the kernel crashed; this error may come from an earlier launch: check each one"},
      {"cudaErrorAssert", "an assert() in a kernel failed"},
      {"cudaErrorInvalidMemcpyDirection",
       "the copy kind and the pointers disagree: from host to device or the other way?"},
      {"cudaErrorNotSupported", "this device cannot do that"},
  };
  for (const Hint& hint : hints)
    if (std::strcmp(hint.name, name) == 0) return hint.text;
  return "";
}
