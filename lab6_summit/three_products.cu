// Lab 6, 6.3: FP32 accuracy from TF32 tensor cores; the tutorial's page "three products" explains
// each TODO. You will learn to make up for a short number format with a second number, which
// products of the parts matter, and why sums must leave the tensor cores from time to time.
#include "common/matrix.hpp"
#include "lab6_summit/given/three_tiles.cuh"

// ---- 6.3: two parts

/// The bits of two numbers whose sum is a float. A tensor core reads the upper 19 bits of each.
struct Parts {
  unsigned big, small;
};

__device__ inline Parts split(float x) {
  const unsigned bits = __float_as_uint(x);
  // TODO(6.3) Return {big, small}. big: x rounded by round_to_tf32 (bits in, bits out), with its
  //           lower 13 bits, which the tensor core ignores, set to zero. small: the bits of x -
  //           big. __uint_as_float and __float_as_uint convert between bits and float.
  return {unwritten<unsigned>() + bits, 0};
}

// ---- 6.3.1: three products

/// A fragment in two parts.
template <int REGISTERS>
struct SplitFragment {
  unsigned big[REGISTERS], small[REGISTERS];
};

template <int REGISTERS>
__device__ SplitFragment<REGISTERS> split(const float (&fragment)[REGISTERS]) {
  SplitFragment<REGISTERS> f;
#pragma unroll
  for (int r = 0; r < REGISTERS; ++r) {
    const Parts parts = split(fragment[r]);
    f.big[r] = parts.big, f.small[r] = parts.small;
  }
  return f;
}

/// sums[j] += a * b[j], for a row of fragments.
template <int COUNT>
__device__ void multiply_parts(float (&sums)[COUNT][4], const SplitFragment<A_REGISTERS>& a,
                               const SplitFragment<B_REGISTERS> (&b)[COUNT]) {
  // TODO(6.3.1) (big + small) * (big + small) has four products. Which one is too small to matter?
  //             Add the other three by mma_wide(sums[j], part of a, part of b[j]), small ones
  //             first. Loop over j for each of them: then no mma waits for the one right before it.
  sums[0][0] += unwritten<float>() + a.big[0] + b[0].big[0];
}

/// sums += a * b, for all fragments of a warp.
template <typename S>
__device__ void multiply(Sums<S>& sums, const Fragments<S>& f) {
  SplitFragment<B_REGISTERS> b[S::FRAGMENTS_N];
#pragma unroll
  for (int j = 0; j < S::FRAGMENTS_N; ++j) b[j] = split(f.b[j]);
#pragma unroll
  for (int i = 0; i < S::FRAGMENTS_M; ++i) multiply_parts(sums.of[i], split(f.a[i]), b);
}

// ---- 6.3.2: promoted sums

/// C = A * B, one (BM, BN) tile of C per block. The loop is that of 5.3b, with three products.
template <bool ALIGNED, typename S>
__global__ void __launch_bounds__(S::THREADS)
    three_products_kernel(MatrixView<const float> a, MatrixView<const float> b,
                          MatrixView<float> c) {
#if GEMM_LAB_TENSOR_CORES
  extern __shared__ __align__(128) unsigned char memory[];
  auto* const ring = reinterpret_cast<Stage<S>*>(memory);  // (STAGES) pairs of tiles
  const int row0 = blockIdx.y * S::BM, col0 = blockIdx.x * S::BN, warp = threadIdx.x / 32;
  const int row = warp / S::WARPS_N * S::WM, col = warp % S::WARPS_N * S::WN;  // in that tile
  Sums<S> sums = {};          // (WM, WN), in fragments
  Fragments<S> fragments[2];  // (WM, 8) and (8, WN): one is multiplied while the other is loaded
  for (int s = 0; s < S::STAGES - 1; ++s) copy_stage<ALIGNED>(ring[s], a, b, row0, col0, s * S::BK);
  wait_for_copies<S::STAGES - 2>();  // my copies of step 0 have arrived
  __syncthreads();                   // and everybody else's
  load_fragments(fragments[0], ring[0], row, col, 0);
  int now = 0, free = S::STAGES - 1;  // the places of this step and of the previous one
#pragma unroll 1
  for (int k0 = 0; k0 < a.cols; k0 += S::BK) {
    const int next = now + 1 < S::STAGES ? now + 1 : 0;
    Sums<S> step = {};  // the sums of these BK terms only
#pragma unroll
    for (int k = 0; k < S::BK; k += MMA_K) {
      const int n = k / MMA_K % 2;
      if (k + MMA_K < S::BK) {
        load_fragments(fragments[1 - n], ring[now], row, col, k + MMA_K);
      } else {
        wait_for_copies<S::STAGES - 2>();  // my copies of the next step have arrived
        __syncthreads();  // and everybody else's; nobody reads this step's tiles any more
        load_fragments(fragments[0], ring[next], row, col, 0);
      }
      if (k == 0) copy_stage<ALIGNED>(ring[free], a, b, row0, col0, k0 + (S::STAGES - 1) * S::BK);
      // TODO(6.3.2) multiply<S>() these fragments into `step`, not into `sums`: tensor cores
      //             truncate when they add, so errors in a long sum would pile up. After the last k
      //             of the step, add all of `step` to `sums` with ordinary additions, which round.
      sums.of[0][0][0] = step.of[0][0][0] = fragments[n].a[0][0] = unwritten<float>();
    }
    free = now;
    now = next;
  }
  store_sums<S>(sums, a, b, c, row0 + row, col0 + col);
#endif
}

template <typename T>
void gemm_three_products(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                         cudaStream_t stream) {
  if (large_tiles_fit(c))
    launch<LargeTile>(
        {three_products_kernel<true, LargeTile>, three_products_kernel<false, LargeTile>}, a, b, c,
        stream);
  else
    launch<SmallTile>(
        {three_products_kernel<true, SmallTile>, three_products_kernel<false, SmallTile>}, a, b, c,
        stream);
}

// The kernels that test 6.3 and 6.3.1:
#include "lab6_summit/given/three_checks.cuh"
