// Barriers by number: one pair of warps fills a buffer, the other empties it, each waiting at a barrier of its own. Then
// functions whose types are in their names, and stores of 16-bit numbers with a hint for the cache.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.h"

constexpr int FULL = 1, EMPTY = 2, THREADS = 128, HALF = THREADS / 2, STEPS = 5;

/// out[s * HALF + t]: what thread t of the consumers found in step s.
__global__ void hand_over(int* out) {
  __shared__ int buffer[HALF];
  const int t = threadIdx.x % HALF;
  if (threadIdx.x < HALF) {
    for (int s = 0; s < STEPS; ++s) {
      if (s > 0) __barrier_sync_count(EMPTY, THREADS);
      buffer[t] = 1000 * s + t;
      __barrier_sync_count(FULL, THREADS);
    }
  } else {
    for (int s = 0; s < STEPS; ++s) {
      __barrier_sync_count(FULL, THREADS);
      out[s * HALF + t] = buffer[HALF - 1 - t];
      if (s + 1 < STEPS) __barrier_sync_count(EMPTY, THREADS);
    }
  }
  __barrier_sync(0);
  if (threadIdx.x == 0) out[STEPS * HALF] = buffer[HALF - 1];
}

__global__ void by_letters(unsigned* u, long long* l, unsigned long long* w, float* f) {
  u[0] = umin(1u, 0xffffffffu), u[1] = umax(1u, 0xffffffffu);
  l[0] = llmin(-1, 1ll << 40), l[1] = llmax(-1, 1ll << 40);
  w[0] = ullmin(1, ~0ull), w[1] = ullmax(1, ~0ull);
  f[0] = __tanhf(0.5f);
}

template <typename T, typename T2>
__global__ void hints(T* one, T2* two, const T* from) {
  __stcs(one, __ldcv(from));
  __stcg(one + 1, from[1]);
  __stwt(one + 2, __ldlu(from + 2));
  __stwb(one + 3, from[3]);
  const T2* const pair = reinterpret_cast<const T2*>(from);
  __stcs(two, __ldlu(pair + 1));
  __stwb(two + 1, __ldcv(pair));
}

template <typename T, typename T2>
int wrong_after_hints() {
  T host[4], back[8];
  for (int i = 0; i < 4; ++i) host[i] = T(1.5f * i);
  T *from, *to;
  CHECK(cudaMalloc(&from, sizeof host));
  CHECK(cudaMalloc(&to, sizeof back));
  CHECK(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice));
  hints<<<1, 1>>>(to, reinterpret_cast<T2*>(to + 4), from);
  CHECK(cudaMemcpy(back, to, sizeof back, cudaMemcpyDeviceToHost));
  const int expected[8] = {0, 1, 2, 3, 2, 3, 0, 1};
  int wrong = 0;
  for (int i = 0; i < 8; ++i) wrong += float(back[i]) != 1.5f * expected[i];
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
  return wrong;
}

int main() {
  int *out, host[STEPS * HALF + 1];
  CHECK(cudaMalloc(&out, sizeof host));
  hand_over<<<1, THREADS>>>(out);
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  int wrong = host[STEPS * HALF] != 1000 * (STEPS - 1) + HALF - 1;
  for (int s = 0; s < STEPS; ++s)
    for (int t = 0; t < HALF; ++t) wrong += host[s * HALF + t] != 1000 * s + HALF - 1 - t;
  std::printf("handed over: %d wrong\n", wrong);
  CHECK(cudaFree(out));

  unsigned* u;
  long long* l;
  unsigned long long* w;
  float* f;
  CHECK(cudaMallocManaged(&u, 2 * sizeof *u));
  CHECK(cudaMallocManaged(&l, 2 * sizeof *l));
  CHECK(cudaMallocManaged(&w, 2 * sizeof *w));
  CHECK(cudaMallocManaged(&f, sizeof *f));
  by_letters<<<1, 1>>>(u, l, w, f);
  CHECK(cudaDeviceSynchronize());
  std::printf("umin %u umax %x llmin %lld llmax %lld ullmin %llu ullmax %llx tanh %.3f\n", u[0], u[1], l[0], l[1], w[0], w[1],
              static_cast<double>(f[0]));
  CHECK(cudaFree(u));
  CHECK(cudaFree(l));
  CHECK(cudaFree(w));
  CHECK(cudaFree(f));

  const int wrong_half = wrong_after_hints<__half, __half2>();
  const int wrong_bfloat = wrong_after_hints<__nv_bfloat16, __nv_bfloat162>();
  std::printf("stored with hints: %d and %d wrong\n", wrong_half, wrong_bfloat);
}
