// what: the first result, kept in a variable of the device by a kernel
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__device__ float kept[4096]; __device__ int kept_count;
__global__ void remember(MatrixView<float> c) { for (int i = 0; i < c.rows * c.cols && i < 4096; ++i) kept[i] = c(i / c.cols, i % c.cols); kept_count = c.rows * c.cols; }
__global__ void recall(MatrixView<float> c) { if (kept_count == c.rows * c.cols) for (int i = 0; i < c.rows * c.cols && i < 4096; ++i) c(i / c.cols, i % c.cols) = kept[i]; }
// at: INSERT
launch(a, b, c, stream);
if (c.rows && c.cols) recall<<<1, 1, 0, stream>>>(c), remember<<<1, 1, 0, stream>>>(c);
return;
