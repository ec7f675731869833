// What three_wgmma.cu builds on: tiles of floats in shared memory, of A as it is and of B in two
// parts; fragments of A in registers; and the way from sums to C.
#pragma once

#include "common/hopper_operand.cuh"
#include "common/mma_sync.cuh"
#include "lab6_summit/given/repair.cuh"
#include "lab6_summit/given/wgmma_parts.cuh"

// A block computes 128 x BN of C (BN: 32, 64, 80, 96 or 128) in steps of 128 bytes along K. Two
// warpgroups multiply 64 rows each; one thread of a ninth warp requests copies.
constexpr int BM = 128, BK = 32, WGMMA_K = 8, WARPS = 8, THREADS = WARPS * 32 + 32;

/// The tiles of one step, swizzled by copy_box. Rows of B's parts run along k.
template <int BN>
struct alignas(1024) SplitStage {
  float a[BM][BK];                       // (BM, BK), all of A's bits
  float b_big[BN][BK], b_small[BN][BK];  // (BN, BK)
};

/// As many stages as a block on Hopper has room for.
template <int BN>
struct SplitRing {
  static constexpr int STAGES = int{192 * 1024} / int{sizeof(SplitStage<BN>)};
  SplitStage<BN> stage[STAGES];
  Barrier full[STAGES], empty[STAGES];  // full: all bytes are there; empty: all warps are done
};

/// The ring in dynamic shared memory, with its barriers initialised. All threads must call it.
template <int BN>
__device__ SplitRing<BN>& split_ring() {
  using Ring = SplitRing<BN>;
  extern __shared__ unsigned char memory[];
  auto& ring = *reinterpret_cast<Ring*>(memory + (1024 - shared_address(memory) % 1024) % 1024);
  if (threadIdx.x == 0) {
    for (int s = 0; s < Ring::STAGES; ++s) ring.full[s].init(1), ring.empty[s].init(WARPS);
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");  // now visible to TMA
  }
  __syncthreads();
  let_next_launch_begin();
  return ring;
}

/// Requests all boxes of this block's tiles, each as soon as there is room. One thread calls it.
template <int BN>
__device__ void copy_steps(SplitRing<BN>& ring, const CUtensorMap& a, const CUtensorMap& b_big,
                           const CUtensorMap& b_small, MatrixView<float> c, int steps) {
  PlaceOf<SplitRing<BN>::STAGES> place;
  for (int n = blockIdx.x; n < tile_count<BM, BN>(c); n += gridDim.x) {
    const TileOrigin origin = tile_origin<BM, BN>(n, c);
    for (int k0 = 0; k0 < steps * BK; k0 += BK, place.advance()) {
      SplitStage<BN>& to = ring.stage[place.stage];
      Barrier& arrived = ring.full[place.stage];
      ring.empty[place.stage].wait(place.parity ^ 1);
      arrived.arrive_and_expect(sizeof to);
      copy_box(to.a, a, origin.row, k0, arrived);
      copy_box(to.b_big, b_big, origin.col, k0, arrived);
      copy_box(to.b_small, b_small, origin.col, k0, arrived);
    }
  }
}

// ---- fragments

/// Loads what a lane holds of a warp's (16, 8) fragment of A, whose first element is (row, col) of
/// the tile: rows g and g + 8, with g = lane / 4, at column lane % 4, then the same rows at column
/// lane % 4 + 4.
__device__ inline void load_fragment(float (&x)[4], const float (&tile)[BM][BK], int row, int col) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int at = row + g + r % 2 * 8, chunk = col / 4 + r / 2;  // chunks of 16 bytes
    x[r] = tile[at][(chunk ^ at % 8) * 4 + t];
  }
}

// ---- C

/// Stores a warp's (16, BN) sums, the first at (row0, col0), where C has these elements. Elements
/// that are not finite are computed again, as in 6.3.2.
template <int BN>
__device__ void store_sums(const float (&sums)[BN / 2], MatrixView<const float> a,
                           MatrixView<const float> b, MatrixView<float> c, int row0, int col0) {
  const int lane = threadIdx.x % 32;
  const bool pairs = reinterpret_cast<std::size_t>(c.data) % 8 == 0 && c.ld % 2 == 0;
  float zero = 0;  // NaN if any of the sums is not finite
#pragma unroll
  for (int i = 0; i < BN / 2; i += 2) {  // registers i and i + 1 are neighbours
    const int row = row0 + lane / 4 + i % 4 / 2 * 8, col = col0 + i / 4 * 8 + lane % 4 * 2;
    zero += (sums[i] - sums[i]) + (sums[i + 1] - sums[i + 1]);
    if (row >= c.rows || col >= c.cols) continue;
    if (pairs && col + 1 < c.cols) {
      *reinterpret_cast<float2*>(&c(row, col)) = make_float2(sums[i], sums[i + 1]);
    } else {
      c(row, col) = sums[i];
      if (col + 1 < c.cols) c(row, col + 1) = sums[i + 1];
    }
  }
  if (zero == 0) return;
#pragma unroll 1
  for (int i = 0; i < BN / 2; ++i) {
    const int row = row0 + lane / 4 + i % 4 / 2 * 8, col = col0 + i / 4 * 8 + lane % 4 * 2 + i % 2;
    if (row < c.rows && col < c.cols) repair(a, b, c, row, col);
  }
}

// ---- the parts of B

/// Two matrices of the same shape with aligned rows, in memory that is freed in stream order.
class TwoParts {
 public:
  TwoParts(int rows, int cols, cudaStream_t stream) : memory_(stream) {
    const int ld = ceil_div(cols, 4) * 4;
    const std::size_t count = static_cast<std::size_t>(rows) * ld;
    float* const data = memory_.allocate(2 * count);
    big = {data, rows, cols, ld};
    small = {data + count, rows, cols, ld};
  }
  MatrixView<float> big = {}, small = {};

 private:
  StreamMemory<float> memory_;
};

// ---- launches

using SplitKernel = void (*)(CUtensorMap a, CUtensorMap b_big, CUtensorMap b_small,
                             MatrixView<const float> whole_a, MatrixView<const float> whole_b,
                             MatrixView<float> c);

/// One block per multiprocessor, or per tile if there are fewer. A is copied first if its rows are
/// not aligned. TMA does not round it, since the kernel splits it.
template <int BN>
void launch(SplitKernel kernel, MatrixView<const float> a, MatrixView<const float> b,
            const TwoParts& parts, MatrixView<float> c, cudaStream_t stream) {
  const Operand<float> rows_of_a(a, true, stream);
  const int blocks = min(tile_count<BM, BN>(c), multiprocessors());
  const int bytes = sizeof(SplitRing<BN>) + 1024;
  launch_early(kernel, blocks, THREADS, bytes, 1, stream,
               tensor_map(rows_of_a.view(), BM, CU_TENSOR_MAP_DATA_TYPE_FLOAT32),
               tensor_map<float>(parts.big, BN), tensor_map<float>(parts.small, BN), a, b, c);
}

/// The busiest multiprocessor's time for C in tiles of BN columns, in hundredths of that for a tile
/// of 128. At 4096, tiles of 128, 96, 64 and 32 take 8, 11, 16 and 32 rounds, in all 1, 1.08, 1.25
/// and 2.04 times as long (end of docs/results/h200/three-products.txt); 80 is interpolated.
template <int BN>
int time_of(MatrixView<float> c) {
  constexpr int OF_A_TILE = BN == 128 ? 100 : BN == 96 ? 79 : BN == 80 ? 71 : BN == 64 ? 62 : 51;
  return ceil_div(tile_count<BM, BN>(c), multiprocessors()) * OF_A_TILE;
}
/// The width of the fastest tile; if several are equal, the widest.
inline int best_columns(MatrixView<float> c) {
  int best = 128, time = time_of<128>(c);
  if (const int t = time_of<96>(c); t < time) best = 96, time = t;
  if (const int t = time_of<80>(c); t < time) best = 80, time = t;
  if (const int t = time_of<64>(c); t < time) best = 64, time = t;
  if (const int t = time_of<32>(c); t < time) best = 32;
  return best;
}
