// Lab 5.4 and 5.4b: Hopper's wgmma, fed by its copy engine (TMA). The tutorial's page on wgmma
// explains each TODO. You will learn to split a block into warps that only multiply and a thread
// that only requests copies, and to start products that read shared memory by themselves.
#include "common/cuda_check.cuh"
#include "common/hopper.cuh"
#include "common/hopper_operand.cuh"
#include "common/matrix.hpp"

// A block computes 128 x 256 of C, in steps of 128 bytes along K, the widest row that TMA swizzles.
// Two warpgroups of four warps multiply 64 rows each; one thread of a ninth warp requests copies.
constexpr int BM = 128, BN = 256, STAGES = 4, WARPS = 8, THREADS = WARPS * 32 + 32;

/// The tiles of one step. Rows of B's tile run along n, as in memory. A box is 128 bytes wide, so B
/// arrives in four of them.
template <typename T>
struct alignas(1024) Stage {
  static constexpr int BK = 64, B_ROWS = BK, B_COLS = 64;  // of a box of B
  static constexpr bool WRITTEN = true;
  T a[BM][BK];                   // (BM, BK), rows along k
  T b[BN / B_COLS][BK][B_COLS];  // four boxes of (BK, 64), rows along n

  __device__ void copy_b(const CUtensorMap& map, int k, int col, Barrier& full) {
    for (int j = 0; j < BN / B_COLS; ++j) copy_box(b[j], map, k, col + B_COLS * j, full);
  }
  /// Describes b from row k on.
  __device__ std::uint64_t describe_b(int k) { return descriptor(&b[0][k][0], sizeof(b[0])); }
};
/// TF32: rows of B's tile run along k, like those of A's tile. It arrives as one box, of a copy of
/// B that transpose() has made.
template <>
struct alignas(1024) Stage<float> {
  static constexpr int BK = 32, B_ROWS = BN;
  float a[BM][BK];  // (BM, BK), rows along k
  float b[BN][BK];  // (BN, BK), rows along k

  // TODO(5.4b) copy_b: request the box. At which row and column of the transposed B does it begin?
  //            describe_b: describe b from column k on; it has the layout of a. Set WRITTEN to true
  //            when both are done: a block waits forever for a box that nobody has requested.
  // >>> skeleton
  // static constexpr bool WRITTEN = false;
  // __device__ void copy_b(const CUtensorMap&, int, int, Barrier&) {}
  // __device__ std::uint64_t describe_b(int) { return 0; }
  // <<< skeleton
  // >>> solution
  static constexpr bool WRITTEN = true;
  __device__ void copy_b(const CUtensorMap& map, int k, int col, Barrier& full) {
    copy_box(b, map, col, k, full);
  }
  __device__ std::uint64_t describe_b(int k) { return descriptor(&b[0][k]); }
  // <<< solution
};

template <typename T>
struct Shared {
  Stage<T> ring[STAGES];
  Barrier full[STAGES], empty[STAGES];  // all bytes are there; all warps have multiplied them
};

/// A place in the ring, and the parity of its current phase, which changes with every round.
struct Place {
  int stage = 0;
  unsigned parity = 0;
  __device__ void advance() {
    if (++stage == STAGES) stage = 0, parity ^= 1;
  }
};

/// Where the n-th tile begins in C, counted down eight rows of tiles, then to the right: blocks
/// that run at the same time compute neighbours, so their parts of A and B stay in the L2 cache.
struct Origin {
  int row, col;
};
__device__ inline Origin origin_of(int n, int tile_rows, int tile_cols) {
  constexpr int DOWN = 8;
  const int first = n / (DOWN * tile_cols) * DOWN, within = n % (DOWN * tile_cols);
  const int down = tile_rows - first < DOWN ? tile_rows - first : DOWN;
  return {(first + within % down) * BM, within / down * BN};
}

/// Stores a warp's 16 x 256 sums, the first at (row0, col0), where C has these elements.
__device__ inline void store(const float (&d)[128], MatrixView<float> c, int row0, int col0) {
  const int lane = threadIdx.x % 32;
  const bool pairs = reinterpret_cast<std::size_t>(c.data) % 8 == 0 && c.ld % 2 == 0;
#pragma unroll
  for (int i = 0; i < 128; i += 2) {  // registers i and i + 1 are neighbours
    const int row = row0 + lane / 4 + i % 4 / 2 * 8;
    const int col = col0 + i / 4 * 8 + lane % 4 * 2;
    if (row >= c.rows || col >= c.cols) continue;
    if (pairs && col + 1 < c.cols) {
      *reinterpret_cast<float2*>(&c(row, col)) = make_float2(d[i], d[i + 1]);
    } else {
      c(row, col) = d[i];
      if (col + 1 < c.cols) c(row, col + 1) = d[i + 1];
    }
  }
}

// ---- the kernel

/// One block per multiprocessor; each computes every gridDim.x-th tile of C. While the sums of a
/// tile are being stored, copies for the next one are already in flight.
template <typename T>
__global__ void __launch_bounds__(THREADS, 1)
    wgmma_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 MatrixView<float> c, int depth) {
  extern __shared__ unsigned char memory[];
  // Dynamic shared memory is only guaranteed to be aligned to 16 bytes; the swizzle needs 1024.
  auto& shared =
      *reinterpret_cast<Shared<T>*>(memory + (1024 - shared_address(memory) % 1024) % 1024);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) shared.full[s].init(1), shared.empty[s].init(WARPS);
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");  // TMA shall see them
  }
  __syncthreads();
  const int tile_rows = (c.rows + BM - 1) / BM, tile_cols = (c.cols + BN - 1) / BN;
  const int tiles = tile_rows * tile_cols, steps = (depth + Stage<T>::BK - 1) / Stage<T>::BK;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  Place place;
  // TODO(5.4) Two loops over this block's tiles (origin_of) and their steps. The first WARPS warps
  //           multiply: wait until a place is full, start four wgmma, each 32 bytes further along
  //           k, and wait for them; lane 0 of each warp then arrives at `empty`. After the last
  //           step, store(). Warpgroup warp / 4 has 64 rows of the tile, each of its warps 16.
  //           One lane of the last warp copies: wait until a place is empty, tell `full` how many
  //           bytes will arrive, and request A's box (copy_box) and B's (copy_b).
  // >>> skeleton
  // unwritten<int>();
  // (void)steps, (void)lane, (void)place, (void)tiles, (void)warp;
  // <<< skeleton
  // >>> solution
  if (warp < WARPS) {
    for (int n = blockIdx.x; n < tiles; n += gridDim.x) {
      const Origin tile = origin_of(n, tile_rows, tile_cols);
      float sums[128] = {};  // (64, 256) by the warpgroup, (16, 256) by this warp
      for (int t = 0; t < steps; ++t, place.advance()) {
        Stage<T>& stage = shared.ring[place.stage];
        shared.full[place.stage].wait(place.parity);
        wgmma_fence(sums);
#pragma unroll
        for (int k = 0; k < stage.BK; k += 32 / sizeof(T))
          wgmma_64x256<T>(sums, descriptor(&stage.a[warp / 4 * 64][k]), stage.describe_b(k));
        wgmma_commit();
        wgmma_wait(sums);
        if (lane == 0) shared.empty[place.stage].arrive();
      }
      store(sums, c, tile.row + warp * 16, tile.col);
    }
  } else if (lane == 0) {
    for (int n = blockIdx.x; n < tiles; n += gridDim.x) {
      const Origin tile = origin_of(n, tile_rows, tile_cols);
      for (int t = 0; t < steps; ++t, place.advance()) {
        Stage<T>& stage = shared.ring[place.stage];
        Barrier& full = shared.full[place.stage];
        shared.empty[place.stage].wait(place.parity ^ 1);
        full.arrive_and_expect(sizeof(Stage<T>));
        copy_box(stage.a, a, tile.row, t * stage.BK, full);
        stage.copy_b(b, t * stage.BK, tile.col, full);
      }
    }
  }
  // <<< solution
}

// ---- the launchers

template <typename In, typename Out>
void gemm_wgmma(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0 || !Stage<In>::WRITTEN) return;
  if (a.cols == 0) {  // there is no tensor map of nothing
    CUDA_CHECK(
        cudaMemset2DAsync(c.data, c.ld * sizeof(Out), 0, c.cols * sizeof(Out), c.rows, stream));
    return;
  }
  const Operand<In> operand_a(a, true, stream), operand_b(b, false, stream);
  int device = 0, processors = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  const int tiles = ceil_div(c.rows, BM) * ceil_div(c.cols, BN);
  const int blocks = tiles < processors ? tiles : processors, bytes = sizeof(Shared<In>) + 1024;
  const auto kernel = wgmma_kernel<In>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  kernel<<<blocks, THREADS, bytes, stream>>>(
      tensor_map(operand_a.view(), BM), tensor_map(operand_b.view(), Stage<In>::B_ROWS), c, a.cols);
  CUDA_CHECK_LAUNCH();
}

/// Float in memory, TF32 in the tensor cores: the kernel of 5.4, with a transposed copy of B, and a
/// copy of A if its rows are not aligned.
template <typename In, typename Out>
void gemm_wgmma_tf32(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                     cudaStream_t stream) {
  gemm_wgmma(a, b, c, stream);
}
