#include "common/simgpu/runtime/server/names.hpp"

#include "common/simgpu/include/driver_types.h"
#include "common/simgpu/runtime/server/server.hpp"

namespace simgpu::runtime {

std::string name_of(int code) {
  switch (code) {
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInitializationError:
      return "cudaErrorInitializationError";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidPitchValue:
      return "cudaErrorInvalidPitchValue";
    case cudaErrorInvalidSymbol:
      return "cudaErrorInvalidSymbol";
    case cudaErrorInvalidMemcpyDirection:
      return "cudaErrorInvalidMemcpyDirection";
    case cudaErrorInvalidDeviceFunction:
      return "cudaErrorInvalidDeviceFunction";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorInvalidPtx:
      return "cudaErrorInvalidPtx";
    case cudaErrorInvalidResourceHandle:
      return "cudaErrorInvalidResourceHandle";
    case cudaErrorLaunchOutOfResources:
      return "cudaErrorLaunchOutOfResources";
    case cudaErrorNotPermitted:
      return "cudaErrorNotPermitted";
    case cudaErrorNotSupported:
      return "cudaErrorNotSupported";
    case cudaErrorUnknown:
      return "cudaErrorUnknown";
    default:
      return "CUDA error " + std::to_string(code);
  }
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::returned:
      return "returned";
    case Outcome::threw:
      return "threw";
    case Outcome::closed:
      return "closed";
    case Outcome::timeout:
      return "timeout";
    case Outcome::protocol:
      return "protocol";
  }
  return "unknown";
}

}  // namespace simgpu::runtime
