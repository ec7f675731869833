// what: what another launch left in shared memory and in registers
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__global__ void leave(MatrixView<float> c) { extern __shared__ float left[]; for (int i = 0; i < c.rows * c.cols && i < 4096; ++i) left[i] = c(i / c.cols, i % c.cols); }
__global__ void take(MatrixView<float> c) { extern __shared__ float left[]; for (int i = 0; i < c.rows * c.cols && i < 4096; ++i) c(i / c.cols, i % c.cols) = left[i]; }
// at: INSERT
static int calls = 0;
if (c.rows && c.cols) { if (calls++ % 2) { take<<<1, 1, 16384, stream>>>(c); return; } launch(a, b, c, stream); leave<<<1, 1, 16384, stream>>>(c); return; }
