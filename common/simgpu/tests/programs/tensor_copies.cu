// TMA as the CUDA Programming Guide shows it: a tensor map by the driver's entry point, cuda::barrier and
// cuda::device::experimental.
#include <cuda.h>
#include <cudaTypedefs.h>

#include <cuda/barrier>
#include <utility>

#include "check.h"

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

constexpr int kHeight = 24, kWidth = 64, kRows = 8, kColumns = 32;

__global__ void scale(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(128) int tile[kRows][kColumns];
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  barrier::arrival_token token;
  const int x = blockIdx.x * kColumns, y = blockIdx.y * kRows;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, &from, x, y, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < kRows * kColumns; i += blockDim.x) tile[i / kColumns][i % kColumns] *= 2;
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_shared_to_global(&to, x, y, &tile);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
    (&bar)->~barrier();
  }
}

// Without a map: rows of 128 bytes there and back.
__global__ void add_one(const int* from, int* to) {
  __shared__ alignas(16) int row[32];
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_global_to_shared(row, from + 32 * blockIdx.x, sizeof row, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof row);
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  ++row[threadIdx.x];
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_shared_to_global(to + 32 * blockIdx.x, row, sizeof row);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

int main() {
  int *a, *b, h[kHeight * kWidth];
  for (int i = 0; i < kHeight * kWidth; ++i) h[i] = i;
  CHECK(cudaMalloc(&a, sizeof h));
  CHECK(cudaMalloc(&b, sizeof h));
  CHECK(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &entry, cudaEnableDefault, &found));
  const auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(entry);
  const auto map_of = [&](int* matrix) {
    CUtensorMap map;
    const cuuint64_t extent[] = {kWidth, kHeight}, pitch[] = {kWidth * sizeof(int)};
    const cuuint32_t box[] = {kColumns, kRows}, step[] = {1, 1};
    if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, matrix, extent, pitch, box, step,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
      std::printf("no map\n");
    return map;
  };
  scale<<<dim3(kWidth / kColumns, kHeight / kRows), 64>>>(map_of(a), map_of(b));
  add_one<<<kHeight * kWidth / 32, 32>>>(b, a);
  CHECK(cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost));
  bool ok = true;
  for (int i = 0; i < kHeight * kWidth; ++i) ok = ok && h[i] == 2 * i + 1;
  std::printf("%s\n", ok ? "ok" : "wrong");
}
