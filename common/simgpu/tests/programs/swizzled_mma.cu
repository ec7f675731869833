// Tensor cores in the style of hand-written kernels: macros around inline PTX, cp.async with a ring of stages, an xor
// swizzle, ldmatrix and mma.sync m16n8k16.
#include "check.h"

#include <cstdint>
#include <vector>

#include <cuda_fp16.h>

#define CP_ASYNC_CG(dst, src) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(dst), "l"(src) : "memory")
#define CP_ASYNC_COMMIT_GROUP() asm volatile("cp.async.commit_group;\n" ::: "memory")
#define CP_ASYNC_WAIT_GROUP(n) asm volatile("cp.async.wait_group %0;\n" ::"n"(n) : "memory")
#define LDMATRIX_X4(r0, r1, r2, r3, addr)                                                       \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"             \
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(addr) : "memory")
#define LDMATRIX_X2_T(r0, r1, addr)                                                             \
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n" : "=r"(r0), "=r"(r1) : "r"(addr) : "memory")
#define HMMA16816F32(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1)                                    \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n" \
               : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1))

constexpr int BM = 64, BN = 64, BK = 32, STAGES = 3, THREADS = 128;

// Rows of ROW halves in chunks of 8; chunk c of row r lies at c ^ (r's swizzle).
template <int ROW>
__device__ int place(int r, int c) {
  return r * ROW + ((c / 8) ^ (r * ROW / 64 % (ROW / 8))) * 8 + c % 8;
}

__global__ void __launch_bounds__(THREADS) hgemm(const half* a, const half* b, float* c, int n, int k) {
  __shared__ __align__(128) half as[STAGES][BM * BK], bs[STAGES][BK * BN];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int tiles = k / BK;
  const auto fetch = [&](int tile) {
    if (tile < tiles) {
      half* const to_a = as[tile % STAGES];
      half* const to_b = bs[tile % STAGES];
#pragma unroll
      for (int i = 0; i < BM * BK / 8 / THREADS; ++i) {
        const int e = (threadIdx.x + i * THREADS) * 8, r = e / BK, x = e % BK;
        CP_ASYNC_CG(static_cast<uint32_t>(__cvta_generic_to_shared(&to_a[place<BK>(r, x)])), &a[(row0 + r) * k + tile * BK + x]);
      }
#pragma unroll
      for (int i = 0; i < BK * BN / 8 / THREADS; ++i) {
        const int e = (threadIdx.x + i * THREADS) * 8, r = e / BN, x = e % BN;
        CP_ASYNC_CG(static_cast<uint32_t>(__cvta_generic_to_shared(&to_b[place<BN>(r, x)])), &b[(tile * BK + r) * n + col0 + x]);
      }
    }
    CP_ASYNC_COMMIT_GROUP();
  };
  float acc[BN / 8][4] = {};
  for (int s = 0; s < STAGES - 1; ++s) fetch(s);
  for (int tile = 0; tile < tiles; ++tile) {
    CP_ASYNC_WAIT_GROUP(STAGES - 2);
    __syncthreads();
    fetch(tile + STAGES - 1);
    const half* const a_tile = as[tile % STAGES];
    const half* const b_tile = bs[tile % STAGES];
#pragma unroll
    for (int k0 = 0; k0 < BK; k0 += 16) {
      uint32_t ra[4];
      const half* const at = &a_tile[place<BK>(warp * 16 + lane % 16, k0 + lane / 16 * 8)];
      LDMATRIX_X4(ra[0], ra[1], ra[2], ra[3], static_cast<uint32_t>(__cvta_generic_to_shared(at)));
#pragma unroll
      for (int j = 0; j < BN / 8; ++j) {
        uint32_t rb[2];
        LDMATRIX_X2_T(rb[0], rb[1], static_cast<uint32_t>(__cvta_generic_to_shared(&b_tile[place<BN>(k0 + lane % 16, j * 8)])));
        HMMA16816F32(acc[j][0], acc[j][1], acc[j][2], acc[j][3], ra[0], ra[1], ra[2], ra[3], rb[0], rb[1]);
      }
    }
  }
#pragma unroll
  for (int j = 0; j < BN / 8; ++j) {
    float* const to = &c[(row0 + warp * 16 + lane / 4) * n + col0 + j * 8 + lane % 4 * 2];
    *reinterpret_cast<float2*>(to) = make_float2(acc[j][0], acc[j][1]);
    *reinterpret_cast<float2*>(to + 8 * n) = make_float2(acc[j][2], acc[j][3]);
  }
}

int main() {
  const int m = 128, n = 192, k = 160;
  std::vector<half> a(m * k), b(k * n);
  std::vector<float> c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = __float2half(static_cast<float>(i % 9 - 4));
  for (int i = 0; i < k * n; ++i) b[i] = __float2half(static_cast<float>(i % 7 - 3));
  half *da, *db;
  float* dc;
  CHECK(cudaMalloc(&da, a.size() * sizeof(half)));
  CHECK(cudaMalloc(&db, b.size() * sizeof(half)));
  CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice));
  hgemm<<<dim3(n / BN, m / BM), THREADS>>>(da, db, dc, n, k);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int e = 0; e < k; ++e) sum += __half2float(a[i * k + e]) * __half2float(b[e * n + j]);
      wrong += c[i * n + j] != sum;
    }
  std::printf("%d of %d wrong, C[100][150] = %g\n", wrong, m * n, c[100 * n + 150]);
  return wrong != 0;
}
