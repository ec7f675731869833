// Layers, sorts, paths, stencils, clusters and factors, in the manner of published libraries. See kernels.hpp.
#include "grader/author/counts/others/kernels.hpp"

static std::string with(const char* kernel, int a, int b) {
  return std::string(kernel) + ", " + std::to_string(a) + " x " + std::to_string(b);
}
static unsigned next(unsigned& seed) {
  return seed = seed * 1664525u + 1013904223u;
}

// ---- layers

__device__ float block_sum(float v, float* parts) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(0xffffffff, v, mask, 32);
  __syncthreads();  // parts may still be read
  if (lane == 0) parts[warp] = v;
  __syncthreads();
  v = threadIdx.x < (blockDim.x >> 5) ? parts[lane] : 0.0f;
  if (warp == 0) {
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(0xffffffff, v, mask, 32);
    if (lane == 0) parts[0] = v;
  }
  __syncthreads();
  return parts[0];
}

// residual += x, y = layernorm(residual): a row stays in registers, PER vectors a thread.
template <int PER>
__global__ void fused_add_layernorm(const float4* __restrict__ x, float4* __restrict__ residual,
                                    const float4* __restrict__ gamma,
                                    const float4* __restrict__ beta, float4* __restrict__ y,
                                    float eps) {
  __shared__ float parts[32];
  const int vectors = PER * blockDim.x, base = blockIdx.x * vectors;
  float4 v[PER];
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < PER; ++i) {
    const int at = base + i * blockDim.x + threadIdx.x;
    const float4 a = x[at], r = residual[at];
    v[i] = make_float4(a.x + r.x, a.y + r.y, a.z + r.z, a.w + r.w);
    residual[at] = v[i];
    sum += v[i].x + v[i].y + v[i].z + v[i].w;
  }
  const float mean = block_sum(sum, parts) / (4 * vectors);
  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < PER; ++i) {
    const float a = v[i].x - mean, b = v[i].y - mean, c = v[i].z - mean, d = v[i].w - mean;
    squares += a * a + b * b + c * c + d * d;
  }
  const float scale = rsqrtf(block_sum(squares, parts) / (4 * vectors) + eps);
#pragma unroll
  for (int i = 0; i < PER; ++i) {
    const int column = i * blockDim.x + threadIdx.x;
    const float4 g = gamma[column], b = beta[column];
    y[base + column] =
        make_float4((v[i].x - mean) * scale * g.x + b.x, (v[i].y - mean) * scale * g.y + b.y,
                    (v[i].z - mean) * scale * g.z + b.z, (v[i].w - mean) * scale * g.w + b.w);
  }
}

// Queries and keys in halves, (tokens, heads, D); the first half of a head turns with the second.
template <int D>
__global__ void rotary_halves(__half* q, __half* k, const int* positions, int heads, int key_heads,
                              float base) {
  const int token = blockIdx.x;
  const float position = static_cast<float>(positions[token]);
  for (int i = threadIdx.x; i < (heads + key_heads) * (D / 2); i += blockDim.x) {
    const int head = i / (D / 2), pair = i % (D / 2);
    __half* const row =
        head < heads ? q + (token * heads + head) * D : k + (token * key_heads + head - heads) * D;
    float s, c;
    sincosf(position * powf(base, -2.0f * pair / D), &s, &c);
    const float x = __half2float(row[pair]), y = __half2float(row[pair + D / 2]);
    row[pair] = __float2half(x * c - y * s);
    row[pair + D / 2] = __float2half(y * c + x * s);
  }
}

// The k-th largest value of a row, found by digits of 8 bits from the top: a histogram a digit.
__global__ void radix_select(const float* __restrict__ x, float* __restrict__ out, int n, int k) {
  __shared__ int bins[256];
  __shared__ unsigned prefix;
  __shared__ int wanted;
  const float* row = x + blockIdx.x * n;
  if (threadIdx.x == 0) prefix = 0, wanted = k;
  for (int shift = 24; shift >= 0; shift -= 8) {
    for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    const unsigned high = shift == 24 ? 0u : 0xffffffffu << (shift + 8);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      const unsigned bits = __float_as_uint(row[i]);
      const unsigned key = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
      if ((key & high) == (prefix & high)) atomicAdd(&bins[(key >> shift) & 255], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int left = wanted;
      for (int digit = 255; digit >= 0; --digit) {
        if (bins[digit] >= left) {
          prefix |= static_cast<unsigned>(digit) << shift;
          break;
        }
        left -= bins[digit];
      }
      wanted = left;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = __uint_as_float(prefix & 0x80000000u ? prefix & 0x7fffffffu : ~prefix);
}

// ---- sorts and scans

// Keys with values, two pairs a thread, so that no thread waits in a step.
template <int SIZE>
__global__ void bitonic_pairs(unsigned* keys, unsigned* values, bool descending) {
  __shared__ unsigned key[SIZE], value[SIZE];
  keys += blockIdx.x * SIZE + threadIdx.x;
  values += blockIdx.x * SIZE + threadIdx.x;
  key[threadIdx.x] = keys[0];
  value[threadIdx.x] = values[0];
  key[threadIdx.x + SIZE / 2] = keys[SIZE / 2];
  value[threadIdx.x + SIZE / 2] = values[SIZE / 2];
  for (unsigned size = 2; size <= SIZE; size <<= 1) {
    const bool down = descending ^ ((threadIdx.x & (size / 2)) != 0 && size < SIZE);
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      const unsigned at = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      if ((key[at] > key[at + stride]) != down) {
        unsigned t = key[at];
        key[at] = key[at + stride];
        key[at + stride] = t;
        t = value[at];
        value[at] = value[at + stride];
        value[at + stride] = t;
      }
    }
  }
  __syncthreads();
  keys[0] = key[threadIdx.x];
  values[0] = value[threadIdx.x];
  keys[SIZE / 2] = key[threadIdx.x + SIZE / 2];
  values[SIZE / 2] = value[threadIdx.x + SIZE / 2];
}

struct Flagged {
  float sum;
  int head;
};
__device__ inline Flagged join(Flagged before, Flagged after) {
  return {after.head ? after.sum : before.sum + after.sum, before.head | after.head};
}

// Sums within segments that begin where a flag is set; four elements a thread, one block per row.
__global__ void segmented_scan(const float4* __restrict__ in, const uchar4* __restrict__ heads,
                               float4* __restrict__ out) {
  __shared__ Flagged warps[32];
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float4 v = in[at];
  const uchar4 h = heads[at];
  Flagged e[4] = {{v.x, h.x}, {v.y, h.y}, {v.z, h.z}, {v.w, h.w}};
#pragma unroll
  for (int i = 1; i < 4; ++i) e[i] = join(e[i - 1], e[i]);
  Flagged all = e[3];
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const Flagged before = {__shfl_up_sync(0xffffffff, all.sum, d),
                            __shfl_up_sync(0xffffffff, all.head, d)};
    if (lane >= d) all = join(before, all);
  }
  if (lane == 31) warps[warp] = all;
  __syncthreads();
  Flagged carry = {0.0f, 0};
  for (int w = 0; w < warp; ++w) carry = join(carry, warps[w]);
  Flagged left = {__shfl_up_sync(0xffffffff, all.sum, 1), __shfl_up_sync(0xffffffff, all.head, 1)};
  left = lane == 0 ? carry : join(carry, left);
#pragma unroll
  for (int i = 0; i < 4; ++i) e[i] = join(left, e[i]);
  out[at] = make_float4(e[0].sum, e[1].sum, e[2].sum, e[3].sum);
}

// ---- graphs and sparse matrices

constexpr int PATH = 16;
// All pairs' shortest paths by tiles: phase 1 is the tile on the diagonal, 2 its row and column, 3 the rest.
template <int PHASE>
__global__ void floyd_blocked(int* distance, int n, int pivot) {
  __shared__ int own[PATH][PATH], across[PATH][PATH], down[PATH][PATH];
  const int tx = threadIdx.x, ty = threadIdx.y;
  int bx = blockIdx.x, by = blockIdx.y;
  if (PHASE == 1) bx = by = pivot;
  if (PHASE == 2) {
    bx = blockIdx.x + (static_cast<int>(blockIdx.x) >= pivot);
    by = pivot;
    if (blockIdx.y == 1) by = bx, bx = pivot;
  }
  if (PHASE == 3 && (bx == pivot || by == pivot)) return;
  const int row = by * PATH + ty, column = bx * PATH + tx;
  const int p = pivot * PATH;
  int best = distance[row * n + column];
  if (PHASE == 3) {
    across[ty][tx] = distance[row * n + p + tx];
    down[ty][tx] = distance[(p + ty) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < PATH; ++k) best = min(best, across[ty][k] + down[k][tx]);
  } else {
    own[ty][tx] = best;
    if (PHASE == 2) down[ty][tx] = distance[(p + ty) * n + p + tx];
    __syncthreads();
    for (int k = 0; k < PATH; ++k) {
      int through;
      if (PHASE == 1)
        through = own[ty][k] + own[k][tx];
      else
        through = by == pivot ? down[ty][k] + own[k][tx] : own[ty][k] + down[k][tx];
      __syncthreads();
      if (through < best) own[ty][tx] = best = through;
      __syncthreads();
    }
  }
  distance[row * n + column] = best;
}

// Sorted by row; a warp adds what its lanes have of a row before it touches y.
__global__ void spmv_coo_segments(const int* __restrict__ row, const int* __restrict__ column,
                                  const float* __restrict__ value, const float* __restrict__ x,
                                  float* y, int count) {
  const int lane = threadIdx.x % 32;
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 128;
  for (int i = first + lane; i < first + 128; i += 32) {
    const bool any = i < count;
    const int r = any ? row[i] : -1;
    float sum = any ? value[i] * __ldg(&x[column[i]]) : 0.0f;
    for (int d = 1; d < 32; d <<= 1) {
      const float other = __shfl_up_sync(0xffffffff, sum, d);
      const int other_row = __shfl_up_sync(0xffffffff, r, d);
      if (lane >= d && other_row == r) sum += other;
    }
    const int after = __shfl_down_sync(0xffffffff, r, 1);
    if (any && (lane == 31 || after != r)) atomicAdd(&y[r], sum);
  }
}

// ---- grids

__constant__ float star[5];
// Radius 4: planes along z pass through a queue of nine registers, the plane in the middle through shared memory.
__global__ void __launch_bounds__(128)
    stencil_queue(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz) {
  constexpr int R = 4, TX = 16, TY = 8;
  __shared__ float plane[TY + 2 * R][TX + 2 * R];
  const int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
  const int sx = threadIdx.x + R, sy = threadIdx.y + R;
  const int wide = nx + 2 * R, slice = wide * (ny + 2 * R);
  int at = (y + R) * wide + x + R;
  float queue[2 * R + 1];
#pragma unroll
  for (int i = 0; i < 2 * R; ++i) queue[i + 1] = in[at + i * slice];
  at += R * slice;
  for (int z = 0; z < nz; ++z) {
#pragma unroll
    for (int i = 0; i < 2 * R; ++i) queue[i] = queue[i + 1];
    queue[2 * R] = in[at + R * slice];
    __syncthreads();
    plane[sy][sx] = queue[R];
    if (threadIdx.y < R) {
      plane[threadIdx.y][sx] = in[at - R * wide];
      plane[threadIdx.y + TY + R][sx] = in[at + TY * wide];
    }
    if (threadIdx.x < R) {
      plane[sy][threadIdx.x] = in[at - R];
      plane[sy][threadIdx.x + TX + R] = in[at + TX];
    }
    __syncthreads();
    float sum = star[0] * queue[R];
#pragma unroll
    for (int i = 1; i <= R; ++i)
      sum += star[i] * (queue[R - i] + queue[R + i] + plane[sy - i][sx] + plane[sy + i][sx] +
                        plane[sy][sx - i] + plane[sy][sx + i]);
    out[at] = sum;
    at += slice;
  }
}

__device__ inline void add_bits(unsigned v, unsigned& one, unsigned& two, unsigned& four) {
  const unsigned carry = one & v;
  one ^= v;
  four |= two & carry;  // four or more
  two ^= carry;
}
// Conway's life, 32 cells a word, eight sums at once by full adders; the edges are dead.
__global__ void life_bits(const unsigned* now, unsigned* later, int words, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= words || y >= h) return;
  unsigned one = 0, two = 0, four = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    if (y + dy < 0 || y + dy >= h) continue;
    const unsigned* row = now + (y + dy) * words;
    const unsigned centre = row[x];
    const unsigned left = x > 0 ? row[x - 1] : 0, right = x + 1 < words ? row[x + 1] : 0;
    add_bits(__funnelshift_l(left, centre, 1), one, two, four);
    add_bits(__funnelshift_r(centre, right, 1), one, two, four);
    if (dy != 0) add_bits(centre, one, two, four);
  }
  later[y * words + x] = two & ~four & (one | now[y * words + x]);
}

// ---- clusters and factors

// The nearest of K centres for points of eight numbers; sums of each centre's points for the next.
template <int K>
__global__ void kmeans_assign(const float4* __restrict__ points, const float* __restrict__ centres,
                              int* __restrict__ nearest, float* sums, int* counts, int n) {
  __shared__ float c[K][8], local[K * 8];
  __shared__ int local_count[K];
  for (int i = threadIdx.x; i < K * 8; i += blockDim.x) {
    c[i / 8][i % 8] = centres[i];
    local[i] = 0.0f;
    if (i < K) local_count[i] = 0;
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float4 low = points[2 * i], high = points[2 * i + 1];
    const float p[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    float least = 3.4e38f;
    int best = 0;
    for (int k = 0; k < K; ++k) {
      float d = 0.0f;
      for (int x = 0; x < 8; ++x) {
        const float away = p[x] - c[k][x];
        d += away * away;
      }
      if (d < least) least = d, best = k;
    }
    nearest[i] = best;
    for (int x = 0; x < 8; ++x) atomicAdd(&local[best * 8 + x], p[x]);
    atomicAdd(&local_count[best], 1);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < K * 8; j += blockDim.x) atomicAdd(&sums[j], local[j]);
  if (threadIdx.x < K) atomicAdd(&counts[threadIdx.x], local_count[threadIdx.x]);
}

// Factors a panel of WIDTH columns, with the largest element of each column as its pivot; a row per thread.
template <int WIDTH>
__global__ void lu_panel(float* a, int* pivots, int lead) {
  extern __shared__ float panel[];  // blockDim.x rows
  __shared__ float largest[32];
  __shared__ int where[32];
  const int t = threadIdx.x, rows = blockDim.x;
  for (int j = 0; j < WIDTH; ++j) panel[t * WIDTH + j] = a[t * lead + j];
  __syncthreads();
  for (int j = 0; j < WIDTH; ++j) {
    float most = t >= j ? fabsf(panel[t * WIDTH + j]) : -1.0f;
    int at = t;
    for (int d = 16; d > 0; d /= 2) {
      const float other = __shfl_down_sync(0xffffffff, most, d);
      const int place = __shfl_down_sync(0xffffffff, at, d);
      if (other > most) most = other, at = place;
    }
    if (t % 32 == 0) largest[t / 32] = most, where[t / 32] = at;
    __syncthreads();
    if (t == 0) {
      for (int w = 1; w < rows / 32; ++w)
        if (largest[w] > largest[0]) largest[0] = largest[w], where[0] = where[w];
      pivots[j] = where[0];
    }
    __syncthreads();
    const int pivot = where[0];
    if (pivot != j && t < WIDTH) {
      const float swapped = panel[j * WIDTH + t];
      panel[j * WIDTH + t] = panel[pivot * WIDTH + t];
      panel[pivot * WIDTH + t] = swapped;
    }
    __syncthreads();
    if (t > j) {
      const float factor = panel[t * WIDTH + j] / panel[j * WIDTH + j];
      panel[t * WIDTH + j] = factor;
#pragma unroll
      for (int c = 0; c < WIDTH; ++c)
        if (c > j) panel[t * WIDTH + c] -= factor * panel[j * WIDTH + c];
    }
    __syncthreads();
  }
  for (int j = 0; j < WIDTH; ++j) a[t * lead + j] = panel[t * WIDTH + j];
}

// ---- launches

static std::vector<__half> halves(const std::vector<float>& x) {
  std::vector<__half> h;
  for (float v : x) h.push_back(__float2half(v));
  return h;
}

template <int PER>
static void layers(int rows, int threads) {
  const int n = 4 * PER * threads;
  const std::vector<float> x = some_floats(rows * n, 1), r = some_floats(rows * n, 2),
                           g = some_floats(n, 3), b = some_floats(n, 4);
  float* y = upload(std::vector<float>(rows * n));
  const auto vectors = [](const std::vector<float>& v) {
    return reinterpret_cast<float4*>(upload(v));
  };
  fused_add_layernorm<PER><<<rows, threads>>>(vectors(x), vectors(r), vectors(g), vectors(b),
                                              reinterpret_cast<float4*>(y), 1e-5f);
  expect(with("fused_add_layernorm", rows, n), y, rows * n, [&](std::size_t i) {
    double mean = 0, squares = 0;
    for (int j = 0; j < n; ++j) mean += double(x[i / n * n + j]) + r[i / n * n + j];
    mean /= n;
    for (int j = 0; j < n; ++j) squares += std::pow(x[i / n * n + j] + r[i / n * n + j] - mean, 2);
    return (x[i] + r[i] - mean) / std::sqrt(squares / n + 1e-5) * g[i % n] + b[i % n];
  });
}

static void rotary(int tokens, int heads, int key_heads) {
  constexpr int D = 32;
  const std::vector<float> q = some_floats(tokens * heads * D, 5),
                           k = some_floats(tokens * key_heads * D, 6);
  std::vector<int> positions(tokens);
  for (int t = 0; t < tokens; ++t) positions[t] = 3 * t + 1;
  __half *dq = upload(halves(q)), *dk = upload(halves(k));
  rotary_halves<D><<<tokens, 96>>>(dq, dk, upload(positions), heads, key_heads, 10000.0f);
  const std::vector<__half> got = download(dq, q.size());
  std::vector<double> near(q.size());
  for (std::size_t i = 0; i < q.size(); ++i) {
    const std::size_t first = i / D * D + i % (D / 2);
    const double angle =
        positions[i / D / heads] * std::pow(10000.0, -2.0 * double(i % (D / 2)) / D);
    const double x = q[first], y = q[first + D / 2], c = std::cos(angle), s = std::sin(angle);
    near[i] = i % D < D / 2 ? x * c - y * s : y * c + x * s;
    const double v = __half2float(got[i]);  // rounded to 11 bits
    if (std::fabs(v - near[i]) <= 2e-3 * (1 + std::fabs(near[i]))) near[i] = v;
  }
  expect(with("rotary_halves", tokens, heads), dq, q.size(),
         [&](std::size_t i) { return near[i]; });
}

static void selections(int rows, int n, int k) {
  const std::vector<float> x = some_floats(rows * n, 7);
  float* out = upload(std::vector<float>(rows));
  radix_select<<<rows, 128>>>(upload(x), out, n, k);
  expect(with("radix_select", rows, n), out, rows, [&](std::size_t r) {
    std::vector<float> row(x.begin() + r * n, x.begin() + (r + 1) * n);
    std::sort(row.rbegin(), row.rend());
    return row[k - 1];
  });
}

template <int SIZE>
static void sorts(int blocks) {
  unsigned seed = 8;
  std::vector<unsigned> keys(blocks * SIZE), values(blocks * SIZE);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = next(seed) >> 8, values[i] = unsigned(i);
  std::vector<unsigned> sorted = keys;
  for (int b = 0; b < blocks; ++b)
    std::sort(sorted.begin() + b * SIZE, sorted.begin() + (b + 1) * SIZE);
  unsigned* dk = upload(keys);
  bitonic_pairs<SIZE><<<blocks, SIZE / 2>>>(dk, upload(values), false);
  expect(with("bitonic_pairs", blocks, SIZE), dk, keys.size(),
         [&](std::size_t i) { return sorted[i]; });
}

static void scans(int rows, int threads) {
  const int n = 4 * threads;
  const std::vector<float> in = some_floats(rows * n, 9);
  std::vector<unsigned char> heads(rows * n);
  std::vector<double> want(rows * n);
  unsigned seed = 10;
  for (int i = 0; i < rows * n; ++i) {
    heads[i] = next(seed) >> 28 == 0;
    want[i] = in[i] + (heads[i] || i % n == 0 ? 0.0 : want[i - 1]);
  }
  float* out = upload(std::vector<float>(rows * n));
  segmented_scan<<<rows, threads>>>(reinterpret_cast<float4*>(upload(in)),
                                    reinterpret_cast<uchar4*>(upload(heads)),
                                    reinterpret_cast<float4*>(out));
  expect(with("segmented_scan", rows, n), out, rows * n, [&](std::size_t i) { return want[i]; });
}

static void paths(int tiles, int pivot) {
  const int n = tiles * PATH;
  unsigned seed = 11;
  std::vector<int> d(n * n);
  for (int i = 0; i < n * n; ++i) d[i] = i % (n + 1) == 0 ? 0 : 1 + (next(seed) >> 16) % 1000;
  int* distance = upload(d);
  for (int k = pivot * PATH; k < (pivot + 1) * PATH; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        d[i * n + j] = std::min(d[i * n + j], d[i * n + k] + d[k * n + j]);
  const dim3 tile(PATH, PATH);
  const auto within = [&](int i) { return i / PATH == pivot; };
  std::vector<int> so_far = download(distance, n * n);
  const auto right = [&](auto done) {
    so_far = download(distance, n * n);
    return [&, done](std::size_t i) { return done(int(i) / n, int(i) % n) ? d[i] : so_far[i]; };
  };
  floyd_blocked<1><<<1, tile>>>(distance, n, pivot);
  expect(with("floyd_blocked diagonal", tiles, pivot), distance, n * n,
         right([&](int i, int j) { return within(i) && within(j); }));
  floyd_blocked<2><<<dim3(tiles - 1, 2), tile>>>(distance, n, pivot);
  expect(with("floyd_blocked cross", tiles, pivot), distance, n * n,
         right([&](int i, int j) { return within(i) || within(j); }));
  floyd_blocked<3><<<dim3(tiles, tiles), tile>>>(distance, n, pivot);
  expect(with("floyd_blocked rest", tiles, pivot), distance, n * n,
         right([](int, int) { return true; }));
}

static void sparse(int rows) {
  std::vector<int> row, column;
  std::vector<double> want(rows);
  const std::vector<float> some = some_floats(rows * 40, 12), x = some_floats(rows, 13);
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < r * 7 % 40; ++k) {
      row.push_back(r), column.push_back((r * 31 + k * 97) % rows);
      want[r] += double(some[row.size() - 1]) * x[column.back()];
    }
  const int count = static_cast<int>(row.size());
  float* y = upload(std::vector<float>(rows));
  spmv_coo_segments<<<(count + 511) / 512, 128>>>(
      upload(row), upload(column), upload(std::vector<float>(some.begin(), some.begin() + count)),
      upload(x), y, count);
  expect(with("spmv_coo_segments", rows, count), y, rows, [&](std::size_t r) { return want[r]; });
}

static void grids(int nx, int ny, int nz) {
  const float weights[5] = {2.0f, -0.5f, 0.25f, -0.125f, 0.0625f};
  check(cudaMemcpyToSymbol(star, weights, sizeof weights), "cudaMemcpyToSymbol");
  const int wide = nx + 8, slice = wide * (ny + 8), all = slice * (nz + 8);
  const std::vector<float> in = some_floats(all, 14);
  float* out = upload(std::vector<float>(all));
  stencil_queue<<<dim3(nx / 16, ny / 8), dim3(16, 8)>>>(upload(in), out, nx, ny, nz);
  expect(with("stencil_queue", nx * ny, nz), out, all, [&](std::size_t at) {
    const int x = int(at) % wide - 4, y = int(at) / wide % (ny + 8) - 4, z = int(at) / slice - 4;
    if (x < 0 || x >= nx || y < 0 || y >= ny || z < 0 || z >= nz) return 0.0;
    double sum = double(weights[0]) * in[at];
    for (int i = 1; i <= 4; ++i)
      sum += double(weights[i]) * (double(in[at - i]) + in[at + i] + in[at - i * wide] +
                                   in[at + i * wide] + in[at - i * slice] + in[at + i * slice]);
    return sum;
  });
}

static void lives(int words, int h) {
  unsigned seed = 15;
  std::vector<unsigned> now(words * h);
  for (unsigned& w : now) w = next(seed) ^ (next(seed) >> 16);
  const auto cell = [&](int x, int y) {
    return x >= 0 && x < 32 * words && y >= 0 && y < h ? now[y * words + x / 32] >> (x % 32) & 1u
                                                       : 0u;
  };
  unsigned* later = upload(std::vector<unsigned>(words * h));
  life_bits<<<dim3((words + 15) / 16, (h + 7) / 8), dim3(16, 8)>>>(upload(now), later, words, h);
  expect(with("life_bits", words, h), later, words * h, [&](std::size_t i) {
    unsigned word = 0;
    for (int b = 0; b < 32; ++b) {
      const int x = int(i) % words * 32 + b, y = int(i) / words;
      unsigned sum = 0;
      for (int d = 0; d < 9; ++d) sum += d == 4 ? 0 : cell(x + d % 3 - 1, y + d / 3 - 1);
      word |= (sum == 3 || (sum == 2 && cell(x, y)) ? 1u : 0u) << b;
    }
    return static_cast<float>(word);
  });
}

template <int K>
static void clusters(int n) {
  const std::vector<float> p = some_floats(n * 8, 16), c = some_floats(K * 8, 17);
  int *nearest = upload(std::vector<int>(n)), *counts = upload(std::vector<int>(K));
  float* sums = upload(std::vector<float>(K * 8));
  kmeans_assign<K><<<(n + 127) / 128, 128>>>(reinterpret_cast<float4*>(upload(p)), upload(c),
                                             nearest, sums, counts, n);
  expect(with("kmeans_assign", n, K), nearest, n, [&](std::size_t i) {
    float least = 3.4e38f;
    int best = 0;
    for (int k = 0; k < K; ++k) {
      float d = 0;
      for (int x = 0; x < 8; ++x)
        d += (p[i * 8 + x] - c[k * 8 + x]) * (p[i * 8 + x] - c[k * 8 + x]);
      if (d < least) least = d, best = k;
    }
    return best;
  });
}

template <int WIDTH>
static void factors(int rows, int lead) {
  std::vector<float> a = some_floats(rows * lead, 18);
  for (int i = 0; i < rows * lead; ++i) a[i] += float(i * 37 % 1009) / 4096;
  float* d = upload(a);
  std::vector<double> f(a.begin(), a.end());
  for (int j = 0; j < WIDTH; ++j) {
    int pivot = j;
    for (int r = j; r < rows; ++r)
      if (std::fabs(f[r * lead + j]) > std::fabs(f[pivot * lead + j])) pivot = r;
    for (int c = 0; c < WIDTH; ++c) std::swap(f[j * lead + c], f[pivot * lead + c]);
    for (int r = j + 1; r < rows; ++r) {
      f[r * lead + j] /= f[j * lead + j];
      for (int c = j + 1; c < WIDTH; ++c) f[r * lead + c] -= f[r * lead + j] * f[j * lead + c];
    }
  }
  int* pivots = upload(std::vector<int>(WIDTH));
  lu_panel<WIDTH><<<1, rows, rows * WIDTH * 4>>>(d, pivots, lead);
  expect(with("lu_panel", rows, WIDTH), d, rows * lead, [&](std::size_t i) { return f[i]; });
}

int main() {
  layers<1>(6, 64);
  layers<2>(5, 96);
  rotary(7, 4, 2);
  rotary(3, 5, 1);
  selections(4, 300, 17);
  selections(3, 1000, 200);
  sorts<256>(2);
  sorts<512>(1);
  scans(3, 64);
  scans(2, 160);
  paths(3, 0);
  paths(4, 2);
  sparse(40);
  sparse(133);
  grids(32, 16, 10);
  grids(16, 24, 5);
  lives(20, 24);
  lives(3, 50);
  clusters<5>(200);
  clusters<16>(300);
  factors<8>(64, 16);
  factors<4>(128, 10);
  return 0;
}
