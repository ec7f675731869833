// Every family of device functions once, with results that the host works out by other means.
#include <cassert>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

static int failures = 0;

#define EXPECT(condition)                                              \
  do {                                                                 \
    if (!(condition)) {                                                \
      std::printf("line %d: %s\n", __LINE__, #condition);              \
      ++failures;                                                      \
    }                                                                  \
  } while (0)
#define CHECK(call)                                                              \
  do {                                                                           \
    cudaError_t error_ = (call);                                                 \
    if (error_ != cudaSuccess) {                                                 \
      std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error_)); \
      return 1;                                                                  \
    }                                                                            \
  } while (0)

__global__ void integers(int* out, int x, int y) {
  int i = 0;
  const unsigned ux = static_cast<unsigned>(x), uy = static_cast<unsigned>(y);
  out[i++] = __popc(ux);
  out[i++] = __clz(x);
  out[i++] = __clz(0);
  out[i++] = __ffs(x);
  out[i++] = __ffs(0);
  out[i++] = static_cast<int>(__brev(ux));
  out[i++] = __mul24(x, y);
  out[i++] = __mulhi(x, y);
  out[i++] = static_cast<int>(__umulhi(ux, uy));
  out[i++] = static_cast<int>(__byte_perm(ux, uy, 0x5410));
  out[i++] = static_cast<int>(__funnelshift_l(ux, uy, 8));
  out[i++] = static_cast<int>(__funnelshift_r(ux, uy, 40));
  out[i++] = min(x, y);
  out[i++] = max(x, y);
  out[i++] = abs(y);
  out[i++] = __popcll(0x8000000000000001ull);
  out[i++] = __clzll(1ll << 20);
  out[i++] = __ffsll(1ll << 40);
  out[i++] = __dp4a(0x01020304, 0x01010101, 5);
  out[i++] = static_cast<int>(__sad(x, y, 1u));
}

__global__ void floats(float* out, float x, float y) {
  int i = 0;
  out[i++] = sqrtf(x);
  out[i++] = rsqrtf(x);
  out[i++] = fmaf(x, y, 1.0f);
  out[i++] = __fmaf_rn(x, y, 1.0f);
  out[i++] = __fadd_rn(x, y);
  out[i++] = __fmul_rn(x, y);
  out[i++] = __fdiv_rn(x, y);
  out[i++] = fminf(x, y);
  out[i++] = fmaxf(x, y);
  out[i++] = fabsf(y);
  out[i++] = floorf(y);
  out[i++] = ceilf(y);
  out[i++] = truncf(y);
  out[i++] = rintf(2.5f + x - x);
  out[i++] = roundf(2.5f + x - x);
  out[i++] = expf(y);
  out[i++] = logf(x);
  out[i++] = sinf(x);
  out[i++] = cosf(x);
  out[i++] = tanhf(y);
  out[i++] = powf(x, y);
  out[i++] = __int_as_float(__float_as_int(x));
  out[i++] = static_cast<float>(__float2int_rn(y));
  out[i++] = static_cast<float>(__float2int_rz(y));
  out[i++] = static_cast<float>(__float2int_rd(y));
  out[i++] = static_cast<float>(__float2int_ru(y));
  out[i++] = copysignf(x, y);
  out[i++] = fmodf(7.5f + x - x, 2.0f);
  out[i++] = __saturatef(x);
  out[i++] = std::sqrt(x) + std::abs(y) + max(x, y);
}

__global__ void doubles(double* out, double x, double y) {
  int i = 0;
  out[i++] = sqrt(x);
  out[i++] = rsqrt(x);
  out[i++] = fma(x, y, 1.0);
  out[i++] = __dadd_rn(x, y);
  out[i++] = __dmul_rn(x, y);
  out[i++] = fmin(x, y);
  out[i++] = fmax(x, y);
  out[i++] = exp(y);
  out[i++] = log(x);
  out[i++] = sin(x);
  out[i++] = cos(x);
  out[i++] = tanh(y);
  out[i++] = pow(x, y);
  out[i++] = floor(y);
  out[i++] = ceil(y);
  out[i++] = round(y);
  out[i++] = __double2int_rn(y);
  out[i++] = __hiloint2double(__double2hiint(x), __double2loint(x));
  out[i++] = max(1.0f, y);
}

// One warp. `out` has 32 words per row.
__global__ void warp(int* out, long long* wide, double* real) {
  const int lane = threadIdx.x;
  const unsigned all = 0xffffffffu;
  int row = 0;
  out[32 * row++ + lane] = __shfl_sync(all, lane * 3, 5);
  out[32 * row++ + lane] = __shfl_up_sync(all, lane, 1);
  out[32 * row++ + lane] = __shfl_down_sync(all, lane, 2);
  out[32 * row++ + lane] = __shfl_xor_sync(all, lane, 16);
  out[32 * row++ + lane] = __shfl_down_sync(all, lane, 4, 8);
  out[32 * row++ + lane] = __any_sync(all, lane == 7);
  out[32 * row++ + lane] = __all_sync(all, lane < 31);
  out[32 * row++ + lane] = static_cast<int>(__ballot_sync(all, lane % 2));
  out[32 * row++ + lane] = static_cast<int>(__match_any_sync(all, lane / 8));
  out[32 * row++ + lane] = static_cast<int>(__reduce_add_sync(all, lane));
  out[32 * row++ + lane] = static_cast<int>(__activemask());
  int same = -1;
  out[32 * row++ + lane] = static_cast<int>(__match_all_sync(all, 9, &same)) + same;
  __syncwarp();
  wide[lane] = __shfl_xor_sync(all, (1ll << 40) + lane, 1);
  real[lane] = __shfl_sync(all, lane + 0.5, 31 - lane);
}

__global__ void barriers(int* out) {
  const int i = threadIdx.x;
  const int odd = __syncthreads_count(i % 2);
  const int all = __syncthreads_and(i < 64);
  const int any = __syncthreads_or(i == 63);
  __threadfence();
  __threadfence_block();
  out[i] = odd * 100 + (all != 0) * 10 + (any != 0);
}

struct Sums {
  int i[10];
  unsigned u[10];
  unsigned long long w[8];
  float f[2];
  double d;
};
__global__ void atomics(Sums* s) {
  const int t = static_cast<int>(threadIdx.x);
  const unsigned u = threadIdx.x;
  atomicAdd(&s->i[0], t);
  atomicSub(&s->i[1], t);
  atomicMin(&s->i[2], -t);
  atomicMax(&s->i[3], t);
  atomicAnd(&s->i[4], ~(1 << (t % 31)));
  atomicOr(&s->i[5], 1 << (t % 31));
  atomicXor(&s->i[6], t);
  if (t == 5) s->i[7] = atomicExch(&s->i[8], 42);
  if (t == 6) atomicCAS(&s->i[9], 0, 17);
  atomicAdd(&s->u[0], u);
  atomicMin(&s->u[1], 5 + u);
  atomicMax(&s->u[2], u);
  atomicInc(&s->u[3], 9);
  atomicDec(&s->u[4], 9);
  atomicAdd(&s->w[0], 1ull << 33);
  atomicMax(&s->w[1], 1ull << t % 48);
  atomicMin(&s->w[2], 100ull + u);
  atomicCAS(&s->w[3], 0ull, 1ull << 50);
  atomicAdd(&s->f[0], 0.5f);
  if (t == 0) atomicExch(&s->f[1], 2.5f);
  atomicAdd(&s->d, 0.25);
  atomicAdd_block(&s->u[5], 1u);
  atomicAdd_system(&s->u[6], 1u);
}

__global__ void vectors(const float4* f, const int2* i, const double2* d, float* out, float4 by_value) {
  const float4 a = __ldg(f), b = f[1];
  const int2 c = __ldg(i);
  const double2 e = d[0];
  const float4 sum = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  const float4 part = {1.0f, 2.0f, 0.0f, 0.0f};
  float4 zero{};
  out[0] = sum.x + sum.y + sum.z + sum.w;
  out[1] = static_cast<float>(c.x * c.y);
  out[2] = static_cast<float>(e.x * e.y);
  out[3] = part.x + part.y + part.z + part.w + zero.w;
  out[4] = by_value.x * by_value.w;
  out[5] = __ldcg(&out[0]);
  const uint3 t = threadIdx;
  const dim3 g = gridDim;
  out[6] = static_cast<float>(t.x + g.x + blockDim.y + warpSize);
  assert(out[6] > 0.0f);
}

static bool near(double a, double b, double relative) {
  return std::fabs(a - b) <= relative * std::fabs(b);
}

static int check_integers() {
  int* d;
  int h[20];
  const int x = 0x00f0f010, y = -12345;
  const unsigned ux = static_cast<unsigned>(x), uy = static_cast<unsigned>(y);
  CHECK(cudaMalloc(&d, sizeof h));
  integers<<<1, 1>>>(d, x, y);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  int i = 0;
  EXPECT(h[i++] == __builtin_popcount(ux));
  EXPECT(h[i++] == __builtin_clz(ux));
  EXPECT(h[i++] == 32);
  EXPECT(h[i++] == __builtin_ffs(x));
  EXPECT(h[i++] == 0);
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= ((ux >> bit) & 1u) << (31 - bit);
  EXPECT(static_cast<unsigned>(h[i++]) == reversed);
  const std::int64_t low24 = static_cast<std::int64_t>(static_cast<int>(ux << 8) >> 8) * y;
  EXPECT(h[i++] == static_cast<int>(low24));
  EXPECT(h[i++] == static_cast<int>((static_cast<std::int64_t>(x) * y) >> 32));
  EXPECT(static_cast<unsigned>(h[i++]) == static_cast<unsigned>((static_cast<std::uint64_t>(ux) * uy) >> 32));
  EXPECT(static_cast<unsigned>(h[i++]) == ((ux & 0xffffu) | (uy << 16)));
  EXPECT(static_cast<unsigned>(h[i++]) == ((uy << 8) | (ux >> 24)));
  EXPECT(static_cast<unsigned>(h[i++]) == ((ux >> 8) | (uy << 24)));
  EXPECT(h[i++] == y);
  EXPECT(h[i++] == x);
  EXPECT(h[i++] == -y);
  EXPECT(h[i++] == 2);
  EXPECT(h[i++] == 43);
  EXPECT(h[i++] == 41);
  EXPECT(h[i++] == 15);
  EXPECT(static_cast<unsigned>(h[i++]) == ux - uy + 1u);
  CHECK(cudaFree(d));
  return 0;
}

static int check_floats() {
  float* d;
  float h[30];
  const float x = 2.75f, y = -1.3f;
  CHECK(cudaMalloc(&d, sizeof h));
  floats<<<1, 1>>>(d, x, y);
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  const double dx = x, dy = y;
  int i = 0;
  EXPECT(h[i++] == std::sqrt(x));
  EXPECT(near(h[i++], 1.0 / std::sqrt(dx), 3e-7));
  EXPECT(h[i++] == std::fma(x, y, 1.0f));
  EXPECT(h[i++] == std::fma(x, y, 1.0f));
  EXPECT(h[i++] == x + y);
  EXPECT(h[i++] == x * y);
  EXPECT(h[i++] == x / y);
  EXPECT(h[i++] == y);
  EXPECT(h[i++] == x);
  EXPECT(h[i++] == -y);
  EXPECT(h[i++] == -2.0f);
  EXPECT(h[i++] == -1.0f);
  EXPECT(h[i++] == -1.0f);
  EXPECT(h[i++] == 2.0f);
  EXPECT(h[i++] == 3.0f);
  EXPECT(near(h[i++], std::exp(dy), 5e-7));
  EXPECT(near(h[i++], std::log(dx), 5e-7));
  EXPECT(near(h[i++], std::sin(dx), 2e-7));
  EXPECT(near(h[i++], std::cos(dx), 2e-7));
  EXPECT(near(h[i++], std::tanh(dy), 2e-7));
  EXPECT(near(h[i++], std::pow(dx, dy), 2e-7));
  EXPECT(h[i++] == x);
  EXPECT(h[i++] == -1.0f);
  EXPECT(h[i++] == -1.0f);
  EXPECT(h[i++] == -2.0f);
  EXPECT(h[i++] == -1.0f);
  EXPECT(h[i++] == -x);
  EXPECT(h[i++] == 1.5f);
  EXPECT(h[i++] == 1.0f);
  EXPECT(near(h[i++], std::sqrt(dx) - dy + dx, 3e-7));
  CHECK(cudaFree(d));
  return 0;
}

static int check_doubles() {
  double* d;
  double h[19];
  const double x = 2.75, y = -1.3;
  CHECK(cudaMalloc(&d, sizeof h));
  doubles<<<1, 1>>>(d, x, y);
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  int i = 0;
  EXPECT(h[i++] == std::sqrt(x));
  EXPECT(near(h[i++], 1.0 / std::sqrt(x), 1e-15));
  EXPECT(h[i++] == std::fma(x, y, 1.0));
  EXPECT(h[i++] == x + y);
  EXPECT(h[i++] == x * y);
  EXPECT(h[i++] == y);
  EXPECT(h[i++] == x);
  EXPECT(near(h[i++], std::exp(y), 1e-14));
  EXPECT(near(h[i++], std::log(x), 1e-14));
  EXPECT(near(h[i++], std::sin(x), 1e-14));
  EXPECT(near(h[i++], std::cos(x), 1e-14));
  EXPECT(near(h[i++], std::tanh(y), 1e-14));
  EXPECT(near(h[i++], std::pow(x, y), 1e-14));
  EXPECT(h[i++] == -2.0);
  EXPECT(h[i++] == -1.0);
  EXPECT(h[i++] == -1.0);
  EXPECT(h[i++] == -1.0);
  EXPECT(h[i++] == x);
  EXPECT(h[i++] == 1.0);
  CHECK(cudaFree(d));
  return 0;
}

static int check_warp() {
  int* d;
  long long* wide;
  double* real;
  int h[12 * 32];
  long long hw[32];
  double hr[32];
  CHECK(cudaMalloc(&d, sizeof h));
  CHECK(cudaMalloc(&wide, sizeof hw));
  CHECK(cudaMalloc(&real, sizeof hr));
  warp<<<1, 32>>>(d, wide, real);
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(hw, wide, sizeof hw, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(hr, real, sizeof hr, cudaMemcpyDeviceToHost));
  for (int lane = 0; lane < 32; ++lane) {
    int row = 0;
    EXPECT(h[32 * row++ + lane] == 15);
    EXPECT(h[32 * row++ + lane] == (lane ? lane - 1 : 0));
    EXPECT(h[32 * row++ + lane] == (lane < 30 ? lane + 2 : lane));
    EXPECT(h[32 * row++ + lane] == (lane ^ 16));
    EXPECT(h[32 * row++ + lane] == (lane % 8 < 4 ? lane + 4 : lane));
    EXPECT(h[32 * row++ + lane] == 1);
    EXPECT(h[32 * row++ + lane] == 0);
    EXPECT(static_cast<unsigned>(h[32 * row++ + lane]) == 0xaaaaaaaau);
    EXPECT(static_cast<unsigned>(h[32 * row++ + lane]) == 0xffu << lane / 8 * 8);
    EXPECT(h[32 * row++ + lane] == 496);
    EXPECT(h[32 * row++ + lane] == -1);
    EXPECT(h[32 * row++ + lane] == 0);
    EXPECT(hw[lane] == (1ll << 40) + (lane ^ 1));
    EXPECT(hr[lane] == 31 - lane + 0.5);
  }
  CHECK(cudaFree(d));
  CHECK(cudaFree(wide));
  CHECK(cudaFree(real));
  return 0;
}

static int check_barriers() {
  int* d;
  int h[64];
  CHECK(cudaMalloc(&d, sizeof h));
  barriers<<<1, 64>>>(d);
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) EXPECT(h[i] == 3211);
  CHECK(cudaFree(d));
  return 0;
}

static int check_atomics() {
  Sums h, *d;
  std::memset(&h, 0, sizeof h);
  h.i[4] = h.i[7] = -1;
  h.u[1] = 1000;
  h.w[2] = 1000;
  CHECK(cudaMalloc(&d, sizeof h));
  CHECK(cudaMemcpy(d, &h, sizeof h, cudaMemcpyHostToDevice));
  atomics<<<1, 64>>>(d);
  CHECK(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(h.i[0] == 2016);
  EXPECT(h.i[1] == -2016);
  EXPECT(h.i[2] == -63);
  EXPECT(h.i[3] == 63);
  EXPECT(h.i[4] == INT_MIN);
  EXPECT(h.i[5] == INT_MAX);
  EXPECT(h.i[6] == 0);
  EXPECT(h.i[7] == 0);
  EXPECT(h.i[8] == 42);
  EXPECT(h.i[9] == 17);
  EXPECT(h.u[0] == 2016);
  EXPECT(h.u[1] == 5);
  EXPECT(h.u[2] == 63);
  EXPECT(h.u[3] == 4);  // 64 steps of a counter that wraps after 9
  EXPECT(h.u[4] == 6);
  EXPECT(h.u[5] == 64);
  EXPECT(h.u[6] == 64);
  EXPECT(h.w[0] == 64ull << 33);
  EXPECT(h.w[1] == 1ull << 47);
  EXPECT(h.w[2] == 100);
  EXPECT(h.w[3] == 1ull << 50);
  EXPECT(h.f[0] == 32.0f);
  EXPECT(h.f[1] == 2.5f);
  EXPECT(h.d == 16.0);
  CHECK(cudaFree(d));
  return 0;
}

static int check_vectors() {
  const float f[8] = {1, 2, 3, 4, 10, 20, 30, 40};
  const int i[2] = {6, 7};
  const double dd[2] = {1.5, 4.0};
  float4* df;
  int2* di;
  double2* ddev;
  float *out, h[7];
  CHECK(cudaMalloc(&df, sizeof f));
  CHECK(cudaMalloc(&di, sizeof i));
  CHECK(cudaMalloc(&ddev, sizeof dd));
  CHECK(cudaMalloc(&out, sizeof h));
  CHECK(cudaMemcpy(df, f, sizeof f, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(di, i, sizeof i, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(ddev, dd, sizeof dd, cudaMemcpyHostToDevice));
  vectors<<<dim3(1), dim3(1, 1, 1)>>>(df, di, ddev, out, make_float4(3, 0, 0, 5));
  CHECK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(h[0] == 110.0f);
  EXPECT(h[1] == 42.0f);
  EXPECT(h[2] == 6.0f);
  EXPECT(h[3] == 3.0f);
  EXPECT(h[4] == 15.0f);
  EXPECT(h[5] == 110.0f);
  EXPECT(h[6] == 34.0f);
  CHECK(cudaFree(df));
  CHECK(cudaFree(di));
  CHECK(cudaFree(ddev));
  CHECK(cudaFree(out));
  return 0;
}

int main() {
  if (check_integers() || check_floats() || check_doubles() || check_warp() ||
      check_barriers() || check_atomics() || check_vectors())
    return 1;
  std::printf("intrinsics: %d failures\n", failures);
  return failures != 0;
}
