// Speed and accuracy of lab 6's FP64 at every shape beside cuBLAS, tile by tile and size by size:
// docs/results/h200/fp64-shapes.txt. grader/author/sweep/lab6.sh compiles and runs it, on Hopper.
//
//     fp64_shapes [M,N,K ...]              those shapes; without any, the ones of the table
//     fp64_shapes --errors M,N,K [...]     the errors alone, each product once: for compute-sanitizer
#define GEMM_LAB_TENSOR_MAP_ENCODER
#include <cublas_v2.h>
#include <curand_kernel.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "grader/author/sweep/beside_cublas.cuh"
#include "lab6_summit/solution/fp64_aligned.cu"
#include "lab6_summit/solution/fp64_shapes.cu"

// Lab 5 has other tiles and fragments by the same names.
void gemm_of_lab_5(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c);

namespace {

using View = MatrixView<const double>;

__global__ void fill(double* data, std::size_t count, unsigned seed) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, first, 0, &state);
  for (std::size_t i = first; i < count; i += std::size_t{gridDim.x} * blockDim.x)
    data[i] = 2 * curand_uniform_double(&state) - 1;
}

/// Compares every row_step-th row of C with sums of twice the precision: each product and each sum with
/// what its rounding has lost.
__global__ void compare(View a, View b, View c, int row_step, Errors* errors) {
  const int row = blockIdx.y * row_step, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= c.cols) return;
  double sum = 0, lost = 0, size = 0;
  for (int k = 0; k < a.cols; ++k) {
    const double x = a(row, k), y = b(k, col), product = __dmul_rn(x, y);
    const double next = __dadd_rn(sum, product), added = __dsub_rn(next, sum);
    lost += __fma_rn(x, y, -product) +
            (__dsub_rn(sum, __dsub_rn(next, added)) + __dsub_rn(product, added));
    sum = next, size += fabs(product);
  }
  const double off = fabs(__dsub_rn(c(row, col), sum) - lost) / (size * 0x1p-53);
  const double units = off <= 1e30 ? off : 1e30;  // NaN too
  atomicAdd(&errors->sum, units);
  atomicMax(reinterpret_cast<unsigned long long*>(&errors->worst),
            static_cast<unsigned long long>(__double_as_longlong(units)));
}

struct Candidate {
  std::string name;
  std::function<void(View, View, MatrixView<double>)> run;
};

/// What was measured of one candidate at one shape.
struct Row : Speed {
  WorstAndMean errors;
};

constexpr int CUBLAS = 0, OF_LAB_5 = 1, CHOSEN = 2, STREAM_K = 3, ALIGNED = 4, TILES = 5;

/// Its steps shared.
std::string name_of(const Choice& tile) {
  return std::to_string(tile.bm) + "x" + std::to_string(tile.bn) + " shared";
}
std::string name_of(const Chosen& chosen) {
  return std::to_string(chosen.tile->bm) + "x" + std::to_string(chosen.tile->bn) + " / " +
         std::to_string(chosen.splits);
}

class Bench {
 public:
  Bench() {
    keep_freed_memory();  // 6.5.3 and 6.5.4 take some for each product
    candidates = {
        {"cuBLAS", [this](View a, View b, MatrixView<double> c) { cublas(a, b, c); }},
        {"5.3c", gemm_of_lab_5},
        {"6.5.2", [](View a, View b, MatrixView<double> c) { gemm_f64_shapes(a, b, c, nullptr); }},
        {"6.5.3", [](View a, View b, MatrixView<double> c) { gemm_f64(a, b, c, nullptr); }},
        {"6.5.4", [](View a, View b, MatrixView<double> c) { gemm_f64_aligned(a, b, c, nullptr); }},
    };
    for (const Choice& tile : shared_table<double>)
      candidates.push_back({name_of(tile), [&tile](View a, View b, MatrixView<double> c) {
                              const int processors = multiprocessors();
                              const int blocks =
                                  blocks_for(tile, c.rows, c.cols, a.cols, processors);
                              tile.multiply(a, b, c, blocks, nullptr);
                            }});
    for (const Choice& tile : table<double>)
      for (int splits = 1; splits <= 8; splits *= 2)
        candidates.push_back(
            {name_of({&tile, splits}), [&tile, splits](View a, View b, MatrixView<double> c) {
               tile.multiply(a, b, c, splits, nullptr);
             }});
  }

  std::vector<Row> measure(const Extents& e, bool timed) {
    // Of each matrix so many that a product finds nothing of the one before it in the L2 cache.
    const auto ring = [](std::size_t elements) {
      return static_cast<int>(std::clamp<std::size_t>((24u << 20) / elements + 1, 2, 64));
    };
    const std::size_t size_a = padded(e.m, e.k), size_b = padded(e.k, e.n),
                      size_c = padded(e.m, e.n);
    const int pairs = ring(size_a + size_b), outputs = ring(size_c);
    const Buffer<double> a(size_a * pairs), b(size_b * pairs), c(size_c * outputs);
    fill<<<1024, 256>>>(a.get(), size_a * pairs, 1);
    fill<<<1024, 256>>>(b.get(), size_b * pairs, 2);
    CUDA_CHECK_LAUNCH();
    const auto run = [&](const Candidate& candidate, int i) {
      candidate.run({a.get() + size_a * (i % pairs), e.m, e.k, e.k},
                    {b.get() + size_b * (i % pairs), e.k, e.n, e.n},
                    {c.get() + size_c * (i % outputs), e.m, e.n, e.n});
    };
    std::vector<Row> rows(candidates.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CUDA_CHECK(cudaMemset(c.get(), 0xff, sizeof(double) * size_c));
      run(candidates[i], 0);
      const MatrixView<const double> va = {a.get(), e.m, e.k, e.k}, vb = {b.get(), e.k, e.n, e.n};
      const MatrixView<const double> vc = {c.get(), e.m, e.n, e.n};
      rows[i].errors = errors_of(vc, 256, [&](dim3 grid, int step, Errors* errors) {
        compare<<<grid, 128>>>(va, vb, vc, step, errors);
      });
    }
    if (!timed) return rows;
    // Those that are compared take turns with each other alone: what ran just before a candidate decides
    // how far the clock may rise. The tiles come after them, fewer times, and cuBLAS before each.
    std::vector<std::vector<double>> times(rows.size());
    for (int round = 0; round < 9; ++round)
      for (std::size_t i = 0; i < TILES; ++i)
        times[i].push_back(seconds([&](int n) { run(candidates[i], n); }));
    for (std::size_t i = TILES; i < rows.size(); ++i)
      times[i].push_back(seconds([&](int n) { run(candidates[i], n); }));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].set(times[i], times[CUBLAS]);
    return rows;
  }

  std::vector<Candidate> candidates;

 private:
  static std::size_t padded(int rows, int cols) {
    return (static_cast<std::size_t>(rows) * cols + 127) / 128 * 128;
  }

  /// The product of the transposes, all column by column.
  void cublas(View a, View b, MatrixView<double> c) {
    const double one = 1, zero = 0;
    cublasDgemm(cublas_.get(), CUBLAS_OP_N, CUBLAS_OP_N, c.cols, c.rows, a.cols, &one, b.data, b.ld,
                a.data, a.ld, &zero, c.data, c.ld);
  }

  Cublas cublas_;
};

}  // namespace

int main(int argc, char** argv) {
  const Arguments asked(
      argc, argv,  // flat, flatter, thin, an outer product nearly, deep
      {{64, 8192, 8192}, {16, 8192, 8192}, {8192, 64, 8192}, {8192, 8192, 256}, {256, 256, 16384}});
  Bench bench;
  std::vector<std::vector<Row>> rows;
  for (const Extents& e : asked.shapes) rows.push_back(bench.measure(e, asked.timed));
  if (asked.timed)
    std::printf(
        "\n==== FP64 beside cuBLAS: TFLOP/s, and the ratio (least and most)\n%-16s %6s %6s %5s  "
        "%6s %5s %13s %-13s  %6s %5s %13s %-13s  %6s %5s\n",
        "M x N x K", "cuBLAS", "5.3c", "ratio", "6.5.2", "ratio", "", "tile / splits", "6.5.3",
        "ratio", "", "tile", "6.5.4", "ratio");
  for (std::size_t i = 0; i < rows.size() && asked.timed; ++i) {
    const Extents& e = asked.shapes[i];
    const auto tflops = [&](int which) { return 2e-12 * e.m * e.n * e.k / rows[i][which].seconds; };
    const Row &chosen = rows[i][CHOSEN], &stream_k = rows[i][STREAM_K], &twos = rows[i][ALIGNED];
    const Chosen whole = choose<double>(e.m, e.n, e.k);
    const bool shared = better_shared<double>(e.m, e.n, e.k);
    std::printf(
        "%-16s %6.1f %6.1f %5.2f  %6.1f %5.2f (%5.2f %5.2f) %-13s  %6.1f %5.2f (%5.2f %5.2f) %-13s  "
        "%6.1f %5.2f (%5.2f %5.2f)\n",
        name_of(e).c_str(), tflops(CUBLAS), tflops(OF_LAB_5), rows[i][OF_LAB_5].ratio,
        tflops(CHOSEN), chosen.ratio, chosen.least, chosen.most, name_of(whole).c_str(),
        tflops(STREAM_K), stream_k.ratio, stream_k.least, stream_k.most,
        shared ? name_of(choose_shared<double>(e.m, e.n, e.k)).c_str() : "as 6.5.2",
        tflops(ALIGNED), twos.ratio, twos.least, twos.most);
  }
  std::printf(
      "\n==== FP64: errors in u(|A||B|), u = 2^-53, the worst and the mean\n%-16s %14s %14s %14s %14s %14s %14s",
      "M x N x K", "cuBLAS", "5.3c", "6.5.2", "6.5.3", "6.5.4", "any tile");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::printf("\n%-16s", name_of(asked.shapes[i]).c_str());
    for (const int which : {CUBLAS, OF_LAB_5, CHOSEN, STREAM_K, ALIGNED})
      std::printf(" %7.2f %6.3f", rows[i][which].errors.worst, rows[i][which].errors.mean);
    double worst = 0;
    for (std::size_t c = TILES; c < rows[i].size(); ++c)
      worst = std::max(worst, rows[i][c].errors.worst);
    std::printf(" %14.2f", worst);
  }
  if (asked.timed)
    std::printf("\n\n==== FP64: every tile and number of splits, microseconds\n%-14s", "");
  for (std::size_t i = 0; i < rows.size() && asked.timed; ++i)
    std::printf(" %14s", name_of(asked.shapes[i]).c_str());
  for (std::size_t c = 0; c < bench.candidates.size() && asked.timed; ++c) {
    std::printf("\n%-14s", bench.candidates[c].name.c_str());
    for (const std::vector<Row>& of_shape : rows) std::printf(" %14.2f", of_shape[c].seconds * 1e6);
  }
  std::printf("\n");
  return 0;
}
