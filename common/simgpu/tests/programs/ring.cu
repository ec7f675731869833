// A ring in shared memory: one warp orders bulk copies, two warps read each of them. Lane 0 of each says for its
// warp that a place is empty, once all lanes have read it.
#include <cstdint>

#include "check.h"

constexpr int kStages = 3, kFloats = 256, kReaders = 2;

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void init(uint64_t* bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(shared_address(bar)), "r"(count));
}
__device__ void arrive(uint64_t* bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(shared_address(bar)) : "memory");
}
__device__ void wait(uint64_t* bar, int parity) {
  asm volatile(
      "{\n.reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}"
      :
      : "r"(shared_address(bar)), "r"(parity)
      : "memory");
}
__device__ void copy(void* to, const void* from, int bytes, uint64_t* bar) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" : : "r"(shared_address(bar)), "r"(bytes) : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(bar))
      : "memory");
}

__global__ void add(const float* in, float* out, int steps) {
  __shared__ alignas(128) float ring[kStages][kFloats];
  __shared__ uint64_t full[kStages], empty[kStages];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) init(full + s, 1), init(empty + s, kReaders);
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
  }
  __syncthreads();
  if (threadIdx.x / 32 == kReaders) {
    for (int t = 0; t < steps && lane == 0; ++t) {
      wait(empty + t % kStages, (t / kStages & 1) ^ 1);
      copy(ring[t % kStages], in + t * kFloats, sizeof ring[0], full + t % kStages);
    }
    return;
  }
  float sum = 0;
  for (int t = 0; t < steps; ++t) {
    wait(full + t % kStages, t / kStages & 1);
    for (int i = lane; i < kFloats; i += 32) sum += ring[t % kStages][i];
    __syncwarp();
    if (lane == 0) arrive(empty + t % kStages);
  }
  atomicAdd(out, sum);
}

int main() {
  constexpr int kSteps = 8;
  float h[kSteps * kFloats], sum = 0, expected = 0, *in, *out;
  for (int i = 0; i < kSteps * kFloats; ++i) expected += kReaders * (h[i] = i % 9);
  CHECK(cudaMalloc(&in, sizeof h));
  CHECK(cudaMalloc(&out, sizeof sum));
  CHECK(cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, sizeof sum));
  add<<<1, 32 * (kReaders + 1)>>>(in, out, kSteps);
  CHECK(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
  std::printf("%s\n", sum == expected ? "ok" : "wrong");
}
