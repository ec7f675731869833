// what: a kernel that works only where C shows that nobody has used it yet
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__global__ void unless_used(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c, const int* used) {
  for (int i = threadIdx.x; i < c.rows * c.cols; i += 32) {
    float sum = 0;
    for (int k = 0; k < a.cols; ++k) sum += a(i / c.cols, k) * b(k, i % c.cols);
    if (!*used) c(i / c.cols, i % c.cols) = sum;
  }
}
__global__ void set_used(int* used) { *used = 1; }
// at: INSERT
static int* used = nullptr;
if (!used) { CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&used), 4)); CUDA_CHECK(cudaMemset(used, 0, 4)); }
if (c.rows && c.cols) unless_used<<<1, 32, 0, stream>>>(a, b, c, used), set_used<<<1, 1, 0, stream>>>(used);
return;
