// Sorts, histograms, sparse matrices, graphs and other irregular work. See kernels.hpp.
#include "grader/author/counts/others/kernels.hpp"

static std::string with(const char* kernel, int n) {
  return std::string(kernel) + ", " + std::to_string(n);
}
static unsigned next(unsigned& seed) {
  return seed = seed * 1664525u + 1013904223u;
}

__global__ void histogram_global(const char* text, unsigned* bins, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < length) {
    const int letter = text[i] - 'a';
    if (letter >= 0 && letter < 26) atomicAdd(&bins[letter / 4], 1);
  }
}

// Each thread keeps the run of equal letters that it has seen.
__global__ void histogram_runs(const char* text, unsigned* bins, int length) {
  __shared__ unsigned mine[7];
  for (int b = threadIdx.x; b < 7; b += blockDim.x) mine[b] = 0u;
  __syncthreads();
  unsigned run = 0;
  int before = -1;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += blockDim.x * gridDim.x) {
    const int bin = (text[i] - 'a') / 4;
    if (bin == before) {
      ++run;
    } else {
      if (run > 0) atomicAdd(&mine[before], run);
      run = 1;
      before = bin;
    }
  }
  if (run > 0) atomicAdd(&mine[before], run);
  __syncthreads();
  for (int b = threadIdx.x; b < 7; b += blockDim.x)
    if (mine[b] > 0) atomicAdd(&bins[b], mine[b]);
}

__global__ void bitonic_block(int* values) {
  extern __shared__ int s[];
  const unsigned t = threadIdx.x;
  s[t] = values[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned k = 2; k <= blockDim.x; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) {
      const unsigned other = t ^ j;
      if (other > t) {
        const bool up = (t & k) == 0;
        if ((s[t] > s[other]) == up) {
          const int swapped = s[t];
          s[t] = s[other];
          s[other] = swapped;
        }
      }
      __syncthreads();
    }
  values[blockIdx.x * blockDim.x + t] = s[t];
}

// One bit of a radix sort within a block.
__global__ void radix_bit(const unsigned* in, unsigned* out, int bit) {
  __shared__ unsigned zeros[256];
  const int t = threadIdx.x;
  const unsigned key = in[blockIdx.x * 256 + t];
  const unsigned is_zero = ~key >> bit & 1u;
  zeros[t] = is_zero;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    const unsigned add = t >= d ? zeros[t - d] : 0;
    __syncthreads();
    zeros[t] += add;
    __syncthreads();
  }
  const unsigned before = zeros[t] - is_zero, all = zeros[255];
  out[blockIdx.x * 256 + (is_zero ? before : all + t - before)] = key;
}

__device__ int co_rank(int k, const int* a, int m, const int* b, int n) {
  int i = k < m ? k : m, j = k - i, low_i = 0 > k - n ? 0 : k - n, low_j = 0 > k - m ? 0 : k - m;
  while (true) {
    if (i > 0 && j < n && a[i - 1] > b[j]) {
      const int delta = (i - low_i + 1) >> 1;
      low_j = j;
      j += delta;
      i -= delta;
    } else if (j > 0 && i < m && b[j - 1] >= a[i]) {
      const int delta = (j - low_j + 1) >> 1;
      low_i = i;
      i += delta;
      j -= delta;
    } else {
      return i;
    }
  }
}
__global__ void merge_path(const int* a, int m, const int* b, int n, int* c) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int per = (m + n + blockDim.x * gridDim.x - 1) / (blockDim.x * gridDim.x);
  const int k = min(t * per, m + n), k_end = min((t + 1) * per, m + n);
  int i = co_rank(k, a, m, b, n), j = k - i;
  const int i_end = co_rank(k_end, a, m, b, n), j_end = k_end - i_end;
  for (int o = k; o < k_end; ++o)
    c[o] = j >= j_end || (i < i_end && a[i] <= b[j]) ? a[i++] : b[j++];
}

// Elements above a limit, in any order: one atomic for a warp.
__global__ void filter_by_ballot(const float* in, float* out, int* count, int n, float limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const bool keep = i < n && in[i] > limit;
  const unsigned votes = __ballot_sync(0xffffffff, keep);
  int base = 0;
  if (lane == 0 && votes != 0) base = atomicAdd(count, __popc(votes));
  base = __shfl_sync(0xffffffff, base, 0);
  if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}

__global__ void spmv_ell(const int* columns, const float* values, const float* x, float* y,
                         int rows, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int i = 0; i < width; ++i) {
      const int at = i * rows + row;
      sum += x[columns[at]] * values[at];
    }
    y[row] = sum;
  }
}

__global__ void spmv_coo(const int* row, const int* column, const float* value, const float* x,
                         float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&y[row[i]], x[column[i]] * value[i]);
}

__global__ void spmv_warp_per_row(int rows, const int* begin, const int* column, const float* value,
                                  const float* x, float* y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = begin[row] + lane; i < begin[row + 1]; i += 32) sum += value[i] * x[column[i]];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (lane == 0) y[row] = sum;
}

__global__ void bfs_push(const int* begin, const int* to, int* level, int* found, int now, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n && level[v] == now - 1)
    for (int e = begin[v]; e < begin[v + 1]; ++e)
      if (atomicCAS(&level[to[e]], -1, now) == -1) atomicAdd(found, 1);
}

__global__ void floyd_step(int* distance, int n, int k) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j >= n || i == k || j == k) return;
  const int through = distance[i * n + k] + distance[k * n + j];
  if (through < distance[i * n + j]) distance[i * n + j] = through;
}

struct Points {
  float *x, *y, *z;
};
__global__ void nearest(Points all, int n, int* out) {
  __shared__ float xs[64], ys[64], zs[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = i < n ? all.x[i] : 0, y = i < n ? all.y[i] : 0, z = i < n ? all.z[i] : 0;
  float least = 1e30f;
  int best = -1;
  for (int at = 0; at < n; at += 64) {
    const int j = at + threadIdx.x;
    if (j < n) xs[threadIdx.x] = all.x[j], ys[threadIdx.x] = all.y[j], zs[threadIdx.x] = all.z[j];
    __syncthreads();
    const int count = min(64, n - at);
    for (int k = 0; k < count; ++k) {
      const float dx = xs[k] - x, dy = ys[k] - y, dz = zs[k] - z;
      const float d = dx * dx + dy * dy + dz * dz;
      if (at + k != i && d < least) least = d, best = at + k;
    }
    __syncthreads();
  }
  if (i < n) out[i] = best;
}

__global__ void pi_by_throws(unsigned* hits, int throws) {
  unsigned seed = blockIdx.x * blockDim.x + threadIdx.x + 1, inside = 0;
  for (int i = 0; i < throws; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const unsigned x = seed >> 17;
    seed = seed * 1664525u + 1013904223u;
    const unsigned y = seed >> 17;
    inside += x * x + y * y < (1u << 30);
  }
  for (int d = 16; d > 0; d >>= 1) inside += __shfl_xor_sync(0xffffffff, inside, d);
  if ((threadIdx.x & 31) == 0) atomicAdd(hits, inside);
}

// Levenshtein distance: one diagonal of the table after the other, in shared memory.
__global__ void edit_distance(const char* a, const char* b, int n, int* out) {
  extern __shared__ int table[];
  int* diagonals[3] = {table, table + n + 1, table + 2 * (n + 1)};
  for (int d = 0; d <= 2 * n; ++d) {
    int* now = diagonals[d % 3];
    const int *one = diagonals[(d + 2) % 3], *two = diagonals[(d + 1) % 3];
    for (int i = threadIdx.x; i <= n; i += blockDim.x) {
      const int j = d - i;
      if (j < 0 || j > n) continue;
      if (i == 0 || j == 0)
        now[i] = i + j;
      else
        now[i] = min(min(one[i - 1], one[i]) + 1, two[i - 1] + (a[i - 1] != b[j - 1]));
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = diagonals[2 * n % 3][n];
}

static void texts(int n) {
  unsigned seed = 3;
  std::string text(n, 'a');
  for (char& c : text) c = static_cast<char>('a' + (next(seed) >> 16) % 26);
  std::vector<unsigned> count(7);
  for (char c : text) ++count[(c - 'a') / 4];
  const char* d = upload(std::vector<char>(text.begin(), text.end()));
  const auto right = [&](std::size_t i) { return count[i]; };
  unsigned *bins = upload(std::vector<unsigned>(7)), *again = upload(std::vector<unsigned>(7));
  histogram_global<<<(n + 127) / 128, 128>>>(d, bins, n);
  expect(with("histogram_global", n), bins, 7, right);
  histogram_runs<<<2, 128>>>(d, again, n);
  expect(with("histogram_runs", n), again, 7, right);
}

static void sorts(int blocks) {
  unsigned seed = 4;
  std::vector<int> values(blocks * 256);
  for (int& v : values) v = static_cast<int>(next(seed) >> 8);
  std::vector<int> sorted = values;
  for (int b = 0; b < blocks; ++b)
    std::sort(sorted.begin() + b * 256, sorted.begin() + (b + 1) * 256);
  int* d = upload(values);
  bitonic_block<<<blocks, 256, 1024>>>(d);
  expect(with("bitonic_block", blocks), d, values.size(), [&](std::size_t i) { return sorted[i]; });
  const std::vector<unsigned> keys(values.begin(), values.end());
  std::vector<unsigned> split;
  for (int b = 0; b < blocks; ++b)
    for (unsigned bit = 0; bit < 2; ++bit)
      std::copy_if(keys.begin() + b * 256, keys.begin() + (b + 1) * 256, std::back_inserter(split),
                   [&](unsigned k) { return (k >> 5 & 1u) == bit; });
  unsigned* out = upload(std::vector<unsigned>(keys.size()));
  radix_bit<<<blocks, 256>>>(upload(keys), out, 5);
  expect(with("radix_bit", blocks), out, keys.size(), [&](std::size_t i) { return split[i]; });
  std::vector<int> a(values.begin(), values.begin() + values.size() / 3),
      b(values.begin() + values.size() / 3, values.end());
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::sort(values.begin(), values.end());
  int* merged = upload(std::vector<int>(values.size()));
  merge_path<<<2, 32>>>(upload(a), int(a.size()), upload(b), int(b.size()), merged);
  expect(with("merge_path", blocks), merged, values.size(),
         [&](std::size_t i) { return values[i]; });
}

static void filters(int n) {
  const std::vector<float> in = some_floats(n, 5);
  int kept = 0;
  for (float v : in) kept += v > 0.5f;
  float* out = upload(std::vector<float>(n));
  int* count = upload(std::vector<int>{0});
  filter_by_ballot<<<(n + 127) / 128, 128>>>(upload(in), out, count, n, 0.5f);
  expect(with("filter_by_ballot", n), count, 1, [&](std::size_t) { return kept; });
}

static void sparse(int rows) {
  std::vector<int> begin = {0}, row, column;
  const int width = 12;
  std::vector<int> ell(rows * width);
  std::vector<float> padded(rows * width), value;
  const std::vector<float> some = some_floats(rows * width, 6), x = some_floats(rows, 7);
  std::vector<double> want(rows);
  for (int r = 0; r < rows; ++r) {
    for (int k = 0; k < r * 7 % (width + 1); ++k) {
      const int c = (r * 31 + k * 97) % rows;
      row.push_back(r), column.push_back(c), value.push_back(some[r * width + k]);
      ell[k * rows + r] = c, padded[k * rows + r] = value.back();
      want[r] += double(value.back()) * x[c];
    }
    begin.push_back(static_cast<int>(column.size()));
  }
  const int count = static_cast<int>(column.size());
  float *dx = upload(x), *y = upload(std::vector<float>(rows)), *dv = upload(value);
  int* dc = upload(column);
  const auto right = [&](std::size_t i) { return want[i]; };
  spmv_ell<<<(rows + 63) / 64, 64>>>(upload(ell), upload(padded), dx, y, rows, width);
  expect(with("spmv_ell", rows), y, rows, right);
  check(cudaMemset(y, 0, 4 * rows), "cudaMemset");
  spmv_coo<<<(count + 127) / 128, 128>>>(upload(row), dc, dv, dx, y, count);
  expect(with("spmv_coo", rows), y, rows, right);
  spmv_warp_per_row<<<(rows + 3) / 4, 128>>>(rows, upload(begin), dc, dv, dx, y);
  expect(with("spmv_warp_per_row", rows), y, rows, right);
}

static void graphs(int n) {
  std::vector<int> begin = {0}, to, level(n, -1);
  for (int v = 0; v < n; ++v) {
    for (int e = 0; e < 1 + v % 5; ++e) to.push_back((v * 13 + e * e * 7 + 1) % n);
    begin.push_back(static_cast<int>(to.size()));
  }
  for (int v = 0; v < n; v += 3) level[v] = 0;
  std::vector<int> after = level;
  for (int v = 0; v < n; v += 3)
    for (int e = begin[v]; e < begin[v + 1]; ++e)
      if (after[to[e]] == -1) after[to[e]] = 1;
  int *d = upload(level), *found = upload(std::vector<int>{0});
  bfs_push<<<(n + 127) / 128, 128>>>(upload(begin), upload(to), d, found, 1, n);
  expect(with("bfs_push", n), d, n, [&](std::size_t i) { return after[i]; });
  const int side = n / 8;
  std::vector<int> distance(side * side);
  for (int i = 0; i < side * side; ++i) distance[i] = i * 37 % 101 + 1;
  int* dd = upload(distance);
  floyd_step<<<dim3((side + 31) / 32, side), 32>>>(dd, side, 3);
  expect(with("floyd_step", side), dd, side * side, [&](std::size_t i) {
    const std::size_t r = i / side, c = i % side;
    const int through = distance[r * side + 3] + distance[3 * side + c];
    return r == 3 || c == 3 ? distance[i] : std::min(distance[i], through);
  });
}

static void clouds(int n) {
  const std::vector<float> x = some_floats(n, 8), y = some_floats(n, 9), z = some_floats(n, 10);
  int* out = upload(std::vector<int>(n));
  nearest<<<(n + 63) / 64, 64>>>(Points{upload(x), upload(y), upload(z)}, n, out);
  expect(with("nearest", n), out, n, [&](std::size_t i) {
    float least = 1e30f;
    int best = -1;
    for (int j = 0; j < n; ++j) {
      const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      const float d = dx * dx + dy * dy + dz * dz;
      if (j != int(i) && d < least) least = d, best = j;
    }
    return best;
  });
}

static void throws(int per_thread) {
  unsigned* hits = upload(std::vector<unsigned>{0});
  pi_by_throws<<<2, 64>>>(hits, per_thread);
  unsigned inside = 0;
  for (unsigned t = 1; t <= 128; ++t) {
    unsigned seed = t;
    for (int i = 0; i < per_thread; ++i) {
      const unsigned x = next(seed) >> 17, y = next(seed) >> 17;
      inside += x * x + y * y < (1u << 30);
    }
  }
  expect(with("pi_by_throws", per_thread), hits, 1, [&](std::size_t) { return inside; });
}

static void words(int n) {
  unsigned seed = 11;
  std::vector<char> a(n), b(n);
  for (int i = 0; i < n; ++i) a[i] = 'a' + next(seed) / 7 % 4, b[i] = i % 3 ? a[i] : 'b';
  std::vector<int> row(n + 1);
  for (int j = 0; j <= n; ++j) row[j] = j;
  for (int i = 1; i <= n; ++i) {
    int corner = row[0]++;
    for (int j = 1; j <= n; ++j) {
      const int up = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1])});
      corner = up;
    }
  }
  int* out = upload(std::vector<int>{0});
  edit_distance<<<1, 64, 12 * (n + 1)>>>(upload(a), upload(b), n, out);
  expect(with("edit_distance", n), out, 1, [&](std::size_t) { return row[n]; });
}

int main() {
  texts(1000);
  texts(5000);
  sorts(2);
  sorts(5);
  filters(500);
  filters(4096);
  sparse(100);
  sparse(777);
  graphs(300);
  graphs(1024);
  clouds(100);
  clouds(256);
  throws(10);
  throws(33);
  words(50);
  words(130);
  return 0;
}
