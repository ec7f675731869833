// Twenty kernels in the manner of public code, one launch each. See kernels.hpp.
#include "grader/author/counts/others/kernels.hpp"

// ---- products of matrices

__global__ void sgemm_naive(int m, int n, int k, const float* a, const float* b, float* c) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= m) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[y * k + i] * b[i * n + x];
  c[y * n + x] = sum;
}

template <int Tile>
__global__ void sgemm_tiled(int n, int k, const float* a, const float* b, float* c) {
  __shared__ float as[Tile * Tile], bs[Tile * Tile];
  const int row = threadIdx.x / Tile, col = threadIdx.x % Tile;
  a += blockIdx.x * Tile * k;
  b += blockIdx.y * Tile;
  c += blockIdx.x * Tile * n + blockIdx.y * Tile;
  float sum = 0;
  for (int at = 0; at < k; at += Tile) {
    as[row * Tile + col] = a[row * k + col];
    bs[row * Tile + col] = b[row * n + col];
    __syncthreads();
    a += Tile;
    b += Tile * n;
    for (int i = 0; i < Tile; ++i) sum += as[row * Tile + i] * bs[i * Tile + col];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

template <int BM, int BN, int BK, int TM, int TN>
__global__ void sgemm_registers(int n, int k, const float* a, const float* b, float* c) {
  __shared__ float as[BM * BK], bs[BK * BN];
  const int threads = (BM / TM) * (BN / TN);
  const int tc = threadIdx.x % (BN / TN), tr = threadIdx.x / (BN / TN);
  a += blockIdx.y * BM * k;
  b += blockIdx.x * BN;
  c += blockIdx.y * BM * n + blockIdx.x * BN;
  float sums[TM * TN] = {0.0f}, ra[TM] = {0.0f}, rb[TN] = {0.0f};
  for (int at = 0; at < k; at += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += threads) as[i] = a[(i / BK) * k + i % BK];
    for (int i = threadIdx.x; i < BK * BN; i += threads) bs[i] = b[(i / BN) * n + i % BN];
    __syncthreads();
    a += BK;
    b += BK * n;
    for (int d = 0; d < BK; ++d) {
      for (int i = 0; i < TM; ++i) ra[i] = as[(tr * TM + i) * BK + d];
      for (int i = 0; i < TN; ++i) rb[i] = bs[d * BN + tc * TN + i];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sums[i * TN + j] += ra[i] * rb[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) c[(tr * TM + i) * n + tc * TN + j] = sums[i * TN + j];
}

template <int BM, int BN, int BK, int TM, int TN>
__global__ void sgemm_vectors(int n, int k, float* a, float* b, float* c) {
  __shared__ float as[BM * BK], bs[BK * BN];
  const int tc = threadIdx.x % (BN / TN), tr = threadIdx.x / (BN / TN);
  a += blockIdx.y * BM * k;
  b += blockIdx.x * BN;
  c += blockIdx.y * BM * n + blockIdx.x * BN;
  const int ar = threadIdx.x / (BK / 4), ac = threadIdx.x % (BK / 4);
  const int br = threadIdx.x / (BN / 4), bc = threadIdx.x % (BN / 4);
  float sums[TM * TN] = {0.0f}, ra[TM], rb[TN];
  for (int at = 0; at < k; at += BK) {
    float4 t = reinterpret_cast<float4*>(&a[ar * k + ac * 4])[0];
    as[(ac * 4 + 0) * BM + ar] = t.x;
    as[(ac * 4 + 1) * BM + ar] = t.y;
    as[(ac * 4 + 2) * BM + ar] = t.z;
    as[(ac * 4 + 3) * BM + ar] = t.w;
    reinterpret_cast<float4*>(&bs[br * BN + bc * 4])[0] =
        reinterpret_cast<float4*>(&b[br * n + bc * 4])[0];
    __syncthreads();
    a += BK;
    b += BK * n;
    for (int d = 0; d < BK; ++d) {
      for (int i = 0; i < TM; ++i) ra[i] = as[d * BM + tr * TM + i];
      for (int i = 0; i < TN; ++i) rb[i] = bs[d * BN + tc * TN + i];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sums[i * TN + j] += ra[i] * rb[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; j += 4) {
      float4 t = {sums[i * TN + j], sums[i * TN + j + 1], sums[i * TN + j + 2],
                  sums[i * TN + j + 3]};
      reinterpret_cast<float4*>(&c[(tr * TM + i) * n + tc * TN + j])[0] = t;
    }
}

static void products() {
  const int n = 128;
  const std::vector<float> a = some_floats(n * n, 1), b = some_floats(n * n, 2);
  std::vector<double> want(n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) want[i * n + j] += double(a[i * n + k]) * b[k * n + j];
  float *da = upload(a), *db = upload(b), *dc = upload(std::vector<float>(n * n));
  const auto right = [&](std::size_t i) { return want[i]; };
  sgemm_naive<<<dim3(4, 4), dim3(32, 32)>>>(n, n, n, da, db, dc);
  expect("sgemm_naive", dc, n * n, right);
  sgemm_tiled<32><<<dim3(4, 4), 1024>>>(n, n, da, db, dc);
  expect("sgemm_tiled", dc, n * n, right);
  sgemm_registers<64, 64, 8, 8, 8><<<dim3(2, 2), 64>>>(n, n, da, db, dc);
  expect("sgemm_registers", dc, n * n, right);
  sgemm_vectors<128, 128, 8, 8, 8><<<dim3(1, 1), 256>>>(n, n, da, db, dc);
  expect("sgemm_vectors", dc, n * n, right);
}

// ---- reductions and scans

__global__ void reduce_interleaved(const float* in, float* out) {
  extern __shared__ float sums[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  sums[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

__inline__ __device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}

__global__ void reduce_shuffles(const float4* in, float* out, int n4) {
  __shared__ float parts[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  sum = warp_sum(sum);
  if (lane == 0) parts[warp] = sum;
  __syncthreads();
  sum = threadIdx.x < blockDim.x / 32 ? parts[lane] : 0;
  if (warp == 0) sum = warp_sum(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

__global__ void scan_hillis_steele(const float* in, float* out, int n) {
  extern __shared__ float two[];
  int from = 0, to = 1;
  const int t = threadIdx.x;
  two[t] = in[blockIdx.x * n + t];
  __syncthreads();
  for (int offset = 1; offset < n; offset *= 2) {
    const int swapped = from;
    from = to, to = swapped;
    two[from * n + t] = t >= offset ? two[to * n + t] + two[to * n + t - offset] : two[to * n + t];
    __syncthreads();
  }
  out[blockIdx.x * n + t] = two[from * n + t];
}

__global__ void scan_blelloch(const float* in, float* out, int n) {
  extern __shared__ float tree[];
  const int t = threadIdx.x;
  int offset = 1;
  tree[2 * t] = in[2 * t];
  tree[2 * t + 1] = in[2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) tree[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      const int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
      const float left = tree[i];
      tree[i] = tree[j];
      tree[j] += left;
    }
  }
  __syncthreads();
  out[2 * t] = tree[2 * t];
  out[2 * t + 1] = tree[2 * t + 1];
}

static void reductions() {
  const int n = 1 << 13;
  const std::vector<float> in = some_floats(n, 3);
  float *din = upload(in), *out = upload(std::vector<float>(n));
  reduce_interleaved<<<n / 512, 256, 1024>>>(din, out);
  expect("reduce_interleaved", out, n / 512, [&](std::size_t b) {
    double s = 0;
    for (int i = 0; i < 512; ++i) s += in[b * 512 + i];
    return s;
  });
  check(cudaMemset(out, 0, 4), "cudaMemset");
  reduce_shuffles<<<4, 256>>>(reinterpret_cast<const float4*>(din), out, n / 4);
  expect("reduce_shuffles", out, 1, [&](std::size_t) {
    double s = 0;
    for (float v : in) s += v;
    return s;
  });
  scan_hillis_steele<<<n / 512, 512, 4096>>>(din, out, 512);
  expect("scan_hillis_steele", out, n, [&](std::size_t i) {
    double s = 0;
    for (std::size_t j = i / 512 * 512; j <= i; ++j) s += in[j];
    return s;
  });
  scan_blelloch<<<1, 512, 4096>>>(din, out, 1024);
  expect("scan_blelloch", out, 1024, [&](std::size_t i) {
    double s = 0;
    for (std::size_t j = 0; j < i; ++j) s += in[j];
    return s;
  });
}

// ---- transposes, histograms, stencils

__global__ void transpose_naive(float* out, const float* in, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[x * n + y + j] = in[(y + j) * n + x];
}

__global__ void transpose_padded(float* out, const float* in, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void histogram_shared(const unsigned* in, unsigned* bins, int n) {
  __shared__ unsigned mine[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    for (int byte = 0; byte < 4; ++byte) atomicAdd(&mine[in[i] >> (8 * byte) & 255u], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}

__constant__ float weights[9];

__global__ void stencil_1d(const float* in, float* out) {
  __shared__ float line[256 + 8];
  const int g = blockIdx.x * blockDim.x + threadIdx.x + 4, l = threadIdx.x + 4;
  line[l] = in[g];
  if (threadIdx.x < 4) {
    line[l - 4] = in[g - 4];
    line[l + 256] = in[g + 256];
  }
  __syncthreads();
  float sum = 0;
  for (int o = -4; o <= 4; ++o) sum += weights[o + 4] * line[l + o];
  out[g - 4] = sum;
}

__global__ void stencil_2d(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] +
                           in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

static void grids() {
  const int n = 128;
  const std::vector<float> in = some_floats(n * n, 4);
  float *din = upload(in), *out = upload(std::vector<float>(n * n));
  const auto turned = [&](std::size_t i) { return in[i % n * n + i / n]; };
  transpose_naive<<<dim3(4, 4), dim3(32, 8)>>>(out, din, n);
  expect("transpose_naive", out, n * n, turned);
  transpose_padded<<<dim3(4, 4), dim3(32, 8)>>>(out, din, n);
  expect("transpose_padded", out, n * n, turned);
  std::vector<unsigned> words(4096), count(256);
  unsigned seed = 5;
  for (unsigned& w : words) w = seed = seed * 1664525u + 1013904223u;
  for (unsigned w : words)
    for (int b = 0; b < 32; b += 8) ++count[w >> b & 255u];
  unsigned *dw = upload(words), *bins = upload(std::vector<unsigned>(256));
  histogram_shared<<<4, 256>>>(dw, bins, 4096);
  expect("histogram_shared", bins, 256, [&](std::size_t i) { return count[i]; });
  float w[9];
  for (int i = 0; i < 9; ++i) w[i] = 0.1f * static_cast<float>(i + 1);
  check(cudaMemcpyToSymbol(weights, w, sizeof w), "cudaMemcpyToSymbol");
  stencil_1d<<<32, 256>>>(din, out);
  expect("stencil_1d", out, 8192, [&](std::size_t i) {
    double s = 0;
    for (int o = 0; o < 9; ++o) s += double(w[o]) * in[i + o];
    return s;
  });
  check(cudaMemset(out, 0, n * n * 4), "cudaMemset");
  stencil_2d<<<dim3(4, 16), dim3(32, 8)>>>(din, out, n);
  expect("stencil_2d", out, n * n, [&](std::size_t i) {
    const std::size_t x = i % n, y = i / n;
    if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return 0.0;
    return 0.2 * (double(in[i]) + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
  });
}

// ---- rows, as networks have them

__global__ void softmax_block(const float* in, float* out, int n) {
  __shared__ float part[256];
  const float* x = in + blockIdx.x * n;
  float most = -INFINITY;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, x[i]);
  part[threadIdx.x] = most;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + s]);
    __syncthreads();
  }
  most = part[0];
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(x[i] - most);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = expf(x[i] - most) / part[0];
}

__global__ void layernorm_warp(const float* in, float* out, int n) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0, squares = 0;
  for (int i = lane; i < n; i += 32) {
    const float v = in[row * n + i];
    sum += v;
    squares += v * v;
  }
  for (int o = 16; o > 0; o /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, o);
    squares += __shfl_xor_sync(0xffffffff, squares, o);
  }
  const float mean = sum / n, scale = rsqrtf(squares / n - mean * mean + 1e-5f);
  for (int i = lane; i < n; i += 32) out[row * n + i] = (in[row * n + i] - mean) * scale;
}

struct alignas(16) Packed {
  __half v[8];
};

__global__ void residual_packed(const Packed* a, const Packed* b, Packed* out) {
  __shared__ Packed staged[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  staged[threadIdx.x] = a[i];
  __syncthreads();
  const Packed x = staged[threadIdx.x ^ 1], y = b[i ^ 1];
  Packed sum;
  for (int k = 0; k < 8; ++k) sum.v[k] = __float2half(__half2float(x.v[k]) + __half2float(y.v[k]));
  out[i] = sum;
}

struct alignas(16) Particle {
  float x, y, z, mass;
};

__global__ void nbody_tile(const Particle* all, float* out, int n) {
  __shared__ Particle tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Particle me = all[i];
  float sum = 0;
  for (int at = 0; at < n; at += 128) {
    tile[threadIdx.x] = all[at + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 128; ++k) {
      const float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
      sum += tile[k].mass * (dx * dx + dy * dy + dz * dz);
    }
    __syncthreads();
  }
  out[i] = sum;
}

__global__ void attention_row(const float* q, const float* k, const float* v, float* out, int n) {
  __shared__ float scores[128], row[64];
  const int t = threadIdx.x;
  if (t < 64) row[t] = q[blockIdx.x * 64 + t];
  __syncthreads();
  float score = 0;
  for (int d = 0; d < 64; ++d) score += row[d] * k[t * 64 + d];
  scores[t] = score * 0.01f;
  __syncthreads();
  if (t >= 64) return;
  float most = -INFINITY, sum = 0, result = 0;
  for (int j = 0; j < n; ++j) most = fmaxf(most, scores[j]);
  for (int j = 0; j < n; ++j) {
    const float p = expf(scores[j] - most);
    sum += p;
    result += p * v[j * 64 + t];
  }
  out[blockIdx.x * 64 + t] = result / sum;
}

__global__ void spmv_csr(int rows, const int* begin, const int* column, const float* value,
                         const float* x, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = begin[row]; i < begin[row + 1]; ++i) sum += value[i] * x[column[i]];
  y[row] = sum;
}

__global__ void local_window(const float* in, float* out, const int* order) {
  float window[16];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 16; ++k) window[k] = in[i * 16 + k];
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += window[order[k]] * static_cast<float>(k);
  out[i] = sum;
}

static void networks() {
  const int n = 512, rows = 16;
  const std::vector<float> in = some_floats(n * rows, 6);
  float *din = upload(in), *out = upload(std::vector<float>(n * rows));
  softmax_block<<<rows, 256>>>(din, out, n);
  expect("softmax_block", out, n * rows, [&](std::size_t i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += std::exp(double(in[i / n * n + j]));
    return std::exp(double(in[i])) / sum;
  });
  layernorm_warp<<<rows / 4, 128>>>(din, out, n);
  expect("layernorm_warp", out, n * rows, [&](std::size_t i) {
    double sum = 0, squares = 0;
    for (int j = 0; j < n; ++j)
      sum += in[i / n * n + j], squares += double(in[i / n * n + j]) * in[i / n * n + j];
    return (in[i] - sum / n) / std::sqrt(squares / n - sum / n * sum / n + 1e-5);
  });
  std::vector<__half> halves(n * rows);
  for (int i = 0; i < n * rows; ++i) halves[i] = __float2half(in[i]);
  __half *dh = upload(halves), *oh = upload(std::vector<__half>(n * rows));
  residual_packed<<<n * rows / 1024, 128>>>(
      reinterpret_cast<Packed*>(dh), reinterpret_cast<Packed*>(dh), reinterpret_cast<Packed*>(oh));
  expect("residual_packed", oh, n * rows, [&](std::size_t i) { return 2 * in[i ^ 8]; });
  nbody_tile<<<4, 128>>>(reinterpret_cast<Particle*>(din), out, 512);
  expect("nbody_tile", out, 512, [&](std::size_t i) {
    double s = 0;
    for (int k = 0; k < 512; ++k) {
      double d = 0;
      for (int c = 0; c < 3; ++c) d += std::pow(double(in[k * 4 + c]) - in[i * 4 + c], 2);
      s += in[k * 4 + 3] * d;
    }
    return s;
  });
  attention_row<<<8, 128>>>(din, din, din, out, 128);
  expect("attention_row", out, 8 * 64, [&](std::size_t i) {
    double sum = 0, result = 0;
    for (int j = 0; j < 128; ++j) {
      double s = 0;
      for (int d = 0; d < 64; ++d) s += double(in[i / 64 * 64 + d]) * in[j * 64 + d];
      sum += std::exp(s * 0.01), result += std::exp(s * 0.01) * in[j * 64 + i % 64];
    }
    return result / sum;
  });
  std::vector<int> begin = {0}, column;
  for (int r = 0; r < 1000; ++r) {
    for (int k = 0; k < r * 7 % 13; ++k) column.push_back((r * 31 + k * 97) % 1000);
    begin.push_back(static_cast<int>(column.size()));
  }
  int *db = upload(begin), *dcol = upload(column);
  spmv_csr<<<8, 128>>>(1000, db, dcol, din, din, out);
  expect("spmv_csr", out, 1000, [&](std::size_t r) {
    double s = 0;
    for (int i = begin[r]; i < begin[r + 1]; ++i) s += double(in[i]) * in[column[i]];
    return s;
  });
  std::vector<int> order(16);
  for (int k = 0; k < 16; ++k) order[k] = k * 5 % 16;
  int* dorder = upload(order);
  local_window<<<2, 256>>>(din, out, dorder);
  expect("local_window", out, 512, [&](std::size_t i) {
    double s = 0;
    for (int k = 0; k < 16; ++k) s += double(in[i * 16 + order[k]]) * k;
    return s;
  });
}

int main() {
  products();
  reductions();
  grids();
  networks();
  return 0;
}
