// CUTLASS's ping-pong schedule without CUTLASS: two consumer warpgroups work on different tiles; an ordered barrier lets one multiply
// while the other stores its tile (registers -> stmatrix.trans -> shared memory -> TMA store, C column major).
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUTE_DEVICE __device__ __forceinline__
namespace cute {
CUTE_DEVICE uint32_t cast_smem_ptr_to_uint(const void* p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}
struct ClusterBarrier {
  static CUTE_DEVICE void init(uint64_t const* smem_ptr, uint32_t arrive_count) {
    uint32_t smem_addr = cast_smem_ptr_to_uint(smem_ptr);
    asm volatile(
        "{\n\t"
        "mbarrier.init.shared::cta.b64 [%1], %0; \n"
        "}" ::"r"(arrive_count),
        "r"(smem_addr));
  }
  static CUTE_DEVICE void wait(uint64_t const* smem_ptr, uint32_t phase) {
    uint32_t smem_addr = cast_smem_ptr_to_uint(smem_ptr);
    uint32_t ticks = 0x989680;
    asm volatile(
        "{\n\t"
        ".reg .pred       P1; \n\t"
        "LAB_WAIT: \n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1, %2; \n\t"
        "@P1 bra DONE; \n\t"
        "bra     LAB_WAIT; \n\t"
        "DONE: \n\t"
        "}" ::"r"(smem_addr),
        "r"(phase), "r"(ticks));
  }
  static CUTE_DEVICE void arrive(uint64_t const* smem_ptr) {
    uint32_t smem_addr = cast_smem_ptr_to_uint(smem_ptr);
    asm volatile(
        "{\n\t"
        "mbarrier.arrive.shared::cta.b64 _, [%0];\n\t"
        "}" ::"r"(smem_addr));
  }
};
// Order: group 0 has the tensor cores first.
template <int DEPTH, int LENGTH>
struct OrderedSequenceBarrier {
  uint64_t barrier_[DEPTH][LENGTH];
  struct Params {
    int group_id;
  };
  struct State {
    int index = 0;
    uint32_t phase;
  };
  CUTE_DEVICE void wait(State& s, int group) {
    ClusterBarrier::wait(&barrier_[s.index][group], s.phase);
  }
  CUTE_DEVICE void arrive(State& s, int group) {
    ClusterBarrier::arrive(&barrier_[s.index][(group + 1) % LENGTH]);
    if (++s.index == DEPTH) s.index = 0, s.phase ^= 1;
  }
};
}  // namespace cute
using namespace cute;

constexpr int BM = 64, BN = 128, BK = 64, ST = 4;
struct SharedStorage {
  alignas(1024) half a[ST][BM * BK];
  alignas(1024) half b[ST][BN * BK];
  alignas(128) half c[2][BM * BN];
  uint64_t full[ST], empty[ST];
  OrderedSequenceBarrier<2, 2> order;
};

#define L8(x, i)                                                                              \
  "+f"(x[i]), "+f"(x[i + 1]), "+f"(x[i + 2]), "+f"(x[i + 3]), "+f"(x[i + 4]), "+f"(x[i + 5]), \
      "+f"(x[i + 6]), "+f"(x[i + 7])

CUTE_DEVICE void tma(const CUtensorMap* d, void* dst, uint32_t bar, int c0, int c1) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;"
      :
      : "r"(cast_smem_ptr_to_uint(dst)), "l"(reinterpret_cast<uint64_t>(d)), "r"(bar), "r"(c0),
        "r"(c1), "l"(0x14F0000000000000ull)
      : "memory");
}

CUTE_DEVICE void multiply(float (&c)[64], uint64_t a, uint64_t b, bool clears) {
#pragma unroll
  for (int j = 0; j < 4; j++)
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63},"
        " %64, %65, p, 1, 1, 0, 0;\n}\n"
        : L8(c, 0), L8(c, 8), L8(c, 16), L8(c, 24), L8(c, 32), L8(c, 40), L8(c, 48), L8(c, 56)
        : "l"(a + 2 * j), "l"(b + 2 * j), "r"(clears ? j : 1));
}

CUTE_DEVICE void to_shared(float (&c)[64], half* tile, int w, int l) {
#pragma unroll
  for (int j = 0; j < BN / 8; j += 2) {
    // column major: c[role][col * BM + row]; trans turns 8 x 8 blocks
    uint32_t r[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      half2 h = __floats2half2_rn(c[j * 4 + i * 2], c[j * 4 + i * 2 + 1]);
      r[i] = *(uint32_t*)&h;
    }
    // matrices: (rows 0-7, cols j*8), (rows 8-15, cols j*8), (rows 0-7, next), (rows 8-15, next)
    half* dst = tile + (j * 8 + l / 16 * 8 + l % 8) * BM + w * 16 + l / 8 % 2 * 8;
    asm volatile("stmatrix.sync.aligned.x4.trans.m8n8.shared.b16 [%0], {%1, %2, %3, %4};\n" ::"r"(
                     cast_smem_ptr_to_uint(dst)),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
  }
}

__global__ void __launch_bounds__(384, 1)
    gemm_pingpong(CUtensorMap const __grid_constant__ map_a,
                  CUtensorMap const __grid_constant__ map_b,
                  CUtensorMap const __grid_constant__ map_c, int m, int n, int k) {
  extern __shared__ __align__(1024) char buffer[];
  SharedStorage& storage = *reinterpret_cast<SharedStorage*>(buffer);
  const int role = __shfl_sync(0xffffffff, threadIdx.x / 128, 0), tiles_m = m / BM,
            tiles = tiles_m * (n / BN), steps = k / BK;
  if (threadIdx.x == 0) {
    for (int i = 0; i < ST; i++)
      ClusterBarrier::init(&storage.full[i], 1), ClusterBarrier::init(&storage.empty[i], 1);
    for (int d = 0; d < 2; d++)
      for (int l = 0; l < 2; l++) ClusterBarrier::init(&storage.order.barrier_[d][l], 128);
    asm volatile("fence.mbarrier_init.release.cluster; \n" ::);
  }
  __syncthreads();
  if (role == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(40));
    if (threadIdx.x == 256) {
      int it = 0;
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
        for (int s = 0; s < steps; s++, it++) {
          const int at = it % ST;
          ClusterBarrier::wait(&storage.empty[at], (it / ST & 1) ^ 1);
          const uint32_t bar = cast_smem_ptr_to_uint(&storage.full[at]);
          asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%1], %0; \n\t" ::"r"(
                           (BM + BN) * BK * 2),
                       "r"(bar));
          tma(&map_a, storage.a[at], bar, s * BK, tile % tiles_m * BM);
          tma(&map_b, storage.b[at], bar, s * BK, tile / tiles_m * BN);
        }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(232));
  OrderedSequenceBarrier<2, 2>::State state{0, role == 0 ? 1u : 0u};
  const int t = threadIdx.x % 128, w = t / 32, l = t % 32;
  int it = role * steps;
  for (int tile = blockIdx.x + role * gridDim.x; tile < tiles; tile += 2 * gridDim.x, it += steps) {
    float c[64];
    storage.order.wait(state, role);
    for (int s = 0; s < steps; s++, it++) {
      const int at = it % ST;
      ClusterBarrier::wait(&storage.full[at], it / ST & 1);
      const uint64_t a =
          0x4000004000010000ull | (cast_smem_ptr_to_uint(storage.a[at]) & 0x3ffff) >> 4;
      const uint64_t b =
          0x4000004000010000ull | (cast_smem_ptr_to_uint(storage.b[at]) & 0x3ffff) >> 4;
      asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
      multiply(c, a, b, s == 0);
      asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
      if (s > 0) {
        asm volatile("wgmma.wait_group.sync.aligned 1;\n" ::: "memory");
        if (t == 0) ClusterBarrier::arrive(&storage.empty[(it - 1) % ST]);
      }
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
    if (t == 0) ClusterBarrier::arrive(&storage.empty[(it - 1) % ST]);
    storage.order.arrive(state, role);
    storage.order.wait(state, role);
    // the previous tile's store must have read the buffer
    if (t == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(role + 1) : "memory");
    to_shared(c, storage.c[role], w, l);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(role + 1) : "memory");
    if (t == 0) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];"
                   :
                   : "l"(&map_c), "r"(cast_smem_ptr_to_uint(storage.c[role])),
                     "r"(tile % tiles_m * BM), "r"(tile / tiles_m * BN)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;");
    }
    storage.order.arrive(state, role);
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

int main() {
  const int m = 320, n = 256, k = 256, blocks = 1;
  std::vector<half> a(m * k), b(n * k), c(m * n);
  for (auto& x : a) x = (rand() % 9 - 4) / 8.f;
  for (auto& x : b) x = (rand() % 9 - 4) / 8.f;
  half *da, *db, *dc;
  if (cudaMalloc(&da, a.size() * 2) || cudaMalloc(&db, b.size() * 2) ||
      cudaMalloc(&dc, c.size() * 2))
    return 1;
  cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyDefault);
  cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyDefault);
  PFN_cuTensorMapEncodeTiled_v12000 enc;
  cudaDriverEntryPointQueryResult q;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&enc, 12000,
                                       cudaEnableDefault, &q))
    return 1;
  auto make = [&](half* p, int fast, int slow, int bf, int bs, CUtensorMapSwizzle sw) {
    CUtensorMap map;
    cuuint64_t d[]{(cuuint64_t)fast, (cuuint64_t)slow}, s[]{fast * 2ull};
    cuuint32_t box[]{(cuuint32_t)bf, (cuuint32_t)bs}, e[]{1, 1};
    if (enc(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, d, s, box, e,
            CU_TENSOR_MAP_INTERLEAVE_NONE, sw, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
      exit(1);
    return map;
  };
  cudaFuncSetAttribute(gemm_pingpong, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       (int)sizeof(SharedStorage));
  void* args[6];
  CUtensorMap ma = make(da, k, m, BK, BM, CU_TENSOR_MAP_SWIZZLE_128B),
              mb = make(db, k, n, BK, BN, CU_TENSOR_MAP_SWIZZLE_128B),
              mc = make(dc, m, n, BM, BN, CU_TENSOR_MAP_SWIZZLE_NONE);
  int mm = m, nn = n, kk = k;
  args[0] = &ma, args[1] = &mb, args[2] = &mc, args[3] = &mm, args[4] = &nn, args[5] = &kk;
  if (cudaLaunchKernel((void*)gemm_pingpong, dim3(blocks), dim3(384), args, sizeof(SharedStorage),
                       0))
    return 2;
  if (cudaError_t e = cudaDeviceSynchronize()) return printf("%s\n", cudaGetErrorName(e)), 1;
  cudaMemcpy(c.data(), dc, c.size() * 2, cudaMemcpyDefault);
  int bad = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int x = 0; x < k; x++) s += (float)a[i * k + x] * (float)b[j * k + x];
      if (!(std::fabs(s - (float)c[j * m + i]) <= 0.02f) && bad++ < 3)
        printf("%d %d: %f, expected %f\n", i, j, (float)c[j * m + i], s);
    }
  puts(bad ? "FAIL" : "PASS");
  return bad != 0;
}
