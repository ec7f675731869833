// Thrust's sorts: see thrust_algorithms.h. All are stable.
#pragma once
#pragma GCC system_header

#include "thrust_algorithms.h"

namespace thrust {
namespace detail {

// ---- numbers in their own order: eight bits at a time, from the lowest ones on

/// Whether `Before` orders numbers of type K as `<` (1) or `>` (-1) does; 0: some other order.
template <typename K, typename Before>
constexpr int natural_order =
    !std::is_arithmetic<K>::value || sizeof(K) > 8 ? 0
    : std::is_same<Before, less<>>::value || std::is_same<Before, less<K>>::value ||
            std::is_same<Before, std::less<>>::value || std::is_same<Before, std::less<K>>::value
        ? 1
    : std::is_same<Before, greater<>>::value || std::is_same<Before, greater<K>>::value ||
            std::is_same<Before, std::greater<>>::value ||
            std::is_same<Before, std::greater<K>>::value
        ? -1
        : 0;

/// A number that is ordered as `key` is.
template <typename K, bool Down>
__SIMGPU_THRUST unsigned long long place_of(K key) {
  constexpr int bits = static_cast<int>(sizeof(K)) * 8;
  constexpr unsigned long long sign = 1ull << (bits - 1), all = sign | (sign - 1);
  unsigned long long x = 0;
  if constexpr (std::is_floating_point<K>::value) {
    if (key == 0) key = 0;  // -0 and 0 are equal
    __builtin_memcpy(&x, &key, sizeof key);
    x ^= x & sign ? all : sign;
  } else {
    x = static_cast<unsigned long long>(key) & all;
    if constexpr (std::is_signed<K>::value) x ^= sign;
  }
  return Down ? x ^ all : x;
}

constexpr unsigned int kWarps = 8;  ///< of a block that sorts

/// Of each warp's part, how many keys have each byte at `shift`: counts[byte][part].
template <bool Down, typename K>
__global__ void thrust_radix_count(const K* from, std::size_t n, std::size_t part_size, int shift,
                                   unsigned int* counts) {
  __shared__ unsigned int all[kWarps][256];
  const unsigned int lane = threadIdx.x % 32, parts = gridDim.x * kWarps;
  const unsigned int part = blockIdx.x * kWarps + threadIdx.x / 32;
  unsigned int* const mine = all[threadIdx.x / 32];
  for (unsigned int byte = lane; byte < 256; byte += 32) mine[byte] = 0;
  __syncwarp();
  const std::size_t begin = part * part_size, end = begin + part_size < n ? begin + part_size : n;
  for (std::size_t i = begin + lane; i < end; i += 32)
    atomicAdd(&mine[place_of<K, Down>(from[i]) >> shift & 255], 1u);
  __syncwarp();
  for (unsigned int byte = lane; byte < 256; byte += 32) counts[byte * parts + part] = mine[byte];
}
/// Each key to its place: `counts` are now those of all keys that come before.
template <bool Down, typename K, typename V>
__global__ void thrust_radix_move(const K* from, K* to, const V* values_from, V* values_to,
                                  std::size_t n, std::size_t part_size, int shift,
                                  const unsigned int* counts) {
  __shared__ unsigned int all[kWarps][256];
  const unsigned int lane = threadIdx.x % 32, parts = gridDim.x * kWarps;
  const unsigned int part = blockIdx.x * kWarps + threadIdx.x / 32;
  unsigned int* const mine = all[threadIdx.x / 32];
  for (unsigned int byte = lane; byte < 256; byte += 32) mine[byte] = counts[byte * parts + part];
  const std::size_t begin = part * part_size, end = begin + part_size < n ? begin + part_size : n;
  for (std::size_t first = begin; first < end; first += 32) {
    const std::size_t i = first + lane;
    const unsigned int lanes = end - first < 32 ? (1u << (end - first)) - 1 : ~0u;
    __syncwarp();
    if (i >= end) continue;
    const K key = from[i];
    const unsigned int byte = static_cast<unsigned int>(place_of<K, Down>(key) >> shift & 255);
    // Equal bytes keep their order: that of the lanes.
    const unsigned int same = __match_any_sync(lanes, byte);
    const unsigned int before = static_cast<unsigned int>(__popc(same & ((1u << lane) - 1)));
    const unsigned int at = mine[byte] + before;
    __syncwarp(lanes);
    if (before == 0) mine[byte] += static_cast<unsigned int>(__popc(same));
    to[at] = key;
    if (values_from != nullptr) values_to[at] = values_from[i];
  }
}

// ---- anything else: each thread sorts a short run; then runs are merged, each thread finding its part

constexpr std::size_t kRun = 16;

template <typename K, typename V, typename Before>
__device__ void sort_run(K* keys, V* values, std::size_t begin, std::size_t end, Before& before) {
  for (std::size_t i = begin + 1; i < end; ++i) {
    const K key = keys[i];
    std::size_t at = i;
    while (at > begin && before(key, keys[at - 1])) --at;
    for (std::size_t j = i; j > at; --j) keys[j] = keys[j - 1];
    keys[at] = key;
    if (values == nullptr) continue;
    const V value = values[i];
    for (std::size_t j = i; j > at; --j) values[j] = values[j - 1];
    values[at] = value;
  }
}
/// The kRun elements from `first` on of what comes of the pair of runs there.
template <typename K, typename V, typename Before>
__device__ void merge_part(const K* keys, K* keys_out, const V* values, V* values_out,
                           std::size_t n, std::size_t width, std::size_t first, Before& before) {
  const std::size_t begin = first / (2 * width) * (2 * width);
  const std::size_t middle = begin + width < n ? begin + width : n;
  const std::size_t end = begin + 2 * width < n ? begin + 2 * width : n;
  const std::size_t ahead = first - begin, rights = end - middle;
  // How many of the left run come before: equal ones do.
  std::size_t low = ahead > rights ? ahead - rights : 0;
  std::size_t high = ahead < middle - begin ? ahead : middle - begin;
  while (low < high) {
    const std::size_t at = (low + high) / 2;
    if (before(keys[middle + (ahead - 1 - at)], keys[begin + at]))
      high = at;
    else
      low = at + 1;
  }
  std::size_t left = begin + low, right = middle + (ahead - low);
  for (std::size_t k = first; k < first + kRun && k < end; ++k) {
    const bool of_right = right < end && (left == middle || before(keys[right], keys[left]));
    const std::size_t from = of_right ? right : left;
    keys_out[k] = keys[from];
    if (values != nullptr) values_out[k] = values[from];
    of_right ? ++right : ++left;
  }
}

/// `values` may be null.
template <typename K, typename V, typename Before>
void sort_runs(K* keys, V* values, std::size_t n, Before before) {
  if (n < 2) return;
  constexpr int order = natural_order<K, Before>;
  buffer<K> keys_buffer(n);
  buffer<V> values_buffer(values ? n : 0);
  K *from = keys, *to = keys_buffer.p;
  V *values_from = values, *values_to = values_buffer.p;
  const auto swap = [&] {
    std::swap(from, to);
    std::swap(values_from, values_to);
  };
  bool by_bytes = false;
  if constexpr (order != 0) {
    by_bytes = n > 2048 && n < 0xffffffffu;
    const unsigned int blocks = n < 65536 ? 4 : 32, parts = blocks * kWarps;
    const std::size_t part_size = (n + parts - 1) / parts;
    buffer<unsigned int> counts(by_bytes ? 256 * parts : 0);
    const device_ptr<unsigned int> first(counts.p);
    for (int shift = 0; by_bytes && shift < static_cast<int>(sizeof(K)) * 8; shift += 8) {
      thrust_radix_count<(order < 0)><<<blocks, kWarps * 32>>>(from, n, part_size, shift, counts.p);
      scan(device_execution_policy(), first, first + 256 * parts, first, true, 0u, plus<>());
      thrust_radix_move<(order < 0)><<<blocks, kWarps * 32>>>(from, to, values_from, values_to, n,
                                                              part_size, shift, counts.p);
      check(cudaGetLastError());
      swap();
    }
  }
  if (!by_bytes) {
    const std::size_t threads = (n + kRun - 1) / kRun;
    each(threads, [=] __device__(std::size_t t) mutable {
      sort_run(from, values_from, t * kRun, (t + 1) * kRun < n ? (t + 1) * kRun : n, before);
    });
    for (std::size_t width = kRun; width < n; width *= 2) {
      each(threads, [=] __device__(std::size_t t) mutable {
        merge_part(from, to, values_from, values_to, n, width, t * kRun, before);
      });
      swap();
    }
  }
  if (from == keys) return;
  check(cudaMemcpy(static_cast<void*>(keys), from, n * sizeof(K), cudaMemcpyDeviceToDevice));
  if (values)
    check(cudaMemcpy(static_cast<void*>(values), values_from, n * sizeof(V),
                     cudaMemcpyDeviceToDevice));
}

/// f(elements) of a range, as a pointer to them: an iterator that computes where they are is copied there and back.
template <typename It, typename F>
void as_pointer(It first, std::size_t n, F f) {
  if constexpr (std::is_pointer<decltype(reach(first))>::value) {
    f(reach(first));
  } else {
    buffer<value_of<It>> copy(n);
    const device_ptr<value_of<It>> at(copy.p);
    map1(device_execution_policy(), first, n, at, identity<>());
    f(copy.p);
    map1(device_execution_policy(), at, n, first, identity<>());
  }
}
struct f_sort {
  template <typename It, typename Before = less<>>
  void operator()(device_execution_policy, It first, It last, Before before = Before()) const {
    const std::size_t n = length(first, last);
    as_pointer(first, n,
               [&](auto* keys) { sort_runs(keys, static_cast<char*>(nullptr), n, before); });
  }
  template <typename It, typename Before = less<>>
  void operator()(host_execution_policy, It first, It last, Before before = Before()) const {
    std::stable_sort(first, last, before);
  }
};
struct f_sort_by_key {
  template <typename K, typename V, typename Before = less<>>
  void operator()(device_execution_policy, K first, K last, V values,
                  Before before = Before()) const {
    const std::size_t n = length(first, last);
    as_pointer(first, n, [&](auto* keys) {
      as_pointer(values, n, [&](auto* value) { sort_runs(keys, value, n, before); });
    });
  }
  template <typename K, typename V, typename Before = less<>>
  void operator()(host_execution_policy, K first, K last, V values,
                  Before before = Before()) const {
    std::vector<std::pair<value_of<K>, value_of<V>>> both;
    V v = values;
    for (K k = first; k != last; ++k, ++v) both.emplace_back(*k, *v);
    std::stable_sort(both.begin(), both.end(),
                     [&](const auto& a, const auto& b) { return before(a.first, b.first); });
    for (const auto& b : both) *first = b.first, *values = b.second, ++first, ++values;
  }
};

}  // namespace detail

__SIMGPU_ALGORITHM(sort, f_sort)
__SIMGPU_ALGORITHM(stable_sort, f_sort)
__SIMGPU_ALGORITHM(sort_by_key, f_sort_by_key)
__SIMGPU_ALGORITHM(stable_sort_by_key, f_sort_by_key)

}  // namespace thrust
