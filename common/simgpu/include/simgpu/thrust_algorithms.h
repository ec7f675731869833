// Thrust's algorithms: on the device by plain kernels, whose counts are their own and not NVIDIA's;
// on the host by the C++ library. What takes a device iterator, or thrust::device, is the device's.
#pragma once
#pragma GCC system_header

#include <algorithm>
#include <numeric>

#include "thrust_iterators.h"

namespace thrust {

struct device_execution_policy {
  device_execution_policy on(cudaStream_t) const { return *this; }
};
struct host_execution_policy {};
static constexpr device_execution_policy device{};
static constexpr host_execution_policy host{};
namespace cuda {
static constexpr device_execution_policy par{}, par_nosync{};
}
typedef device_execution_policy device_system_tag;
typedef host_execution_policy host_system_tag;

namespace detail {

template <typename... T>
using policy_for =
    std::conditional_t<runs_on_device<T...>, device_execution_policy, host_execution_policy>;
template <typename T>
constexpr bool is_policy = std::is_same<std::decay_t<T>, device_execution_policy>::value ||
                           std::is_same<std::decay_t<T>, host_execution_policy>::value;

template <typename It>
using value_of = std::decay_t<typename std::iterator_traits<It>::value_type>;
template <typename It>
std::size_t length(It first, It last) {
  return static_cast<std::size_t>(last - first);
}
template <typename T>
T fetch(const T* from) {
  T value;
  check(cudaMemcpy(static_cast<void*>(&value), from, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

/// A tuple of references cannot be assigned in a kernel of C++17: each of its members is.
template <typename It, typename V>
__SIMGPU_THRUST void put(const It& it, std::ptrdiff_t i, const V& value) {
  it[i] = value;
}
template <std::size_t... I, typename Refs, typename V>
__SIMGPU_THRUST void put_each(std::index_sequence<I...>, const Refs& refs, const V& value) {
  ((std::get<I>(refs) = std::get<I>(value)), ...);
}
template <typename... It, typename V>
__SIMGPU_THRUST void put(const zip_iterator<tuple<It...>>& it, std::ptrdiff_t i, const V& value) {
  put_each(std::index_sequence_for<It...>(), it[i], value);
}

// ---- element by element

#define __SIMGPU_HOST const host_execution_policy&
#define __SIMGPU_DEV const device_execution_policy&

template <typename It, typename F>
void at_each(__SIMGPU_DEV, It first, std::size_t n, F f) {
  const auto p = reach(first);
  each(n, [=] __device__(std::size_t i) mutable { f(p[static_cast<std::ptrdiff_t>(i)]); });
}
template <typename It, typename F>
void at_each(__SIMGPU_HOST, It first, std::size_t n, F f) {
  for (std::size_t i = 0; i < n; ++i, ++first) f(*first);
}
template <typename A, typename Out, typename F>
void map1(__SIMGPU_DEV, A a, std::size_t n, Out out, F f) {
  const auto pa = reach(a);
  const auto po = reach(out);
  each(n, [=] __device__(std::size_t i) mutable {
    put(po, static_cast<std::ptrdiff_t>(i), f(pa[static_cast<std::ptrdiff_t>(i)]));
  });
}
template <typename A, typename Out, typename F>
void map1(__SIMGPU_HOST, A a, std::size_t n, Out out, F f) {
  for (std::size_t i = 0; i < n; ++i, ++a, ++out) *out = f(*a);
}
template <typename A, typename B, typename Out, typename F>
void map2(__SIMGPU_DEV, A a, std::size_t n, B b, Out out, F f) {
  const auto pa = reach(a);
  const auto pb = reach(b);
  const auto po = reach(out);
  each(n, [=] __device__(std::size_t k) mutable {
    const auto i = static_cast<std::ptrdiff_t>(k);
    put(po, i, f(pa[i], pb[i]));
  });
}
template <typename A, typename B, typename Out, typename F>
void map2(__SIMGPU_HOST, A a, std::size_t n, B b, Out out, F f) {
  for (std::size_t i = 0; i < n; ++i, ++a, ++b, ++out) *out = f(*a, *b);
}

// ---- in order: 256 threads have a part each, then one thread has what came of them

constexpr std::size_t kParts = 256;

/// op(op(init, f(0)), f(1)) ..., if `op` is associative.
template <typename T, typename F, typename Op>
T fold(__SIMGPU_DEV, std::size_t n, T init, F f, Op op) {
  if (n == 0) return init;
  const std::size_t parts = n < kParts ? n : kParts;
  buffer<T> sums(parts + 1);
  T* const p = sums.p;
  each(parts, [=] __device__(std::size_t part) mutable {
    const std::size_t begin = part * n / parts, end = (part + 1) * n / parts;
    T sum = static_cast<T>(f(begin));
    for (std::size_t i = begin + 1; i < end; ++i) sum = static_cast<T>(op(sum, f(i)));
    p[part] = sum;
  });
  each(1, [=] __device__(std::size_t) mutable {
    T sum = init;
    for (std::size_t i = 0; i < parts; ++i) sum = static_cast<T>(op(sum, p[i]));
    p[parts] = sum;
  });
  return fetch(p + parts);
}
template <typename It, typename T, typename F, typename Op>
T transform_reduce(__SIMGPU_DEV policy, It first, It last, F f, T init, Op op) {
  const auto p = reach(first);
  return fold(
      policy, length(first, last), init,
      [=] __device__(std::size_t i) mutable { return f(p[static_cast<std::ptrdiff_t>(i)]); }, op);
}
template <typename It, typename T, typename F, typename Op>
T transform_reduce(__SIMGPU_HOST, It first, It last, F f, T init, Op op) {
  for (; first != last; ++first) init = op(init, f(*first));
  return init;
}
template <typename A, typename B, typename T, typename Add, typename Mul>
T inner_product(__SIMGPU_DEV policy, A a, A last, B b, T init, Add add, Mul mul) {
  const auto pa = reach(a);
  const auto pb = reach(b);
  return fold(
      policy, length(a, last), init,
      [=] __device__(std::size_t k) mutable {
        const auto i = static_cast<std::ptrdiff_t>(k);
        return mul(pa[i], pb[i]);
      },
      add);
}
template <typename A, typename B, typename T, typename Add, typename Mul>
T inner_product(__SIMGPU_HOST, A a, A last, B b, T init, Add add, Mul mul) {
  return std::inner_product(a, last, b, init, add, mul);
}

/// `has_init`: exclusive, from `init` on. Input and output may be the same.
template <typename It, typename Out, typename T, typename Op>
Out scan(__SIMGPU_DEV, It first, It last, Out out, bool exclusive, T init, Op op) {
  const std::size_t n = length(first, last), parts = n < kParts ? n : kParts;
  if (n == 0) return out;
  const auto from = reach(first);
  const auto to = reach(out);
  buffer<T> sums(parts);
  T* const p = sums.p;
  each(parts, [=] __device__(std::size_t part) mutable {
    const std::size_t begin = part * n / parts, end = (part + 1) * n / parts;
    T sum = static_cast<T>(from[static_cast<std::ptrdiff_t>(begin)]);
    for (std::size_t i = begin + 1; i < end; ++i)
      sum = static_cast<T>(op(sum, static_cast<T>(from[static_cast<std::ptrdiff_t>(i)])));
    p[part] = sum;
  });
  each(1, [=] __device__(std::size_t) mutable {
    T sum = init;
    for (std::size_t i = 0; i < parts; ++i) {
      const T here = p[i];
      p[i] = sum;
      sum = i == 0 && !exclusive ? here : static_cast<T>(op(sum, here));
    }
  });
  each(parts, [=] __device__(std::size_t part) mutable {
    const std::size_t begin = part * n / parts, end = (part + 1) * n / parts;
    T sum = p[part];
    for (std::size_t k = begin; k < end; ++k) {
      const auto i = static_cast<std::ptrdiff_t>(k);
      const T value = static_cast<T>(from[i]);
      const T next = k == 0 && !exclusive ? value : static_cast<T>(op(sum, value));
      to[i] = exclusive ? sum : next;
      sum = next;
    }
  });
  return out + static_cast<std::ptrdiff_t>(n);
}
template <typename It, typename Out, typename T, typename Op>
Out scan(__SIMGPU_HOST, It first, It last, Out out, bool exclusive, T init, Op op) {
  bool any = exclusive;
  T sum = init;
  for (; first != last; ++first, ++out) {
    const T value = static_cast<T>(*first), next = any ? static_cast<T>(op(sum, value)) : value;
    *out = exclusive ? sum : next;
    sum = next;
    any = true;
  }
  return out;
}

/// The first place whose element no other precedes by `before`.
template <typename It, typename Before>
It extreme(__SIMGPU_DEV, It first, It last, Before before) {
  const std::size_t n = length(first, last);
  if (n == 0) return last;
  const auto p = reach(first);
  buffer<std::size_t> best(1);
  std::size_t* const at = best.p;
  each(1, [=] __device__(std::size_t) mutable {
    std::size_t b = 0;
    for (std::size_t i = 1; i < n; ++i)
      if (before(p[static_cast<std::ptrdiff_t>(i)], p[static_cast<std::ptrdiff_t>(b)])) b = i;
    *at = b;
  });
  return first + static_cast<std::ptrdiff_t>(fetch(at));
}
template <typename It, typename Before>
It extreme(__SIMGPU_HOST, It first, It last, Before before) {
  return std::min_element(first, last, before);
}

/// The elements for which `keep` holds, in order; returns the end of what was written.
template <typename It, typename Out, typename F>
Out copy_if(__SIMGPU_DEV, It first, It last, Out out, F keep) {
  const std::size_t n = length(first, last);
  const auto from = reach(first);
  const auto to = reach(out);
  buffer<std::ptrdiff_t> kept(1);
  std::ptrdiff_t* const count = kept.p;
  each(1, [=] __device__(std::size_t) mutable {
    std::ptrdiff_t k = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const value_of<It> value = from[static_cast<std::ptrdiff_t>(i)];
      if (keep(value)) put(to, k++, value);
    }
    *count = k;
  });
  return out + fetch(count);
}
template <typename It, typename Out, typename F>
Out copy_if(__SIMGPU_HOST, It first, It last, Out out, F keep) {
  return std::copy_if(first, last, out, keep);
}

// ---- copies: from and to wherever it is

template <typename It, typename Out>
Out copy_n(It first, std::size_t n, Out out) {
  constexpr bool from_device = is_on_device<It>::value, to_device = is_on_device<Out>::value;
  if constexpr (to_device && (from_device || is_nowhere<It>::value)) {
    map1(device, first, n, out, identity<>());
    return out + static_cast<std::ptrdiff_t>(n);
  } else if constexpr (from_device) {
    std::vector<value_of<It>> values(n);
    if constexpr (std::is_pointer<decltype(reach(first))>::value) {
      if (n)
        check(cudaMemcpy(static_cast<void*>(values.data()), reach(first), n * sizeof values[0],
                         cudaMemcpyDeviceToHost));
    } else if (n) {
      buffer<value_of<It>> computed(n);
      map1(device, first, n, device_ptr<value_of<It>>(computed.p), identity<>());
      check(cudaMemcpy(static_cast<void*>(values.data()), computed.p, n * sizeof values[0],
                       cudaMemcpyDeviceToHost));
    }
    return std::copy(values.begin(), values.end(), out);
  } else if constexpr (to_device) {
    std::vector<value_of<Out>> values;
    for (std::size_t i = 0; i < n; ++i, ++first) values.push_back(*first);
    if (n)
      check(cudaMemcpy(static_cast<void*>(reach(out)), values.data(), n * sizeof values[0],
                       cudaMemcpyHostToDevice));
    return out + static_cast<std::ptrdiff_t>(n);
  } else {
    for (std::size_t i = 0; i < n; ++i, ++first, ++out) *out = *first;
    return out;
  }
}

// ---- the same with what may be left out

struct f_fill {
  template <typename P, typename It, typename T>
  void operator()(P p, It first, It last, const T& value) const {
    const value_of<It> v = static_cast<value_of<It>>(value);
    map1(p, constant_iterator<value_of<It>>(v), length(first, last), first, identity<>());
  }
};
struct f_sequence {
  template <typename P, typename It, typename T = value_of<It>>
  void operator()(P p, It first, It last, T init = T(0), T step = T(1)) const {
    map1(p, counting_iterator<long long>(0), length(first, last), first,
         [init, step] __host__ __device__(long long i) {
           return static_cast<value_of<It>>(init + step * static_cast<T>(i));
         });
  }
};
struct f_tabulate {
  template <typename P, typename It, typename F>
  void operator()(P p, It first, It last, F f) const {
    map1(p, counting_iterator<long long>(0), length(first, last), first, f);
  }
};
struct f_generate {
  template <typename P, typename It, typename F>
  void operator()(P p, It first, It last, F f) const {
    at_each(p, first, length(first, last),
            [f] __host__ __device__(value_of<It> & e) mutable { e = f(); });
  }
  template <typename It, typename F>
  void operator()(host_execution_policy, It first, It last, F f) const {
    std::generate(first, last, f);
  }
};
struct f_for_each {
  template <typename P, typename It, typename F>
  It operator()(P p, It first, It last, F f) const {
    at_each(p, first, length(first, last), f);
    return last;
  }
};
struct f_for_each_n {
  template <typename P, typename It, typename F>
  It operator()(P p, It first, std::size_t n, F f) const {
    at_each(p, first, n, f);
    return first + static_cast<std::ptrdiff_t>(n);
  }
};
struct f_transform {
  template <typename P, typename A, typename Out, typename F>
  Out operator()(P p, A first, A last, Out out, F f) const {
    map1(p, first, length(first, last), out, f);
    return out + (last - first);
  }
  template <typename P, typename A, typename B, typename Out, typename F>
  Out operator()(P p, A first, A last, B b, Out out, F f) const {
    map2(p, first, length(first, last), b, out, f);
    return out + (last - first);
  }
};
struct f_replace {
  template <typename P, typename It, typename T>
  void operator()(P p, It first, It last, const T& old, const T& now) const {
    map1(p, first, length(first, last), first,
         [old, now] __host__ __device__(value_of<It> v) { return v == old ? now : v; });
  }
};
struct f_transform_reduce {
  template <typename... A>
  auto operator()(A... a) const {
    return detail::transform_reduce(a...);
  }
};
struct f_reduce {
  template <typename P, typename It, typename T = value_of<It>, typename Op = plus<>>
  T operator()(P p, It first, It last, T init = T(), Op op = Op()) const {
    return detail::transform_reduce(p, first, last, identity<>(), init, op);
  }
};
struct f_count_if {
  template <typename P, typename It, typename F>
  std::ptrdiff_t operator()(P p, It first, It last, F f) const {
    return detail::transform_reduce(
        p, first, last,
        [f] __host__ __device__(const value_of<It>& v) mutable {
          return std::ptrdiff_t(f(v) ? 1 : 0);
        },
        std::ptrdiff_t(0), plus<>());
  }
};
struct f_count {
  template <typename P, typename It, typename T>
  std::ptrdiff_t operator()(P p, It first, It last, const T& value) const {
    return detail::transform_reduce(
        p, first, last,
        [value] __host__ __device__(const value_of<It>& v) {
          return std::ptrdiff_t(v == value ? 1 : 0);
        },
        std::ptrdiff_t(0), plus<>());
  }
};
struct f_inner_product {
  template <typename P, typename A, typename B, typename T, typename Add = plus<>,
            typename Mul = multiplies<>>
  T operator()(P p, A a, A last, B b, T init, Add add = Add(), Mul mul = Mul()) const {
    return detail::inner_product(p, a, last, b, init, add, mul);
  }
};
struct f_inclusive_scan {
  template <typename P, typename It, typename Out, typename Op = plus<>>
  Out operator()(P p, It first, It last, Out out, Op op = Op()) const {
    return scan(p, first, last, out, false, value_of<It>(), op);
  }
};
struct f_exclusive_scan {
  template <typename P, typename It, typename Out, typename T = value_of<It>, typename Op = plus<>>
  Out operator()(P p, It first, It last, Out out, T init = T(), Op op = Op()) const {
    return scan(p, first, last, out, true, init, op);
  }
};
struct f_min_element {
  template <typename P, typename It, typename Before = less<>>
  It operator()(P p, It first, It last, Before before = Before()) const {
    return extreme(p, first, last, before);
  }
};
struct f_max_element {
  template <typename P, typename It, typename Before = less<>>
  It operator()(P p, It first, It last, Before before = Before()) const {
    return extreme(
        p, first, last,
        [before] __host__ __device__(const value_of<It>& a, const value_of<It>& b) mutable {
          return before(b, a);
        });
  }
};
// ---- what is computed the same way on both sides

template <typename It>
auto reach_for(device_execution_policy, const It& it) {
  return reach(it);
}
template <typename It>
It reach_for(host_execution_policy, const It& it) {
  return it;
}
/// f(0) to f(n - 1), in any order.
template <typename F>
void spread(device_execution_policy, std::size_t n, F f) {
  each(n, [=] __device__(std::size_t i) mutable { f(static_cast<std::ptrdiff_t>(i)); });
}
template <typename F>
void spread(host_execution_policy, std::size_t n, F f) {
  for (std::size_t i = 0; i < n; ++i) f(static_cast<std::ptrdiff_t>(i));
}
/// f(), by one thread.
template <typename F>
std::ptrdiff_t alone(device_execution_policy, F f) {
  buffer<std::ptrdiff_t> result(1);
  std::ptrdiff_t* const at = result.p;
  each(1, [=] __device__(std::size_t) mutable { *at = f(); });
  return fetch(at);
}
template <typename F>
std::ptrdiff_t alone(host_execution_policy, F f) {
  return f();
}

#define __SIMGPU_EITHER __attribute__((host, device))

/// The elements whose place in `stencil` says `wanted`, in order.
template <typename P, typename It, typename S, typename Out, typename F>
Out kept(P p, It first, std::size_t n, S stencil, Out out, F f, bool wanted) {
  const auto from = reach_for(p, first);
  const auto asked = reach_for(p, stencil);
  const auto to = reach_for(p, out);
  return out + alone(p, [=] __SIMGPU_EITHER() mutable {
           std::ptrdiff_t k = 0;
           for (std::size_t j = 0; j < n; ++j) {
             const auto i = static_cast<std::ptrdiff_t>(j);
             if (static_cast<bool>(f(asked[i])) != wanted) continue;
             const value_of<It> value = from[i];
             put(to, k++, value);
           }
           return k;
         });
}
struct f_copy_if {
  template <typename P, typename It, typename Out, typename F>
  Out operator()(P p, It first, It last, Out out, F keep) const {
    return detail::copy_if(p, first, last, out, keep);
  }
  template <typename P, typename It, typename S, typename Out, typename F>
  Out operator()(P p, It first, It last, S stencil, Out out, F keep) const {
    return kept(p, first, length(first, last), stencil, out, keep, true);
  }
};
}  // namespace detail

template <typename It, typename Out>
Out copy(It first, It last, Out out) {
  return detail::copy_n(first, detail::length(first, last), out);
}
template <typename P, typename It, typename Out, typename = std::enable_if_t<detail::is_policy<P>>>
Out copy(const P&, It first, It last, Out out) {
  if constexpr (std::is_pointer<It>::value && std::is_pointer<Out>::value &&
                std::is_same<P, device_execution_policy>::value)
    return detail::copy_n(device_pointer_cast(first), detail::length(first, last),
                          device_pointer_cast(out))
        .get();
  else
    return detail::copy_n(first, detail::length(first, last), out);
}
template <typename It, typename N, typename Out>
Out copy_n(It first, N n, Out out) {
  return detail::copy_n(first, static_cast<std::size_t>(n), out);
}

// With a policy, or with the one that the arguments' places say. By value: arrays and functions become pointers.
#define __SIMGPU_ALGORITHM(Name, Function)                                             \
  template <typename First, typename... Rest>                                          \
  decltype(auto) Name(First first, Rest... rest) {                                     \
    if constexpr (detail::is_policy<First>)                                            \
      return detail::Function()(first, rest...);                                       \
    else                                                                               \
      return detail::Function()(detail::policy_for<First, Rest...>(), first, rest...); \
  }
__SIMGPU_ALGORITHM(fill, f_fill)
__SIMGPU_ALGORITHM(sequence, f_sequence)
__SIMGPU_ALGORITHM(tabulate, f_tabulate)
__SIMGPU_ALGORITHM(generate, f_generate)
__SIMGPU_ALGORITHM(for_each, f_for_each)
__SIMGPU_ALGORITHM(for_each_n, f_for_each_n)
__SIMGPU_ALGORITHM(transform, f_transform)
__SIMGPU_ALGORITHM(replace, f_replace)
__SIMGPU_ALGORITHM(reduce, f_reduce)
__SIMGPU_ALGORITHM(transform_reduce, f_transform_reduce)
__SIMGPU_ALGORITHM(count, f_count)
__SIMGPU_ALGORITHM(count_if, f_count_if)
__SIMGPU_ALGORITHM(inner_product, f_inner_product)
__SIMGPU_ALGORITHM(inclusive_scan, f_inclusive_scan)
__SIMGPU_ALGORITHM(exclusive_scan, f_exclusive_scan)
__SIMGPU_ALGORITHM(min_element, f_min_element)
__SIMGPU_ALGORITHM(max_element, f_max_element)
__SIMGPU_ALGORITHM(copy_if, f_copy_if)

}  // namespace thrust
