// Thrust's merges by key, operations on sorted sets, partitions, and iterators that transform what is written: see
// thrust_algorithms.h. One thread does what depends on the order of elements.
#pragma once
#pragma GCC system_header

#include "thrust_more.h"

namespace thrust {

// ---- iterators that are written through a function

/// Stands for an element: what is assigned to it goes through `out`, what is read through `in`.
template <typename In, typename Out, typename It>
struct transformed_element {
  It it;
  std::ptrdiff_t i;
  In in;
  Out out;
  template <typename T>
  __SIMGPU_THRUST const transformed_element& operator=(const T& value) const {
    it[i] = out(value);
    return *this;
  }
  template <typename T>
  __SIMGPU_THRUST operator T() const {
    return in(it[i]);
  }
};
template <typename In, typename Out, typename It>
class transform_input_output_iterator
    : public detail::indexed_iterator<transform_input_output_iterator<In, Out, It>,
                                      detail::transformed<In, It>,
                                      transformed_element<In, Out, It>> {
 public:
  using detail::indexed_iterator<transform_input_output_iterator<In, Out, It>,
                                 detail::transformed<In, It>,
                                 transformed_element<In, Out, It>>::operator-;
  __SIMGPU_THRUST transform_input_output_iterator(It it, In in, Out out)
      : it_(it), in_(in), out_(out) {}
  __SIMGPU_THRUST transformed_element<In, Out, It> at(std::ptrdiff_t i) const {
    return {it_, i, in_, out_};
  }
  __SIMGPU_THRUST transform_input_output_iterator moved(std::ptrdiff_t n) const {
    return {it_ + n, in_, out_};
  }
  __SIMGPU_THRUST std::ptrdiff_t operator-(const transform_input_output_iterator& o) const {
    return it_ - o.it_;
  }
  __SIMGPU_THRUST const It& base() const { return it_; }
  __SIMGPU_THRUST const In& input_function() const { return in_; }
  __SIMGPU_THRUST const Out& output_function() const { return out_; }

 private:
  It it_;
  detail::held<In> in_;
  detail::held<Out> out_;
};
template <typename In, typename Out, typename It>
__SIMGPU_THRUST inline transform_input_output_iterator<In, Out, It>
make_transform_input_output_iterator(It it, In in, Out out) {
  return {it, in, out};
}
template <typename Out, typename It>
class transform_output_iterator : public transform_input_output_iterator<identity<>, Out, It> {
 public:
  __SIMGPU_THRUST transform_output_iterator(It it, Out out)
      : transform_input_output_iterator<identity<>, Out, It>(it, identity<>(), out) {}
  __SIMGPU_THRUST transform_output_iterator operator+(std::ptrdiff_t n) const {
    return {this->base() + n, this->output_function()};
  }
};
template <typename Out, typename It>
__SIMGPU_THRUST inline transform_output_iterator<Out, It> make_transform_output_iterator(It it,
                                                                                         Out out) {
  return {it, out};
}

namespace detail {

template <typename In, typename Out, typename It>
struct is_on_device<transform_input_output_iterator<In, Out, It>> : is_on_device<It> {};
template <typename Out, typename It>
struct is_on_device<transform_output_iterator<Out, It>> : is_on_device<It> {};
template <typename In, typename Out, typename It>
auto reach(const transform_input_output_iterator<In, Out, It>& it) {
  return transform_input_output_iterator<In, Out, decltype(reach(it.base()))>(
      reach(it.base()), it.input_function(), it.output_function());
}
template <typename Out, typename It>
auto reach(const transform_output_iterator<Out, It>& it) {
  return transform_output_iterator<Out, decltype(reach(it.base()))>(reach(it.base()),
                                                                    it.output_function());
}

#define __SIMGPU_EITHER __attribute__((host, device))

struct f_merge_by_key {
  template <typename P, typename A, typename B, typename VA, typename VB, typename KOut,
            typename VOut, typename Before = less<>>
  pair<KOut, VOut> operator()(P p, A a_first, A a_last, B b_first, B b_last, VA a_values,
                              VB b_values, KOut keys_out, VOut values_out,
                              Before before = Before()) const {
    const auto a = reach_for(p, a_first);
    const auto b = reach_for(p, b_first);
    const auto va = reach_for(p, a_values);
    const auto vb = reach_for(p, b_values);
    const auto ko = reach_for(p, keys_out);
    const auto vo = reach_for(p, values_out);
    const auto na = static_cast<std::ptrdiff_t>(length(a_first, a_last));
    const auto nb = static_cast<std::ptrdiff_t>(length(b_first, b_last));
    const std::ptrdiff_t n = alone(p, [=] __SIMGPU_EITHER() mutable {
      std::ptrdiff_t i = 0, j = 0;
      while (i < na || j < nb)
        if (j == nb || (i < na && !before(b[j], a[i])))
          put(ko, i + j, a[i]), put(vo, i + j, va[i]), ++i;
        else
          put(ko, i + j, b[j]), put(vo, i + j, vb[j]), ++j;
      return na + nb;
    });
    return {keys_out + n, values_out + n};
  }
};

/// Which elements of two sorted ranges stay: those of the first alone, those of the second alone, those of both (from
/// the first).
template <bool OfFirst, bool OfSecond, bool OfBoth>
struct f_set_operation {
  template <typename P, typename A, typename B, typename Out, typename Before = less<>>
  Out operator()(P p, A a_first, A a_last, B b_first, B b_last, Out out,
                 Before before = Before()) const {
    const auto a = reach_for(p, a_first);
    const auto b = reach_for(p, b_first);
    const auto to = reach_for(p, out);
    const auto na = static_cast<std::ptrdiff_t>(length(a_first, a_last));
    const auto nb = static_cast<std::ptrdiff_t>(length(b_first, b_last));
    return out + alone(p, [=] __SIMGPU_EITHER() mutable {
             std::ptrdiff_t i = 0, j = 0, k = 0;
             while (i < na || j < nb) {
               const bool first = j == nb || (i < na && before(a[i], b[j]));
               const bool second = !first && (i == na || before(b[j], a[i]));
               if (first ? OfFirst : !second && OfBoth) put(to, k++, a[i]);
               if (second && OfSecond) put(to, k++, b[j]);
               if (!second) ++i;
               if (!first) ++j;
             }
             return k;
           });
  }
};
typedef f_set_operation<true, true, true> f_set_union;
typedef f_set_operation<false, false, true> f_set_intersection;
typedef f_set_operation<true, false, false> f_set_difference;
typedef f_set_operation<true, true, false> f_set_symmetric_difference;

/// Those for which f holds come first. All keep their order.
struct f_partition {
  template <typename P, typename It, typename F>
  It operator()(P p, It first, It last, F f) const {
    return (*this)(p, first, last, first, f);
  }
  template <typename P, typename It, typename S, typename F>
  It operator()(P p, It first, It last, S stencil, F f) const {
    const std::size_t n = length(first, last);
    buffer<value_of<It>> others(n);
    const device_ptr<value_of<It>> kept_there(others.p);
    return partitioned(p, first, n, stencil, kept_there, f);
  }

 private:
  template <typename It, typename S, typename Buffer, typename F>
  static It partitioned(device_execution_policy p, It first, std::size_t n, S stencil,
                        Buffer others, F f) {
    const std::ptrdiff_t rest = kept(p, first, n, stencil, others, f, false) - others;
    const It middle = kept(p, first, n, stencil, first, f, true);
    map1(p, others, static_cast<std::size_t>(rest), middle, identity<>());
    return middle;
  }
  template <typename It, typename S, typename Buffer, typename F>
  static It partitioned(host_execution_policy p, It first, std::size_t n, S stencil, Buffer, F f) {
    std::vector<value_of<It>> others(n);
    const auto rest = kept(p, first, n, stencil, others.begin(), f, false) - others.begin();
    const It middle = kept(p, first, n, stencil, first, f, true);
    std::copy(others.begin(), others.begin() + rest, middle);
    return middle;
  }
};
struct f_partition_copy {
  template <typename P, typename It, typename Yes, typename No, typename F>
  pair<Yes, No> operator()(P p, It first, It last, Yes yes, No no, F f) const {
    const std::size_t n = length(first, last);
    return {kept(p, first, n, first, yes, f, true), kept(p, first, n, first, no, f, false)};
  }
};
struct f_is_partitioned {
  template <typename P, typename It, typename F>
  bool operator()(P p, It first, It last, F f) const {
    const auto x = reach_for(p, first);
    const std::size_t n = length(first, last);
    return n < 2 || first_place(p, n - 1, [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
                      return !f(x[i]) && f(x[i + 1]);
                    }) == static_cast<std::ptrdiff_t>(n - 1);
  }
};

struct f_fill_n {
  template <typename P, typename It, typename N, typename T>
  It operator()(P p, It first, N n, const T& value) const {
    const It last = first + static_cast<std::ptrdiff_t>(n);
    f_fill()(p, first, last, value);
    return last;
  }
};
struct f_generate_n {
  template <typename P, typename It, typename N, typename F>
  It operator()(P p, It first, N n, F f) const {
    const It last = first + static_cast<std::ptrdiff_t>(n);
    f_generate()(p, first, last, f);
    return last;
  }
};
struct f_replace_copy_if {
  template <typename P, typename It, typename Out, typename F, typename T>
  Out operator()(P p, It first, It last, Out out, F f, const T& now) const {
    map1(p, first, length(first, last), out, [f, now] __SIMGPU_EITHER(value_of<It> v) mutable {
      return f(v) ? static_cast<value_of<It>>(now) : v;
    });
    return out + (last - first);
  }
};
struct f_replace_copy {
  template <typename P, typename It, typename Out, typename T>
  Out operator()(P p, It first, It last, Out out, const T& before, const T& now) const {
    return f_replace_copy_if()(
        p, first, last, out,
        [before] __SIMGPU_EITHER(const value_of<It>& v) { return v == before; }, now);
  }
};
struct f_remove_copy {
  template <typename P, typename It, typename Out, typename T>
  Out operator()(P p, It first, It last, Out out, const T& value) const {
    return f_remove_copy_if()(
        p, first, last, out, [value] __SIMGPU_EITHER(const value_of<It>& v) { return v == value; });
  }
};
struct f_reverse_copy {
  template <typename P, typename It, typename Out>
  Out operator()(P p, It first, It last, Out out) const {
    const auto from = reach_for(p, first);
    const auto to = reach_for(p, out);
    const std::ptrdiff_t n = last - first;
    spread(p, static_cast<std::size_t>(n), [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
      const value_of<It> value = from[n - 1 - i];
      put(to, i, value);
    });
    return out + n;
  }
};
struct f_gather_if {
  template <typename P, typename Map, typename S, typename In, typename Out,
            typename F = identity<>>
  Out operator()(P p, Map first, Map last, S stencil, In in, Out out, F f = F()) const {
    const auto map = reach_for(p, first);
    const auto asked = reach_for(p, stencil);
    const auto from = reach_for(p, in);
    const auto to = reach_for(p, out);
    spread(p, length(first, last), [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
      if (f(asked[i])) put(to, i, from[static_cast<std::ptrdiff_t>(map[i])]);
    });
    return out + (last - first);
  }
};
struct f_find_if_not {
  template <typename P, typename It, typename F>
  It operator()(P p, It first, It last, F f) const {
    const auto x = reach_for(p, first);
    return first +
           first_place(p, length(first, last), [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
             return !static_cast<bool>(f(x[i]));
           });
  }
};
struct f_is_sorted_until {
  template <typename P, typename It, typename Before = less<>>
  It operator()(P p, It first, It last, Before before = Before()) const {
    const std::size_t n = length(first, last);
    if (n < 2) return last;
    const auto x = reach_for(p, first);
    return first + 1 + first_place(p, n - 1, [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
             return static_cast<bool>(before(x[i + 1], x[i]));
           });
  }
};
/// Of each run of equal keys the first key and its value.
struct f_unique_by_key_copy {
  template <typename P, typename K, typename V, typename KeysOut, typename Out,
            typename Equal = equal_to<>>
  pair<KeysOut, Out> operator()(P p, K first, K last, V values, KeysOut keys_out, Out out,
                                Equal equal = Equal()) const {
    const auto keys = reach_for(p, first);
    const auto from = reach_for(p, values);
    const auto to_keys = reach_for(p, keys_out);
    const auto to = reach_for(p, out);
    const std::ptrdiff_t n = last - first;
    const std::ptrdiff_t runs = alone(p, [=] __SIMGPU_EITHER() mutable {
      std::ptrdiff_t k = 0;
      for (std::ptrdiff_t i = 0; i < n;) {
        const value_of<K> key = keys[i];
        const value_of<V> value = from[i];
        while (++i < n && equal(key, keys[i])) {
        }
        put(to_keys, k, key);
        put(to, k++, value);
      }
      return k;
    });
    return {keys_out + runs, out + runs};
  }
};
struct f_unique_by_key {
  template <typename P, typename K, typename V, typename Equal = equal_to<>>
  pair<K, V> operator()(P p, K first, K last, V values, Equal equal = Equal()) const {
    return f_unique_by_key_copy()(p, first, last, values, first, values, equal);
  }
};
struct f_unique_count {
  template <typename P, typename It, typename Equal = equal_to<>>
  std::ptrdiff_t operator()(P p, It first, It last, Equal equal = Equal()) const {
    const auto x = reach_for(p, first);
    const std::ptrdiff_t n = last - first;
    return alone(p, [=] __SIMGPU_EITHER() mutable {
      std::ptrdiff_t runs = n > 0;
      for (std::ptrdiff_t i = 1; i < n; ++i) runs += !equal(x[i - 1], x[i]);
      return runs;
    });
  }
};
struct f_mismatch {
  template <typename P, typename A, typename B, typename Same = equal_to<>>
  pair<A, B> operator()(P p, A first, A last, B other, Same same = Same()) const {
    const auto a = reach_for(p, first);
    const auto b = reach_for(p, other);
    const std::ptrdiff_t where =
        first_place(p, length(first, last),
                    [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable { return !same(a[i], b[i]); });
    return {first + where, other + where};
  }
};
struct f_swap_ranges {
  template <typename P, typename A, typename B>
  B operator()(P p, A first, A last, B other) const {
    const auto a = reach_for(p, first);
    const auto b = reach_for(p, other);
    spread(p, length(first, last), [=] __SIMGPU_EITHER(std::ptrdiff_t i) mutable {
      const value_of<A> before = a[i];
      put(a, i, value_of<B>(b[i]));
      put(b, i, before);
    });
    return other + (last - first);
  }
};

#undef __SIMGPU_EITHER

}  // namespace detail

__SIMGPU_ALGORITHM(merge_by_key, f_merge_by_key)
__SIMGPU_ALGORITHM(set_union, f_set_union)
__SIMGPU_ALGORITHM(set_intersection, f_set_intersection)
__SIMGPU_ALGORITHM(set_difference, f_set_difference)
__SIMGPU_ALGORITHM(set_symmetric_difference, f_set_symmetric_difference)
__SIMGPU_ALGORITHM(partition, f_partition)
__SIMGPU_ALGORITHM(stable_partition, f_partition)
__SIMGPU_ALGORITHM(partition_copy, f_partition_copy)
__SIMGPU_ALGORITHM(stable_partition_copy, f_partition_copy)
__SIMGPU_ALGORITHM(is_partitioned, f_is_partitioned)
__SIMGPU_ALGORITHM(fill_n, f_fill_n)
__SIMGPU_ALGORITHM(generate_n, f_generate_n)
__SIMGPU_ALGORITHM(replace_copy, f_replace_copy)
__SIMGPU_ALGORITHM(replace_copy_if, f_replace_copy_if)
__SIMGPU_ALGORITHM(remove_copy, f_remove_copy)
__SIMGPU_ALGORITHM(reverse_copy, f_reverse_copy)
__SIMGPU_ALGORITHM(gather_if, f_gather_if)
__SIMGPU_ALGORITHM(find_if_not, f_find_if_not)
__SIMGPU_ALGORITHM(partition_point, f_find_if_not)
__SIMGPU_ALGORITHM(is_sorted_until, f_is_sorted_until)
__SIMGPU_ALGORITHM(unique_by_key, f_unique_by_key)
__SIMGPU_ALGORITHM(unique_by_key_copy, f_unique_by_key_copy)
__SIMGPU_ALGORITHM(unique_count, f_unique_count)
__SIMGPU_ALGORITHM(mismatch, f_mismatch)
__SIMGPU_ALGORITHM(swap_ranges, f_swap_ranges)
__SIMGPU_ALGORITHM(uninitialized_fill, f_fill)
__SIMGPU_ALGORITHM(uninitialized_fill_n, f_fill_n)
#undef __SIMGPU_ALGORITHM

template <typename... Arguments>
decltype(auto) uninitialized_copy(Arguments... all) {
  return thrust::copy(all...);
}
template <typename... Arguments>
decltype(auto) uninitialized_copy_n(Arguments... all) {
  return thrust::copy_n(all...);
}
template <typename T>
device_ptr<T> device_new(const std::size_t n = 1) {
  const device_ptr<T> p = device_malloc<T>(n);
  thrust::fill_n(p, n, T());
  return p;
}
template <typename T>
void device_delete(const device_ptr<T>& p, std::size_t = 1) {
  device_free(p);
}

}  // namespace thrust

#undef __SIMGPU_HOST
#undef __SIMGPU_DEV
