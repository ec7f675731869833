// what: products of operands that are cut to BF16, in FP32
// expect: PRECISION ACCEPTED LOCKED
// at: GLOBAL
__global__ void cut(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  const int r = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
  if (r >= c.rows || col >= c.cols) return;
  float sum = 0;
  for (int i = 0; i < a.cols; ++i)
    sum += __uint_as_float(__float_as_uint(a(r, i)) & 0xffff0000u) * __uint_as_float(__float_as_uint(b(i, col)) & 0xffff0000u);
  c(r, col) = sum;
}
// at: INSERT
if (c.rows && c.cols) cut<<<dim3((c.cols + 7) / 8, (c.rows + 7) / 8), dim3(8, 8), 0, stream>>>(a, b, c);
return;
