// The first program of every CUDA course, with a stream, pinned memory and a grid-stride loop.
#include "check.h"

__global__ void add(const float* a, const float* b, float* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    c[i] = a[i] + b[i];
  }
}

int main() {
  const int n = 10007;
  const size_t bytes = n * sizeof(float);
  float *a, *b, *c;
  CHECK(cudaMallocHost(&a, bytes));
  CHECK(cudaMallocHost(&b, bytes));
  c = static_cast<float*>(std::malloc(bytes));
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i);
    c[i] = -1.0f;
  }
  float *da = nullptr, *db = nullptr, *dc = nullptr;
  CHECK(cudaMalloc((void**)&da, bytes));
  CHECK(cudaMalloc((void**)&db, bytes));
  CHECK(cudaMalloc((void**)&dc, bytes));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemcpyAsync(da, a, bytes, cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpyAsync(db, b, bytes, cudaMemcpyHostToDevice, stream));
  add<<<16, 256, 0, stream>>>(da, db, dc, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpyAsync(c, dc, bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += c[i] != static_cast<float>(3 * i);
  std::printf("%d wrong of %d\n", wrong, n);
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
  CHECK(cudaFreeHost(a));
  CHECK(cudaFreeHost(b));
  std::free(c);
  return wrong != 0;
}
