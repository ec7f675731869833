// Speed and accuracy of lab 6's tensor cores at every shape beside cuBLAS, tile by tile and size by size:
// docs/results/h200/tensor-shapes.txt. grader/author/sweep/lab6.sh compiles it twice, for factors of 16 bits
// and, with GEMM_LAB_TF32, for TF32, and runs it, on Hopper.
//
//     tensor_shapes [M,N,K ...]              those shapes; without any, the ones of the table
//     tensor_shapes --errors M,N,K [...]     the errors alone, each product once: for compute-sanitizer
#define GEMM_LAB_TENSOR_MAP_ENCODER
#include <cublas_v2.h>
#include <curand_kernel.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "grader/author/sweep/beside_cublas.cuh"
#include "lab5_tensor_core/solution/wgmma.cu"

#include "lab6_summit/solution/tensor_shapes.cu"

namespace {

template <typename T>
__global__ void fill(T* data, std::size_t count, unsigned seed) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, first, 0, &state);
  for (std::size_t i = first; i < count; i += std::size_t{gridDim.x} * blockDim.x)
    data[i] = T(2 * curand_uniform(&state) - 1);
}

/// Compares every row_step-th row of C.
template <typename T>
__global__ void compare(MatrixView<const T> a, MatrixView<const T> b, MatrixView<const float> c,
                        int row_step, Errors* errors) {
  const int row = blockIdx.y * row_step, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= c.cols) return;
  double sum = 0, size = 0;
  for (int k = 0; k < a.cols; ++k) {
    const double product =
        static_cast<double>(static_cast<float>(a(row, k))) * static_cast<float>(b(k, col));
    sum += product, size += fabs(product);
  }
  add_error(errors, c(row, col), sum, size);
}

template <typename T>
struct Candidate {
  std::string name;
  std::function<void(MatrixView<const T>, MatrixView<const T>, MatrixView<float>)> run;
};

/// What was measured of one candidate at one shape.
struct Row : Speed {
  WorstAndMean errors;
};

/// What the kernels are called for factors of this type.
template <typename T>
constexpr bool IS_TF32 = std::is_same_v<T, float>;
template <typename T>
constexpr const char* OF_LAB_5_NAME = IS_TF32<T> ? "5.4b" : "5.4";
template <typename T>
constexpr const char* CHOSEN_NAME = IS_TF32<T> ? "6.4.4" : "6.4.3";

constexpr int CUBLAS = 0, OF_LAB_5 = 1, CHOSEN = 2, REALIGNED = 3, TILES = 4;

template <typename T>
class Bench {
 public:
  explicit Bench(bool tiles) {
    keep_freed_memory();  // unaligned operands take some for each product
    candidates = {
        {"cuBLAS", [this](View a, View b, MatrixView<float> c) { cublas(a, b, c); }},
        {OF_LAB_5_NAME<T>,
         [](View a, View b, MatrixView<float> c) { gemm_wgmma<T, float>(a, b, c, nullptr); }},
        {CHOSEN_NAME<T>,
         [](View a, View b, MatrixView<float> c) {
           gemm_tensor_shapes<T, float>(a, b, c, nullptr);
         }},
        {"realigned",
         [](View a, View b, MatrixView<float>) {
           const ReadyForTma<T> ready(a, b, choose(a, b, table<T>).copies, nullptr);
         }},
    };
    if (!tiles) return;
    for (const Choice<T>& tile : table<T>)
      for (int splits = 1; splits <= 8; splits *= 2)
        candidates.push_back(
            {name_of({&tile, splits, {}}), [&tile, splits](View a, View b, MatrixView<float> c) {
               const ReadyForTma<T> ready(a, b, choose(a, b, table<T>).copies, nullptr);
               tile.multiply(ready.a(), ready.b(), c, splits, nullptr);
             }});
  }

  static std::string name_of(const Chosen<T>& chosen) {
    char text[32];
    std::snprintf(text, sizeof text, "%dx%d / %d", chosen.tile->bm, chosen.tile->bn, chosen.splits);
    return text;
  }

  std::vector<Row> measure(const Extents& e, bool timed) {
    // Of each matrix so many that a product finds nothing of the one before it in the L2 cache.
    const auto ring = [](std::size_t bytes) {
      return static_cast<int>(std::clamp<std::size_t>((192u << 20) / bytes + 1, 2, 64));
    };
    const std::size_t size_a = padded(e.m, e.k), size_b = padded(e.k, e.n),
                      size_c = padded(e.m, e.n);
    pairs_ = ring((size_a + size_b) * sizeof(T)), outputs_ = ring(size_c * sizeof(float));
    const Buffer<T> a(size_a * pairs_), b(size_b * pairs_);
    const Buffer<float> c(size_c * outputs_);
    fill<<<1024, 256>>>(a.get(), size_a * pairs_, 1);
    fill<<<1024, 256>>>(b.get(), size_b * pairs_, 2);
    CUDA_CHECK_LAUNCH();
    const auto run = [&](const Candidate<T>& candidate, int i) {
      candidate.run({a.get() + size_a * (i % pairs_), e.m, e.k, e.k},
                    {b.get() + size_b * (i % pairs_), e.k, e.n, e.n},
                    {c.get() + size_c * (i % outputs_), e.m, e.n, e.n});
    };
    std::vector<Row> rows(candidates.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i == REALIGNED) continue;
      CUDA_CHECK(cudaMemset(c.get(), 0xff, sizeof(float) * size_c));
      run(candidates[i], 0);
      const MatrixView<const T> va = {a.get(), e.m, e.k, e.k}, vb = {b.get(), e.k, e.n, e.n};
      const MatrixView<const float> vc = {c.get(), e.m, e.n, e.n};
      rows[i].errors = errors_of(vc, 512, [&](dim3 grid, int step, Errors* errors) {
        compare<T><<<grid, 128>>>(va, vb, vc, step, errors);
      });
    }
    if (!timed) return rows;
    // Those that are compared take turns with each other alone: what ran just before a candidate decides
    // how far the clock may rise. The tiles come after them, fewer times, and cuBLAS before each.
    constexpr int ROUNDS = 9;
    std::vector<std::vector<double>> times(rows.size());
    for (int round = 0; round < ROUNDS; ++round)
      for (std::size_t i = 0; i < TILES; ++i)
        times[i].push_back(seconds([&](int n) { run(candidates[i], n); }));
    for (std::size_t i = TILES; i < rows.size(); ++i)
      for (int round = 0; round < 3; ++round) {
        seconds([&](int n) { run(candidates[CUBLAS], n); });
        times[i].push_back(seconds([&](int n) { run(candidates[i], n); }));
      }
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].set(times[i], times[CUBLAS]);
    return rows;
  }

  std::vector<Candidate<T>> candidates;

 private:
  using View = MatrixView<const T>;

  static std::size_t padded(int rows, int cols) {
    return (static_cast<std::size_t>(rows) * cols + 127) / 128 * 128;
  }

  /// The product of the transposes, all column by column.
  void cublas(View a, View b, MatrixView<float> c) {
    const float one = 1, zero = 0;
    const auto type = IS_TF32<T>                  ? CUDA_R_32F
                      : std::is_same_v<T, __half> ? CUDA_R_16F
                                                  : CUDA_R_16BF;
    cublasGemmEx(cublas_.get(), CUBLAS_OP_N, CUBLAS_OP_N, c.cols, c.rows, a.cols, &one, b.data,
                 type, b.ld, a.data, type, a.ld, &zero, c.data, CUDA_R_32F, c.ld,
                 IS_TF32<T> ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                 CUBLAS_GEMM_DEFAULT);
  }

  Cublas cublas_;
  int pairs_ = 0, outputs_ = 0;
};

template <typename T>
void print_speed(const char* type, const Bench<T>& bench, const std::vector<Extents>& shapes,
                 const std::vector<std::vector<Row>>& rows) {
  std::printf("\n==== %s beside cuBLAS: TFLOP/s, and the ratio (least and most)\n", type);
  std::printf("%-18s %8s %9s %7s  %9s %7s %15s   %-14s %s\n", "M x N x K", "cuBLAS",
              OF_LAB_5_NAME<T>, "ratio", CHOSEN_NAME<T>, "ratio", "", "tile / splits",
              "copies in us");
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Extents& e = shapes[i];
    const auto tflops = [&](int which) { return 2e-12 * e.m * e.n * e.k / rows[i][which].seconds; };
    const Row& of_lab_5 = rows[i][OF_LAB_5];
    const Row& chosen = rows[i][CHOSEN];
    const Chosen<T> best = choose<T>({nullptr, e.m, e.k, e.k}, {nullptr, e.k, e.n, e.n}, table<T>);
    std::printf("%-18s %8.1f %9.1f %7.2f  %9.1f %7.2f (%5.2f %5.2f)   %-14s ", name_of(e).c_str(),
                tflops(CUBLAS), tflops(OF_LAB_5), of_lab_5.ratio, tflops(CHOSEN), chosen.ratio,
                chosen.least, chosen.most, bench.name_of(best).c_str());
    best.copies.a || best.copies.b ? std::printf("%.1f\n", rows[i][REALIGNED].seconds * 1e6)
                                   : std::printf("-\n");
  }
}

/// Of the tiles, the worst of all.
template <typename T>
void print_errors(const char* type, const Bench<T>& bench, const std::vector<Extents>& shapes,
                  const std::vector<std::vector<Row>>& rows) {
  std::printf("\n==== %s: errors in u(|A||B|), the worst and the mean\n", type);
  std::printf("%-18s %19s %19s %19s", "M x N x K", "cuBLAS", OF_LAB_5_NAME<T>, CHOSEN_NAME<T>);
  if (bench.candidates.size() > TILES) std::printf(" %19s", "any tile and split");
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::printf("\n%-18s", name_of(shapes[i]).c_str());
    for (const int which : {CUBLAS, OF_LAB_5, CHOSEN})
      std::printf(" %9.2f %9.3f", rows[i][which].errors.worst, rows[i][which].errors.mean);
    double worst = 0;
    for (std::size_t c = TILES; c < bench.candidates.size(); ++c)
      worst = std::max(worst, rows[i][c].errors.worst);
    if (bench.candidates.size() > TILES) std::printf(" %9.2f", worst);
  }
  std::printf("\n");
}

template <typename T>
void print_tiles(const char* type, const Bench<T>& bench, const std::vector<Extents>& shapes,
                 const std::vector<std::vector<Row>>& rows) {
  std::printf("\n==== %s: every tile and number of splits, microseconds\n%-14s", type, "");
  for (const Extents& e : shapes) std::printf(" %14s", name_of(e).c_str());
  for (std::size_t c = 0; c < bench.candidates.size(); ++c) {
    std::printf("\n%-14s", bench.candidates[c].name.c_str());
    for (const std::vector<Row>& of_shape : rows) std::printf(" %14.2f", of_shape[c].seconds * 1e6);
  }
  std::printf("\n");
}

template <typename T>
void run(const char* type, bool tiles, bool timed, const std::vector<Extents>& shapes) {
  Bench<T> bench(tiles);
  std::vector<std::vector<Row>> rows;
  for (const Extents& e : shapes) rows.push_back(bench.measure(e, timed));
  if (timed) print_speed(type, bench, shapes, rows);
  print_errors(type, bench, shapes, rows);
  if (timed && tiles) print_tiles(type, bench, shapes, rows);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments asked(
      argc, argv,  // flat, flatter, thin, an outer product nearly, deep
      {{64, 8192, 8192}, {16, 8192, 8192}, {8192, 64, 8192}, {8192, 8192, 256}, {256, 256, 16384}});
#ifdef GEMM_LAB_TF32
  run<float>("TF32", true, asked.timed, asked.shapes);
#else
  run<__nv_bfloat16>("BF16", true, asked.timed, asked.shapes);
  run<__half>("FP16", false, asked.timed, asked.shapes);
#endif
  return 0;
}
