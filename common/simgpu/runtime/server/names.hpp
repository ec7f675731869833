// What the server calls the codes that it hands out.
#pragma once

#include <string>

namespace simgpu::runtime {

/// "cudaErrorInvalidValue": a code of cudaError_t that the server itself hands out or that a
/// launcher may see; others by number.
std::string name_of(int code);

}  // namespace simgpu::runtime
