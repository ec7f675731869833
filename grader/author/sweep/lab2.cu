// Sweep of lab 2: elements per thread, unrolling, and the read-only path.
#include "grader/author/sweep/kernels/register_tile.cuh"

namespace {

template <typename In>
void add_all(sweep::Plan& plan) {
  using sweep::Columns;
  sweep::add_register_tiles<Columns::neighbours, In>(plan, "neighbours");
  sweep::add_register_tiles<Columns::interleaved, In>(plan, "interleaved");
  sweep::add_loops_not_unrolled<Columns::interleaved, In>(plan, "interleaved, not unrolled");
  sweep::add_read_only_loads<In>(plan);
}

}  // namespace

int main(int argc, char** argv) {
  sweep::Plan plan;
  add_all<int>(plan);
  add_all<float>(plan);
  add_all<double>(plan);
  return sweep::drive(argc, argv, plan);
}
