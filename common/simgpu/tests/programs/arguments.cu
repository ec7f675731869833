// Arguments by value: structs, arrays in structs, small types with gaps between them, vector types; extern "C" kernels;
// launches through cudaLaunchKernel; pointers to pointers.
#include "check.h"

struct View {
  float* data;
  int rows, cols, ld;
  __host__ __device__ float& at(int r, int c) const { return data[r * ld + c]; }
};
struct Mixed {
  char a;
  double b;
  short c[3];
  float4 d;
  bool e;
};

__global__ void mixed(char a, short b, int c, long long d, bool e, float f, double g, unsigned char h, Mixed m, int3 v,
                      double* out) {
  out[0] = a + b + c + static_cast<double>(d) + e + f + g + h;
  out[1] = m.a + m.b + m.c[0] + m.c[1] + m.c[2] + m.d.x + m.d.w + m.e;
  out[2] = v.x + v.y * 10 + v.z * 100;
}

extern "C" __global__ void saxpy(int n, float alpha, const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

__global__ void scale(View v, float s) {
  const int r = threadIdx.y, c = threadIdx.x;
  if (r < v.rows && c < v.cols) v.at(r, c) *= s;
}

__global__ void gather(float* const* rows, int n, float* out) {
  for (int i = 0; i < n; ++i) out[i] = rows[i][threadIdx.x];
}

int main() {
  double* out;
  CHECK(cudaMalloc(&out, 3 * sizeof(double)));
  Mixed m = {1, 2.5, {3, 4, 5}, make_float4(6, 0, 0, 7), true};
  mixed<<<1, 1>>>(1, 2, 3, 1ll << 40, true, 0.5f, 0.25, 200, m, make_int3(1, 2, 3), out);
  double values[3];
  CHECK(cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost));
  std::printf("%.2f %g %g\n", values[0], values[1], values[2]);

  float host[24], *x, *y;
  for (int i = 0; i < 24; ++i) host[i] = static_cast<float>(i);
  CHECK(cudaMalloc(&x, sizeof host));
  CHECK(cudaMalloc(&y, sizeof host));
  CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(y, x, sizeof host, cudaMemcpyDeviceToDevice));
  int n = 24;
  float alpha = 2.0f;
  void* args[] = {&n, &alpha, &x, &y};
  CHECK(cudaLaunchKernel(saxpy, dim3(1), dim3(32), args, 0, nullptr));
  View v = {y, 3, 5, 8};
  scale<<<1, dim3(8, 4)>>>(v, 10.0f);
  CHECK(cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost));
  for (int r = 0; r < 3; ++r) std::printf("%g %g %g\n", host[8 * r], host[8 * r + 4], host[8 * r + 5]);

  float* rows[3] = {y, y + 8, y + 16};
  float** drows;
  float *gathered, got[3];
  CHECK(cudaMalloc(&drows, sizeof rows));
  CHECK(cudaMalloc(&gathered, sizeof got));
  CHECK(cudaMemcpy(drows, rows, sizeof rows, cudaMemcpyHostToDevice));
  gather<<<1, 1>>>(drows, 3, gathered);
  CHECK(cudaMemcpy(got, gathered, sizeof got, cudaMemcpyDeviceToHost));
  std::printf("%g %g %g\n", got[0], got[1], got[2]);
  return 0;
}
