// What alternating.cu builds on: tiles that a warpgroup computes alone, turns, and stores by TMA.
#pragma once

#include "lab6_summit/given/tf32_tiles.cuh"

/// Two boxes of 16 rows of C, 32 columns each: one is filled while TMA reads the other.
using BoxesOfC = float[2][16][32];

/// A (128, BN) tile of C, in steps of 128 bytes along K, computed by one warpgroup: rows 0 to 63,
/// then rows 64 to 127. GROUPS warpgroups multiply; one thread of another warp requests copies.
/// Named as in Tile, so that its ring and launches serve here as well.
template <typename T_, int BN_, int GROUPS_>
struct OwnTile {
  using T = T_;
  static constexpr int BM = 128, BN = BN_, BK = 128 / sizeof(T), GROUPS = GROUPS_, RESIDENT = 1;
  static constexpr int WARPS = 4;      // that compute a tile, and free its places in the ring
  static constexpr int HALF = BN / 2;  // sums per thread of 64 rows
  static constexpr bool MOVES_REGISTERS = 2 * HALF > 128;
  static constexpr int THREADS = GROUPS * 128 + (MOVES_REGISTERS ? 128 : 32);
  static constexpr CUtensorMapDataType COPIED_AS = TYPE<T>;
  static constexpr int SPLITTERS = 0;

  struct alignas(1024) Stage {
    T a[BM][BK];           // (BM, BK), rows along k
    T b[BN / BK][BK][BK];  // boxes of (BK, BK), rows along n
  };
  static constexpr int ROOM = 224 * 1024 - GROUPS * WARPS * int{sizeof(BoxesOfC)};
  static constexpr int STAGES = ROOM / int{sizeof(Stage)};

  struct Shared {
    Stage ring[STAGES];
    union {  // C's rows on their way to memory, by TMA or by threads
      BoxesOfC boxes[GROUPS * WARPS];
      RowsOfC rows[GROUPS * WARPS];
    };
    Barrier full[STAGES], empty[STAGES];  // full: all bytes are there; empty: all warps are done
    Barrier turn[GROUPS];                 // a phase ends when the group may multiply its next tile
  };
};

/// The block's shared memory, with its barriers initialised. All threads must call it.
template <typename L>
__device__ typename L::Shared& shared_with_turns() {
  auto& shared = shared_of<L>();
  if (threadIdx.x == 0)
    for (Barrier& turn : shared.turn) turn.init(L::WARPS);
  __syncthreads();
  return shared;
}

/// Passes over the places of `steps` steps that others take.
template <int STAGES>
__device__ void skip(PlaceOf<STAGES>& place, int steps) {
  const int next = place.stage + steps;
  place.stage = next % STAGES;
  place.parity ^= next / STAGES % 2;
}

/// The number of the place before.
template <int STAGES>
__device__ int one_before(const PlaceOf<STAGES>& place) {
  return place.stage == 0 ? STAGES - 1 : place.stage - 1;
}

/// sums = 0: of both halves of a tile's rows.
template <int HALF>
__device__ void clear(float (&sums)[2][HALF]) {
#pragma unroll
  for (int i = 0; i < HALF; ++i) sums[0][i] = sums[1][i] = 0;
}

/// Starts the products of a step, as one group: sums += A's tile * B's tile.
template <typename L>
__device__ void start_step(float (&sums)[2][L::HALF], const typename L::Stage& stage) {
  wgmma_fence(sums[0]), wgmma_fence(sums[1]);
#pragma unroll
  for (int k = 0; k < L::BK; k += 16)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      wgmma<typename L::T>(sums[half], descriptor(&stage.a[half * 64][k]),
                           descriptor(&stage.b[0][k][0], sizeof(stage.b[0])));
  wgmma_commit();
}

/// Waits for the last step of a tile, and frees its place: the one before `next`.
template <typename L>
__device__ void finish_tile(float (&sums)[2][L::HALF], typename L::Shared& shared,
                            const PlaceOf<L::STAGES>& next) {
  wgmma_wait(sums[0]), wgmma_wait(sums[1]);
  if (threadIdx.x % 32 == 0) shared.empty[one_before(next)].arrive();
}

// ---- C

/// Whether TMA can store to C: rows begin and end at multiples of 16 bytes. (TMA rounds what it
/// stores up to 16 bytes, also past the end of a row.)
__host__ GEMM_LAB_DEVICE inline bool stored_by_tma(MatrixView<float> c) {
  return rows_aligned(c) && c.cols % 4 == 0;
}
inline CUtensorMap map_of_result(MatrixView<float> c) {
  const MatrixView<const float> view = {c.data, c.rows, c.cols, c.ld};
  return stored_by_tma(c) ? tensor_map(view, 16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32) : CUtensorMap{};
}

/// Exchanges x and y, or not, without a branch.
__device__ inline void exchange_if(bool yes, float2& x, float2& y) {
  const float2 old = x;
  x = make_float2(yes ? y.x : x.x, yes ? y.y : x.y);
  y = make_float2(yes ? old.x : y.x, yes ? old.y : y.y);
}

/// Stores a warp's (16, 2 COUNT) sums, the first at (row, col), 32 columns at a time: they are
/// written to shared memory, swizzled, and TMA copies them to where C has these elements. Its copies
/// are still under way when this returns: see finish_stores().
template <int COUNT>
__device__ void store_boxes(const float (&sums)[COUNT], BoxesOfC& boxes, const CUtensorMap& c,
                            int row, int col) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int i = 0; i < COUNT; i += 16) {
    auto& box = boxes[i / 16 % 2];
    if (lane == 0) asm volatile("cp.async.bulk.wait_group.read 1;" : : : "memory");
    __syncwarp();
#pragma unroll
    for (int half = 0; half < 2; ++half) {  // rows g, then rows g + 8
      float2 two[4];                        // of columns 8 j + 2 t and 8 j + 2 t + 1
#pragma unroll
      for (int j = 0; j < 4; ++j)
        two[j] = make_float2(sums[i + 4 * j + 2 * half], sums[i + 4 * j + 2 * half + 1]);
      // Each of four rows begins with other columns, so that their lanes use different banks.
      exchange_if(g & 1, two[0], two[1]), exchange_if(g & 1, two[2], two[3]);
      exchange_if(g & 2, two[0], two[2]), exchange_if(g & 2, two[1], two[3]);
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        const int chunk = 2 * (n ^ g % 4) + t / 2;  // 16 bytes
        *reinterpret_cast<float2*>(&box[g + 8 * half][(chunk ^ g) * 4 + t % 2 * 2]) = two[n];
      }
    }
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");  // now visible to TMA
    __syncwarp();
    if (lane == 0)
      asm volatile(
          "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\n"
          "cp.async.bulk.commit_group;"
          :
          : "l"(&c), "r"(col + 2 * i), "r"(row), "r"(shared_address(box))
          : "memory");
  }
}

/// Stores a warpgroup's sums where C has these elements: by TMA, with C's tensor map, if it can.
template <typename L>
__device__ void store_own_tile(const float (&sums)[2][L::HALF], typename L::Shared& shared,
                               MatrixView<float> c, const CUtensorMap& map, TileOrigin tile) {
  const int warp = threadIdx.x / 32, row = tile.row + warp % 4 * 16;
#pragma unroll
  for (int half = 0; half < 2; ++half)
    if (stored_by_tma(c))
      store_boxes(sums[half], shared.boxes[warp], map, row + half * 64, tile.col);
    else
      store_rows(sums[half], shared.rows[warp], c, row + half * 64, tile.col);
}

/// Waits until TMA has read all boxes: shared memory ends with the block.
__device__ inline void finish_stores() {
  asm volatile("cp.async.bulk.wait_group.read 0;" : : : "memory");
}

/// C = A * B by `kernel`.
template <typename L>
void multiply_own_tiles(void (*kernel)(CUtensorMap, CUtensorMap, MatrixView<float>, CUtensorMap,
                                       int),
                        MatrixView<const typename L::T> a, MatrixView<const typename L::T> b,
                        MatrixView<float> c, cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  if (a.cols == 0) {  // there is no tensor map of nothing
    CUDA_CHECK(
        cudaMemset2DAsync(c.data, c.ld * sizeof(float), 0, c.cols * sizeof(float), c.rows, stream));
    return;
  }
  const ForTma<typename L::T> rows_of_a(a, stream), rows_of_b(b, stream);
  launch<L>(kernel, rows_of_a.view(), rows_of_b.view(), c, 1, stream, map_of_result(c), a.cols);
}

/// The rounds that the busiest multiprocessor needs, times the columns of a tile.
template <typename L>
int columns_in_turn(MatrixView<float> c) {
  return ceil_div(tile_count<L::BM, L::BN>(c), multiprocessors()) * L::BN;
}
