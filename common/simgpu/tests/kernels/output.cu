// Device-side printf and assert.
#include <assert.h>
#include <cuda_runtime.h>
#include <stdio.h>

extern "C" __global__ void hello() {
  if (threadIdx.x % 20 == 0) printf("block %d thread %d\n", blockIdx.x, threadIdx.x);
}

extern "C" __global__ void formats(float f, long long big) {
  if (threadIdx.x != 0) return;
  printf("plain\n");
  printf("%d %i %u %x %X %o %c|%%\n", -5, 6, 4000000000u, 255, 255, 8, 'z');
  printf("%5d|%-5d|%05d|%+d|%.3d\n", 42, 42, 42, 42, 7);
  printf("%lld %llu %llx %ld\n", big, 18446744073709551615ull, 255ull, -7l);
  printf("%f %.2f %8.3f %e %g\n", f, f, f, 12345.678, 0.0001);
  printf("%s and %10s|\n", "text", "right");
  printf("%p %hhd %hd\n", static_cast<void*>(nullptr), static_cast<signed char>(300),
         static_cast<short>(70000));
}

extern "C" __global__ void floods(int n) {
  for (int i = 0; i < n; ++i) printf("line %d of a kernel that prints and prints and prints\n", i);
}

extern "C" __global__ void asserts(const int* in, int n) {
  int i = threadIdx.x;
  assert(in[i] < n);  // @assert
}
