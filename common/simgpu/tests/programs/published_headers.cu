// What published programs include and call beside kernels: each line of the output is one header or function.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuComplex.h>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <device_functions.h>
#include <math_constants.h>
#include <nvToolsExt.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>

namespace cg = cooperative_groups;

#if !defined(__CUDA_RUNTIME_H__) || !defined(__DRIVER_TYPES_H__) || !defined(__VECTOR_TYPES_H__)
#error the guards that helpers of samples ask for
#endif

__global__ void groups(int* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  const int value = static_cast<int>(tile.thread_rank());
  const int sum = cg::reduce(tile, value, cg::plus<int>());
  const int most = cg::reduce(tile, value, cg::greater<int>());
  const int scan = cg::inclusive_scan(tile, 1);
  if (tile.thread_rank() == 31) {
    out[0] = sum;
    out[1] = most;
    out[2] = scan;
  }
}

__global__ void copy_tile(const float* in, float* out) {
  __shared__ float tile[64];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof tile);
  cg::wait(block);
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void dots(int* out) {
  out[0] = __dp4a(0x01020304, 0x01010101, 5);
  out[1] = __dp2a_lo(0x00020003, 0x00000405, 1);
  out[2] = __dp2a_hi(0x00020003, 0x04050000, 1);
}

__global__ void complex(cuFloatComplex* out) {
  const cuFloatComplex x = make_cuFloatComplex(3.0f, 4.0f);
  out[0] = cuCmulf(x, cuConjf(x));
  out[1] = make_cuComplex(cuCabsf(x), CUDART_PI_F);
}

__global__ void allocate(int* out) {
  int* mine = new int[4];
  for (int i = 0; i < 4; ++i) mine[i] = static_cast<int>(threadIdx.x) + i;
  out[threadIdx.x] = mine[3];
  delete[] mine;
  int* more = static_cast<int*>(malloc(16));
  memset(more, 0, 16);
  out[threadIdx.x] += more[1];
  free(more);
}

__global__ void add(int* values, int n, float) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < n) values[i] += i;
}

__global__ void meet(int* data, int* sums) {
  cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  data[i] = i + 1;
  grid.sync();
  sums[i] = data[i] + data[grid.size() - 1 - i];
}

int main() {
  clock_t begin = clock();
  cudaProfilerStart();
  nvtxRangePush("everything");
  int* out;
  cudaMallocManaged(&out, 64 * sizeof(int));
  for (int i = 0; i < 64; ++i) out[i] = 0;
  groups<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  std::printf("groups %d %d %d\n", out[0], out[1], out[2]);
  dots<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  std::printf("dots %d %d %d\n", out[0], out[1], out[2]);

  float *in, *reversed;
  cudaMallocHost(&in, 64 * sizeof(float));
  cudaHostAlloc(&reversed, 64 * sizeof(float), cudaHostAllocMapped);
  for (int i = 0; i < 64; ++i) in[i] = static_cast<float>(i);
  float* device_in;
  cudaHostGetDevicePointer(&device_in, in, 0);
  copy_tile<<<1, 64>>>(device_in, reversed);
  cudaDeviceSynchronize();
  std::printf("copy_tile %g %g\n", reversed[0], reversed[63]);

  cuFloatComplex* z;
  cudaMallocManaged(&z, 2 * sizeof *z);
  complex<<<1, 1>>>(z);
  cudaDeviceSynchronize();
  std::printf("complex %g %g, %g %g\n", cuCrealf(z[0]), cuCimagf(z[0]), cuCrealf(z[1]), cuCimagf(z[1]));

  allocate<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  std::printf("allocate %d %d, %s\n", out[0], out[63], cudaGetErrorName(cudaGetLastError()));

  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(8);
  cudaMemset(out, 0, 64 * sizeof(int));
  cudaLaunchKernelEx(&config, add, out, 8, 1);
  cudaDeviceSynchronize();
  std::printf("cudaLaunchKernelEx %d %d\n", out[7], out[8]);

  int *data, *sums, host[512];
  cudaMalloc(&data, sizeof host);
  cudaMalloc(&sums, sizeof host);
  void* arguments[] = {&data, &sums};
  cudaLaunchCooperativeKernel(meet, dim3(8), dim3(64), arguments);
  cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int sum : host) wrong += sum != 513;
  std::printf("grid sync: %d wrong\n", wrong);
  std::printf("too large a grid: %s\n",
              cudaGetErrorName(cudaLaunchCooperativeKernel(meet, dim3(100000), dim3(64), arguments)));
  cudaGetLastError();

  CUdevice device;
  char name[64];
  cuInit(0);
  std::printf("driver API %d %d\n", static_cast<int>(cuDeviceGet(&device, 0)),
              static_cast<int>(cuDeviceGetName(name, sizeof name, device)));
  cudaEvent_t start, end;
  cudaEventCreate(&start);
  cudaEventCreate(&end);
  cudaEventRecord(start);
  cudaEventRecord(end);
  float milliseconds = 1;
  std::printf("cudaEventElapsedTime %s", cudaGetErrorName(cudaEventElapsedTime(&milliseconds, start, end)));
  std::printf(" %g\n", milliseconds);
  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, 0);
  std::printf("clockRate %d, a clock of the host %d\n", prop.clockRate, clock() >= begin);
  nvtxRangePop();
  cudaProfilerStop();
}
