// For tensor_shapes.cu: tiles of several sizes, the ring that they pass through, the way to C.
#pragma once

#include "lab6_summit/given/cluster.cuh"
#include "lab6_summit/given/wgmma_parts.cuh"

/// Eight rows of C on their way to memory, 32 columns each. A pitch of 40 avoids bank conflicts.
using RowsOfC = float[8][40];

/// The same for 64 columns, twice. Pitch 68: rows 0, 2, 5 and 7 begin in banks 0, 8, 20 and 28.
using ColumnsOfC = float[2][8][68];

/// A (BM, BN) tile of C, in steps of 128 bytes along K. A warpgroup computes 64 rows of it or, for
/// floats, whose product is computed transposed, 64 columns. One thread of another warp requests
/// copies. RESIDENT blocks share a multiprocessor.
template <typename T_, int BM_, int BN_, int RESIDENT_>
struct Tile {
  using T = T_;
  static constexpr bool TRANSPOSED = std::is_same_v<T, float>;
  static constexpr int BM = BM_, BN = BN_, BK = 128 / sizeof(T), RESIDENT = RESIDENT_;
  static constexpr int WARPS = (TRANSPOSED ? BN : BM) / 16;
  static constexpr int SUMS = (TRANSPOSED ? BM : BN) / 2;  // of a thread
  // A thread with 128 sums and fragments in registers needs more registers than its share. Others
  // can give some away, but only whole warpgroups: so then a whole warpgroup makes the copies.
  static constexpr bool MOVES_REGISTERS = TRANSPOSED && SUMS == 128;
  static constexpr int THREADS = WARPS * 32 + (MOVES_REGISTERS ? 128 : 32);
  static constexpr CUtensorMapDataType COPIED_AS = TYPE<T>;  // by TMA
  static constexpr int SPLITTERS = 0;  // warps that store parts of A: in 6.4.5

  /// The tiles of one step, swizzled by copy_box.
  struct alignas(1024) Stage {
    T a[BM][BK];           // (BM, BK), rows along k
    T b[BN / BK][BK][BK];  // boxes of (BK, BK), rows along n
  };
  // Of 227 KB: 1 KB to begin at a multiple of 1024, 2 KB for barriers and the system's share.
  static constexpr int ROOM = 227 * 1024 / RESIDENT - 3 * 1024 - WARPS * int{sizeof(RowsOfC)};
  static constexpr int STAGES = ROOM / int{sizeof(Stage)} < 8 ? ROOM / int{sizeof(Stage)} : 8;
  static constexpr int LD = TRANSPOSED ? BN + 4 : BN + 8;  // padded like ColumnsOfC or RowsOfC

  struct Shared {
    union {
      Stage ring[STAGES];
      float part[BM][LD];  // of a tile's sums, if a cluster shares it; after the ring
    };
    Barrier full[STAGES], empty[STAGES];  // full: all bytes are there; empty: all warps are done
    alignas(16) std::conditional_t<TRANSPOSED, ColumnsOfC[WARPS / 4], RowsOfC[WARPS]> rows;
  };
};

/// The block's shared memory, with its barriers initialised. All threads must call it.
template <typename L>
__device__ typename L::Shared& shared_of() {
  extern __shared__ unsigned char memory[];
  auto& shared = *reinterpret_cast<typename L::Shared*>(
      memory + (1024 - shared_address(memory) % 1024) % 1024);
  if (threadIdx.x == 0) {
    for (int s = 0; s < L::STAGES; ++s) {
      shared.full[s].init(1), shared.empty[s].init(L::WARPS);
      if constexpr (L::SPLITTERS > 0) shared.split[s].init(L::SPLITTERS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");  // now visible to TMA
  }
  __syncthreads();
  if constexpr (L::RESIDENT == 1) let_next_launch_begin();
  return shared;
}

// ---- the loop of 5.4

#define WGMMA_16(n, type, sums, described, ...)                                         \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " {" sums \
               "}, " described ", 1, 1, 1, 0, 1;"                                       \
               : __VA_ARGS__                                                            \
               : "l"(a), "l"(b))
#define WGMMA_16_OF(type)                                                    \
  if constexpr (COUNT == 32)                                                 \
    WGMMA_16("64", type, REGISTERS_32, "%32, %33", SUMS_16(0), SUMS_16(16)); \
  else if constexpr (COUNT == 64)                                            \
    WGMMA_16("128", type, REGISTERS_64, "%64, %65", SUMS_64(0));             \
  else                                                                       \
    WGMMA_16("192", type, REGISTERS_96, "%96, %97", SUMS_64(0), SUMS_16(64), SUMS_16(80))

/// Starts d += a * b, (64, 2 COUNT) per warpgroup, 16 along k: wgmma_64x256 for narrower tiles too.
template <typename T, int COUNT>
GEMM_LAB_DEVICE void wgmma(float (&d)[COUNT], std::uint64_t a, std::uint64_t b) {
  if constexpr (COUNT == 128)
    wgmma_64x256<T>(d, a, b);
  else if constexpr (std::is_same_v<T, __half>)
    WGMMA_16_OF("f16");
  else
    WGMMA_16_OF("bf16");
}

/// total = this warp's rows of a tile, over all its steps.
template <typename L, int COUNT>
__device__ void multiply_steps(float (&total)[COUNT], typename L::Shared& block,
                               PlaceOf<L::STAGES>& place, Steps steps) {
  const int warpgroup = threadIdx.x / 128;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) total[i] = 0;
  for (int t = steps.first; t < steps.end; ++t, place.advance()) {
    auto& stage = block.ring[place.stage];
    block.full[place.stage].wait(place.parity);
    wgmma_fence(total);
#pragma unroll
    for (int k = 0; k < L::BK; k += 16)
      wgmma<typename L::T>(total, descriptor(&stage.a[warpgroup * 64][k]),
                           descriptor(&stage.b[0][k][0], sizeof(stage.b[0])));
    wgmma_commit();
    wgmma_wait(total);
    if (threadIdx.x % 32 == 0) block.empty[place.stage].arrive();
  }
}

/// Requests the boxes of a tile's steps. One thread calls it.
template <typename L>
__device__ void copy_steps(typename L::Shared& own, PlaceOf<L::STAGES>& place, const CUtensorMap& a,
                           const CUtensorMap& b, TileOrigin tile, Steps steps) {
  for (int t = steps.first; t < steps.end; ++t, place.advance()) {
    auto& stage = own.ring[place.stage];
    Barrier& arrived = own.full[place.stage];
    own.empty[place.stage].wait(place.parity ^ 1);
    arrived.arrive_and_expect(sizeof stage.a + sizeof stage.b);
    copy_box(stage.a, a, tile.row, t * L::BK, arrived);
    for (int j = 0; j < L::BN / L::BK; ++j)
      copy_box(stage.b[j], b, t * L::BK, tile.col + L::BK * j, arrived);
  }
}

// ---- C

/// Stores a warp's (16, 2 COUNT) sums, the first at (row0, col0), where C has these elements.
/// Neighbours in a row are in different lanes, so eight rows of 32 columns at a time go through
/// shared memory: then the lanes of a warp store whole rows of 128 bytes.
template <bool ALIGNED, int COUNT>
__device__ void store_rows_as(const float (&sums)[COUNT], RowsOfC& rows, MatrixView<float> c,
                              int row0, int col0) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int i = 0; i < COUNT; i += 16) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {  // rows g, then rows g + 8
      __syncwarp();
#pragma unroll
      for (int j = 0; j < 4; ++j)
        *reinterpret_cast<float2*>(&rows[g][8 * j + 2 * t]) =
            make_float2(sums[i + 4 * j + 2 * half], sums[i + 4 * j + 2 * half + 1]);
      __syncwarp();
      const int first = row0 + 8 * half, col = col0 + 2 * i;
      if (ALIGNED) {
        const int x = lane % 8 * 4;
#pragma unroll
        for (int r = lane / 8; r < 8; r += 4)
          if (first + r < c.rows && col + x < c.cols)
            *reinterpret_cast<float4*>(&c(first + r, col + x)) =
                *reinterpret_cast<const float4*>(&rows[r][x]);
      } else {
#pragma unroll
        for (int r = 0; r < 8; ++r)
          if (first + r < c.rows && col + lane < c.cols) c(first + r, col + lane) = rows[r][lane];
      }
    }
  }
}
/// The same. Each way has a loop of its own: in a common one, the instructions of the way not taken
/// would be fetched as well.
template <int COUNT>
__device__ void store_rows(const float (&sums)[COUNT], RowsOfC& rows, MatrixView<float> c, int row0,
                           int col0) {
  if (rows_aligned(c) && c.cols % 4 == 0) return store_rows_as<true>(sums, rows, c, row0, col0);
  store_rows_as<false>(sums, rows, c, row0, col0);
}

/// Stores four sums to a row of C, where C has these elements.
GEMM_LAB_DEVICE inline void store_four(MatrixView<float> c, int row, int col, float4 sum) {
  if (rows_aligned(c) && c.cols % 4 == 0) {
    if (row < c.rows && col < c.cols) *reinterpret_cast<float4*>(&c(row, col)) = sum;
  } else if (row < c.rows) {
    if (col < c.cols) c(row, col) = sum.x;
    if (col + 1 < c.cols) c(row, col + 1) = sum.y;
    if (col + 2 < c.cols) c(row, col + 2) = sum.z;
    if (col + 3 < c.cols) c(row, col + 3) = sum.w;
  }
}

/// Stores them to shared memory, in the place of the ring: all warps must have multiplied before.
template <typename L, int COUNT>
__device__ void keep_part(const float (&sums)[COUNT], typename L::Shared& shared) {
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4, col = lane % 4 * 2;
  asm volatile("bar.sync 1, %0;" : : "n"(L::WARPS * 32) : "memory");  // not the warp that copies
#pragma unroll
  for (int i = 0; i < COUNT; i += 2)
    *reinterpret_cast<float2*>(&shared.part[row + i % 4 / 2 * 8][col + i / 4 * 8]) =
        make_float2(sums[i], sums[i + 1]);
}

// ---- rows that TMA can read

/// 16 bytes, as a thread holds them while they are copied.
struct Piece {
  unsigned words[4];
};

/// piece = the 16 bytes that begin `shift` bytes (0 to 15) into the 32 bytes x, y.
GEMM_LAB_DEVICE inline void take_shifted(Piece& piece, uint4 x, uint4 y, int shift) {
  const unsigned all[] = {x.x, x.y, x.z, x.w, y.x, y.y, y.z, y.w};
  unsigned w[5];
#pragma unroll
  for (int i = 0; i < 5; ++i)  // all[i + shift / 4], with constant indices
    w[i] = shift < 8 ? shift < 4 ? all[i] : all[i + 1] : shift < 12 ? all[i + 2] : all[i + 3];
#pragma unroll
  for (int i = 0; i < 4; ++i) piece.words[i] = __funnelshift_r(w[i], w[i + 1], shift % 4 * 8);
}
/// piece = the last `left` elements of a row, then zeros.
GEMM_LAB_DEVICE inline void take_elements(Piece& piece, const float* from, int left) {
#pragma unroll
  for (int i = 0; i < 4; ++i) piece.words[i] = i < left ? __float_as_uint(from[i]) : 0;
}
template <typename T>
GEMM_LAB_DEVICE void take_elements(Piece& piece, const T* from, int left) {
  const auto* const bits = reinterpret_cast<const unsigned short*>(from);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned low = 2 * i < left ? bits[2 * i] : 0,
                   high = 2 * i + 1 < left ? bits[2 * i + 1] : 0;
    piece.words[i] = high << 16 | low;
  }
}

template <typename T>
GEMM_LAB_DEVICE void store_piece(T* to, const Piece& piece) {
  *reinterpret_cast<uint4*>(to) =
      make_uint4(piece.words[0], piece.words[1], piece.words[2], piece.words[3]);
}

template <typename T>
bool rows_at_lines(MatrixView<const T> m) {
  constexpr int LINE = 128 / sizeof(T);
  return reinterpret_cast<std::size_t>(m.data) % 128 == 0 && m.ld % LINE == 0;
}

/// A matrix and its copy whose rows begin at cache lines. No rows: nothing is copied.
template <typename T>
struct Realigned {
  MatrixView<const T> from;
  MatrixView<T> to;
};

/// Row r of a followed by b.
template <typename T>
struct RowCopy {
  const T* from;
  T* to;
  int cols;
};
template <typename T>
__device__ RowCopy<T> row_of(const Realigned<T>& a, const Realigned<T>& b, int r) {
  const int of_b = r - a.from.rows;
  RowCopy<T> row_b = {&b.from(of_b, 0), &b.to(of_b, 0), b.from.cols};
  // Selects values, not addresses: the compiler would copy the parameters to local memory.
  asm("" : "+l"(row_b.from), "+l"(row_b.to), "+r"(row_b.cols));
  if (of_b >= 0) return row_b;
  return {&a.from(r, 0), &a.to(r, 0), a.from.cols};
}

// ---- launches

/// A cluster of `splits` blocks per tile. If splits is 1: one block per tile, but no more than run
/// at once. The kernel gets the tensor maps of a and b, then c and `others`.
template <typename L, typename... Others>
void launch(void (*kernel)(CUtensorMap, CUtensorMap, MatrixView<float>, Others...),
            MatrixView<const typename L::T> a, MatrixView<const typename L::T> b,
            MatrixView<float> c, int splits, cudaStream_t stream, Others... others) {
  constexpr int BYTES = sizeof(typename L::Shared) + 1024;
  const int tiles = tile_count<L::BM, L::BN>(c), room = L::RESIDENT * multiprocessors();
  const int blocks = splits > 1 ? tiles * splits : min(tiles, room);
  launch_early(kernel, blocks, dim3(L::THREADS), BYTES, splits, stream,
               tensor_map(a, L::BM, L::COPIED_AS), tensor_map(b, L::BK, L::COPIED_AS), c,
               others...);
}
