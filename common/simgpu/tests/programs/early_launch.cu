// Programmatic dependent launch: what the second kernel does before cudaGridDependencySynchronize() must not touch
// what the first one writes or reads.
#include "check.h"

constexpr int kWords = 1024, kBytes = kWords * sizeof(int);

__global__ void first(const int* x, int* y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  cudaTriggerProgrammaticLaunchCompletion();
  y[i] = x[i] + 1;
}
__global__ void quiet(const int* x, int* y) {  // lets nobody begin early
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  y[i] = x[i] + 1;
}
__global__ void waits(const int* w, const int* y, int* z) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int weight = w[i];  // of nobody else's
  cudaGridDependencySynchronize();
  z[i] = weight * y[i];
}
__global__ void one_waits(const int* w, const int* y, int* z) {  // for its whole block
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int weight = w[i];
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  __syncthreads();
  z[i] = weight * y[i];
}
__global__ void never_waits(const int* w, const int* y, int* z) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  z[i] = w[i] * y[i];
}
__global__ void too_late(const int* w, const int* y, int* z) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int product = w[i] * y[i];
  cudaGridDependencySynchronize();
  z[i] = product;
}
__global__ void only_one(const int* w, const int* y, int* z) {  // and the other warps go on
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (threadIdx.x < 32) cudaGridDependencySynchronize();
  z[i] = w[i] * y[i];
}
__global__ void overwrites(const int* w, int* x, int*) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  x[i] = w[i];  // the first kernel may still read it
}

template <class... T>
void launch(bool early, void (*kernel)(T...), T... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(4);
  config.blockDim = dim3(256);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = early ? 1 : 0;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

int main(int argc, char**) {
  int *x, *y, *z, *w;
  for (int** p : {&x, &y, &z, &w}) {
    CHECK(cudaMalloc(p, kBytes));
    CHECK(cudaMemset(*p, 1, kBytes));
  }
  const int *from = x, *middle = y, *weights = w;
  // In order:
  first<<<4, 256>>>(x, y);
  launch(true, waits, weights, middle, z);
  launch(true, first, from, y);  // `waits` lets nobody begin early
  launch(true, one_waits, weights, middle, z);
  first<<<4, 256>>>(x, y);
  launch(false, never_waits, weights, middle, z);  // is not to begin early
  first<<<4, 256>>>(x, y);
  never_waits<<<4, 256>>>(w, y, z);
  quiet<<<4, 256>>>(x, y);
  launch(true, never_waits, weights, middle, z);
  first<<<4, 256>>>(x, y);
  CHECK(cudaMemsetAsync(z, 0, kBytes));  // comes between
  launch(true, never_waits, weights, middle, z);
  first<<<4, 256>>>(x, y);
  launch(true, never_waits, weights, weights, z);  // has nothing to do with it
  first<<<4, 256>>>(x, y);
  CHECK(cudaDeviceSynchronize());
  launch(true, never_waits, weights, middle, z);
  int last = 0;
  CHECK(cudaMemcpy(&last, z + kWords - 1, 4, cudaMemcpyDeviceToHost));
  std::printf("%d\n", last == static_cast<int>(0x01010101u * 0x01010102u));
  if (argc > 1) return 0;

  // Not:
  first<<<4, 256>>>(x, y);
  launch(true, never_waits, weights, middle, z);
  first<<<4, 256>>>(x, y);
  launch(true, too_late, weights, middle, z);
  first<<<4, 256>>>(x, y);
  launch(true, only_one, weights, middle, z);
  first<<<4, 256>>>(x, y);
  launch(true, overwrites, weights, x, z);
  CHECK(cudaDeviceSynchronize());
  return 0;
}
