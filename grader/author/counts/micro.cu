// Small kernels, one launch each, whose counts the profiler and the simulated GPU must agree on.
// Every access is inline PTX, so that nvcc's and clang's code make the same ones. One line of
// output per launch, in order: the name under which verify-counts shows it.
#include "grader/author/counts/micro.cuh"
#include "grader/author/counts/micro_memory.cuh"
#include "grader/author/counts/micro_tensor.cuh"

int main() {
  check(cudaMalloc(&offsets, 64 * 4), "cudaMalloc");
  check(cudaMalloc(&data, 1 << 20), "cudaMalloc");
  check(cudaMalloc(&out, 1 << 16), "cudaMalloc");
  check(cudaMemset(data, 0, 1 << 20), "cudaMemset");
  shared_accesses();
  global_accesses();
  async_copies();
  rearranging_copies();
  matrix_accesses();
  arithmetic();
  wmma_accesses();
  return 0;
}
