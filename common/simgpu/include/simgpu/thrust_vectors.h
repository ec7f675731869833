// Thrust's vectors, pointers and iterators. Part of every header of thrust/.
#pragma once
#pragma GCC system_header

// What this file uses, and what programs rely on because NVIDIA's headers bring it along.
#include <atomic>
#include <cfloat>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../cuda_runtime.h"

#define THRUST_VERSION 300000
#define THRUST_MAJOR_VERSION 3
#define THRUST_MINOR_VERSION 0
#define THRUST_SUBMINOR_VERSION 0
#define THRUST_PATCH_NUMBER 0
#define __SIMGPU_THRUST __attribute__((host, device, nodebug, always_inline))

namespace thrust {
template <typename... T>
struct tuple;
template <typename A, typename B>
struct pair;
}  // namespace thrust
namespace std {
template <typename... T>
struct tuple_size<::thrust::tuple<T...>> : integral_constant<size_t, sizeof...(T)> {};
template <size_t I, typename... T>
struct tuple_element<I, ::thrust::tuple<T...>> : tuple_element<I, tuple<T...>> {};
template <typename A, typename B>
struct tuple_size<::thrust::pair<A, B>> : integral_constant<size_t, 2> {};
template <size_t I, typename A, typename B>
struct tuple_element<I, ::thrust::pair<A, B>> : tuple_element<I, pair<A, B>> {};
}  // namespace std

namespace thrust {

using std::get;

// Tuples and pairs are the host library's, whose assignment a kernel of C++17 cannot call.

template <typename... T>
struct tuple : std::tuple<T...> {
  tuple() = default;
  tuple(const tuple&) = default;
  template <typename... U,
            typename = std::enable_if_t<sizeof...(U) == sizeof...(T) && sizeof...(U) != 0>,
            typename = std::enable_if_t<(std::is_constructible<T, U&&>::value && ...)>>
  __SIMGPU_THRUST constexpr tuple(U&&... values) : std::tuple<T...>(static_cast<U&&>(values)...) {}
  template <typename... U>
  __SIMGPU_THRUST constexpr tuple(const std::tuple<U...>& other) : std::tuple<T...>(other) {}
  __SIMGPU_THRUST tuple& operator=(const tuple& other) {
    return assign(other, std::index_sequence_for<T...>());
  }
  template <typename Other, typename = decltype(std::tuple_size<Other>::value)>
  __SIMGPU_THRUST tuple& operator=(const Other& other) {
    return assign(other, std::index_sequence_for<T...>());
  }

 private:
  template <typename Other, std::size_t... I>
  __SIMGPU_THRUST tuple& assign(const Other& other, std::index_sequence<I...>) {
    ((std::get<I>(*this) = std::get<I>(other)), ...);
    return *this;
  }
};
template <typename A, typename B>
struct pair : std::pair<A, B> {
  pair() = default;
  pair(const pair&) = default;
  __SIMGPU_THRUST constexpr pair(const A& a, const B& b) : std::pair<A, B>(a, b) {}
  template <typename C, typename D>
  __SIMGPU_THRUST constexpr pair(const std::pair<C, D>& other) : std::pair<A, B>(other) {}
  __SIMGPU_THRUST pair& operator=(const pair& other) {
    this->first = other.first;
    this->second = other.second;
    return *this;
  }
};
template <typename... T>
__SIMGPU_THRUST constexpr tuple<std::decay_t<T>...> make_tuple(T&&... values) {
  return tuple<std::decay_t<T>...>(static_cast<T&&>(values)...);
}
template <typename... T>
__SIMGPU_THRUST constexpr tuple<T&...> tie(T&... values) {
  return tuple<T&...>(values...);
}
template <typename A, typename B>
__SIMGPU_THRUST constexpr pair<std::decay_t<A>, std::decay_t<B>> make_pair(A&& a, B&& b) {
  return pair<std::decay_t<A>, std::decay_t<B>>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <typename Tuple>
using tuple_size = std::tuple_size<Tuple>;
template <std::size_t I, typename Tuple>
using tuple_element = std::tuple_element<I, Tuple>;

namespace detail {

inline void check(cudaError_t error) {
  if (error == cudaErrorMemoryAllocation) throw std::bad_alloc();
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Memory of the device for a while.
template <typename T>
struct buffer {
  explicit buffer(std::size_t n) {
    if (n) check(cudaMalloc(reinterpret_cast<void**>(&p), n * sizeof(T)));
  }
  ~buffer() { cudaFree(p); }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  T* p = nullptr;
};

template <typename F>
__global__ void thrust_each(std::size_t n, F f) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    f(i);
}
/// f(0) to f(n - 1), by the device.
template <typename F>
void each(std::size_t n, F f) {
  if (n == 0) return;
  const std::size_t blocks = (n + 255) / 256;
  thrust_each<<<static_cast<unsigned int>(blocks < 65535 ? blocks : 65535), 256>>>(n, f);
  check(cudaGetLastError());
}

}  // namespace detail

// ---- pointers and references to what is on the device

template <typename T>
class device_ptr;

/// An element of the device: for the host each use is a copy, for a kernel it is the element.
template <typename T>
class device_reference {
 public:
  typedef std::remove_const_t<T> value_type;
  __SIMGPU_THRUST explicit device_reference(T* at) : at_(at) {}
  device_reference(const device_reference&) = default;
  __SIMGPU_THRUST operator value_type() const {
#if defined(__CUDA_ARCH__)
    return *at_;
#else
    value_type value;
    detail::check(
        cudaMemcpy(static_cast<void*>(&value), at_, sizeof value, cudaMemcpyDeviceToHost));
    return value;
#endif
  }
  __SIMGPU_THRUST device_reference& operator=(const T& value) {
#if defined(__CUDA_ARCH__)
    *const_cast<value_type*>(at_) = value;
#else
    detail::check(cudaMemcpy(static_cast<void*>(const_cast<value_type*>(at_)), &value, sizeof value,
                             cudaMemcpyHostToDevice));
#endif
    return *this;
  }
  __SIMGPU_THRUST device_reference& operator=(const device_reference& other) {
    return *this = static_cast<value_type>(other);
  }
#define __SIMGPU_ASSIGNMENT(Op)                                         \
  __SIMGPU_THRUST device_reference& operator Op##=(const T& v) {        \
    return *this = static_cast<T>(static_cast<value_type>(*this) Op v); \
  }
  __SIMGPU_ASSIGNMENT(+)
  __SIMGPU_ASSIGNMENT(-)
  __SIMGPU_ASSIGNMENT(*)
  __SIMGPU_ASSIGNMENT(/)
  __SIMGPU_ASSIGNMENT(%)
  __SIMGPU_ASSIGNMENT(&)
  __SIMGPU_ASSIGNMENT(|)
  __SIMGPU_ASSIGNMENT(^)
#undef __SIMGPU_ASSIGNMENT
  __SIMGPU_THRUST device_reference& operator++() {
    return *this += T(1);
  }
  __SIMGPU_THRUST device_reference& operator--() {
    return *this -= T(1);
  }
  __SIMGPU_THRUST device_ptr<T> operator&() const {
    return device_ptr<T>(at_);
  }

 private:
  T* at_;
};
template <typename Stream, typename T>
Stream& operator<<(Stream& out, const device_reference<T>& r) {
  out << static_cast<std::remove_const_t<T>>(r);
  return out;
}

template <typename T>
class device_ptr {
 public:
  typedef std::random_access_iterator_tag iterator_category;
  typedef std::remove_const_t<T> value_type;
  typedef std::ptrdiff_t difference_type;
  typedef device_ptr pointer;
  typedef device_reference<T> reference;
  typedef T element_type;

  device_ptr() = default;
  __SIMGPU_THRUST device_ptr(std::nullptr_t) {}
  __SIMGPU_THRUST explicit device_ptr(T* p) : p_(p) {}
  template <typename U, typename = std::enable_if_t<std::is_convertible<U*, T*>::value>>
  __SIMGPU_THRUST device_ptr(const device_ptr<U>& other) : p_(other.get()) {}
  __SIMGPU_THRUST T* get() const { return p_; }
  __SIMGPU_THRUST reference operator*() const { return reference(p_); }
  __SIMGPU_THRUST reference operator[](difference_type i) const { return reference(p_ + i); }
  __SIMGPU_THRUST device_ptr& operator+=(difference_type n) { return p_ += n, *this; }
  __SIMGPU_THRUST device_ptr& operator-=(difference_type n) { return p_ -= n, *this; }
  __SIMGPU_THRUST device_ptr& operator++() { return ++p_, *this; }
  __SIMGPU_THRUST device_ptr& operator--() { return --p_, *this; }
  __SIMGPU_THRUST device_ptr operator++(int) { return device_ptr(p_++); }
  __SIMGPU_THRUST device_ptr operator--(int) { return device_ptr(p_--); }
  __SIMGPU_THRUST device_ptr operator+(difference_type n) const { return device_ptr(p_ + n); }
  __SIMGPU_THRUST device_ptr operator-(difference_type n) const { return device_ptr(p_ - n); }
  template <typename U>
  __SIMGPU_THRUST difference_type operator-(const device_ptr<U>& other) const {
    return p_ - other.get();
  }
  __SIMGPU_THRUST explicit operator bool() const { return p_ != nullptr; }

 private:
  T* p_ = nullptr;
};
template <typename T, typename U>
__SIMGPU_THRUST bool operator==(const device_ptr<T>& a, const device_ptr<U>& b) {
  return a.get() == b.get();
}
template <typename T, typename U>
__SIMGPU_THRUST bool operator!=(const device_ptr<T>& a, const device_ptr<U>& b) {
  return a.get() != b.get();
}
template <typename T, typename U>
__SIMGPU_THRUST bool operator<(const device_ptr<T>& a, const device_ptr<U>& b) {
  return a.get() < b.get();
}
template <typename T>
__SIMGPU_THRUST device_ptr<T> device_pointer_cast(T* p) {
  return device_ptr<T>(p);
}
template <typename T>
__SIMGPU_THRUST T* raw_pointer_cast(const device_ptr<T>& p) {
  return p.get();
}
template <typename T>
__SIMGPU_THRUST T* raw_pointer_cast(T* p) {
  return p;
}
template <typename T>
device_ptr<T> device_malloc(std::size_t n) {
  void* p = nullptr;
  detail::check(cudaMalloc(&p, n * sizeof(T)));
  return device_ptr<T>(static_cast<T*>(p));
}
template <typename T>
void device_free(const device_ptr<T>& p) {
  detail::check(cudaFree(p.get()));
}

// ---- iterators without memory

template <typename T, typename Self>
struct made_iterator {
  typedef std::random_access_iterator_tag iterator_category;
  typedef std::decay_t<T> value_type;
  typedef std::ptrdiff_t difference_type;
  typedef const value_type* pointer;
  typedef value_type reference;

  __SIMGPU_THRUST Self operator-(std::ptrdiff_t n) const { return self() + -n; }
  __SIMGPU_THRUST friend Self operator+(std::ptrdiff_t n, const Self& it) { return it + n; }
  __SIMGPU_THRUST Self& operator+=(std::ptrdiff_t n) { return self() = self() + n; }
  __SIMGPU_THRUST Self& operator-=(std::ptrdiff_t n) { return self() = self() + -n; }
  __SIMGPU_THRUST Self& operator++() { return *this += 1; }
  __SIMGPU_THRUST Self& operator--() { return *this += -1; }
  __SIMGPU_THRUST Self operator++(int) {
    const Self before = self();
    ++*this;
    return before;
  }
  __SIMGPU_THRUST bool operator==(const Self& o) const { return self() - o == 0; }
  __SIMGPU_THRUST bool operator!=(const Self& o) const { return self() - o != 0; }
  __SIMGPU_THRUST bool operator<(const Self& o) const { return self() - o < 0; }

 protected:
  __SIMGPU_THRUST const Self& self() const { return static_cast<const Self&>(*this); }
  __SIMGPU_THRUST Self& self() { return static_cast<Self&>(*this); }
};
template <typename T>
class counting_iterator : public made_iterator<T, counting_iterator<T>> {
 public:
  using made_iterator<T, counting_iterator<T>>::operator-;
  __SIMGPU_THRUST explicit counting_iterator(T at = T()) : at_(at) {}
  __SIMGPU_THRUST T operator*() const { return at_; }
  __SIMGPU_THRUST T operator[](std::ptrdiff_t i) const { return static_cast<T>(at_ + i); }
  __SIMGPU_THRUST counting_iterator operator+(std::ptrdiff_t n) const {
    return counting_iterator(static_cast<T>(at_ + n));
  }
  __SIMGPU_THRUST std::ptrdiff_t operator-(const counting_iterator& o) const {
    return static_cast<std::ptrdiff_t>(at_) - static_cast<std::ptrdiff_t>(o.at_);
  }

 private:
  T at_;
};
template <typename T>
class constant_iterator : public made_iterator<T, constant_iterator<T>> {
 public:
  using made_iterator<T, constant_iterator<T>>::operator-;
  __SIMGPU_THRUST explicit constant_iterator(T value, std::ptrdiff_t at = 0)
      : value_(value), at_(at) {}
  __SIMGPU_THRUST T operator*() const { return value_; }
  __SIMGPU_THRUST T operator[](std::ptrdiff_t) const { return value_; }
  __SIMGPU_THRUST constant_iterator operator+(std::ptrdiff_t n) const {
    return constant_iterator(value_, at_ + n);
  }
  __SIMGPU_THRUST std::ptrdiff_t operator-(const constant_iterator& o) const { return at_ - o.at_; }

 private:
  T value_;
  std::ptrdiff_t at_;
};
template <typename T>
__SIMGPU_THRUST inline counting_iterator<T> make_counting_iterator(T at) {
  return counting_iterator<T>(at);
}
template <typename T>
__SIMGPU_THRUST inline constant_iterator<T> make_constant_iterator(T value) {
  return constant_iterator<T>(value);
}

// ---- vectors

template <typename T>
class device_vector;

template <typename T>
class host_vector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  host_vector() = default;
  host_vector(const std::vector<T>& other) : std::vector<T>(other) {}
  host_vector(const device_vector<T>& other) { *this = other; }
  template <typename U>
  host_vector(device_ptr<U> first, device_ptr<U> last) {
    take(first.get(), static_cast<std::size_t>(last - first));
  }
  host_vector& operator=(const device_vector<T>& other) {
    take(other.data().get(), other.size());
    return *this;
  }

 private:
  void take(const T* from, std::size_t n) {
    this->resize(n);
    if (n)
      detail::check(cudaMemcpy(static_cast<void*>(std::vector<T>::data()), from, n * sizeof(T),
                               cudaMemcpyDeviceToHost));
  }
};

template <typename T>
class device_vector {
 public:
  typedef T value_type;
  typedef device_ptr<T> pointer, iterator;
  typedef device_ptr<const T> const_pointer, const_iterator;
  typedef device_reference<T> reference;
  typedef device_reference<const T> const_reference;
  typedef std::size_t size_type;
  typedef std::ptrdiff_t difference_type;

  device_vector() = default;
  explicit device_vector(size_type n) : device_vector(n, T()) {}
  device_vector(size_type n, const T& value) { resize(n, value); }
  device_vector(std::initializer_list<T> list) : device_vector(list.begin(), list.end()) {}
  device_vector(const std::vector<T>& other) { take(other.data(), other.size()); }
  device_vector(const device_vector& other) { take(other.p_, other.n_); }
  device_vector(device_vector&& other) noexcept { swap(other); }
  template <typename It, typename = typename std::iterator_traits<It>::iterator_category>
  device_vector(It first, It last) {
    assign(first, last);
  }
  ~device_vector() { cudaFree(p_); }
  device_vector& operator=(const std::vector<T>& other) { return take(other.data(), other.size()); }
  device_vector& operator=(const device_vector& other) {
    return this == &other ? *this : take(other.p_, other.n_);
  }
  device_vector& operator=(device_vector&& other) noexcept {
    swap(other);
    return *this;
  }
  template <typename It>
  void assign(It first, It last) {
    const std::vector<T> values(first, last);
    take(values.data(), values.size());
  }
  void assign(iterator first, iterator last) {
    take(first.get(), static_cast<size_type>(last - first));
  }
  void assign(const_iterator first, const_iterator last) {
    take(first.get(), static_cast<size_type>(last - first));
  }
  void assign(size_type n, const T& value) { clear(), resize(n, value); }

  size_type size() const { return n_; }
  size_type capacity() const { return room_; }
  bool empty() const { return n_ == 0; }
  pointer data() { return pointer(p_); }
  const_pointer data() const { return const_pointer(p_); }
  iterator begin() { return iterator(p_); }
  iterator end() { return iterator(p_ + n_); }
  const_iterator begin() const { return const_iterator(p_); }
  const_iterator end() const { return const_iterator(p_ + n_); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reference operator[](size_type i) { return reference(p_ + i); }
  const_reference operator[](size_type i) const { return const_reference(p_ + i); }
  reference front() { return reference(p_); }
  reference back() { return reference(p_ + n_ - 1); }
  const_reference front() const { return const_reference(p_); }
  const_reference back() const { return const_reference(p_ + n_ - 1); }

  void reserve(size_type n) {
    if (n <= room_) return;
    void* p = nullptr;
    detail::check(cudaMalloc(&p, n * sizeof(T)));
    if (n_) detail::check(cudaMemcpy(p, p_, n_ * sizeof(T), cudaMemcpyDeviceToDevice));
    cudaFree(p_);
    p_ = static_cast<T*>(p);
    room_ = n;
  }
  void resize(size_type n, const T& value = T()) {
    reserve(n);
    if (n > n_) {
      const std::vector<T> more(n - n_, value);
      detail::check(
          cudaMemcpy(p_ + n_, more.data(), more.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    n_ = n;
  }
  void push_back(const T& value) {
    if (n_ == room_) reserve(n_ ? 2 * n_ : 8);
    resize(n_ + 1, value);
  }
  void pop_back() { --n_; }
  /// Through the host: what is behind moves up.
  iterator erase(iterator first, iterator last) {
    const size_type begin = static_cast<size_type>(first.get() - p_);
    const size_type end = static_cast<size_type>(last.get() - p_);
    std::vector<T> rest(n_ - end);
    if (!rest.empty()) {
      detail::check(cudaMemcpy(static_cast<void*>(rest.data()), p_ + end, rest.size() * sizeof(T),
                               cudaMemcpyDeviceToHost));
      detail::check(cudaMemcpy(static_cast<void*>(p_ + begin), rest.data(), rest.size() * sizeof(T),
                               cudaMemcpyHostToDevice));
    }
    n_ = begin + rest.size();
    return iterator(p_ + begin);
  }
  iterator erase(iterator at) { return erase(at, at + 1); }
  void clear() { n_ = 0; }
  void shrink_to_fit() {}
  void swap(device_vector& other) noexcept {
    std::swap(p_, other.p_);
    std::swap(n_, other.n_);
    std::swap(room_, other.room_);
  }

 private:
  device_vector& take(const T* from, size_type n) {
    n_ = 0;
    reserve(n);
    if (n) detail::check(cudaMemcpy(p_, from, n * sizeof(T), cudaMemcpyDefault));
    n_ = n;
    return *this;
  }
  T* p_ = nullptr;
  size_type n_ = 0, room_ = 0;
};

// ---- operators

template <typename Argument, typename Result>
struct unary_function {
  typedef Argument argument_type;
  typedef Result result_type;
};
template <typename First, typename Second, typename Result>
struct binary_function {
  typedef First first_argument_type;
  typedef Second second_argument_type;
  typedef Result result_type;
};
template <typename T>
__SIMGPU_THRUST constexpr T& raw_reference_cast(T& r) {
  return r;
}
template <typename T>
__SIMGPU_THRUST constexpr T(min)(const T& a, const T& b) {
  return b < a ? b : a;
}
template <typename T>
__SIMGPU_THRUST constexpr T(max)(const T& a, const T& b) {
  return a < b ? b : a;
}

// Of a type that is named, arguments and results are of that type: divides<float>() does not divide integers.
#define __SIMGPU_OPERATOR_1(Name, Result, Expression)                                    \
  template <typename T = void>                                                           \
  struct Name {                                                                          \
    __SIMGPU_THRUST constexpr Result operator()(const T& a) const { return Expression; } \
  };                                                                                     \
  template <>                                                                            \
  struct Name<void> {                                                                    \
    template <typename A>                                                                \
    __SIMGPU_THRUST constexpr auto operator()(A a) const {                               \
      return Expression;                                                                 \
    }                                                                                    \
  };
#define __SIMGPU_OPERATOR_2(Name, Result, Expression)                           \
  template <typename T = void>                                                  \
  struct Name {                                                                 \
    __SIMGPU_THRUST constexpr Result operator()(const T& a, const T& b) const { \
      return Expression;                                                        \
    }                                                                           \
  };                                                                            \
  template <>                                                                   \
  struct Name<void> {                                                           \
    template <typename A, typename B>                                           \
    __SIMGPU_THRUST constexpr auto operator()(A a, B b) const {                 \
      return Expression;                                                        \
    }                                                                           \
  };
__SIMGPU_OPERATOR_1(negate, T, -a)
__SIMGPU_OPERATOR_1(logical_not, bool, !a)
__SIMGPU_OPERATOR_1(identity, T, a)
__SIMGPU_OPERATOR_1(square, T, a* a)
__SIMGPU_OPERATOR_2(plus, T, a + b)
__SIMGPU_OPERATOR_2(minus, T, a - b)
__SIMGPU_OPERATOR_2(multiplies, T, a* b)
__SIMGPU_OPERATOR_2(divides, T, a / b)
__SIMGPU_OPERATOR_2(modulus, T, a % b)
__SIMGPU_OPERATOR_2(equal_to, bool, a == b)
__SIMGPU_OPERATOR_2(not_equal_to, bool, a != b)
__SIMGPU_OPERATOR_2(less, bool, a < b)
__SIMGPU_OPERATOR_2(less_equal, bool, a <= b)
__SIMGPU_OPERATOR_2(greater, bool, a > b)
__SIMGPU_OPERATOR_2(greater_equal, bool, a >= b)
__SIMGPU_OPERATOR_2(logical_and, bool, a&& b)
__SIMGPU_OPERATOR_2(logical_or, bool, a || b)
__SIMGPU_OPERATOR_2(bit_and, T, a& b)
__SIMGPU_OPERATOR_2(bit_or, T, a | b)
__SIMGPU_OPERATOR_2(bit_xor, T, a ^ b)
__SIMGPU_OPERATOR_2(maximum, T, a < b ? b : a)
__SIMGPU_OPERATOR_2(minimum, T, b < a ? b : a)
__SIMGPU_OPERATOR_2(project1st, T, a)
__SIMGPU_OPERATOR_2(project2nd, T, (void(a), b))
#undef __SIMGPU_OPERATOR_1
#undef __SIMGPU_OPERATOR_2

}  // namespace thrust
