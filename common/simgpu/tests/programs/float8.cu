// cuda_fp8.h: host and device give the same bytes and the same values.
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

__global__ void convert(const float* in, unsigned* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  const float2 pair = make_float2(in[i], in[n - 1 - i]);
  const __nv_fp8x2_e4m3 a(pair);
  const __nv_fp8x2_e5m2 b(pair);
  out[4 * i] = a.__x | unsigned(b.__x) << 16;
  out[4 * i + 1] = __nv_fp8_e4m3(in[i]).__x | __nv_fp8_e5m2(in[i]).__x << 8;
  const __half2 h = __half2(a);
  out[4 * i + 2] = __float_as_uint(__half2float(__low2half(h)));
  out[4 * i + 3] = __float_as_uint(float(__nv_fp8_e5m2(in[i])));
}

int main() {
  const std::vector<float> in = {0.0f, 1.0f, -1.5f, 0.3f, 447.0f, 500.0f, -1e9f, 60000.0f, 0.001f, -0.0f};
  const int n = static_cast<int>(in.size());
  float* device_in;
  unsigned* device_out;
  cudaMalloc(&device_in, n * sizeof(float));
  cudaMalloc(&device_out, 4 * n * sizeof(unsigned));
  cudaMemcpy(device_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  convert<<<1, 32>>>(device_in, device_out, n);
  std::vector<unsigned> out(4 * n);
  cudaMemcpy(out.data(), device_out, out.size() * sizeof(unsigned), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) {
    const __nv_fp8_e4m3 a(in[i]), c(in[n - 1 - i]);
    const __nv_fp8_e5m2 b(in[i]), d(in[n - 1 - i]);
    const unsigned pairs = a.__x | c.__x << 8 | unsigned(b.__x) << 16 | unsigned(d.__x) << 24;
    float low, five;
    std::memcpy(&low, &out[4 * i + 2], 4);
    std::memcpy(&five, &out[4 * i + 3], 4);
    if (out[4 * i] != pairs || out[4 * i + 1] != (a.__x | unsigned(b.__x) << 8) || low != float(a) || five != float(b))
      std::printf("%d differs\n", i);
    std::printf("%g is %g and %g\n", in[i], float(a), float(b));
  }
}
