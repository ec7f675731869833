// Tests the functions of gemm.cu one at a time: one of them moves A into shared memory, and from
// there it is written to C. An element of C that differs from A shows a mistake in that function.

enum class By { load_piece, fetch_transposed, load_fragment, copy_tile, copy_transposed };

/// C = A, one (ROWS, COLS) part per block. If the tile holds anything but zeros beyond the edge of
/// A, every element of the part comes out too large by one.
template <By BY, int THREADS, int ROWS, int COLS, typename T>
__global__ void round_trip_kernel(MatrixView<const T> a, MatrixView<T> c) {
  constexpr int V = VEC<T>;
  constexpr bool TRANSPOSED = BY == By::fetch_transposed || BY == By::copy_transposed;
  alignas(16) __shared__ T tile[TRANSPOSED ? COLS : ROWS][TRANSPOSED ? ROWS : COLS];
  const int row0 = blockIdx.y * ROWS, col0 = blockIdx.x * COLS;
  const bool wide = rows_aligned(a);
  const bool inside = wide && row0 + ROWS <= a.rows && col0 + COLS <= a.cols;
  if constexpr (BY == By::fetch_transposed)
    fetch_transposed<THREADS, ROWS>(tile, a, row0, col0, wide);
  else if constexpr (BY == By::copy_tile)
    inside ? copy_tile<true, THREADS, ROWS, COLS>(tile, a, row0, col0, wide)
           : copy_tile<false, THREADS, ROWS, COLS>(tile, a, row0, col0, wide);
  else if constexpr (BY == By::copy_transposed)
    inside ? copy_transposed<true, THREADS, ROWS>(tile, a, row0, col0)
           : copy_transposed<false, THREADS, ROWS>(tile, a, row0, col0);
  else
    fetch_tile<THREADS, ROWS, COLS>(tile, a, row0, col0, wide);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();

  // A thread reads two pieces of a row, half a row apart.
  constexpr int HALF = COLS / 2, PIECES = HALF / V;
  bool dirty = false;
  for (int p = threadIdx.x; p < ROWS * PIECES; p += THREADS) {
    const int r = p / PIECES, k = p % PIECES * V;
    alignas(16) T fragment[2 * V];
    if constexpr (BY == By::load_fragment)
      load_fragment<HALF>(fragment, &tile[r][k]);
    else
      for (int e = 0; e < 2 * V; ++e) {
        const int j = k + e / V * HALF + e % V;
        fragment[e] = TRANSPOSED ? tile[j][r] : tile[r][j];
      }
    for (int e = 0; e < 2 * V; ++e) {
      const int row = row0 + r, col = col0 + k + e / V * HALF + e % V;
      if (row < c.rows && col < c.cols)
        c(row, col) = fragment[e];
      else
        dirty |= fragment[e] != T(0);
    }
  }
  if (__syncthreads_or(dirty))
    for (int r = threadIdx.x; r < min(ROWS, c.rows - row0); r += THREADS)
      for (int k = 0; k < min(COLS, c.cols - col0); ++k) c(row0 + r, col0 + k) += T(1);
}

template <By BY, typename T>
void round_trip(MatrixView<const T> a, MatrixView<T> c, cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int THREADS = 128, ROWS = 64, COLS = 32;
  const dim3 grid(ceil_div(c.cols, COLS), ceil_div(c.rows, ROWS));
  round_trip_kernel<BY, THREADS, ROWS, COLS><<<grid, THREADS, 0, stream>>>(a, c);
  CUDA_CHECK_LAUNCH();
}

template <typename T>
void piece_round_trip(MatrixView<const T> a, MatrixView<const T>, MatrixView<T> c,
                      cudaStream_t stream) {
  round_trip<By::load_piece>(a, c, stream);
}
template <typename T>
void transposed_round_trip(MatrixView<const T> a, MatrixView<const T>, MatrixView<T> c,
                           cudaStream_t stream) {
  round_trip<By::fetch_transposed>(a, c, stream);
}
template <typename T>
void fragment_round_trip(MatrixView<const T> a, MatrixView<const T>, MatrixView<T> c,
                         cudaStream_t stream) {
  round_trip<By::load_fragment>(a, c, stream);
}
template <typename T>
void copy_round_trip(MatrixView<const T> a, MatrixView<const T>, MatrixView<T> c,
                     cudaStream_t stream) {
  round_trip<By::copy_tile>(a, c, stream);
}
template <typename T>
void transposed_copy_round_trip(MatrixView<const T> a, MatrixView<const T>, MatrixView<T> c,
                                cudaStream_t stream) {
  round_trip<By::copy_transposed>(a, c, stream);
}
