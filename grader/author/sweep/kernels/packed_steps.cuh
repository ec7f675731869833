// The steps of a course report in which shared memory first hurt: packed operands straight from
// global memory; the same through shared memory; then with A's tile laid out as a warp reads it.
#pragma once

#include "grader/author/sweep/kernels/packed.cuh"

namespace sweep {

enum class Step {
  from_global,     ///< packed tiles read in place
  through_shared,  ///< fetched together; a warp walks down a column of A's tile: bank conflicts
  transposed       ///< A's tile turned on the way: a warp reads neighbours
};

/// A 64 x 64 tile of C per block, 4 x 4 elements per thread, tiles 8 deep. Neighbouring threads
/// have neighbouring *rows*.
template <Step STEP, typename In>
__global__ void __launch_bounds__(256)
    packed_steps_kernel(MatrixView<Result<In>> c, const In* a_packed, const In* b_packed,
                        int k_tiles) {
  constexpr int SIDE = 64, BK = 8, T = 4;
  constexpr bool SHARED = STEP != Step::from_global, TURNED = STEP == Step::transposed;
  __shared__ In a_tile[SHARED ? SIDE * BK : 1], b_tile[SHARED ? SIDE * BK : 1];
  const int thread = threadIdx.x, row = thread % 16, col = thread / 16;
  Result<In> acc[T][T] = {};
  for (int t = 0; t < k_tiles; ++t) {
    const In* const from_a = a_packed + std::size_t{blockIdx.y * k_tiles + t} * (SIDE * BK);
    const In* const from_b = b_packed + std::size_t{t * gridDim.x + blockIdx.x} * (SIDE * BK);
    if constexpr (SHARED) {
#pragma unroll
      for (int i = thread; i < SIDE * BK; i += 256) {
        a_tile[TURNED ? i % BK * SIDE + i / BK : i] = from_a[i];
        b_tile[i] = from_b[i];
      }
      __syncthreads();
    }
    const In* const tile_a = SHARED ? a_tile : from_a;
    const In* const tile_b = SHARED ? b_tile : from_b;
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      In a_k[T], b_k[T];
#pragma unroll
      for (int i = 0; i < T; ++i)
        a_k[i] = TURNED ? tile_a[k * SIDE + row + 16 * i] : tile_a[(row + 16 * i) * BK + k];
#pragma unroll
      for (int j = 0; j < T; ++j) b_k[j] = tile_b[k * SIDE + col + 16 * j];
#pragma unroll
      for (int i = 0; i < T; ++i)
#pragma unroll
        for (int j = 0; j < T; ++j) acc[i][j] += a_k[i] * b_k[j];
    }
    if constexpr (SHARED) __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < T; ++i)
#pragma unroll
    for (int j = 0; j < T; ++j) {
      const int r = blockIdx.y * SIDE + row + 16 * i, s = blockIdx.x * SIDE + col + 16 * j;
      if (r < c.rows && s < c.cols) c(r, s) = acc[i][j];
    }
}

template <Step STEP, typename In>
Way<In> packed_steps(int n) {
  constexpr int SIDE = 64, BK = 8;
  const int tiles = ceil_div(n, SIDE), k_tiles = ceil_div(n, BK);
  const std::size_t elements =
      static_cast<std::size_t>(tiles) * static_cast<std::size_t>(k_tiles) * (SIDE * BK);
  const auto a_packed = std::make_shared<DeviceArray<In>>(elements);
  const auto b_packed = std::make_shared<DeviceArray<In>>(elements);
  Way<In> way;
  way.main = {reinterpret_cast<const void*>(packed_steps_kernel<STEP, In>), dim3(tiles, tiles),
              dim3(256)};
  if (STEP != Step::from_global)  // the read of A
    way.wavefronts =
        wavefronts<In>([](int lane) { return lane % 16 * (STEP == Step::transposed ? 1 : BK); });
  way.run = [=](const Operands<In>& m, cudaStream_t stream) {
    pack_kernel<SIDE, BK, false><<<dim3(k_tiles, tiles), 256, 0, stream>>>(m.a, a_packed->data());
    pack_kernel<BK, SIDE, false><<<dim3(tiles, k_tiles), 256, 0, stream>>>(m.b, b_packed->data());
    packed_steps_kernel<STEP, In>
        <<<dim3(tiles, tiles), 256, 0, stream>>>(m.c, static_cast<const In*>(a_packed->data()),
                                                 static_cast<const In*>(b_packed->data()), k_tiles);
    CUDA_CHECK_LAUNCH();
  };
  return way;
}

template <typename In>
void add_packed_steps(Plan& plan) {
  for (const int n : {1024, 2048, 4096}) {
    plan.add<In>({"steps", "tile depth 8", n, 1, "packed, global"},
                 [](int size) { return packed_steps<Step::from_global, In>(size); });
    plan.add<In>({"steps", "tile depth 8", n, 2, "+ shared"},
                 [](int size) { return packed_steps<Step::through_shared, In>(size); });
    plan.add<In>({"steps", "tile depth 8", n, 3, "+ A turned"},
                 [](int size) { return packed_steps<Step::transposed, In>(size); });
  }
}

}  // namespace sweep
