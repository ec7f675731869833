// Thrust's operators, and its placeholders: _1 + 2 * _2 is a function.
#pragma once
#pragma GCC system_header

#include "../simgpu/thrust_more.h"

namespace thrust {
namespace placeholders {

/// A function of up to two arguments that operators made; `f` takes both.
template <typename F>
struct expression {
  F f;
  template <typename A>
  __SIMGPU_THRUST auto operator()(const A& a) const {
    return f(a, a);
  }
  template <typename A, typename B>
  __SIMGPU_THRUST auto operator()(const A& a, const B& b) const {
    return f(a, b);
  }
};
struct first_argument {
  template <typename A, typename B>
  __SIMGPU_THRUST A operator()(const A& a, const B&) const {
    return a;
  }
};
struct second_argument {
  template <typename A, typename B>
  __SIMGPU_THRUST B operator()(const A&, const B& b) const {
    return b;
  }
};
template <typename T>
struct value {
  T v;
  template <typename A, typename B>
  __SIMGPU_THRUST T operator()(const A&, const B&) const {
    return v;
  }
};
template <typename Op, typename L, typename R>
struct both {
  L l;
  R r;
  template <typename A, typename B>
  __SIMGPU_THRUST auto operator()(const A& a, const B& b) const {
    return Op()(l(a, b), r(a, b));
  }
};
template <typename Op, typename L>
struct one {
  L l;
  template <typename A, typename B>
  __SIMGPU_THRUST auto operator()(const A& a, const B& b) const {
    return Op()(l(a, b));
  }
};
static constexpr expression<first_argument> _1{};
static constexpr expression<second_argument> _2{};

#define __SIMGPU_OPERATOR(Sign, Op)                                                          \
  template <typename L, typename R>                                                          \
  constexpr expression<both<Op<>, L, R>> operator Sign(const expression<L>& l,               \
                                                       const expression<R>& r) {             \
    return {{l.f, r.f}};                                                                     \
  }                                                                                          \
  template <typename L, typename T>                                                          \
  constexpr expression<both<Op<>, L, value<T>>> operator Sign(const expression<L>& l, T t) { \
    return {{l.f, {t}}};                                                                     \
  }                                                                                          \
  template <typename T, typename R>                                                          \
  constexpr expression<both<Op<>, value<T>, R>> operator Sign(T t, const expression<R>& r) { \
    return {{{t}, r.f}};                                                                     \
  }
__SIMGPU_OPERATOR(+, plus)
__SIMGPU_OPERATOR(-, minus)
__SIMGPU_OPERATOR(*, multiplies)
__SIMGPU_OPERATOR(/, divides)
__SIMGPU_OPERATOR(%, modulus)
__SIMGPU_OPERATOR(==, equal_to)
__SIMGPU_OPERATOR(!=, not_equal_to)
__SIMGPU_OPERATOR(<, less)
__SIMGPU_OPERATOR(<=, less_equal)
__SIMGPU_OPERATOR(>, greater)
__SIMGPU_OPERATOR(>=, greater_equal)
__SIMGPU_OPERATOR(&&, logical_and)
__SIMGPU_OPERATOR(||, logical_or)
__SIMGPU_OPERATOR(&, bit_and)
__SIMGPU_OPERATOR(|, bit_or)
__SIMGPU_OPERATOR(^, bit_xor)
#undef __SIMGPU_OPERATOR
template <typename L>
constexpr expression<one<negate<>, L>> operator-(const expression<L>& l) {
  return {{l.f}};
}
template <typename L>
constexpr expression<one<logical_not<>, L>> operator!(const expression<L>& l) {
  return {{l.f}};
}

}  // namespace placeholders
}  // namespace thrust
