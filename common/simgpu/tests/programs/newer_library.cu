// What published kernels of the last years use of CUDA's headers: libcu++'s barriers, pipelines and
// atomics, partitions of lanes, packed words, alignas behind __shared__, dependent launches, one
// cooperative kernel after another. Each line is checked here and prints ok.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <cstdio>
#include <utility>

#include "check.h"

namespace cg = cooperative_groups;

template <class T>
struct Buffer {
  T* at = nullptr;
  explicit Buffer(int n) { CHECK(cudaMallocManaged(&at, n * sizeof(T))); }
  ~Buffer() { CHECK(cudaFree(at)); }
  T& operator[](int i) { return at[i]; }
};
template <class F>
void shows(const char* name, int n, F is_right) {
  CHECK(cudaDeviceSynchronize());
  bool ok = true;
  for (int i = 0; i < n; ++i) ok &= is_right(i);
  std::printf("%s: %s\n", name, ok ? "ok" : "WRONG");
}

__global__ void split_arrival(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int words[96];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  int value = in[threadIdx.x];
  for (int round = 0; round < 3; ++round) {
    words[threadIdx.x] = value;
    auto token = bar.arrive();
    value *= 2;
    bar.wait(std::move(token));
    value += words[(threadIdx.x + 40) % 96];
    bar.arrive_and_wait();
  }
  out[threadIdx.x] = value;
}

template <int Stages>
__global__ void pipelined(const int* in, int* out, int tiles) {
  __shared__ alignas(16) int words[Stages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0, asked = 0;
  for (int t = 0; t < tiles; ++t) {
    for (; asked < tiles && asked < t + Stages; ++asked) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, words[asked % Stages], in + 64 * asked,
                         cuda::aligned_size_t<16>(64 * sizeof(int)), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += words[t % Stages][(threadIdx.x + 33) % 64] * (t + 1);
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

__global__ void counted(int* count, float* sum, int* most, const int* in) {
  cuda::atomic_ref<int, cuda::thread_scope_device> counter(*count);
  counter.fetch_add(1, cuda::memory_order_relaxed);
  cuda::atomic_ref<float, cuda::thread_scope_device>(*sum).fetch_add(0.5f);
  cuda::atomic_ref<int, cuda::thread_scope_system>(*most).fetch_max(in[threadIdx.x]);
}

__global__ void parts(const int* key, int* same, int* order) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (key[i] == 6) return;
  const auto here = cg::coalesced_threads();
  const auto part = cg::labeled_partition(here, key[i]);
  same[i] = cg::reduce(part, 1, cg::plus<int>());
  order[i] = cg::exclusive_scan(cg::binary_partition(here, key[i] % 2 != 0), 1, cg::plus<int>());
}

__global__ void rotate(int* from, int* to, int n, int rounds) {
  const auto grid = cg::this_grid();
  for (int round = 0; round < rounds; ++round) {
    for (int i = static_cast<int>(grid.thread_rank()); i < n;
         i += static_cast<int>(grid.num_threads()))
      to[i] = from[(i + 1) % n];
    grid.sync();
    int* const old = from;
    from = to;
    to = old;
  }
}

template <class T>
__global__ void aligned(unsigned long long* rest) {
  __shared__ alignas(128) char a[1 + sizeof(T)];
  __shared__ alignas(T) char b[sizeof(T)];
  __shared__ alignas(sizeof(T) > 4 ? 64 : 4) char c[3];
  a[0] = b[0] = c[0] = 0;
  rest[0] = __cvta_generic_to_shared(a) % 128;
  rest[1] = __cvta_generic_to_shared(b) % alignof(T);
  rest[2] = __cvta_generic_to_shared(c) % 64;
}

__global__ void words(const unsigned* in, unsigned* out) {
  const unsigned v = in[threadIdx.x];
  const __half2 h = __floats2half2_rn(1.5f, -2.5f);
  unsigned rank;
  asm volatile("mov.u32 %0, %laneid;" : "=r"(rank));  // nvcc takes one % as well
  unsigned* const mine = out + 12 * threadIdx.x;
  mine[0] = __vaddus4(v, 0x80808080u);
  mine[1] = __vabsdiffs2(v, 0x00057fffu);
  mine[2] = __vcmpgtu4(v, 0x10203040u);
  mine[3] = __fns(v, threadIdx.x, 2);
  mine[4] = __fns(v, threadIdx.x, -1);
  mine[5] = static_cast<unsigned>(__half2int_rn(h.x));
  mine[6] = static_cast<unsigned>(__half2int_rd(h.y));
  mine[7] = __hgt2_mask(h, __half2half2(h.y));
  mine[8] = rank;
}

__global__ void added(float4* sums) {
  cudaGridDependencySynchronize();
  atomicAdd(sums, make_float4(1.0f, 2.0f, 0.0f, -1.0f));
  cudaTriggerProgrammaticLaunchCompletion();
}

void library() {
  Buffer<int> in(640), out(96);
  for (int i = 0; i < 640; ++i) in[i] = i * i % 101;
  split_arrival<<<1, 96>>>(in.at, out.at);
  int value[96], next[96];
  for (int i = 0; i < 96; ++i) value[i] = in[i];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 96; ++i) next[i] = 2 * value[i] + value[(i + 40) % 96];
    for (int i = 0; i < 96; ++i) value[i] = next[i];
  }
  shows("cuda::barrier", 96, [&](int i) { return out[i] == value[i]; });

  pipelined<3><<<1, 64>>>(in.at, out.at, 10);
  shows("cuda::pipeline", 64, [&](int i) {
    int sum = 0;
    for (int t = 0; t < 10; ++t) sum += in[64 * t + (i + 33) % 64] * (t + 1);
    return out[i] == sum;
  });

  Buffer<float> sum(1);
  out[0] = out[1] = 0, sum[0] = 0.0f;
  counted<<<2, 64>>>(out.at, sum.at, out.at + 1, in.at);
  int most = 0;
  for (int i = 0; i < 64; ++i) most = in[i] > most ? in[i] : most;
  shows("cuda::atomic_ref", 1,
        [&](int) { return out[0] == 128 && out[1] == most && sum[0] == 64.0f; });
}

void groups() {
  Buffer<int> key(64), same(64), order(64), a(1000), b(1000);
  for (int i = 0; i < 64; ++i) key[i] = i * i % 7, same[i] = order[i] = -1;
  parts<<<1, 64>>>(key.at, same.at, order.at);
  shows("partitions", 64, [&](int i) {
    if (key[i] == 6) return same[i] == -1;
    int alike = 0, before = 0;
    for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
      alike += key[k] == key[i];
      before += k < i && key[k] != 6 && key[k] % 2 == key[i] % 2;
    }
    return same[i] == alike && order[i] == before;
  });

  for (int i = 0; i < 1000; ++i) a[i] = i;
  int n = 1000, rounds = 2;
  void* arguments[] = {&a.at, &b.at, &n, &rounds};
  for (const int blocks : {6, 4, 5})
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(rotate), dim3(blocks), dim3(64),
                                      arguments, 0, nullptr));
  shows("grids of several sizes", 1000, [&](int i) { return a[i] == (i + 6) % 1000; });
}

void intrinsics() {
  Buffer<unsigned long long> rest(3);
  aligned<double><<<1, 1>>>(rest.at);
  shows("alignas", 3, [&](int i) { return rest[i] == 0; });

  Buffer<unsigned> in(32), out(32 * 12);
  for (int i = 0; i < 32; ++i) in[i] = 2654435761u * static_cast<unsigned>(i + 1);
  words<<<1, 32>>>(in.at, out.at);
  shows("packed words", 32, [&](int i) {
    unsigned sums = 0, differences = 0, greater = 0, second = ~0u, last = ~0u;
    for (int k = 0; k < 4; ++k) {
      const unsigned byte = in[i] >> 8 * k & 255;
      sums |= (byte + 128 > 255 ? 255 : byte + 128) << 8 * k;
      greater |= (byte > (0x10203040u >> 8 * k & 255) ? 255u : 0u) << 8 * k;
    }
    for (int k = 0; k < 2; ++k) {
      const int d = static_cast<short>(in[i] >> 16 * k) - static_cast<short>(0x00057fffu >> 16 * k);
      differences |= (static_cast<unsigned>(d < 0 ? -d : d) & 0xffff) << 16 * k;
    }
    int found = 0;
    for (unsigned k = static_cast<unsigned>(i); k < 32; ++k)
      if ((in[i] >> k & 1) && ++found == 2) second = k;
    for (unsigned k = 0; k <= static_cast<unsigned>(i); ++k)
      if (in[i] >> k & 1) last = k;
    const unsigned* mine = out.at + 12 * i;
    return mine[0] == sums && mine[1] == differences && mine[2] == greater && mine[3] == second &&
           mine[4] == last && mine[5] == 2 && static_cast<int>(mine[6]) == -3 &&
           mine[7] == 0xffffu && mine[8] == static_cast<unsigned>(i);
  });
}

void launches() {
  Buffer<float4> sums(1);
  sums[0] = {0.0f, 0.0f, 0.0f, 0.0f};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(4);
  config.blockDim = dim3(32);
  cudaLaunchAttribute attributes[2];
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
  attributes[1].val.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicySpread;
  config.attrs = attributes;
  config.numAttrs = 2;
  CHECK(cudaLaunchKernelEx(&config, added, sums.at));
  shows("dependent launch, float4 atomics", 1, [&](int) {
    return sums[0].x == 128.0f && sums[0].y == 256.0f && sums[0].z == 0.0f && sums[0].w == -128.0f;
  });
  int largest = 0, active = 0;
  size_t dynamic = 0;
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = 4;
  attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
  config.numAttrs = 1;
  CHECK(cudaOccupancyMaxPotentialClusterSize(&largest, added, &config));
  CHECK(cudaOccupancyMaxActiveClusters(&active, added, &config));
  CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, added, 1, 128));
  shows("occupancy of clusters", 1,
        [&](int) { return largest == 8 && active > 4 && dynamic >= 48 * 1024; });
}

int main() {
  library();
  groups();
  intrinsics();
  launches();
}
