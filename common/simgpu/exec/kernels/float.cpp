// Floating-point arithmetic (PTX ISA 9.7.3 - 9.7.5). The default rounding is to nearest even; the
// directed modes run the same loops under another rounding mode of the host (see wrappers.cpp). NaN
// results of 32-bit operations are the canonical 0x7fffffff, as on hardware, which also makes
// x86-64 and arm64 agree bit for bit.
#include <bit>
#include <cmath>
#include <cstdint>

#include "common/simgpu/exec/kernels/lanes.hpp"

namespace simgpu::exec::kernels {
namespace {

SIMGPU_INLINE float canonical(float v) {
  return v == v ? v : std::bit_cast<float>(0x7fffffffu);
}
SIMGPU_INLINE double canonical(double v) {
  return v;
}

struct FAdd {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return canonical(a + b);
  }
};
struct FSub {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return canonical(a - b);
  }
};
struct FMul {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return canonical(a * b);
  }
};
struct FDiv {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return canonical(a / b);
  }
};
struct FFma {
  SIMGPU_INLINE static float f(float a, float b, float c) {
    return canonical(__builtin_fmaf(a, b, c));
  }
  SIMGPU_INLINE static double f(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
/// One NaN: the other operand. Two: NaN. -0 is less than +0.
template <class T>
SIMGPU_INLINE bool below(T a, T b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}
template <class T>
SIMGPU_INLINE T quiet_nan() {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<float>(0x7fffffffu);
  else
    return std::bit_cast<double>(0x7fffffffffffffffull);
}
struct FMin {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return a != a ? (b != b ? quiet_nan<T>() : b) : b != b ? a : below(b, a) ? b : a;
  }
};
struct FMax {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return a != a ? (b != b ? quiet_nan<T>() : b) : b != b ? a : below(a, b) ? b : a;
  }
};
struct FMinNan {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return a != a || b != b ? quiet_nan<T>() : below(b, a) ? b : a;
  }
};
struct FMaxNan {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return a != a || b != b ? quiet_nan<T>() : below(a, b) ? b : a;
  }
};

struct FNeg {
  template <class T>
  SIMGPU_INLINE static T f(T a) {
    return -a;
  }
};
struct FAbs {
  template <class T>
  SIMGPU_INLINE static T f(T a) {
    return std::fabs(a);
  }
};
struct FSqrt {
  template <class T>
  SIMGPU_INLINE static T f(T a) {
    return canonical(std::sqrt(a));
  }
};
struct FRcp {
  template <class T>
  SIMGPU_INLINE static T f(T a) {
    return canonical(T{1} / a);
  }
};
struct FRsqrt {
  SIMGPU_INLINE static float f(float a) {
    return canonical(static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))));
  }
  SIMGPU_INLINE static double f(double a) { return 1.0 / std::sqrt(a); }
};
// The approximate functions: rounded from a double result, closer than any hardware's.
struct FSin {
  SIMGPU_INLINE static float f(float a) {
    return canonical(static_cast<float>(std::sin(static_cast<double>(a))));
  }
};
struct FCos {
  SIMGPU_INLINE static float f(float a) {
    return canonical(static_cast<float>(std::cos(static_cast<double>(a))));
  }
};
struct FLg2 {
  SIMGPU_INLINE static float f(float a) {
    return canonical(static_cast<float>(std::log2(static_cast<double>(a))));
  }
};
struct FEx2 {
  SIMGPU_INLINE static float f(float a) {
    return canonical(static_cast<float>(std::exp2(static_cast<double>(a))));
  }
};
struct FTanh {
  SIMGPU_INLINE static float f(float a) {
    return canonical(static_cast<float>(std::tanh(static_cast<double>(a))));
  }
};
/// .sat: to [0, 1], NaN to +0. .ftz: subnormals to a zero of the same sign.
struct FSaturate {
  template <class T>
  SIMGPU_INLINE static T f(T a) {
    return a != a ? T{0} : a < T{0} ? T{0} : a > T{1} ? T{1} : a == T{0} ? T{0} : a;
  }
};
struct FFlush {
  SIMGPU_INLINE static float f(float a) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(a);
    return (bits & 0x7f800000u) == 0 ? std::bit_cast<float>(bits & 0x80000000u) : a;
  }
};
/// copysign d, a, b: the sign of a, the magnitude of b.
struct FCopysign {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return std::copysign(b, a);
  }
};

template <class F, class T>
void float_unary(Warp& w, const Op& op) {
  const T* a = lanes<T>(w, op.a);
  each_lane<T>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA { return F::f(a[i]); });
}
template <class F, class T>
void float_binary(Warp& w, const Op& op) {
  const T *a = lanes<T>(w, op.a), *b = lanes<T>(w, op.b);
  each_lane<T>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA { return F::f(a[i], b[i]); });
}
template <class F, class T>
void float_ternary(Warp& w, const Op& op) {
  const T *a = lanes<T>(w, op.a), *b = lanes<T>(w, op.b), *c = lanes<T>(w, op.c);
  each_lane<T>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA { return F::f(a[i], b[i], c[i]); });
}

// ---- comparisons. The plain ones are false for NaN (ne too), the ...u ones true.
struct CEq {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a == b;
  }
};
struct CNe {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a < b || a > b;
  }
};
struct CLt {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a < b;
  }
};
struct CLe {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a <= b;
  }
};
struct CGt {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a > b;
  }
};
struct CGe {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a >= b;
  }
};
struct CEqu {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return !(a < b || a > b);
  }
};
struct CNeu {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a != b;
  }
};
struct CLtu {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return !(a >= b);
  }
};
struct CLeu {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return !(a > b);
  }
};
struct CGtu {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return !(a <= b);
  }
};
struct CGeu {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return !(a < b);
  }
};
struct CNum {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a == a && b == b;
  }
};
struct CNan {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a != a || b != b;
  }
};

void finish_float_compare(Warp& w, const Op& op, std::uint32_t m) {
  std::uint32_t no = ~m;
  if (op.x != 0) {
    const std::uint32_t c = mask_of(w, op.c) ^ (op.y ? kFullMask : 0u);
    m = op.x == 1 ? (m & c) : op.x == 2 ? (m | c) : (m ^ c);
    no = op.x == 1 ? (no & c) : op.x == 2 ? (no | c) : (no ^ c);
  }
  if (op.dst2 != kNoRef) write_pred(w, op.dst2, no);
  if (op.dst != kNoRef) write_pred(w, op.dst, m);
}
template <class F, class T>
void float_compare(Warp& w, const Op& op) {
  const T *a = lanes<T>(w, op.a), *b = lanes<T>(w, op.b);
  finish_float_compare(w, op,
                       lane_mask([=](unsigned i) SIMGPU_LAMBDA { return F::f(a[i], b[i]); }));
}
template <class F>
void set_float_compare(HandlerTable& t, ptx::Compare op) {
  Handler* h = t.compare[idx(op)];
  h[idx(Ty::f32)] = float_compare<F, float>;
  h[idx(Ty::f64)] = float_compare<F, double>;
}

/// x: 1 finite, 2 infinite, 3 number, 4 not a number, 5 normal, 6 subnormal (as ptx::TestClass).
template <class T>
SIMGPU_INLINE bool has_class(T v, unsigned which) {
  switch (which) {
    case 1:
      return std::isfinite(v);
    case 2:
      return std::isinf(v);
    case 3:
      return !std::isnan(v);
    case 4:
      return std::isnan(v);
    case 5:
      return std::isnormal(v) || v == 0;  // zeros count as normal (PTX ISA 9.7.3.2)
    default:
      return std::fpclassify(v) == FP_SUBNORMAL;
  }
}
template <class T>
void test_class(Warp& w, const Op& op) {
  const T* a = lanes<T>(w, op.a);
  std::uint32_t m = 0;
  for (unsigned i = 0; i < kLanes; ++i) m |= static_cast<std::uint32_t>(has_class(a[i], op.x)) << i;
  write_pred(w, op.dst, m);
}

template <class F>
void set_float2(HandlerTable& t, Alu op) {
  t.alu[idx(op)][idx(Ty::f32)] = float_binary<F, float>;
  t.alu[idx(op)][idx(Ty::f64)] = float_binary<F, double>;
}
template <class F>
void set_float1(HandlerTable& t, Alu op) {
  t.alu[idx(op)][idx(Ty::f32)] = float_unary<F, float>;
  t.alu[idx(op)][idx(Ty::f64)] = float_unary<F, double>;
}

}  // namespace

void fill_float(HandlerTable& t) {
  set_float2<FAdd>(t, Alu::add);
  set_float2<FSub>(t, Alu::sub);
  set_float2<FMul>(t, Alu::mul_lo);
  set_float2<FDiv>(t, Alu::div);
  set_float2<FMin>(t, Alu::min);
  set_float2<FMax>(t, Alu::max);
  set_float2<FMinNan>(t, Alu::min_nan);
  set_float2<FMaxNan>(t, Alu::max_nan);
  set_float2<FCopysign>(t, Alu::copysign);
  t.alu[idx(Alu::fma)][idx(Ty::f32)] = float_ternary<FFma, float>;
  t.alu[idx(Alu::fma)][idx(Ty::f64)] = float_ternary<FFma, double>;
  set_float1<FNeg>(t, Alu::neg);
  set_float1<FAbs>(t, Alu::abs);
  set_float1<FSqrt>(t, Alu::sqrt);
  set_float1<FRsqrt>(t, Alu::rsqrt);
  set_float1<FRcp>(t, Alu::rcp);
  set_float1<FSaturate>(t, Alu::saturate);
  t.alu[idx(Alu::sin)][idx(Ty::f32)] = float_unary<FSin, float>;
  t.alu[idx(Alu::cos)][idx(Ty::f32)] = float_unary<FCos, float>;
  t.alu[idx(Alu::lg2)][idx(Ty::f32)] = float_unary<FLg2, float>;
  t.alu[idx(Alu::ex2)][idx(Ty::f32)] = float_unary<FEx2, float>;
  t.alu[idx(Alu::tanh)][idx(Ty::f32)] = float_unary<FTanh, float>;
  t.alu[idx(Alu::flush)][idx(Ty::f32)] = float_unary<FFlush, float>;
  t.alu[idx(Alu::testp)][idx(Ty::f32)] = test_class<float>;
  t.alu[idx(Alu::testp)][idx(Ty::f64)] = test_class<double>;

  using C = ptx::Compare;
  set_float_compare<CEq>(t, C::eq);
  set_float_compare<CNe>(t, C::ne);
  set_float_compare<CLt>(t, C::lt);
  set_float_compare<CLe>(t, C::le);
  set_float_compare<CGt>(t, C::gt);
  set_float_compare<CGe>(t, C::ge);
  set_float_compare<CEqu>(t, C::equ);
  set_float_compare<CNeu>(t, C::neu);
  set_float_compare<CLtu>(t, C::ltu);
  set_float_compare<CLeu>(t, C::leu);
  set_float_compare<CGtu>(t, C::gtu);
  set_float_compare<CGeu>(t, C::geu);
  set_float_compare<CNum>(t, C::num);
  set_float_compare<CNan>(t, C::nan);
}

}  // namespace simgpu::exec::kernels
