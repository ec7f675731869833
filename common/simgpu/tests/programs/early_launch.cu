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
// In chains, between one that writes y and one that reads it:
__global__ void waits_and_lets(const int* w, int* z) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  z[i] = w[i];
}
__global__ void lets_and_waits(const int* w, int* z) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  z[i] = w[i];
}
__global__ void one_warp_waits(const int* w, int* z) {  // and the others do not know of it
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (threadIdx.x < 32) cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  z[i] = w[i];
}
__global__ void only_lets(const int* w, int* z) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  cudaTriggerProgrammaticLaunchCompletion();
  z[i] = w[i];
}
__global__ void does_neither(const int* w, int* z) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  z[i] = w[i];
}
template <int>
__global__ void last_waits(const int* y, int* v) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  cudaGridDependencySynchronize();
  v[i] = y[i];
}
template <int>
__global__ void last_goes_on(const int* y, int* v) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  v[i] = y[i];
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
  int *x, *y, *z, *w, *v;
  for (int** p : {&x, &y, &z, &w, &v}) {
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
  const auto chain = [&](void (*between)(const int*, int*), bool early,
                         void (*last_of_all)(const int*, int*)) {
    first<<<4, 256>>>(x, y);
    launch(true, between, weights, z);
    launch(early, last_of_all, middle, v);
    CHECK(cudaDeviceSynchronize());
  };
  chain(waits_and_lets, true, last_goes_on<0>);
  chain(waits_and_lets, true, last_waits<0>);
  chain(lets_and_waits, true, last_waits<0>);
  chain(one_warp_waits, true, last_waits<0>);
  chain(only_lets, false, last_goes_on<0>);  // begins when all before it have ended
  chain(does_neither, false, last_goes_on<0>);
  launch(true, only_lets, weights, z);
  launch(true, only_lets, weights, v);  // has no more to do with it, but begins before its end
  launch(true, last_waits<0>, weights, v);
  CHECK(cudaDeviceSynchronize());
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
  chain(lets_and_waits, true, last_goes_on<1>);
  chain(one_warp_waits, true, last_goes_on<2>);
  chain(only_lets, true, last_goes_on<3>);
  chain(only_lets, true, last_waits<4>);  // for only_lets, which has not waited for the first
  chain(does_neither, true, last_waits<5>);
  return 0;
}
