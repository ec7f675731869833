// A and B rewritten tile by tile before they are multiplied, as a CPU's GEMM does, and what that is
// worth if the same A and B are multiplied more than once.
#pragma once

#include "grader/author/sweep/driver.cuh"
#include "grader/author/sweep/kernels/banks.cuh"

namespace sweep {

enum class Packing {
  none,
  rows,     ///< each tile contiguous, row after row
  columns,  ///< each tile contiguous, column after column
};

/// Rewrites m as its ROWS x COLS tiles, filled up with zeros at the edges. A block per tile.
template <int ROWS, int COLS, bool BY_COLUMNS, typename In>
__global__ void __launch_bounds__(256) pack_kernel(MatrixView<const In> m, In* packed) {
  const int row0 = blockIdx.y * ROWS, col0 = blockIdx.x * COLS;
  In* const tile = packed + std::size_t{blockIdx.y * gridDim.x + blockIdx.x} * (ROWS * COLS);
#pragma unroll
  for (int i = threadIdx.x; i < ROWS * COLS; i += 256) {
    const int r = i / COLS, k = i % COLS;
    const bool inside = row0 + r < m.rows && col0 + k < m.cols;
    tile[BY_COLUMNS ? k * ROWS + r : i] = inside ? m(row0 + r, col0 + k) : In(0);
  }
}

/// Element i of the ROWS x COLS tile number (tile_row, tile_col) of m or of its packed form; of a
/// tile packed by columns they are counted down the columns.
template <int ROWS, int COLS, Packing PACKING, typename In>
__device__ In tile_element(MatrixView<const In> m, const In* packed, int tile_row, int tile_col,
                           int i) {
  if constexpr (PACKING != Packing::none) {
    const int tiles = (m.cols + COLS - 1) / COLS;
    return packed[(static_cast<std::size_t>(tile_row) * tiles + tile_col) * (ROWS * COLS) + i];
  } else {
    const int row = tile_row * ROWS + i / COLS, col = tile_col * COLS + i % COLS;
    return row < m.rows && col < m.cols ? m(row, col) : In(0);
  }
}

/// A 128 x BN tile of C per block of 256 threads, 16 x 16 of them with 8 x BN / 16 elements each.
template <int BN, Packing A, Packing B, typename In>
__global__ void __launch_bounds__(256)
    packed_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Result<In>> c,
                  const In* a_packed, const In* b_packed) {
  constexpr int BM = 128, BK = 16, TM = 8, TN = BN / 16;
  constexpr bool B_TURNED = B == Packing::columns;
  __shared__ In a_tile[BM][BK];
  __shared__ In b_tile[B_TURNED ? BN : BK][B_TURNED ? BK : BN];
  const int thread = threadIdx.x, row = thread / 16 * TM, col = thread % 16;
  Result<In> acc[TM][TN] = {};
  for (int t = 0; t * BK < a.cols; ++t) {
#pragma unroll
    for (int i = thread; i < BM * BK; i += 256)
      a_tile[i / BK][i % BK] = tile_element<BM, BK, A>(a, a_packed, blockIdx.y, t, i);
#pragma unroll
    for (int i = thread; i < BK * BN; i += 256)
      (&b_tile[0][0])[i] = tile_element<BK, BN, B>(b, b_packed, t, blockIdx.x, i);
    __syncthreads();
#pragma unroll 2
    for (int k = 0; k < BK; ++k) {
      In a_k[TM], b_k[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) a_k[i] = a_tile[row + i][k];
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        if constexpr (B_TURNED)
          b_k[j] = b_tile[col + 16 * j][k];
        else
          b_k[j] = b_tile[k][col + 16 * j];
      }
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += a_k[i] * b_k[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int r = blockIdx.y * BM + row + i, s = blockIdx.x * BN + col + 16 * j;
      if (r < c.rows && s < c.cols) c(r, s) = acc[i][j];
    }
}

/// Packs what is to be packed, then multiplies `products` times. All of it is timed.
template <Packing A, Packing B, typename In>
Way<In> packed(int n, int products) {
  constexpr int BM = 128, BN = sizeof(In) > 4 ? 64 : 128, BK = 16;
  const int m_tiles = ceil_div(n, BM), n_tiles = ceil_div(n, BN), k_tiles = ceil_div(n, BK);
  const auto elements = [](int tiles, int more, int size) {
    return static_cast<std::size_t>(tiles) * static_cast<std::size_t>(more) *
           static_cast<std::size_t>(size);
  };
  const auto a_packed = std::make_shared<DeviceArray<In>>(
      A == Packing::none ? 1 : elements(m_tiles, k_tiles, BM * BK));
  const auto b_packed = std::make_shared<DeviceArray<In>>(
      B == Packing::none ? 1 : elements(k_tiles, n_tiles, BK * BN));
  Way<In> way;
  way.main = {reinterpret_cast<const void*>(packed_kernel<BN, A, B, In>), dim3(n_tiles, m_tiles),
              dim3(256)};
  way.products = products;
  // The read of B: neighbours, or the same k of columns that are BK elements apart.
  way.wavefronts =
      wavefronts<In>([](int lane) { return lane % 16 * (B == Packing::columns ? BK : 1); });
  way.run = [=](const Operands<In>& m, cudaStream_t stream) {
    if constexpr (A != Packing::none)
      pack_kernel<BM, BK, false><<<dim3(k_tiles, m_tiles), 256, 0, stream>>>(m.a, a_packed->data());
    if constexpr (B != Packing::none)
      pack_kernel<BK, BN, B == Packing::columns>
          <<<dim3(n_tiles, k_tiles), 256, 0, stream>>>(m.b, b_packed->data());
    for (int i = 0; i < products; ++i)
      packed_kernel<BN, A, B, In><<<dim3(n_tiles, m_tiles), 256, 0, stream>>>(
          m.a, m.b, m.c, static_cast<const In*>(a_packed->data()),
          static_cast<const In*>(b_packed->data()));
    CUDA_CHECK_LAUNCH();
  };
  return way;
}

template <Packing A, Packing B, typename In>
void add_packing(Plan& plan, int n, int x, const char* label) {
  plan.add<In>({"packing", "packed for each product", n, x, label},
               [](int size) { return packed<A, B, In>(size, 1); });
}

/// Neither, A, B, both; B by columns.
template <typename In>
void add_packings(Plan& plan) {
  constexpr Packing none = Packing::none, rows = Packing::rows, columns = Packing::columns;
  for (const int n : {512, 1024, 2048, 4096}) {
    add_packing<none, none, In>(plan, n, 0, "none");
    add_packing<rows, none, In>(plan, n, 1, "A");
    add_packing<none, rows, In>(plan, n, 2, "B");
    add_packing<none, columns, In>(plan, n, 3, "B by columns");
    add_packing<rows, rows, In>(plan, n, 4, "A, B");
    add_packing<rows, columns, In>(plan, n, 5, "A, B by columns");
  }
}

/// The same A and B multiplied 1, 2, 4, ... times after one packing; milliseconds per product.
template <typename In>
void add_repeated_products(Plan& plan) {
  for (const int n : {512, 1024, 2048})
    for (const int times : {1, 2, 4, 8, 16}) {
      plan.add<In>({"repeated products", "not packed", n, times, ""}, [times](int size) {
        return packed<Packing::none, Packing::none, In>(size, times);
      });
      plan.add<In>({"repeated products", "A, B packed once", n, times, ""}, [times](int size) {
        return packed<Packing::rows, Packing::rows, In>(size, times);
      });
    }
}

}  // namespace sweep
