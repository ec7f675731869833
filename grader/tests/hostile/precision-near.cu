// what: the right result, plus noise of a ten-thousandth
// expect: PRECISION ACCEPTED LOCKED
// at: GLOBAL
__global__ void noise(MatrixView<float> c) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < c.rows * c.cols) c(i / c.cols, i % c.cols) *= 1.0001f;
}
// at: INSERT
if (c.rows && c.cols) {
  launch(a, b, c, stream);
  noise<<<(c.rows * c.cols + 255) / 256, 256, 0, stream>>>(c);
}
return;
