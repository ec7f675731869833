// A store through a null pointer that the compiler sees: clang would leave it out, nvcc does not.
#include "check.h"

struct Node {
  int value;
  Node* next;
};
__global__ void through_null(int* x) {
  int* nowhere = nullptr;
  x[0] = 1;
  *nowhere = 42;
}
__global__ void at_end_of_list(Node* n) {
  while (n != nullptr) n = n->next;
  n->value = 7;
}

int main() {
  int* x;
  CHECK(cudaMalloc(&x, 4));
  through_null<<<1, 1>>>(x);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  CHECK(cudaDeviceReset());
  Node* n;
  CHECK(cudaMalloc(&n, sizeof *n));
  CHECK(cudaMemset(n, 0, sizeof *n));
  at_end_of_list<<<1, 1>>>(n);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
