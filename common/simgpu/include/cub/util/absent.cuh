// What CUB has and the simulated GPU does not, so that a program that uses it gets one sentence and
// no list of unknown names.
#pragma once
#pragma GCC system_header

#include "util_ptx.cuh"

namespace cub {
namespace __simgpu {

#define __SIMGPU_ABSENT(Name)                                                                      \
  template <class... Anything>                                                                     \
  __attribute__((host, device,                                                                     \
                 unavailable("simgpu: this device-wide function of CUB is not supported: use"      \
                             " Thrust's algorithms, or a kernel of your own"))) static cudaError_t \
  Name(Anything&&...);

/// All of them in one: which of CUB's classes has which does not matter here.
struct DeviceWide {
  __SIMGPU_ABSENT(Reduce)
  __SIMGPU_ABSENT(Sum)
  __SIMGPU_ABSENT(Min)
  __SIMGPU_ABSENT(Max)
  __SIMGPU_ABSENT(ArgMin)
  __SIMGPU_ABSENT(ArgMax)
  __SIMGPU_ABSENT(TransformReduce)
  __SIMGPU_ABSENT(ReduceByKey)
  __SIMGPU_ABSENT(InclusiveSum)
  __SIMGPU_ABSENT(ExclusiveSum)
  __SIMGPU_ABSENT(InclusiveScan)
  __SIMGPU_ABSENT(ExclusiveScan)
  __SIMGPU_ABSENT(InclusiveSumByKey)
  __SIMGPU_ABSENT(ExclusiveSumByKey)
  __SIMGPU_ABSENT(SortKeys)
  __SIMGPU_ABSENT(SortKeysDescending)
  __SIMGPU_ABSENT(SortPairs)
  __SIMGPU_ABSENT(SortPairsDescending)
  __SIMGPU_ABSENT(StableSortKeys)
  __SIMGPU_ABSENT(StableSortPairs)
  __SIMGPU_ABSENT(If)
  __SIMGPU_ABSENT(Flagged)
  __SIMGPU_ABSENT(Unique)
  __SIMGPU_ABSENT(UniqueByKey)
  __SIMGPU_ABSENT(HistogramEven)
  __SIMGPU_ABSENT(HistogramRange)
  __SIMGPU_ABSENT(Encode)
  __SIMGPU_ABSENT(NonTrivialRuns)
  __SIMGPU_ABSENT(CsrMV)
  __SIMGPU_ABSENT(Bulk)
  __SIMGPU_ABSENT(ForEach)
  __SIMGPU_ABSENT(ForEachN)
  __SIMGPU_ABSENT(Transform)
};
#undef __SIMGPU_ABSENT

}  // namespace __simgpu

struct DeviceSegmentedReduce : __simgpu::DeviceWide {};
struct DeviceSegmentedRadixSort : __simgpu::DeviceWide {};
struct DeviceSegmentedSort : __simgpu::DeviceWide {};
struct DeviceMergeSort : __simgpu::DeviceWide {};
struct DevicePartition : __simgpu::DeviceWide {};
struct DeviceHistogram : __simgpu::DeviceWide {};
struct DeviceRunLengthEncode : __simgpu::DeviceWide {};
struct DeviceSpmv : __simgpu::DeviceWide {};
struct DeviceFor : __simgpu::DeviceWide {};
struct DeviceTransform : __simgpu::DeviceWide {};

/// Of blocks: the constructor says so, and the members exist.
#define __SIMGPU_ABSENT(Name, ...)                                              \
  template <class T, int Threads, __VA_ARGS__>                                  \
  struct Name {                                                                 \
    struct TempStorage {};                                                      \
    template <class... Anything>                                                \
    __attribute__((                                                             \
        unavailable("simgpu: this class of CUB is not supported: BlockReduce, " \
                    "BlockScan, BlockLoad and BlockStore are"))) __device__     \
    Name(Anything&&...);                                                        \
    template <class... Anything>                                                \
    __device__ void Sort(Anything&&...) {}                                      \
    template <class... Anything>                                                \
    __device__ void SortDescending(Anything&&...) {}                            \
    template <class... Anything>                                                \
    __device__ void SortBlockedToStriped(Anything&&...) {}                      \
    template <class... Anything>                                                \
    __device__ void BlockedToStriped(Anything&&...) {}                          \
    template <class... Anything>                                                \
    __device__ void StripedToBlocked(Anything&&...) {}                          \
    template <class... Anything>                                                \
    __device__ void Histogram(Anything&&...) {}                                 \
  };
__SIMGPU_ABSENT(BlockRadixSort, int Items = 1, class Value = NullType, auto... Rest)
__SIMGPU_ABSENT(BlockMergeSort, int Items = 1, class Value = NullType, auto... Rest)
__SIMGPU_ABSENT(BlockExchange, int Items = 1, auto... Rest)
__SIMGPU_ABSENT(BlockHistogram, int Items = 1, auto... Rest)
__SIMGPU_ABSENT(BlockDiscontinuity, auto... Rest)
__SIMGPU_ABSENT(BlockShuffle, auto... Rest)
#undef __SIMGPU_ABSENT

}  // namespace cub
