// Pitched memory, two-dimensional copies of sub-rectangles, memset in one and two dimensions.
#include "check.h"

#include <vector>

__global__ void transpose(const int* in, size_t in_pitch, int* out, size_t out_pitch, int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  const int* from = reinterpret_cast<const int*>(reinterpret_cast<const char*>(in) + r * in_pitch);
  int* to = reinterpret_cast<int*>(reinterpret_cast<char*>(out) + c * out_pitch);
  to[r] = from[c];
}

int main() {
  const int rows = 37, cols = 53;
  std::vector<int> host(rows * cols), back(rows * cols, -1);
  for (int i = 0; i < rows * cols; ++i) host[i] = i;
  int *a, *b;
  size_t a_pitch, b_pitch;
  CHECK(cudaMallocPitch(&a, &a_pitch, cols * sizeof(int), rows));
  CHECK(cudaMallocPitch(&b, &b_pitch, rows * sizeof(int), cols));
  std::printf("pitches are multiples of 512: %d\n", a_pitch % 512 == 0 && b_pitch % 512 == 0);
  CHECK(cudaMemcpy2D(a, a_pitch, host.data(), cols * sizeof(int), cols * sizeof(int), rows,
                     cudaMemcpyHostToDevice));
  const dim3 block(16, 8), grid((cols + 15) / 16, (rows + 7) / 8);
  transpose<<<grid, block>>>(a, a_pitch, b, b_pitch, rows, cols);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy2D(back.data(), rows * sizeof(int), b, b_pitch, rows * sizeof(int), cols,
                     cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) wrong += back[c * rows + r] != host[r * cols + c];
  }
  std::printf("transpose: %d wrong\n", wrong);

  // A 3 x 4 window of the first matrix, device to device, into a packed buffer.
  int* window;
  int small[12];
  CHECK(cudaMalloc(&window, sizeof small));
  const char* corner = reinterpret_cast<const char*>(a) + 5 * a_pitch + 7 * sizeof(int);
  CHECK(cudaMemcpy2D(window, 4 * sizeof(int), corner, a_pitch, 4 * sizeof(int), 3, cudaMemcpyDefault));
  CHECK(cudaMemcpy(small, window, sizeof small, cudaMemcpyDeviceToHost));
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 4; ++c) wrong += small[4 * r + c] != host[(5 + r) * cols + 7 + c];
  }
  std::printf("window: %d wrong\n", wrong);

  CHECK(cudaMemset(window, 0xff, sizeof small));
  CHECK(cudaMemset2D(window, 4 * sizeof(int), 0, 2 * sizeof(int), 3));
  CHECK(cudaMemcpy(small, window, sizeof small, cudaMemcpyDeviceToHost));
  for (int r = 0; r < 3; ++r) std::printf("%d %d %d %d\n", small[4 * r], small[4 * r + 1], small[4 * r + 2], small[4 * r + 3]);

  // What CUDA refuses.
  std::printf("%s\n", cudaGetErrorName(cudaMemcpy2D(a, 8, host.data(), 16, 16, 2, cudaMemcpyHostToDevice)));
  std::printf("%s\n", cudaGetErrorName(cudaMemcpy(window, small, sizeof small, static_cast<cudaMemcpyKind>(9))));
  std::printf("%s\n", cudaGetErrorName(cudaMemcpy(window, nullptr, 4, cudaMemcpyHostToDevice)));
  std::printf("%s\n", cudaGetErrorName(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice)));
  std::printf("%s\n", cudaGetErrorName(cudaFree(small)));
  // 2^64 bytes: more than a size_t can say.
  const size_t huge = size_t{1} << 32;
  std::printf("%s\n", cudaGetErrorName(cudaMemcpy2D(a, huge, window, huge, huge, huge, cudaMemcpyDeviceToDevice)));
  std::printf("%s\n", cudaGetErrorName(cudaMemset2D(window, huge, 0, huge, huge)));
  // What could not be registered is not, and may be tried again.
  std::printf("%d\n", cudaHostRegister(small, huge + huge, 0) != cudaSuccess);
  std::printf("%s\n", cudaGetErrorName(cudaHostRegister(small, sizeof small, 0)));
  std::printf("%s\n", cudaGetErrorName(cudaHostUnregister(small)));
  (void)cudaGetLastError();
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(window));
  std::printf("%s\n", cudaGetErrorName(cudaFree(window)));
  std::printf("%s\n", cudaGetErrorName(cudaFree(nullptr)));
  return wrong;
}
