// Two streams that share memory, with an event between them, a synchronisation, or nothing.
#include "check.h"

__global__ void add(const int* from, int* to, int n, int what) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] = from[i] + what;
}

int main() {
  constexpr int kWords = 1000, kBytes = kWords * sizeof(int);
  int *pinned, *a, *b, *c;
  CHECK(cudaMallocHost(&pinned, 2 * kBytes));
  CHECK(cudaMalloc(&a, 2 * kBytes));
  CHECK(cudaMalloc(&b, 2 * kBytes));
  CHECK(cudaMalloc(&c, 2 * kBytes));
  for (int i = 0; i < 2 * kWords; ++i) pinned[i] = i;
  cudaStream_t one, two;
  cudaEvent_t ready;
  CHECK(cudaStreamCreate(&one));
  CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&ready));

  // Each stream has a half of each array.
  for (const int half : {0, kWords}) {
    cudaStream_t stream = half == 0 ? one : two;
    CHECK(cudaMemcpyAsync(a + half, pinned + half, kBytes, cudaMemcpyHostToDevice, stream));
    add<<<4, 256, 0, stream>>>(a + half, b + half, kWords, 1);
    CHECK(cudaMemcpyAsync(pinned + half, b + half, kBytes, cudaMemcpyDeviceToHost, stream));
  }
  // The other half, behind an event, and with the host between them.
  CHECK(cudaEventRecord(ready, one));
  CHECK(cudaStreamWaitEvent(two, ready, 0));
  add<<<4, 256, 0, two>>>(b, c, kWords, 1);
  CHECK(cudaStreamSynchronize(two));
  add<<<4, 256, 0, one>>>(c, a, kWords, 1);
  CHECK(cudaDeviceSynchronize());
  add<<<4, 256, 0, two>>>(a, c, kWords, 1);
  CHECK(cudaStreamSynchronize(two));
  // The default stream waits for the one stream, and the other way round.
  add<<<4, 256, 0, one>>>(a, b, kWords, 1);
  add<<<4, 256>>>(b, c, kWords, 1);
  add<<<4, 256, 0, one>>>(c, a, kWords, 1);
  CHECK(cudaDeviceSynchronize());
  std::printf("%d %d\n", pinned[999], pinned[1999]);

  add<<<4, 256, 0, one>>>(a, b, kWords, 1);
  add<<<4, 256, 0, two>>>(b, c, kWords, 1);  // reads what the other may not have written
  CHECK(cudaDeviceSynchronize());
  add<<<4, 256, 0, one>>>(a, b, kWords, 1);
  CHECK(cudaMemsetAsync(a, 0, kBytes, two));  // overwrites what the other may still read
  CHECK(cudaDeviceSynchronize());
  add<<<4, 256, 0, two>>>(a, b, kWords, 1);
  CHECK(cudaMemcpy(c, b, kBytes, cudaMemcpyDeviceToDevice));  // does not wait for that stream
  CHECK(cudaDeviceSynchronize());

  // Memory comes and goes in the order of a stream: behind events, another one may use it in between.
  int* d;
  CHECK(cudaMallocAsync(reinterpret_cast<void**>(&d), kBytes, one));
  CHECK(cudaEventRecord(ready, one));
  CHECK(cudaStreamWaitEvent(two, ready, 0));
  CHECK(cudaMemsetAsync(d, 0, kBytes, two));
  CHECK(cudaEventRecord(ready, two));
  CHECK(cudaStreamWaitEvent(one, ready, 0));
  CHECK(cudaFreeAsync(d, one));
  CHECK(cudaMallocAsync(reinterpret_cast<void**>(&d), kBytes, two));
  CHECK(cudaMemsetAsync(d, 0, kBytes, one));  // which may not have been given yet
  CHECK(cudaDeviceSynchronize());
  add<<<4, 256, 0, one>>>(d, d, kWords, 1);
  CHECK(cudaFreeAsync(d, two));  // which the kernel may still use
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaStreamDestroy(one));
  CHECK(cudaStreamDestroy(two));
  return 0;
}
