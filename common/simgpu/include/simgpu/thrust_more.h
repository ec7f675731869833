// More of Thrust's algorithms: see thrust_algorithms.h. Most of what depends on the order of elements is done by one thread.
#pragma once
#pragma GCC system_header

#include "thrust_sort.h"

namespace thrust {
namespace detail {

/// Element `i`, for the host.
template <typename It>
value_of<It> fetch_at(It it, std::ptrdiff_t i) {
  const auto from = reach(it);
  buffer<value_of<It>> one(1);
  value_of<It>* const at = one.p;
  each(1, [=] __device__(std::size_t) { *at = from[i]; });
  return fetch(at);
}
struct f_remove_if {
  template <typename P, typename It, typename F>
  It operator()(P p, It first, It last, F f) const {
    return kept(p, first, length(first, last), first, first, f, false);
  }
  template <typename P, typename It, typename S, typename F>
  It operator()(P p, It first, It last, S stencil, F f) const {
    return kept(p, first, length(first, last), stencil, first, f, false);
  }
};
struct f_remove {
  template <typename P, typename It, typename T>
  It operator()(P p, It first, It last, const T& value) const {
    return kept(
        p, first, length(first, last), first, first,
        [value] __SIMGPU_EITHER(const value_of<It>& v) { return v == value; }, false);
  }
};
struct f_remove_copy_if {
  template <typename P, typename It, typename Out, typename F>
  Out operator()(P p, It first, It last, Out out, F f) const {
    return kept(p, first, length(first, last), first, out, f, false);
  }
};

struct f_gather {
  template <typename P, typename Map, typename In, typename Out>
  Out operator()(P p, Map first, Map last, In in, Out out) const {
    const auto map = reach_for(p, first);
    const auto from = reach_for(p, in);
    const auto to = reach_for(p, out);
    const std::size_t n = length(first, last);
    spread(p, n, [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
      put(to, i, from[static_cast<std::ptrdiff_t>(map[i])]);
    });
    return out + static_cast<std::ptrdiff_t>(n);
  }
};
struct f_scatter {
  template <typename P, typename In, typename Map, typename Out>
  void operator()(P p, In first, In last, Map at, Out out) const {
    const auto map = reach_for(p, at);
    const auto from = reach_for(p, first);
    const auto to = reach_for(p, out);
    spread(p, length(first, last), [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
      put(to, static_cast<std::ptrdiff_t>(map[i]), from[i]);
    });
  }
};
struct f_scatter_if {
  template <typename P, typename In, typename Map, typename S, typename Out,
            typename F = identity<>>
  void operator()(P p, In first, In last, Map at, S stencil, Out out, F f = F()) const {
    const auto map = reach_for(p, at);
    const auto from = reach_for(p, first);
    const auto asked = reach_for(p, stencil);
    const auto to = reach_for(p, out);
    spread(p, length(first, last), [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
      if (f(asked[i])) put(to, static_cast<std::ptrdiff_t>(map[i]), from[i]);
    });
  }
};
struct f_transform_if {
  template <typename P, typename A, typename Out, typename F, typename Ask>
  Out operator()(P p, A first, A last, Out out, F f, Ask ask) const {
    return (*this)(p, first, last, first, out, f, ask);
  }
  template <typename P, typename A, typename S, typename Out, typename F, typename Ask>
  Out operator()(P p, A first, A last, S stencil, Out out, F f, Ask ask) const {
    const auto from = reach_for(p, first);
    const auto asked = reach_for(p, stencil);
    const auto to = reach_for(p, out);
    spread(p, length(first, last), [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
      if (ask(asked[i])) put(to, i, f(from[i]));
    });
    return out + (last - first);
  }
};
struct f_replace_if {
  template <typename P, typename It, typename F, typename T>
  void operator()(P p, It first, It last, F f, const T& now) const {
    map1(p, first, length(first, last), first, [f, now] __SIMGPU_EITHER(value_of<It> v) mutable {
      return f(v) ? static_cast<value_of<It>>(now) : v;
    });
  }
};
struct f_adjacent_difference {
  template <typename P, typename It, typename Out, typename Op = minus<>>
  Out operator()(P p, It first, It last, Out out, Op op = Op()) const {
    const auto from = reach_for(p, first);
    const auto to = reach_for(p, out);
    const std::size_t n = length(first, last);
    alone(p, [=] __SIMGPU_EITHER() mutable -> std::ptrdiff_t {
      value_of<It> before{};
      for (std::size_t j = 0; j < n; ++j) {
        const value_of<It> value = from[static_cast<std::ptrdiff_t>(j)];
        put(to, static_cast<std::ptrdiff_t>(j), j == 0 ? value : op(value, before));
        before = value;
      }
      return 0;
    });
    return out + static_cast<std::ptrdiff_t>(n);
  }
};
struct f_reverse {
  template <typename P, typename It>
  void operator()(P p, It first, It last) const {
    const auto x = reach_for(p, first);
    const auto n = static_cast<std::ptrdiff_t>(length(first, last));
    spread(p, static_cast<std::size_t>(n / 2), [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
      const value_of<It> left = x[i], right = x[n - 1 - i];
      put(x, i, right);
      put(x, n - 1 - i, left);
    });
  }
};

/// Of each run of equal keys the first key, and `op` over its values.
struct f_reduce_by_key {
  template <typename P, typename K, typename V, typename KOut, typename VOut,
            typename Equal = equal_to<>, typename Op = plus<>>
  pair<KOut, VOut> operator()(P p, K first, K last, V values, KOut keys_out, VOut values_out,
                              Equal equal = Equal(), Op op = Op()) const {
    const auto keys = reach_for(p, first);
    const auto from = reach_for(p, values);
    const auto ko = reach_for(p, keys_out);
    const auto vo = reach_for(p, values_out);
    const std::size_t n = length(first, last);
    const std::ptrdiff_t runs = alone(p, [=] __SIMGPU_EITHER() mutable {
      std::ptrdiff_t run = 0;
      for (std::size_t j = 0; j < n;) {
        const value_of<K> key = keys[static_cast<std::ptrdiff_t>(j)];
        value_of<V> sum = from[static_cast<std::ptrdiff_t>(j)];
        while (++j < n && equal(key, keys[static_cast<std::ptrdiff_t>(j)]))
          sum = op(sum, from[static_cast<std::ptrdiff_t>(j)]);
        put(ko, run, key);
        put(vo, run++, sum);
      }
      return run;
    });
    return {keys_out + runs, values_out + runs};
  }
};
struct f_unique {
  template <typename P, typename It, typename Equal = equal_to<>>
  It operator()(P p, It first, It last, Equal equal = Equal()) const {
    return unique_copy(p, first, last, first, equal);
  }
  template <typename P, typename It, typename Out, typename Equal>
  static Out unique_copy(P p, It first, It last, Out out, Equal equal) {
    const auto from = reach_for(p, first);
    const auto to = reach_for(p, out);
    const std::size_t n = length(first, last);
    return out + alone(p, [=] __SIMGPU_EITHER() mutable {
             std::ptrdiff_t k = 0;
             for (std::size_t j = 0; j < n;) {
               const value_of<It> value = from[static_cast<std::ptrdiff_t>(j)];
               while (++j < n && equal(value, from[static_cast<std::ptrdiff_t>(j)])) {
               }
               put(to, k++, value);
             }
             return k;
           });
  }
};
struct f_unique_copy {
  template <typename P, typename It, typename Out, typename Equal = equal_to<>>
  Out operator()(P p, It first, It last, Out out, Equal equal = Equal()) const {
    return f_unique::unique_copy(p, first, last, out, equal);
  }
};
/// Scans that begin anew where the key changes.
template <bool Exclusive, typename P, typename K, typename V, typename Out, typename T,
          typename Equal, typename Op>
Out scan_by_key(P p, K first, K last, V values, Out out, T init, Equal equal, Op op) {
  const auto keys = reach_for(p, first);
  const auto from = reach_for(p, values);
  const auto to = reach_for(p, out);
  const std::size_t n = length(first, last);
  alone(p, [=] __SIMGPU_EITHER() mutable -> std::ptrdiff_t {
    T sum = init;
    for (std::size_t j = 0; j < n; ++j) {
      const auto i = static_cast<std::ptrdiff_t>(j);
      const bool begins = j == 0 || !equal(keys[i - 1], keys[i]);
      const T value = from[i];
      if (Exclusive) {
        if (begins) sum = init;
        put(to, i, sum);
        sum = op(sum, value);
      } else {
        sum = begins ? value : static_cast<T>(op(sum, value));
        put(to, i, sum);
      }
    }
    return 0;
  });
  return out + static_cast<std::ptrdiff_t>(n);
}
struct f_inclusive_scan_by_key {
  template <typename P, typename K, typename V, typename Out, typename Equal = equal_to<>,
            typename Op = plus<>>
  Out operator()(P p, K first, K last, V values, Out out, Equal equal = Equal(),
                 Op op = Op()) const {
    return scan_by_key<false>(p, first, last, values, out, value_of<V>(), equal, op);
  }
};
struct f_exclusive_scan_by_key {
  template <typename P, typename K, typename V, typename Out, typename T = value_of<V>,
            typename Equal = equal_to<>, typename Op = plus<>>
  Out operator()(P p, K first, K last, V values, Out out, T init = T(), Equal equal = Equal(),
                 Op op = Op()) const {
    return scan_by_key<true>(p, first, last, values, out, init, equal, op);
  }
};

/// The first place of [0, n) before which every element comes before `value` (or is not after it).
template <typename It, typename T, typename Before>
__SIMGPU_EITHER std::ptrdiff_t bound(const It& x, std::ptrdiff_t n, const T& value, Before before,
                                     bool upper) {
  std::ptrdiff_t low = 0, high = n;
  while (low < high) {
    const std::ptrdiff_t at = (low + high) / 2;
    if (upper ? !before(value, x[at]) : before(x[at], value))
      low = at + 1;
    else
      high = at;
  }
  return low;
}
template <bool Upper>
struct f_bound {
  template <typename P, typename It, typename T>
  It operator()(P p, It first, It last, const T& value) const {
    const auto x = reach_for(p, first);
    const auto n = static_cast<std::ptrdiff_t>(length(first, last));
    const value_of<It> v = static_cast<value_of<It>>(value);
    return first +
           alone(p, [=] __SIMGPU_EITHER() mutable { return bound(x, n, v, less<>(), Upper); });
  }
  template <typename P, typename It, typename V, typename Out, typename Before = less<>>
  Out operator()(P p, It first, It last, V values, V values_last, Out out,
                 Before before = Before()) const {
    const auto x = reach_for(p, first);
    const auto v = reach_for(p, values);
    const auto to = reach_for(p, out);
    const auto n = static_cast<std::ptrdiff_t>(length(first, last));
    spread(p, length(values, values_last), [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
      const value_of<V> one = v[i];
      put(to, i, bound(x, n, one, before, Upper));
    });
    return out + (values_last - values);
  }
};
typedef f_bound<false> f_lower_bound;
typedef f_bound<true> f_upper_bound;
struct f_binary_search {
  template <typename P, typename It, typename T>
  bool operator()(P p, It first, It last, const T& value) const {
    const auto x = reach_for(p, first);
    const auto n = static_cast<std::ptrdiff_t>(length(first, last));
    const value_of<It> v = static_cast<value_of<It>>(value);
    return alone(p, [=] __SIMGPU_EITHER() mutable {
             const std::ptrdiff_t at = bound(x, n, v, less<>(), false);
             return static_cast<std::ptrdiff_t>(at < n && !(v < x[at]));
           }) != 0;
  }
};
/// The first place for which f holds; n if none.
template <typename P, typename F>
std::ptrdiff_t first_place(P p, std::size_t n, F f) {
  return alone(p, [=] __SIMGPU_EITHER() mutable {
    std::ptrdiff_t i = 0;
    while (i < static_cast<std::ptrdiff_t>(n) && !f(i)) ++i;
    return i;
  });
}
struct f_find_if {
  template <typename P, typename It, typename F>
  It operator()(P p, It first, It last, F f) const {
    const auto x = reach_for(p, first);
    return first +
           first_place(p, length(first, last), [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
             return static_cast<bool>(f(x[i]));
           });
  }
};
struct f_find {
  template <typename P, typename It, typename T>
  It operator()(P p, It first, It last, const T& value) const {
    return f_find_if()(p, first, last,
                       [value] __SIMGPU_EITHER(const value_of<It>& v) { return v == value; });
  }
};
struct f_any_of {
  template <typename P, typename It, typename F>
  bool operator()(P p, It first, It last, F f) const {
    return f_find_if()(p, first, last, f) != last;
  }
};
struct f_none_of {
  template <typename P, typename It, typename F>
  bool operator()(P p, It first, It last, F f) const {
    return f_find_if()(p, first, last, f) == last;
  }
};
struct f_all_of {
  template <typename P, typename It, typename F>
  bool operator()(P p, It first, It last, F f) const {
    return f_find_if()(p, first, last, [f] __SIMGPU_EITHER(const value_of<It>& v) mutable {
             return !f(v);
           }) == last;
  }
};
struct f_is_sorted {
  template <typename P, typename It, typename Before = less<>>
  bool operator()(P p, It first, It last, Before before = Before()) const {
    const std::size_t n = length(first, last);
    if (n < 2) return true;
    const auto x = reach_for(p, first);
    return first_place(p, n - 1, [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
             return static_cast<bool>(before(x[i + 1], x[i]));
           }) == static_cast<std::ptrdiff_t>(n - 1);
  }
};
struct f_equal {
  template <typename P, typename A, typename B, typename Equal = equal_to<>>
  bool operator()(P p, A first, A last, B other, Equal equal = Equal()) const {
    const auto a = reach_for(p, first);
    const auto b = reach_for(p, other);
    const std::size_t n = length(first, last);
    return first_place(p, n, [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
             return !equal(a[i], b[i]);
           }) == static_cast<std::ptrdiff_t>(n);
  }
};
struct f_merge {
  template <typename P, typename A, typename B, typename Out, typename Before = less<>>
  Out operator()(P p, A a_first, A a_last, B b_first, B b_last, Out out,
                 Before before = Before()) const {
    const auto a = reach_for(p, a_first);
    const auto b = reach_for(p, b_first);
    const auto to = reach_for(p, out);
    const auto na = static_cast<std::ptrdiff_t>(length(a_first, a_last));
    const auto nb = static_cast<std::ptrdiff_t>(length(b_first, b_last));
    return out + alone(p, [=] __SIMGPU_EITHER() mutable {
             std::ptrdiff_t i = 0, j = 0;
             while (i < na || j < nb)
               if (j == nb || (i < na && !before(b[j], a[i])))
                 put(to, i + j, a[i]), ++i;
               else
                 put(to, i + j, b[j]), ++j;
             return na + nb;
           });
  }
};
struct f_transform_inclusive_scan {
  template <typename P, typename It, typename Out, typename F, typename Op>
  Out operator()(P p, It first, It last, Out out, F f, Op op) const {
    return f_inclusive_scan()(p, make_transform_iterator(first, f),
                              make_transform_iterator(last, f), out, op);
  }
};
struct f_transform_exclusive_scan {
  template <typename P, typename It, typename Out, typename F, typename T, typename Op>
  Out operator()(P p, It first, It last, Out out, F f, T init, Op op) const {
    return f_exclusive_scan()(p, make_transform_iterator(first, f),
                              make_transform_iterator(last, f), out, init, op);
  }
};
struct f_minmax_element {
  template <typename P, typename It, typename Before = less<>>
  pair<It, It> operator()(P p, It first, It last, Before before = Before()) const {
    return {f_min_element()(p, first, last, before), f_max_element()(p, first, last, before)};
  }
};

#undef __SIMGPU_EITHER

}  // namespace detail

__SIMGPU_ALGORITHM(gather, f_gather)
__SIMGPU_ALGORITHM(scatter, f_scatter)
__SIMGPU_ALGORITHM(scatter_if, f_scatter_if)
__SIMGPU_ALGORITHM(remove, f_remove)
__SIMGPU_ALGORITHM(remove_if, f_remove_if)
__SIMGPU_ALGORITHM(remove_copy_if, f_remove_copy_if)
__SIMGPU_ALGORITHM(transform_if, f_transform_if)
__SIMGPU_ALGORITHM(replace_if, f_replace_if)
__SIMGPU_ALGORITHM(adjacent_difference, f_adjacent_difference)
__SIMGPU_ALGORITHM(reverse, f_reverse)
__SIMGPU_ALGORITHM(reduce_by_key, f_reduce_by_key)
__SIMGPU_ALGORITHM(unique, f_unique)
__SIMGPU_ALGORITHM(unique_copy, f_unique_copy)
__SIMGPU_ALGORITHM(inclusive_scan_by_key, f_inclusive_scan_by_key)
__SIMGPU_ALGORITHM(exclusive_scan_by_key, f_exclusive_scan_by_key)
__SIMGPU_ALGORITHM(lower_bound, f_lower_bound)
__SIMGPU_ALGORITHM(upper_bound, f_upper_bound)
__SIMGPU_ALGORITHM(binary_search, f_binary_search)
__SIMGPU_ALGORITHM(find, f_find)
__SIMGPU_ALGORITHM(find_if, f_find_if)
__SIMGPU_ALGORITHM(any_of, f_any_of)
__SIMGPU_ALGORITHM(all_of, f_all_of)
__SIMGPU_ALGORITHM(none_of, f_none_of)
__SIMGPU_ALGORITHM(is_sorted, f_is_sorted)
__SIMGPU_ALGORITHM(equal, f_equal)
__SIMGPU_ALGORITHM(merge, f_merge)
__SIMGPU_ALGORITHM(transform_inclusive_scan, f_transform_inclusive_scan)
__SIMGPU_ALGORITHM(transform_exclusive_scan, f_transform_exclusive_scan)
__SIMGPU_ALGORITHM(minmax_element, f_minmax_element)

}  // namespace thrust
