// A program that ends without waiting for its kernels: their output is lost, on hardware and here.
#include "check.h"

__global__ void hello() { printf("from the kernel\n"); }

int main() {
  hello<<<1, 1>>>();
  return 0;
}
