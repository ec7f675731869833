// Headers that published programs include beside the usual ones, the rest of Thrust's algorithms, its iterators that are
// nowhere, its complex numbers, libcu++'s arithmetic, and calls about peers and streams.
#include <channel_descriptor.h>
#include <sm_61_intrinsics.h>
#include <texture_types.h>
#include <thrust/complex.h>
#include <thrust/device_delete.h>
#include <thrust/device_new.h>
#include <thrust/device_vector.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/mismatch.h>
#include <thrust/partition.h>
#include <thrust/remove.h>
#include <thrust/reverse.h>
#include <thrust/sort.h>
#include <thrust/swap.h>
#include <thrust/transform_reduce.h>
#include <thrust/uninitialized_copy.h>
#include <thrust/uninitialized_fill.h>
#include <thrust/unique.h>
#include <curand_kernel.h>
// The generator's parts need it first.
#include <curand_normal.h>
#include <curand_uniform.h>

#include <cuda_bf16.hpp>
#include <cuda_fp16.hpp>
#include <vector_functions.hpp>

#include <cstdio>
#include <cub/util_debug.cuh>
#include <cub/util_device.cuh>
#include <cuda/cmath>
#include <cuda/std/chrono>
#include <cuda/std/cstdlib>
#include <sstream>
#include <vector>

#include "check.h"

static void yes(bool is, const char* what) {
  std::printf("%s: %s\n", what, is ? "right" : "WRONG");
}
template <typename V>
bool holds(const V& v, const std::vector<int>& expected) {
  return thrust::host_vector<int>(v.begin(), v.end()) == expected;
}

struct Even {
  __host__ __device__ bool operator()(int v) const { return v % 2 == 0; }
};
struct OnlyOnTheDevice {
  __device__ int operator()(int i) const { return i * i; }
};
struct Same {
  int value;
  __host__ __device__ int operator()() const { return value; }
};

template <typename Vector>
void algorithms(const char* where) {
  std::printf("-- %s\n", where);
  const std::vector<int> six{4, 4, 1, 6, 6, 6};
  const Vector x(six.begin(), six.end());
  Vector y(6), z(6);
  yes(thrust::fill_n(y.begin(), 3, 7) - y.begin() == 3 && holds(y, {7, 7, 7, 0, 0, 0}), "fill_n");
  thrust::generate_n(y.begin() + 3, 2, Same{5});
  yes(holds(y, {7, 7, 7, 5, 5, 0}), "generate_n");
  thrust::replace_copy(x.begin(), x.end(), z.begin(), 4, 9);
  yes(holds(z, {9, 9, 1, 6, 6, 6}), "replace_copy");
  thrust::replace_copy_if(x.begin(), x.end(), z.begin(), Even(), 0);
  yes(holds(z, {0, 0, 1, 0, 0, 0}), "replace_copy_if");
  yes(thrust::remove_copy(x.begin(), x.end(), z.begin(), 6) - z.begin() == 3, "remove_copy");
  thrust::reverse_copy(x.begin(), x.end(), z.begin());
  yes(holds(z, {6, 6, 6, 1, 4, 4}), "reverse_copy");
  const std::vector<int> order{5, 0, 2, 1, 3, 4}, asked{1, 0, 0, 1, 0, 0};
  const Vector map(order.begin(), order.end()), stencil(asked.begin(), asked.end());
  thrust::fill(z.begin(), z.end(), -1);
  thrust::gather_if(map.begin(), map.end(), stencil.begin(), x.begin(), z.begin());
  yes(holds(z, {6, -1, -1, 4, -1, -1}), "gather_if");
  yes(thrust::find_if_not(x.begin(), x.end(), Even()) - x.begin() == 2, "find_if_not");
  yes(thrust::partition_point(x.begin(), x.end(), Even()) - x.begin() == 2, "partition_point");
  yes(thrust::is_sorted_until(x.begin(), x.end()) - x.begin() == 2, "is_sorted_until");
  yes(thrust::unique_count(x.begin(), x.end()) == 3, "unique_count");
  Vector keys = x, values = map;
  const auto ends = thrust::unique_by_key(keys.begin(), keys.end(), values.begin());
  yes(ends.first - keys.begin() == 3 && keys[2] == 6 && values[2] == 1, "unique_by_key");
  y = x;
  y[4] = 0;
  yes(thrust::mismatch(x.begin(), x.end(), y.begin()).second - y.begin() == 4, "mismatch");
  z = x;
  thrust::swap_ranges(y.begin(), y.end(), z.begin());
  yes(holds(y, six) && z[4] == 0, "swap_ranges");
  thrust::uninitialized_fill(y.begin(), y.end(), 3);
  thrust::uninitialized_copy(y.begin(), y.end(), z.begin());
  yes(holds(z, {3, 3, 3, 3, 3, 3}), "uninitialized");
}

__global__ void complex_numbers(thrust::complex<float>* z, int n) {
  const int i = threadIdx.x;
  if (i < n) z[i] = thrust::exp(z[i]) * 2.0f + thrust::sqrt(z[i]) + thrust::pow(z[i], 2.0f);
}
// Lanes that have returned may be named by those that go on.
__global__ void guarded(unsigned* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  const unsigned here = __ballot_sync(0xffffffff, true);
  __syncwarp();
  out[i] = __shfl_sync(0xffffffff, here, 0) + __any_sync(0xffffffff, i == 40);
}

int main() {
  algorithms<thrust::device_vector<int>>("device");
  algorithms<thrust::host_vector<int>>("host");
  std::printf("--\n");
  const thrust::counting_iterator<int> zero(0);
  yes(thrust::transform_reduce(zero, zero + 10, OnlyOnTheDevice(), 0, thrust::plus<int>()) == 285,
      "nowhere is the device");
  thrust::device_vector<int> squares(5);
  const auto computed = thrust::make_transform_iterator(zero, OnlyOnTheDevice());
  thrust::copy(computed, computed + 5, squares.begin());
  yes(holds(squares, {0, 1, 4, 9, 16}), "nowhere to the device");
  std::vector<int> counted(3);
  thrust::copy(zero + 2, zero + 5, counted.begin());
  yes(counted == std::vector<int>{2, 3, 4} && (zero + 7) - 2 - zero == 5 && zero < zero + 1,
      "nowhere to the host");

  thrust::device_vector<thrust::complex<float>> z(4, thrust::complex<float>(1, 2));
  complex_numbers<<<1, 4>>>(thrust::raw_pointer_cast(z.data()), 4);
  const thrust::complex<float> w = z[3];
  std::complex<float> v(1, 2);
  v = std::exp(v) * 2.0f + std::sqrt(v) + std::pow(v, 2.0f);
  yes(std::abs(std::complex<float>(w) - v) < 1e-5f, "complex");
  std::ostringstream text;
  text << thrust::complex<double>(1.5, -2);
  yes(text.str() == "(1.5,-2)" && thrust::norm(thrust::complex<double>(3, 4)) == 25, "written");

  yes(cuda::ceil_div(10, 3) == 4 && cuda::round_up(5u, 4u) == 8 && cuda::round_down(7, 4) == 4 &&
          cuda::ilog2(1024) == 10 && cuda::ilog2(1023u) == 9,
      "cuda/cmath");

  unsigned* out = nullptr;
  std::vector<unsigned> seen(45);
  CHECK(cudaMalloc(&out, 45 * sizeof *out));
  guarded<<<1, 64>>>(out, 45);
  CHECK(cudaMemcpy(seen.data(), out, 45 * sizeof *out, cudaMemcpyDeviceToHost));
  yes(seen[0] == 0xffffffff && seen[44] == 0x1fff + 1, "lanes that have returned");

  int value = 0;
  cudaStream_t stream = nullptr;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  yes(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1) ==
          cudaErrorInvalidDevice,
      "no peer");
  (void)cudaGetLastError();
  CHECK(cudaStreamCreate(&stream));
  cudaStreamAttrValue window{};
  window.accessPolicyWindow = {out, 45 * sizeof *out, 1.0f, cudaAccessPropertyPersisting,
                               cudaAccessPropertyStreaming};
  CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window));
  CHECK(cudaCtxResetPersistingL2Cache());
  CHECK(cudaStreamIsCapturing(stream, &status));
  yes(status == cudaStreamCaptureStatusNone, "no capture");
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(out));
  int* pinned = nullptr;
  CubDebugExit(cudaMallocHost(&pinned, sizeof *pinned));
  yes(CubDebug(cudaFree(pinned)) == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess,
      "page-locked memory is the host's");
  CubDebugExit(cudaFreeHost(pinned));
  const auto p = thrust::device_new<int>(3);
  thrust::device_delete(p);
}
