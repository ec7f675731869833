// The checks of helper_cuda.h, a header of NVIDIA's cuda-samples that many programs include, written for the simulated GPU.
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"
#include "helper_string.h"

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif

inline const char* _cudaGetErrorEnum(cudaError_t error) {
  return cudaGetErrorName(error);
}
/// The statuses of libraries, which are numbers.
template <typename T>
const char* _cudaGetErrorEnum(T) {
  return "a library's status";
}
template <typename T>
void check(T result, const char* call, const char* file, int line) {
  if (result == static_cast<T>(0)) return;
  fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, static_cast<int>(result),
          _cudaGetErrorEnum(result), call);
  exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)

inline void __getLastCudaError(const char* message, const char* file, int line) {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line, message,
          static_cast<int>(error), cudaGetErrorString(error));
  exit(EXIT_FAILURE);
}
#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
inline void __printLastCudaError(const char* message, const char* file, int line) {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line, message,
          static_cast<int>(error), cudaGetErrorString(error));
}
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)

inline int ftoi(float value) {
  return static_cast<int>(value >= 0 ? value + 0.5f : value - 0.5f);
}
/// FP32 multiply-adds of a multiprocessor per clock, for what programs print of the device.
inline int _ConvertSMVer2Cores(int major, int minor) {
  if (major >= 9) return 128;
  if (major == 8) return minor == 0 ? 64 : 128;
  return major == 7 || (major == 6 && minor == 0) ? 64 : 128;
}
inline const char* _ConvertSMVer2ArchName(int major, int) {
  return major >= 10 ? "Blackwell" : major == 9 ? "Hopper" : major == 8 ? "Ampere" : "Volta";
}
inline int gpuDeviceInit(int device) {
  checkCudaErrors(cudaSetDevice(device));
  return device;
}
inline int gpuGetMaxGflopsDeviceId() {
  return 0;
}
inline int findCudaDevice(int argc, const char** argv) {
  const int device = getCmdLineArgumentInt(argc, argv, "device");
  gpuDeviceInit(device);
  cudaDeviceProp properties;
  checkCudaErrors(cudaGetDeviceProperties(&properties, device));
  printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", device, properties.name,
         properties.major, properties.minor);
  return device;
}
inline bool checkCudaCapabilities(int major, int minor) {
  int device = 0;
  cudaDeviceProp properties;
  checkCudaErrors(cudaGetDevice(&device));
  checkCudaErrors(cudaGetDeviceProperties(&properties, device));
  return properties.major > major || (properties.major == major && properties.minor >= minor);
}
