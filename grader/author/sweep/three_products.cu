// Speed and accuracy of lab 6's three products beside cuBLAS in FP32, tile by tile and size by size:
// docs/results/h200/three-products.txt. grader/author/sweep/lab6.sh compiles and runs it, on
// Hopper: 6.3.4 and 6.4.5 take part. Each shape that has been measured is told on stderr.
//
//     three_products [M,N,K ...]              those shapes; without any, the ones of the table
//     three_products --errors M,N,K [...]     the errors alone, each product once. Leading dimensions are the
//                                             columns, then 3 more; besides the data of the table there are
//                                             infinities and NaN. The exit status is 1 if anything but cuBLAS and
//                                             what is never promoted is off by more than 32 u, or if anything
//                                             beside C is overwritten.
//     three_products --tiles M,N,K [...]      the same for 6.4.5 alone: for compute-sanitizer
#include <cublas_v2.h>
#include <curand_kernel.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/author/sweep/beside_cublas.cuh"
#include "grader/author/sweep/three_shapes.hpp"
#include "grader/author/sweep/three_wgmma.hpp"
#include "lab6_summit/solution/three_products.cu"

namespace {

/// What A and B hold. graded: the factors of a product lie between 2^-100 and 2^100 (about 1e-30 and
/// 1e30), the products themselves between 2^-12 and 2^12, in any order. not_finite: zero_mean, with an
/// infinity in every 7th row of A and one NaN in B.
enum class Data { zero_mean, positive, graded, not_finite };
constexpr int KINDS = 4;

__device__ float draw(curandStatePhilox4_32_10_t& state, Data data) {
  const float x = curand_uniform(&state);  // (0, 1]
  return data == Data::positive ? x : 2 * x - 1;
}

__global__ void fill(MatrixView<float> m, Data data, bool is_b, unsigned seed) {
  const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= m.cols) return;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, static_cast<unsigned long long>(row) * m.cols + col, 0, &state);
  float x = draw(state, data);
  if (data == Data::graded) {
    const int k = is_b ? row : col;
    const int exponent = static_cast<int>(k * 2654435761u >> 8) % 189 - 94;  // the same for A and B
    x = ldexpf(x, (is_b ? -exponent : exponent) + static_cast<int>(curand(&state) % 13) - 6);
  }
  if (data == Data::not_finite && is_b && row == m.rows / 2 && col == m.cols / 3) x = NAN;
  if (data == Data::not_finite && !is_b && row % 7 == 3 && col == row % m.cols) x = INFINITY;
  m(row, col) = x;
}

/// Counts as an error what beside C is not as it was: all bits set.
__global__ void compare_beside(MatrixView<const float> c, Errors* errors) {
  for (int col = c.cols + threadIdx.x; col < c.ld; col += blockDim.x)
    if (__float_as_uint(c(blockIdx.x, col)) != ~0u) add_error(errors, NAN, 0, 1);
}

/// Compares every row_step-th row of C.
__global__ void compare(MatrixView<const float> a, MatrixView<const float> b,
                        MatrixView<const float> c, int row_step, Errors* errors) {
  const int row = blockIdx.y * row_step, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= c.cols) return;
  double sum = 0, size = 0;
  for (int k = 0; k < a.cols; ++k) {
    const double product = static_cast<double>(a(row, k)) * b(k, col);
    sum += product, size += fabs(product);
  }
  if (!isfinite(sum)) {  // the same infinity, or NaN
    const float value = c(row, col);
    const bool same = isnan(sum) ? isnan(value) : value == static_cast<float>(sum);
    return add_error(errors, same ? 0 : NAN, 0, 1);
  }
  add_error(errors, c(row, col), sum, size);
}

using View = MatrixView<const float>;
struct Candidate {
  std::string name;
  std::function<void(View, View, MatrixView<float>)> run;
  int rounds = 3;       // those that the tables compare take more
  bool squares = true;  // are all that it is timed at
};

template <typename S>
Candidate tile(const char* name) {
  return {name, [](View a, View b, MatrixView<float> c) {
            launch<S>({three_products_kernel<true, S>, three_products_kernel<false, S>}, a, b, c,
                      nullptr);
          }};
}

/// What was measured of one candidate at one shape.
struct Row : Speed {
  WorstAndMean errors[KINDS];  ///< by Data
};

class Bench {
 public:
  static constexpr int CUBLAS = 0, MMA = 1, NEVER = 2, WGMMA = 3, SHAPES = 4, TILES = 5, PARTS = 9;

  /// only_shapes: no candidate but 6.4.5 and its tiles takes part.
  explicit Bench(bool only_shapes) : only_shapes_(only_shapes) {
    if (!only_shapes) cublasSetMathMode(cublas_.emplace().get(), CUBLAS_PEDANTIC_MATH);
    keep_freed_memory();  // 6.3.4 takes some for each product
    candidates = {
        {"cuBLAS FP32", [this](View a, View b, MatrixView<float> c) { cublas(a, b, c); }, 9, false},
        {"6.3.2",
         [](View a, View b, MatrixView<float> c) { gemm_three_products<float>(a, b, c, nullptr); },
         9, false},
        {"6.3.1", [](View a, View b,
                     MatrixView<float> c) { gemm_three_step_by_step<float>(a, b, c, nullptr); }},
        {"6.3.4", [](View a, View b, MatrixView<float> c) { three_wgmma(a, b, c); }, 9, false},
        {"6.4.5", three_shapes, 9, false},
        {"wgmma 128x128", three_wgmma<128>},
        {"wgmma 128x96", three_wgmma<96>},
        {"wgmma 128x64", three_wgmma<64>},
        {"wgmma 128x32", three_wgmma<32>},
        {"its parts of B alone", [](View, View b, MatrixView<float>) { parts_of_b(b); }},
        tile<Shape<128, 128, 64, 32, 3>>("128x128 64x32"),
        tile<Shape<128, 128, 32, 64, 3>>("128x128 32x64"),
        tile<Shape<64, 256, 64, 32, 3>>("64x256 64x32"),
        tile<Shape<128, 64, 64, 32, 3>>("128x64 64x32"),
        tile<Shape<128, 64, 32, 32, 3>>("128x64 32x32"),
        tile<Shape<64, 64, 32, 32, 3>>("64x64 32x32"),
        tile<Shape<64, 64, 32, 32, 4>>("64x64 32x32, 4 stages"),
        tile<Shape<64, 32, 32, 32, 4>>("64x32 32x32, 4 stages"),
    };
    first_of_shapes = static_cast<int>(candidates.size());
    for (const ThreeShapesTile& one : three_shapes_tiles())
      candidates.push_back(
          {one.name,
           [one](View a, View b, MatrixView<float> c) { three_shapes_with(one, a, b, c); }, 3,
           false});
  }

  /// `pad`: so much larger than its columns is each leading dimension.
  std::vector<Row> measure(const Extents& e, int pad, bool timed) {
    const int lda = e.k + pad, ldb = e.n + pad;
    const Buffer<float> a(std::size_t{1} * e.m * lda), b(std::size_t{1} * e.k * ldb),
        c(std::size_t{1} * e.m * ldb);
    const MatrixView<float> fill_a = {a.get(), e.m, e.k, lda}, fill_b = {b.get(), e.k, e.n, ldb},
                            vc = {c.get(), e.m, e.n, ldb};
    const View va = fill_a, vb = fill_b;
    std::vector<Row> rows(candidates.size());
    for (const Data data : {Data::not_finite, Data::positive, Data::graded, Data::zero_mean}) {
      if (timed && data == Data::not_finite) continue;
      fill<<<dim3(ceil_div(e.k, 128), e.m), 128>>>(fill_a, data, false, 1);
      fill<<<dim3(ceil_div(e.n, 128), e.k), 128>>>(fill_b, data, true, 2);
      CUDA_CHECK_LAUNCH();
      for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
        if (i == PARTS || (timed && i >= TILES && data != Data::zero_mean)) continue;
        if (only_shapes_ && i != SHAPES && i < first_of_shapes) continue;
        rows[i].errors[static_cast<int>(data)] = errors(candidates[i], va, vb, vc);
      }
    }
    if (timed) measure_times(e.m == e.n && e.n == e.k, va, vb, vc, rows);  // of the last data
    return rows;
  }

  std::vector<Candidate> candidates;
  int first_of_shapes = 0;  // 6.4.5 with every tile and number of splits, from this one on

 private:
  /// The product of the transposes, all column by column.
  void cublas(View a, View b, MatrixView<float> c) {
    const float one = 1, zero = 0;
    cublasSgemm(cublas_->get(), CUBLAS_OP_N, CUBLAS_OP_N, c.cols, c.rows, a.cols, &one, b.data,
                b.ld, a.data, a.ld, &zero, c.data, c.ld);
  }

  void measure_times(bool square, View a, View b, MatrixView<float> c, std::vector<Row>& rows) {
    std::vector<std::vector<double>> times(rows.size());
    for (int round = 0; round < candidates[CUBLAS].rounds; ++round)
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (round < candidates[i].rounds && (square || !candidates[i].squares))
          times[i].push_back(seconds([&](int) { candidates[i].run(a, b, c); }));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].set(times[i], times[CUBLAS]);
  }

  static WorstAndMean errors(const Candidate& candidate, View a, View b, MatrixView<float> c) {
    CUDA_CHECK(cudaMemset(c.data, 0xff, sizeof(float) * c.rows * c.ld));  // NaN
    candidate.run(a, b, c);
    return errors_of(c, 1024, [&](dim3 grid, int step, Errors* errors) {
      compare<<<grid, 128>>>(a, b, {c.data, c.rows, c.cols, c.ld}, step, errors);
      compare_beside<<<c.rows, 32>>>(c, errors);
    });
  }

  bool only_shapes_ = false;
  std::optional<Cublas> cublas_;
};

void print_speed(const std::vector<Extents>& shapes, const std::vector<std::vector<Row>>& rows) {
  std::printf("\n==== speed beside cuBLAS in FP32: TFLOP/s, and the ratio (least and most)\n");
  std::printf("%-16s%10s", "M x N x K", "cuBLAS");
  for (const char* name : {"6.3.2", "6.3.4", "6.4.5"}) std::printf("%10s   %-18s", name, "ratio");
  std::printf("%s\n", "tile / splits");
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Extents& e = shapes[i];
    const double flop = 2e-12 * e.m * e.n * e.k;
    std::printf("%-16s%10.1f", name_of(e).c_str(), flop / rows[i][Bench::CUBLAS].seconds);
    for (const int which : {Bench::MMA, Bench::WGMMA, Bench::SHAPES}) {
      const Row& ours = rows[i][which];
      std::printf("%10.1f   %.2f (%.2f %.2f)  ", flop / ours.seconds, ours.ratio, ours.least,
                  ours.most);
    }
    const View a = {nullptr, e.m, e.k, e.k}, b = {nullptr, e.k, e.n, e.n};
    std::printf("%s\n", choice_of_three_shapes(a, b).c_str());
  }
}

/// Returns whether 6.3.2, 6.3.4 and 6.4.5 with all its tiles are within 32 u.
bool print_errors(const Bench& bench, const std::vector<Extents>& shapes,
                  const std::vector<std::vector<Row>>& rows, int kinds) {
  std::printf("\n==== errors in u(|A||B|): the worst, and the mean\n");
  std::printf("%-16s%-11s%18s%18s%18s%18s%18s%18s\n", "M x N x K", "data", "cuBLAS", "6.3.2",
              "6.3.4", "6.4.5", "any tile, splits", "never promoted");
  const char* const names[] = {"zero-mean", "positive", "graded", "not finite"};
  bool right = true;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (int data = 0; data < kinds; ++data) {
      std::printf("%-16s%-11s", name_of(shapes[i]).c_str(), names[data]);
      double any = 0;
      for (int which = Bench::TILES; which < static_cast<int>(bench.candidates.size()); ++which)
        if (which != Bench::PARTS) any = std::max(any, rows[i][which].errors[data].worst);
      for (const int which : {Bench::CUBLAS, Bench::MMA, Bench::WGMMA, Bench::SHAPES}) {
        std::printf("%9.2f %8.3f", rows[i][which].errors[data].worst,
                    rows[i][which].errors[data].mean);
        if (which != Bench::CUBLAS) any = std::max(any, rows[i][which].errors[data].worst);
      }
      std::printf("%18.2f", any);
      const Row& never = rows[i][Bench::NEVER];
      std::printf("%9.2f %8.3f\n", never.errors[data].worst, never.errors[data].mean);
      right = right && any <= 32;
    }
  return right;
}

void print_tiles(const Bench& bench, const std::vector<Extents>& shapes,
                 const std::vector<std::vector<Row>>& rows) {
  std::printf("\n==== tiles of a block and of a warp: the ratio to cuBLAS in FP32\n%-24s", "");
  const auto square = [&](std::size_t i) {
    return shapes[i].m == shapes[i].n && shapes[i].n == shapes[i].k;
  };
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (square(i)) std::printf("%7d", shapes[i].m);
  std::printf("\n");
  for (int t = Bench::TILES; t < bench.first_of_shapes; ++t) {
    std::printf("%-24s", bench.candidates[t].name.c_str());
    for (std::size_t i = 0; i < shapes.size(); ++i)
      if (square(i)) std::printf("%7.2f", rows[i][t].ratio);
    std::printf("\n");
  }
  std::printf("\n==== 6.4.5 with every tile and number of splits, microseconds\n%-12s", "");
  for (const Extents& e : shapes) std::printf("%15s", name_of(e).c_str());
  for (int t = Bench::CUBLAS; t < static_cast<int>(bench.candidates.size()); ++t) {
    if (t != Bench::CUBLAS && t < bench.first_of_shapes) continue;
    std::printf("\n%-12s", bench.candidates[t].name.c_str());
    for (std::size_t i = 0; i < shapes.size(); ++i) std::printf("%15.1f", rows[i][t].seconds * 1e6);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const bool only_shapes = argc > 2 && std::string(argv[1]) == "--tiles";
  static char errors[] = "--errors";
  if (only_shapes) argv[1] = errors;
  const auto [timed, shapes] = Arguments(
      argc, argv,  // flat, thin, an outer product nearly, deep
      {{64, 8192, 8192}, {16, 8192, 8192}, {8192, 64, 8192}, {8192, 8192, 256}, {256, 256, 16384}});
  Bench bench(only_shapes);
  bool right = true;
  for (const int pad : {0, 3}) {
    if (timed && pad > 0) break;
    if (!timed) std::printf("\nleading dimensions: columns + %d", pad);
    std::vector<std::vector<Row>> rows;
    for (const Extents& e : shapes) {
      rows.push_back(bench.measure(e, pad, timed));
      if (timed)
        std::fprintf(stderr, "%s: 6.3.2 %.2f, 6.3.4 %.2f, 6.4.5 %.2f of cuBLAS\n",
                     name_of(e).c_str(), rows.back()[Bench::MMA].ratio,
                     rows.back()[Bench::WGMMA].ratio, rows.back()[Bench::SHAPES].ratio);
    }
    if (timed) print_speed(shapes, rows);
    right = print_errors(bench, shapes, rows, timed ? KINDS - 1 : KINDS) && right;
    if (timed) print_tiles(bench, shapes, rows);
  }
  return timed || right ? 0 : 1;
}
