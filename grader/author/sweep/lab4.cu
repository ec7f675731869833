// Sweep of lab 4: layouts and their bank conflicts, stages of a pipeline, tile shapes.
#include "grader/author/sweep/kernels/bank_layout.cuh"
#include "grader/author/sweep/kernels/pipeline.cuh"

int main(int argc, char** argv) {
  sweep::Plan plan;
  sweep::add_layouts<int>(plan);
  sweep::add_layouts<float>(plan);
  sweep::add_layouts<double>(plan);
  sweep::add_pipelines<float>(plan);
  sweep::add_pipelines<double>(plan);
  return sweep::drive(argc, argv, plan);
}
