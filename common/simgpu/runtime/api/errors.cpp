// Error names and strings, and the last error.

#include "common/simgpu/runtime/api/state.hpp"
#include "common/simgpu/runtime/error_texts.hpp"

using simgpu::runtime::State;

namespace {

struct ErrorText {
  const char* name;
  const char* text;
};

// No default: the compiler names an enumerator that is missing here.
ErrorText describe(cudaError_t error) {
  switch (error) {
#define SIMGPU_ERROR(name, text) \
  case name:                     \
    return {#name, text}
    SIMGPU_ERROR(cudaSuccess, "no error");
    SIMGPU_ERROR(cudaErrorInvalidValue, "invalid argument");
    SIMGPU_ERROR(cudaErrorMemoryAllocation, "out of memory");
    SIMGPU_ERROR(cudaErrorInitializationError, "initialization error");
    SIMGPU_ERROR(cudaErrorCudartUnloading, "driver shutting down");
    SIMGPU_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument");
    SIMGPU_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument");
    SIMGPU_ERROR(cudaErrorInvalidSymbol, "invalid device symbol");
    SIMGPU_ERROR(cudaErrorInvalidHostPointer, "invalid host pointer");
    SIMGPU_ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer");
    SIMGPU_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy");
    SIMGPU_ERROR(cudaErrorStubLibrary, "CUDA driver is a stub library");
    SIMGPU_ERROR(cudaErrorInsufficientDriver,
                 "CUDA driver version is insufficient for CUDA runtime version");
    SIMGPU_ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable");
    SIMGPU_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured");
    SIMGPU_ERROR(cudaErrorPriorLaunchFailure, "unspecified launch failure in prior launch");
    SIMGPU_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function");
    SIMGPU_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected");
    SIMGPU_ERROR(cudaErrorInvalidDevice, "invalid device ordinal");
    SIMGPU_ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid");
    SIMGPU_ERROR(cudaErrorDeviceUninitialized, "invalid device context");
    SIMGPU_ERROR(cudaErrorNoKernelImageForDevice,
                 "no kernel image is available for execution on the device");
    SIMGPU_ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered");
    SIMGPU_ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture");
    SIMGPU_ERROR(cudaErrorPeerAccessUnsupported,
                 "peer access is not supported between these two devices");
    SIMGPU_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed");
    SIMGPU_ERROR(cudaErrorUnsupportedPtxVersion,
                 "the provided PTX was compiled with an unsupported toolchain.");
    SIMGPU_ERROR(cudaErrorInvalidSource, "device kernel image is invalid");
    SIMGPU_ERROR(cudaErrorFileNotFound, "file not found");
    SIMGPU_ERROR(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS");
    SIMGPU_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle");
    SIMGPU_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state");
    SIMGPU_ERROR(cudaErrorSymbolNotFound, "named symbol not found");
    SIMGPU_ERROR(cudaErrorNotReady, "device not ready");
    SIMGPU_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered");
    SIMGPU_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch");
    SIMGPU_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated");
    SIMGPU_ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled");
    SIMGPU_ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled");
    SIMGPU_ERROR(cudaErrorContextIsDestroyed, "context is destroyed");
    SIMGPU_ERROR(cudaErrorAssert, "device-side assert triggered");
    SIMGPU_ERROR(cudaErrorHostMemoryAlreadyRegistered,
                 "part or all of the requested memory range is already mapped");
    SIMGPU_ERROR(cudaErrorHostMemoryNotRegistered,
                 "pointer does not correspond to a registered memory region");
    SIMGPU_ERROR(cudaErrorHardwareStackError, "hardware stack error");
    SIMGPU_ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered");
    SIMGPU_ERROR(cudaErrorMisalignedAddress, "misaligned address");
    SIMGPU_ERROR(cudaErrorInvalidAddressSpace,
                 "operation not supported on global/shared address space");
    SIMGPU_ERROR(cudaErrorInvalidPc, "invalid program counter");
    SIMGPU_ERROR(cudaErrorLaunchFailure, "unspecified launch failure");
    SIMGPU_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch");
    SIMGPU_ERROR(cudaErrorNotPermitted, "operation not permitted");
    SIMGPU_ERROR(cudaErrorNotSupported, "operation not supported");
    SIMGPU_ERROR(cudaErrorStreamCaptureUnsupported,
                 "operation not permitted when stream is capturing");
    SIMGPU_ERROR(cudaErrorTimeout, "wait operation timed out");
    SIMGPU_ERROR(cudaErrorInvalidClusterSize, "invalid cluster size");
    SIMGPU_ERROR(cudaErrorUnknown, "unknown error");
#undef SIMGPU_ERROR
  }
  return {"unrecognized error code", "unrecognized error code"};
}

void tell_asked(cudaError_t error) {
  if (error == cudaSuccess) return;
  State& state = State::get();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  state.asked(error);
}

}  // namespace

const char* simgpu::runtime::error_name(cudaError_t error) {
  return describe(error).name;
}
const char* simgpu::runtime::error_text(cudaError_t error) {
  return describe(error).text;
}

const char* cudaGetErrorName(cudaError_t error) {
  tell_asked(error);
  return describe(error).name;
}
const char* cudaGetErrorString(cudaError_t error) {
  tell_asked(error);
  return describe(error).text;
}

cudaError_t cudaGetLastError() {
  State& state = State::get();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  return state.take_error();
}

cudaError_t cudaPeekAtLastError() {
  State& state = State::get();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  return state.peek_error();
}
