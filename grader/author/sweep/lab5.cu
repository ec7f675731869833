// Sweep of lab 5: tile shapes and stages on tensor cores.
#include "grader/author/sweep/kernels/mma_sync.cuh"
#include "grader/author/sweep/kernels/wmma.cuh"

int main(int argc, char** argv) {
  sweep::Plan plan;
  sweep::add_wmma_double(plan);
  sweep::add_wmma_tiles<64, __half>(plan);
  sweep::add_wmma_tiles<128, __half>(plan);
  sweep::add_wmma_tiles<64, __nv_bfloat16>(plan);
  sweep::add_wmma_tiles<128, __nv_bfloat16>(plan);
  sweep::add_wmma_tiles<64, float>(plan);
  sweep::add_wmma_tiles<128, float>(plan);
  sweep::add_mma_tiles<__half>(plan);
  sweep::add_mma_tiles<__nv_bfloat16>(plan);
  sweep::add_mma_tiles<float>(plan);
  sweep::add_mma_tiles<double>(plan);
  return sweep::drive(argc, argv, plan);
}
