// __managed__ variables: host and device read and write the same ones, from their first value on.
#include <cstring>

#include "check.h"

__managed__ int counter = 3;
__device__ __managed__ float table[8] = {1, 2, 3, 4};
static __managed__ struct {
  int a;
  double b;
} pair_of;
namespace {
__managed__ unsigned hidden;
}
template <class T>
__managed__ T of_type = 5;

struct Node {
  int value;
  Node* next;
};
__managed__ Node* list;  // of managed memory that no argument names
__managed__ int sums[2];

__global__ void change() {
  atomicAdd(&counter, 2);
  for (float& v : table) v *= 2;
  pair_of.a = 7;
  pair_of.b = 2.5;
  hidden += 9;
  of_type<int> += 1;
  for (Node* n = list; n != nullptr; n = n->next) sums[0] += n->value, n->value = 0;
}
__global__ void by_address(const float* values, int* sum, int n) {
  for (int i = 0; i < n; ++i) *sum += static_cast<int>(values[i]);
}

// Kernels of a program with managed variables are read before main begins: they may allocate and print all the same.
__global__ void allocate(int* out) {
  int* const mine = static_cast<int*>(malloc(4 * sizeof(int)));
  mine[3] = 11;
  *out = mine[3];
  free(mine);
  printf("printed by a kernel\n");
}

static void yes(bool is, const char* what) {
  std::printf("%s: %s\n", what, is ? "yes" : "NO");
}

int main() {
  yes(counter == 3 && table[3] == 4 && table[4] == 0 && of_type<int> == 5, "first values");
  counter = 40;
  table[7] = 11;
  for (int i = 1; i <= 3; ++i) {
    Node* node = nullptr;
    CHECK(cudaMallocManaged(&node, sizeof(Node)));
    *node = {i, list};
    list = node;
  }
  change<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  yes(counter == 42 && hidden == 9 && of_type<int> == 6, "numbers");
  yes(table[0] == 2 && table[3] == 8 && table[4] == 0 && table[7] == 22, "an array");
  yes(pair_of.a == 7 && pair_of.b == 2.5, "a struct");
  yes(sums[0] == 6 && list->value == 0, "what a pointer leads to");

  by_address<<<1, 1>>>(table, &sums[1], 8);
  CHECK(cudaDeviceSynchronize());
  yes(sums[1] == 2 + 4 + 6 + 8 + 22, "addresses as arguments");

  void* address = nullptr;
  CHECK(cudaGetSymbolAddress(&address, counter));
  yes(address == &counter, "one address");
  const int c = 100;
  float back[8];
  CHECK(cudaMemcpyToSymbol(counter, &c, sizeof c));
  CHECK(cudaMemcpyFromSymbol(back, table, sizeof back));
  yes(counter == 100 && std::memcmp(back, table, sizeof back) == 0, "copies by symbol");
  CHECK(cudaMemset(table, 0, sizeof table));
  CHECK(cudaMemcpy(&table[1], back, sizeof(float), cudaMemcpyHostToDevice));
  change<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  yes(counter == 102 && table[0] == 0 && table[1] == 4 && table[7] == 0, "and by address");
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, &counter));
  yes(attributes.type == cudaMemoryTypeManaged, "managed memory");
  const cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
  CHECK(cudaMemAdvise(list, sizeof(Node), cudaMemAdviseSetReadMostly, here));
  CHECK(cudaMemPrefetchAsync(list, sizeof(Node), here, 0));
  allocate<<<1, 1>>>(&sums[1]);
  CHECK(cudaDeviceSynchronize());
  yes(sums[1] == 11, "a kernel's own memory");
  return 0;
}
