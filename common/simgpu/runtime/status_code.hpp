// The CUDA error that a Device's status is.
#pragma once

#include "common/simgpu/device.hpp"
#include "common/simgpu/include/cuda_runtime_api.h"

namespace simgpu::runtime {

inline cudaError_t code_of(Status status) {
  switch (status) {
    case Status::success:
      return cudaSuccess;
    case Status::invalid_value:
      return cudaErrorInvalidValue;
    case Status::out_of_memory:
      return cudaErrorMemoryAllocation;
    case Status::invalid_device_function:
      return cudaErrorInvalidDeviceFunction;
    case Status::invalid_configuration:
      return cudaErrorInvalidConfiguration;
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
