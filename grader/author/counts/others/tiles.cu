// Products, attention and convolutions with tiles in shared memory, in the manner of published libraries. See kernels.hpp.
#include <cuda_pipeline.h>
#include <mma.h>

#include "grader/author/counts/others/kernels.hpp"

static std::string with(const char* kernel, int a, int b, int c) {
  return std::string(kernel) + ", " + std::to_string(a) + " x " + std::to_string(b) + " x " +
         std::to_string(c);
}

// ---- attention

// 32 queries per block, four threads a query, each with a quarter of the head; keys in tiles of 16.
template <int D>
__global__ void __launch_bounds__(128)
    attention_causal(const float* __restrict__ Q, const float* __restrict__ K,
                     const float* __restrict__ V, float* __restrict__ O, int T, float scale) {
  constexpr int ROWS = 32, KEYS = 16, PART = D / 4;
  __shared__ float ks[KEYS][D], vs[KEYS][D];
  const int head = blockIdx.y, row = blockIdx.x * ROWS + threadIdx.x / 4, part = threadIdx.x % 4;
  const float* q = Q + (static_cast<size_t>(head) * T + row) * D;
  float mine[PART], acc[PART];
#pragma unroll
  for (int i = 0; i < PART; ++i) {
    mine[i] = row < T ? q[i * 4 + part] * scale : 0.0f;
    acc[i] = 0.0f;
  }
  float most = -INFINITY, sum = 0.0f;
  const int last = min(T, (static_cast<int>(blockIdx.x) + 1) * ROWS);
  for (int start = 0; start < last; start += KEYS) {
    for (int i = threadIdx.x; i < KEYS * D / 4; i += blockDim.x) {
      const int r = i / (D / 4), c = i % (D / 4) * 4;
      float4 k = make_float4(0, 0, 0, 0), v = k;
      if (start + r < T) {
        k = *reinterpret_cast<const float4*>(
            &K[(static_cast<size_t>(head) * T + start + r) * D + c]);
        v = *reinterpret_cast<const float4*>(
            &V[(static_cast<size_t>(head) * T + start + r) * D + c]);
      }
      *reinterpret_cast<float4*>(&ks[r][c]) = k;
      *reinterpret_cast<float4*>(&vs[r][c]) = v;
    }
    __syncthreads();
    float score[KEYS];
    float tile_most = most;
#pragma unroll
    for (int j = 0; j < KEYS; ++j) {
      float s = 0.0f;
#pragma unroll
      for (int i = 0; i < PART; ++i) s += mine[i] * ks[j][i * 4 + part];
      s += __shfl_xor_sync(0xffffffff, s, 1);
      s += __shfl_xor_sync(0xffffffff, s, 2);
      score[j] = start + j <= row && start + j < T ? s : -INFINITY;
      tile_most = fmaxf(tile_most, score[j]);
    }
    const float keep = tile_most == -INFINITY ? 1.0f : __expf(most - tile_most);
    sum *= keep;
#pragma unroll
    for (int i = 0; i < PART; ++i) acc[i] *= keep;
#pragma unroll
    for (int j = 0; j < KEYS; ++j) {
      const float p = score[j] == -INFINITY ? 0.0f : __expf(score[j] - tile_most);
      sum += p;
#pragma unroll
      for (int i = 0; i < PART; ++i) acc[i] += p * vs[j][i * 4 + part];
    }
    most = tile_most;
    __syncthreads();
  }
  if (row < T)
#pragma unroll
    for (int i = 0; i < PART; ++i)
      O[(static_cast<size_t>(head) * T + row) * D + i * 4 + part] = acc[i] / sum;
}

// ---- products of bytes

// C[m][n] = scale_a[m] * scale_b[n] * sum of a[m][k] * b[n][k]; 64 x 64 per block, 4 x 4 a thread.
__global__ void __launch_bounds__(256)
    gemm_w8a8(const int8_t* __restrict__ a, const int8_t* __restrict__ b, const float* scale_a,
              const float* scale_b, __half* c, int m, int n, int k) {
  __shared__ int as[64][9], bs[64][9];  // rows of 32 bytes and one word
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int m0 = blockIdx.y * 64, n0 = blockIdx.x * 64;
  int sums[4][4] = {};
  for (int k0 = 0; k0 < k; k0 += 32) {
    for (int i = threadIdx.x; i < 64 * 8; i += 256) {
      const int r = i / 8, w = i % 8;
      as[r][w] = m0 + r < m ? reinterpret_cast<const int*>(a + (m0 + r) * k + k0)[w] : 0;
      bs[r][w] = n0 + r < n ? reinterpret_cast<const int*>(b + (n0 + r) * k + k0)[w] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      int x[4], y[4];
      for (int i = 0; i < 4; ++i) x[i] = as[ty + 16 * i][w];
      for (int j = 0; j < 4; ++j) y[j] = bs[tx + 16 * j][w];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sums[i][j] = __dp4a(x[i], y[j], sums[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = m0 + ty + 16 * i, col = n0 + tx + 16 * j;
      if (row < m && col < n)
        c[row * n + col] = __float2half(sums[i][j] * scale_a[row] * scale_b[col]);
    }
}

// Weights of four bits, eight to a word, with a scale and a zero per 32 of them; a warp per row.
__global__ void gemv_w4(const unsigned* __restrict__ packed, const float2* __restrict__ scales,
                        const float* __restrict__ x, float* __restrict__ y, int rows, int k) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int w = lane; w < k / 8; w += 32) {
    const unsigned q = packed[row * (k / 8) + w];
    const float2 s = scales[row * (k / 32) + w / 4];
    float part = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float weight = (static_cast<int>((q >> (4 * i)) & 0xf) - s.y) * s.x;
      part += weight * x[w * 8 + i];
    }
    sum += part;
  }
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (lane == 0) y[row] = sum;
}

// ---- groups

struct Group {
  const float* a;
  const float* b;
  float* c;
  int m, n, k;
};

// One launch for products of different sizes: a block looks for the group that its tile belongs to.
__global__ void grouped_gemm(const Group* groups, const int* first_tile, int count) {
  constexpr int TILE = 32, STEP = 8;
  __shared__ float as[STEP][TILE], bs[STEP][TILE];
  int g = 0;
  while (g + 1 < count && static_cast<int>(blockIdx.x) >= first_tile[g + 1]) ++g;
  const Group p = groups[g];
  const int across = (p.n + TILE - 1) / TILE, tile = blockIdx.x - first_tile[g];
  const int m0 = tile / across * TILE, n0 = tile % across * TILE;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float c00 = 0, c01 = 0, c10 = 0, c11 = 0;
  for (int k0 = 0; k0 < p.k; k0 += STEP) {
    const int ar = threadIdx.x / STEP, ak = threadIdx.x % STEP;
    const int bk = threadIdx.x / TILE, bc = threadIdx.x % TILE;
    as[ak][ar] = m0 + ar < p.m && k0 + ak < p.k ? p.a[(m0 + ar) * p.k + k0 + ak] : 0.0f;
    bs[bk][bc] = n0 + bc < p.n && k0 + bk < p.k ? p.b[(k0 + bk) * p.n + n0 + bc] : 0.0f;
    __syncthreads();
    for (int k = 0; k < STEP; ++k) {
      const float a0 = as[k][ty * 2], a1 = as[k][ty * 2 + 1];
      const float b0 = bs[k][tx * 2], b1 = bs[k][tx * 2 + 1];
      c00 += a0 * b0, c01 += a0 * b1, c10 += a1 * b0, c11 += a1 * b1;
    }
    __syncthreads();
  }
  const int row = m0 + ty * 2, col = n0 + tx * 2;
  if (row < p.m && col < p.n) p.c[row * p.n + col] = c00;
  if (row < p.m && col + 1 < p.n) p.c[row * p.n + col + 1] = c01;
  if (row + 1 < p.m && col < p.n) p.c[(row + 1) * p.n + col] = c10;
  if (row + 1 < p.m && col + 1 < p.n) p.c[(row + 1) * p.n + col + 1] = c11;
}

// ---- convolutions

struct ConvShape {
  int n, h, w, c, k, oh, ow, stride, pad;
};

// NHWC, R x R filters as (k, r, s, c), ReLU. 64 pixels x 32 filters per block, 4 x 2 a thread.
template <int R>
__global__ void __launch_bounds__(256)
    conv_nhwc(const float* __restrict__ x, const float* __restrict__ filter,
              const float* __restrict__ bias, float* __restrict__ y, ConvShape s) {
  constexpr int PIXELS = 64, FILTERS = 32, STEP = 8;
  __shared__ float xs[STEP][PIXELS + 4], fs[STEP][FILTERS + 4];
  const int pixel0 = blockIdx.x * PIXELS, filter0 = blockIdx.y * FILTERS;
  const int pixels = s.n * s.oh * s.ow, inner = R * R * s.c;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float acc[4][2] = {};
  for (int k0 = 0; k0 < inner; k0 += STEP) {
#pragma unroll
    for (int i = 0; i < PIXELS * STEP / 256; ++i) {
      const int e = threadIdx.x + i * 256, kk = e % STEP, p = e / STEP;
      const int k = k0 + kk, ch = k % s.c, rs = k / s.c, dx = rs % R, dy = rs / R;
      const int pixel = pixel0 + p, ox = pixel % s.ow, oy = pixel / s.ow % s.oh;
      const int image = pixel / (s.ow * s.oh);
      const int ix = ox * s.stride - s.pad + dx, iy = oy * s.stride - s.pad + dy;
      const bool inside = pixel < pixels && k < inner && ix >= 0 && ix < s.w && iy >= 0 && iy < s.h;
      xs[kk][p] = inside ? x[((image * s.h + iy) * s.w + ix) * s.c + ch] : 0.0f;
    }
    {
      const int kk = threadIdx.x % STEP, f = threadIdx.x / STEP;
      fs[kk][f] =
          filter0 + f < s.k && k0 + kk < inner ? filter[(filter0 + f) * inner + k0 + kk] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < STEP; ++kk) {
      const float4 a = *reinterpret_cast<const float4*>(&xs[kk][ty * 4]);
      const float2 b = *reinterpret_cast<const float2*>(&fs[kk][tx * 2]);
      acc[0][0] += a.x * b.x, acc[0][1] += a.x * b.y;
      acc[1][0] += a.y * b.x, acc[1][1] += a.y * b.y;
      acc[2][0] += a.z * b.x, acc[2][1] += a.z * b.y;
      acc[3][0] += a.w * b.x, acc[3][1] += a.w * b.y;
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int pixel = pixel0 + ty * 4 + i, f = filter0 + tx * 2 + j;
      if (pixel < pixels && f < s.k) y[pixel * s.k + f] = fmaxf(acc[i][j] + bias[f], 0.0f);
    }
}

// ---- tensor cores and copies in flight

// 64 x 64 per block, four warps of 32 x 32; the next tile is loaded into registers meanwhile.
__global__ void __launch_bounds__(128)
    wmma_double_buffer(const __half* __restrict__ a, const __half* __restrict__ b,
                       float* __restrict__ c, int n, int k) {
  using namespace nvcuda;
  constexpr int STEP = 32;
  __shared__ __align__(16) __half as[2][64][STEP + 8], bs[2][STEP][64 + 8];
  const int t = threadIdx.x, warp = t / 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
  const int m0 = blockIdx.y * 64, n0 = blockIdx.x * 64;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(acc[i][j], 0.0f);
  int4 ra[2], rb[2];
  auto fetch = [&](int k0) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int e = t + i * 128;
      ra[i] = *reinterpret_cast<const int4*>(&a[(m0 + e / 4) * k + k0 + e % 4 * 8]);
      rb[i] = *reinterpret_cast<const int4*>(&b[(k0 + e / 8) * n + n0 + e % 8 * 8]);
    }
  };
  auto keep = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int e = t + i * 128;
      *reinterpret_cast<int4*>(&as[buffer][e / 4][e % 4 * 8]) = ra[i];
      *reinterpret_cast<int4*>(&bs[buffer][e / 8][e % 8 * 8]) = rb[i];
    }
  };
  fetch(0);
  keep(0);
  __syncthreads();
  int now = 0;
  for (int k0 = 0; k0 < k; k0 += STEP) {
    if (k0 + STEP < k) fetch(k0 + STEP);
#pragma unroll
    for (int kk = 0; kk < STEP; kk += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb[2];
      for (int i = 0; i < 2; ++i)
        wmma::load_matrix_sync(fa[i], &as[now][wm + 16 * i][kk], STEP + 8);
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(fb[j], &bs[now][kk][wn + 16 * j], 64 + 8);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
    }
    if (k0 + STEP < k) keep(now ^ 1);
    __syncthreads();
    now ^= 1;
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(&c[(m0 + wm + 16 * i) * n + n0 + wn + 16 * j], acc[i][j], n,
                              wmma::mem_row_major);
}

// A ring of three tiles that asynchronous copies fill; 64 x 64 per block, 4 x 4 a thread.
template <int STAGES>
__global__ void __launch_bounds__(256)
    sgemm_copy_ring(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                    int n, int k) {
  constexpr int STEP = 16;
  __shared__ __align__(16) float as[STAGES][64][STEP], bs[STAGES][STEP][64];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const int m0 = blockIdx.y * 64, n0 = blockIdx.x * 64, tiles = k / STEP;
  const auto copy = [&](int tile) {
    if (tile < tiles) {
      const int stage = tile % STAGES;
      __pipeline_memcpy_async(&as[stage][t / 4][t % 4 * 4],
                              &a[(m0 + t / 4) * k + tile * STEP + t % 4 * 4], 16);
      __pipeline_memcpy_async(&bs[stage][t / 16][t % 16 * 4],
                              &b[(tile * STEP + t / 16) * n + n0 + t % 16 * 4], 16);
    }
    __pipeline_commit();
  };
  for (int s = 0; s < STAGES - 1; ++s) copy(s);
  float acc[4][4] = {};
  for (int tile = 0; tile < tiles; ++tile) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    copy(tile + STAGES - 1);
    const int stage = tile % STAGES;
#pragma unroll
    for (int kk = 0; kk < STEP; ++kk) {
      float x[4];
      for (int i = 0; i < 4; ++i) x[i] = as[stage][ty * 4 + i][kk];
      const float4 y = *reinterpret_cast<const float4*>(&bs[stage][kk][tx * 4]);
      for (int i = 0; i < 4; ++i) {
        acc[i][0] += x[i] * y.x;
        acc[i][1] += x[i] * y.y;
        acc[i][2] += x[i] * y.z;
        acc[i][3] += x[i] * y.w;
      }
    }
  }
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<float4*>(&c[(m0 + ty * 4 + i) * n + n0 + tx * 4]) =
        make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

// ---- launches

static void attention(int heads, int T) {
  constexpr int D = 32;
  const std::vector<float> q = some_floats(heads * T * D, 1), k = some_floats(heads * T * D, 2),
                           v = some_floats(heads * T * D, 3);
  float* out = upload(std::vector<float>(heads * T * D));
  attention_causal<D>
      <<<dim3((T + 31) / 32, heads), 128>>>(upload(q), upload(k), upload(v), out, T, 0.125f);
  expect(with("attention_causal", heads, T, D), out, q.size(), [&](std::size_t i) {
    const std::size_t head = i / D / T * T, row = i / D % T;
    double sum = 0, result = 0;
    for (std::size_t j = 0; j <= row; ++j) {
      double s = 0;
      for (int x = 0; x < D; ++x) s += double(q[i / D * D + x]) * k[(head + j) * D + x];
      s = std::exp(0.125 * s);
      sum += s, result += s * v[(head + j) * D + i % D];
    }
    return result / sum;
  });
}

static void bytes(int m, int n, int k) {
  std::vector<int8_t> a(m * k), b(n * k);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<int8_t>(i * 29 % 255 - 127);
  for (int i = 0; i < n * k; ++i) b[i] = static_cast<int8_t>(i * 53 % 255 - 127);
  std::vector<float> sa(m), sb(n);
  for (int i = 0; i < m; ++i) sa[i] = 0.001f * float(i % 5 + 1);
  for (int i = 0; i < n; ++i) sb[i] = 0.002f * float(i % 3 + 1);
  __half* c = upload(std::vector<__half>(m * n));
  gemm_w8a8<<<dim3((n + 63) / 64, (m + 63) / 64), 256>>>(upload(a), upload(b), upload(sa),
                                                         upload(sb), c, m, n, k);
  expect(with("gemm_w8a8", m, n, k), c, m * n, [&](std::size_t i) {
    int s = 0;
    for (int x = 0; x < k; ++x) s += a[i / n * k + x] * b[i % n * k + x];
    return __half2float(__float2half(float(s) * sa[i / n] * sb[i % n]));
  });
  std::vector<unsigned> packed(m * k / 8);
  std::vector<float2> scales(m * k / 32);
  for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = unsigned(i) * 2654435761u;
  for (std::size_t i = 0; i < scales.size(); ++i)
    scales[i] = make_float2(0.01f * float(i % 7 + 1), float(i % 4 + 6));
  const std::vector<float> x = some_floats(k, 4);
  float* y = upload(std::vector<float>(m));
  gemv_w4<<<(m + 3) / 4, dim3(32, 4)>>>(upload(packed), upload(scales), upload(x), y, m, k);
  expect(with("gemv_w4", m, 1, k), y, m, [&](std::size_t r) {
    double s = 0;
    for (int j = 0; j < k; ++j) {
      const float2 by = scales[(r * k + j) / 32];
      s += (double(packed[(r * k + j) / 8] >> (4 * (j % 8)) & 15u) - by.y) * by.x * x[j];
    }
    return s;
  });
}

static double product(const std::vector<float>& a, const std::vector<float>& b, int n, int k,
                      std::size_t i) {
  double s = 0;
  for (int x = 0; x < k; ++x) s += double(a[i / n * k + x]) * b[x * n + i % n];
  return s;
}

static void group(const std::vector<int>& rows, int n, int k) {
  int all = 0;
  for (int m : rows) all += m;
  const std::vector<float> a = some_floats(all * k, 5), b = some_floats(rows.size() * k * n, 6);
  const float *da = upload(a), *db = upload(b);
  float* c = upload(std::vector<float>(all * n));
  std::vector<Group> groups;
  std::vector<int> first = {0}, of_row;
  for (std::size_t g = 0; g < rows.size(); ++g) {
    const std::size_t row = of_row.size();
    groups.push_back({da + row * k, db + g * k * n, c + row * n, rows[g], n, k});
    first.push_back(first.back() + (rows[g] + 31) / 32 * ((n + 31) / 32));
    of_row.insert(of_row.end(), rows[g], int(g));
  }
  grouped_gemm<<<first.back(), 256>>>(upload(groups), upload(first), int(rows.size()));
  expect(with("grouped_gemm", all, n, k), c, all * n, [&](std::size_t i) {
    double s = 0;
    for (int x = 0; x < k; ++x)
      s += double(a[i / n * k + x]) * b[(of_row[i / n] * k + x) * n + i % n];
    return s;
  });
}

template <int R>
static void convolution(ConvShape s) {
  s.oh = (s.h + 2 * s.pad - R) / s.stride + 1;
  s.ow = (s.w + 2 * s.pad - R) / s.stride + 1;
  const std::vector<float> x = some_floats(s.n * s.h * s.w * s.c, 7),
                           f = some_floats(s.k * R * R * s.c, 8), bias = some_floats(s.k, 9);
  const int pixels = s.n * s.oh * s.ow;
  float* y = upload(std::vector<float>(pixels * s.k));
  conv_nhwc<R><<<dim3((pixels + 63) / 64, (s.k + 31) / 32), 256>>>(upload(x), upload(f),
                                                                   upload(bias), y, s);
  expect(with("conv_nhwc", pixels, s.k, R * R * s.c), y, pixels * s.k, [&](std::size_t i) {
    const int filter = int(i) % s.k, pixel = int(i) / s.k, ox = pixel % s.ow,
              oy = pixel / s.ow % s.oh, image = pixel / s.ow / s.oh;
    double sum = bias[filter];
    for (int dy = 0; dy < R; ++dy)
      for (int dx = 0; dx < R; ++dx) {
        const int ix = ox * s.stride - s.pad + dx, iy = oy * s.stride - s.pad + dy;
        if (ix < 0 || ix >= s.w || iy < 0 || iy >= s.h) continue;
        for (int c = 0; c < s.c; ++c)
          sum += double(x[((image * s.h + iy) * s.w + ix) * s.c + c]) *
                 f[((filter * R + dy) * R + dx) * s.c + c];
      }
    return std::max(sum, 0.0);
  });
}

static void tiles(int m, int n, int k) {
  const std::vector<float> a = some_floats(m * k, 10), b = some_floats(k * n, 11);
  std::vector<__half> ha, hb;
  for (float v : a) ha.push_back(__float2half(v));
  for (float v : b) hb.push_back(__float2half(v));
  const auto right = [&](std::size_t i) { return product(a, b, n, k, i); };
  float *c = upload(std::vector<float>(m * n)), *d = upload(std::vector<float>(m * n));
  wmma_double_buffer<<<dim3(n / 64, m / 64), 128>>>(upload(ha), upload(hb), c, n, k);
  expect(with("wmma_double_buffer", m, n, k), c, m * n, right);
  sgemm_copy_ring<3><<<dim3(n / 64, m / 64), 256>>>(upload(a), upload(b), d, n, k);
  expect(with("sgemm_copy_ring", m, n, k), d, m * n, right);
}

int main() {
  attention(2, 64);
  attention(1, 75);
  bytes(64, 64, 128);
  bytes(70, 45, 256);
  group({32, 64, 32}, 64, 32);
  group({5, 40, 17, 33}, 48, 21);
  convolution<3>({2, 8, 8, 8, 32, 0, 0, 1, 1});
  convolution<3>({1, 13, 11, 5, 40, 0, 0, 2, 1});
  tiles(64, 128, 64);
  tiles(128, 64, 96);
  return 0;
}
