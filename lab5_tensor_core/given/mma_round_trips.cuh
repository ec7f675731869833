// Tests the functions of mma.cu one at a time: A goes through a tile, then also through fragments,
// then also through a tensor core, and is written to C. An element of C that differs from A shows a
// mistake in that function. A block of four warps handles 64 x 64 elements of A.
constexpr int PART = 64, PART_WARPS = 4, PART_K = 16;
constexpr int WIDE_PART = 2 * PART;  // of the tile alone: B's tiles have longer rows than A's

/// Fetches the block's part of A, with the copies of 5.3.1.
template <Matrices KNOWN, typename T, int COLS>
__device__ void fetch_part(Tile<T, PART, COLS>& tile, MatrixView<const T> a) {
  copy_tile<KNOWN, PART_WARPS * 32>(tile, a, blockIdx.y * PART, blockIdx.x * COLS);
  commit_copies();
  wait_for_copies<0>();
  __syncthreads();
}

/// C = A through a tile. A warp reads as ldmatrix does: 16 bytes of each of eight rows at once.
template <Matrices KNOWN, int COLS, typename T>
__global__ void tile_round_trip_kernel(MatrixView<const T> a, MatrixView<float> c) {
#if GEMM_LAB_TENSOR_CORES
  __shared__ __align__(128) Tile<T, PART, COLS> tile;  // (64, COLS), row-major, swizzled
  fetch_part<KNOWN>(tile, a);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int block = warp; block < PART / 8 * (COLS / 32); block += PART_WARPS) {  // of (8, 32)
    const int row = block % 8 * 8 + lane % 8, col = block / 8 * 32 + lane / 8 * CHUNK;
    const uint4 chunk = tile.chunk_at(row, col);
    const T* const elements = reinterpret_cast<const T*>(&chunk);
    const int r = blockIdx.y * PART + row, k = blockIdx.x * COLS + col;
#pragma unroll
    for (int e = 0; e < CHUNK; ++e)
      if (r < c.rows && k + e < c.cols) c(r, k + e) = static_cast<float>(elements[e]);
  }
#endif
}

/// C = A through fragments of A. Register r of a lane holds the elements (g + 8 * (r % 2), k) and
/// (.., k + 1), k = 2 * t + 8 * (r / 2), with g = lane / 4 and t = lane % 4.
template <Matrices KNOWN, typename T>
__global__ void fragment_round_trip_kernel(MatrixView<const T> a, MatrixView<float> c) {
#if GEMM_LAB_TENSOR_CORES
  __shared__ __align__(128) Tile<T, PART, PART> tile;  // (64, 64), row-major, swizzled
  fetch_part<KNOWN>(tile, a);
  const int row = threadIdx.x / 32 * MMA_M, lane = threadIdx.x % 32;
  for (int k = 0; k < PART; k += PART_K) {
    unsigned fragment[4];  // (16, 16)
    load_a(fragment, tile, row, k);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const T* const pair = reinterpret_cast<const T*>(&fragment[r]);
      const int i = blockIdx.y * PART + row + lane / 4 + r % 2 * 8;
      const int j = blockIdx.x * PART + k + lane % 4 * 2 + r / 2 * 8;
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (i < c.rows && j + e < c.cols) c(i, j + e) = static_cast<float>(pair[e]);
    }
  }
#endif
}

/// C = A * I by tensor cores: 16 x 16 elements of A times the two halves of the identity matrix.
template <Matrices KNOWN, typename T>
__global__ void sums_round_trip_kernel(MatrixView<const T> a, MatrixView<float> c) {
#if GEMM_LAB_TENSOR_CORES
  __shared__ __align__(128) Tile<T, PART, PART> tile;  // (64, 64), row-major, swizzled
  fetch_part<KNOWN>(tile, a);
  const int row = threadIdx.x / 32 * MMA_M, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  unsigned unit[2][2];  // two fragments of (16, 8)
  for (int j = 0; j < 2; ++j)
    for (int r = 0; r < 2; ++r) {
      T pair[2];  // k = 2 * (t + 4 * r) and its neighbour; column g of half j
      for (int e = 0; e < 2; ++e) pair[e] = T(2 * (t + 4 * r) + e == 8 * j + g ? 1.0f : 0.0f);
      unit[j][r] = *reinterpret_cast<const unsigned*>(pair);
    }
  for (int k = 0; k < PART; k += PART_K) {
    unsigned fragment[4];  // (16, 16)
    load_a(fragment, tile, row, k);
    float sums[1][2][4] = {};  // (16, 16)
    mma<T>(sums[0][0], fragment, unit[0]);
    mma<T>(sums[0][1], fragment, unit[1]);
    store_sums<false>(sums, c, blockIdx.y * PART + row, blockIdx.x * PART + k);
  }
#endif
}

template <typename T>
using RoundTrip = void (*)(MatrixView<const T>, MatrixView<float>);

template <typename T>
void launch_round_trip(RoundTrip<T> aligned, RoundTrip<T> any, MatrixView<const T> a,
                       MatrixView<float> c, cudaStream_t stream, int width = PART) {
  if (c.rows == 0 || c.cols == 0) return;
  const dim3 grid(ceil_div(c.cols, width), ceil_div(c.rows, PART));
  const auto kernel = rows_aligned(a) ? aligned : any;
  kernel<<<grid, PART_WARPS * 32, 0, stream>>>(a, c);
  CUDA_CHECK_LAUNCH();
}

template <typename In, typename Out>
void tile_round_trip(MatrixView<const In> a, MatrixView<const In>, MatrixView<Out> c,
                     cudaStream_t stream) {
  if (c.cols % WIDE_PART == 0)  // whole wide tiles
    launch_round_trip<In>(tile_round_trip_kernel<Matrices::aligned, WIDE_PART, In>,
                          tile_round_trip_kernel<Matrices::any, WIDE_PART, In>, a, c, stream,
                          WIDE_PART);
  else
    launch_round_trip<In>(tile_round_trip_kernel<Matrices::aligned, PART, In>,
                          tile_round_trip_kernel<Matrices::any, PART, In>, a, c, stream);
}

template <typename In, typename Out>
void fragment_round_trip(MatrixView<const In> a, MatrixView<const In>, MatrixView<Out> c,
                         cudaStream_t stream) {
  launch_round_trip<In>(fragment_round_trip_kernel<Matrices::aligned, In>,
                        fragment_round_trip_kernel<Matrices::any, In>, a, c, stream);
}

template <typename In, typename Out>
void sums_round_trip(MatrixView<const In> a, MatrixView<const In>, MatrixView<Out> c,
                     cudaStream_t stream) {
  launch_round_trip<In>(sums_round_trip_kernel<Matrices::aligned, In>,
                        sums_round_trip_kernel<Matrices::any, In>, a, c, stream);
}
