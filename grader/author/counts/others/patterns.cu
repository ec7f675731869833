// Parallel patterns as courses teach them: maps, stencils, reductions, scans, sorts, graphs. See kernels.hpp.
#include "grader/author/counts/others/kernels.hpp"

static std::string with(const char* kernel, int n) {
  return std::string(kernel) + ", " + std::to_string(n);
}
static unsigned next(unsigned& seed) {
  return seed = seed * 1664525u + 1013904223u;
}

// ---- maps and pictures

__global__ void vec_add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void saxpy_stride(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    y[i] = a * x[i] + y[i];
}

__global__ void to_gray(const uchar3* in, unsigned char* out, int width, int height) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x,
            row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= width || row >= height) return;
  const uchar3 p = in[row * width + col];
  out[row * width + col] = static_cast<unsigned char>((p.x * 77 + p.y * 151 + p.z * 28) >> 8);
}

__global__ void box_blur(const unsigned char* in, unsigned char* out, int w, int h) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x,
            row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col < w && row < h) {
    int sum = 0, pixels = 0;
    for (int dy = -1; dy < 2; ++dy)
      for (int dx = -1; dx < 2; ++dx) {
        const int y = row + dy, x = col + dx;
        if (y > -1 && y < h && x > -1 && x < w) {
          sum += in[y * w + x];
          pixels++;
        }
      }
    out[row * w + col] = static_cast<unsigned char>(sum / pixels);
  }
}

// In integers, so that every machine comes to the same steps.
__host__ __device__ inline int steps_at(int x, int y, int width, int height, int most) {
  const int cr = (3 * x << 12) / width - (2 << 12), ci = (2 * y << 12) / height - (1 << 12);
  int zr = 0, zi = 0, k = 0;
  while (k < most && zr * zr + zi * zi < 4 << 24) {
    const int next = ((zr * zr - zi * zi) >> 12) + cr;
    zi = (2 * zr * zi >> 12) + ci;
    zr = next;
    ++k;
  }
  return k;
}
__global__ void mandelbrot(int* out, int width, int height, int most) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = steps_at(x, y, width, height, most);
}

__global__ void life(const unsigned char* now, unsigned char* later, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w) return;
  const int left = (x + w - 1) % w, right = (x + 1) % w, up = (y + h - 1) % h, down = (y + 1) % h;
  const int around = now[up * w + left] + now[up * w + x] + now[up * w + right] +
                     now[y * w + left] + now[y * w + right] + now[down * w + left] +
                     now[down * w + x] + now[down * w + right];
  later[y * w + x] = around == 3 || (around == 2 && now[y * w + x]);
}

static void maps(int n) {
  const std::vector<float> a = some_floats(n, 1), b = some_floats(n, 2);
  float *da = upload(a), *db = upload(b), *c = upload(std::vector<float>(n));
  vec_add<<<(n + 255) / 256, 256>>>(da, db, c, n);
  expect(with("vec_add", n), c, n, [&](std::size_t i) { return a[i] + b[i]; });
  saxpy_stride<<<8, 128>>>(n, 3.0f, da, db);
  expect(with("saxpy_stride", n), db, n, [&](std::size_t i) { return 3 * a[i] + b[i]; });
}

static void pictures(int w, int h) {
  unsigned seed = 7;
  std::vector<uchar3> pixels(w * h);
  for (uchar3& p : pixels) p = make_uchar3(next(seed) >> 24, next(seed) >> 24, next(seed) >> 24);
  unsigned char *gray = upload(std::vector<unsigned char>(w * h)),
                *blurred = upload(std::vector<unsigned char>(w * h));
  const dim3 block(32, 4), grid((w + 31) / 32, (h + 3) / 4);
  to_gray<<<grid, block>>>(upload(pixels), gray, w, h);
  expect(with("to_gray", w), gray, w * h, [&](std::size_t i) {
    return (pixels[i].x * 77 + pixels[i].y * 151 + pixels[i].z * 28) >> 8;
  });
  const std::vector<unsigned char> in = download(gray, w * h);
  box_blur<<<grid, block>>>(gray, blurred, w, h);
  expect(with("box_blur", w), blurred, w * h, [&](std::size_t i) {
    int sum = 0, count = 0;
    for (int d = 0; d < 9; ++d) {
      const int x = int(i) % w + d % 3 - 1, y = int(i) / w + d / 3 - 1;
      if (x >= 0 && x < w && y >= 0 && y < h) sum += in[y * w + x], ++count;
    }
    return sum / count;
  });
  int* steps = upload(std::vector<int>(w * h));
  mandelbrot<<<grid, block>>>(steps, w, h, 40);
  expect(with("mandelbrot", w), steps, w * h,
         [&](std::size_t i) { return steps_at(int(i) % w, int(i) / w, w, h, 40); });
  std::vector<unsigned char> cells(w * h);
  for (unsigned char& cell : cells) cell = next(seed) >> 31;
  unsigned char* later = upload(std::vector<unsigned char>(w * h));
  life<<<dim3((w + 63) / 64, h), 64>>>(upload(cells), later, w, h);
  expect(with("life", w), later, w * h, [&](std::size_t i) {
    const int x = int(i) % w, y = int(i) / w;
    int around = 0;
    for (int d = 0; d < 9; ++d)
      if (d != 4) around += cells[(y + d / 3 - 1 + h) % h * w + (x + d % 3 - 1 + w) % w];
    return around == 3 || (around == 2 && cells[i]);
  });
}

// ---- convolutions and stencils

#define RADIUS 2
#define IN_TILE 32
#define OUT_TILE (IN_TILE - 2 * RADIUS)
__constant__ float filter[2 * RADIUS + 1][2 * RADIUS + 1];

__global__ void conv_2d_constant(const float* in, float* out, int w, int h) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x,
            row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= w || row >= h) return;
  float sum = 0.0f;
  for (int i = 0; i < 2 * RADIUS + 1; i++)
    for (int j = 0; j < 2 * RADIUS + 1; j++) {
      const int y = row - RADIUS + i, x = col - RADIUS + j;
      if (y >= 0 && y < h && x >= 0 && x < w) sum += filter[i][j] * in[y * w + x];
    }
  out[row * w + col] = sum;
}

__global__ void conv_2d_tiled(const float* in, float* out, int w, int h) {
  const int col = blockIdx.x * OUT_TILE + threadIdx.x - RADIUS;
  const int row = blockIdx.y * OUT_TILE + threadIdx.y - RADIUS;
  __shared__ float tile[IN_TILE][IN_TILE];
  if (row >= 0 && row < h && col >= 0 && col < w)
    tile[threadIdx.y][threadIdx.x] = in[row * w + col];
  else
    tile[threadIdx.y][threadIdx.x] = 0.0;
  __syncthreads();
  const int tileCol = threadIdx.x - RADIUS, tileRow = threadIdx.y - RADIUS;
  if (col >= 0 && col < w && row >= 0 && row < h)
    if (tileCol >= 0 && tileCol < OUT_TILE && tileRow >= 0 && tileRow < OUT_TILE) {
      float sum = 0.0f;
      for (int i = 0; i < 2 * RADIUS + 1; i++)
        for (int j = 0; j < 2 * RADIUS + 1; j++)
          sum += filter[i][j] * tile[tileRow + i][tileCol + j];
      out[row * w + col] = sum;
    }
}

// Planes of z pass through registers.
__global__ void stencil_3d(const float* in, float* out, int n) {
  const int x = blockIdx.x * 14 + threadIdx.x - 1, y = blockIdx.y * 14 + threadIdx.y - 1;
  const bool inside = x >= 0 && x < n && y >= 0 && y < n;
  __shared__ float plane[16][16];
  float before = 0, after = inside ? in[(n + y) * n + x] : 0;
  float here = inside ? in[y * n + x] : 0;
  for (int z = 1; z < n - 1; ++z) {
    before = here;
    here = after;
    after = inside ? in[((z + 1) * n + y) * n + x] : 0;
    plane[threadIdx.y][threadIdx.x] = here;
    __syncthreads();
    if (x >= 1 && x < n - 1 && y >= 1 && y < n - 1 && threadIdx.x >= 1 && threadIdx.x < 15 &&
        threadIdx.y >= 1 && threadIdx.y < 15)
      out[(z * n + y) * n + x] =
          0.4f * here +
          0.1f * (before + after + plane[threadIdx.y][threadIdx.x - 1] +
                  plane[threadIdx.y][threadIdx.x + 1] + plane[threadIdx.y - 1][threadIdx.x] +
                  plane[threadIdx.y + 1][threadIdx.x]);
    __syncthreads();
  }
}

__global__ void jacobi_row(const float* a, const float* b, const float* x, float* next, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0.0f, diagonal = 1.0f;
  for (int j = 0; j < n; ++j)
    if (j != row)
      sum += a[row * n + j] * x[j];
    else
      diagonal = a[row * n + j];
  next[row] = (b[row] - sum) / diagonal;
}

static void convolutions(int w, int h) {
  const std::vector<float> in = some_floats(w * h, 11), weights = some_floats(25, 12);
  check(cudaMemcpyToSymbol(filter, weights.data(), sizeof filter), "cudaMemcpyToSymbol");
  float *din = upload(in), *out = upload(std::vector<float>(w * h));
  const auto right = [&](std::size_t o) {
    double s = 0;
    for (int i = 0; i < 25; ++i) {
      const int x = int(o) % w + i % 5 - 2, y = int(o) / w + i / 5 - 2;
      if (x >= 0 && x < w && y >= 0 && y < h) s += double(weights[i]) * in[y * w + x];
    }
    return s;
  };
  conv_2d_constant<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(din, out, w, h);
  expect(with("conv_2d_constant", w), out, w * h, right);
  conv_2d_tiled<<<dim3((w + OUT_TILE - 1) / OUT_TILE, (h + OUT_TILE - 1) / OUT_TILE),
                  dim3(IN_TILE, IN_TILE)>>>(din, out, w, h);
  expect(with("conv_2d_tiled", w), out, w * h, right);
}

static void volumes(int n) {
  const std::vector<float> in = some_floats(n * n * n, 13);
  float* out = upload(std::vector<float>(n * n * n));
  stencil_3d<<<dim3((n + 13) / 14, (n + 13) / 14), dim3(16, 16)>>>(upload(in), out, n);
  expect(with("stencil_3d", n), out, n * n * n, [&](std::size_t i) {
    const int x = int(i) % n, y = int(i) / n % n, z = int(i) / n / n;
    if (std::min({x, y, z}) < 1 || std::max({x, y, z}) > n - 2) return 0.0;
    return 0.4 * in[i] + 0.1 * (double(in[i - 1]) + in[i + 1] + in[i - n] + in[i + n] +
                                in[i - n * n] + in[i + n * n]);
  });
}

static void solvers(int n) {
  std::vector<float> a = some_floats(n * n, 14);
  for (int i = 0; i < n; ++i) a[i * n + i] = 400.0f;
  const std::vector<float> b = some_floats(n, 15), x = some_floats(n, 16);
  float* next = upload(std::vector<float>(n));
  jacobi_row<<<(n + 63) / 64, 64>>>(upload(a), upload(b), upload(x), next, n);
  expect(with("jacobi_row", n), next, n, [&](std::size_t i) {
    double s = b[i];
    for (int j = 0; j < n; ++j)
      if (j != int(i)) s -= double(a[i * n + j]) * x[j];
    return s / 400;
  });
}

// ---- reductions and scans

#define BLOCK 128
__global__ void reduce_converging(float* in, float* out) {
  const unsigned i = threadIdx.x;
  for (unsigned stride = blockDim.x; stride >= 1; stride /= 2) {
    if (threadIdx.x < stride) in[i] += in[i + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = in[0];
}

#define COARSE 4
__global__ void reduce_coarsened(const float* in, float* out) {
  __shared__ float partial[BLOCK];
  const unsigned segment = COARSE * 2 * blockDim.x * blockIdx.x, i = segment + threadIdx.x;
  float sum = in[i];
  for (unsigned tile = 1; tile < COARSE * 2; ++tile) sum += in[i + tile * BLOCK];
  partial[threadIdx.x] = sum;
  for (unsigned stride = blockDim.x / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) atomicAdd(out, partial[0]);
}

template <unsigned int blockSize>
__global__ void reduce_unrolled(const float* in, float* out, unsigned n) {
  __shared__ float sdata[blockSize];
  const unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * (blockSize * 2) + tid;
  const unsigned gridSize = blockSize * 2 * gridDim.x;
  sdata[tid] = 0;
  while (i < n) {
    sdata[tid] += in[i] + in[i + blockSize];
    i += gridSize;
  }
  __syncthreads();
  if (blockSize >= 256) {
    if (tid < 128) sdata[tid] += sdata[tid + 128];
    __syncthreads();
  }
  if (blockSize >= 128) {
    if (tid < 64) sdata[tid] += sdata[tid + 64];
    __syncthreads();
  }
  if (tid < 32) {
    float v = sdata[tid] + sdata[tid + 32];
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
    if (tid == 0) out[blockIdx.x] = v;
  }
}

__global__ void max_atomic(const int* in, int* out, int n) {
  __shared__ int most;
  if (threadIdx.x == 0) most = -2147483647;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicMax(&most, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(out, most);
}

#define SECTION 256
__global__ void scan_kogge_stone(const float* X, float* Y, unsigned int N) {
  __shared__ float XY[SECTION];
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  XY[threadIdx.x] = i < N ? X[i] : 0.0f;
  for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    float temp;
    if (threadIdx.x >= stride) temp = XY[threadIdx.x] + XY[threadIdx.x - stride];
    __syncthreads();
    if (threadIdx.x >= stride) XY[threadIdx.x] = temp;
  }
  if (i < N) Y[i] = XY[threadIdx.x];
}

__global__ void scan_brent_kung(const float* X, float* Y, unsigned int N) {
  __shared__ float XY[SECTION];
  const unsigned int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) XY[threadIdx.x] = X[i];
  if (i + blockDim.x < N) XY[threadIdx.x + blockDim.x] = X[i + blockDim.x];
  for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    const unsigned int index = (threadIdx.x + 1) * 2 * stride - 1;
    if (index < SECTION) XY[index] += XY[index - stride];
  }
  for (int stride = SECTION / 4; stride > 0; stride /= 2) {
    __syncthreads();
    const unsigned int index = (threadIdx.x + 1) * stride * 2 - 1;
    if (index + stride < SECTION) XY[index + stride] += XY[index];
  }
  __syncthreads();
  if (i < N) Y[i] = XY[threadIdx.x];
  if (i + blockDim.x < N) Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

__global__ void scan_warps(const int* in, int* out, int* sums, int n) {
  __shared__ int warp_sums[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31,
            w = threadIdx.x >> 5;
  const int own = i < n ? in[i] : 0;
  int v = own;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const int u = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += u;
  }
  if (lane == 31) warp_sums[w] = v;
  __syncthreads();
  if (w == 0) {
    int s = lane < blockDim.x / 32 ? warp_sums[lane] : 0;
    for (int d = 1; d < 32; d <<= 1) {
      const int u = __shfl_up_sync(0xffffffff, s, d);
      if (lane >= d) s += u;
    }
    warp_sums[lane] = s;
  }
  __syncthreads();
  if (w > 0) v += warp_sums[w - 1];
  if (i < n) out[i] = v - own;
  if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = v;
}

static void sums(int n) {
  const std::vector<float> in = some_floats(n, 21);
  double all = 0;
  for (float v : in) all += v;
  float *din = upload(in), *out = upload(std::vector<float>(n));
  const auto total = [&](std::size_t) { return all; };
  reduce_coarsened<<<n / (BLOCK * 2 * COARSE), BLOCK>>>(din, out);
  expect(with("reduce_coarsened", n), out, 1, total);
  reduce_unrolled<256><<<1, 256>>>(din, out, n);
  expect(with("reduce_unrolled", n), out, 1, total);
  const auto up_to = [&](std::size_t i) {
    double s = 0;
    for (std::size_t j = i / SECTION * SECTION; j <= i; ++j) s += in[j];
    return s;
  };
  scan_kogge_stone<<<n / SECTION, SECTION>>>(din, out, n);
  expect(with("scan_kogge_stone", n), out, n, up_to);
  scan_brent_kung<<<n / SECTION, SECTION / 2>>>(din, out, n);
  expect(with("scan_brent_kung", n), out, n, up_to);
  std::vector<int> numbers(n);
  unsigned seed = 22;
  for (int& v : numbers) v = static_cast<int>(next(seed) >> 25);
  int *dn = upload(numbers), *scanned = upload(std::vector<int>(n)),
      *blocks = upload(std::vector<int>(n)), *most = upload(std::vector<int>{-1});
  scan_warps<<<n / 256, 256>>>(dn, scanned, blocks, n);
  expect(with("scan_warps", n), scanned, n, [&](std::size_t i) {
    int s = 0;
    for (std::size_t j = i / 256 * 256; j < i; ++j) s += numbers[j];
    return s;
  });
  max_atomic<<<4, 128>>>(dn, most, n);
  expect(with("max_atomic", n), most, 1,
         [&](std::size_t) { return *std::max_element(numbers.begin(), numbers.end()); });
  reduce_converging<<<1, 512>>>(din, out);
  expect(with("reduce_converging", n), out, 1, [&](std::size_t) {
    double s = 0;
    for (int i = 0; i < 1024; ++i) s += in[i];
    return s;
  });
}

int main() {
  maps(1000);
  maps(4096);
  pictures(64, 32);
  pictures(75, 21);
  convolutions(64, 64);
  convolutions(61, 37);
  volumes(16);
  volumes(30);
  solvers(64);
  solvers(150);
  sums(2048);
  sums(8192);
  return 0;
}
