// The test of 6.4.1: multiplies both copies that your realign() makes, without tensor cores.
// Included at the end of the file that it tests.

/// One element of C per thread; a warp computes 32 neighbours of a row.
template <typename T>
__global__ void realigned_kernel(MatrixView<const T> a, MatrixView<const T> b,
                                 MatrixView<float> c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (!(row < c.rows && col < c.cols)) return;
  float sum = 0;
  for (int k = 0; k < a.cols; ++k)
    sum += static_cast<float>(a(row, k)) * static_cast<float>(b(k, col));
  c(row, col) = sum;
}

template <typename In, typename Out>
void gemm_realigned(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                    cudaStream_t stream) {
  if (nothing_to_add(a.cols, c, stream)) return;
  const ReadyForTma<In> ready(a, b, {true, true}, stream);
  const dim3 grid(ceil_div(c.cols, 32), ceil_div(c.rows, 8));
  realigned_kernel<<<grid, dim3(32, 8), 0, stream>>>(ready.a(), ready.b(), c);
  CUDA_CHECK_LAUNCH();
}
