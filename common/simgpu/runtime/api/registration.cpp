// The symbols that clang's host objects call: registration of embedded code before main, and
// launches.
//
// clang describes each translation unit's image by a wrapper {magic, version, data, unused}; here
// `data` is the PTX text itself, because `-fcuda-include-gpubinary` embeds any file as it is. The
// text ends with a NUL, which the file has to bring: clang 14 adds one, later versions do not.

#include <vector>

#include "common/simgpu/runtime/api/state.hpp"

using simgpu::runtime::ImageId;
using simgpu::runtime::State;

namespace {

struct FatbinWrapper {
  int magic;
  int version;
  const void* data;
  void* unused;
};
constexpr int kWrapperMagic = 0x466243b1;

/// The handle that registration calls pass around: a pointer to something, as clang stores it.
struct Handle {
  ImageId image = 0;
};

struct CallConfiguration {
  dim3 grid, block;
  size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};
thread_local std::vector<CallConfiguration> configurations;

}  // namespace

extern "C" {

// The program's section of __managed__ variables (simgpu/attributes.h), if it has one.
extern char __start_simgpu_managed[] __attribute__((weak));
extern char __stop_simgpu_managed[] __attribute__((weak));

void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* stub, char* device_function,
                            const char* device_name, int thread_limit, uint3* tid, uint3* bid,
                            dim3* block_dim, dim3* grid_dim, int* warp_size);
void __cudaRegisterVar(void** handle, char* shadow, char* device_address, const char* device_name,
                       int is_extern, size_t size, int is_constant, int global);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                         struct CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream);

void** __cudaRegisterFatBinary(void* wrapper) {
  State& state = State::get();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  const auto* description = static_cast<const FatbinWrapper*>(wrapper);
  const bool ours = description && description->magic == kWrapperMagic;
  auto* const handle = new Handle;  // lives as long as the process, like the image
  handle->image = state.add_image(ours ? static_cast<const char*>(description->data) : nullptr);
  return reinterpret_cast<void**>(handle);
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void**) {}

void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* device_name, int,
                            uint3*, uint3*, dim3*, dim3*, int*) {
  State& state = State::get();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  state.add_kernel(stub, reinterpret_cast<Handle*>(handle)->image, device_name);
}

void __cudaRegisterVar(void** handle, char* shadow, char*, const char* device_name, int,
                       size_t bytes, int, int) {
  State& state = State::get();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  const ImageId image = reinterpret_cast<Handle*>(handle)->image;
  if (shadow >= __start_simgpu_managed && shadow < __stop_simgpu_managed)
    state.add_managed(shadow, image, device_name, bytes);
  else
    state.add_variable(shadow, image, device_name, bytes);
}

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                         struct CUstream_st* stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes,
                                       void* stream) {
  if (configurations.empty()) return cudaErrorMissingConfiguration;
  const CallConfiguration& top = configurations.back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  configurations.pop_back();
  simgpu::runtime::called_by_brackets = true;
  return cudaSuccess;
}

}  // extern "C"
