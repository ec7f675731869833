// Sweep of lab 1: threads per block.
#include "grader/author/sweep/kernels/naive.cuh"

int main(int argc, char** argv) {
  sweep::Plan plan;
  sweep::add_naive_sides<int>(plan);
  sweep::add_naive_sides<float>(plan);
  sweep::add_naive_sides<double>(plan);
  return sweep::drive(argc, argv, plan);
}
