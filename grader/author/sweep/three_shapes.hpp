// 6.4.5's launchers for the bench of three_products.cu, which is compiled apart from them.
#pragma once

#include <string>
#include <vector>

#include "common/matrix.hpp"

/// C = A * B by 6.4.5, with the tile and the number of splits that its launcher chooses.
void three_shapes(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c);
/// What that launcher chooses: "128x64 / 2".
std::string choice_of_three_shapes(MatrixView<const float> a, MatrixView<const float> b);

/// Each of its tiles, with 1, 2, 4 and 8 splits.
struct ThreeShapesTile {
  std::string name;
  int number, splits;
};
std::vector<ThreeShapesTile> three_shapes_tiles();
void three_shapes_with(const ThreeShapesTile& tile, MatrixView<const float> a,
                       MatrixView<const float> b, MatrixView<float> c);
