// Kernels of physics, linear algebra, signals and pictures as people bring them from their own work. See kernels.hpp.
#include "grader/author/counts/others/kernels.hpp"

static std::string with(const char* kernel, int n) {
  return std::string(kernel) + ", " + std::to_string(n);
}

// ---- fields

constexpr int kTile = 16;

__global__ void heat_halo(const float* now, float* later, int w, int h, float k) {
  __shared__ float s[kTile + 2][kTile + 2];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * kTile + tx, y = blockIdx.y * kTile + ty;
  const bool inside = x < w && y < h;
  s[ty + 1][tx + 1] = inside ? now[y * w + x] : 0.0f;
  if (tx == 0) s[ty + 1][0] = x > 0 && y < h ? now[y * w + x - 1] : 0.0f;
  if (tx == kTile - 1) s[ty + 1][kTile + 1] = x + 1 < w && y < h ? now[y * w + x + 1] : 0.0f;
  if (ty == 0) s[0][tx + 1] = y > 0 && x < w ? now[(y - 1) * w + x] : 0.0f;
  if (ty == kTile - 1) s[kTile + 1][tx + 1] = y + 1 < h && x < w ? now[(y + 1) * w + x] : 0.0f;
  __syncthreads();
  if (!inside) return;
  const float c = s[ty + 1][tx + 1];
  later[y * w + x] =
      c + k * (s[ty][tx + 1] + s[ty + 2][tx + 1] + s[ty + 1][tx] + s[ty + 1][tx + 2] - 4.0f * c);
}

// Marches along z with three planes in registers.
__global__ void wave_march(const float* u, const float* before, float* out, int nx, int ny,
                           int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  const int plane = nx * ny;
  int at = y * nx + x;
  float below = u[at], here = u[at + plane];
  for (int z = 1; z < nz - 1; ++z) {
    at += plane;
    const float above = u[at + plane];
    const float around = u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx];
    out[at] = 2.0f * here - before[at] + 0.1f * (above + below + around - 6.0f * here);
    below = here;
    here = above;
  }
}

__global__ void lattice_step(const float* from, float* to, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w) return;
  const int dx[5] = {0, 1, -1, 0, 0}, dy[5] = {0, 0, 0, 1, -1};
  float f[5], rho = 0.0f;
  for (int q = 0; q < 5; ++q) {
    const int sx = (x - dx[q] + w) % w, sy = (y - dy[q] + h) % h;
    f[q] = from[(q * h + sy) * w + sx];
    rho += f[q];
  }
  for (int q = 0; q < 5; ++q) {
    const float equal = rho * (q == 0 ? 1.0f / 3 : 1.0f / 6);
    to[(q * h + y) * w + x] = f[q] + 0.5f * (equal - f[q]);
  }
}

static void fields(int w, int h) {
  const std::vector<float> u = some_floats(w * h * 6, 3), v = some_floats(w * h * 6, 4);
  float *du = upload(u), *dv = upload(v), *out = upload(std::vector<float>(w * h * 6));
  const auto at = [&](int x, int y) {
    return x < 0 || y < 0 || x >= w || y >= h ? 0.0f : u[y * w + x];
  };
  heat_halo<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(du, out, w, h, 0.2f);
  expect(with("heat_halo", w), out, w * h, [&](std::size_t i) {
    const int x = i % w, y = i / w;
    return at(x, y) +
           0.2 * (at(x, y - 1) + at(x, y + 1) + at(x - 1, y) + at(x + 1, y) - 4.0 * at(x, y));
  });
  const int nz = 6, plane = w * h;
  check(cudaMemset(out, 0, plane * nz * sizeof(float)), "cudaMemset");
  wave_march<<<dim3((w + 31) / 32, (h + 3) / 4), dim3(32, 4)>>>(du, dv, out, w, h, nz);
  expect(with("wave_march", w), out, plane * nz, [&](std::size_t i) -> double {
    const int x = i % w, y = i / w % h, z = static_cast<int>(i) / plane;
    if (x < 1 || y < 1 || z < 1 || x >= w - 1 || y >= h - 1 || z >= nz - 1) return 0.0;
    return 2.0 * u[i] - v[i] +
           0.1 * (u[i + plane] + u[i - plane] + u[i - 1] + u[i + 1] + u[i - w] + u[i + w] -
                  6.0 * u[i]);
  });
  lattice_step<<<dim3((w + 63) / 64, h), 64>>>(du, out, w, h);
  expect(with("lattice_step", w), out, 5 * plane, [&](std::size_t i) {
    const int dx[5] = {0, 1, -1, 0, 0}, dy[5] = {0, 0, 0, 1, -1};
    const int x = i % w, y = i / w % h, q = static_cast<int>(i) / plane;
    double rho = 0, own = 0;
    for (int k = 0; k < 5; ++k) {
      const double f = u[(k * h + (y - dy[k] + h) % h) * w + (x - dx[k] + w) % w];
      rho += f;
      if (k == q) own = f;
    }
    return own + 0.5 * (rho * (q == 0 ? 1.0 / 3 : 1.0 / 6) - own);
  });
}

// ---- linear algebra

// One step of an LU decomposition without pivoting: column k is done, the rest is brought up to date.
__global__ void lu_update(float* a, int n, int k) {
  __shared__ float row[32], factor[8];
  const int j = k + 1 + blockIdx.x * 32 + threadIdx.x, i = k + 1 + blockIdx.y * 8 + threadIdx.y;
  if (threadIdx.y == 0 && j < n) row[threadIdx.x] = a[k * n + j];
  if (threadIdx.x == 0 && i < n) factor[threadIdx.y] = a[i * n + k] / a[k * n + k];
  __syncthreads();
  if (i < n && j < n) a[i * n + j] -= factor[threadIdx.y] * row[threadIdx.x];
}

// L x = b, one block: x is made known element by element.
__global__ void forward_substitution(const float* l, const float* b, float* x, int n) {
  extern __shared__ float known[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) known[i] = b[i];
  __syncthreads();
  for (int k = 0; k < n; ++k) {
    const float value = known[k] / l[k * n + k];
    __syncthreads();
    for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) known[i] -= l[i * n + k] * value;
    if (threadIdx.x == 0) x[k] = value;
    __syncthreads();
  }
}

__global__ void dot_double(const double* x, const double* y, double* sum, int n) {
  __shared__ double partial[8];
  double own = 0.0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    own += x[i] * y[i];
  for (int step = 16; step > 0; step >>= 1) own += __shfl_xor_sync(0xffffffffu, own, step);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    double all = 0.0;
    for (int i = 0; i < blockDim.x / 32; ++i) all += partial[i];
    sum[blockIdx.x] = all;
  }
}

// The lower half of a symmetric matrix, packed by rows: element (i, j) at i (i + 1) / 2 + j.
__global__ void symmetric_packed(const float* a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < n; ++j) {
    const int row = i > j ? i : j, col = i > j ? j : i;
    sum += a[row * (row + 1) / 2 + col] * x[j];
  }
  y[i] = sum;
}

// Eight lanes work on a row.
__global__ void spmv_lanes(const int* begin, const int* column, const float* value, const float* x,
                           float* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
  float sum = 0.0f;
  if (row < rows)
    for (int k = begin[row] + lane; k < begin[row + 1]; k += 8) sum += value[k] * x[column[k]];
#pragma unroll
  for (int step = 4; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step, 8);
  if (row < rows && lane == 0) y[row] = sum;
}

static void algebra(int n) {
  std::vector<float> a = some_floats(n * n, 5);
  for (int i = 0; i < n; ++i) a[i * n + i] = 8.0f;
  const std::vector<float> x = some_floats(n, 6);
  float *da = upload(a), *dx = upload(x), *dy = upload(std::vector<float>(n));
  forward_substitution<<<1, 64, n * sizeof(float)>>>(da, dx, dy, n);
  std::vector<double> want(n);
  for (int i = 0; i < n; ++i) {
    want[i] = x[i];
    for (int k = 0; k < i; ++k) want[i] -= a[i * n + k] * want[k];
    want[i] /= a[i * n + i];
  }
  expect(with("forward_substitution", n), dy, n, [&](std::size_t i) { return want[i]; });
  const int packed = n * (n + 1) / 2;
  symmetric_packed<<<(n + 63) / 64, 64>>>(da, dx, dy, n);
  (void)packed;
  expect(with("symmetric_packed", n), dy, n, [&](std::size_t i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      const int row = std::max<int>(i, j), col = std::min<int>(i, j);
      sum += static_cast<double>(a[row * (row + 1) / 2 + col]) * x[j];
    }
    return sum;
  });
  const int k = n / 3;
  lu_update<<<dim3((n - k - 1 + 31) / 32, (n - k - 1 + 7) / 8), dim3(32, 8)>>>(da, n, k);
  expect(with("lu_update", n), da, n * n, [&](std::size_t i) -> double {
    const int row = i / n, col = i % n;
    if (row <= k || col <= k) return a[i];
    return a[i] - a[row * n + k] / a[k * n + k] * a[k * n + col];
  });

  std::vector<double> p(n * 9), q(n * 9);
  for (int i = 0; i < n * 9; ++i) p[i] = i % 7 - 3, q[i] = i % 5;
  double *dp = upload(p), *dq = upload(q), *sums = upload(std::vector<double>(3));
  dot_double<<<3, 256>>>(dp, dq, sums, n * 9);
  expect(with("dot_double", n), sums, 3, [&](std::size_t block) {
    double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i)
      if (i / 256 % 3 == block) sum += p[i] * q[i];
    return sum;
  });

  std::vector<int> begin = {0}, column;
  std::vector<float> value;
  for (int row = 0; row < n; ++row) {
    for (int j = 0; j < (row * 7) % 21; ++j)
      column.push_back((row * 13 + j * 29) % n), value.push_back(static_cast<float>(j % 4) - 1.0f);
    begin.push_back(static_cast<int>(column.size()));
  }
  int *db = upload(begin), *dc = upload(column);
  float* dv = upload(value);
  spmv_lanes<<<(n * 8 + 127) / 128, 128>>>(db, dc, dv, dx, dy, n);
  expect(with("spmv_lanes", n), dy, n, [&](std::size_t row) {
    double sum = 0;
    for (int j = begin[row]; j < begin[row + 1]; ++j) sum += value[j] * x[column[j]];
    return sum;
  });
}

// ---- signals

// One transform of 256 per block, decimation in time; the input comes in bit-reversed order.
__global__ void fft_256(const float2* in, float2* out) {
  __shared__ float2 s[256];
  const int t = threadIdx.x;  // 128 threads
  const float2* from = in + blockIdx.x * 256;
  s[t] = from[__brev(t) >> 24];
  s[t + 128] = from[__brev(t + 128) >> 24];
  __syncthreads();
  for (int half = 1; half < 256; half *= 2) {
    const int k = t & (half - 1), at = 2 * (t - k) + k;
    float sine, cosine;
    sincosf(-3.14159265358979f * k / half, &sine, &cosine);
    const float2 a = s[at], b = s[at + half];
    const float2 p = {b.x * cosine - b.y * sine, b.x * sine + b.y * cosine};
    s[at] = {a.x + p.x, a.y + p.y};
    s[at + half] = {a.x - p.x, a.y - p.y};
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[t];
  out[blockIdx.x * 256 + t + 128] = s[t + 128];
}

__constant__ float taps[31];
__global__ void fir_31(const float* in, float* out, int n) {
  __shared__ float window[128 + 30];
  const int first = blockIdx.x * 128 - 30;
  for (int i = threadIdx.x; i < 128 + 30; i += 128)
    window[i] = first + i >= 0 && first + i < n ? in[first + i] : 0.0f;
  __syncthreads();
  const int at = blockIdx.x * 128 + threadIdx.x;
  if (at >= n) return;
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 31; ++k) sum += taps[k] * window[threadIdx.x + 30 - k];
  out[at] = sum;
}

__device__ void order(unsigned char& a, unsigned char& b) {
  const unsigned char low = a < b ? a : b;
  b = a < b ? b : a;
  a = low;
}
__global__ void median_3x3(const unsigned char* in, unsigned char* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  unsigned char v[9];
  int n = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      const int cx = min(max(x + dx, 0), w - 1), cy = min(max(y + dy, 0), h - 1);
      v[n++] = in[cy * w + cx];
    }
  for (int i = 0; i < 5; ++i)
    for (int j = i + 1; j < 9; ++j) order(v[i], v[j]);
  out[y * w + x] = v[4];
}

__global__ void sobel(const unsigned char* in, short* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1,
            y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= w - 1 || y >= h - 1) return;
  const unsigned char *above = in + (y - 1) * w + x, *here = in + y * w + x,
                      *below = in + (y + 1) * w + x;
  const int gx = above[1] - above[-1] + 2 * (here[1] - here[-1]) + below[1] - below[-1];
  const int gy = below[-1] + 2 * below[0] + below[1] - above[-1] - 2 * above[0] - above[1];
  out[y * w + x] = static_cast<short>(abs(gx) + abs(gy));
}

__global__ void to_luma(const uchar4* in, uchar4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uchar4 p = in[i];
  const int luma = (66 * p.x + 129 * p.y + 25 * p.z + 128) >> 8;
  out[i] = make_uchar4(luma, (p.x - luma + 256) >> 1, (p.z - luma + 256) >> 1, p.w);
}

static void signals(int n) {
  std::vector<float2> z(256 * 3);
  for (std::size_t i = 0; i < z.size(); ++i)
    z[i] = {static_cast<float>(i % 5) - 2.0f, static_cast<float>(i % 3)};
  float2 *dz = upload(z), *spectrum = upload(std::vector<float2>(z.size()));
  fft_256<<<3, 128>>>(dz, spectrum);
  expect(with("fft_256", n), reinterpret_cast<float*>(spectrum), 2 * z.size(), [&](std::size_t i) {
    const std::size_t block = i / 512, f = i / 2 % 256;
    double re = 0, im = 0;
    for (int t = 0; t < 256; ++t) {
      const double angle = -2 * 3.14159265358979 * (f * t % 256) / 256;
      const float2 v = z[block * 256 + t];
      re += v.x * std::cos(angle) - v.y * std::sin(angle);
      im += v.x * std::sin(angle) + v.y * std::cos(angle);
    }
    return i % 2 == 0 ? re : im;
  });

  const std::vector<float> in = some_floats(n, 7), c = some_floats(31, 8);
  check(cudaMemcpyToSymbol(taps, c.data(), 31 * sizeof(float)), "cudaMemcpyToSymbol");
  float *din = upload(in), *out = upload(std::vector<float>(n));
  fir_31<<<(n + 127) / 128, 128>>>(din, out, n);
  expect(with("fir_31", n), out, n, [&](std::size_t i) {
    double sum = 0;
    for (std::size_t k = 0; k < 31 && k <= i; ++k) sum += c[k] * in[i - k];
    return sum;
  });

  const int w = 50, h = n / w;
  std::vector<unsigned char> picture(w * h);
  for (int i = 0; i < w * h; ++i) picture[i] = static_cast<unsigned char>(i * 37 % 251);
  unsigned char *dp = upload(picture), *filtered = upload(picture);
  const dim3 grid((w + 31) / 32, (h + 7) / 8), block(32, 8);
  median_3x3<<<grid, block>>>(dp, filtered, w, h);
  const auto pixel = [&](int x, int y) {
    return picture[std::clamp(y, 0, h - 1) * w + std::clamp(x, 0, w - 1)];
  };
  expect(with("median_3x3", n), filtered, w * h, [&](std::size_t i) {
    std::vector<unsigned char> v;
    for (int d = 0; d < 9; ++d)
      v.push_back(pixel(static_cast<int>(i) % w + d % 3 - 1, static_cast<int>(i) / w + d / 3 - 1));
    std::sort(v.begin(), v.end());
    return v[4];
  });
  short* edges = upload(std::vector<short>(w * h));
  sobel<<<grid, block>>>(dp, edges, w, h);
  expect(with("sobel", n), edges, w * h, [&](std::size_t i) {
    const int x = static_cast<int>(i) % w, y = static_cast<int>(i) / w;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return 0;
    const auto p = [&](int dx, int dy) { return static_cast<int>(pixel(x + dx, y + dy)); };
    const int gx = p(1, -1) - p(-1, -1) + 2 * (p(1, 0) - p(-1, 0)) + p(1, 1) - p(-1, 1);
    const int gy = p(-1, 1) + 2 * p(0, 1) + p(1, 1) - p(-1, -1) - 2 * p(0, -1) - p(1, -1);
    return std::abs(gx) + std::abs(gy);
  });
  const int pixels = w * h / 4;
  uchar4* luma = upload(std::vector<uchar4>(pixels));
  to_luma<<<(pixels + 127) / 128, 128>>>(reinterpret_cast<uchar4*>(dp), luma, pixels);
  expect(with("to_luma", n), reinterpret_cast<unsigned char*>(luma), pixels * 4,
         [&](std::size_t i) -> int {
           const unsigned char* p = &picture[i / 4 * 4];
           const int y = (66 * p[0] + 129 * p[1] + 25 * p[2] + 128) >> 8;
           const int all[4] = {y, (p[0] - y + 256) >> 1, (p[2] - y + 256) >> 1, p[3]};
           return static_cast<unsigned char>(all[i % 4]);
         });
}

// ---- money, text, tables

__global__ void binomial_tree(const float* spot, float* price, int steps) {
  __shared__ float value[2][129];
  const float up = 1.02f, s = spot[blockIdx.x];
  for (int i = threadIdx.x; i <= steps; i += blockDim.x) {
    const float end = s * powf(up, static_cast<float>(2 * i - steps));
    value[0][i] = fmaxf(end - 100.0f, 0.0f);
  }
  __syncthreads();
  int from = 0;
  for (int left = steps; left > 0; --left) {
    for (int i = threadIdx.x; i < left; i += blockDim.x)
      value[1 - from][i] = 0.49f * value[from][i] + 0.505f * value[from][i + 1];
    from = 1 - from;
    __syncthreads();
  }
  if (threadIdx.x == 0) price[blockIdx.x] = value[from][0];
}

__global__ void black_scholes(const float* s, const float* k, const float* t, float* call, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float root = sqrtf(t[i]), d1 = (logf(s[i] / k[i]) + 0.07f * t[i]) / (0.3f * root);
  const float n1 = 0.5f * erfcf(-d1 * 0.70710678f),
              n2 = 0.5f * erfcf(-(d1 - 0.3f * root) * 0.70710678f);
  call[i] = s[i] * n1 - k[i] * expf(-0.025f * t[i]) * n2;
}

__global__ void crc_rows(const unsigned char* text, const unsigned* table, unsigned* crc,
                         int length, int rows) {
  __shared__ unsigned t[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) t[i] = table[i];
  __syncthreads();
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  unsigned c = 0xffffffffu;
  for (int i = 0; i < length; ++i) c = t[(c ^ text[row * length + i]) & 255] ^ (c >> 8);
  crc[row] = ~c & 0xffff;
}

__global__ void find_word(const char* text, int n, const char* word, int length, int* found) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n - length) return;
  for (int k = 0; k < length; ++k)
    if (text[i + k] != word[k]) return;
  atomicAdd(found, 1);
}

// Open addressing: a key's place is the first free one from its hash on.
__global__ void hash_insert(const unsigned* keys, int n, unsigned* table, unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned at = keys[i] * 2654435761u & mask;
  while (true) {
    const unsigned before = atomicCAS(&table[at], 0u, keys[i]);
    if (before == 0u || before == keys[i]) break;
    at = (at + 1) & mask;
  }
}

__global__ void odd_even_sort(int* data, int n) {
  __shared__ int s[256];
  const int t = threadIdx.x, base = blockIdx.x * 256;
  for (int i = t; i < 256; i += blockDim.x) s[i] = base + i < n ? data[base + i] : 0x7fffffff;
  __syncthreads();
  for (int round = 0; round < 256; ++round) {
    const int i = 2 * t + (round & 1);
    if (i + 1 < 256 && s[i] > s[i + 1]) {
      const int other = s[i];
      s[i] = s[i + 1];
      s[i + 1] = other;
    }
    __syncthreads();
  }
  for (int i = t; i < 256; i += blockDim.x)
    if (base + i < n) data[base + i] = s[i];
}

static void tables(int n) {
  std::vector<float> spot(9), s(n), k(n), t(n);
  for (int i = 0; i < 9; ++i) spot[i] = 92.0f + 2.0f * i;
  for (int i = 0; i < n; ++i) s[i] = 80.0f + i % 40, k[i] = 90.0f + i % 17, t[i] = 0.5f + i % 3;
  float *dspot = upload(spot), *price = upload(spot);
  binomial_tree<<<9, 64>>>(dspot, price, 100);
  expect(with("binomial_tree", n), price, 9, [&](std::size_t b) {
    std::vector<double> v(101);
    for (int i = 0; i <= 100; ++i)
      v[i] = std::max(spot[b] * std::pow(1.02, 2 * i - 100) - 100.0, 0.0);
    for (int left = 100; left > 0; --left)
      for (int i = 0; i < left; ++i) v[i] = 0.49 * v[i] + 0.505 * v[i + 1];
    return v[0];
  });
  float *ds = upload(s), *dk = upload(k), *dt = upload(t), *call = upload(s);
  black_scholes<<<(n + 127) / 128, 128>>>(ds, dk, dt, call, n);
  expect(with("black_scholes", n), call, n, [&](std::size_t i) {
    const double root = std::sqrt(t[i]), d1 = (std::log(s[i] / k[i]) + 0.07 * t[i]) / (0.3 * root);
    return s[i] * 0.5 * std::erfc(-d1 / std::sqrt(2.0)) -
           k[i] * std::exp(-0.025 * t[i]) * 0.5 * std::erfc(-(d1 - 0.3 * root) / std::sqrt(2.0));
  });

  const int length = 37, rows = n / length;
  std::vector<unsigned char> text(n);
  for (int i = 0; i < n; ++i) text[i] = static_cast<unsigned char>("abracadabra "[i * 5 % 12]);
  std::vector<unsigned> table(256);
  for (unsigned i = 0; i < 256; ++i) {
    unsigned c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  unsigned char* dtext = upload(text);
  unsigned *dtable = upload(table), *crc = upload(std::vector<unsigned>(rows));
  crc_rows<<<(rows + 63) / 64, 64>>>(dtext, dtable, crc, length, rows);
  expect(with("crc_rows", n), crc, rows, [&](std::size_t row) {
    unsigned c = 0xffffffffu;
    for (int i = 0; i < length; ++i) c = table[(c ^ text[row * length + i]) & 255] ^ (c >> 8);
    return ~c & 0xffff;
  });
  const std::string word = "acb";
  char* dword = upload(std::vector<char>(word.begin(), word.end()));
  int* found = upload(std::vector<int>(1));
  find_word<<<(n + 127) / 128, 128>>>(reinterpret_cast<char*>(dtext), n, dword, 3, found);
  expect(with("find_word", n), found, 1, [&](std::size_t) {
    int count = 0;
    for (int i = 0; i + 3 <= n; ++i) count += std::equal(word.begin(), word.end(), &text[i]);
    return count;
  });
  std::vector<unsigned> keys(n / 4);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<unsigned>(i * 7 + 1);
  // One key per warp at a time would depend on chance: every key has a place of its own.
  unsigned *dkeys = upload(keys), *places = upload(std::vector<unsigned>(8192));
  hash_insert<<<(static_cast<int>(keys.size()) + 127) / 128, 128>>>(
      dkeys, static_cast<int>(keys.size()), places, 8191u);
  std::vector<unsigned> all = download(places, 8192);
  std::sort(all.begin(), all.end());
  unsigned* sorted = upload(std::vector<unsigned>(all.end() - keys.size(), all.end()));
  expect(with("hash_insert", n), sorted, keys.size(), [&](std::size_t i) { return keys[i]; });
  std::vector<int> numbers(n / 3);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * 7919 % 1000);
  int* data = upload(numbers);
  odd_even_sort<<<(static_cast<int>(numbers.size()) + 255) / 256, 128>>>(
      data, static_cast<int>(numbers.size()));
  std::vector<int> want = numbers;
  for (std::size_t i = 0; i < want.size(); i += 256)
    std::sort(want.begin() + i, want.begin() + std::min(i + 256, want.size()));
  expect(with("odd_even_sort", n), data, numbers.size(), [&](std::size_t i) { return want[i]; });
}

int main() {
  fields(64, 48);
  fields(75, 33);
  algebra(96);
  algebra(131);
  signals(3000);
  signals(1777);
  tables(2048);
  tables(1500);
}
