// Tensor maps, and the driver's entry points through which programs find their encoder.
#include "common/simgpu/tensor_map.hpp"

#include <cstring>

#include "common/simgpu/include/cuda.h"
#include "common/simgpu/runtime/api/state.hpp"

using simgpu::BrokenRule;
using simgpu::MapRule;
using simgpu::TensorMap;
using simgpu::runtime::State;

static_assert(sizeof(CUtensorMap) == 128 && sizeof(TensorMap) <= sizeof(CUtensorMap));
static_assert(static_cast<int>(simgpu::TensorType::tf32_ftz) ==
              CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);

namespace {

CUresult encode(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                const cuuint32_t* steps, CUtensorMapInterleave interleave,
                CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill, BrokenRule& broken) {
  broken = {MapRule::other};
  const bool known =
      type >= CU_TENSOR_MAP_DATA_TYPE_UINT8 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ &&
      swizzle >= CU_TENSOR_MAP_SWIZZLE_NONE && swizzle <= CU_TENSOR_MAP_SWIZZLE_128B && rank >= 1 &&
      rank <= TensorMap::kMostRank;
  if (!map || !dims || !box || !steps || (rank > 1 && !strides) || !known || !address)
    return CUDA_ERROR_INVALID_VALUE;
  const auto breaks = [&broken](MapRule rule, std::uint64_t value) {
    broken = {rule, value};
    return CUDA_ERROR_INVALID_VALUE;
  };
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
  TensorMap m;
  m.type = static_cast<simgpu::TensorType>(type);
  m.rank = static_cast<std::uint8_t>(rank);
  m.swizzle = static_cast<simgpu::Swizzle>(swizzle);
  m.fills_with_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  m.base = reinterpret_cast<std::uintptr_t>(address);
  for (cuuint32_t d = 0; d < rank; ++d) {
    if (dims[d] == 0 || dims[d] > std::uint64_t{1} << 32) return breaks(MapRule::extent, dims[d]);
    if (box[d] == 0 || box[d] > 256) return breaks(MapRule::box, box[d]);
    if (steps[d] == 0 || steps[d] > 8) return CUDA_ERROR_INVALID_VALUE;
    m.last[d] = static_cast<std::uint32_t>(dims[d] - 1);
    m.box[d] = static_cast<std::uint16_t>(box[d]);
    m.step[d] = static_cast<std::uint8_t>(steps[d]);
    if (d + 1 < rank) m.stride[d] = strides[d];
  }
  broken = m.broken();
  if (broken.rule != MapRule::none) return CUDA_ERROR_INVALID_VALUE;
  std::memset(map, 0, sizeof *map);
  std::memcpy(map, &m, sizeof m);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* dims, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  BrokenRule broken;
  const CUresult result = encode(map, type, rank, address, dims, strides, box, steps, interleave,
                                 swizzle, fill, broken);
  if (result == CUDA_ERROR_INVALID_VALUE) {
    State& state = State::get();
    const std::lock_guard<std::recursive_mutex> lock(state.mutex);
    state.backend().note_refused_map(broken);
  }
  return result;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  SIMGPU_API_BEGIN;
  if (!symbol || !function) return state.fail("cudaGetDriverEntryPoint", cudaErrorInvalidValue);
  const bool known = std::strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
  *function = known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  if (status) *status = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}
