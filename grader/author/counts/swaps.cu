// Sums of floats in shared memory, contended: how often do the warps of a block try? Wrote
// common/simgpu/tests/data/hopper_swaps.csv, with
//   nvcc -O3 -arch=sm_90 swaps.cu -o swaps && ncu --csv --metrics smsp__inst_executed_op_shared_atom.sum ./swaps
// (The profiler's smsp__sass_inst_executed_op_shared_atom.sum is no measure of it: the code that counts stands between
// load and swap, and changes how many fail.)
#include <cstdio>

// One lane of each warp.
__global__ void leaders(float* c) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, 1.0f);
  __syncthreads();
  if (threadIdx.x == 0) c[0] = sum;
}

// All lanes of each warp, thread t in location t % LOCATIONS.
template <int LOCATIONS>
__global__ void all(float* c) {
  __shared__ float sums[LOCATIONS];
  if (threadIdx.x < LOCATIONS) sums[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&sums[threadIdx.x % LOCATIONS], 1.0f);
  __syncthreads();
  if (threadIdx.x < LOCATIONS) c[threadIdx.x] = sums[threadIdx.x];
}

// All lanes, four times, in locations drawn at random.
template <int LOCATIONS>
__global__ void random(float* c, int rounds) {
  __shared__ float sums[LOCATIONS];
  for (int i = threadIdx.x; i < LOCATIONS; i += blockDim.x) sums[i] = 0;
  __syncthreads();
  unsigned h = threadIdx.x * 2654435761u + 12345;
  for (int round = 0; round < rounds; ++round) {
    h = h * 1664525u + 1013904223u;
    atomicAdd(&sums[(h >> 16) % LOCATIONS], 1.0f);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < LOCATIONS; i += blockDim.x) c[i] = sums[i];
}

int main() {
  float* c = nullptr;
  cudaMalloc(&c, 1024);
  for (const int warps : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32}) {
    const int threads = 32 * warps;
    leaders<<<1, threads>>>(c);
    all<1><<<1, threads>>>(c);
    all<2><<<1, threads>>>(c);
    all<4><<<1, threads>>>(c);
    all<32><<<1, threads>>>(c);
    random<16><<<1, threads>>>(c, 4);
    random<256><<<1, threads>>>(c, 4);
  }
  const cudaError_t status = cudaDeviceSynchronize();
  cudaFree(c);
  if (status != cudaSuccess) std::fprintf(stderr, "error: %s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
