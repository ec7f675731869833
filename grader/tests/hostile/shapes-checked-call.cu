// what: barriers only in the first call of a shape, in which races are looked for
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
template <bool SAFE>
__global__ void racy(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  __shared__ float rows[8][160];
  const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x, thread = threadIdx.y * 8 + threadIdx.x;
  // Without a barrier each warp fetches all by itself: a race, though the result is right.
  for (int i = SAFE ? thread : thread % 32; i < 8 * 160; i += SAFE ? 64 : 32)
    rows[i / 160][i % 160] = blockIdx.y * 8 + i / 160 < c.rows && i % 160 < a.cols ? a(blockIdx.y * 8 + i / 160, i % 160) : 0.0f;
  if (SAFE) __syncthreads(); else __syncwarp();
  if (row >= c.rows || col >= c.cols) return;
  float sum = 0;
  for (int k = 0; k < a.cols; ++k) sum += rows[threadIdx.y][k] * b(k, col);
  c(row, col) = sum;
}
// at: INSERT
static int last[3] = {-1, -1, -1};
const bool first = last[0] != c.rows || last[1] != c.cols || last[2] != a.cols;
last[0] = c.rows, last[1] = c.cols, last[2] = a.cols;
if constexpr (sizeof(In) == 4) {
  if (c.rows && c.cols && a.cols <= 160) {
    (first ? racy<true> : racy<false>)<<<dim3((c.cols + 7) / 8, (c.rows + 7) / 8), dim3(8, 8), 0, stream>>>(a, b, c);
    return;
  }
}
