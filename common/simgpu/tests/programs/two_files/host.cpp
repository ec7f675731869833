#include <cuda_runtime.h>

#include <numeric>

int sum_on_host(const float* x, int n) {
  const float4 unused = make_float4(0, 0, 0, 0);
  return static_cast<int>(std::accumulate(x, x + n, unused.x));
}
