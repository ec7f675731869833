// what: small elements become nothing
// expect: PRECISION ACCEPTED LOCKED
// at: GLOBAL
__global__ void forget(MatrixView<float> c) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < c.rows * c.cols && fabsf(c(i / c.cols, i % c.cols)) < 0.02f) c(i / c.cols, i % c.cols) = 0;
}
// at: INSERT
if (c.rows && c.cols) {
  launch(a, b, c, stream);
  forget<<<(c.rows * c.cols + 255) / 256, 256, 0, stream>>>(c);
}
return;
