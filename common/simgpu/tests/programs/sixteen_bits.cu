// cuda_fp16.h, cuda_bf16.h and mma.h: host and device agree on every value, and fragments multiply.
#include <cstdio>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include "check.h"

namespace {

// ---- the same template for both formats
template <class T>
struct Of;
template <>
struct Of<__half> {
  typedef __half2 Pair;
  static __host__ __device__ unsigned short bits(__half v) { return __half_as_ushort(v); }
  static __host__ __device__ __half from(unsigned short b) { return __ushort_as_half(b); }
  static __host__ __device__ __half rn(float v) { return __float2half_rn(v); }
  static __host__ __device__ __half rz(float v) { return __float2half_rz(v); }
  static __host__ __device__ __half rd(float v) { return __float2half_rd(v); }
  static __host__ __device__ __half ru(float v) { return __float2half_ru(v); }
  static __host__ __device__ float to_float(__half v) { return __half2float(v); }
  static __host__ __device__ __half2 pair(float a, float b) { return __floats2half2_rn(a, b); }
  static __host__ __device__ float2 floats(__half2 v) { return __half22float2(v); }
};
template <>
struct Of<__nv_bfloat16> {
  typedef __nv_bfloat162 Pair;
  static __host__ __device__ unsigned short bits(__nv_bfloat16 v) {
    return __bfloat16_as_ushort(v);
  }
  static __host__ __device__ __nv_bfloat16 from(unsigned short b) {
    return __ushort_as_bfloat16(b);
  }
  static __host__ __device__ __nv_bfloat16 rn(float v) { return __float2bfloat16_rn(v); }
  static __host__ __device__ __nv_bfloat16 rz(float v) { return __float2bfloat16_rz(v); }
  static __host__ __device__ __nv_bfloat16 rd(float v) { return __float2bfloat16_rd(v); }
  static __host__ __device__ __nv_bfloat16 ru(float v) { return __float2bfloat16_ru(v); }
  static __host__ __device__ float to_float(__nv_bfloat16 v) { return __bfloat162float(v); }
  static __host__ __device__ __nv_bfloat162 pair(float a, float b) {
    return __floats2bfloat162_rn(a, b);
  }
  static __host__ __device__ float2 floats(__nv_bfloat162 v) { return __bfloat1622float2(v); }
};

__host__ __device__ unsigned bits_of(float v) {
  union {
    float f;
    unsigned u;
  } both;
  both.f = v;
  return both.u;
}
__host__ __device__ float float_of(unsigned b) {
  union {
    unsigned u;
    float f;
  } both;
  both.u = b;
  return both.f;
}
/// NaN has many bit patterns: one stands for all.
template <class T>
__host__ __device__ unsigned same(T v) {
  return v != v ? 0x7fffu : Of<T>::bits(v);
}

constexpr int kFacts = 20;

/// Everything that is compared, for one pair of values.
template <class T>
__host__ __device__ void facts(unsigned i, unsigned* out) {
  typedef Of<T> F;
  const T a = F::from(static_cast<unsigned short>(i));
  const T b = F::from(static_cast<unsigned short>(i * 40503u >> 3));
  const T c = F::from(static_cast<unsigned short>(i * 9973u + 77u));
  const float wide = float_of(i * 2654435761u), fa = F::to_float(a);
  int n = 0;
  out[n++] = fa != fa ? 1u : bits_of(fa);
  out[n++] = same(F::rn(wide));
  out[n++] = same(F::rz(wide));
  out[n++] = same(F::rd(wide));
  out[n++] = same(F::ru(wide));
  out[n++] = same(a + b);
  out[n++] = same(a - b);
  out[n++] = same(a * b);
  out[n++] = same(__hfma(a, b, c));
  out[n++] = same(__hmax(a, b));
  out[n++] = same(__hmin(a, b));
  out[n++] = same(__habs(a));
  out[n++] = same(-a);
  out[n++] = static_cast<unsigned>(a < b) | static_cast<unsigned>(a <= b) << 1 |
             static_cast<unsigned>(a > b) << 2 | static_cast<unsigned>(a == b) << 3 |
             static_cast<unsigned>(a != b) << 4 | static_cast<unsigned>(__hisnan(a)) << 5;
  out[n++] = a != a ? 0u : static_cast<unsigned>(static_cast<int>(a));
  out[n++] = same(static_cast<T>(static_cast<int>(i * 2654435761u)));
  const typename F::Pair x(a, b), y(c, a);
  const float2 sum = F::floats(x + y), fused = F::floats(__hfma2(x, y, x));
  out[n++] = sum.x != sum.x ? 1u : bits_of(sum.x);
  out[n++] = sum.y != sum.y ? 1u : bits_of(sum.y);
  out[n++] = fused.x != fused.x ? 1u : bits_of(fused.x);
  const float2 both = F::floats(F::pair(wide, fa));
  out[n++] = both.x != both.x ? 1u : bits_of(both.x);
}

template <class T>
__global__ void all_facts(unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned f[kFacts];
  facts<T>(i, f);
#pragma unroll
  for (int k = 0; k < kFacts; ++k) out[k * 65536 + i] = f[k];
}

template <class T>
int compare(const char* name) {
  unsigned* device;
  CHECK(cudaMalloc(&device, kFacts * 65536 * sizeof(unsigned)));
  all_facts<T><<<256, 256>>>(device);
  CHECK(cudaGetLastError());
  std::vector<unsigned> out(kFacts * 65536);
  CHECK(cudaMemcpy(out.data(), device, out.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
  int wrong = 0;
  for (unsigned i = 0; i < 65536; ++i) {
    unsigned f[kFacts];
    facts<T>(i, f);
    for (int k = 0; k < kFacts; ++k)
      if (f[k] != out[static_cast<unsigned>(k) * 65536 + i] && ++wrong < 10)
        std::printf("%s: fact %d of %04x: host %08x, device %08x\n", name, k, i, f[k],
                    out[static_cast<unsigned>(k) * 65536 + i]);
  }
  std::printf("%s: %d differences\n", name, wrong);
  return wrong;
}

// ---- fragments: C = A * B with one warp for each tile

template <class T, class Element, int M, int N, int K>
__global__ void multiply(const Element* A, const Element* B, float* C, int n, int k) {
  using namespace nvcuda::wmma;
  __shared__ __align__(32) Element tile[M * K];
  fragment<matrix_a, M, N, K, T, row_major> a;
  fragment<matrix_b, M, N, K, T, row_major> b;
  fragment<accumulator, M, N, K, float> c;
  fill_fragment(c, 0.0f);
  for (int k0 = 0; k0 < k; k0 += K) {
    for (int i = static_cast<int>(threadIdx.x); i < M * K; i += 32)
      tile[i] = A[(static_cast<int>(blockIdx.y) * M + i / K) * k + k0 + i % K];
    __syncwarp();
    load_matrix_sync(a, tile, K);
    const int column = static_cast<int>(blockIdx.x) * N;
    load_matrix_sync(b, B + k0 * n + column, static_cast<unsigned>(n));
    mma_sync(c, a, b, c);
    __syncwarp();
  }
  for (int i = 0; i < c.num_elements; ++i) c.x[i] = 2.0f * c.x[i];
  store_matrix_sync(C + static_cast<int>(blockIdx.y) * M * n + static_cast<int>(blockIdx.x) * N, c,
                    static_cast<unsigned>(n), mem_row_major);
}

template <class T, class Element, int M, int N, int K>
int product(const char* name) {
  const int m = 64, n = 64, k = 48;
  std::vector<Element> a(m * k), b(k * n);
  std::vector<float> fa(m * k), fb(k * n), c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<Element>(fa[i] = static_cast<float>(i * 7 % 13 - 6));
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<Element>(fb[i] = static_cast<float>(i * 5 % 11 - 5));
  Element *da, *db;
  float* dc;
  CHECK(cudaMalloc(&da, a.size() * sizeof(Element)));
  CHECK(cudaMalloc(&db, b.size() * sizeof(Element)));
  CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(Element), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(Element), cudaMemcpyHostToDevice));
  multiply<T, Element, M, N, K><<<dim3(n / N, m / M), 32>>>(da, db, dc, n, k);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int q = 0; q < k; ++q) sum += fa[i * k + q] * fb[q * n + j];
      wrong += c[i * n + j] != 2 * sum;
    }
  std::printf("%s: %d wrong\n", name, wrong);
  return wrong;
}

}  // namespace

int main() {
  int wrong = compare<__half>("half") + compare<__nv_bfloat16>("bfloat16");
  wrong += product<__half, __half, 16, 16, 16>("half 16x16x16");
  wrong += product<__half, __half, 32, 8, 16>("half 32x8x16");
  wrong += product<__nv_bfloat16, __nv_bfloat16, 8, 32, 16>("bfloat16 8x32x16");
  wrong += product<nvcuda::wmma::precision::tf32, float, 16, 16, 8>("tf32 16x16x8");
  return wrong == 0 ? 0 : 1;
}
