// 6.3.4's launchers for the bench of three_products.cu, which is compiled apart from them: wgmma is
// Hopper's alone.
#pragma once

#include "common/matrix.hpp"

/// C = A * B by 6.3.4, with the tile that its launcher chooses.
void three_wgmma(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c);
/// With tiles of (128, BN): 32, 64, 96 or 128.
template <int BN>
void three_wgmma(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c);
/// What is made before its kernel, alone: the parts of B, transposed.
void parts_of_b(MatrixView<const float> b);
