// Clusters: their numbers, their barrier, and shared memory of other blocks by every instruction that reaches it. Then
// what goes wrong, each in a kernel of its own. cluster.err has what must be said.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__device__ unsigned address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ unsigned map(const void* p, unsigned rank) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address(p)), "r"(rank));
  return there;
}

__global__ void numbers(int* out) {  // grid (4, 2), clusters of (2, 2)
  const cg::cluster_group c = cg::this_cluster();
  unsigned x, y, of;
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(x));
  asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(y));
  asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(of));
  const int digits = c.block_rank() * 1000 + c.num_blocks() * 100 + c.block_index().y * 10 + y;
  if (threadIdx.x == 0) out[blockIdx.y * 4 + blockIdx.x] = digits * 100 + x * 10 + of;
}

// Every block reads, writes and adds in the next one.
constexpr int RING = 2;
__global__ void __cluster_dims__(2 * RING, 1, 1) ring(int* out) {
  __shared__ int box[32], sum;
  __shared__ __align__(16) int from[4];
  const cg::cluster_group c = cg::this_cluster();
  const unsigned me = c.block_rank(), next = (me + 1) % 4;
  if (threadIdx.x == 0) sum = 0;
  if (threadIdx.x < 4) from[threadIdx.x] = 10 * me + threadIdx.x;
  c.sync();
  c.map_shared_rank(box, next)[threadIdx.x] = 100 * me + threadIdx.x;  // generic
  asm volatile("red.shared::cluster.add.u32 [%0], %1;" : : "r"(map(&sum, 0)), "r"(1) : "memory");
  int got[4];
  asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(got[0]), "=r"(got[1]), "=r"(got[2]), "=r"(got[3])
               : "r"(map(from, next)));
  unsigned rank;
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(map(box, next)));
  c.sync();
  out[(me * 32 + threadIdx.x) * 4] = box[threadIdx.x];
  out[(me * 32 + threadIdx.x) * 4 + 1] = got[3];
  out[(me * 32 + threadIdx.x) * 4 + 2] = sum;
  out[(me * 32 + threadIdx.x) * 4 + 3] = rank;
}

// Rank 0 sends, rank 1 waits at its own mbarrier: by st.async, by a bulk copy, and by an arrival alone.
__global__ void __cluster_dims__(2) sends(int* out) {
  __shared__ __align__(16) int source[64], box[64], tail[32];
  __shared__ std::uint64_t barrier;
  const cg::cluster_group c = cg::this_cluster();
  const unsigned t = threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" : : "r"(address(&barrier)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
  }
  source[t] = 1000 + t;
  source[t + 32] = 2000 + t;
  asm volatile("fence.proxy.async;" : : : "memory");
  c.sync();
  if (c.block_rank() == 0) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
                 :
                 : "r"(map(&tail[t], 1)), "r"(3000 + t), "r"(map(&barrier, 1))
                 : "memory");
    if (t == 0) {
      asm volatile(
          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
          :
          : "r"(map(box, 1)), "r"(address(source)), "r"(256), "r"(map(&barrier, 1))
          : "memory");
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
                   :
                   : "r"(map(&barrier, 1))
                   : "memory");
    }
  } else {
    if (t == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                   :
                   : "r"(address(&barrier)), "r"(256 + 128)
                   : "memory");
    unsigned done = 0;
    while (!done)
      asm volatile(
          "{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
          : "=r"(done)
          : "r"(address(&barrier))
          : "memory");
    out[t] = box[t] + box[t + 32] + tail[t];
  }
  c.sync();
}

enum Mistake { kNoStart, kNoEnd, kRace, kUnset };
template <Mistake MISTAKE, int BLOCKS = 2>
__global__ void __cluster_dims__(BLOCKS) wrong(int* out) {
  __shared__ int box[32];
  const cg::cluster_group c = cg::this_cluster();
  const unsigned me = c.block_rank(), t = threadIdx.x;
  if (MISTAKE != kUnset) box[t] = me;
  if (MISTAKE != kNoStart) c.sync();
  if (MISTAKE == kRace) box[t] = 7;
  int* const there = c.map_shared_rank(box, me ^ 1);
  out[me * 32 + t] = there[t];
  if (MISTAKE != kNoEnd) c.sync();
}
// Rank 1 waits for an arrival that rank 0 never sends.
__global__ void __cluster_dims__(2) waits_for_ever(int* out) {
  __shared__ std::uint64_t barrier;
  const cg::cluster_group c = cg::this_cluster();
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(address(&barrier)) : "memory");
  c.sync();
  unsigned done = c.block_rank() == 0;
  while (!done)
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(address(&barrier))
        : "memory");
  c.sync();
  out[0] = 1;
}

static int* out;
static std::vector<int> host(512);

template <class Kernel>
void run(Kernel kernel, dim3 grid, dim3 cluster = dim3(0, 0, 0)) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(32);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster.x;
  attribute.val.clusterDim.y = cluster.y;
  attribute.val.clusterDim.z = cluster.z;
  config.attrs = &attribute;
  config.numAttrs = cluster.x != 0;
  const cudaError_t launched = cudaLaunchKernelEx(&config, kernel, out);
  if (launched != cudaSuccess) std::printf("%s\n", cudaGetErrorString(launched));
  cudaDeviceSynchronize();
  cudaMemcpy(host.data(), out, host.size() * sizeof(int), cudaMemcpyDeviceToHost);
}

int main() {
  cudaMalloc(&out, host.size() * sizeof(int));
  cudaMemset(out, 0, host.size() * sizeof(int));
  run(numbers, dim3(4, 2), dim3(2, 2, 1));
  for (int i = 0; i < 8; ++i) std::printf("%06d ", host[i]);
  run(ring, dim3(4));
  std::printf("\n%d %d %d %d\n", host[5 * 4], host[5 * 4 + 1], host[5 * 4 + 2], host[5 * 4 + 3]);
  std::printf("%d %d\n", host[(3 * 32 + 31) * 4], host[(3 * 32 + 31) * 4 + 1]);
  run(sends, dim3(2));
  std::printf("%d %d\n", host[0], host[31]);
  run(ring, dim3(6));
  run(ring, dim3(4), dim3(2, 1, 1));
  run(numbers, dim3(32), dim3(32, 1, 1));
  run(wrong<kNoStart>, dim3(2));
  run(wrong<kNoEnd>, dim3(2));
  run(wrong<kRace>, dim3(2));
  run(wrong<kUnset>, dim3(2));
  run(waits_for_ever, dim3(2));
}
