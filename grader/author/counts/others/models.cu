// Kernels of training and running models, as frameworks' back ends and hobby projects have them. See kernels.hpp.
#include "grader/author/counts/others/kernels.hpp"

static std::string with(const char* kernel, int n) {
  return std::string(kernel) + ", " + std::to_string(n);
}

// ---- norms

struct Moments {
  float mean, m2, count;
};
__device__ Moments join(Moments a, Moments b) {
  const float n = a.count + b.count;
  if (n == 0.0f) return a;
  const float delta = b.mean - a.mean;
  return {a.mean + delta * b.count / n, a.m2 + b.m2 + delta * delta * a.count * b.count / n, n};
}
__device__ Moments join_warp(Moments own) {
  for (int step = 16; step > 0; step /= 2) {
    const Moments other = {__shfl_down_sync(0xffffffffu, own.mean, step),
                           __shfl_down_sync(0xffffffffu, own.m2, step),
                           __shfl_down_sync(0xffffffffu, own.count, step)};
    own = join(own, other);
  }
  return own;
}

// Pictures as (N, C, HW); one block per channel.
__global__ void batchnorm_moments(const float* x, float* mean, float* variance, int batch,
                                  int channels, int hw) {
  __shared__ Moments of_warp[8];
  const int c = blockIdx.x;
  Moments own = {0.0f, 0.0f, 0.0f};
  for (int n = 0; n < batch; ++n)
    for (int i = threadIdx.x; i < hw; i += blockDim.x) {
      const float value = x[(n * channels + c) * hw + i];
      own.count += 1.0f;
      const float delta = value - own.mean;
      own.mean += delta / own.count;
      own.m2 += delta * (value - own.mean);
    }
  own = join_warp(own);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  own = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : Moments{0.0f, 0.0f, 0.0f};
  own = join_warp(own);
  if (threadIdx.x == 0) {
    mean[c] = own.mean;
    variance[c] = own.m2 / own.count;
  }
}

__global__ void groupnorm(const float* x, const float* gain, const float* bias, float* y,
                          int channels, int groups, int hw) {
  __shared__ float sums[2][4];
  const int width = channels / groups * hw;
  const float* in = x + static_cast<long long>(blockIdx.x) * width;
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    sum += in[i];
    squares += in[i] * in[i];
  }
  for (int step = 16; step > 0; step >>= 1) {
    sum += __shfl_xor_sync(0xffffffffu, sum, step);
    squares += __shfl_xor_sync(0xffffffffu, squares, step);
  }
  if ((threadIdx.x & 31) == 0) {
    sums[0][threadIdx.x >> 5] = sum;
    sums[1][threadIdx.x >> 5] = squares;
  }
  __syncthreads();
  sum = sums[0][0] + sums[0][1] + sums[0][2] + sums[0][3];
  squares = sums[1][0] + sums[1][1] + sums[1][2] + sums[1][3];
  const float mean = sum / width, scale = rsqrtf(squares / width - mean * mean + 1e-5f);
  const int first = blockIdx.x % groups * (channels / groups);
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const int c = first + i / hw;
    y[static_cast<long long>(blockIdx.x) * width + i] = (in[i] - mean) * scale * gain[c] + bias[c];
  }
}

static void norms(int batch, int hw) {
  const int channels = 12, groups = 3, n = batch * channels * hw;
  const std::vector<float> x = some_floats(n, 1), g = some_floats(channels, 2),
                           b = some_floats(channels, 3);
  float *dx = upload(x), *dg = upload(g), *db = upload(b), *y = upload(x);
  float* moments = upload(std::vector<float>(2 * channels));
  batchnorm_moments<<<channels, 128>>>(dx, moments, moments + channels, batch, channels, hw);
  expect(with("batchnorm_moments", hw), moments, 2 * channels, [&](std::size_t i) {
    double sum = 0, squares = 0;
    for (int k = 0; k < batch; ++k)
      for (int j = 0; j < hw; ++j) {
        const double v = x[(k * channels + i % channels) * hw + j];
        sum += v, squares += v * v;
      }
    const double all = batch * hw, mean = sum / all;
    return i < static_cast<std::size_t>(channels) ? mean : squares / all - mean * mean;
  });
  groupnorm<<<batch * groups, 128>>>(dx, dg, db, y, channels, groups, hw);
  expect(with("groupnorm", hw), y, n, [&](std::size_t i) {
    const int width = channels / groups * hw, group = static_cast<int>(i) / width,
              c = i / hw % channels;
    double sum = 0, squares = 0;
    for (int j = 0; j < width; ++j) {
      const double v = x[group * width + j];
      sum += v, squares += v * v;
    }
    const double mean = sum / width;
    return (x[i] - mean) / std::sqrt(squares / width - mean * mean + 1e-5) * g[c] + b[c];
  });
}

// ---- convolutions and pools

__global__ void depthwise_3x3(const float* x, const float* weight, float* y, int channels, int h,
                              int w) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= channels * h * w) return;
  const int col = i % w, row = i / w % h, c = i / (w * h);
  float sum = 0.0f;
#pragma unroll
  for (int kr = 0; kr < 3; ++kr)
#pragma unroll
    for (int kc = 0; kc < 3; ++kc) {
      const int r = row + kr - 1, s = col + kc - 1;
      if (r >= 0 && r < h && s >= 0 && s < w)
        sum += x[(c * h + r) * w + s] * __ldg(&weight[c * 9 + kr * 3 + kc]);
    }
  y[i] = sum;
}

__global__ void max_pool(const float* x, float* y, int* where, int channels, int h, int w) {
  const int oh = h / 2, ow = w / 2, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= channels * oh * ow) return;
  const int col = i % ow * 2, row = i / ow % oh * 2, c = i / (ow * oh);
  float best = -INFINITY;
  int at = -1;
  for (int r = row; r < row + 2; ++r)
    for (int s = col; s < col + 2; ++s)
      if (const float v = x[(c * h + r) * w + s]; v > best) {
        best = v;
        at = r * w + s;
      }
  y[i] = best;
  where[i] = at;
}

__global__ void im2col(const float* x, float* columns, int channels, int h, int w) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < channels * h * w;
       i += blockDim.x * gridDim.x) {
    const int col = i % w, row = i / w % h, c = i / (w * h);
    float* to = columns + c * 9 * h * w + row * w + col;
    for (int k = 0; k < 9; ++k) {
      const int r = row + k / 3 - 1, s = col + k % 3 - 1;
      *to = r >= 0 && s >= 0 && r < h && s < w ? x[(c * h + r) * w + s] : 0.0f;
      to += h * w;
    }
  }
}

static void pictures(int h, int w) {
  const int channels = 3, n = channels * h * w;
  const std::vector<float> x = some_floats(n, 4), weight = some_floats(channels * 9, 5);
  float *dx = upload(x), *dw = upload(weight), *y = upload(std::vector<float>(n * 9));
  const auto at = [&](int c, int r, int s) {
    return r < 0 || s < 0 || r >= h || s >= w ? 0.0 : static_cast<double>(x[(c * h + r) * w + s]);
  };
  depthwise_3x3<<<(n + 127) / 128, 128>>>(dx, dw, y, channels, h, w);
  expect(with("depthwise_3x3", w), y, n, [&](std::size_t i) {
    const int col = i % w, row = i / w % h, c = static_cast<int>(i) / (w * h);
    double sum = 0;
    for (int k = 0; k < 9; ++k) sum += at(c, row + k / 3 - 1, col + k % 3 - 1) * weight[c * 9 + k];
    return sum;
  });
  int* where = upload(std::vector<int>(n));
  const int pooled = channels * (h / 2) * (w / 2);
  max_pool<<<(pooled + 63) / 64, 64>>>(dx, y, where, channels, h, w);
  expect(with("max_pool", w), y, pooled, [&](std::size_t i) {
    const int ow = w / 2, oh = h / 2, col = i % ow * 2, row = i / ow % oh * 2,
              c = static_cast<int>(i) / (ow * oh);
    return std::max(
        {at(c, row, col), at(c, row, col + 1), at(c, row + 1, col), at(c, row + 1, col + 1)});
  });
  im2col<<<4, 96>>>(dx, y, channels, h, w);
  expect(with("im2col", w), y, n * 9, [&](std::size_t i) {
    const int col = i % w, row = i / w % h, k = static_cast<int>(i) / (w * h) % 9;
    return at(static_cast<int>(i) / (w * h * 9), row + k / 3 - 1, col + k % 3 - 1);
  });
}

// ---- attention and tokens

// One query per head against the cache of keys and values: (T, D) each; a block of four warps.
__global__ void decode_attention(const float* q, const float* keys, const float* values, float* out,
                                 int t, float scale) {
  constexpr int D = 64;
  extern __shared__ float score[];
  __shared__ float top[4], total[4];
  const int head = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float q0 = q[head * D + lane], q1 = q[head * D + lane + 32];
  float most = -INFINITY;
  for (int i = warp; i < t; i += 4) {
    const float* key = keys + (head * t + i) * D;
    float s = q0 * key[lane] + q1 * key[lane + 32];
    for (int step = 16; step > 0; step /= 2) s += __shfl_xor_sync(0xffffffffu, s, step);
    s *= scale;
    if (lane == 0) score[i] = s;
    most = fmaxf(most, s);
  }
  if (lane == 0) top[warp] = most;
  __syncthreads();
  most = fmaxf(fmaxf(top[0], top[1]), fmaxf(top[2], top[3]));
  float sum = 0.0f;
  for (int i = threadIdx.x; i < t; i += blockDim.x) {
    score[i] = expf(score[i] - most);
    sum += score[i];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) total[warp] = sum;
  __syncthreads();
  sum = total[0] + total[1] + total[2] + total[3];
  if (threadIdx.x < D) {
    float weighted = 0.0f;
    for (int i = 0; i < t; ++i) weighted += score[i] * values[(head * t + i) * D + threadIdx.x];
    out[head * D + threadIdx.x] = weighted / sum;
  }
}

// dx = y * (dy - sum(y * dy)) by rows, a warp each.
__global__ void softmax_backward(const float* y, const float* dy, float* dx, int rows, int width) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float dot = 0.0f;
  for (int i = lane; i < width; i += 32) dot += y[row * width + i] * dy[row * width + i];
  for (int step = 16; step > 0; step /= 2) dot += __shfl_xor_sync(0xffffffffu, dot, step);
  for (int i = lane; i < width; i += 32)
    dx[row * width + i] = y[row * width + i] * (dy[row * width + i] - dot);
}

// The four largest of a row, which one thread keeps in order.
__global__ void top_four(const float* x, float* best, int rows, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float kept[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  for (int i = 0; i < width; ++i) {
    float v = x[i * rows + row];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (v > kept[k]) {
        const float moved = kept[k];
        kept[k] = v;
        v = moved;
      }
  }
  for (int k = 0; k < 4; ++k) best[k * rows + row] = kept[k];
}

__global__ void embedding_backward(const int* token, const float* dy, float* table, int width) {
  const int id = token[blockIdx.x];
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    atomicAdd(&table[id * width + i], dy[blockIdx.x * width + i]);
}

__global__ void count_experts(const int* expert, int* count, int tokens, int experts) {
  extern __shared__ int own[];
  for (int i = threadIdx.x; i < experts; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < tokens; i += gridDim.x * blockDim.x)
    atomicAdd(&own[expert[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < experts; i += blockDim.x)
    if (own[i] != 0) atomicAdd(&count[i], own[i]);
}

static void tokens(int t, int width) {
  constexpr int kHeads = 3, kD = 64;
  const std::vector<float> q = some_floats(kHeads * kD, 6), k = some_floats(kHeads * kD * t, 7),
                           v = some_floats(kHeads * kD * t, 8);
  float *dq = upload(q), *dk = upload(k), *dv = upload(v), *out = upload(q);
  decode_attention<<<kHeads, 128, t * sizeof(float)>>>(dq, dk, dv, out, t, 0.125f);
  expect(with("decode_attention", t), out, q.size(), [&](std::size_t at) {
    const int head = static_cast<int>(at) / kD;
    double most = -1e30, sum = 0, weighted = 0;
    std::vector<double> s(t);
    for (int i = 0; i < t; ++i) {
      for (int d = 0; d < kD; ++d) s[i] += 0.125 * q[head * kD + d] * k[(head * t + i) * kD + d];
      most = std::max(most, s[i]);
    }
    for (int i = 0; i < t; ++i) {
      sum += std::exp(s[i] - most);
      weighted += std::exp(s[i] - most) * v[(head * t + i) * kD + at % kD];
    }
    return weighted / sum;
  });

  const int rows = 37, n = rows * width;
  const std::vector<float> y = some_floats(n, 9), dy = some_floats(n, 10);
  float *py = upload(y), *pdy = upload(dy), *pdx = upload(y);
  softmax_backward<<<(rows + 3) / 4, 128>>>(py, pdy, pdx, rows, width);
  expect(with("softmax_backward", width), pdx, n, [&](std::size_t i) {
    double dot = 0;
    for (int j = 0; j < width; ++j)
      dot += static_cast<double>(y[i / width * width + j]) * dy[i / width * width + j];
    return y[i] * (dy[i] - dot);
  });
  float* best = upload(std::vector<float>(4 * rows));
  top_four<<<2, 32>>>(py, best, rows, width);
  expect(with("top_four", width), best, 4 * rows, [&](std::size_t i) {
    std::vector<float> all;
    for (int j = 0; j < width; ++j) all.push_back(y[j * rows + i % rows]);
    std::sort(all.rbegin(), all.rend());
    return all[i / rows];
  });
  std::vector<int> token(rows);
  for (int i = 0; i < rows; ++i) token[i] = i * 5 % 11;
  int* dtoken = upload(token);
  float* table = upload(std::vector<float>(11 * width));
  embedding_backward<<<rows, 64>>>(dtoken, pdy, table, width);
  expect(with("embedding_backward", width), table, 11 * width, [&](std::size_t i) {
    double sum = 0;
    for (int r = 0; r < rows; ++r)
      if (token[r] == static_cast<int>(i) / width) sum += dy[r * width + i % width];
    return sum;
  });
  std::vector<int> expert(t * 9);
  for (std::size_t i = 0; i < expert.size(); ++i) expert[i] = static_cast<int>(i * i % 7);
  int *dexpert = upload(expert), *count = upload(std::vector<int>(8));
  count_experts<<<2, 64, 8 * sizeof(int)>>>(dexpert, count, static_cast<int>(expert.size()), 8);
  expect(with("count_experts", t), count, 8, [&](std::size_t e) {
    return std::count(expert.begin(), expert.end(), static_cast<int>(e));
  });
}

// ---- elements

__global__ void quantise_rows(const float* x, signed char* q, float* scale, int width) {
  __shared__ float most[4];
  float own = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    own = fmaxf(own, fabsf(x[blockIdx.x * width + i]));
  for (int step = 16; step > 0; step /= 2)
    own = fmaxf(own, __shfl_xor_sync(0xffffffffu, own, step));
  if (threadIdx.x % 32 == 0) most[threadIdx.x / 32] = own;
  __syncthreads();
  own = most[0];
  for (int i = 1; i < 4; ++i) own = fmaxf(own, most[i]);
  const float by = own > 0.0f ? 127.0f / own : 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    q[blockIdx.x * width + i] =
        static_cast<signed char>(__float2int_rn(x[blockIdx.x * width + i] * by));
  if (threadIdx.x == 0) scale[blockIdx.x] = own / 127.0f;
}

__device__ float sigmoid(float v) {
  return 1.0f / (1.0f + expf(-v));
}
__global__ void lstm_cell(const float* gates, const float* before, float* cell, float* hidden,
                          int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (i >= n) return;
  const float* g = gates + row * 4 * n;
  const float in = sigmoid(g[i]), forget = sigmoid(g[n + i]), what = tanhf(g[2 * n + i]),
              out = sigmoid(g[3 * n + i]);
  const float c = forget * before[row * n + i] + in * what;
  cell[row * n + i] = c;
  hidden[row * n + i] = out * tanhf(c);
}

__global__ void relu_bias_half(const half2* x, const half2* bias, half2* y, int pairs, int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const half2 v = __hadd2(x[i], bias[i % pairs]);
  y[i] = __hmax2(v, __float2half2_rn(0.0f));
}

// Running sums of rows: a warp takes 32 elements a turn and hands on what it has.
__global__ void running_sums(const float* x, float* y, int rows, int width) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  float before = 0.0f;
  for (int first = 0; first < width; first += 32) {
    float v = first + lane < width ? x[row * width + first + lane] : 0.0f;
    for (int step = 1; step < 32; step *= 2) {
      const float other = __shfl_up_sync(0xffffffffu, v, step);
      if (lane >= step) v += other;
    }
    v += before;
    if (first + lane < width) y[row * width + first + lane] = v;
    before = __shfl_sync(0xffffffffu, v, 31);
  }
}

__global__ void sgd_momentum(float4* weight, float4* speed, const float4* gradient, float rate,
                             int n4) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    const float4 g = gradient[i];
    float4 s = speed[i], w = weight[i];
    s.x = 0.9f * s.x + g.x, s.y = 0.9f * s.y + g.y, s.z = 0.9f * s.z + g.z, s.w = 0.9f * s.w + g.w;
    w.x -= rate * s.x, w.y -= rate * s.y, w.z -= rate * s.z, w.w -= rate * s.w;
    speed[i] = s;
    weight[i] = w;
  }
}

static void elements(int rows, int width) {
  const int n = rows * width;
  const std::vector<float> x = some_floats(4 * n, 11), b = some_floats(n, 12);
  float *dx = upload(x), *db = upload(b), *y = upload(x), *z = upload(b);
  signed char* q = upload(std::vector<signed char>(n));
  quantise_rows<<<rows, 128>>>(dx, q, y, width);
  expect(with("quantise_rows", width), y, rows, [&](std::size_t r) {
    double most = 0;
    for (int i = 0; i < width; ++i) most = std::max<double>(most, std::fabs(x[r * width + i]));
    return most / 127;
  });
  lstm_cell<<<dim3((width + 63) / 64, rows), 64>>>(dx, db, y, z, width);
  expect(with("lstm_cell", width), y, n, [&](std::size_t i) {
    const auto s = [](double v) { return 1 / (1 + std::exp(-v)); };
    const float* g = &x[i / width * 4 * width + i % width];
    return s(g[width]) * b[i] + s(g[0]) * std::tanh(g[2 * width]);
  });
  std::vector<half> h(n), hb(width);
  for (int i = 0; i < n; ++i) h[i] = __float2half(x[i]);
  for (int i = 0; i < width; ++i) hb[i] = __float2half(b[i]);
  half *dh = upload(h), *dhb = upload(hb), *hy = upload(h);
  const int pairs = width / 2, total = n / 2;
  relu_bias_half<<<(total + 127) / 128, 128>>>(reinterpret_cast<half2*>(dh),
                                               reinterpret_cast<half2*>(dhb),
                                               reinterpret_cast<half2*>(hy), pairs, total);
  expect(with("relu_bias_half", width), hy, n,
         [&](std::size_t i) { return std::max(x[i] + b[i % width], 0.0f); });
  running_sums<<<(rows + 3) / 4, dim3(32, 4)>>>(dx, y, rows, width);
  expect(with("running_sums", width), y, n, [&](std::size_t i) {
    double sum = 0;
    for (std::size_t k = i / width * width; k <= i; ++k) sum += x[k];
    return sum;
  });
  float *w4 = upload(b), *s4 = upload(x);
  sgd_momentum<<<2, 64>>>(reinterpret_cast<float4*>(w4), reinterpret_cast<float4*>(s4),
                          reinterpret_cast<float4*>(dx), 0.1f, n / 4);
  expect(with("sgd_momentum", width), w4, n / 4 * 4,
         [&](std::size_t i) { return b[i] - 0.1 * (0.9 * x[i] + x[i]); });
}

int main() {
  norms(2, 49);
  norms(3, 256);
  pictures(16, 64);
  pictures(21, 37);
  tokens(100, 96);
  tokens(257, 130);
  elements(6, 128);
  elements(9, 200);
}
