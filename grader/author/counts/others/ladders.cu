// Products of matrices in the manner of published ladders, and what is near them. See kernels.hpp.
#include "grader/author/counts/others/kernels.hpp"

#define CEIL_DIV(m, n) (((m) + (n)-1) / (n))

__global__ void sgemm_coalesced(int m, int n, int k, float alpha, const float* a, const float* b,
                                float beta, float* c) {
  const int x = blockIdx.x * 32 + (threadIdx.x / 32), y = blockIdx.y * 32 + (threadIdx.x % 32);
  if (x < m && y < n) {
    float tmp = 0.0;
    for (int i = 0; i < k; ++i) tmp += a[x * k + i] * b[i * n + y];
    c[x * n + y] = alpha * tmp + beta * c[x * n + y];
  }
}

template <const int BM, const int BN, const int BK, const int TM>
__global__ void sgemm_column(int n, int k, const float* a, const float* b, float* c) {
  const uint cRow = blockIdx.y, cCol = blockIdx.x;
  const int threadCol = threadIdx.x % BN, threadRow = threadIdx.x / BN;
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  a += cRow * BM * k;
  b += cCol * BN;
  c += cRow * BM * n + cCol * BN;
  const uint innerColA = threadIdx.x % BK, innerRowA = threadIdx.x / BK;
  const uint innerColB = threadIdx.x % BN, innerRowB = threadIdx.x / BN;
  float threadResults[TM] = {0.0};
  for (uint bkIdx = 0; bkIdx < k; bkIdx += BK) {
    As[innerRowA * BK + innerColA] = a[innerRowA * k + innerColA];
    Bs[innerRowB * BN + innerColB] = b[innerRowB * n + innerColB];
    __syncthreads();
    a += BK;
    b += BK * n;
    for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
      float tmpB = Bs[dotIdx * BN + threadCol];
      for (uint resIdx = 0; resIdx < TM; ++resIdx)
        threadResults[resIdx] += As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
    }
    __syncthreads();
  }
  for (uint resIdx = 0; resIdx < TM; ++resIdx)
    c[(threadRow * TM + resIdx) * n + threadCol] = threadResults[resIdx];
}

template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void sgemm_strides(int n, int k, float alpha, const float* a, const float* b, float beta,
                              float* c) {
  const uint numThreadsBlocktile = BM * BN / (TM * TN);
  const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  a += blockIdx.y * BM * k;
  b += blockIdx.x * BN;
  c += blockIdx.y * BM * n + blockIdx.x * BN;
  const uint innerRowA = threadIdx.x / BK, innerColA = threadIdx.x % BK;
  const uint strideA = numThreadsBlocktile / BK;
  const uint innerRowB = threadIdx.x / BN, innerColB = threadIdx.x % BN;
  const uint strideB = numThreadsBlocktile / BN;
  float threadResults[TM * TN] = {0.0};
  float regM[TM] = {0.0};
  float regN[TN] = {0.0};
  for (uint bkIdx = 0; bkIdx < k; bkIdx += BK) {
    for (uint loadOffset = 0; loadOffset < BM; loadOffset += strideA)
      As[(innerRowA + loadOffset) * BK + innerColA] = a[(innerRowA + loadOffset) * k + innerColA];
    for (uint loadOffset = 0; loadOffset < BK; loadOffset += strideB)
      Bs[(innerRowB + loadOffset) * BN + innerColB] = b[(innerRowB + loadOffset) * n + innerColB];
    __syncthreads();
    a += BK;
    b += BK * n;
    for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (uint i = 0; i < TM; ++i) regM[i] = As[(threadRow * TM + i) * BK + dotIdx];
      for (uint i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
      for (uint m = 0; m < TM; ++m)
        for (uint j = 0; j < TN; ++j) threadResults[m * TN + j] += regM[m] * regN[j];
    }
    __syncthreads();
  }
  for (uint m = 0; m < TM; ++m)
    for (uint j = 0; j < TN; ++j) {
      float& out = c[(threadRow * TM + m) * n + threadCol * TN + j];
      out = alpha * threadResults[m * TN + j] + beta * out;
    }
}

// Warps have tiles of their own, WMITER x WNITER pieces each.
template <const int BM, const int BN, const int BK, const int WM, const int WN, const int WNITER,
          const int TM, const int TN, const int THREADS>
__global__ void __launch_bounds__(THREADS)
    sgemm_warp_tiles(int n, int k, const float* a, const float* b, float* c) {
  constexpr int WMITER = (WM * WN) / (32 * TM * TN * WNITER);
  constexpr int WSUBM = WM / WMITER, WSUBN = WN / WNITER;
  const uint warpIdx = threadIdx.x / 32, warpCol = warpIdx % (BN / WN),
             warpRow = warpIdx / (BN / WN);
  const uint lane = threadIdx.x % 32, colInWarp = lane % (WSUBN / TN),
             rowInWarp = lane / (WSUBN / TN);
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  a += blockIdx.y * BM * k;
  b += blockIdx.x * BN;
  c += (blockIdx.y * BM + warpRow * WM) * n + blockIdx.x * BN + warpCol * WN;
  const uint innerRowA = threadIdx.x / (BK / 4), innerColA = threadIdx.x % (BK / 4);
  constexpr uint rowStrideA = (THREADS * 4) / BK;
  const uint innerRowB = threadIdx.x / (BN / 4), innerColB = threadIdx.x % (BN / 4);
  constexpr uint rowStrideB = THREADS / (BN / 4);
  float threadResults[WMITER * TM * WNITER * TN] = {0.0};
  float regM[WMITER * TM] = {0.0};
  float regN[WNITER * TN] = {0.0};
  for (uint bkIdx = 0; bkIdx < k; bkIdx += BK) {
    for (uint offset = 0; offset + rowStrideA <= BM; offset += rowStrideA) {
      const float4 tmp =
          reinterpret_cast<const float4*>(&a[(innerRowA + offset) * k + innerColA * 4])[0];
      As[(innerColA * 4 + 0) * BM + innerRowA + offset] = tmp.x;
      As[(innerColA * 4 + 1) * BM + innerRowA + offset] = tmp.y;
      As[(innerColA * 4 + 2) * BM + innerRowA + offset] = tmp.z;
      As[(innerColA * 4 + 3) * BM + innerRowA + offset] = tmp.w;
    }
    for (uint offset = 0; offset + rowStrideB <= BK; offset += rowStrideB)
      reinterpret_cast<float4*>(&Bs[(innerRowB + offset) * BN + innerColB * 4])[0] =
          reinterpret_cast<const float4*>(&b[(innerRowB + offset) * n + innerColB * 4])[0];
    __syncthreads();
    for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (uint wm = 0; wm < WMITER; ++wm)
        for (uint i = 0; i < TM; ++i)
          regM[wm * TM + i] = As[(dotIdx * BM) + warpRow * WM + wm * WSUBM + rowInWarp * TM + i];
      for (uint wn = 0; wn < WNITER; ++wn)
        for (uint i = 0; i < TN; ++i)
          regN[wn * TN + i] = Bs[(dotIdx * BN) + warpCol * WN + wn * WSUBN + colInWarp * TN + i];
      for (uint wm = 0; wm < WMITER; ++wm)
        for (uint wn = 0; wn < WNITER; ++wn)
          for (uint i = 0; i < TM; ++i)
            for (uint j = 0; j < TN; ++j)
              threadResults[(wm * TM + i) * (WNITER * TN) + wn * TN + j] +=
                  regM[wm * TM + i] * regN[wn * TN + j];
    }
    a += BK;
    b += BK * n;
    __syncthreads();
  }
  for (uint wm = 0; wm < WMITER; ++wm)
    for (uint wn = 0; wn < WNITER; ++wn) {
      float* out = c + (wm * WSUBM) * n + wn * WSUBN;
      for (uint i = 0; i < TM; i += 1)
        for (uint j = 0; j < TN; j += 4) {
          float4 tmp;
          const int at = (wm * TM + i) * (WNITER * TN) + wn * TN + j;
          tmp.x = threadResults[at + 0];
          tmp.y = threadResults[at + 1];
          tmp.z = threadResults[at + 2];
          tmp.w = threadResults[at + 3];
          reinterpret_cast<float4*>(&out[(rowInWarp * TM + i) * n + colInWarp * TN + j])[0] = tmp;
        }
    }
}

__global__ void sgemm_two_buffers(int n, int k, const float* __restrict__ a,
                                  const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float as[2][16][64 + 4], bs[2][16][64];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const int ar = t / 4, ac = t % 4 * 4, br = t / 16, bc = t % 16 * 4;
  const float* from_a = a + (blockIdx.y * 64 + ar) * k + ac;
  const float* from_b = b + br * n + blockIdx.x * 64 + bc;
  float sum[4][4] = {};
  float4 next_a = *(const float4*)from_a, next_b = *(const float4*)from_b;
  int now = 0;
  for (int at = 0; at < k; at += 16) {
    as[now][ac][ar] = next_a.x;
    as[now][ac + 1][ar] = next_a.y;
    as[now][ac + 2][ar] = next_a.z;
    as[now][ac + 3][ar] = next_a.w;
    *(float4*)&bs[now][br][bc] = next_b;
    __syncthreads();
    if (at + 16 < k) {
      from_a += 16;
      from_b += 16 * n;
      next_a = *(const float4*)from_a;
      next_b = *(const float4*)from_b;
    }
#pragma unroll
    for (int d = 0; d < 16; ++d) {
      const float4 x = *(const float4*)&as[now][d][ty * 4], y = *(const float4*)&bs[now][d][tx * 4];
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += xs[i] * ys[j];
    }
    now ^= 1;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    *(float4*)&c[(blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx * 4] =
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

// C = A * B^T, both with rows along k, any shape.
__global__ void sgemm_nt(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float as[16][17], bs[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  const int brow = blockIdx.x * 16 + threadIdx.y;
  float sum = 0;
  for (int at = 0; at < k; at += 16) {
    const int kk = at + threadIdx.x;
    as[threadIdx.y][threadIdx.x] = row < m && kk < k ? a[row * k + kk] : 0.f;
    bs[threadIdx.y][threadIdx.x] = brow < n && kk < k ? b[brow * k + kk] : 0.f;
    __syncthreads();
    for (int d = 0; d < 16; ++d) sum += as[threadIdx.y][d] * bs[threadIdx.x][d];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

__global__ void hgemm_pairs(int n, int k, const __half2* a, const __half2* b, __half2* c) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x,
            row = blockIdx.y * blockDim.y + threadIdx.y;
  __half2 sum = __float2half2_rn(0.f);
  for (int i = 0; i < k / 2; ++i) {
    const __half2 two = a[row * k / 2 + i];
    sum = __hfma2(__half2half2(__low2half(two)), b[(2 * i) * n / 2 + col], sum);
    sum = __hfma2(__half2half2(__high2half(two)), b[(2 * i + 1) * n / 2 + col], sum);
  }
  c[row * n / 2 + col] = sum;
}

template <typename scalar_t, int TILE>
__global__ void gemm_generic(const scalar_t* A, const scalar_t* B, scalar_t* C, int M, int N,
                             int K) {
  __shared__ scalar_t sA[TILE][TILE];
  __shared__ scalar_t sB[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y;
  int col = blockIdx.x * TILE + threadIdx.x;
  scalar_t acc = 0;
  for (int t = 0; t < (K + TILE - 1) / TILE; t++) {
    if (row < M && t * TILE + threadIdx.x < K)
      sA[threadIdx.y][threadIdx.x] = A[row * K + t * TILE + threadIdx.x];
    else
      sA[threadIdx.y][threadIdx.x] = 0;
    if (col < N && t * TILE + threadIdx.y < K)
      sB[threadIdx.y][threadIdx.x] = B[(t * TILE + threadIdx.y) * N + col];
    else
      sB[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < TILE; i++) acc += sA[threadIdx.y][i] * sB[i][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = acc;
}

__global__ void gemm_dp4a(const int* a, const int* b, int* c, int n, int k4) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y,
            col = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int i = 0; i < k4; ++i) sum = __dp4a(a[row * k4 + i], b[col * k4 + i], sum);
  c[row * n + col] = sum;
}

__global__ void gemv_warp(const float* a, const float* x, float* y, int m, int n) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row >= m) return;
  float sum = 0;
  for (int j = lane; j < n; j += 32) sum += a[row * n + j] * x[j];
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (lane == 0) y[row] = sum;
}

__global__ void gemv_block_vector(const float4* a, const float4* x, float* y, int n4) {
  __shared__ float parts[8];
  float sum = 0;
  for (int j = threadIdx.x; j < n4; j += blockDim.x) {
    const float4 u = a[blockIdx.x * n4 + j], v = x[j];
    sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, o);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) all += parts[w];
    y[blockIdx.x] = all;
  }
}

// y = A^T * x: a thread per column, x in shared memory.
__global__ void gemv_columns(const float* a, const float* x, float* y, int m, int n) {
  extern __shared__ float shared_x[];
  for (int i = threadIdx.x; i < m; i += blockDim.x) shared_x[i] = x[i];
  __syncthreads();
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= n) return;
  float sum = 0;
#pragma unroll 4
  for (int i = 0; i < m; ++i) sum += a[i * n + col] * shared_x[i];
  y[col] = sum;
}

__global__ void rank_one(const float* x, const float* y, float* a, int m, int n, float alpha) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  for (int row = blockIdx.y; row < m; row += gridDim.y)
    if (col < n) a[row * n + col] += alpha * x[row] * y[col];
}

// A block per matrix of 16 x 16.
__global__ void gemm_batched(const float* a, const float* b, float* c) {
  __shared__ float as[256], bs[256];
  const int t = threadIdx.x, row = t / 16, col = t % 16;
  as[t] = a[blockIdx.x * 256 + t];
  bs[t] = b[blockIdx.x * 256 + t];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) sum = fmaf(as[row * 16 + i], bs[i * 16 + col], sum);
  c[blockIdx.x * 256 + t] = sum;
}

// The lower triangle of A * A^T.
__global__ void syrk_lower(const float* a, float* c, int n, int k) {
  if (blockIdx.x > blockIdx.y) return;
  __shared__ float rows[16][33], cols[16][33];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int at = 0; at < k; at += 32) {
    for (int h = 0; h < 32; h += 16) {
      rows[ty][tx + h] = a[row * k + at + tx + h];
      cols[ty][tx + h] = a[(blockIdx.x * 16 + ty) * k + at + tx + h];
    }
    __syncthreads();
    for (int d = 0; d < 32; ++d) sum += rows[ty][d] * cols[tx][d];
    __syncthreads();
  }
  if (col <= row) c[row * n + col] = sum;
}

// A convolution of NCHW images as a product that is never written out.
__global__ void conv_implicit(const float* in, const float* weight, float* out, int channels,
                              int height, int width, int filters) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, f = blockIdx.z;
  if (x >= width - 2) return;
  float sum = 0.f;
  for (int ch = 0; ch < channels; ++ch)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        sum += in[(ch * height + y + i) * width + x + j] *
               weight[((f * channels + ch) * 3 + i) * 3 + j];
  out[(f * (height - 2) + y) * (width - 2) + x] = sum;
}

struct Product {
  int m, n, k;
  std::vector<float> a = some_floats(std::size_t(m) * k, 1), b = some_floats(std::size_t(k) * n, 2);
  float *da = upload(a), *db = upload(b), *dc = upload(std::vector<float>(std::size_t(m) * n));
  std::vector<double> want = std::vector<double>(std::size_t(m) * n);

  Product(int rows, int columns, int depth, bool transposed = false)
      : m(rows), n(columns), k(depth) {
    for (int i = 0; i < m; ++i)
      for (int d = 0; d < k; ++d)
        for (int j = 0; j < n; ++j)
          want[i * n + j] += double(a[i * k + d]) * (transposed ? b[j * k + d] : b[d * n + j]);
  }
  void expect(const char* kernel) const {
    ::expect(std::string(kernel) + ", " + std::to_string(m) + " x " + std::to_string(n) + " x " +
                 std::to_string(k),
             dc, want.size(), [&](std::size_t i) { return want[i]; });
    check(cudaMemset(dc, 0, 4 * want.size()), "cudaMemset");
  }
};

static void squares(int size) {
  const Product p(size, size, size);
  const auto& [m, n, k, a, b, da, db, dc, want] = p;
  const int blocks = size / 64;
  sgemm_coalesced<<<dim3(size / 32, size / 32), 1024>>>(m, n, k, 1.0f, da, db, 0.0f, dc);
  p.expect("sgemm_coalesced");
  sgemm_column<64, 64, 8, 8><<<dim3(blocks, blocks), 512>>>(n, k, da, db, dc);
  p.expect("sgemm_column");
  sgemm_strides<64, 64, 8, 8, 8><<<dim3(blocks, blocks), 64>>>(n, k, 1.0f, da, db, 0.0f, dc);
  p.expect("sgemm_strides");
  sgemm_warp_tiles<64, 64, 16, 32, 32, 2, 4, 4, 128>
      <<<dim3(blocks, blocks), 128>>>(n, k, da, db, dc);
  p.expect("sgemm_warp_tiles");
  sgemm_two_buffers<<<dim3(blocks, blocks), 256>>>(n, k, da, db, dc);
  p.expect("sgemm_two_buffers");
}

static void other_types(int m, int n, int k) {
  const Product p(m, n, k), turned(m, n, k, true);
  sgemm_nt<<<dim3(CEIL_DIV(n, 16), CEIL_DIV(m, 16)), dim3(16, 16)>>>(m, n, k, turned.da, turned.db,
                                                                     turned.dc);
  turned.expect("sgemm_nt");
  gemm_generic<float, 32>
      <<<dim3(CEIL_DIV(n, 32), CEIL_DIV(m, 32)), dim3(32, 32)>>>(p.da, p.db, p.dc, m, n, k);
  p.expect("gemm_generic<float>");
  const std::vector<double> a(p.a.begin(), p.a.end()), b(p.b.begin(), p.b.end());
  double* c = upload(std::vector<double>(p.want.size()));
  gemm_generic<double, 16>
      <<<dim3(CEIL_DIV(n, 16), CEIL_DIV(m, 16)), dim3(16, 16)>>>(upload(a), upload(b), c, m, n, k);
  expect("gemm_generic<double>, " + std::to_string(m), c, p.want.size(),
         [&](std::size_t i) { return p.want[i]; });
}

static void short_types(int size, int depth) {
  std::vector<__half> a(std::size_t(size) * depth), b(std::size_t(depth) * size);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = __float2half(float(int(i * 7 % 5) - 2));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = __float2half(float(int(i * 3 % 7) - 3));
  __half* c = upload(std::vector<__half>(std::size_t(size) * size));
  hgemm_pairs<<<dim3(size / 64, size / 8), dim3(32, 8)>>>(
      size, depth, reinterpret_cast<__half2*>(upload(a)), reinterpret_cast<__half2*>(upload(b)),
      reinterpret_cast<__half2*>(c));
  expect("hgemm_pairs, " + std::to_string(size), c, std::size_t(size) * size, [&](std::size_t i) {
    double s = 0;
    for (int d = 0; d < depth; ++d)
      s += double(__half2float(a[i / size * depth + d])) * __half2float(b[d * size + i % size]);
    return s;
  });
  std::vector<signed char> x(std::size_t(size) * depth), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i * 37 % 251 - 125, y[i] = i * 11 % 249 - 124;
  int* sums = upload(std::vector<int>(std::size_t(size) * size));
  gemm_dp4a<<<dim3(size / 16, size / 16), dim3(16, 16)>>>(
      reinterpret_cast<int*>(upload(x)), reinterpret_cast<int*>(upload(y)), sums, size, depth / 4);
  expect("gemm_dp4a, " + std::to_string(size), sums, std::size_t(size) * size, [&](std::size_t i) {
    double s = 0;
    for (int d = 0; d < depth; ++d) s += double(x[i / size * depth + d]) * y[i % size * depth + d];
    return s;
  });
}

static void vectors(int m, int n) {
  const std::string shape = ", " + std::to_string(m) + " x " + std::to_string(n);
  const std::vector<float> a = some_floats(std::size_t(m) * n, 3), x = some_floats(n, 4);
  const std::vector<float> z = some_floats(m, 5);
  float *da = upload(a), *dx = upload(x), *dz = upload(z);
  float* y = upload(std::vector<float>(std::max(m, n)));
  const auto rows = [&](std::size_t i) {
    double s = 0;
    for (int j = 0; j < n; ++j) s += double(a[i * n + j]) * x[j];
    return s;
  };
  gemv_warp<<<CEIL_DIV(m, 4), 128>>>(da, dx, y, m, n);
  expect("gemv_warp" + shape, y, m, rows);
  gemv_block_vector<<<m, 128>>>(reinterpret_cast<float4*>(da), reinterpret_cast<float4*>(dx), y,
                                n / 4);
  expect("gemv_block_vector" + shape, y, m, rows);
  gemv_columns<<<CEIL_DIV(n, 64), 64, 4 * m>>>(da, dz, y, m, n);
  expect("gemv_columns" + shape, y, n, [&](std::size_t j) {
    double s = 0;
    for (int i = 0; i < m; ++i) s += double(a[i * n + j]) * z[i];
    return s;
  });
  rank_one<<<dim3(CEIL_DIV(n, 128), 8), 128>>>(dz, dx, da, m, n, 0.5f);
  expect("rank_one" + shape, da, a.size(),
         [&](std::size_t i) { return a[i] + 0.5 * z[i / n] * x[i % n]; });
}

static void blocks_of_16(int count) {
  const std::vector<float> a = some_floats(count * 256, 6), b = some_floats(count * 256, 7);
  float* c = upload(std::vector<float>(count * 256));
  gemm_batched<<<count, 256>>>(upload(a), upload(b), c);
  expect("gemm_batched, " + std::to_string(count), c, count * 256, [&](std::size_t i) {
    double s = 0;
    for (int d = 0; d < 16; ++d)
      s += double(a[i / 16 * 16 + d]) * b[i / 256 * 256 + d * 16 + i % 16];
    return s;
  });
  const int n = 16 * count, k = 64;
  const std::vector<float> rows = some_floats(n * k, 8);
  float* lower = upload(std::vector<float>(n * n));
  syrk_lower<<<dim3(count, count), dim3(16, 16)>>>(upload(rows), lower, n, k);
  expect("syrk_lower, " + std::to_string(n), lower, n * n, [&](std::size_t i) {
    const std::size_t row = i / n, col = i % n;
    double s = 0;
    for (int d = 0; d < k && col <= row; ++d) s += double(rows[row * k + d]) * rows[col * k + d];
    return s;
  });
}

static void convolution(int channels, int side, int filters) {
  const std::vector<float> in = some_floats(channels * side * side, 9);
  const std::vector<float> weight = some_floats(filters * channels * 9, 10);
  const int inner = side - 2;
  float* out = upload(std::vector<float>(filters * inner * inner));
  conv_implicit<<<dim3(CEIL_DIV(inner, 32), inner, filters), 32>>>(upload(in), upload(weight), out,
                                                                   channels, side, side, filters);
  expect("conv_implicit, " + std::to_string(side), out, filters * inner * inner,
         [&](std::size_t o) {
           const std::size_t f = o / (inner * inner), y = o / inner % inner, x = o % inner;
           double s = 0;
           for (int ch = 0; ch < channels; ++ch)
             for (int i = 0; i < 9; ++i)
               s += double(in[(ch * side + y + i / 3) * side + x + i % 3]) *
                    weight[(f * channels + ch) * 9 + i];
           return s;
         });
}

int main() {
  squares(64);
  squares(128);
  squares(192);
  other_types(32, 64, 96);
  other_types(33, 47, 61);
  other_types(64, 64, 128);
  short_types(64, 32);
  short_types(128, 64);
  vectors(64, 256);
  vectors(37, 1000);
  vectors(128, 128);
  blocks_of_16(4);
  blocks_of_16(9);
  convolution(3, 34, 4);
  convolution(8, 20, 2);
  return 0;
}
