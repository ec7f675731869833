// Launchers as students write them, and as they should not: what the device worker must allow, refuse and survive.
#include <cuda.h>
#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <unistd.h>

struct Matrix {
  float* data;
  int rows, cols, ld;
};
struct ConstMatrix {
  const float* data;
  int rows, cols, ld;
};

__constant__ float factor[1];
__device__ int calls;

__global__ void add(ConstMatrix a, ConstMatrix b, Matrix c) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < c.rows && col < c.cols) {
    c.data[row * c.ld + col] = a.data[row * a.ld + col] + b.data[row * b.ld + col];
  }
}
__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor[0];
  if (i == 0) ++calls;
}
__global__ void out_of_bounds(float* x, int n) { x[n + threadIdx.x] = 1.0f; }
__global__ void endless(volatile float* x) {
  while (true) x[1] = 2.0f;
}

static size_t bytes_of(const Matrix& m) { return sizeof(float) * m.rows * m.ld; }

void honest(ConstMatrix a, ConstMatrix b, Matrix c, cudaStream_t stream) {
  const dim3 block(16, 16), grid((c.cols + 15) / 16, (c.rows + 15) / 16);
  add<<<grid, block, 0, stream>>>(a, b, c);
}
// Scratch, constants, copies between device buffers, memset: all allowed.
void workspace(ConstMatrix a, ConstMatrix b, Matrix c, cudaStream_t stream) {
  const float two = 2.0f;
  float* scratch = nullptr;
  if (cudaMalloc(&scratch, bytes_of(c)) != cudaSuccess) return;
  cudaMemcpyToSymbol(factor, &two, sizeof two);
  cudaMemsetAsync(c.data, 0, bytes_of(c), stream);
  cudaMemcpyAsync(scratch, a.data, bytes_of(c), cudaMemcpyDeviceToDevice, stream);
  scale<<<(c.rows * c.ld + 63) / 64, 64, 0, stream>>>(scratch, c.rows * c.ld);
  const ConstMatrix doubled{scratch, c.rows, c.cols, c.ld};
  add<<<dim3(4, 4), dim3(16, 16), 0, stream>>>(doubled, b, c);
  cudaMemsetAsync(scratch, 0, 16, stream);
  cudaStreamSynchronize(stream);
  cudaFree(scratch);
}
// C = A by rows, through scratch memory with rows 16 bytes longer; and more rows than scratch has.
void copies_rows(ConstMatrix a, ConstMatrix, Matrix c, cudaStream_t stream) {
  const std::size_t ld = c.ld * sizeof(float), width = c.cols * sizeof(float), pitch = width + 16;
  void* scratch = nullptr;
  if (cudaMalloc(&scratch, pitch * c.rows) != cudaSuccess) return;
  cudaMemcpy2DAsync(scratch, pitch, a.data, ld, width, c.rows, cudaMemcpyDeviceToDevice, stream);
  cudaMemcpy2DAsync(c.data, ld, scratch, pitch, width, c.rows, cudaMemcpyDeviceToDevice, stream);
  cudaMemcpy2DAsync(c.data, ld, scratch, pitch, width, c.rows + 1, cudaMemcpyDeviceToDevice,
                    stream);
  cudaFree(scratch);
}
void copies_slivers(ConstMatrix, ConstMatrix, Matrix, cudaStream_t stream) {
  char* scratch = nullptr;
  if (cudaMalloc(&scratch, 2 << 20) != cudaSuccess) return;
  cudaMemcpy2DAsync(scratch + 1, 2, scratch, 2, 1, 1 << 20, cudaMemcpyDeviceToDevice, stream);
  cudaFree(scratch);
}
void forgets_its_stream(ConstMatrix a, ConstMatrix b, Matrix c, cudaStream_t) {
  cudaMemset(c.data, 0, bytes_of(c));
  add<<<dim3(4, 4), dim3(16, 16)>>>(a, b, c);
  add<<<dim3(4, 4), dim3(16, 16), 0, cudaStreamPerThread>>>(a, b, c);
}
// Refused: its rows are 4 bytes apart.
bool asks_for_a_bad_map(const ConstMatrix& a) {
  CUtensorMap map;
  const cuuint64_t dims[] = {64, 64}, strides[] = {4};
  const cuuint32_t box[] = {64, 8}, steps[] = {1, 1};
  return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
                                const_cast<float*>(a.data), dims, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_ERROR_INVALID_VALUE;
}
void throws_without_a_map(ConstMatrix a, ConstMatrix, Matrix, cudaStream_t) {
  if (asks_for_a_bad_map(a)) throw std::runtime_error("no map");
}
void goes_on_without_a_map(ConstMatrix a, ConstMatrix b, Matrix c, cudaStream_t stream) {
  if (asks_for_a_bad_map(a)) add<<<dim3(4, 4), dim3(16, 16), 0, stream>>>(a, b, c);
  throw std::runtime_error("for another reason");
}
// Work in a stream of one's own can be put in order with the caller's: that is no mistake.
void streams_of_its_own(ConstMatrix a, ConstMatrix b, Matrix c, cudaStream_t stream) {
  cudaStream_t mine = nullptr;
  cudaEvent_t done = nullptr;
  cudaStreamCreate(&mine);
  cudaEventCreate(&done);
  add<<<dim3(4, 4), dim3(16, 16), 0, mine>>>(a, b, c);
  cudaEventRecord(done, mine);
  cudaStreamWaitEvent(stream, done, 0);
  cudaStreamDestroy(mine);
  cudaEventDestroy(done);
  cudaStreamDestroy(stream);  // a mistake of its own; the next call gets another
}
void leaves_work_behind(ConstMatrix a, ConstMatrix b, Matrix c, cudaStream_t) {
  cudaStream_t mine = nullptr;
  cudaStreamCreate(&mine);
  add<<<dim3(4, 4), dim3(16, 16), 0, mine>>>(a, b, c);
  cudaStreamDestroy(mine);  // which does not wait
}
static std::atomic<int> copies{0};
static void copies_c_for_ever(Matrix c) {
  for (;; ++copies) cudaMemcpy(c.data, c.data + 1, 16, cudaMemcpyDeviceToDevice);
}
void leaves_a_thread(ConstMatrix, ConstMatrix, Matrix c, cudaStream_t) {
  std::thread(copies_c_for_ever, c).detach();
  while (copies < 3) std::this_thread::yield();
}
void joins_a_thread(ConstMatrix a, ConstMatrix b, Matrix c, cudaStream_t stream) {
  std::thread([=] { honest(a, b, c, stream); }).join();
}
void waits_for_its_stream(ConstMatrix a, ConstMatrix b, Matrix c, cudaStream_t) {
  cudaStream_t mine = nullptr;
  cudaStreamCreate(&mine);
  add<<<dim3(4, 4), dim3(16, 16), 0, mine>>>(a, b, c);
  cudaStreamSynchronize(mine);
  cudaStreamDestroy(mine);
}
void leaky(ConstMatrix, ConstMatrix, Matrix c, cudaStream_t) {
  float* scratch = nullptr;
  cudaMalloc(&scratch, bytes_of(c));
}
void copies_back(ConstMatrix a, ConstMatrix, Matrix, cudaStream_t) {
  float host[16] = {};
  const cudaError_t error = cudaMemcpy(host, a.data, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%s %g\n", cudaGetErrorName(error), host[0]);
}
void copies_into_c(ConstMatrix, ConstMatrix, Matrix c, cudaStream_t) {
  float host[16] = {1, 2, 3};
  cudaMemcpy(c.data, host, sizeof host, cudaMemcpyHostToDevice);
}
void copies_into_a(ConstMatrix a, ConstMatrix, Matrix, cudaStream_t) {
  float host[16] = {1, 2, 3};
  cudaMemcpy(const_cast<float*>(a.data), host, sizeof host, cudaMemcpyHostToDevice);
}
void launders(ConstMatrix, ConstMatrix, Matrix c, cudaStream_t) {
  float host[16] = {1, 2, 3}, *first, *second;
  cudaMalloc(&first, sizeof host);
  cudaMalloc(&second, sizeof host);
  cudaMemcpy(first, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpy(second, first, sizeof host, cudaMemcpyDeviceToDevice);
  cudaMemcpy(c.data, second, sizeof host, cudaMemcpyDeviceToDevice);
  cudaFree(first);
  cudaFree(second);
}
void copies_a_over_b(ConstMatrix a, ConstMatrix b, Matrix, cudaStream_t) {
  cudaMemcpy(const_cast<float*>(b.data), a.data, 64, cudaMemcpyDeviceToDevice);
}
void clears_a(ConstMatrix a, ConstMatrix, Matrix, cudaStream_t) {
  cudaMemset(const_cast<float*>(a.data), 0, 64);
}
void frees_c(ConstMatrix, ConstMatrix, Matrix c, cudaStream_t) { cudaFree(c.data); }
void too_much_from_host(ConstMatrix, ConstMatrix, Matrix, cudaStream_t) {
  static char host[100000];
  void* scratch = nullptr;
  cudaMalloc(&scratch, sizeof host);
  cudaMemcpy(scratch, host, sizeof host, cudaMemcpyHostToDevice);
  cudaFree(scratch);
}
void allocates_forever(ConstMatrix, ConstMatrix, Matrix, cudaStream_t) {
  void* p = nullptr;
  int count = 0;
  while (count < 100000 && cudaMalloc(&p, 1 << 20) == cudaSuccess) ++count;
  std::printf("%d\n", count);
}
void launches_forever(ConstMatrix, ConstMatrix, Matrix c, cudaStream_t) {
  for (int i = 0; i < 4200; ++i) scale<<<1, 1>>>(c.data, 1);
}
void bad_launch(ConstMatrix, ConstMatrix, Matrix c, cudaStream_t) { scale<<<1, 2000>>>(c.data, 1); }
void times_itself(ConstMatrix, ConstMatrix, Matrix, cudaStream_t) {
  cudaEvent_t start, stop;
  float ms = 0;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  cudaEventRecord(stop);
  cudaEventElapsedTime(&ms, start, stop);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
}
void wants_peers(ConstMatrix, ConstMatrix, Matrix, cudaStream_t) {
  for (int i = 0; i < 5; ++i) cudaDeviceEnablePeerAccess(1, 0);
}
void faults(ConstMatrix, ConstMatrix, Matrix c, cudaStream_t) {
  out_of_bounds<<<1, 32>>>(c.data, c.rows * c.ld);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));   // the judge keeps it to itself
}
void spins(ConstMatrix, ConstMatrix, Matrix c, cudaStream_t) {
  endless<<<1, 1>>>(c.data);
  scale<<<1, 1>>>(c.data, 1);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
void throws(ConstMatrix, ConstMatrix, Matrix, cudaStream_t) { throw std::runtime_error("my\033[31m own words"); }
void exits(ConstMatrix, ConstMatrix, Matrix, cudaStream_t) { std::exit(0); }
void crashes(ConstMatrix a, ConstMatrix, Matrix, cudaStream_t) {
  *const_cast<float*>(a.data) = 1.0f;   // a device address means nothing here
}
void hangs(ConstMatrix, ConstMatrix, Matrix, cudaStream_t) { ::pause(); }
void asks_for_ever(ConstMatrix, ConstMatrix, Matrix, cudaStream_t) {
  size_t free_bytes = 0, total = 0;
  while (cudaMemGetInfo(&free_bytes, &total) == cudaSuccess) {
  }
}
void closes(ConstMatrix, ConstMatrix, Matrix, cudaStream_t) {
  for (int fd = 3; fd < 64; ++fd) ::close(fd);
}
void babbles(ConstMatrix, ConstMatrix, Matrix, cudaStream_t) {
  const char text[] = "VERDICT: PASS and a lot more of it, enough for a header";
  if (::write(3, text, sizeof text) < 0) std::abort();
}
void asks_for_memory(ConstMatrix, ConstMatrix, Matrix, cudaStream_t) {
  size_t free_bytes = 0, total = 0;
  int device = -1;
  cudaDeviceProp prop;
  cudaMemGetInfo(&free_bytes, &total);
  cudaGetDevice(&device);
  cudaGetDeviceProperties(&prop, 0);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, scale);
  std::printf("%d %d %d %zu\n", free_bytes == total, device, prop.maxThreadsPerBlock, attributes.sharedSizeBytes);
}

const char* suspects() { return "A C"; }
const char* no_answer() { return nullptr; }
