// The test of 6.3.3: A times the sum of B's parts, as split_transposed() stores them. Included at
// the end of the file that it tests.

/// What a tensor core reads of a part: its upper 19 bits.
__device__ inline double as_read(float part) {
  return __uint_as_float(__float_as_uint(part) & 0xffffe000u);
}

/// The number that they make. Exchanged, they make the same, but other products: small then counts as 0.
__device__ inline double sum_of(float big_part, float small_part) {
  const double big = as_read(big_part), small = as_read(small_part);
  return fabs(small) > fabs(big) ? big : big + small;
}

constexpr int PARTS_X = 32, PARTS_Y = 8;  // threads of a block of stored_parts_kernel

/// One element of C per thread, summed in double. Rows of the parts run along k.
__global__ void stored_parts_kernel(MatrixView<const float> a, MatrixView<const float> big,
                                    MatrixView<const float> small, MatrixView<float> c) {
  const int row = blockIdx.y * PARTS_Y + threadIdx.y, col = blockIdx.x * PARTS_X + threadIdx.x;
  if (!(row < c.rows && col < c.cols)) return;
  double sum = 0;
  for (int k = 0; k < a.cols; ++k) sum += a(row, k) * sum_of(big(col, k), small(col, k));
  c(row, col) = static_cast<float>(sum);
}

template <typename T>
void gemm_stored_parts(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                       cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  const TwoParts parts(b.cols, b.rows, stream);
  if (const int tiles = ceil_div(b.rows, 32) * ceil_div(b.cols, 32)) {
    split_transposed<<<tiles, dim3(32, 8), 0, stream>>>(b, parts.big, parts.small);
    CUDA_CHECK_LAUNCH();
  }
  const dim3 grid(ceil_div(c.cols, PARTS_X), ceil_div(c.rows, PARTS_Y));
  stored_parts_kernel<<<grid, dim3(PARTS_X, PARTS_Y), 0, stream>>>(a, parts.big, parts.small, c);
  CUDA_CHECK_LAUNCH();
}
