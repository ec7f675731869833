// The driver API, as far as programs use it beside the runtime: initialisation, the device, its
// attributes, memory, tensor maps. Modules that are loaded when the program runs are not here.
#pragma once
#pragma GCC system_header

#define __cuda_cuda_h__
#define CUDA_VERSION 13000

#include <stdint.h>
#include <string.h>

#include "cuda_runtime_api.h"

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct CUuuid_st CUuuid;

typedef enum cudaError_enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_NOT_PERMITTED = 800,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_UNKNOWN = 999,
} CUresult;

#include "simgpu/tensor_map.h"

typedef enum CUdevice_attribute_enum {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
  CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_MAX_PITCH = 11,
  CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
  CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
  CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
  CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
} CUdevice_attribute;

// The numbers of both APIs are the same where both have an error.
static inline CUresult __simgpu_result(cudaError_t error) {
  return static_cast<CUresult>(static_cast<int>(error));
}
static inline CUresult cuInit(unsigned int) {
  return CUDA_SUCCESS;
}
static inline CUresult cuDriverGetVersion(int* version) {
  return __simgpu_result(cudaDriverGetVersion(version));
}
static inline CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = cudaGetErrorName(static_cast<cudaError_t>(static_cast<int>(error)));
  return CUDA_SUCCESS;
}
static inline CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = cudaGetErrorString(static_cast<cudaError_t>(static_cast<int>(error)));
  return CUDA_SUCCESS;
}
static inline CUresult cuDeviceGetCount(int* count) {
  return __simgpu_result(cudaGetDeviceCount(count));
}
static inline CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
static inline CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  struct cudaDeviceProp prop;
  const cudaError_t error = cudaGetDeviceProperties(&prop, device);
  if (error == cudaSuccess && length > 0) {
    strncpy(name, prop.name, static_cast<size_t>(length) - 1);
    name[length - 1] = 0;
  }
  return __simgpu_result(error);
}
static inline CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  struct cudaDeviceProp prop;
  const cudaError_t error = cudaGetDeviceProperties(&prop, device);
  if (error == cudaSuccess) *bytes = prop.totalGlobalMem;
  return __simgpu_result(error);
}
static inline CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                                            CUdevice device) {
  return __simgpu_result(cudaDeviceGetAttribute(
      value, static_cast<enum cudaDeviceAttr>(static_cast<int>(attribute)), device));
}
static inline CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  const CUresult result =
      cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  return result != CUDA_SUCCESS
             ? result
             : cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}
// One context, which is always there.
static inline CUresult cuCtxCreate(CUcontext* context, unsigned int, CUdevice device) {
  *context = reinterpret_cast<CUcontext>(1);
  return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
static inline CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return cuCtxCreate(context, 0, device);
}
static inline CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  return CUDA_SUCCESS;
}
static inline CUresult cuCtxGetCurrent(CUcontext* context) {
  return cuCtxCreate(context, 0, 0);
}
static inline CUresult cuCtxSetCurrent(CUcontext) {
  return CUDA_SUCCESS;
}
static inline CUresult cuCtxDestroy(CUcontext) {
  return CUDA_SUCCESS;
}
static inline CUresult cuCtxSynchronize(void) {
  return __simgpu_result(cudaDeviceSynchronize());
}
static inline CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes) {
  void* memory = 0;
  const cudaError_t error = cudaMalloc(&memory, bytes);
  *pointer = reinterpret_cast<CUdeviceptr>(memory);
  return __simgpu_result(error);
}
static inline CUresult cuMemFree(CUdeviceptr pointer) {
  return __simgpu_result(cudaFree(reinterpret_cast<void*>(pointer)));
}
static inline CUresult cuMemGetInfo(size_t* free_bytes, size_t* total) {
  return __simgpu_result(cudaMemGetInfo(free_bytes, total));
}
static inline CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return __simgpu_result(
      cudaMemcpy(reinterpret_cast<void*>(to), from, bytes, cudaMemcpyHostToDevice));
}
static inline CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return __simgpu_result(
      cudaMemcpy(to, reinterpret_cast<const void*>(from), bytes, cudaMemcpyDeviceToHost));
}
static inline CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return __simgpu_result(cudaMemcpy(reinterpret_cast<void*>(to),
                                    reinterpret_cast<const void*>(from), bytes,
                                    cudaMemcpyDeviceToDevice));
}
static inline CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  return __simgpu_result(cudaMemset(reinterpret_cast<void*>(to), value, count));
}

#define __SIMGPU_NO_MODULES                                                                   \
  __attribute__((unavailable(                                                                 \
      "simgpu: modules that are loaded when the program runs are not supported: compile the " \
      "kernel with the program and launch it with <<<...>>>")))
__SIMGPU_NO_MODULES CUresult cuModuleLoad(CUmodule*, const char*);
__SIMGPU_NO_MODULES CUresult cuModuleLoadData(CUmodule*, const void*);
__SIMGPU_NO_MODULES CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char*);
__SIMGPU_NO_MODULES CUresult cuModuleUnload(CUmodule);
__SIMGPU_NO_MODULES CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned,
                                            unsigned, unsigned, unsigned, CUstream, void**, void**);
#undef __SIMGPU_NO_MODULES
