// One head of attention, forward, in the manner of FlashAttention-3: S = Q K^T by wgmma from shared memory, P stays in registers as
// the A operand of O += P V, V is MN-major (its rows are k). K and V arrive by TMA, two stages each.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <utility>
#include <vector>

#define CHECK(x)                                                                 \
  do {                                                                           \
    cudaError_t e_ = (x);                                                        \
    if (e_ != cudaSuccess) {                                                     \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)

constexpr int HD = 64, BR = 64, BC = 64, STAGES = 2;

__device__ __forceinline__ uint32_t smem_u32(const void* p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ uint64_t desc128(const void* p) {
  uint64_t a = smem_u32(p);
  return ((a >> 4) & 0x3fff) | (uint64_t(1) << 16) | (uint64_t(64) << 32) | (uint64_t(1) << 62);
}
__device__ __forceinline__ void mbar_wait(uint32_t bar, uint32_t parity) {
  asm volatile(
      "{\n\t.reg .pred p;\n"
      "W%=:\n\t"
      "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], %1;\n\t"
      "@!p bra W%=;\n\t}" ::"r"(bar),
      "r"(parity)
      : "memory");
}
#define R8(a, o)                                                                              \
  "+f"(a[o]), "+f"(a[o + 1]), "+f"(a[o + 2]), "+f"(a[o + 3]), "+f"(a[o + 4]), "+f"(a[o + 5]), \
      "+f"(a[o + 6]), "+f"(a[o + 7])
#define R32(a) R8(a, 0), R8(a, 8), R8(a, 16), R8(a, 24)
#define D32 \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"

__device__ __forceinline__ void gemm_ss(float (&s)[32], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " D32 ", %32, %33, p, 1, 1, 0, 0;\n}\n"
      : R32(s)
      : "l"(a), "l"(b), "r"(accumulate));
}
__device__ __forceinline__ void gemm_rs(float (&o)[32], const uint32_t (&a)[4], uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " D32
               ", {%32,%33,%34,%35}, %36, 1, 1, 1, 1;\n"
               : R32(o)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ __forceinline__ void fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N>
__device__ __forceinline__ void wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void tma(void* dst, const CUtensorMap* map, uint32_t bar, int c, int r,
                                    int h) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::
          "r"(smem_u32(dst)),
      "l"(map), "r"(bar), "r"(c), "r"(r), "r"(h)
      : "memory");
}

struct Smem {
  __half q[BR * HD];
  __half k[STAGES][BC * HD];
  __half v[STAGES][BC * HD];
  uint64_t q_full, kv_full[STAGES], kv_empty[STAGES];
};

// The maximum and the sum of each row so far, in two rows of a thread.
__device__ __forceinline__ void soften(float (&s)[32], float (&o)[32], float (&m)[2], float (&l)[2],
                                       float scale_log2) {
#pragma unroll
  for (int h = 0; h < 2; h++) {
    float mx = m[h];
#pragma unroll
    for (int j = 0; j < 8; j++) mx = fmaxf(mx, fmaxf(s[j * 4 + h * 2], s[j * 4 + h * 2 + 1]));
    mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, 1));
    mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, 2));
    const float alpha = exp2f((m[h] - mx) * scale_log2);
    m[h] = mx;
    float sum = 0;
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        float& x = s[j * 4 + h * 2 + e];
        x = exp2f((x - mx) * scale_log2);
        sum += x;
        o[j * 4 + h * 2 + e] *= alpha;
      }
    l[h] = l[h] * alpha + sum;
  }
}

__device__ __forceinline__ void pack(const float (&s)[32], uint32_t (&p)[4][4]) {
#pragma unroll
  for (int kk = 0; kk < 4; kk++)
#pragma unroll
    for (int i = 0; i < 4; i++) {
      // registers of A: (row, k lo) (row + 8, k lo) (row, k hi) (row + 8, k hi): the accumulator's order
      half2 h2 = __floats2half2_rn(s[kk * 8 + i * 2], s[kk * 8 + i * 2 + 1]);
      p[kk][i] = *reinterpret_cast<uint32_t*>(&h2);
    }
}

__global__ void __launch_bounds__(256, 1)
    flash_fwd(const __grid_constant__ CUtensorMap tq, const __grid_constant__ CUtensorMap tk,
              const __grid_constant__ CUtensorMap tv, float* out, int seq, float scale_log2,
              int causal) {
  extern __shared__ char raw[];
  Smem& sm = *reinterpret_cast<Smem*>((reinterpret_cast<uintptr_t>(raw) + 1023) & ~uintptr_t(1023));
  const int wg = threadIdx.x >> 7, tid = threadIdx.x & 127, head = blockIdx.y, q0 = blockIdx.x * BR;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(smem_u32(&sm.q_full)));
    for (int i = 0; i < STAGES; i++) {
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem_u32(&sm.kv_full[i])), "r"(1));
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem_u32(&sm.kv_empty[i])), "r"(128));
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  const int tiles = causal ? blockIdx.x + 1 : seq / BC;
  if (wg == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (tid == 0) {
      asm volatile(
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(&sm.q_full)),
          "r"(BR * HD * 2)
          : "memory");
      tma(sm.q, &tq, smem_u32(&sm.q_full), 0, q0, head);
      for (int t = 0; t < tiles; t++) {
        const int s = t % STAGES;
        mbar_wait(smem_u32(&sm.kv_empty[s]), ((t / STAGES) & 1) ^ 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                         smem_u32(&sm.kv_full[s])),
                     "r"(2 * BC * HD * 2)
                     : "memory");
        tma(sm.k[s], &tk, smem_u32(&sm.kv_full[s]), 0, t * BC, head);
        tma(sm.v[s], &tv, smem_u32(&sm.kv_full[s]), 0, t * BC, head);
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  float o[32], s[32], m[2] = {-INFINITY, -INFINITY}, l[2] = {0, 0};
  for (int i = 0; i < 32; i++) o[i] = 0;
  mbar_wait(smem_u32(&sm.q_full), 0);
  const int row = (tid / 32) * 16 + (tid % 32) / 4;
  for (int t = 0; t < tiles; t++) {
    const int st = t % STAGES;
    mbar_wait(smem_u32(&sm.kv_full[st]), (t / STAGES) & 1);
    fence();
#pragma unroll
    for (int kk = 0; kk < HD / 16; kk++)
      gemm_ss(s, desc128(sm.q) + kk * 2, desc128(sm.k[st]) + kk * 2, kk > 0);
    commit();
    wait_group<0>();
    if (causal && t == tiles - 1)
#pragma unroll
      for (int i = 0; i < 32; i++) {
        int col = (i / 4) * 8 + (tid % 4) * 2 + (i & 1), r = row + ((i & 2) ? 8 : 0);
        if (t * BC + col > q0 + r) s[i] = -INFINITY;
      }
    soften(s, o, m, l, scale_log2);
    uint32_t p[4][4];
    pack(s, p);
    fence();
#pragma unroll
    for (int kk = 0; kk < BC / 16; kk++) gemm_rs(o, p[kk], desc128(sm.v[st] + kk * 16 * HD));
    commit();
    wait_group<0>();
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(smem_u32(&sm.kv_empty[st]))
                 : "memory");
  }
#pragma unroll
  for (int h = 0; h < 2; h++) {
    l[h] += __shfl_xor_sync(~0u, l[h], 1);
    l[h] += __shfl_xor_sync(~0u, l[h], 2);
    const float inv = 1.f / l[h];
    float* dst = out + (size_t(head) * seq + q0 + row + h * 8) * HD + (tid % 4) * 2;
#pragma unroll
    for (int j = 0; j < 8; j++)
      *reinterpret_cast<float2*>(dst + j * 8) =
          make_float2(o[j * 4 + h * 2] * inv, o[j * 4 + h * 2 + 1] * inv);
  }
}

static CUtensorMap encode(PFN_cuTensorMapEncodeTiled_v12000 fn, __half* p, int seq, int heads,
                          int rows) {
  CUtensorMap m;
  cuuint64_t dim[3] = {HD, (cuuint64_t)seq, (cuuint64_t)heads},
             stride[2] = {HD * 2, (cuuint64_t)seq * HD * 2};
  cuuint32_t box[3] = {HD, (cuuint32_t)rows, 1}, el[3] = {1, 1, 1};
  CUresult r = fn(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, p, dim, stride, box, el,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                  CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) {
    fprintf(stderr, "encode: %d\n", (int)r);
    exit(1);
  }
  return m;
}

int main() {
  const int seq = 256, heads = 2;
  size_t n = size_t(seq) * heads * HD;
  std::vector<__half> q(n), k(n), v(n);
  std::vector<float> o(n);
  srand(11);
  for (size_t i = 0; i < n; i++) {
    q[i] = __float2half(rand() / (float)RAND_MAX - .5f);
    k[i] = __float2half(4 * (rand() / (float)RAND_MAX - .5f));
    v[i] = __float2half(rand() / (float)RAND_MAX - .5f);
  }
  __half *dq, *dk, *dv;
  float* dout;
  CHECK(cudaMalloc(&dq, n * 2));
  CHECK(cudaMalloc(&dk, n * 2));
  CHECK(cudaMalloc(&dv, n * 2));
  CHECK(cudaMalloc(&dout, n * 4));
  CHECK(cudaMemcpy(dq, q.data(), n * 2, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dk, k.data(), n * 2, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dv, v.data(), n * 2, cudaMemcpyHostToDevice));
  void* f = nullptr;
  cudaDriverEntryPointQueryResult qres;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault,
                                         &qres));
  auto fn = (PFN_cuTensorMapEncodeTiled_v12000)f;
  auto tq = encode(fn, dq, seq, heads, BR), tk = encode(fn, dk, seq, heads, BC),
       tv = encode(fn, dv, seq, heads, BC);
  CHECK(cudaFuncSetAttribute(flash_fwd, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             sizeof(Smem) + 1024));
  int bad = 0;
  for (int causal = 0; causal < 2; causal++) {
    const float scale = 1.f / sqrtf((float)HD);
    flash_fwd<<<dim3(seq / BR, heads), 256, sizeof(Smem) + 1024>>>(tq, tk, tv, dout, seq,
                                                                   scale * (float)M_LOG2E, causal);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(o.data(), dout, n * 4, cudaMemcpyDeviceToHost));
    for (int h = 0; h < heads; h++)
      for (int i = 0; i < seq; i++) {
        std::vector<double> p(seq);
        double mx = -1e30, sum = 0;
        int lim = causal ? i + 1 : seq;
        for (int j = 0; j < lim; j++) {
          double d = 0;
          for (int c = 0; c < HD; c++)
            d += (double)__half2float(q[(h * seq + i) * HD + c]) *
                 __half2float(k[(h * seq + j) * HD + c]);
          p[j] = d * scale;
          mx = fmax(mx, p[j]);
        }
        for (int j = 0; j < lim; j++) sum += (p[j] = exp(p[j] - mx));
        for (int c = 0; c < HD; c++) {
          double r = 0;
          for (int j = 0; j < lim; j++) r += p[j] * __half2float(v[(h * seq + j) * HD + c]);
          r /= sum;
          float got = o[(h * seq + i) * HD + c];
          if (!(fabs(got - r) < 2e-3) && bad++ < 4)
            printf("causal %d head %d o[%d][%d] = %f, expected %f\n", causal, h, i, c, got, r);
        }
      }
  }
  puts(bad ? "FAIL" : "PASS");
  return !!bad;
}
