// What networks are made of, as small inference and training programs write it. See kernels.hpp.
#include "grader/author/counts/others/kernels.hpp"

static std::string with(const char* kernel, int rows, int columns) {
  return std::string(kernel) + ", " + std::to_string(rows) + " x " + std::to_string(columns);
}

__global__ void rmsnorm(float* o, const float* x, const float* weight, int size) {
  x += blockIdx.x * size;
  o += blockIdx.x * size;
  __shared__ float shared_ss[32];
  float ss = 0.0f;
  for (int j = threadIdx.x; j < size; j += blockDim.x) ss += x[j] * x[j];
  for (int offset = 16; offset > 0; offset /= 2) ss += __shfl_xor_sync(0xffffffff, ss, offset);
  if (threadIdx.x % 32 == 0) shared_ss[threadIdx.x / 32] = ss;
  __syncthreads();
  ss = threadIdx.x % 32 < blockDim.x / 32 ? shared_ss[threadIdx.x % 32] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) ss += __shfl_xor_sync(0xffffffff, ss, offset);
  const float scale = rsqrtf(ss / size + 1e-5f);
  for (int j = threadIdx.x; j < size; j += blockDim.x) o[j] = weight[j] * (scale * x[j]);
}

// Cosines and sines are given, one row per position.
__global__ void rope(float* q, const float* cosines, const float* sines, int heads, int head_size) {
  const int position = blockIdx.y, i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  if (i >= heads * head_size) return;
  const int pair = i % head_size / 2;
  const float c = cosines[position * (head_size / 2) + pair];
  const float s = sines[position * (head_size / 2) + pair];
  float* const v = q + position * heads * head_size + i;
  const float v0 = v[0], v1 = v[1];
  v[0] = v0 * c - v1 * s;
  v[1] = v0 * s + v1 * c;
}

__global__ void swiglu(const float* gate, const float* up, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float val = gate[i];
    val *= 1.0f / (1.0f + expf(-val));
    out[i] = val * up[i];
  }
}

__global__ void gelu_vectors(const float4* in, float4* out, int n4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  const float4 x = in[i];
  const auto gelu = [](float v) {
    const float cube = 0.044715f * v * v * v;
    return 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + cube)));
  };
  out[i] = make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w));
}

// A warp per row: the maximum and the sum in one pass.
__global__ void softmax_online(const float* in, float* out, int rows, int n) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* x = in + row * n;
  float most = -INFINITY, sum = 0.0f;
  for (int i = lane; i < n; i += 32) {
    const float before = most;
    most = fmaxf(most, x[i]);
    sum = sum * expf(before - most) + expf(x[i] - most);
  }
  for (int d = 16; d > 0; d /= 2) {
    const float other_most = __shfl_xor_sync(0xffffffff, most, d);
    const float other_sum = __shfl_xor_sync(0xffffffff, sum, d);
    const float both = fmaxf(most, other_most);
    sum = (most == both ? sum : sum * expf(most - both)) +
          (other_most == both ? other_sum : other_sum * expf(other_most - both));
    most = both;
  }
  for (int i = lane; i < n; i += 32) out[row * n + i] = expf(x[i] - most) / sum;
}

__global__ void layernorm_forward(float* __restrict__ out, float* __restrict__ mean,
                                  float* __restrict__ rstd, const float* __restrict__ inp,
                                  const float* __restrict__ weight, const float* __restrict__ bias,
                                  int N, int C) {
  __shared__ float parts[2][8];
  const int idx = blockIdx.x, tid = threadIdx.x;
  const float* x = inp + idx * C;
  float sum = 0.0f, sq = 0.0f;
  for (int i = tid; i < C; i += blockDim.x) {
    sum += x[i];
    sq += x[i] * x[i];
  }
  for (int d = 16; d > 0; d >>= 1) {
    sum += __shfl_down_sync(0xffffffff, sum, d);
    sq += __shfl_down_sync(0xffffffff, sq, d);
  }
  if ((tid & 31) == 0) parts[0][tid >> 5] = sum, parts[1][tid >> 5] = sq;
  __syncthreads();
  sum = sq = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) sum += parts[0][w], sq += parts[1][w];
  const float m = sum / C, s = rsqrtf(sq / C - m * m + 1e-5f);
  if (tid == 0) mean[idx] = m, rstd[idx] = s;
  float* o = out + idx * C;
  for (int c = tid; c < C; c += blockDim.x) o[c] = s * (x[c] - m) * weight[c] + bias[c];
}

// One head, a tile of 32 queries per block, keys and values in tiles of 32.
template <int D>
__global__ void flash_tile(const float* Q, const float* K, const float* V, float* O, int n,
                           float scale) {
  __shared__ float q[32][D], k[32][D + 1], v[32][D], s[32][33];
  const int t = threadIdx.x, base = blockIdx.x * 32;
  for (int i = 0; i < 32; ++i)
    for (int x = t; x < D; x += 32) q[i][x] = Q[(base + i) * D + x];
  float l = 0, m = -INFINITY, o[D];
  for (int x = 0; x < D; ++x) o[x] = 0;
  for (int j = 0; j < n; j += 32) {
    for (int i = 0; i < 32; ++i)
      for (int x = t; x < D; x += 32) {
        k[i][x] = K[(j + i) * D + x];
        v[i][x] = V[(j + i) * D + x];
      }
    __syncthreads();
    float row_m = -INFINITY;
    for (int y = 0; y < 32; y++) {
      float sum = 0;
      for (int x = 0; x < D; x++) sum += q[t][x] * k[y][x];
      sum *= scale;
      s[t][y] = sum;
      if (sum > row_m) row_m = sum;
    }
    const float new_m = fmaxf(m, row_m), keep = __expf(m - new_m);
    float row_l = 0;
    for (int y = 0; y < 32; y++) {
      s[t][y] = __expf(s[t][y] - new_m);
      row_l += s[t][y];
    }
    for (int x = 0; x < D; x++) {
      float pv = 0;
      for (int y = 0; y < 32; y++) pv += s[t][y] * v[y][x];
      o[x] = o[x] * keep + pv;
    }
    l = l * keep + row_l;
    m = new_m;
    __syncthreads();
  }
  for (int x = 0; x < D; ++x) O[(base + t) * D + x] = o[x] / l;
}

__global__ void bias_backward(float* dbias, const float* dout, int rows, int columns) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= columns) return;
  float sum = 0.0f;
  for (int r = blockIdx.y; r < rows; r += gridDim.y) sum += dout[r * columns + col];
  atomicAdd(&dbias[col], sum);
}

__device__ inline float lerp(float start, float end, float weight) {
  return fmaf(weight, end, fmaf(-weight, start, start));
}
__global__ void adamw(float* params, const float* grads, float* m_memory, float* v_memory, long n,
                      float rate, float beta1, float beta2, float eps, float decay) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float grad = grads[i];
  const float m = lerp(grad, m_memory[i], beta1), v = lerp(grad * grad, v_memory[i], beta2);
  m_memory[i] = m;
  v_memory[i] = v;
  params[i] -= rate * (m / (sqrtf(v) + eps) + decay * params[i]);
}

__global__ void cross_entropy(float* losses, const float* probabilities, const int* targets,
                              int rows, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) losses[i] = -logf(probabilities[i * n + targets[i]]);
}

__global__ void argmax_rows(const float* in, int* out, int n) {
  __shared__ float values[128];
  __shared__ int places[128];
  const float* x = in + blockIdx.x * n;
  float most = -INFINITY;
  int place = 0;
  for (int i = threadIdx.x; i < n; i += 128)
    if (x[i] > most) most = x[i], place = i;
  values[threadIdx.x] = most;
  places[threadIdx.x] = place;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (threadIdx.x < s) {
      const float other = values[threadIdx.x + s];
      const int at = places[threadIdx.x + s];
      if (other > values[threadIdx.x] || (other == values[threadIdx.x] && at < places[threadIdx.x]))
        values[threadIdx.x] = other, places[threadIdx.x] = at;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = places[0];
}

__global__ void embed(float4* out, const int* tokens, const float4* wte, const float4* wpe, int T,
                      int C4, int all) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= all) return;
  const int bt = i / C4, c = i % C4, t = bt % T;
  const float4 a = wte[tokens[bt] * C4 + c], b = wpe[t * C4 + c];
  out[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// int8 weights with a scale for each group of 32 columns.
__global__ void matvec_quantised(const signed char* w, const float* scales, const float* x,
                                 float* y, int n) {
  const int row = blockIdx.x, lane = threadIdx.x;
  float sum = 0;
  for (int j = lane * 4; j < n; j += 128) {
    const char4 q = *reinterpret_cast<const char4*>(&w[row * n + j]);
    const float4 v = *reinterpret_cast<const float4*>(&x[j]);
    sum += scales[(row * n + j) / 32] * (q.x * v.x + q.y * v.y + q.z * v.z + q.w * v.w);
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  if (lane == 0) y[row] = sum;
}

__global__ void residual_norm_half(__half2* x, const __half2* add, const __half2* weight, int n2) {
  __shared__ float all;
  const int t = threadIdx.x;
  if (t == 0) all = 0;
  __syncthreads();
  float squares = 0;
  for (int i = t; i < n2; i += blockDim.x) {
    const __half2 v = __hadd2(x[blockIdx.x * n2 + i], add[blockIdx.x * n2 + i]);
    x[blockIdx.x * n2 + i] = v;
    const float2 f = __half22float2(v);
    squares += f.x * f.x + f.y * f.y;
  }
  for (int d = 16; d > 0; d /= 2) squares += __shfl_xor_sync(0xffffffff, squares, d);
  if (t % 32 == 0) atomicAdd(&all, squares);
  __syncthreads();
  const __half2 scale = __float2half2_rn(rsqrtf(all / (2 * n2) + 1e-5f));
  for (int i = t; i < n2; i += blockDim.x)
    x[blockIdx.x * n2 + i] = __hmul2(__hmul2(x[blockIdx.x * n2 + i], scale), weight[i]);
}

// (B, N, NH, d) to (B, NH, N, d)
__global__ void permute(float* out, const float* in, int N, int NH, int d, int all) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < all) {
    const int b = idx / (NH * N * d);
    int rest = idx % (NH * N * d);
    const int nh = rest / (N * d);
    rest = rest % (N * d);
    const int n = rest / d, d_ = rest % d;
    out[idx] = in[(b * N * NH * d) + (n * NH * d) + (nh * d) + d_];
  }
}

__global__ void dropout_hashed(const float* in, float* out, int n, unsigned seed, float keep) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned h = i ^ seed;
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    h ^= h >> 16;
    out[i] = (h >> 8) * (1.0f / 16777216.0f) < keep ? in[i] / keep : 0.0f;
  }
}

static void norms(int rows, int n, int threads) {
  const std::vector<float> x = some_floats(rows * n, 1), w = some_floats(n, 2),
                           b = some_floats(n, 3);
  float *dx = upload(x), *dw = upload(w), *out = upload(std::vector<float>(rows * n));
  const auto squares = [&](std::size_t row) {
    double s = 0;
    for (int j = 0; j < n; ++j) s += double(x[row * n + j]) * x[row * n + j];
    return s / n;
  };
  rmsnorm<<<rows, threads>>>(out, dx, dw, n);
  expect(with("rmsnorm", rows, n), out, x.size(),
         [&](std::size_t i) { return w[i % n] * x[i] / std::sqrt(squares(i / n) + 1e-5); });
  float *mean = upload(std::vector<float>(rows)), *rstd = upload(std::vector<float>(rows));
  layernorm_forward<<<rows, threads>>>(out, mean, rstd, dx, dw, upload(b), rows, n);
  expect(with("layernorm_forward", rows, n), out, x.size(), [&](std::size_t i) {
    double m = 0;
    for (int j = 0; j < n; ++j) m += x[i / n * n + j];
    m /= n;
    return (x[i] - m) / std::sqrt(squares(i / n) - m * m + 1e-5) * w[i % n] + b[i % n];
  });
  softmax_online<<<(rows + 3) / 4, 128>>>(dx, out, rows, n);
  expect(with("softmax_online", rows, n), out, x.size(), [&](std::size_t i) {
    double s = 0;
    for (int j = 0; j < n; ++j) s += std::exp(double(x[i / n * n + j]) - x[i]);
    return 1 / s;
  });
  int* places = upload(std::vector<int>(rows));
  argmax_rows<<<rows, 128>>>(dx, places, n);
  expect(with("argmax_rows", rows, n), places, rows, [&](std::size_t r) {
    return std::max_element(x.begin() + r * n, x.begin() + (r + 1) * n) - (x.begin() + r * n);
  });
  std::vector<__half> half(rows * n), ones(n, __float2half(1.0f));
  for (int i = 0; i < rows * n; ++i) half[i] = __float2half(x[i]);
  auto *h = reinterpret_cast<__half2*>(upload(half)),
       *add = reinterpret_cast<__half2*>(upload(half));
  residual_norm_half<<<rows, 64>>>(h, add, reinterpret_cast<__half2*>(upload(ones)), n / 2);
  std::vector<double> near(rows * n);
  const std::vector<__half> got = download(reinterpret_cast<__half*>(h), rows * n);
  for (int i = 0; i < rows * n; ++i) {
    near[i] = 2 * x[i] / std::sqrt(4 * squares(i / n) + 1e-5);
    const double v = __half2float(got[i]);  // rounded twice to 11 bits
    if (std::fabs(v - near[i]) <= 3e-3 * (1 + std::fabs(near[i]))) near[i] = v;
  }
  expect(with("residual_norm_half", rows, n), reinterpret_cast<__half*>(h), rows * n,
         [&](std::size_t i) { return near[i]; });
}

static void elements(int rows, int n) {
  const int all = rows * n;
  const std::vector<float> x = some_floats(all, 4), y = some_floats(all, 5);
  float *dx = upload(x), *dy = upload(y), *out = upload(std::vector<float>(all));
  swiglu<<<(all + 127) / 128, 128>>>(dx, dy, out, all);
  expect(with("swiglu", rows, n), out, all,
         [&](std::size_t i) { return x[i] / (1 + std::exp(-double(x[i]))) * y[i]; });
  gelu_vectors<<<(all / 4 + 63) / 64, 64>>>(reinterpret_cast<float4*>(dx),
                                            reinterpret_cast<float4*>(out), all / 4);
  expect(with("gelu_vectors", rows, n), out, all, [&](std::size_t i) {
    const double v = x[i];
    return 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
  });
  const int d = n / 4;  // four heads
  std::vector<float> c(rows * d / 2), s(c.size());
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = std::cos(float(i)), s[i] = std::sin(float(i));
  rope<<<dim3((n / 2 + 31) / 32, rows), 32>>>(dx, upload(c), upload(s), 4, d);
  expect(with("rope", rows, n), dx, all, [&](std::size_t i) {
    const std::size_t p = i / n * (d / 2) + i % d / 2, even = i / 2 * 2;
    return i % 2 == 0 ? double(x[even]) * c[p] - double(x[even + 1]) * s[p]
                      : double(x[even]) * s[p] + double(x[even + 1]) * c[p];
  });
  permute<<<(all + 255) / 256, 256>>>(out, dy, rows, 4, d, all);
  expect(with("permute", rows, n), out, all, [&](std::size_t i) {
    const std::size_t head = i / (rows * d), row = i / d % rows;
    return y[row * n + head * d + i % d];
  });
  dropout_hashed<<<4, 96>>>(dy, out, all, 77u, 0.8f);
  expect(with("dropout_hashed", rows, n), out, all, [&](std::size_t i) {
    unsigned h = unsigned(i) ^ 77u;
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    h ^= h >> 16;
    return float(h >> 8) * (1.0f / 16777216.0f) < 0.8f ? y[i] / 0.8f : 0.0f;
  });
}

static void attention(int n) {
  constexpr int D = 32;
  const std::vector<float> q = some_floats(n * D, 6), k = some_floats(n * D, 7),
                           v = some_floats(n * D, 8);
  float* out = upload(std::vector<float>(n * D));
  flash_tile<D><<<n / 32, 32>>>(upload(q), upload(k), upload(v), out, n, 0.1f);
  expect(with("flash_tile", n, D), out, n * D, [&](std::size_t i) {
    double sum = 0, result = 0;
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int x = 0; x < D; ++x) s += double(q[i / D * D + x]) * k[j * D + x];
      s = std::exp(0.1 * s);
      sum += s, result += s * v[j * D + i % D];
    }
    return result / sum;
  });
}

static void training(int rows, int n) {
  const std::vector<float> x = some_floats(rows * n, 9), g = some_floats(rows * n, 10);
  float *dbias = upload(std::vector<float>(n)), *dx = upload(x), *dg = upload(g);
  bias_backward<<<dim3((n + 31) / 32, 4), 32>>>(dbias, dx, rows, n);
  expect(with("bias_backward", rows, n), dbias, n, [&](std::size_t j) {
    double s = 0;
    for (int r = 0; r < rows; ++r) s += x[r * n + j];
    return s;
  });
  float *m = upload(std::vector<float>(rows * n)), *v = upload(std::vector<float>(rows * n));
  adamw<<<(rows * n + 127) / 128, 128>>>(dx, dg, m, v, rows * n, 0.01f, 0.9f, 0.99f, 1e-3f, 0.1f);
  expect(with("adamw", rows, n), dx, rows * n, [&](std::size_t i) {
    const double grad = g[i], m1 = 0.1 * grad, v1 = 0.01 * grad * grad;
    return x[i] - 0.01 * (m1 / (std::sqrt(v1) + 1e-3) + 0.1 * x[i]);
  });
  std::vector<float> p(rows * n);
  std::vector<int> target(rows);
  for (int i = 0; i < rows * n; ++i) p[i] = float(i % 97 + 1) / 98;
  for (int r = 0; r < rows; ++r) target[r] = r * 7 % n;
  float* losses = upload(std::vector<float>(rows));
  cross_entropy<<<(rows + 63) / 64, 64>>>(losses, upload(p), upload(target), rows, n);
  expect(with("cross_entropy", rows, n), losses, rows,
         [&](std::size_t r) { return -std::log(p[r * n + target[r]]); });
  const std::vector<float> wte = some_floats(50 * n, 11), wpe = some_floats(rows * n, 12);
  for (int& t : target) t = t * 5 % 50;
  float* out = upload(std::vector<float>(rows * n));
  embed<<<(rows * n / 4 + 127) / 128, 128>>>(
      reinterpret_cast<float4*>(out), upload(target), reinterpret_cast<float4*>(upload(wte)),
      reinterpret_cast<float4*>(upload(wpe)), rows, n / 4, rows * n / 4);
  expect(with("embed", rows, n), out, rows * n,
         [&](std::size_t i) { return wte[target[i / n] * n + i % n] + wpe[i]; });
  std::vector<signed char> w(rows * n);
  for (int i = 0; i < rows * n; ++i) w[i] = i * 29 % 255 - 127;
  std::vector<float> scales(rows * n / 32);
  for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = 0.01f * float(i % 7 + 1);
  const std::vector<float> vector = some_floats(n, 13);
  matvec_quantised<<<rows, 32>>>(upload(w), upload(scales), upload(vector), losses, n);
  expect(with("matvec_quantised", rows, n), losses, rows, [&](std::size_t r) {
    double s = 0;
    for (int j = 0; j < n; ++j) s += double(scales[(r * n + j) / 32]) * w[r * n + j] * vector[j];
    return s;
  });
}

int main() {
  norms(8, 256, 128);
  norms(5, 768, 256);
  norms(13, 100, 64);
  elements(16, 64);
  elements(9, 160);
  attention(64);
  attention(128);
  training(12, 128);
  training(30, 96);
  return 0;
}
