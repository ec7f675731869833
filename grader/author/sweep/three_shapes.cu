#include "grader/author/sweep/three_shapes.hpp"

#include "lab6_summit/solution/tensor_shapes.cu"

void three_shapes(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  gemm_three_shapes<float>(a, b, c, nullptr);
}

namespace {
std::string name_of(const Choice<float>& tile, int splits) {
  return std::to_string(tile.bm) + "x" + std::to_string(tile.bn) + " / " + std::to_string(splits);
}
}  // namespace

std::string choice_of_three_shapes(MatrixView<const float> a, MatrixView<const float> b) {
  const Chosen<float> chosen = choose(a, b, table_of_three<float>);
  return name_of(*chosen.tile, chosen.splits);
}

std::vector<ThreeShapesTile> three_shapes_tiles() {
  std::vector<ThreeShapesTile> tiles;
  int number = 0;
  for (const Choice<float>& tile : table_of_three<float>) {
    for (int splits = 1; splits <= 8; splits *= 2)
      tiles.push_back({name_of(tile, splits), number, splits});
    ++number;
  }
  return tiles;
}

void three_shapes_with(const ThreeShapesTile& tile, MatrixView<const float> a,
                       MatrixView<const float> b, MatrixView<float> c) {
  const ReadyForTma<float> ready(a, b, choose(a, b, table_of_three<float>).copies, nullptr);
  table_of_three<float>[tile.number].multiply(ready.a(), ready.b(), c, tile.splits, nullptr);
}
