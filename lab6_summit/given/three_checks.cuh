// The tests of 6.3 and 6.3.1: A * B from your parts and your products, without the rest. Included
// at the end of the file that it tests.

/// What a tensor core reads of a part: its upper 19 bits.
__device__ inline double as_read(unsigned bits) {
  return __uint_as_float(bits & 0xffffe000u);
}

/// Whether each part stands in the other's place: they make the same number, but other products.
__device__ inline bool parts_exchanged() {
  const float x = 1 + 1.0f / (1 << 13);  // big is 1, small the rest
  const Parts parts = split(x);
  return as_read(parts.big) == x - 1 && as_read(parts.small) == 1;
}
/// The number that parts make; where they are exchanged, what stands in the big one's place.
__device__ inline double sum_of(Parts parts, bool exchanged) {
  return as_read(parts.big) + (exchanged ? 0 : as_read(parts.small));
}

constexpr int PARTS_X = 32, PARTS_Y = 8;  // threads of a block of parts_kernel

/// 6.3: one element of C per thread. Each factor is the sum of its parts; sums are in double.
__global__ void parts_kernel(MatrixView<const float> a, MatrixView<const float> b,
                             MatrixView<float> c) {
  const int row = blockIdx.y * PARTS_Y + threadIdx.y, col = blockIdx.x * PARTS_X + threadIdx.x;
  if (!(row < c.rows && col < c.cols)) return;
  double sum = 0;
  const bool exchanged = parts_exchanged();
  for (int k = 0; k < a.cols; ++k)
    sum += sum_of(split(a(row, k)), exchanged) * sum_of(split(b(k, col)), exchanged);
  c(row, col) = static_cast<float>(sum);
}

template <typename T>
void gemm_of_parts(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                   cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  const dim3 grid(ceil_div(c.cols, PARTS_X), ceil_div(c.rows, PARTS_Y));
  parts_kernel<<<grid, dim3(PARTS_X, PARTS_Y), 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

/// 6.3.1: three products, but all wait for each pair of tiles, and tensor cores do all additions.
template <bool ALIGNED, typename S>
__global__ void __launch_bounds__(S::THREADS)
    three_step_by_step_kernel(MatrixView<const float> a, MatrixView<const float> b,
                              MatrixView<float> c) {
#if GEMM_LAB_TENSOR_CORES
  extern __shared__ __align__(128) unsigned char memory[];
  auto& stage = *reinterpret_cast<Stage<S>*>(memory);
  const int row0 = blockIdx.y * S::BM, col0 = blockIdx.x * S::BN, warp = threadIdx.x / 32;
  const int row = warp / S::WARPS_N * S::WM, col = warp % S::WARPS_N * S::WN;  // in that tile
  Sums<S> sums = {};
  Fragments<S> fragments;
  for (int k0 = 0; k0 < a.cols; k0 += S::BK) {  // a step
    copy_stage<ALIGNED>(stage, a, b, row0, col0, k0);
    wait_for_copies<0>();
    __syncthreads();
#pragma unroll
    for (int k = 0; k < S::BK; k += MMA_K) {
      load_fragments(fragments, stage, row, col, k);
      multiply<S>(sums, fragments);
    }
    __syncthreads();
  }
  store_sums<S>(sums, a, b, c, row0 + row, col0 + col);
#endif
}

template <typename T>
void gemm_three_step_by_step(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                             cudaStream_t stream) {
  launch<SmallTile>(
      {three_step_by_step_kernel<true, SmallTile>, three_step_by_step_kernel<false, SmallTile>}, a,
      b, c, stream);
}
