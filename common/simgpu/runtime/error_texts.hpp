// What an error is called, for messages of the runtime's own. Unlike cudaGetErrorName and
// cudaGetErrorString, asking here does not mean that the program knows of the error.
#pragma once

#include "common/simgpu/include/cuda_runtime_api.h"

namespace simgpu::runtime {

const char* error_name(cudaError_t error);
const char* error_text(cudaError_t error);

}  // namespace simgpu::runtime
