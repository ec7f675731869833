// C = A * B with the tiles, fragments and products of the file that includes this at its end, but
// without a pipeline: as in lab 3, all threads wait for each pair of tiles.

/// One (BM, BN) tile of C per block.
template <Matrices KNOWN, typename S, typename T, typename Out>
__global__ void __launch_bounds__(S::THREADS)
    step_by_step_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<Out> c) {
#if GEMM_LAB_TENSOR_CORES
  extern __shared__ __align__(128) unsigned char memory[];
  auto& stage = *reinterpret_cast<Stage<S, T>*>(memory);
  const int row0 = blockIdx.y * S::BM, col0 = blockIdx.x * S::BN, warp = threadIdx.x / 32;
  const int row = warp / S::WARPS_N * S::WM, col = warp % S::WARPS_N * S::WN;  // in that tile
  Sums<S, Out> sums = {};                       // (WM, WN), in fragments
  Fragments<S, T> fragments;                    // (WM, MMA_K) of A and (MMA_K, WN) of B
  for (int k0 = 0; k0 < a.cols; k0 += S::BK) {  // a step
    copy_stage<KNOWN>(stage, a, b, row0, col0, k0);
    wait_for_copies<0>();
    __syncthreads();
#pragma unroll
    for (int k = 0; k < S::BK; k += S::MMA_K) {
      load_fragments(fragments, stage, row, col, k);
      multiply(sums, fragments);
    }
    __syncthreads();
  }
  store_tile<S>(sums, c, row0 + row, col0 + col);
#endif
}

template <typename In, typename Out>
void gemm_step_by_step(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                       cudaStream_t stream) {
  using S = Shape<In, 128, 128, 64, 64, 2>;
  launch<S, In, Out>({step_by_step_kernel<Matrices::whole, S, In, Out>,
                      step_by_step_kernel<Matrices::aligned, S, In, Out>,
                      step_by_step_kernel<Matrices::any, S, In, Out>},
                     sizeof(Stage<S, In>), a, b, c, stream);
}
