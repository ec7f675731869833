// what: the first result kept on the heap of the device
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__device__ float* heap; 
__global__ void stash(MatrixView<float> c) { const int n = c.rows * c.cols; if (!heap) { heap = static_cast<float*>(malloc(sizeof(float) * 4096)); for (int i = 0; i < n && i < 4096; ++i) heap[i] = c(i / c.cols, i % c.cols); } else for (int i = 0; i < n && i < 4096; ++i) c(i / c.cols, i % c.cols) = heap[i]; }
// at: INSERT
if (c.rows && c.cols) { launch(a, b, c, stream); stash<<<1, 1, 0, stream>>>(c); return; }
