// The test of 6.5: TMA reads A as described by your every_other_row(), and C is what arrives.
// Included at the end of the file that it tests.

/// A (64, 32) part of A: even rows, then odd rows, each in a box as wide as those of the product.
struct RowsOfA {
  static constexpr int BM = 64, BK = 32;
  double rows[2][BM / 2][BK + 4];
};

/// C = A, one part per block. One thread requests both boxes, all 128 write C.
__global__ void rows_round_trip_kernel(const __grid_constant__ CUtensorMap even,
                                       const __grid_constant__ CUtensorMap odd,
                                       MatrixView<double> c, Layout layout) {
  __shared__ alignas(128) RowsOfA part;
  __shared__ Barrier arrived;
  const int row0 = blockIdx.y * RowsOfA::BM, col0 = blockIdx.x * RowsOfA::BK;
  if (threadIdx.x == 0) {
    arrived.init(1);
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");  // makes it visible to TMA
    arrived.arrive_and_expect(sizeof part);
    copy_box(part.rows[0], even, row0 / 2, col0, arrived);
    copy_box(part.rows[1], odd, row0 / 2, layout.odd_a + col0, arrived);
  }
  __syncthreads();
  arrived.wait(0);
  for (int i = threadIdx.x; i < RowsOfA::BM * RowsOfA::BK; i += blockDim.x) {
    const int row = i / RowsOfA::BK, col = i % RowsOfA::BK, parity = row % 2;
    if (row0 + row < c.rows && col0 + col < c.cols)
      c(row0 + row, col0 + col) = part.rows[parity][row / 2][col + layout.shifts.a[parity]];
  }
}

template <typename T>
void rows_round_trip(MatrixView<const T> a, MatrixView<const T>, MatrixView<T> c,
                     cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0 || !every_other_row(a, 0).first) return;
  Layout layout = {};
  const auto rows =
      for_tma(a, RowsOfA::BM / 2, RowsOfA::BK + 4, every_other_row, layout.shifts.a, layout.odd_a);
  const dim3 grid(ceil_div(c.cols, RowsOfA::BK), ceil_div(c.rows, RowsOfA::BM));
  rows_round_trip_kernel<<<grid, 128, 0, stream>>>(rows.half[0], rows.half[1], c, layout);
  CUDA_CHECK_LAUNCH();
}
