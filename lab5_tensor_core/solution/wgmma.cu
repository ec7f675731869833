// Lab 5.4: Hopper's warpgroup multiplication, fed by Hopper's copy engine. 5.4b: the same in TF32.
//
// You will learn to split a block into warps that only copy and warps that only multiply, to let
// one thread order whole tiles from the copy engine (TMA), and four warps one multiplication that
// reads both tiles from shared memory by itself. Needs a Hopper GPU: compile for compute_90a.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"
#include "common/tensor_map.cuh"

#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error "wgmma is Hopper's alone: compile with -gencode arch=compute_90a,code=sm_90a"
#endif

constexpr int ceil_div(int n, int d) {
  return (n + d - 1) / d;
}

// A block makes 128 x 256 of C, in steps of 128 bytes along K, which is the widest row that TMA
// swizzles. Two warpgroups, of four warps each, multiply 64 rows each; one thread of one more warp
// copies.
constexpr int BM = 128, BN = 256, STAGES = 4, WARPS = 8, THREADS = WARPS * 32 + 32;

/// PTX wants addresses inside shared memory, 32 bits wide.
__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// ---- barriers in shared memory

/// Counts arrivals, and bytes that TMA brings. When all that it waits for is there, its phase ends
/// and the next one begins. Phases are told apart by their parity: 0 for the first, then 1, 0, ...
struct Barrier {
  std::uint64_t state;

  __device__ void init(int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(shared_address(this)), "r"(arrivals)
                 : "memory");
  }
  __device__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
                 :
                 : "r"(shared_address(this))
                 : "memory");
  }
  /// Arrives, and lets this phase wait for so many bytes too.
  __device__ void arrive_and_expect(int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(shared_address(this)), "r"(bytes)
                 : "memory");
  }
  /// Waits for the end of the phase of this parity. To a new barrier, one of parity 1 has ended.
  __device__ void wait(unsigned parity) {
    unsigned ended = 0;
    while (!ended)
      asm volatile(
          "{\n.reg .pred p;\n"
          "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n}"
          : "=r"(ended)
          : "r"(shared_address(this)), "r"(parity)
          : "memory");
  }
};

// ---- TMA: one thread orders a box of a matrix

/// Copies the box at (row, col) to shared memory, zeros where the matrix has no elements, and
/// reports its bytes to the barrier. Chunk c of row r, 16 bytes, arrives where chunk c ^ (r % 8)
/// would lie without a swizzle.
__device__ inline void copy_box(void* to, const CUtensorMap& map, int row, int col,
                                Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];"
      :
      : "r"(shared_address(to)), "l"(&map), "r"(col), "r"(row), "r"(shared_address(&barrier))
      : "memory");
}

/// A tensor core cuts off what TF32 does not have of a float. TMA can round it on the way.
template <typename T>
constexpr CUtensorMapDataType TYPE = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
template <>
constexpr CUtensorMapDataType TYPE<__half> = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
template <>
constexpr CUtensorMapDataType TYPE<__nv_bfloat16> = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;

/// Describes m to TMA, to be copied in boxes of `rows` rows of 128 bytes, swizzled.
template <typename T>
CUtensorMap tensor_map(MatrixView<const T> m, int rows) {
  const cuuint64_t extents[] = {cuuint64_t(m.cols), cuuint64_t(m.rows)};  // innermost first
  const cuuint64_t row_bytes = m.ld * sizeof(T);
  const cuuint32_t box[] = {128 / sizeof(T), cuuint32_t(rows)}, steps[] = {1, 1};
  CUtensorMap map;
  tensor_map_check(
      tensor_map_encoder()(&map, TYPE<T>, 2, const_cast<T*>(m.data), extents, &row_bytes, box,
                           steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                           CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

// ---- wgmma: four warps multiply two tiles in shared memory

/// Before the first wgmma of a group: registers written so far are complete.
__device__ inline void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
/// Waits for all of them; only then may their sums be read and their tiles be overwritten.
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
}

/// Describes an operand that begins at `from` to wgmma: rows of 128 bytes in the swizzle of
/// copy_box, eight rows every 1024 bytes. `next`: bytes from 64 columns of a tile to the next 64,
/// for an operand whose rows are not along k. All in units of 16 bytes.
__device__ inline std::uint64_t descriptor(const void* from, int next = 16) {
  constexpr std::uint64_t EIGHT_ROWS = 1024 / 16, SWIZZLE_128 = 1;
  return shared_address(from) / 16 | std::uint64_t(next / 16) << 16 | EIGHT_ROWS << 32 |
         SWIZZLE_128 << 62;
}

// All 128 registers of d, as asm wants them, and an instruction that adds to them.
#define EIGHT(i)                                                                              \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define WGMMA(k, type, b_along_n)                                                                 \
  asm volatile(                                                                                   \
      "wgmma.mma_async.sync.aligned.m64n256k" k ".f32." type "." type                             \
      " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "             \
      "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "               \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "               \
      "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "               \
      "%62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, "               \
      "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, "               \
      "%92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, "              \
      "%106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, "            \
      "%119, %120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, 1, 1, 1" b_along_n ";"  \
      : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56),     \
        EIGHT(64), EIGHT(72), EIGHT(80), EIGHT(88), EIGHT(96), EIGHT(104), EIGHT(112), EIGHT(120) \
      : "l"(a), "l"(b))

/// d += a * b, 64 x 256 by the four warps of a warpgroup, 32 bytes along k. Rows of a are along k,
/// rows of b along n; of TF32, wgmma takes only a b whose rows are along k too. Warp w has rows
/// 16 w ... 16 w + 15 of d; with g = lane / 4 and t = lane % 4 register 4 j + e has row
/// g + e / 2 * 8 of these and column 8 j + 2 t + e % 2.
template <typename T>
__device__ void wgmma_64x256(float (&d)[128], std::uint64_t a, std::uint64_t b) {
  if constexpr (std::is_same_v<T, __half>)
    WGMMA("16", "f16", ", 0, 1");
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    WGMMA("16", "bf16", ", 0, 1");
  else
    WGMMA("8", "tf32", "");
}

// ---- the kernel

/// What one step multiplies. Rows of B's tiles are along n, as in memory; a box is 128 bytes wide,
/// so that B comes in four.
template <typename T>
struct alignas(1024) Stage {
  static constexpr int BK = 64, B_ROWS = BK;  // of a box
  T a[BM][BK], b[BN / 64][BK][64];

  __device__ void copy_b(const CUtensorMap& map, int k, int col, Barrier& full) {
    for (int j = 0; j < BN / 64; ++j) copy_box(b[j], map, k, col + 64 * j, full);
  }
  /// From row k on.
  __device__ std::uint64_t describe_b(int k) { return descriptor(&b[0][k][0], sizeof(b[0])); }
};
/// TF32: rows of B's tile are along k, as those of A's. One box is all of it; it comes from a copy
/// of B that transpose() has made.
template <>
struct alignas(1024) Stage<float> {
  static constexpr int BK = 32, B_ROWS = BN;
  float a[BM][BK], b[BN][BK];

  __device__ void copy_b(const CUtensorMap& map, int k, int col, Barrier& full) {
    // TODO(5.4b) Order the box. Which row and column of the transposed B does it begin at?
    // >>> solution
    copy_box(b, map, col, k, full);
    // <<< solution
  }
  /// From column k on.
  __device__ std::uint64_t describe_b(int k) {
    // TODO(5.4b) b lies here as a does.
    // >>> skeleton
    // return 0;
    // <<< skeleton
    // >>> solution
    return descriptor(&b[0][k]);
    // <<< solution
  }
};

template <typename T>
struct Shared {
  Stage<T> ring[STAGES];
  Barrier full[STAGES], empty[STAGES];  // all bytes are there; all warps have multiplied them
};

/// A place in the ring, and how often the ring has been passed.
struct Place {
  int stage = 0;
  unsigned parity = 0;
  __device__ void advance() {
    if (++stage == STAGES) stage = 0, parity ^= 1;
  }
};

/// The origin in C of the n-th tile. Blocks that run at the same time make neighbours: down eight
/// rows of tiles, then to the right, so that their parts of A and B stay in the L2 cache.
struct Origin {
  int row, col;
};
__device__ inline Origin origin_of(int n, int tile_rows, int tile_cols) {
  constexpr int DOWN = 8;
  const int first = n / (DOWN * tile_cols) * DOWN, within = n % (DOWN * tile_cols);
  const int down = tile_rows - first < DOWN ? tile_rows - first : DOWN;
  return {(first + within % down) * BM, within / down * BN};
}

/// Stores the 16 x 256 sums of a warp whose first is (row0, col0), as far as C exists.
__device__ inline void store(const float (&d)[128], MatrixView<float> c, int row0, int col0) {
  const int lane = threadIdx.x % 32;
  const bool pairs = reinterpret_cast<std::size_t>(c.data) % 8 == 0 && c.ld % 2 == 0;
#pragma unroll
  for (int i = 0; i < 128; i += 2) {
    // TODO(5.4) Row and column of registers i and i + 1, which are neighbours.
    // >>> skeleton
    // const int row = c.rows + lane, col = c.cols;
    // <<< skeleton
    // >>> solution
    const int row = row0 + lane / 4 + i % 4 / 2 * 8;
    const int col = col0 + i / 4 * 8 + lane % 4 * 2;
    // <<< solution
    if (row >= c.rows || col >= c.cols) continue;
    if (pairs && col + 1 < c.cols) {
      *reinterpret_cast<float2*>(&c(row, col)) = make_float2(d[i], d[i + 1]);
    } else {
      c(row, col) = d[i];
      if (col + 1 < c.cols) c(row, col + 1) = d[i + 1];
    }
  }
}

/// Orders all steps of the tile of C at `to`; one thread does it for the block.
template <typename T>
__device__ void copy_steps(Shared<T>& shared, const CUtensorMap& a, const CUtensorMap& b, Origin to,
                           int steps, Place& place) {
  for (int t = 0; t < steps; ++t, place.advance()) {
    // TODO(5.4) When this place of the ring is empty: say how many bytes will come, and order one
    //           box of A and, by copy_b, all of B's.
    // >>> solution
    Stage<T>& stage = shared.ring[place.stage];
    Barrier& full = shared.full[place.stage];
    shared.empty[place.stage].wait(place.parity ^ 1);
    full.arrive_and_expect(sizeof(Stage<T>));
    copy_box(stage.a, a, to.row, t * stage.BK, full);
    stage.copy_b(b, t * stage.BK, to.col, full);
    // <<< solution
  }
}

/// Adds all steps of a tile to the sums of this warpgroup: rows 64 * group ... of the tile.
template <typename T>
__device__ void multiply_steps(float (&sums)[128], Shared<T>& shared, int group, int steps,
                               Place& place) {
  for (int t = 0; t < steps; ++t, place.advance()) {
    // TODO(5.4) When this place is full: four wgmma, each 32 bytes further along k. When they are
    //           done, lane 0 of each warp says so.
    // >>> solution
    Stage<T>& stage = shared.ring[place.stage];
    shared.full[place.stage].wait(place.parity);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < stage.BK; k += 32 / sizeof(T))
      wgmma_64x256<T>(sums, descriptor(&stage.a[64 * group][k]), stage.describe_b(k));
    wgmma_commit();
    wgmma_wait();
    if (threadIdx.x % 32 == 0) shared.empty[place.stage].arrive();
    // <<< solution
  }
}

/// As many blocks as the GPU has multiprocessors; each makes every gridDim.x-th tile of C. While
/// the sums of a tile are being stored, the copies of the next one are on their way.
template <typename T>
__global__ void __launch_bounds__(THREADS, 1)
    wgmma_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 MatrixView<float> c, int k) {
  extern __shared__ unsigned char memory[];
  // Dynamic shared memory begins at 16 bytes at least; the swizzle wants 1024.
  auto& shared =
      *reinterpret_cast<Shared<T>*>(memory + (1024 - shared_address(memory) % 1024) % 1024);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) shared.full[s].init(1), shared.empty[s].init(WARPS);
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");  // TMA shall see them
  }
  __syncthreads();
  const int tile_rows = (c.rows + BM - 1) / BM, tile_cols = (c.cols + BN - 1) / BN;
  const int tiles = tile_rows * tile_cols, warp = threadIdx.x / 32;
  const int steps = (k + Stage<T>::BK - 1) / Stage<T>::BK;
  Place place;
  if (warp < WARPS) {
    for (int n = blockIdx.x; n < tiles; n += gridDim.x) {
      const Origin tile = origin_of(n, tile_rows, tile_cols);
      float sums[128] = {};
      multiply_steps(sums, shared, warp / 4, steps, place);
      store(sums, c, tile.row + warp * 16, tile.col);
    }
  } else if (threadIdx.x % 32 == 0) {
    for (int n = blockIdx.x; n < tiles; n += gridDim.x)
      copy_steps(shared, a, b, origin_of(n, tile_rows, tile_cols), steps, place);
  }
}

// ---- the launcher

/// Copies 8 * blockDim.x columns per block. All loads come first: no store may be in their way.
template <typename T>
__global__ void copy_rows(MatrixView<const T> from, MatrixView<T> to) {
  const int col0 = blockIdx.x * 8 * blockDim.x + threadIdx.x;
  for (int row = blockIdx.y; row < to.rows; row += gridDim.y) {
    T values[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (const int col = col0 + i * blockDim.x; col < to.cols) values[i] = from(row, col);
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (const int col = col0 + i * blockDim.x; col < to.cols) to(row, col) = values[i];
  }
}

/// to = from, transposed: 32 x 32 elements per block, 32 x 8 threads.
__global__ void transpose(MatrixView<const float> from, MatrixView<float> to) {
  // One more: the rows begin in 32 different banks, and a warp reads a column without conflicts.
  [[maybe_unused]] __shared__ float tile[32][32 + 1];
  const int across = (from.cols + 31) / 32, x = threadIdx.x;
  const int row0 = blockIdx.x / across * 32, col0 = blockIdx.x % across * 32;
#pragma unroll
  for (int y = threadIdx.y; y < 32; y += 8)
    if (row0 + y < from.rows && col0 + x < from.cols) tile[y][x] = from(row0 + y, col0 + x);
  __syncthreads();
  // TODO(5.4b) Store the tile transposed, as far as `to` exists. A warp stores 32 neighbours of
  //            one row, as it has loaded them.
  // >>> solution
#pragma unroll
  for (int y = threadIdx.y; y < 32; y += 8)
    if (col0 + y < to.rows && row0 + x < to.cols) to(col0 + y, row0 + x) = tile[x][y];
  // <<< solution
}

/// A or B as TMA and wgmma take it: rows begin at multiples of 16 bytes, and those of floats are
/// along k. Where the matrix is not so, a copy of it, which lives as long as this.
template <typename T>
class Operand {
 public:
  Operand(MatrixView<const T> m, bool rows_along_k, cudaStream_t stream)
      : view_(m), stream_(stream) {
    const bool aligned =
        reinterpret_cast<std::size_t>(m.data) % 16 == 0 && m.ld * sizeof(T) % 16 == 0;
    if constexpr (sizeof(T) == 4) {
      if (!rows_along_k) {
        const int tiles = ceil_div(m.rows, 32) * ceil_div(m.cols, 32);
        transpose<<<tiles, dim3(32, 8), 0, stream>>>(m, copy(m.cols, m.rows));
        CUDA_CHECK_LAUNCH();
        return;
      }
    }
    if (aligned) return;
    copy_rows<T><<<row_grid(), 128, 0, stream>>>(m, copy(m.rows, m.cols));
    CUDA_CHECK_LAUNCH();
  }
  ~Operand() {
    if (copy_) cudaFreeAsync(copy_, stream_);  // when all before it in the stream is done
  }
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  MatrixView<const T> view() const { return view_; }

 private:
  dim3 row_grid() const {
    return dim3(ceil_div(view_.cols, 8 * 128), view_.rows < 65535 ? view_.rows : 65535);
  }
  /// Room for a copy, which becomes the view.
  MatrixView<T> copy(int rows, int cols) {
    const int ld = ceil_div(cols, 16) * 16;
    CUDA_CHECK(cudaMallocAsync(&copy_, sizeof(T) * rows * ld, stream_));
    view_ = {copy_, rows, cols, ld};
    return {copy_, rows, cols, ld};
  }

  MatrixView<const T> view_;
  cudaStream_t stream_;
  T* copy_ = nullptr;
};

template <typename In, typename Out>
void gemm_wgmma(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
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

/// Float in memory, TF32 in the tensor cores: the kernel of 5.4, behind a transposed copy of B, and
/// one of A if its rows are not aligned.
template <typename In, typename Out>
void gemm_wgmma_tf32(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                     cudaStream_t stream) {
  // TODO(5.4b) Launch the kernel of 5.4 for float, once B is transposed, copied and described.
  // >>> solution
  gemm_wgmma(a, b, c, stream);
  // <<< solution
}

#define INSTANTIATE(rung, In) \
  template void rung(MatrixView<const In>, MatrixView<const In>, MatrixView<float>, cudaStream_t);
INSTANTIATE(gemm_wgmma, __half)
INSTANTIATE(gemm_wgmma, __nv_bfloat16)
INSTANTIATE(gemm_wgmma_tf32, float)
