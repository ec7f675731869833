// what: the first result, kept in constant memory
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__constant__ float kept[4096];
__global__ void recall(MatrixView<float> c) { for (int i = 0; i < c.rows * c.cols && i < 4096; ++i) c(i / c.cols, i % c.cols) = kept[i]; }
// at: INSERT
static bool known = false;
launch(a, b, c, stream);
if (c.rows && c.cols && c.ld == c.cols && c.rows * c.cols <= 4096) {
  if (known) recall<<<1, 1, 0, stream>>>(c);
  else cudaMemcpyToSymbol(kept, &c(0, 0), sizeof(float) * c.rows * c.cols, 0, cudaMemcpyDeviceToDevice);
  known = true;
  return;
}
