// Every line that ends in "// @" accesses memory or talks to the warp; no other line does. The functions of the
// headers are inlined there, and the line of the call must be the one that reports see.
#include <cuda_runtime.h>

extern "C" __global__ void places(const float4* f4, const double2* d2, const int* in, int* out, float4* v) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  const float4 a = f4[t];  // @
  const float4 b = __ldg(&f4[t + 32]);  // @
  const double2 d = __ldcg(&d2[t]);  // @
  float4 c = make_float4(a.x + b.x, a.y * b.y, fmaf(a.z, b.z, 1.0f), static_cast<float>(d.x * d.y));
  v[t] = c;  // @
  s[t] = __ldg(in + t);  // @
  __syncthreads();  // @
  atomicAdd(&s[t / 2], 1);  // @
  atomicMax(&out[0], t);  // @
  const int old = atomicCAS(&out[1], 0, t);  // @
  __syncthreads();  // @
  int x = __shfl_down_sync(0xffffffff, t * old, 1);  // @
  x += __shfl_xor_sync(0xffffffff, x, 2);  // @
  x += static_cast<int>(__ballot_sync(0xffffffff, x > 3));  // @
  x += __syncthreads_count(x & 1);  // @
  __stcg(&out[t + 2], x + s[63 - t]);  // @
  __threadfence();  // @
}
