// The CUDA error that a Device's status is.
#pragma once

#include "common/simgpu/device.hpp"
#include "common/simgpu/include/cuda_runtime_api.h"

namespace simgpu::runtime {

inline cudaError_t code_of(Status status) {
  switch (status) {
    case Status::success:
      return cudaSuccess;
    // The manual has a code of its own for a grid or block that cannot be; an H200 with CUDA 13.0 has not.
    case Status::invalid_configuration:
    case Status::invalid_value:
      return cudaErrorInvalidValue;
    case Status::out_of_memory:
      return cudaErrorMemoryAllocation;
    case Status::invalid_device_function:
      return cudaErrorInvalidDeviceFunction;
    case Status::invalid_cluster:
      return cudaErrorInvalidClusterSize;
    case Status::launch_out_of_resources:
      return cudaErrorLaunchOutOfResources;
    case Status::invalid_module:
      return cudaErrorInvalidPtx;
    case Status::unsupported:
      return cudaErrorNotSupported;
  }
  return cudaErrorUnknown;
}

}  // namespace simgpu::runtime
