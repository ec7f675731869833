// Sweep of lab 3: side of the shared tile, block tiles over sizes, padding, carve-out, packing.
#include "grader/author/sweep/kernels/block_tile.cuh"
#include "grader/author/sweep/kernels/naive.cuh"
#include "grader/author/sweep/kernels/packed_steps.cuh"
#include "grader/author/sweep/kernels/shared_tile.cuh"

namespace {

template <typename In>
void add_all(sweep::Plan& plan) {
  sweep::add_naive_sides<In>(plan);
  sweep::add_shared_sides<In>(plan);
  sweep::add_block_tiles<In>(plan);
  sweep::add_tile_padding<In>(plan);
  sweep::add_block_tile_switches<In>(plan);
  sweep::add_carve_outs<In>(plan);
  sweep::add_packings<In>(plan);
  sweep::add_repeated_products<In>(plan);
  sweep::add_packed_steps<In>(plan);
}

}  // namespace

int main(int argc, char** argv) {
  sweep::Plan plan;
  add_all<int>(plan);
  add_all<float>(plan);
  add_all<double>(plan);
  return sweep::drive(argc, argv, plan);
}
