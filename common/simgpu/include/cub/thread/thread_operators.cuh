// Operators and pairs that CUB's reductions and scans take.
#pragma once
#pragma GCC system_header

#include "../util/util_ptx.cuh"

namespace cub {

template <typename Key_, typename Value_>
struct KeyValuePair {
  typedef Key_ Key;
  typedef Value_ Value;
  Key key;
  Value value;
  KeyValuePair() = default;
  __SIMGPU_CUB_BOTH KeyValuePair(Key k, Value v) : key(k), value(v) {}
  __SIMGPU_CUB_BOTH bool operator!=(const KeyValuePair& other) const {
    return key != other.key || value != other.value;
  }
};

struct Sum {
  template <typename A, typename B>
  __SIMGPU_CUB_BOTH auto operator()(A a, B b) const {
    return a + b;
  }
};
struct Difference {
  template <typename A, typename B>
  __SIMGPU_CUB_BOTH auto operator()(A a, B b) const {
    return a - b;
  }
};
struct Max {
  template <typename T>
  __SIMGPU_CUB_BOTH T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Min {
  template <typename T>
  __SIMGPU_CUB_BOTH T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Equality {
  template <typename A, typename B>
  __SIMGPU_CUB_BOTH bool operator()(A a, B b) const {
    return a == b;
  }
};
/// Of equal values, the one with the smaller key.
struct ArgMax {
  template <typename K, typename V>
  __SIMGPU_CUB_BOTH KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a,
                                                  const KeyValuePair<K, V>& b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <typename K, typename V>
  __SIMGPU_CUB_BOTH KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a,
                                                  const KeyValuePair<K, V>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

}  // namespace cub
