// No TMA: cp.async writes 16-byte pieces in the 128-byte swizzle by hand, cp.async.mbarrier.arrive.noinc tells the consumers, who
// multiply with half sums (m64n64k16.f16) and store through stmatrix.x4.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using u32 = uint32_t;
using u64 = uint64_t;
constexpr int BM = 64, BN = 64, BK = 64, ST = 3, PRODUCERS = 64;

static __device__ inline u32 sm(const void* p) {
  return u32(__cvta_generic_to_shared(p));
}
static __device__ inline u32 swz(u32 off) {
  return off ^ ((off >> 3) & 0x70);
}

static __device__ inline void cp16(u32 dst, const void* src, bool in) {
  int bytes = in ? 16 : 0;
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n" ::"r"(dst), "l"(src),
               "r"(bytes)
               : "memory");
}
#define MBAR_WAIT(addr, par)                                        \
  asm volatile(                                                     \
      "{\n\t.reg .pred p;\n\t"                                      \
      "L_%=: mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n\t" \
      "@p bra.uni D_%=;\n\tnanosleep.u32 20;\n\tbra.uni L_%=;\n\t"  \
      "D_%=:\n\t}" ::"r"(addr),                                     \
      "r"(par)                                                      \
      : "memory")

__global__ __launch_bounds__(128 + PRODUCERS) void hgemm(const half* A, const half* B, half* C,
                                                         int N, int K) {
  extern __shared__ __align__(1024) half smem[];
  __shared__ __align__(8) u64 ready[ST], used[ST];
  if (threadIdx.x < ST) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(sm(&ready[threadIdx.x])),
                 "r"(PRODUCERS));
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(sm(&used[threadIdx.x])), "r"(128));
  }
  __syncthreads();
  const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN, steps = (K + BK - 1) / BK;
  if (threadIdx.x >= 128) {
    const int t = threadIdx.x - 128;
    for (int i = 0; i < steps; i++) {
      const int s = i % ST;
      if (i >= ST) MBAR_WAIT(sm(&used[s]), (i / ST - 1) & 1);
      const u32 a = sm(smem) + s * (BM + BN) * BK * 2, b = a + BM * BK * 2;
      for (int c = t; c < BM * 8; c += PRODUCERS) {
        const int r = c / 8, k = i * BK + c % 8 * 8;
        cp16(a + swz(r * 128 + c % 8 * 16), A + size_t(m0 + r) * K + (k < K ? k : 0), k < K);
      }
      for (int c = t; c < BN * 8; c += PRODUCERS) {
        const int r = c / 8, k = i * BK + c % 8 * 8;
        cp16(b + swz(r * 128 + c % 8 * 16), B + size_t(n0 + r) * K + (k < K ? k : 0), k < K);
      }
      asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(sm(&ready[s]))
                   : "memory");
    }
    asm volatile("cp.async.wait_all;");
    return;
  }
  u32 d[16];
#pragma unroll
  for (int i = 0; i < 16; i++) d[i] = 0;
  for (int i = 0; i < steps; i++) {
    const int s = i % ST;
    MBAR_WAIT(sm(&ready[s]), (i / ST) & 1);
    asm volatile("fence.proxy.async;" ::: "memory");  // cp.async writes through the generic proxy
    const u32 a = sm(smem) + s * (BM + BN) * BK * 2, b = a + BM * BK * 2;
    asm volatile("bar.sync 1, 128;" ::: "memory");
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int j = 0; j < BK / 16; j++) {
      const u64 hi = (u64)0x40000040 << 32 | 1u << 16, da = hi | ((a + 32 * j) >> 4 & 0x3fff),
                db = hi | ((b + 32 * j) >> 4 & 0x3fff);
      asm volatile(
          "wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, %17, 1, 1, 1, 0, 0;"
          : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]),
            "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]),
            "+r"(d[14]), "+r"(d[15])
          : "l"(da), "l"(db));
    }
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    u64 state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                 : "=l"(state)
                 : "r"(sm(&used[s]))
                 : "memory");
  }
  // All places are free: the first serves as the output tile, rows of 128 bytes in the same swizzle.
  asm volatile("bar.sync 1, 128;" ::: "memory");
  const int w = threadIdx.x / 32, l = threadIdx.x % 32;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const u32 at = sm(smem) + swz((w * 16 + l % 16) * 128 + (j * 2 + l / 16) * 16);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                 "r"(d[4 * j]), "r"(d[4 * j + 1]), "r"(d[4 * j + 2]), "r"(d[4 * j + 3])
                 : "memory");
  }
  __syncwarp();
  for (int c = l; c < 16 * 8; c += 32) {
    const int r = w * 16 + c / 8;
    *reinterpret_cast<uint4*>(C + size_t(m0 + r) * N + n0 + c % 8 * 8) =
        *reinterpret_cast<const uint4*>((const char*)smem + swz(r * 128 + c % 8 * 16));
  }
}

int main() {
  const int M = 128, N = 192, K = 232;  // the last step has 40 of 64
  std::vector<half> a(M * K), b(N * K), c(M * N);
  srand(4);
  for (half& x : a) x = __float2half((rand() % 5 - 2) * 0.25f);
  for (half& x : b) x = __float2half((rand() % 5 - 2) * 0.25f);
  half *da, *db, *dc;
  cudaMalloc(&da, a.size() * 2), cudaMalloc(&db, b.size() * 2), cudaMalloc(&dc, c.size() * 2);
  cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice);
  const int bytes = ST * (BM + BN) * BK * 2;
  cudaFuncSetAttribute(hgemm, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  hgemm<<<dim3(N / BN, M / BM), 128 + PRODUCERS, bytes>>>(da, db, dc, N, K);
  cudaError_t e = cudaDeviceSynchronize();
  if (e) return fprintf(stderr, "%s\n", cudaGetErrorString(e)), 1;
  cudaMemcpy(c.data(), dc, c.size() * 2, cudaMemcpyDeviceToHost);
  int bad = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float s = 0;
      for (int k = 0; k < K; k++) s += __half2float(a[i * K + k]) * __half2float(b[j * K + k]);
      if (!(std::fabs(__half2float(c[i * N + j]) - s) <= 0.02f) && bad++ < 3)
        printf("%d %d: %g, expected %g\n", i, j, __half2float(c[i * N + j]), s);
    }
  puts(bad ? "FAIL" : "PASS");
  return bad != 0;
}
