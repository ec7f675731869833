// Transposes a matrix in three ways. A warp that reads a row must write a column, so one side of the copy is strided,
// unless a tile goes through shared memory: read by rows, transposed there, written by rows.
//
// What to look at: `transpose_naive` writes 32 sectors per request where 4 would do. `transpose_tile` writes 4, but
// reads a column of its tile: 32 words in one bank, 32 wavefronts where 1 would do. `transpose_padded` has one more word
// per row, which puts the words of a column into 32 different banks.
//
//     make sim FILE=examples/transpose.cu REPORT=lines
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "common/cuda_check.cuh"

constexpr int kTile = 32;

__global__ void transpose_naive(const float* in, float* out, int rows, int columns) {
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  if (row < rows && column < columns) out[column * rows + row] = in[row * columns + column];
}

// `Padding` unused words follow each row of the tile.
template <int Padding>
__device__ void transpose_through_tile(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[kTile][kTile + Padding];
  const int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  if (row < rows && column < columns) tile[y][x] = in[row * columns + column];
  __syncthreads();
  // The tile's place in `out`, where its columns are rows. Threads adjacent in x still write adjacent elements.
  row = blockIdx.x * kTile + y;
  column = blockIdx.y * kTile + x;
  if (row < columns && column < rows) out[row * rows + column] = tile[x][y];
}

__global__ void transpose_tile(const float* in, float* out, int rows, int columns) {
  transpose_through_tile<0>(in, out, rows, columns);
}

__global__ void transpose_padded(const float* in, float* out, int rows, int columns) {
  transpose_through_tile<1>(in, out, rows, columns);
}

using Kernel = void (*)(const float*, float*, int, int);

// Runs one of them and checks the result on the CPU. At the first wrong element, it prints a message and returns false.
bool right(const char* name, Kernel kernel, int rows, int columns) {
  std::vector<float> in(rows * columns), out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);

  const std::size_t bytes = in.size() * sizeof(float);
  float *device_in, *device_out;
  CUDA_CHECK(cudaMalloc(&device_in, bytes));
  CUDA_CHECK(cudaMalloc(&device_out, bytes));
  CUDA_CHECK(cudaMemcpy(device_in, in.data(), bytes, cudaMemcpyHostToDevice));
  const dim3 threads(kTile, kTile);
  const dim3 blocks((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  kernel<<<blocks, threads>>>(device_in, device_out, rows, columns);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(out.data(), device_out, bytes, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device_in));
  CUDA_CHECK(cudaFree(device_out));

  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const float expected = in[row * columns + column], got = out[column * rows + row];
      if (got != expected) {
        std::printf("%s: out[%d][%d] is %g, expected %g\n", name, column, row, got, expected);
        return false;
      }
    }
  }
  return true;
}

int main() {
  const int rows = 128, columns = 256;
  if (!right("transpose_naive", transpose_naive, rows, columns)) return 1;
  if (!right("transpose_tile", transpose_tile, rows, columns)) return 1;
  if (!right("transpose_padded", transpose_padded, rows, columns)) return 1;
  std::printf("ok\n");
}
