// A deadlock ends, and names who waits where: thread 0 waits for a flag that is set behind a barrier
// that it never reaches.
#include <cstdio>

__global__ void never(int* out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0)
    while (flag == 0) {
    }
  __syncthreads();
  flag = 1;
  *out = 1;
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  never<<<1, 64>>>(out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
