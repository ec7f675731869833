// Stream-K: which steps of which tiles a block multiplies, and how it hands over sums of a tile.
#pragma once

#include "lab6_summit/given/fp64_tiles.cuh"

/// Some steps of a tile. `blocks` blocks have a piece of it each; `rank` counts them along K.
struct Piece {
  int tile;
  Steps steps;
  int rank, blocks;
};

/// How `blocks` blocks divide `tiles` tiles of `per_tile` steps each. As long as there are tiles for all
/// of them, every block makes whole tiles. The last of these rounds and the tiles left over are shared:
/// their steps are numbered through, and every block gets the same number of them, give or take one.
struct Shares {
  int blocks, tiles, per_tile;

  GEMM_LAB_HOST_DEVICE int whole() const { return max(0, tiles / blocks - 1); }
  GEMM_LAB_HOST_DEVICE long long shared_steps() const {
    return static_cast<long long>(tiles - whole() * blocks) * per_tile;
  }
  /// A block's share of these steps; and the block that has one of them.
  GEMM_LAB_HOST_DEVICE Steps of(int block) const {
    const long long all = shared_steps();
    return {static_cast<int>(all * block / blocks), static_cast<int>(all * (block + 1) / blocks)};
  }
  GEMM_LAB_HOST_DEVICE int block_of(long long step) const {
    return static_cast<int>(((step + 1) * blocks - 1) / shared_steps());
  }
  GEMM_LAB_HOST_DEVICE int steps_of(int block) const {
    return whole() * per_tile + of(block).count();
  }
  /// The piece that the step-th step of a block begins.
  GEMM_LAB_HOST_DEVICE Piece piece_at(int block, int step) const {
    const int of_whole = whole() * per_tile;
    if (step < of_whole) return {block + step / per_tile * blocks, {0, per_tile}, 0, 1};
    const Steps share = of(block);
    const int at = share.first + step - of_whole, tile = at / per_tile, first = at % per_tile;
    const int end = min(per_tile, first + share.end - at);
    const int from = block_of(at - first), last = block_of(at - first + per_tile - 1);
    return {whole() * blocks + tile, {first, end}, block - from, last - from + 1};
  }
};

/// How many pairs of a warp's sums a lane holds, and how many lanes of a block hold some.
template <typename L>
constexpr int PAIRS = L::WM* L::WN / 64;
template <typename L>
constexpr int LANES = L::WARPS * 32;

/// Scratch memory for sums. A block hands over one piece at most: its first, if another block has
/// begun that tile.
struct Handover {
  double2* sums;    // (blocks, PAIRS, LANES)
  unsigned* there;  // (blocks, WARPS): 1 once the warp's sums are there, until then 0

  /// The first pair of this lane; the others follow LANES pairs apart.
  template <typename L>
  __device__ double2* of(int block) const {
    return sums + std::ptrdiff_t{block} * PAIRS<L> * LANES<L> + threadIdx.x;
  }
};

/// Hands over this warp's sums. Whoever acquires the flag sees all that was stored before its release.
template <typename L>
__device__ void hand_over(const Handover& to, int block, const Sums<L>& sums) {
  double2* const own = to.of<L>(block);
  int pair = 0;
  for_pairs<L>(sums, [&](int, int, double2 two) { own[pair++ * LANES<L>] = two; });
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    asm volatile("st.release.gpu.global.u32 [%0], 1;"
                 :
                 : "l"(to.there + block * L::WARPS + threadIdx.x / 32)
                 : "memory");
}

/// Waits until `block` has handed over this warp's part, then adds it.
template <typename L>
__device__ void add_handed_over(Sums<L>& sums, const Handover& from, int block) {
  for (unsigned there = 0; !there;)
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                 : "=r"(there)
                 : "l"(from.there + block * L::WARPS + threadIdx.x / 32)
                 : "memory");
  const double2* const own = from.of<L>(block);
  int pair = 0;
#pragma unroll
  for (int m = 0; m < L::FRAGMENTS_M; ++m)
#pragma unroll
    for (int e = 0; e < 4; e += 2)  // in the order of for_pairs
#pragma unroll
      for (int n = 0; n < L::FRAGMENTS_N; ++n) {
        const double2 other = own[pair++ * LANES<L>];
        sums[m][n][e] += other.x, sums[m][n][e + 1] += other.y;
      }
}

/// Stores a warp's part, at (row, col), of a tile of C.
template <typename L>
__device__ void store_tile(const Sums<L>& sums, int tile, MatrixView<double> c, int row, int col) {
  const TileOrigin origin = tile_origin<L::BM, L::BN, 16>(tile, c);
  const bool aligned = rows_aligned(c);
  for_pairs<L>(sums, [&](int down, int right, double2 pair) {
    store_two(c, aligned, origin.row + row + down, origin.col + col + right, pair);
  });
}

/// Requests the boxes of all steps of a block. One thread calls it.
template <typename L>
__device__ void copy_shares(typename L::Shared& own, PlaceOf<L::STAGES>& place,
                            const CUtensorMap& a_even, const CUtensorMap& a_odd,
                            const CUtensorMap& b_even, const CUtensorMap& b_odd,
                            MatrixView<double> c, const Layout& layout, const Shares& shares,
                            int block) {
  for (int step = 0; step < shares.steps_of(block);) {
    const Piece piece = shares.piece_at(block, step);
    copy_steps<L>(own, place, a_even, a_odd, b_even, b_odd,
                  tile_origin<L::BM, L::BN, 16>(piece.tile, c), piece.steps, layout);
    step += piece.steps.count();
  }
}

// ---- launches

/// A kernel, since a memset would not let the next kernel begin early; a template, since two files
/// include this one.
template <typename Flag>
__global__ void clear_flags(Flag* flags, int count) {
  let_next_launch_begin(), wait_for_last_launch();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) flags[i] = 0;
}

/// The memory for handing over sums, if tiles are shared, with all flags 0.
template <typename L>
class Scratch {
 public:
  Scratch(const Shares& shares, cudaStream_t stream) : sums_(stream), there_(stream) {
    if (shares.tiles % shares.blocks == 0) return;
    const int flags = shares.blocks * L::WARPS;
    handover = {sums_.allocate(std::size_t(shares.blocks) * PAIRS<L> * LANES<L>),
                there_.allocate(flags)};
    launch_early(clear_flags<unsigned>, ceil_div(flags, 256), dim3(256), 0, 1, stream,
                 handover.there, flags);
  }
  Handover handover = {};

 private:
  StreamMemory<double2> sums_;
  StreamMemory<unsigned> there_;
};

using SharesKernel = void (*)(CUtensorMap a_even, CUtensorMap a_odd, CUtensorMap b_even,
                              CUtensorMap b_odd, MatrixView<double> c, Layout layout, Shares shares,
                              Handover handover);

template <typename L, typename Rows>
void launch_shares(SharesKernel kernel, Rows rows, MatrixView<const double> a,
                   MatrixView<const double> b, MatrixView<double> c, int blocks,
                   cudaStream_t stream) {
  constexpr int BYTES = sizeof(typename L::Shared);
  Layout layout = {};
  layout.depth = a.cols;
  const auto of_a = for_tma(a, L::BM / 2, L::BK + 4, rows, layout.shifts.a, layout.odd_a);
  const auto of_b = for_tma(b, L::BK / 2, L::BN + 4, rows, layout.shifts.b, layout.odd_b);
  const Shares shares = {blocks, tile_count<L::BM, L::BN>(c), ceil_div(a.cols, L::BK)};
  const Scratch<L> scratch(shares, stream);
  launch_early(kernel, blocks, dim3(L::THREADS), BYTES, 1, stream, of_a.half[0], of_a.half[1],
               of_b.half[0], of_b.half[1], c, layout, shares, scratch.handover);
}

/// How many blocks share the steps of all tiles: as many as fit on the GPU. If that is more than there are
/// tiles, every tile gets the same number of blocks, with 8 steps or more each. All tiles are then at the
/// same place along K at the same time, and what one block reads the others find in the L2 cache.
inline int blocks_for(const Choice& tile, int m, int n, int k, int processors) {
  const int tiles = ceil_div(m, tile.bm) * ceil_div(n, tile.bn), room = tile.resident * processors;
  if (tiles >= room) return room;
  return tiles * max(1, min(room / tiles, ceil_div(k, 32) / 8));
}

/// Estimated microseconds of a product whose steps are shared.
inline float microseconds_shared(const Choice& tile, int m, int n, int k, int processors) {
  // For a launch, and for clearing flags before it; per 64 x 64 of a tile, for what comes before and
  // after a piece's steps, and to hand one over.
  constexpr float LAUNCH = 3, FLAGS = 2, PIECE = 1, HAND_OVER = 2;
  const int tiles = ceil_div(m, tile.bm) * ceil_div(n, tile.bn), per_tile = ceil_div(k, 32);
  const int blocks = blocks_for(tile, m, n, k, processors);
  const float steps = static_cast<float>(tiles) * per_tile / blocks;
  const int beside = ceil_div(blocks, processors) - 1, others = max(1, tile.resident - 1);
  const float step = tile.alone + (tile.full - tile.alone) * beside / others;
  const float size = static_cast<float>(tile.bm * tile.bn) / (64 * 64);
  const float time = LAUNCH + steps * step + size * PIECE * max(1.0f, steps / per_tile);
  if (tiles % blocks == 0) return time;  // nothing is shared
  int rounds = 1;                        // in which the blocks of a tile add sums in pairs
  while (tiles << rounds < blocks) ++rounds;
  return time + FLAGS + size * (PIECE + HAND_OVER * rounds);
}
