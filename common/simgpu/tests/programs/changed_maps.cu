#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                           \
  do {                                                                        \
    cudaError_t err_ = (call);                                                \
    if (err_ != cudaSuccess) {                                                \
      std::printf("%s:%d: %s\n", "cuda", __LINE__, cudaGetErrorString(err_)); \
      std::exit(1);                                                           \
    }                                                                         \
  } while (0)

typedef CUresult (*EncodeTiled)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static EncodeTiled get_encode() {
  void* fn = nullptr;
  cudaDriverEntryPointQueryResult status;
#if CUDART_VERSION >= 12050
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &fn, 12000, cudaEnableDefault,
                                         &status));
#else
  CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &fn, cudaEnableDefault, &status));
#endif
  if (status != cudaDriverEntryPointSuccess || !fn) {
    std::printf("no encode\n");
    std::exit(1);
  }
  return reinterpret_cast<EncodeTiled>(fn);
}

static CUtensorMap make_map(CUtensorMapDataType type, int elem, int rank, void* base,
                            std::vector<uint64_t> dims, std::vector<uint32_t> box,
                            CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE,
                            CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
                            std::vector<uint32_t> step = {}) {
  CUtensorMap map;
  cuuint64_t size[5], stride[5];
  cuuint32_t boxes[5], steps[5];
  uint64_t pitch = elem;
  for (int i = 0; i < rank; i++) {
    size[i] = dims[i];
    pitch *= dims[i];
    stride[i] = pitch;
    boxes[i] = box[i];
    steps[i] = step.empty() ? 1 : step[i];
  }
  CUresult r = get_encode()(&map, type, rank, base, size, stride, boxes, steps,
                            CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                            CU_TENSOR_MAP_L2_PROMOTION_L2_128B, fill);
  if (r != CUDA_SUCCESS) {
    std::printf("encode failed: %d\n", int(r));
    std::exit(1);
  }
  return map;
}

__device__ __forceinline__ uint32_t smem_u32(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void mbar_init(uint64_t* bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(bar)), "r"(count)
               : "memory");
}
__device__ __forceinline__ void mbar_expect(uint64_t* bar, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(bar)),
      "r"(bytes)
      : "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t* bar) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(smem_u32(bar))
               : "memory");
}
__device__ __forceinline__ void mbar_wait(uint64_t* bar, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred P1;\n"
      "LAB_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
      "@P1 bra DONE;\n"
      "bra LAB_WAIT;\n"
      "DONE:\n"
      "}\n" ::"r"(smem_u32(bar)),
      "r"(parity)
      : "memory");
}
// A tensor map changed on the device: tensormap.replace in shared memory, tensormap.cp_fenceproxy to global memory, an acquire
// fence in the kernel that uses it, as grouped GEMMs do it.
constexpr int kBoxW = 32, kBoxH = 8;

struct Group {
  int* base;
  int width, height;
};

__global__ void make_maps(const __grid_constant__ CUtensorMap pattern, CUtensorMap* maps,
                          const Group* groups) {
  __shared__ alignas(128) CUtensorMap map;
  const Group g = groups[blockIdx.x];
  if (threadIdx.x < 32) {
    reinterpret_cast<uint32_t*>(&map)[threadIdx.x] =
        reinterpret_cast<const uint32_t*>(&pattern)[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) {
      const uint32_t at = smem_u32(&map);
      asm volatile(
          "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at),
          "l"(g.base)
          : "memory");
      asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(at),
                   "r"(g.width)
                   : "memory");
      asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at),
                   "r"(g.height)
                   : "memory");
      asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at),
                   "r"(kBoxH)
                   : "memory");
      asm volatile(
          "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at),
          "r"(1)
          : "memory");
      asm volatile(
          "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 3;\n"
          "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0;\n"
          "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 0;\n"
          "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;\n"
          "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 1;" ::"r"(at)
          : "memory");
      asm volatile(
          "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(at),
          "l"((long long)(g.width) * 4)
          : "memory");
    }
    __syncwarp();
    asm volatile(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::
            "l"(maps + blockIdx.x),
        "r"(smem_u32(&map))
        : "memory");
  }
}

__global__ void use_maps(CUtensorMap* maps, int* out) {
  __shared__ alignas(128) int tile[kBoxH * kBoxW];
  __shared__ alignas(8) uint64_t bar;
  const CUtensorMap* map = maps + blockIdx.x;
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
    mbar_init(&bar, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    mbar_expect(&bar, sizeof(tile));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::
            "r"(smem_u32(tile)),
        "l"(map), "r"(smem_u32(&bar)), "r"(16), "r"(2)
        : "memory");
  }
  mbar_wait(&bar, 0);
  for (int i = threadIdx.x; i < kBoxH * kBoxW; i += blockDim.x)
    out[blockIdx.x * kBoxH * kBoxW + i] = tile[i];
}

int main() {
  const int groups = 4;
  std::vector<Group> hg(groups);
  std::vector<std::vector<int>> data(groups);
  for (int g = 0; g < groups; g++) {
    hg[g].width = 20 + 8 * g;
    hg[g].height = 5 + 2 * g;
    data[g].resize(hg[g].width * hg[g].height);
    for (size_t i = 0; i < data[g].size(); i++) data[g][i] = int(i) + 1000 * g + 1;
    CHECK(cudaMalloc(&hg[g].base, data[g].size() * 4));
    CHECK(cudaMemcpy(hg[g].base, data[g].data(), data[g].size() * 4, cudaMemcpyHostToDevice));
  }
  Group* dg;
  CUtensorMap* maps;
  int* out;
  CHECK(cudaMalloc(&dg, sizeof(Group) * groups));
  CHECK(cudaMalloc(&maps, sizeof(CUtensorMap) * groups));
  CHECK(cudaMalloc(&out, groups * kBoxH * kBoxW * 4));
  CHECK(cudaMemcpy(dg, hg.data(), sizeof(Group) * groups, cudaMemcpyHostToDevice));
  CUtensorMap pattern =
      make_map(CU_TENSOR_MAP_DATA_TYPE_INT32, 4, 2, hg[0].base, {20, 5}, {kBoxW, 4});
  make_maps<<<groups, 64>>>(pattern, maps, dg);
  CHECK(cudaGetLastError());
  use_maps<<<groups, 64>>>(maps, out);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::vector<int> o(groups * kBoxH * kBoxW);
  CHECK(cudaMemcpy(o.data(), out, o.size() * 4, cudaMemcpyDeviceToHost));
  for (int g = 0; g < groups; g++) {
    int bad = 0;
    for (int r = 0; r < kBoxH; r++)
      for (int c = 0; c < kBoxW; c++) {
        int x = 16 + c, y = 2 + r;
        int want = x < hg[g].width && y < hg[g].height ? data[g][y * hg[g].width + x] : 0;
        bad += o[(g * kBoxH + r) * kBoxW + c] != want;
      }
    std::printf("group %d: %d wrong\n", g, bad);
  }
  return 0;
}
