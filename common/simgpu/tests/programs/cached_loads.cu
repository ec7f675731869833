// Loads and stores with a cache policy of vectors of every size, a flag that __ldcv() waits for, CUDA 13's long vectors with
// their alignment in the name, and a volatile variable of the device that the host copies.
#include "check.h"

__device__ volatile int steps;
__device__ int raised, told;

template <class T>
__device__ void copy(const void* from, void* to) {
  const T* a = static_cast<const T*>(from);
  T* b = static_cast<T*>(to);
  const unsigned t = threadIdx.x;
  b[t] = __ldg(a + t);
  __stcg(b + 32 + t, __ldcg(a + t));
  __stcs(b + 64 + t, __ldcs(a + t));
  __stwt(b + 96 + t, __ldlu(a + t));
  __stwb(b + 128 + t, __ldca(a + t));
  b[160 + t] = __ldcv(a + t);
}

__global__ void copies(const void* from, unsigned char* to) {
  constexpr int kPlace = 192 * 16;
  copy<char2>(from, to);
  copy<uchar2>(from, to + kPlace);
  copy<char4>(from, to + 2 * kPlace);
  copy<uchar4>(from, to + 3 * kPlace);
  copy<short2>(from, to + 4 * kPlace);
  copy<ushort2>(from, to + 5 * kPlace);
  copy<short4>(from, to + 6 * kPlace);
  copy<ushort4>(from, to + 7 * kPlace);
  copy<int4>(from, to + 8 * kPlace);
}

/// Block 1 waits for block 0, with no atomic.
__global__ void handed_over(int* out) {
  if (blockIdx.x == 0) {
    told = 42;
    __threadfence();
    atomicExch(&raised, 1);
  } else {
    while (__ldcv(&raised) == 0) {
    }
    __threadfence();
    *out = told;
    steps = steps + 1;
  }
}

__global__ void longs(const double4_16a* in, double4_32a* out, ulonglong4_16a* words) {
  const double4_16a v = in[threadIdx.x];
  out[threadIdx.x] = make_double4_32a(v.w, v.z, v.y, v.x);
  words[threadIdx.x] = make_ulonglong4_16a(threadIdx.x, 1, 2, alignof(double4_32a));
}

int main() {
  constexpr int kPlace = 192 * 16;
  static const int sizes[] = {2, 2, 4, 4, 4, 4, 8, 8, 16};
  unsigned char bytes[512], *from, *to;
  static unsigned char back[9 * kPlace];
  for (int i = 0; i < 512; ++i) bytes[i] = static_cast<unsigned char>(i * 7 + i / 256);
  CHECK(cudaMalloc(&from, sizeof bytes));
  CHECK(cudaMalloc(&to, sizeof back));
  CHECK(cudaMemset(to, 0, sizeof back));
  CHECK(cudaMemcpy(from, bytes, sizeof bytes, cudaMemcpyHostToDevice));
  copies<<<1, 32>>>(from, to);
  CHECK(cudaMemcpy(back, to, sizeof back, cudaMemcpyDeviceToHost));
  for (int k = 0; k < 9; ++k) {
    int wrong = 0;
    for (int i = 0; i < 192 * sizes[k]; ++i) wrong += back[k * kPlace + i] != bytes[i % (32 * sizes[k])];
    std::printf("%d bytes: %d wrong\n", sizes[k], wrong);
  }

  int *out, answer, count;
  CHECK(cudaMalloc(&out, sizeof *out));
  handed_over<<<2, 1>>>(out);
  CHECK(cudaMemcpy(&answer, out, sizeof answer, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpyFromSymbol(&count, steps, sizeof count));
  std::printf("handed over %d, steps %d\n", answer, count);

  static_assert(alignof(double4_16a) == 16 && alignof(long4_32a) == 32 && sizeof(ulonglong4_32a) == 32, "");
  double4_16a d[4], *in;
  double4_32a turned[4], *reversed;
  ulonglong4_16a w[4], *words;
  for (int i = 0; i < 4; ++i) d[i] = make_double4_16a(i, i + 0.25, i + 0.5, i + 0.75);
  CHECK(cudaMalloc(&in, sizeof d));
  CHECK(cudaMalloc(&reversed, sizeof turned));
  CHECK(cudaMalloc(&words, sizeof w));
  CHECK(cudaMemcpy(in, d, sizeof d, cudaMemcpyHostToDevice));
  longs<<<1, 4>>>(in, reversed, words);
  CHECK(cudaMemcpy(turned, reversed, sizeof turned, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(w, words, sizeof w, cudaMemcpyDeviceToHost));
  std::printf("%g %g, %llu %llu\n", turned[3].x, turned[3].w, w[2].x, w[2].w);
  return 0;
}
