// Every function of math_engine.h over its range, in double and in float, against the host's C library.
#include <cmath>
#include <cstdio>

#define UNARY(F) \
  F(acos, -1, 1) F(asin, -1, 1) F(atan, -50, 50) F(acosh, 1, 90) F(asinh, -90, 90) F(atanh, -0.99, 0.99) \
  F(cbrt, -90, 90) F(erf, -4, 4) F(erfc, -4, 9) F(tgamma, 0.1, 30) F(lgamma, 0.1, 90) F(expm1, -5, 5) \
  F(log1p, -0.9, 90) F(logb, 0.01, 1e9) F(j0, 0, 30) F(j1, 0, 30) F(y0, 0.1, 30) F(y1, 0.1, 30)
#define BINARY(F) F(atan2, -9, 9) F(fmod, -1e9, 9) F(hypot, -9, 9) F(fdim, -9, 9) F(remainder, -90, 9) F(nextafter, -9, 9)

constexpr int n = 256;

#define KERNEL(name, low, high) \
  __global__ void k_##name(const double* x, double* y, float* z) { \
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); \
    y[i] = name(x[i]); \
    z[i] = name##f(static_cast<float>(x[i])); \
  }
UNARY(KERNEL)
#undef KERNEL
#define KERNEL(name, low, high) \
  __global__ void k_##name(const double* x, double* y, float* z) { \
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); \
    y[i] = name(x[i], x[n - 1 - i] + 0.37); \
    z[i] = name(static_cast<float>(x[i]), static_cast<float>(x[n - 1 - i]) + 0.37f); \
  }
BINARY(KERNEL)
#undef KERNEL

__global__ void parts(double x, double* out) {
  int e = 0;
  double whole = 0;
  out[0] = frexp(x, &e);
  out[1] = e;
  out[2] = ldexp(x, -3);
  out[3] = modf(x, &whole);
  out[4] = whole;
  out[5] = static_cast<double>(lround(x));
  out[6] = static_cast<double>(llrint(x));
  out[7] = ilogb(x);
  out[8] = remquo(x, 3.0, &e);
  out[9] = e;
  out[10] = scalbnf(1.5f, 4);
  out[11] = erfinv(erf(0.3)) - 0.3;
  out[12] = normcdfinv(normcdf(-1.25)) + 1.25;
  out[13] = sinpi(0.5) + cospi(1.0) + sinpi(7.0);
  out[14] = norm3d(2.0, 3.0, 6.0);
  out[15] = rhypot(3.0, 4.0);
}

int main() {
  double *x, *y, in[n], out[n];
  float *z, single[n];
  cudaMalloc(&x, sizeof in);
  cudaMalloc(&y, sizeof out);
  cudaMalloc(&z, sizeof single);
  int wrong = 0, functions = 0;
  // A float result is rounded once from double: half a unit in the last place, and one more for the host's own.
#define RUN(f, low, high, expected, expected_single) \
  for (int i = 0; i < n; ++i) in[i] = low + (high - (low)) * i / (n - 1.0); \
  cudaMemcpy(x, in, sizeof in, cudaMemcpyHostToDevice); \
  k_##f<<<n / 64, 64>>>(x, y, z); \
  cudaMemcpy(out, y, sizeof out, cudaMemcpyDeviceToHost); \
  cudaMemcpy(single, z, sizeof single, cudaMemcpyDeviceToHost); \
  for (int i = 0; i < n; ++i) { \
    const double d = expected, s = expected_single; \
    wrong += !(out[i] == d || (std::isnan(d) && std::isnan(out[i]))); \
    wrong += !(std::fabs(single[i] - s) <= 1.2e-7 * std::fabs(s)); \
  } \
  ++functions;
#define ONE(f, low, high) RUN(f, low, high, f(in[i]), f(static_cast<double>(static_cast<float>(in[i]))))
  UNARY(ONE)
#define TWO(f, low, high) \
  RUN(f, low, high, std::f(in[i], in[n - 1 - i] + 0.37), \
      std::f(static_cast<float>(in[i]), static_cast<float>(in[n - 1 - i]) + 0.37f))
  BINARY(TWO)
  std::printf("%d functions, %d wrong\n", functions, wrong);
  parts<<<1, 1>>>(-21.625, y);
  cudaMemcpy(out, y, 16 * sizeof(double), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 16; ++i) std::printf("%.6g%c", std::fabs(out[i]) < 1e-15 ? 0.0 : out[i], i == 15 ? '\n' : ' ');
}
