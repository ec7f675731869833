// The host uses memory that the device may still use, launches what is refused and does not ask, and a kernel
// waits for a grid that was not launched together. None of these is an error that a call returns.
#include <cooperative_groups.h>

#include "check.h"

__global__ void fill(int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = i;
}
__global__ void together(int* out) {
  cooperative_groups::this_grid().sync();
  out[threadIdx.x] = 1;
}

void add(void* sum) {
  *static_cast<int*>(sum) += 1;
}
void read(void* word) {
  std::printf("host function: %d\n", *static_cast<int*>(word));
}

int main() {
  constexpr int kWords = 4096;
  int *managed, *pinned, *device;
  CHECK(cudaMallocManaged(&managed, kWords * sizeof(int)));
  CHECK(cudaMallocHost(&pinned, kWords * sizeof(int)));
  CHECK(cudaMalloc(&device, kWords * sizeof(int)));

  // As it should be: wait, or use what no kernel writes.
  fill<<<4, 256>>>(managed, 1000);
  managed[3000] = 5;
  CHECK(cudaDeviceSynchronize());
  std::printf("%d %d\n", managed[999], managed[3000]);
  CHECK(cudaMemcpyAsync(device, pinned, kWords, cudaMemcpyHostToDevice));
  std::printf("%d\n", pinned[7]);
  CHECK(cudaStreamSynchronize(nullptr));
  pinned[7] = 1;

  fill<<<4, 256>>>(managed + 1, 1000);
  std::printf("%d\n", managed[501]);  // too early
  CHECK(cudaDeviceSynchronize());

  CHECK(cudaMemcpyAsync(device, pinned, kWords, cudaMemcpyHostToDevice));
  pinned[8] = 2;  // too early
  CHECK(cudaDeviceSynchronize());
  fill<<<4, 256>>>(device, 1000);
  CHECK(cudaMemcpyAsync(pinned, device, kWords, cudaMemcpyDeviceToHost));
  std::printf("%d\n", pinned[9]);  // too early
  CHECK(cudaDeviceSynchronize());

  // A function of the host, run in the stream, may read what came before it. It is not the program that waits.
  int runs = 0;
  CHECK(cudaMemcpyAsync(pinned, device, kWords, cudaMemcpyDeviceToHost));
  CHECK(cudaLaunchHostFunc(nullptr, read, pinned + 10));
  CHECK(cudaLaunchHostFunc(nullptr, add, &runs));
  std::printf("%d\n", pinned[11]);  // too early
  CHECK(cudaDeviceSynchronize());
  std::printf("%d %d\n", pinned[12], runs);

  fill<<<1, 2000>>>(device, 1000);
  CHECK(cudaGetLastError() == cudaSuccess ? cudaErrorUnknown : cudaSuccess);
  fill<<<1, 3000>>>(device, 1000);  // nobody asks
  CHECK(cudaFree(managed));
  CHECK(cudaFreeHost(pinned));

  void* arguments[] = {&device};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(together), dim3(4), dim3(32), arguments,
                                    0, nullptr));
  CHECK(cudaDeviceSynchronize());
  together<<<4, 32>>>(device);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
