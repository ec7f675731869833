// What CUDA says to launches that cannot be, and that such errors are forgotten once they were read.
// Codes as documented and as its reference manual has them. CUDA 13.0 on an H200 differs: impossible grids and
// blocks are cudaErrorInvalidValue there, something that is no kernel is cudaErrorInvalidResourceHandle.
#include "check.h"

__global__ void nothing() {}
__global__ void write(int* p) { *p = 42; }
__global__ void __launch_bounds__(128) small(int* p) { p[threadIdx.x] = 1; }
__global__ void wide(int* p) {
  __shared__ int fixed[8192];
  extern __shared__ int extra[];
  fixed[threadIdx.x] = extra[threadIdx.x] = 1;
  __syncthreads();
  *p = fixed[0] + extra[0];
}
void host_function() {}

static void expect(const char* what) {
  const cudaError_t peeked = cudaPeekAtLastError();
  const cudaError_t got = cudaGetLastError();
  std::printf("%s: %s (%s)%s%s\n", what, cudaGetErrorName(got), cudaGetErrorString(got),
              peeked == got ? "" : ", peek differs", cudaGetLastError() == cudaSuccess ? "" : ", not forgotten");
}

int main() {
  int* p;
  CHECK(cudaMalloc(&p, 1024 * sizeof(int)));
  nothing<<<1, 1>>>();
  expect("1 thread");
  nothing<<<1, 2000>>>();
  expect("2000 threads");
  nothing<<<1, dim3(32, 32, 2)>>>();
  expect("32 x 32 x 2 threads");
  nothing<<<1, dim3(1, 1, 65)>>>();
  expect("65 threads in z");
  nothing<<<1, 0>>>();
  expect("0 threads");
  nothing<<<0, 1>>>();
  expect("0 blocks");
  nothing<<<dim3(1, 65536), 1>>>();
  expect("65536 blocks in y");
  nothing<<<dim3(1, 1, 65536), 1>>>();
  expect("65536 blocks in z");
  nothing<<<1, 1, 49152>>>();
  expect("48 KiB of dynamic shared memory");
  nothing<<<1, 1, 49153>>>();
  expect("one byte more");
  wide<<<1, 32, 20000>>>(p);
  expect("32768 static and 20000 dynamic bytes");
  small<<<1, 128>>>(p);
  expect("within the launch bounds");
  small<<<1, 129>>>(p);
  expect("beyond the launch bounds");
  std::printf("not a kernel: %s\n", cudaGetErrorName(cudaLaunchKernel(
                                        reinterpret_cast<const void*>(&host_function), dim3(1), dim3(1), nullptr, 0, nullptr)));
  expect("and the last error");
  write<<<1, 1>>>(p);
  expect("all is well again");
  int value = 0;
  CHECK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
  std::printf("value %d\n", value);
  // A failed call leaves its error until somebody reads it; successes in between do not clear it.
  nothing<<<1, 4096>>>();
  CHECK(cudaDeviceSynchronize());
  nothing<<<1, 1>>>();
  expect("still there after a good launch");
  std::printf("%s\n", cudaGetErrorName(cudaSetDevice(7)));
  expect("cudaSetDevice(7)");
  void* q = nullptr;
  std::printf("%s\n", cudaGetErrorName(cudaMalloc(&q, size_t(1) << 50)));
  expect("a petabyte");
  return 0;
}
