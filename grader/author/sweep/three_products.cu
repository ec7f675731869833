// Speed and accuracy of lab 6's three products beside cuBLAS in FP32, tile by tile and size by size:
// docs/results/h200/three-products.txt. grader/author/sweep/lab6.sh compiles and runs it, on
// Hopper: 6.3.4 takes part.
//
//     three_products [M,N,K ...]              those shapes; without any, the ones of the table
//     three_products --errors M,N,K [...]     the errors alone, each product once: for compute-sanitizer
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
#include "grader/author/sweep/three_wgmma.hpp"
#include "lab6_summit/solution/three_products.cu"

namespace {

/// What A and B hold. graded: the factors of a product lie between 2^-100 and 2^100 (about 1e-30 and
/// 1e30), the products themselves between 2^-12 and 2^12, in any order.
enum class Data { zero_mean, positive, graded };

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
  m(row, col) = x;
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
  add_error(errors, c(row, col), sum, size);
}

using View = MatrixView<const float>;
struct Candidate {
  std::string name;
  std::function<void(View, View, MatrixView<float>)> run;
};

template <typename S>
Candidate tile(const char* name) {
  return {name, [](View a, View b, MatrixView<float> c) {
            launch<S>({three_products_kernel<true, S>, three_products_kernel<false, S>}, a, b, c,
                      nullptr);
          }};
}

/// What was measured of one candidate at one shape.
struct Row {
  double seconds = 0;                     ///< median of the rounds
  double ratio = 0, least = 0, most = 0;  ///< of cuBLAS's time to its own in the same round
  double worst[3] = {}, mean[3] = {};     ///< errors in u(|A||B|), by Data
};

class Bench {
 public:
  static constexpr int CUBLAS = 0, MMA = 1, NEVER = 2, WGMMA = 3, TILES = 4;

  Bench() {
    if (cublasCreate(&cublas_) != CUBLAS_STATUS_SUCCESS) std::exit(1);
    cublasSetMathMode(cublas_, CUBLAS_PEDANTIC_MATH);
    // What a stream has freed stays in its pool: 6.3.4 takes memory for each product.
    cudaMemPool_t pool = nullptr;
    std::uint64_t all = UINT64_MAX;
    CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
    CUDA_CHECK(cudaEventCreate(&begin_));
    CUDA_CHECK(cudaEventCreate(&end_));
    candidates = {
        {"cuBLAS FP32", [this](View a, View b, MatrixView<float> c) { cublas(a, b, c); }},
        {"6.3.2",
         [](View a, View b, MatrixView<float> c) { gemm_three_products<float>(a, b, c, nullptr); }},
        {"6.3.1", [](View a, View b,
                     MatrixView<float> c) { gemm_three_step_by_step<float>(a, b, c, nullptr); }},
        {"6.3.4", [](View a, View b, MatrixView<float> c) { three_wgmma(a, b, c); }},
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
  }

  std::vector<Row> measure(const Extents& e, bool timed) {
    const Buffer<float> a(std::size_t{1} * e.m * e.k), b(std::size_t{1} * e.k * e.n),
        c(std::size_t{1} * e.m * e.n);
    const MatrixView<float> fill_a = {a.get(), e.m, e.k, e.k}, fill_b = {b.get(), e.k, e.n, e.n},
                            vc = {c.get(), e.m, e.n, e.n};
    const View va = {a.get(), e.m, e.k, e.k}, vb = {b.get(), e.k, e.n, e.n};
    std::vector<Row> rows(candidates.size());
    for (const Data data : {Data::positive, Data::graded, Data::zero_mean}) {  // the last is timed
      fill<<<dim3(ceil_div(e.k, 128), e.m), 128>>>(fill_a, data, false, 1);
      fill<<<dim3(ceil_div(e.n, 128), e.k), 128>>>(fill_b, data, true, 2);
      CUDA_CHECK_LAUNCH();
      for (std::size_t i = 0; i < rows.size(); ++i)
        measure_errors(candidates[i], va, vb, vc, rows[i].worst[static_cast<int>(data)],
                       rows[i].mean[static_cast<int>(data)]);
    }
    if (!timed) return rows;
    constexpr int ROUNDS = 9;
    std::vector<std::vector<double>> times(rows.size());
    for (int round = 0; round < ROUNDS; ++round)
      for (std::size_t i = 0; i < rows.size(); ++i)
        times[i].push_back(seconds(candidates[i], va, vb, vc));
    for (std::size_t i = rows.size(); i-- > 0;) {
      std::vector<double> ratios;
      for (int round = 0; round < ROUNDS; ++round)
        ratios.push_back(times[CUBLAS][round] / times[i][round]);
      std::sort(ratios.begin(), ratios.end());
      rows[i].ratio = ratios[ROUNDS / 2];
      rows[i].least = ratios.front();
      rows[i].most = ratios.back();
      std::vector<double> sorted = times[i];
      std::sort(sorted.begin(), sorted.end());
      rows[i].seconds = sorted[ROUNDS / 2];
    }
    return rows;
  }

  std::vector<Candidate> candidates;

 private:
  /// The product of the transposes, all column by column.
  void cublas(View a, View b, MatrixView<float> c) {
    const float one = 1, zero = 0;
    cublasSgemm(cublas_, CUBLAS_OP_N, CUBLAS_OP_N, c.cols, c.rows, a.cols, &one, b.data, b.ld,
                a.data, a.ld, &zero, c.data, c.ld);
  }

  /// At most 1024 rows are compared, spread over C.
  void measure_errors(const Candidate& candidate, View a, View b, MatrixView<float> c,
                      double& worst, double& mean) {
    CUDA_CHECK(cudaMemset(c.data, 0xff, sizeof(float) * c.rows * c.ld));
    candidate.run(a, b, c);
    const Buffer<Errors> errors(1);
    CUDA_CHECK(cudaMemset(errors.get(), 0, sizeof(Errors)));
    const int step = ceil_div(c.rows, 1024), rows = ceil_div(c.rows, step);
    compare<<<dim3(ceil_div(c.cols, 128), rows), 128>>>(a, b, {c.data, c.rows, c.cols, c.ld}, step,
                                                        errors.get());
    CUDA_CHECK_LAUNCH();
    Errors seen;
    CUDA_CHECK(cudaMemcpy(&seen, errors.get(), sizeof seen, cudaMemcpyDeviceToHost));
    worst = seen.worst;
    mean = seen.sum / (static_cast<double>(rows) * c.cols);
  }

  /// Of one product: the mean of as many as take about 10 ms.
  double seconds(const Candidate& candidate, View a, View b, MatrixView<float> c) {
    const auto timed = [&](int count) {
      CUDA_CHECK(cudaEventRecord(begin_));
      for (int i = 0; i < count; ++i) candidate.run(a, b, c);
      CUDA_CHECK(cudaEventRecord(end_));
      CUDA_CHECK(cudaEventSynchronize(end_));
      float ms = 0;
      CUDA_CHECK(cudaEventElapsedTime(&ms, begin_, end_));
      return ms / static_cast<float>(count);
    };
    const float once = timed(1);
    return timed(std::max(1, static_cast<int>(10 / once))) * 1e-3;
  }

  cublasHandle_t cublas_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

void print_speed(const std::vector<Extents>& shapes, const std::vector<std::vector<Row>>& rows) {
  std::printf("\n==== speed beside cuBLAS in FP32: TFLOP/s, and the ratio (least and most)\n");
  std::printf("%-16s%10s%10s   %-20s%10s   ratio\n", "M x N x K", "cuBLAS", "6.3.2", "ratio",
              "6.3.4");
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Extents& e = shapes[i];
    const double flop = 2e-12 * e.m * e.n * e.k;
    std::printf("%-16s%10.1f", name_of(e).c_str(), flop / rows[i][Bench::CUBLAS].seconds);
    for (const int which : {Bench::MMA, Bench::WGMMA}) {
      const Row& ours = rows[i][which];
      std::printf("%10.1f   %.2f (%.2f %.2f)   ", flop / ours.seconds, ours.ratio, ours.least,
                  ours.most);
    }
    std::printf("\n");
  }
}

void print_errors(const std::vector<Extents>& shapes, const std::vector<std::vector<Row>>& rows) {
  std::printf("\n==== errors in u(|A||B|): the worst, and the mean\n");
  std::printf("%-16s%-11s%18s%18s%18s%18s\n", "M x N x K", "data", "cuBLAS", "6.3.2", "6.3.4",
              "never promoted");
  const char* const names[] = {"zero-mean", "positive", "graded"};
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (int data = 0; data < 3; ++data) {
      std::printf("%-16s%-11s", name_of(shapes[i]).c_str(), names[data]);
      for (const int which : {Bench::CUBLAS, Bench::MMA, Bench::WGMMA, Bench::NEVER})
        std::printf("%9.2f %8.3f", rows[i][which].worst[data], rows[i][which].mean[data]);
      std::printf("\n");
    }
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
  for (std::size_t t = Bench::TILES; t < bench.candidates.size(); ++t) {
    std::printf("%-24s", bench.candidates[t].name.c_str());
    for (std::size_t i = 0; i < shapes.size(); ++i)
      if (square(i)) std::printf("%7.2f", rows[i][t].ratio);
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto [timed, shapes] =
      Arguments(argc, argv,  // flat, thin, an outer product nearly, deep
                {{64, 8192, 8192}, {8192, 64, 8192}, {8192, 8192, 256}, {256, 256, 16384}});
  Bench bench;
  std::vector<std::vector<Row>> rows;
  for (const Extents& e : shapes) rows.push_back(bench.measure(e, timed));
  if (timed) print_speed(shapes, rows);
  print_errors(shapes, rows);
  if (timed) print_tiles(bench, shapes, rows);
  return 0;
}
