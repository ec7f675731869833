// CUB's functions for a whole array, by the kernels of our Thrust: the results are CUB's, the counts are those of plain
// kernels. The first call, without temporary storage, only says how much it needs, as in CUB.
#pragma once
#pragma GCC system_header

#include "../../simgpu/thrust_sets.h"
#include "../thread/thread_operators.cuh"
#include "../util/absent.cuh"

namespace cub {

/// Two arrays, of which the sorted one is `Current()` afterwards.
template <typename T>
struct DoubleBuffer {
  T* d_buffers[2] = {nullptr, nullptr};
  int selector = 0;
  __host__ __device__ DoubleBuffer() {}
  __host__ __device__ DoubleBuffer(T* current, T* alternate) {
    d_buffers[0] = current;
    d_buffers[1] = alternate;
  }
  __host__ __device__ T* Current() { return d_buffers[selector]; }
  __host__ __device__ T* Alternate() { return d_buffers[selector ^ 1]; }
};

namespace __simgpu {

/// What a kernel gets: pointers are the device's, whatever else is an iterator.
template <typename T>
thrust::device_ptr<T> on_device(T* p) {
  return thrust::device_ptr<T>(p);
}
template <typename It>
It on_device(It it) {
  return it;
}
template <typename It>
using value_at = std::decay_t<typename std::iterator_traits<It>::value_type>;

template <typename Work>
cudaError_t run(void* storage, std::size_t& bytes, Work work) {
  if (storage == nullptr) {
    bytes = 1;
    return cudaSuccess;
  }
  try {
    work();
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const std::exception&) {
    return cudaPeekAtLastError() != cudaSuccess ? cudaGetLastError() : cudaErrorUnknown;
  }
  return cudaSuccess;
}
/// One value for the kernel that follows.
template <typename Out, typename T>
void give(Out out, T value) {
  const auto to = thrust::detail::reach(on_device(out));
  thrust::detail::each(1, [=] __device__(std::size_t) { *to = value; });
}

struct least {
  template <typename A, typename B>
  __host__ __device__ A operator()(const A& a, const B& b) const {
    return b < a ? b : a;
  }
};
struct greatest {
  template <typename A, typename B>
  __host__ __device__ A operator()(const A& a, const B& b) const {
    return a < b ? b : a;
  }
};

template <typename In, typename Out, typename Op, typename T>
cudaError_t reduce(void* storage, std::size_t& bytes, In in, Out out, long long n, Op op, T init) {
  return run(storage, bytes, [&] {
    const auto x = on_device(in);
    give(out, thrust::reduce(thrust::device, x, x + n, init, op));
  });
}
/// Of the elements themselves: the first one begins.
template <typename In, typename Out, typename Op>
cudaError_t reduce_own(void* storage, std::size_t& bytes, In in, Out out, long long n, Op op) {
  return run(storage, bytes, [&] {
    if (n == 0) return;
    const auto x = on_device(in);
    const value_at<In> first = thrust::detail::fetch_at(x, 0);
    give(out, thrust::reduce(thrust::device, x + 1, x + n, first, op));
  });
}
template <typename In, typename Out, typename Before>
cudaError_t extreme(void* storage, std::size_t& bytes, In in, Out out, long long n, Before before) {
  return run(storage, bytes, [&] {
    const auto x = on_device(in);
    const auto at = thrust::min_element(thrust::device, x, x + n, before) - x;
    KeyValuePair<int, value_at<In>> found{};
    found.key = static_cast<int>(at);
    found.value = thrust::detail::fetch_at(x, at);
    give(out, found);
  });
}

}  // namespace __simgpu

struct DeviceReduce : __simgpu::DeviceWide {
  template <typename In, typename Out, typename Op, typename T>
  static cudaError_t Reduce(void* storage, std::size_t& bytes, In in, Out out, long long n, Op op,
                            T init, cudaStream_t = nullptr, bool = false) {
    return __simgpu::reduce(storage, bytes, in, out, n, op, init);
  }
  template <typename In, typename Out>
  static cudaError_t Sum(void* storage, std::size_t& bytes, In in, Out out, long long n,
                         cudaStream_t = nullptr, bool = false) {
    return __simgpu::reduce(storage, bytes, in, out, n, thrust::plus<>(), __simgpu::value_at<In>{});
  }
  template <typename In, typename Out>
  static cudaError_t Min(void* storage, std::size_t& bytes, In in, Out out, long long n,
                         cudaStream_t = nullptr, bool = false) {
    return __simgpu::reduce_own(storage, bytes, in, out, n, __simgpu::least());
  }
  template <typename In, typename Out>
  static cudaError_t Max(void* storage, std::size_t& bytes, In in, Out out, long long n,
                         cudaStream_t = nullptr, bool = false) {
    return __simgpu::reduce_own(storage, bytes, in, out, n, __simgpu::greatest());
  }
  template <typename In, typename Out>
  static cudaError_t ArgMin(void* storage, std::size_t& bytes, In in, Out out, long long n,
                            cudaStream_t = nullptr, bool = false) {
    return __simgpu::extreme(storage, bytes, in, out, n, thrust::less<>());
  }
  template <typename In, typename Out>
  static cudaError_t ArgMax(void* storage, std::size_t& bytes, In in, Out out, long long n,
                            cudaStream_t = nullptr, bool = false) {
    return __simgpu::extreme(storage, bytes, in, out, n, thrust::greater<>());
  }
};

struct DeviceScan : __simgpu::DeviceWide {
  template <typename In, typename Out, typename Op, typename T>
  static cudaError_t ExclusiveScan(void* storage, std::size_t& bytes, In in, Out out, Op op, T init,
                                   long long n, cudaStream_t = nullptr, bool = false) {
    return __simgpu::run(storage, bytes, [&] {
      const auto x = __simgpu::on_device(in);
      thrust::exclusive_scan(thrust::device, x, x + n, __simgpu::on_device(out), init, op);
    });
  }
  template <typename In, typename Out, typename Op>
  static cudaError_t InclusiveScan(void* storage, std::size_t& bytes, In in, Out out, Op op,
                                   long long n, cudaStream_t = nullptr, bool = false) {
    return __simgpu::run(storage, bytes, [&] {
      const auto x = __simgpu::on_device(in);
      thrust::inclusive_scan(thrust::device, x, x + n, __simgpu::on_device(out), op);
    });
  }
  template <typename In, typename Out>
  static cudaError_t ExclusiveSum(void* storage, std::size_t& bytes, In in, Out out, long long n,
                                  cudaStream_t = nullptr, bool = false) {
    return ExclusiveScan(storage, bytes, in, out, thrust::plus<>(), __simgpu::value_at<In>{}, n);
  }
  template <typename In, typename Out>
  static cudaError_t InclusiveSum(void* storage, std::size_t& bytes, In in, Out out, long long n,
                                  cudaStream_t = nullptr, bool = false) {
    return InclusiveScan(storage, bytes, in, out, thrust::plus<>(), n);
  }
};

/// By whole keys: a range of bits is refused.
struct DeviceRadixSort : __simgpu::DeviceWide {
#define __SIMGPU_SORTS(Name, Before)                                                               \
  template <typename K>                                                                            \
  static cudaError_t Sort##Keys##Name(void* storage, std::size_t& bytes, const K* in, K* out,      \
                                      long long n, int begin = 0, int end = sizeof(K) * 8,         \
                                      cudaStream_t = nullptr, bool = false) {                      \
    if (begin != 0 || end < static_cast<int>(sizeof(K) * 8)) return cudaErrorNotSupported;         \
    return __simgpu::run(storage, bytes, [&] {                                                     \
      thrust::detail::check(cudaMemcpy(static_cast<void*>(out), in,                                \
                                       static_cast<std::size_t>(n) * sizeof(K),                    \
                                       cudaMemcpyDeviceToDevice));                                 \
      thrust::sort(thrust::device, out, out + n, Before());                                        \
    });                                                                                            \
  }                                                                                                \
  template <typename K, typename V>                                                                \
  static cudaError_t Sort##Pairs##Name(                                                            \
      void* storage, std::size_t& bytes, const K* in, K* out, const V* values_in, V* values_out,   \
      long long n, int begin = 0, int end = sizeof(K) * 8, cudaStream_t = nullptr, bool = false) { \
    if (begin != 0 || end < static_cast<int>(sizeof(K) * 8)) return cudaErrorNotSupported;         \
    return __simgpu::run(storage, bytes, [&] {                                                     \
      const auto count = static_cast<std::size_t>(n);                                              \
      thrust::detail::check(                                                                       \
          cudaMemcpy(static_cast<void*>(out), in, count * sizeof(K), cudaMemcpyDeviceToDevice));   \
      thrust::detail::check(cudaMemcpy(static_cast<void*>(values_out), values_in,                  \
                                       count * sizeof(V), cudaMemcpyDeviceToDevice));              \
      thrust::sort_by_key(thrust::device, out, out + n, values_out, Before());                     \
    });                                                                                            \
  }                                                                                                \
  template <typename K>                                                                            \
  static cudaError_t Sort##Keys##Name(void* storage, std::size_t& bytes, DoubleBuffer<K>& keys,    \
                                      long long n, int begin = 0, int end = sizeof(K) * 8,         \
                                      cudaStream_t = nullptr, bool = false) {                      \
    const cudaError_t error =                                                                      \
        Sort##Keys##Name(storage, bytes, keys.Current(), keys.Alternate(), n, begin, end);         \
    if (storage != nullptr && error == cudaSuccess) keys.selector ^= 1;                            \
    return error;                                                                                  \
  }                                                                                                \
  template <typename K, typename V>                                                                \
  static cudaError_t Sort##Pairs##Name(                                                            \
      void* storage, std::size_t& bytes, DoubleBuffer<K>& keys, DoubleBuffer<V>& values,           \
      long long n, int begin = 0, int end = sizeof(K) * 8, cudaStream_t = nullptr, bool = false) { \
    const cudaError_t error =                                                                      \
        Sort##Pairs##Name(storage, bytes, keys.Current(), keys.Alternate(), values.Current(),      \
                          values.Alternate(), n, begin, end);                                      \
    if (storage != nullptr && error == cudaSuccess) keys.selector ^= 1, values.selector ^= 1;      \
    return error;                                                                                  \
  }
  __SIMGPU_SORTS(, thrust::less<>)
  __SIMGPU_SORTS(Descending, thrust::greater<>)
#undef __SIMGPU_SORTS
};

struct DeviceSelect : __simgpu::DeviceWide {
  template <typename In, typename Out, typename N, typename F>
  static cudaError_t If(void* storage, std::size_t& bytes, In in, Out out, N selected, long long n,
                        F f, cudaStream_t = nullptr, bool = false) {
    return __simgpu::run(storage, bytes, [&] {
      const auto x = __simgpu::on_device(in);
      const auto to = __simgpu::on_device(out);
      const auto end = thrust::copy_if(thrust::device, x, x + n, to, f);
      __simgpu::give(selected, static_cast<int>(end - to));
    });
  }
  template <typename In, typename Flags, typename Out, typename N>
  static cudaError_t Flagged(void* storage, std::size_t& bytes, In in, Flags flags, Out out,
                             N selected, long long n, cudaStream_t = nullptr, bool = false) {
    return __simgpu::run(storage, bytes, [&] {
      const auto x = __simgpu::on_device(in);
      const auto to = __simgpu::on_device(out);
      const auto end = thrust::copy_if(thrust::device, x, x + n, __simgpu::on_device(flags), to,
                                       thrust::identity<>());
      __simgpu::give(selected, static_cast<int>(end - to));
    });
  }
  template <typename In, typename Out, typename N>
  static cudaError_t Unique(void* storage, std::size_t& bytes, In in, Out out, N selected,
                            long long n, cudaStream_t = nullptr, bool = false) {
    return __simgpu::run(storage, bytes, [&] {
      const auto x = __simgpu::on_device(in);
      const auto to = __simgpu::on_device(out);
      const auto end = thrust::unique_copy(thrust::device, x, x + n, to);
      __simgpu::give(selected, static_cast<int>(end - to));
    });
  }
};

}  // namespace cub
