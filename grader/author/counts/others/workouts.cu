// Exercises and serving kernels that keep most of their traffic in shared memory. See kernels.hpp.
#include "grader/author/counts/others/kernels.hpp"

static std::string with(const char* kernel, int a, int b) {
  return std::string(kernel) + ", " + std::to_string(a) + " x " + std::to_string(b);
}

// A step of a ladder: a block's tile of 64 x 64, a warp's of 32 x 32 in two halves, a thread's of 4 x 4 in each.
__global__ void __launch_bounds__(128)
    sgemm_warp_tiles(int M, int N, int K, const float* A, const float* B, float* C) {
  constexpr int BM = 64, BN = 64, BK = 8, WM = 32, WN = 32, WSUBM = 16, TM = 4, TN = 4;
  __shared__ float As[BM * BK], Bs[BK * BN];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warpRow = warp / (BN / WN), warpCol = warp % (BN / WN);
  const int threadCol = lane % (WN / TN), threadRow = lane / (WN / TN);
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += (blockIdx.y * BM + warpRow * WM) * N + blockIdx.x * BN + warpCol * WN;
  const int innerRowA = threadIdx.x / (BK / 4), innerColA = threadIdx.x % (BK / 4);
  const int innerRowB = threadIdx.x / (BN / 4), innerColB = threadIdx.x % (BN / 4);
  float results[2 * TM * TN] = {0.0f}, regM[2 * TM] = {0.0f}, regN[TN] = {0.0f};
  for (int bk = 0; bk < K; bk += BK) {
    const float4 a = reinterpret_cast<const float4*>(&A[innerRowA * K + innerColA * 4])[0];
    As[(innerColA * 4 + 0) * BM + innerRowA] = a.x;
    As[(innerColA * 4 + 1) * BM + innerRowA] = a.y;
    As[(innerColA * 4 + 2) * BM + innerRowA] = a.z;
    As[(innerColA * 4 + 3) * BM + innerRowA] = a.w;
    reinterpret_cast<float4*>(&Bs[innerRowB * BN + innerColB * 4])[0] =
        reinterpret_cast<const float4*>(&B[innerRowB * N + innerColB * 4])[0];
    __syncthreads();
    for (int dot = 0; dot < BK; ++dot) {
      for (int half = 0; half < 2; ++half)
        for (int i = 0; i < TM; ++i)
          regM[half * TM + i] = As[dot * BM + warpRow * WM + half * WSUBM + threadRow * TM + i];
      for (int i = 0; i < TN; ++i) regN[i] = Bs[dot * BN + warpCol * WN + threadCol * TN + i];
      for (int half = 0; half < 2; ++half)
        for (int m = 0; m < TM; ++m)
          for (int n = 0; n < TN; ++n)
            results[(half * TM + m) * TN + n] += regM[half * TM + m] * regN[n];
    }
    A += BK;
    B += BK * N;
    __syncthreads();
  }
  for (int half = 0; half < 2; ++half)
    for (int m = 0; m < TM; ++m)
      for (int n = 0; n < TN; ++n)
        C[(half * WSUBM + threadRow * TM + m) * N + threadCol * TN + n] =
            results[(half * TM + m) * TN + n];
}

// Each block keeps its tile of M while it goes through four tiles of N.
__global__ void matmul_coarsened(const float* M, const float* N, float* P, int width) {
  constexpr int TILE = 16, COARSE = 4;
  __shared__ float Mds[TILE][TILE], Nds[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, colStart = blockIdx.x * TILE * COARSE + tx;
  float Pvalue[COARSE];
  for (int c = 0; c < COARSE; ++c) Pvalue[c] = 0.0f;
  for (int ph = 0; ph < (width + TILE - 1) / TILE; ++ph) {
    const int k = ph * TILE;
    Mds[ty][tx] = row < width && k + tx < width ? M[row * width + k + tx] : 0.0f;
    for (int c = 0; c < COARSE; ++c) {
      const int col = colStart + c * TILE;
      Nds[ty][tx] = k + ty < width && col < width ? N[(k + ty) * width + col] : 0.0f;
      __syncthreads();
      for (int i = 0; i < TILE; ++i) Pvalue[c] += Mds[ty][i] * Nds[i][tx];
      __syncthreads();
    }
  }
  for (int c = 0; c < COARSE; ++c) {
    const int col = colStart + c * TILE;
    if (row < width && col < width) P[row * width + col] = Pvalue[c];
  }
}

// A section of eight elements per thread: each thread its own, then the threads' sums, then both together.
__global__ void scan_three_phases(const float* in, float* out, int n) {
  constexpr int PER = 8, THREADS = 128, SECTION = PER * THREADS;
  __shared__ float section[SECTION], ends[THREADS];
  const int t = threadIdx.x, base = blockIdx.x * SECTION;
  for (int j = 0; j < PER; ++j) {
    const int i = base + j * THREADS + t;
    section[j * THREADS + t] = i < n ? in[i] : 0.0f;
  }
  __syncthreads();
  for (int j = 1; j < PER; ++j) section[t * PER + j] += section[t * PER + j - 1];
  __syncthreads();
  ends[t] = section[t * PER + PER - 1];
  for (int stride = 1; stride < THREADS; stride *= 2) {
    __syncthreads();
    float temp = ends[t];
    if (t >= stride) temp += ends[t - stride];
    __syncthreads();
    ends[t] = temp;
  }
  __syncthreads();
  if (t > 0)
    for (int j = 0; j < PER; ++j) section[t * PER + j] += ends[t - 1];
  __syncthreads();
  for (int j = 0; j < PER; ++j) {
    const int i = base + j * THREADS + t;
    if (i < n) out[i] = section[j * THREADS + t];
  }
}

__device__ int co_rank_shared(int k, const int* a, int m, const int* b, int n) {
  int i = k < m ? k : m, j = k - i;
  int i_low = k - n > 0 ? k - n : 0, j_low = k - m > 0 ? k - m : 0;
  while (true) {
    if (i > 0 && j < n && a[i - 1] > b[j]) {
      const int delta = (i - i_low + 1) >> 1;
      j_low = j;
      j += delta;
      i -= delta;
    } else if (j > 0 && i < m && b[j - 1] >= a[i]) {
      const int delta = (j - j_low + 1) >> 1;
      i_low = i;
      i += delta;
      j -= delta;
    } else {
      return i;
    }
  }
}

// One block merges two sorted lists through tiles in shared memory.
__global__ void merge_tiles(const int* a, int m, const int* b, int n, int* c) {
  constexpr int TILE = 256;
  __shared__ int tile_a[TILE], tile_b[TILE];
  const int t = threadIdx.x, per = TILE / blockDim.x;
  int done_a = 0, done_b = 0;
  for (int done = 0; done < m + n; done += TILE) {
    const int here_a = min(TILE, m - done_a), here_b = min(TILE, n - done_b);
    for (int i = t; i < here_a; i += blockDim.x) tile_a[i] = a[done_a + i];
    for (int i = t; i < here_b; i += blockDim.x) tile_b[i] = b[done_b + i];
    __syncthreads();
    const int total = min(TILE, m + n - done);
    const int k = min(t * per, total), k_next = min(k + per, total);
    int i = co_rank_shared(k, tile_a, here_a, tile_b, here_b), j = k - i;
    const int i_end = co_rank_shared(k_next, tile_a, here_a, tile_b, here_b),
              j_end = k_next - i_end;
    for (int o = k; o < k_next; ++o)
      c[done + o] = j >= j_end || (i < i_end && tile_a[i] <= tile_b[j]) ? tile_a[i++] : tile_b[j++];
    const int used_a = co_rank_shared(total, tile_a, here_a, tile_b, here_b);
    done_a += used_a;
    done_b += total - used_a;
    __syncthreads();
  }
}

// Attention of one query over pages of keys and values; a warp takes every fourth page, the logits stay shared.
template <int D, int PAGE>
__global__ void paged_attention(float* __restrict__ out, const float* __restrict__ q,
                                const float* __restrict__ k_cache,
                                const float* __restrict__ v_cache, const int* __restrict__ tables,
                                const int* __restrict__ lengths, int most_pages, float scale) {
  extern __shared__ float logits[];
  __shared__ float query[D], red[8], partial[4][D];
  const int seq = blockIdx.x, t = threadIdx.x, warp = t / 32, lane = t % 32;
  const int length = lengths[seq], pages = (length + PAGE - 1) / PAGE;
  for (int i = t; i < D; i += blockDim.x) query[i] = q[seq * D + i];
  __syncthreads();
  float qk_max = -3.4e38f;
  for (int p = warp; p < pages; p += 4) {
    const float* k = k_cache + static_cast<long>(tables[seq * most_pages + p]) * PAGE * D;
    for (int token = 0; token < PAGE; ++token) {
      float qk = 0.0f;
      for (int i = lane; i < D; i += 32) qk += query[i] * k[token * D + i];
      for (int mask = 16; mask >= 1; mask /= 2) qk += __shfl_xor_sync(0xffffffff, qk, mask);
      const int at = p * PAGE + token;
      if (lane == 0) {
        logits[at] = at >= length ? 0.0f : qk * scale;
        qk_max = at >= length ? qk_max : fmaxf(qk_max, qk * scale);
      }
    }
  }
  for (int mask = 16; mask >= 1; mask /= 2)
    qk_max = fmaxf(qk_max, __shfl_xor_sync(0xffffffff, qk_max, mask));
  if (lane == 0) red[warp] = qk_max;
  __syncthreads();
  qk_max = lane < 4 ? red[lane] : -3.4e38f;
  for (int mask = 2; mask >= 1; mask /= 2)
    qk_max = fmaxf(qk_max, __shfl_xor_sync(0xffffffff, qk_max, mask));
  qk_max = __shfl_sync(0xffffffff, qk_max, 0);
  float sum = 0.0f;
  for (int i = t; i < length; i += blockDim.x) {
    const float value = __expf(logits[i] - qk_max);
    logits[i] = value;
    sum += value;
  }
  for (int mask = 16; mask >= 1; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
  if (lane == 0) red[4 + warp] = sum;
  __syncthreads();
  sum = red[4] + red[5] + red[6] + red[7];
  const float inverse = __fdividef(1.0f, sum + 1e-6f);
  float acc[D / 32];
  for (int i = 0; i < D / 32; ++i) acc[i] = 0.0f;
  for (int p = warp; p < pages; p += 4) {
    const float* v = v_cache + static_cast<long>(tables[seq * most_pages + p]) * PAGE * D;
    for (int token = 0; token < PAGE && p * PAGE + token < length; ++token) {
      const float weight = logits[p * PAGE + token] * inverse;
      for (int i = 0; i < D / 32; ++i) acc[i] += weight * v[token * D + i * 32 + lane];
    }
  }
  for (int i = 0; i < D / 32; ++i) partial[warp][i * 32 + lane] = acc[i];
  __syncthreads();
  for (int i = t; i < D; i += blockDim.x)
    out[seq * D + i] = partial[0][i] + partial[1][i] + partial[2][i] + partial[3][i];
}

// Four threads to a query's row, 16 keys to a tile; the row's state stays in registers.
template <int D>
__global__ void __launch_bounds__(64)
    flash_quads(const float4* __restrict__ q, const float4* __restrict__ k,
                const float4* __restrict__ v, float4* __restrict__ out, int n, float scale) {
  constexpr int D4 = D / 4, ROWS = 16, KEYS = 16;
  __shared__ float4 qs[ROWS][D4 + 1], ks[KEYS][D4 + 1], vs[KEYS][D4];
  __shared__ float ps[ROWS][KEYS + 1];
  const int t = threadIdx.x, row = t / 4, part = t % 4, base = blockIdx.x * ROWS;
  for (int i = t; i < ROWS * D4; i += 64) qs[i / D4][i % D4] = q[(base + i / D4) * D4 + i % D4];
  float4 o[D4 / 4];
#pragma unroll
  for (int i = 0; i < D4 / 4; ++i) o[i] = make_float4(0, 0, 0, 0);
  float most = -INFINITY, sum = 0.0f;
  for (int tile = 0; tile < n; tile += KEYS) {
    __syncthreads();
    for (int i = t; i < KEYS * D4; i += 64) {
      ks[i / D4][i % D4] = k[(tile + i / D4) * D4 + i % D4];
      vs[i / D4][i % D4] = v[(tile + i / D4) * D4 + i % D4];
    }
    __syncthreads();
    float s[4], tile_most = -INFINITY;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float dot = 0.0f;
#pragma unroll
      for (int i = 0; i < D4; ++i) {
        const float4 a = qs[row][i], b = ks[part * 4 + j][i];
        dot += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
      }
      s[j] = dot * scale;
      tile_most = fmaxf(tile_most, s[j]);
    }
    tile_most = fmaxf(tile_most, __shfl_xor_sync(0xffffffff, tile_most, 1, 4));
    tile_most = fmaxf(tile_most, __shfl_xor_sync(0xffffffff, tile_most, 2, 4));
    const float now = fmaxf(most, tile_most), keep = __expf(most - now);
    float tile_sum = 0.0f;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float p = __expf(s[j] - now);
      ps[row][part * 4 + j] = p;
      tile_sum += p;
    }
    tile_sum += __shfl_xor_sync(0xffffffff, tile_sum, 1, 4);
    tile_sum += __shfl_xor_sync(0xffffffff, tile_sum, 2, 4);
    sum = sum * keep + tile_sum;
    most = now;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < D4 / 4; ++i) {
      o[i].x *= keep;
      o[i].y *= keep;
      o[i].z *= keep;
      o[i].w *= keep;
    }
    for (int j = 0; j < KEYS; ++j) {
      const float p = ps[row][j];
#pragma unroll
      for (int i = 0; i < D4 / 4; ++i) {
        const float4 w = vs[j][i * 4 + part];
        o[i].x += p * w.x;
        o[i].y += p * w.y;
        o[i].z += p * w.z;
        o[i].w += p * w.w;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < D4 / 4; ++i)
    out[(base + row) * D4 + i * 4 + part] =
        make_float4(o[i].x / sum, o[i].y / sum, o[i].z / sum, o[i].w / sum);
}

template <class T>
__device__ void swap_values(T& a, T& b) {
  T kept = a;
  a = b;
  b = kept;
}

// The order of a row's elements, padded to a power of two: a thread per column.
template <bool ASCENDING>
__global__ void argsort_rows(const float* x, int* order, int columns, int padded) {
  const int col = threadIdx.x, row = blockIdx.y;
  const float* const values = x + row * columns;
  extern __shared__ int places[];
  places[col] = col;
  __syncthreads();
  for (int k = 2; k <= padded; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      const int other = col ^ j;
      if (other > col) {
        if ((col & k) == 0) {
          if (places[col] >= columns || (places[other] < columns &&
                                         (ASCENDING ? values[places[col]] > values[places[other]]
                                                    : values[places[col]] < values[places[other]])))
            swap_values(places[col], places[other]);
        } else {
          if (places[other] >= columns ||
              (places[col] < columns && (ASCENDING ? values[places[col]] < values[places[other]]
                                                   : values[places[col]] > values[places[other]])))
            swap_values(places[col], places[other]);
        }
      }
      __syncthreads();
    }
  }
  if (col < columns) order[row * columns + col] = places[col];
}

// A warp per row; weight and bias are shared by the block's rows, and each row waits in shared memory too.
__global__ void layernorm_shared_rows(float* __restrict__ out, const float* __restrict__ in,
                                      const float* __restrict__ weight,
                                      const float* __restrict__ bias, int rows, int C) {
  extern __shared__ float4 params[];
  float4* const s_weight = params;
  float4* const s_bias = params + C / 4;
  float4* const s_in = params + (2 + threadIdx.y) * (C / 4);
  for (int i = threadIdx.y * 32 + threadIdx.x; i < C / 4; i += 32 * blockDim.y) {
    s_weight[i] = reinterpret_cast<const float4*>(weight)[i];
    s_bias[i] = reinterpret_cast<const float4*>(bias)[i];
  }
  __syncthreads();
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < C / 4; c += 32) {
    const float4 x = reinterpret_cast<const float4*>(in + row * C)[c];
    sum += x.x + x.y + x.z + x.w;
    s_in[c] = x;
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  const float mean = sum / C;
  float square = 0.0f;
  for (int c = threadIdx.x; c < C / 4; c += 32) {
    const float4 x = s_in[c];
    square += (x.x - mean) * (x.x - mean) + (x.y - mean) * (x.y - mean) +
              (x.z - mean) * (x.z - mean) + (x.w - mean) * (x.w - mean);
  }
  for (int d = 16; d > 0; d /= 2) square += __shfl_xor_sync(0xffffffff, square, d);
  const float s = rsqrtf(square / C + 1e-5f);
  for (int c = threadIdx.x; c < C / 4; c += 32) {
    const float4 x = s_in[c], w = s_weight[c], b = s_bias[c];
    reinterpret_cast<float4*>(out + row * C)[c] =
        make_float4(s * (x.x - mean) * w.x + b.x, s * (x.y - mean) * w.y + b.y,
                    s * (x.z - mean) * w.z + b.z, s * (x.w - mean) * w.w + b.w);
  }
}

// A selective state-space layer: a thread per channel, B and C of 16 steps at a time in shared memory.
template <int STATES>
__global__ void ssm_scan(const float* __restrict__ x, const float* __restrict__ dt,
                         const float* __restrict__ A, const float* __restrict__ B,
                         const float* __restrict__ C, float* __restrict__ y, int steps,
                         int channels) {
  __shared__ float sB[16][STATES], sC[16][STATES];
  const int channel = blockIdx.x * blockDim.x + threadIdx.x;
  float state[STATES], decay[STATES];
#pragma unroll
  for (int n = 0; n < STATES; ++n) {
    state[n] = 0.0f;
    decay[n] = A[channel * STATES + n];
  }
  for (int first = 0; first < steps; first += 16) {
    const int here = min(16, steps - first);
    for (int i = threadIdx.x; i < here * STATES; i += blockDim.x) {
      sB[i / STATES][i % STATES] = B[first * STATES + i];
      sC[i / STATES][i % STATES] = C[first * STATES + i];
    }
    __syncthreads();
    for (int s = 0; s < here; ++s) {
      const float u = x[(first + s) * channels + channel], d = dt[(first + s) * channels + channel];
      float sum = 0.0f;
#pragma unroll
      for (int n = 0; n < STATES; ++n) {
        state[n] = state[n] * __expf(d * decay[n]) + d * u * sB[s][n];
        sum += state[n] * sC[s][n];
      }
      y[(first + s) * channels + channel] = sum;
    }
    __syncthreads();
  }
}

struct BlockQ8 {
  __half scale;
  signed char q[32];
};

// Rows of blocks of 32 quantised weights; the activations wait in shared memory, a warp per row.
__global__ void gemv_q8(const BlockQ8* __restrict__ w, const float* __restrict__ x,
                        float* __restrict__ y, int rows, int blocks) {
  extern __shared__ float xs[];
  const int t = threadIdx.y * 32 + threadIdx.x;
  for (int i = t; i < blocks * 32; i += 32 * blockDim.y) xs[i] = x[i];
  __syncthreads();
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int b = threadIdx.x / 4; b < blocks; b += 8) {
    const BlockQ8& block = w[row * blocks + b];
    const int first = threadIdx.x % 4 * 8;
    float part = 0.0f;
    for (int i = 0; i < 8; ++i) part += block.q[first + i] * xs[b * 32 + first + i];
    sum += part * __half2float(block.scale);
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (threadIdx.x == 0) y[row] = sum;
}

static float product(const std::vector<float>& a, const std::vector<float>& b, int n, int k,
                     std::size_t i) {
  float sum = 0;
  for (int x = 0; x < k; ++x) sum += a[i / n * k + x] * b[x * n + i % n];
  return sum;
}

static void products(int m, int n, int k) {
  const std::vector<float> a = some_floats(m * k, 1), b = some_floats(k * n, 2);
  float* c = upload(std::vector<float>(m * n));
  sgemm_warp_tiles<<<dim3(n / 64, m / 64), 128>>>(m, n, k, upload(a), upload(b), c);
  expect(with("sgemm_warp_tiles", m, n), c, m * n,
         [&](std::size_t i) { return product(a, b, n, k, i); });
}

static void squares(int width) {
  const std::vector<float> a = some_floats(width * width, 3), b = some_floats(width * width, 4);
  float* c = upload(std::vector<float>(width * width));
  matmul_coarsened<<<dim3((width + 63) / 64, (width + 15) / 16), dim3(16, 16)>>>(
      upload(a), upload(b), c, width);
  expect(with("matmul_coarsened", width, width), c, width * width,
         [&](std::size_t i) { return product(a, b, width, width, i); });
}

static void scans(int n) {
  const std::vector<float> in = some_floats(n, 5);
  float* out = upload(std::vector<float>(n));
  scan_three_phases<<<(n + 1023) / 1024, 128>>>(upload(in), out, n);
  expect(with("scan_three_phases", n, 8), out, n, [&](std::size_t i) {
    float sum = 0;
    for (std::size_t x = i / 1024 * 1024; x <= i; ++x) sum += in[x];
    return sum;
  });
}

static void merges(int m, int n, int threads) {
  std::vector<int> a(m), b(n), all;
  for (int i = 0; i < m; ++i) a[i] = i * 7 % 1024 + i * 2;
  for (int i = 0; i < n; ++i) b[i] = i * 13 % 512 + i * 3;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  int* c = upload(std::vector<int>(m + n));
  merge_tiles<<<1, threads>>>(upload(a), m, upload(b), n, c);
  expect(with("merge_tiles", m, n), c, m + n, [&](std::size_t i) { return all[i]; });
}

template <int D, int PAGE>
static void pages(const std::vector<int>& lengths) {
  const int most = 12, sequences = int(lengths.size());
  std::vector<int> tables(sequences * most);
  for (int i = 0; i < sequences * most; ++i) tables[i] = i * 5 % (sequences * most);
  const std::vector<float> q = some_floats(sequences * D, 6),
                           k = some_floats(sequences * most * PAGE * D, 7),
                           v = some_floats(sequences * most * PAGE * D, 8);
  float* out = upload(std::vector<float>(sequences * D));
  paged_attention<D, PAGE><<<sequences, 128, most * PAGE * 4>>>(
      out, upload(q), upload(k), upload(v), upload(tables), upload(lengths), most, 0.05f);
  expect(with("paged_attention", D, PAGE), out, sequences * D, [&](std::size_t i) {
    const int s = int(i) / D, c = int(i) % D;
    double sum = 0, value = 0;
    for (int token = 0; token < lengths[s]; ++token) {
      const int at = (tables[s * most + token / PAGE] * PAGE + token % PAGE) * D;
      double qk = 0;
      for (int x = 0; x < D; ++x) qk += q[s * D + x] * k[at + x];
      const double p = std::exp(qk * 0.05);
      sum += p;
      value += p * v[at + c];
    }
    return value / sum;
  });
}

template <int D>
static void attentions(int n) {
  const std::vector<float> q = some_floats(n * D, 9), k = some_floats(n * D, 10),
                           v = some_floats(n * D, 11);
  float* out = upload(std::vector<float>(n * D));
  const auto vectors = [](float* p) { return reinterpret_cast<float4*>(p); };
  flash_quads<D><<<n / 16, 64>>>(vectors(upload(q)), vectors(upload(k)), vectors(upload(v)),
                                 vectors(out), n, 0.05f);
  expect(with("flash_quads", n, D), out, n * D, [&](std::size_t i) {
    const int row = int(i) / D, c = int(i) % D;
    double sum = 0, value = 0;
    for (int key = 0; key < n; ++key) {
      double qk = 0;
      for (int x = 0; x < D; ++x) qk += q[row * D + x] * k[key * D + x];
      const double p = std::exp(qk * 0.05);
      sum += p;
      value += p * v[key * D + c];
    }
    return value / sum;
  });
}

template <bool ASCENDING>
static void orders(int rows, int columns, int padded) {
  std::vector<float> x(rows * columns);
  for (int i = 0; i < rows * columns; ++i)
    x[i] = float(i / columns * 31 + i % columns * 37 % 1021) / 8;
  int* order = upload(std::vector<int>(rows * columns));
  argsort_rows<ASCENDING><<<dim3(1, rows), padded, padded * 4>>>(upload(x), order, columns, padded);
  expect(with("argsort_rows", rows, columns), order, rows * columns, [&](std::size_t i) {
    std::vector<int> sorted(columns);
    for (int c = 0; c < columns; ++c) sorted[c] = c;
    const float* row = &x[i / columns * columns];
    std::sort(sorted.begin(), sorted.end(),
              [&](int a, int b) { return ASCENDING ? row[a] < row[b] : row[a] > row[b]; });
    return sorted[i % columns];
  });
}

static void norms(int rows, int C) {
  const std::vector<float> x = some_floats(rows * C, 12), w = some_floats(C, 13),
                           b = some_floats(C, 14);
  float* out = upload(std::vector<float>(rows * C));
  layernorm_shared_rows<<<(rows + 3) / 4, dim3(32, 4), 6 * C * 4>>>(out, upload(x), upload(w),
                                                                    upload(b), rows, C);
  expect(with("layernorm_shared_rows", rows, C), out, rows * C, [&](std::size_t i) {
    const float* row = &x[i / C * C];
    double mean = 0, square = 0;
    for (int c = 0; c < C; ++c) mean += row[c];
    mean /= C;
    for (int c = 0; c < C; ++c) square += (row[c] - mean) * (row[c] - mean);
    return (x[i] - mean) / std::sqrt(square / C + 1e-5) * w[i % C] + b[i % C];
  });
}

template <int STATES>
static void states(int steps, int channels) {
  const std::vector<float> x = some_floats(steps * channels, 15),
                           B = some_floats(steps * STATES, 16), C = some_floats(steps * STATES, 17);
  std::vector<float> dt = some_floats(steps * channels, 18), A = some_floats(channels * STATES, 19);
  for (float& d : dt) d = std::fabs(d) / 8;
  for (float& a : A) a = -std::fabs(a);
  float* y = upload(std::vector<float>(steps * channels));
  ssm_scan<STATES><<<channels / 64, 64>>>(upload(x), upload(dt), upload(A), upload(B), upload(C), y,
                                          steps, channels);
  expect(with("ssm_scan", steps, STATES), y, steps * channels, [&](std::size_t i) {
    const int channel = int(i) % channels, last = int(i) / channels;
    double sum = 0;
    for (int n = 0; n < STATES; ++n) {
      double h = 0;
      for (int s = 0; s <= last; ++s)
        h = h * std::exp(dt[s * channels + channel] * A[channel * STATES + n]) +
            dt[s * channels + channel] * x[s * channels + channel] * B[s * STATES + n];
      sum += h * C[last * STATES + n];
    }
    return sum;
  });
}

static void quantised(int rows, int blocks) {
  std::vector<BlockQ8> w(rows * blocks);
  for (int i = 0; i < rows * blocks; ++i) {
    w[i].scale = __float2half(float(i % 7 + 1) / 64);
    for (int j = 0; j < 32; ++j)
      w[i].q[j] = static_cast<signed char>((i * 11 + j * 29) % 255 - 127);
  }
  const std::vector<float> x = some_floats(blocks * 32, 20);
  float* y = upload(std::vector<float>(rows));
  gemv_q8<<<(rows + 3) / 4, dim3(32, 4), blocks * 128>>>(upload(w), upload(x), y, rows, blocks);
  expect(with("gemv_q8", rows, blocks), y, rows, [&](std::size_t row) {
    float sum = 0;
    for (int b = 0; b < blocks; ++b)
      for (int j = 0; j < 32; ++j)
        sum += __half2float(w[row * blocks + b].scale) * w[row * blocks + b].q[j] * x[b * 32 + j];
    return sum;
  });
}

int main() {
  products(64, 128, 40);
  products(128, 64, 24);
  squares(64);
  squares(75);
  scans(1024);
  scans(2500);
  merges(300, 500, 128);
  merges(333, 178, 64);
  pages<64, 16>({50, 128});
  pages<128, 8>({33, 71, 90});
  attentions<32>(64);
  attentions<64>(48);
  orders<true>(3, 64, 64);
  orders<false>(2, 200, 256);
  norms(10, 256);
  norms(5, 384);
  states<16>(40, 64);
  states<8>(33, 128);
  quantised(10, 16);
  quantised(7, 12);
  return 0;
}
