// Thrust's iterators over other iterators: transformed, zipped, permuted, reversed, thrown away. Part of every header of
// thrust/. Kernels use what reach() makes of them.
#pragma once
#pragma GCC system_header

#include "thrust_vectors.h"

namespace thrust {

template <typename It>
using iterator_traits = std::iterator_traits<It>;
template <typename It>
struct iterator_value {
  typedef typename std::iterator_traits<It>::value_type type;
};
template <typename It>
struct iterator_difference {
  typedef std::ptrdiff_t type;
};
template <typename It>
std::ptrdiff_t distance(It first, It last) {
  return last - first;
}
template <typename It, typename N>
void advance(It& it, N n) {
  it = it + static_cast<std::ptrdiff_t>(n);
}

template <typename F, typename It, typename Value>
class transform_iterator;
template <typename Tuple>
class zip_iterator;
template <typename Elements, typename Map>
class permutation_iterator;
template <typename It>
class reverse_iterator;

namespace detail {

template <typename T>
struct is_on_device : std::false_type {};
template <typename T>
struct is_on_device<device_ptr<T>> : std::true_type {};
template <typename F, typename It, typename Value>
struct is_on_device<transform_iterator<F, It, Value>> : is_on_device<It> {};
template <typename... It>
struct is_on_device<zip_iterator<tuple<It...>>>
    : std::bool_constant<(is_on_device<It>::value || ...)> {};
template <typename E, typename M>
struct is_on_device<permutation_iterator<E, M>>
    : std::bool_constant<is_on_device<E>::value || is_on_device<M>::value> {};
template <typename It>
struct is_on_device<reverse_iterator<It>> : is_on_device<It> {};

/// Iterators that compute all that they show are nowhere: they go where the others of a call are, and to the device if
/// there are no others.
template <typename T>
struct is_nowhere : std::false_type {};
template <typename T>
struct is_nowhere<counting_iterator<T>> : std::true_type {};
template <typename T>
struct is_nowhere<constant_iterator<T>> : std::true_type {};
template <typename F, typename It, typename Value>
struct is_nowhere<transform_iterator<F, It, Value>> : is_nowhere<It> {};
template <typename... It>
struct is_nowhere<zip_iterator<tuple<It...>>> : std::bool_constant<(is_nowhere<It>::value && ...)> {
};
template <typename E, typename M>
struct is_nowhere<permutation_iterator<E, M>>
    : std::bool_constant<is_nowhere<E>::value && is_nowhere<M>::value> {};
template <typename It>
struct is_nowhere<reverse_iterator<It>> : is_nowhere<It> {};

template <typename T, typename = void>
struct is_iterator : std::is_pointer<T> {};
template <typename T>
struct is_iterator<T, std::void_t<typename T::iterator_category>> : std::true_type {};
template <typename T>
constexpr bool is_on_host =
    is_iterator<T>::value && !is_on_device<T>::value && !is_nowhere<T>::value;
template <typename... T>
constexpr bool runs_on_device = (is_on_device<T>::value || ...) ||
                                ((is_nowhere<T>::value || ...) && !(is_on_host<T> || ...));

/// What a kernel can use of an iterator.
template <typename T>
T* reach(const device_ptr<T>& p) {
  return p.get();
}
template <typename It>
It reach(It it) {
  return it;
}
template <typename F, typename It, typename Value>
auto reach(const transform_iterator<F, It, Value>& it);
template <typename... It>
auto reach(const zip_iterator<tuple<It...>>& it);
template <typename E, typename M>
auto reach(const permutation_iterator<E, M>& it);
template <typename It>
auto reach(const reverse_iterator<It>& it);

/// What stands where an iterator points, for iterators that compute it: `Self` has at(i) for the element i places on, and
/// moved(n).
template <typename Self, typename Value, typename Reference>
struct indexed_iterator : made_iterator<Value, Self> {
  typedef Reference reference;
  using made_iterator<Value, Self>::operator-;
  __SIMGPU_THRUST decltype(auto) operator*() const { return this->self().at(0); }
  __SIMGPU_THRUST decltype(auto) operator[](std::ptrdiff_t i) const { return this->self().at(i); }
  __SIMGPU_THRUST Self operator+(std::ptrdiff_t n) const { return this->self().moved(n); }
};

template <typename It>
using element_of = typename std::iterator_traits<It>::value_type;
/// What a function object gives, also one that only the device may call: a host asks for the type alone, and what runs
/// on both sides may name what runs on either.
template <typename F, typename T>
__SIMGPU_THRUST inline auto called_with(F& f, T&& value) {
  return f(static_cast<T&&>(value));
}
template <typename F, typename It>
using transformed = decltype(called_with(std::declval<F&>(), std::declval<element_of<It>>()));

/// A function object in an iterator: iterators are assigned, lambdas cannot be.
template <typename F>
class held {
 public:
  __SIMGPU_THRUST held() {}
  __SIMGPU_THRUST held(const F& f) : f_(f) {}
  __SIMGPU_THRUST held(const held& o) : f_(o.f_) {}
  __SIMGPU_THRUST held& operator=(const held& o) {
    if (this != &o) {
      f_.~F();
      ::new (static_cast<void*>(&f_)) F(o.f_);
    }
    return *this;
  }
  __SIMGPU_THRUST operator const F&() const { return f_; }

 private:
  F f_;
};

}  // namespace detail

/// f(element).
template <typename F, typename It, typename Value = detail::transformed<F, It>>
class transform_iterator
    : public detail::indexed_iterator<transform_iterator<F, It, Value>, std::decay_t<Value>,
                                      std::decay_t<Value>> {
 public:
  using detail::indexed_iterator<transform_iterator<F, It, Value>, std::decay_t<Value>,
                                 std::decay_t<Value>>::operator-;
  __SIMGPU_THRUST transform_iterator(It it, F f) : it_(it), f_(f) {}
  __SIMGPU_THRUST explicit transform_iterator(It it) : it_(it) {}
  __SIMGPU_THRUST std::decay_t<Value> at(std::ptrdiff_t i) const {
    F f = f_;  // its operator need not be const
    return f(it_[i]);
  }
  __SIMGPU_THRUST transform_iterator moved(std::ptrdiff_t n) const { return {it_ + n, f_}; }
  __SIMGPU_THRUST std::ptrdiff_t operator-(const transform_iterator& o) const {
    return it_ - o.it_;
  }
  __SIMGPU_THRUST const It& base() const { return it_; }
  __SIMGPU_THRUST const F& functor() const { return f_; }

 private:
  It it_;
  detail::held<F> f_;
};
template <typename F, typename It>
__SIMGPU_THRUST inline transform_iterator<F, It> make_transform_iterator(It it, F f) {
  return {it, f};
}

/// The elements of several iterators as one tuple: of references, so that they can be written.
template <typename... It>
class zip_iterator<tuple<It...>>
    : public detail::indexed_iterator<zip_iterator<tuple<It...>>, tuple<detail::element_of<It>...>,
                                      tuple<typename std::iterator_traits<It>::reference...>> {
  typedef detail::indexed_iterator<zip_iterator<tuple<It...>>, tuple<detail::element_of<It>...>,
                                   tuple<typename std::iterator_traits<It>::reference...>>
      base;

 public:
  using base::operator-;
  __SIMGPU_THRUST zip_iterator(tuple<It...> its) : its_(its) {}
  __SIMGPU_THRUST auto at(std::ptrdiff_t i) const {
    return std::apply(
        [i] __host__ __device__(const It&... it) { return tuple<decltype(it[i])...>(it[i]...); },
        its_);
  }
  __SIMGPU_THRUST zip_iterator moved(std::ptrdiff_t n) const {
    return std::apply(
        [n] __host__ __device__(const It&... it) { return zip_iterator(tuple<It...>(it + n...)); },
        its_);
  }
  __SIMGPU_THRUST std::ptrdiff_t operator-(const zip_iterator& o) const {
    return std::get<0>(its_) - std::get<0>(o.its_);
  }
  __SIMGPU_THRUST const tuple<It...>& get_iterator_tuple() const { return its_; }

 private:
  tuple<It...> its_;
};
template <typename... It>
__SIMGPU_THRUST inline zip_iterator<tuple<It...>> make_zip_iterator(tuple<It...> its) {
  return {its};
}
template <typename... It>
__SIMGPU_THRUST inline zip_iterator<tuple<It...>> make_zip_iterator(It... it) {
  return {tuple<It...>(it...)};
}
/// A function of several arguments as one of a tuple.
template <typename F>
struct zip_function {
  F f;
  template <typename Tuple>
  __SIMGPU_THRUST decltype(auto) operator()(Tuple&& t) const {
    return std::apply(f, static_cast<Tuple&&>(t));
  }
};
template <typename F>
__SIMGPU_THRUST inline zip_function<F> make_zip_function(F f) {
  return {f};
}

/// elements[map[i]].
template <typename Elements, typename Map>
class permutation_iterator
    : public detail::indexed_iterator<permutation_iterator<Elements, Map>,
                                      detail::element_of<Elements>,
                                      typename std::iterator_traits<Elements>::reference> {
 public:
  using detail::indexed_iterator<permutation_iterator<Elements, Map>, detail::element_of<Elements>,
                                 typename std::iterator_traits<Elements>::reference>::operator-;
  __SIMGPU_THRUST permutation_iterator(Elements elements, Map map)
      : elements_(elements), map_(map) {}
  __SIMGPU_THRUST decltype(auto) at(std::ptrdiff_t i) const {
    return elements_[static_cast<std::ptrdiff_t>(map_[i])];
  }
  __SIMGPU_THRUST permutation_iterator moved(std::ptrdiff_t n) const {
    return {elements_, map_ + n};
  }
  __SIMGPU_THRUST std::ptrdiff_t operator-(const permutation_iterator& o) const {
    return map_ - o.map_;
  }
  __SIMGPU_THRUST const Elements& elements() const { return elements_; }
  __SIMGPU_THRUST const Map& map() const { return map_; }

 private:
  Elements elements_;
  Map map_;
};
template <typename Elements, typename Map>
__SIMGPU_THRUST inline permutation_iterator<Elements, Map> make_permutation_iterator(
    Elements elements, Map map) {
  return {elements, map};
}

/// From the element before `it` backwards.
template <typename It>
class reverse_iterator
    : public detail::indexed_iterator<reverse_iterator<It>, detail::element_of<It>,
                                      typename std::iterator_traits<It>::reference> {
 public:
  using detail::indexed_iterator<reverse_iterator<It>, detail::element_of<It>,
                                 typename std::iterator_traits<It>::reference>::operator-;
  __SIMGPU_THRUST explicit reverse_iterator(It it) : it_(it) {}
  __SIMGPU_THRUST decltype(auto) at(std::ptrdiff_t i) const { return it_[-1 - i]; }
  __SIMGPU_THRUST reverse_iterator moved(std::ptrdiff_t n) const {
    return reverse_iterator(it_ - n);
  }
  __SIMGPU_THRUST std::ptrdiff_t operator-(const reverse_iterator& o) const { return o.it_ - it_; }
  __SIMGPU_THRUST const It& base() const { return it_; }

 private:
  It it_;
};
template <typename It>
__SIMGPU_THRUST inline reverse_iterator<It> make_reverse_iterator(It it) {
  return reverse_iterator<It>(it);
}

namespace detail {
struct sink {
  template <typename T>
  __SIMGPU_THRUST const sink& operator=(const T&) const {
    return *this;
  }
};
}  // namespace detail
/// Takes everything and keeps nothing.
template <typename System = void>
class discard_iterator : public made_iterator<detail::sink, discard_iterator<System>> {
 public:
  using made_iterator<detail::sink, discard_iterator>::operator-;
  __SIMGPU_THRUST explicit discard_iterator(std::ptrdiff_t at = 0) : at_(at) {}
  __SIMGPU_THRUST detail::sink operator*() const { return {}; }
  __SIMGPU_THRUST detail::sink operator[](std::ptrdiff_t) const { return {}; }
  __SIMGPU_THRUST discard_iterator operator+(std::ptrdiff_t n) const {
    return discard_iterator(at_ + n);
  }
  __SIMGPU_THRUST std::ptrdiff_t operator-(const discard_iterator& o) const { return at_ - o.at_; }

 private:
  std::ptrdiff_t at_;
};
__SIMGPU_THRUST inline discard_iterator<> make_discard_iterator(std::ptrdiff_t at = 0) {
  return discard_iterator<>(at);
}

namespace detail {

template <typename F, typename It, typename Value>
auto reach(const transform_iterator<F, It, Value>& it) {
  return transform_iterator<F, decltype(reach(it.base())), Value>(reach(it.base()), it.functor());
}
template <typename... It>
auto reach(const zip_iterator<tuple<It...>>& it) {
  return std::apply(
      [](const It&... one) {
        return zip_iterator<tuple<decltype(reach(one))...>>(
            tuple<decltype(reach(one))...>(reach(one)...));
      },
      it.get_iterator_tuple());
}
template <typename E, typename M>
auto reach(const permutation_iterator<E, M>& it) {
  return permutation_iterator<decltype(reach(it.elements())), decltype(reach(it.map()))>(
      reach(it.elements()), reach(it.map()));
}
template <typename It>
auto reach(const reverse_iterator<It>& it) {
  return reverse_iterator<decltype(reach(it.base()))>(reach(it.base()));
}

}  // namespace detail
}  // namespace thrust
