// printf from kernels: formats, order of arrival, and that it waits for a synchronisation.
#include "check.h"

__global__ void hello(int base) {
  printf("block %d thread %u: %5d|%-5d|%05d|%x|%X|%o|%c|%s|%%\n", static_cast<int>(blockIdx.x), threadIdx.x, base, base, base,
         base, base, base, 'a' + static_cast<int>(threadIdx.x), "text");
}
__global__ void numbers(float f, double d, long long big, unsigned long long huge) {
  if (threadIdx.x == 0) printf("%f %.3f %e %g %8.2f| %lld %llu %p\n", f, d, d, f, d, big, huge, static_cast<void*>(nullptr));
}

int main() {
  hello<<<1, 2>>>(255);
  std::printf("host: launched\n");
  std::fflush(stdout);
  CHECK(cudaDeviceSynchronize());
  numbers<<<1, 32>>>(1.5f, -2.25, -1234567890123ll, 18446744073709551615ull);
  CHECK(cudaDeviceSynchronize());
  std::printf("host: done\n");
  return 0;
}
