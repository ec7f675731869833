// A GEMM as the published ones for Hopper are built: persistent clusters of two blocks, one warp that orders copies and a
// warpgroup that multiplies, a ring of tiles with barriers "full" and "empty" in both blocks, and B's tile copied half by
// each block into both (multicast). C = A * B^T: A is m x k, B is n x k, both __half, C float.
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int BM = 64, BN = 64, BK = 64, STAGES = 3, CLUSTER = 2, THREADS = 128 + 32;

struct alignas(1024) Stage {
  __half a[BM][BK], b[BN][BK];
};
struct Shared {
  Stage ring[STAGES];
  std::uint64_t full[STAGES], empty[STAGES];
};

__device__ unsigned address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ unsigned rank() {
  unsigned r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
__device__ void wait(std::uint64_t& barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nLOOP:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra DONE;\nbra LOOP;\nDONE:\n}"
      :
      : "r"(address(&barrier)), "r"(parity)
      : "memory");
}
__device__ void arrive_at(std::uint64_t& barrier, unsigned block) {
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}"
      :
      : "r"(address(&barrier)), "r"(block)
      : "memory");
}
__device__ void copy(void* to, const CUtensorMap& map, int row, int k, std::uint64_t& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
      :
      : "r"(address(to)), "l"(&map), "r"(k), "r"(row), "r"(address(&barrier))
      : "memory");
}
__device__ void copy_to_all(void* to, const CUtensorMap& map, int row, int k, std::uint64_t& barrier) {
  const unsigned short all = (1 << CLUSTER) - 1;
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%2, %3}], [%4], %5;"
      :
      : "r"(address(to)), "l"(&map), "r"(k), "r"(row), "r"(address(&barrier)), "h"(all)
      : "memory");
}
__device__ std::uint64_t descriptor(const void* p) {
  return std::uint64_t(address(p) / 16) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
__device__ void multiply(float (&d)[32], std::uint64_t a, std::uint64_t b) {
#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
      "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
      : D4(0), D4(4), D4(8), D4(12), D4(16), D4(20), D4(24), D4(28)
      : "l"(a), "l"(b));
}

// MODE: 0 right; 1 no barrier of the cluster before the first copy; 2 none at the end; 3 only the own block's "empty" is told
template <int MODE>
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(THREADS)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* c,
         int m, int n, int depth) {
  extern __shared__ unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory + (1024 - address(memory) % 1024) % 1024);
  const unsigned me = rank();
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(address(&s.full[i])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(address(&s.empty[i])), "r"(MODE == 3 ? 1 : CLUSTER) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
  }
  if (MODE == 1) {
    __syncthreads();
  } else {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" : : : "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
    __syncthreads();
  }
  const int tiles_n = n / BN, tiles = m / (BM * CLUSTER) * tiles_n;
  const int first = blockIdx.x / CLUSTER, step = gridDim.x / CLUSTER;
  int stage = 0;
  unsigned parity = 0;
  const auto advance = [&] {
    if (++stage == STAGES) stage = 0, parity ^= 1;
  };
  if (threadIdx.x >= 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 128) {
      for (int t = first; t < tiles; t += step) {
        const int row = (t / tiles_n * CLUSTER + me) * BM, col = t % tiles_n * BN;
        for (int k = 0; k < depth; k += BK, advance()) {
          wait(s.empty[stage], parity ^ 1);
          asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" : : "r"(address(&s.full[stage])), "r"(int(sizeof(Stage))) : "memory");
          copy(s.ring[stage].a, map_a, row, k, s.full[stage]);
          const int half = me * (BN / CLUSTER);
          copy_to_all(s.ring[stage].b[half], map_b, col + half, k, s.full[stage]);
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    for (int t = first; t < tiles; t += step) {
      const int row = (t / tiles_n * CLUSTER + me) * BM, col = t % tiles_n * BN;
      float d[32] = {};
      for (int k = 0; k < depth; k += BK, advance()) {
        wait(s.full[stage], parity);
        asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
        for (int i = 0; i < BK; i += 16)
          multiply(d, descriptor(&s.ring[stage].a[0][i]), descriptor(&s.ring[stage].b[0][i]));
        asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
        asm volatile("bar.sync 1, 128;" : : : "memory");
        if (MODE != 3 && threadIdx.x < CLUSTER) arrive_at(s.empty[stage], threadIdx.x);
        if (MODE == 3 && threadIdx.x == 0) arrive_at(s.empty[stage], me);
      }
      const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
      for (int i = 0; i < 32; ++i)
        c[(row + warp * 16 + lane / 4 + i % 4 / 2 * 8) * n + col + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
    }
  }
  if (MODE != 2) {
    asm volatile("barrier.cluster.arrive.release;" : : : "memory");
    asm volatile("barrier.cluster.wait.acquire;" : : : "memory");
  }
}

CUtensorMap map_of(__half* data, int rows, int cols, int box_rows) {
  CUtensorMap map;
  const cuuint64_t dims[] = {cuuint64_t(cols), cuuint64_t(rows)}, strides[] = {cuuint64_t(cols) * 2};
  const cuuint32_t box[] = {BK, cuuint32_t(box_rows)}, steps[] = {1, 1};
  if (cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, data, dims, strides, box, steps,
                             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    std::printf("no map\n");
  return map;
}

template <int MODE>
void run(int m, int n, int k, int blocks) {
  std::vector<__half> a(m * k), b(n * k);
  for (int i = 0; i < m * k; ++i) a[i] = __half(float(i % 7 - 3));
  for (int i = 0; i < n * k; ++i) b[i] = __half(float(i % 5 - 2));
  __half *da, *db;
  float* dc;
  cudaMalloc(&da, a.size() * 2);
  cudaMalloc(&db, b.size() * 2);
  cudaMalloc(&dc, sizeof(float) * m * n);
  cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice);
  const int bytes = sizeof(Shared) + 1024;
  cudaFuncSetAttribute(gemm<MODE>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  gemm<MODE><<<blocks, THREADS, bytes>>>(map_of(da, m, k, BM), map_of(db, n, k, BN / CLUSTER), dc, m, n, k);
  const cudaError_t error = cudaDeviceSynchronize();
  std::vector<float> c(m * n);
  cudaMemcpy(c.data(), dc, sizeof(float) * m * n, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int x = 0; x < k; ++x) sum += float(a[i * k + x]) * float(b[j * k + x]);
      wrong += sum != c[i * n + j];
    }
  if (MODE == 0) std::printf("%d x %d x %d: %s, %s\n", m, n, k, cudaGetErrorString(error), wrong == 0 ? "right" : "wrong");
}

int main() {
  run<0>(256, 192, 448, 4);
  run<0>(128, 64, 64, 2);
  run<2>(128, 64, 64, 2);
  run<3>(128, 64, 320, 2);
  run<1>(128, 64, 64, 2);
}
