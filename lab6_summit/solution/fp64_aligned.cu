// Lab 6, 6.5.4: FP64 for rows that begin at multiples of 16 bytes. You will learn to load two doubles
// at once for the largest mma of all: C is computed transposed, and rows are exchanged, so that no
// two lanes meet in a bank and every double arrives in the register where it is multiplied.
#include "common/matrix.hpp"
#include "lab6_summit/given/aligned_tiles.cuh"

// ---- 6.5.4: two at a time

/// The chunks that this lane loads of eight rows of A, or of eight terms of B: chunks of 16 bytes, in
/// rows of 128 that copy_box() has swizzled.
__device__ inline Chunks chunks_of_lane() {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  Chunks own = {};
  // Of B, columns 2 g and 2 g + 1 of terms 2 t and 2 t + 1.
  own.b[0] = chunk(2 * t, g ^ 2 * t);
  own.b[1] = chunk(2 * t + 1, g ^ (2 * t + 1));
  // TODO(6.5.4) Of A, terms 2 t and 2 t + 1 (own.a[0]) and 2 t + 8 and 2 t + 9 (own.a[1]) of the row
  //             that is column g of the fragment. Columns 0 to 7 are rows 0, 4, 1, 5, 2, 6, 3, 7.
  // >>> skeleton
  // own.a[0] = unwritten<int>();
  // <<< skeleton
  // >>> solution
  const int row = g / 2 + g % 2 * 4;
  own.a[0] = chunk(row, t ^ row);
  own.a[1] = chunk(row, (t + 4) ^ row);
  // <<< solution
  return own;
}

/// sums += the product of this warp's rows and columns, over `steps` steps. A fragment is loaded
/// again as soon as its last product has been started: of A in place, of B in turns.
template <typename L>
__device__ void multiply_aligned(Sums<L>& sums, typename L::Shared& own, PlaceOf<L::STAGES>& place,
                                 const Chunks& chunks, int row, int col, int steps) {
  constexpr int M = L::FRAGMENTS_M, N = L::FRAGMENTS_N;
  double a[M][4], b[2][8];
  own.full[place.stage].wait(place.parity);
  const auto* stage = &own.ring[place.stage];
  load_columns(b[0], stage->b[col / 16], chunks);
#pragma unroll
  for (int m = 0; m < M - 1; ++m) load_rows(a[m], &stage->a[row + 8 * m], chunks);
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    const int now = place.stage;
#pragma unroll
    for (int n = 0; n < N; ++n) {
      const bool last = n == N - 1;  // what is loaded meanwhile belongs to the next step
#pragma unroll
      for (int m = 0; m < M; ++m) {
        multiply_transposed(sums[m][n], b[n % 2], a[m]);
        if (n == 0 && m == 0) load_rows(a[M - 1], &stage->a[row + 8 * (M - 1)], chunks);
        if (last && m == 0 && s + 1 < steps) {  // otherwise the first fragments again, unused
          place.advance();
          own.full[place.stage].wait(place.parity);
          stage = &own.ring[place.stage];
        }
        if (m == 0) load_columns(b[1 - n % 2], stage->b[col / 16 + (n + 1) % N], chunks);
        if (last && m > 0) load_rows(a[m - 1], &stage->a[row + 8 * (m - 1)], chunks);
      }
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) own.empty[now].arrive();
  }
  place.advance();
}

/// C = A * B in equal shares, as in 6.5.3.
template <typename L>
__global__ void __launch_bounds__(L::THREADS, 1)
    aligned_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                   MatrixView<double> c, Shares shares, Handover handover) {
  auto& shared = shared_of<L>();
  wait_for_last_launch();
  const int block = gridDim.x - 1 - blockIdx.x, warp = threadIdx.x / 32;
  PlaceOf<L::STAGES> place;
  if (warp < L::WARPS) {
    take_registers<L>();
    const int row = warp / L::WARPS_N * L::WM, col = warp % L::WARPS_N * L::WN;
    const Chunks chunks = kept(chunks_of_lane());
#pragma unroll 1
    for (int step = 0; step < shares.steps_of(block);) {
      const Piece piece = shares.piece_at(block, step);
      Sums<L> sums = {};
      multiply_aligned<L>(sums, shared, place, chunks, row, col, piece.steps.count());
      finish_aligned<L>(sums, piece, block, handover, c, row, col);
      step += piece.steps.count();
    }
  } else {
    give_registers<L>();
    if (threadIdx.x == L::WARPS * 32) copy_aligned<L>(shared, place, a, b, c, shares, block);
  }
}

template <typename T>
void gemm_f64_aligned(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                      cudaStream_t stream) {
  using L = AlignedTile<128, 128, 32, 64, 6>;
  launch_aligned<L>(aligned_kernel<L>, a, b, c, stream);
}
