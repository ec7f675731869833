// The driver encodes tensor maps for it.
#define GEMM_LAB_TENSOR_MAP_ENCODER
#include "grader/author/sweep/three_wgmma.hpp"

#include "lab6_summit/solution/three_wgmma.cu"

void three_wgmma(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  gemm_three_wgmma<float>(a, b, c, nullptr);
}

template <int BN>
void three_wgmma(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  const TwoParts parts(b.cols, b.rows, nullptr);
  split_transposed<<<ceil_div(b.rows, 32) * ceil_div(b.cols, 32), dim3(32, 8)>>>(b, parts.big,
                                                                                 parts.small);
  launch<BN>(three_wgmma_kernel<BN>, a, b, parts, c, nullptr);
}
template void three_wgmma<32>(MatrixView<const float>, MatrixView<const float>, MatrixView<float>);
template void three_wgmma<64>(MatrixView<const float>, MatrixView<const float>, MatrixView<float>);
template void three_wgmma<96>(MatrixView<const float>, MatrixView<const float>, MatrixView<float>);
template void three_wgmma<128>(MatrixView<const float>, MatrixView<const float>, MatrixView<float>);

void parts_of_b(MatrixView<const float> b) {
  const TwoParts parts(b.cols, b.rows, nullptr);
  split_transposed<<<ceil_div(b.rows, 32) * ceil_div(b.cols, 32), dim3(32, 8)>>>(b, parts.big,
                                                                                 parts.small);
  CUDA_CHECK_LAUNCH();
}
