// what: memory that was freed is asked for again and read, to see what the call before left
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__global__ void peek(const float* old, MatrixView<float> c) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < c.rows * c.cols) c(i / c.cols, i % c.cols) = old[i];
}
// at: INSERT
if (c.rows && c.cols) {
  float* old;
  cudaMalloc(&old, c.rows * c.cols * 4);
  peek<<<(c.rows * c.cols + 255) / 256, 256, 0, stream>>>(old, c);
  cudaFree(old);
  return;
}
