// CUB's functions for a whole array, in the two calls that programs make of each; random numbers from the host's generators;
// pools of memory.
#include <cub/cub.cuh>
#include <curand.h>

#include <cmath>
#include <vector>

#include "check.h"

static void yes(bool is, const char* what) { std::printf("%s: %s\n", what, is ? "right" : "WRONG"); }

/// Asks for the storage, allocates it, works.
template <typename F>
void twice(F f) {
  void* storage = nullptr;
  size_t bytes = 0;
  CHECK(f(storage, bytes));
  CHECK(cudaMalloc(&storage, bytes));
  CHECK(f(storage, bytes));
  CHECK(cudaFree(storage));
}
template <typename T>
T* upload(const std::vector<T>& values) {
  T* p = nullptr;
  CHECK(cudaMalloc(&p, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(p, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
template <typename T>
std::vector<T> download(const T* p, size_t n) {
  std::vector<T> values(n);
  CHECK(cudaMemcpy(values.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}
struct Product {
  __device__ int operator()(int a, int b) const { return a * b; }
};
struct Even {
  __device__ bool operator()(int v) const { return v % 2 == 0; }
};

void wide() {
  const std::vector<int> values{4, 1, 3, 3, 2, 6};
  const int n = 6;
  int* const in = upload(values);
  int* const out = upload(std::vector<int>(n, -1));
  int* const count = upload(std::vector<int>(1, -1));
  twice([&](void* s, size_t& b) { return cub::DeviceReduce::Sum(s, b, in, out, n); });
  yes(download(out, 1)[0] == 19, "Sum");
  twice([&](void* s, size_t& b) { return cub::DeviceReduce::Min(s, b, in, out, n); });
  yes(download(out, 1)[0] == 1, "Min");
  twice([&](void* s, size_t& b) { return cub::DeviceReduce::Max(s, b, in, out, n); });
  yes(download(out, 1)[0] == 6, "Max");
  twice([&](void* s, size_t& b) { return cub::DeviceReduce::Reduce(s, b, in, out, n, Product(), 1); });
  yes(download(out, 1)[0] == 432, "Reduce");
  cub::KeyValuePair<int, int>* best = nullptr;
  CHECK(cudaMalloc(&best, sizeof *best));
  twice([&](void* s, size_t& b) { return cub::DeviceReduce::ArgMax(s, b, in, best, n); });
  yes(download(best, 1)[0].key == 5 && download(best, 1)[0].value == 6, "ArgMax");
  twice([&](void* s, size_t& b) { return cub::DeviceScan::ExclusiveSum(s, b, in, out, n); });
  yes(download(out, n) == std::vector<int>({0, 4, 5, 8, 11, 13}), "ExclusiveSum");
  twice([&](void* s, size_t& b) { return cub::DeviceScan::InclusiveSum(s, b, in, out, n); });
  yes(download(out, n) == std::vector<int>({4, 5, 8, 11, 13, 19}), "InclusiveSum");
  twice([&](void* s, size_t& b) { return cub::DeviceRadixSort::SortKeysDescending(s, b, in, out, n); });
  yes(download(out, n) == std::vector<int>({6, 4, 3, 3, 2, 1}), "SortKeysDescending");
  cub::DoubleBuffer<int> keys(upload(values), out);
  cub::DoubleBuffer<char> letters(upload(std::vector<char>{'a', 'b', 'c', 'd', 'e', 'f'}), upload(std::vector<char>(n)));
  twice([&](void* s, size_t& b) { return cub::DeviceRadixSort::SortPairs(s, b, keys, letters, n); });
  yes(download(keys.Current(), n) == std::vector<int>({1, 2, 3, 3, 4, 6}) &&
          download(letters.Current(), n) == std::vector<char>({'b', 'e', 'c', 'd', 'a', 'f'}),
      "SortPairs");
  twice([&](void* s, size_t& b) { return cub::DeviceSelect::If(s, b, in, out, count, n, Even()); });
  yes(download(count, 1)[0] == 3 && download(out, 3) == std::vector<int>({4, 2, 6}), "If");
  char* const flags = upload(std::vector<char>{1, 0, 0, 1, 0, 1});
  twice([&](void* s, size_t& b) { return cub::DeviceSelect::Flagged(s, b, in, flags, out, count, n); });
  yes(download(count, 1)[0] == 3 && download(out, 3) == std::vector<int>({4, 3, 6}), "Flagged");
  twice([&](void* s, size_t& b) { return cub::DeviceSelect::Unique(s, b, in, out, count, n); });
  yes(download(count, 1)[0] == 5 && download(out, 5) == std::vector<int>({4, 1, 3, 2, 6}), "Unique");
}

void random_numbers() {
  const size_t n = 10000;
  float* const out = upload(std::vector<float>(n));
  curandGenerator_t generator;
  yes(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS &&
          curandSetPseudoRandomGeneratorSeed(generator, 1337ULL) == CURAND_STATUS_SUCCESS &&
          curandGenerateUniform(generator, out, n) == CURAND_STATUS_SUCCESS,
      "a generator");
  const std::vector<float> first = download(out, n);
  double sum = 0;
  bool in_range = true;
  for (const float v : first) sum += static_cast<double>(v), in_range = in_range && v > 0 && v <= 1;
  yes(in_range && std::fabs(sum / n - 0.5) < 0.02, "uniform");
  curandGenerateUniform(generator, out, n);
  yes(download(out, n) != first, "goes on");
  curandSetPseudoRandomGeneratorSeed(generator, 1337ULL);
  curandGenerateUniform(generator, out, n);
  yes(download(out, n) != first, "the same seed again: goes on");
  curandSetGeneratorOffset(generator, 0);
  curandGenerateUniform(generator, out, n);
  yes(download(out, n) == first, "from offset 0: begins anew");
  yes(curandGenerateNormal(generator, out, n, 5, 2) == CURAND_STATUS_SUCCESS &&
          curandGenerateNormal(generator, out, 3, 5, 2) == CURAND_STATUS_LENGTH_NOT_MULTIPLE,
      "normal: an even number of them");
  double mean = 0, square = 0;
  for (const float v : download(out, n)) mean += static_cast<double>(v) / n, square += static_cast<double>(v) * static_cast<double>(v) / n;
  yes(std::fabs(mean - 5) < 0.1 && std::fabs(std::sqrt(square - mean * mean) - 2) < 0.1, "mean and deviation");
  yes(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS &&
          curandCreateGenerator(&generator, CURAND_RNG_QUASI_DEFAULT) == CURAND_STATUS_TYPE_ERROR,
      "no quasi-random ones");
}

void pools() {
  cudaMemPool_t pool, own;
  int supported = 0;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  CHECK(cudaDeviceGetDefaultMemPool(&own, 0));
  unsigned long long threshold = ~0ull, read = 0;
  CHECK(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
  CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReleaseThreshold, &read));
  yes(supported == 1 && read == threshold, "the threshold is kept");
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  CHECK(cudaMemPoolCreate(&pool, &props));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int* p = nullptr;
  CHECK(cudaMallocFromPoolAsync(&p, 64, pool, stream));
  CHECK(cudaMemsetAsync(p, 0, 64, stream));
  CHECK(cudaFreeAsync(p, stream));
  CHECK(cudaMemPoolTrimTo(pool, 0));
  CHECK(cudaMemPoolDestroy(pool));
  yes(cudaMemPoolDestroy(own) == cudaErrorInvalidValue && cudaMemPoolTrimTo(pool, 0) == cudaErrorInvalidValue,
      "the device's pool stays, a destroyed one is gone");
  cudaGetLastError();
}

int main() {
  wide();
  random_numbers();
  pools();
  return 0;
}
