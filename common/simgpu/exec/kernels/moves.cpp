// Selections, predicates, comparisons of integers, and the moves that change a register's width.
#include <cstdint>
#include <cstring>
#include <functional>

#include "common/simgpu/exec/kernels/lanes.hpp"

namespace simgpu::exec::kernels {
namespace {

template <class T>
void select(Warp& w, const Op& op) {
  const T *a = lanes<T>(w, op.a), *b = lanes<T>(w, op.b);
  const std::uint32_t p = mask_of(w, op.c);
  each_lane<T>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA { return (p >> i) & 1u ? a[i] : b[i]; });
}
template <class T, class S>
void select_sign(Warp& w, const Op& op) {
  const T *a = lanes<T>(w, op.a), *b = lanes<T>(w, op.b);
  const S* c = lanes<S>(w, op.c);
  each_lane<T>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA { return c[i] >= 0 ? a[i] : b[i]; });
}

// Predicates are masks: one word for the whole warp.
template <class F>
void pred_binary(Warp& w, const Op& op) {
  write_pred(w, op.dst, F{}(mask_of(w, op.a), mask_of(w, op.b)));
}
void pred_not(Warp& w, const Op& op) {
  write_pred(w, op.dst, ~mask_of(w, op.a));
}
void pred_mov(Warp& w, const Op& op) {
  write_pred(w, op.dst, mask_of(w, op.a));
}
void pred_select(Warp& w, const Op& op) {
  const std::uint32_t p = mask_of(w, op.c);
  write_pred(w, op.dst, (mask_of(w, op.a) & p) | (mask_of(w, op.b) & ~p));
}

// ---- moving bits between widths: narrow, widen, pack, unpack, broadcast; to the same width: a copy
template <class From, class To>
void narrow(Warp& w, const Op& op) {
  const From* a = lanes<From>(w, op.a);
  each_lane<To>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA { return static_cast<To>(a[i]); });
}
template <class Element, class Whole>
void pack(Warp& w, const Op& op) {
  constexpr unsigned n = sizeof(Whole) / sizeof(Element);
  Whole t[kLanes] = {};
  for (unsigned k = 0; k < n; ++k) {
    const Element* e = lanes<Element>(w, op.list[k]);
    for (unsigned i = 0; i < kLanes; ++i)
      t[i] = static_cast<Whole>(
          t[i] | (static_cast<Whole>(e[i]) << (k * (kBits<Element> % kBits<Whole>))));
  }
  each_lane<Whole>(w, op.dst, [&](unsigned i) SIMGPU_LAMBDA { return t[i]; });
}
template <class Element, class Whole>
void unpack(Warp& w, const Op& op) {
  constexpr unsigned n = sizeof(Whole) / sizeof(Element);
  Whole t[kLanes];
  std::memcpy(t, lanes<Whole>(w, op.a), sizeof t);
  for (unsigned k = 0; k < n; ++k)
    if (op.list[k] != kNoRef)
      each_lane<Element>(w, op.list[k], [&](unsigned i) SIMGPU_LAMBDA {
        return static_cast<Element>(t[i] >> (k * (kBits<Element> % kBits<Whole>)));
      });
}
template <class T>
void broadcast(Warp& w, const Op& op) {
  const T v = static_cast<T>(op.imm);
  each_lane<T>(w, op.dst, [=](unsigned) SIMGPU_LAMBDA { return v; });
}

// ---- comparisons: the mask goes to dst (and its complement to dst2), combined with predicate c as
// x says
void finish_compare(Warp& w, const Op& op, std::uint32_t m) {
  std::uint32_t no = ~m;
  if (op.x != 0) {
    const std::uint32_t c = mask_of(w, op.c) ^ (op.y ? kFullMask : 0u);
    m = op.x == 1 ? (m & c) : op.x == 2 ? (m | c) : (m ^ c);
    no = op.x == 1 ? (no & c) : op.x == 2 ? (no | c) : (no ^ c);
  }
  if (op.dst2 != kNoRef) write_pred(w, op.dst2, no);
  if (op.dst != kNoRef) write_pred(w, op.dst, m);
}
struct Eq {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a == b;
  }
};
struct Ne {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a != b;
  }
};
struct Lt {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a > b;
  }
};
struct Ge {
  template <class T>
  SIMGPU_INLINE static bool f(T a, T b) {
    return a >= b;
  }
};
template <class F, class T>
void compare(Warp& w, const Op& op) {
  const T *a = lanes<T>(w, op.a), *b = lanes<T>(w, op.b);
  finish_compare(w, op,
                 lane_mask([=](unsigned i) SIMGPU_LAMBDA { return F::template f<T>(a[i], b[i]); }));
}

// ---- the tables
template <class F>
void set_compare(HandlerTable& t, ptx::Compare op) {
  Handler* h = t.compare[idx(op)];
  h[idx(Ty::u16)] = compare<F, U16>;
  h[idx(Ty::u32)] = compare<F, U32>;
  h[idx(Ty::u64)] = compare<F, U64>;
  h[idx(Ty::s16)] = compare<F, I16>;
  h[idx(Ty::s32)] = compare<F, I32>;
  h[idx(Ty::s64)] = compare<F, I64>;
}

void fill_selections(HandlerTable& t) {
  auto set = [&](Alu op, Ty type, Handler h) { t.alu[idx(op)][idx(type)] = h; };
  set(Alu::selp, Ty::u16, select<U16>);
  set(Alu::selp, Ty::u32, select<U32>);
  set(Alu::selp, Ty::u64, select<U64>);
  set(Alu::slct_s32, Ty::u16, select_sign<U16, I32>);
  set(Alu::slct_s32, Ty::u32, select_sign<U32, I32>);
  set(Alu::slct_s32, Ty::u64, select_sign<U64, I32>);
  set(Alu::slct_f32, Ty::u16, select_sign<U16, float>);
  set(Alu::slct_f32, Ty::u32, select_sign<U32, float>);
  set(Alu::slct_f32, Ty::u64, select_sign<U64, float>);
  set(Alu::and_, Ty::pred, pred_binary<std::bit_and<>>);
  set(Alu::or_, Ty::pred, pred_binary<std::bit_or<>>);
  set(Alu::xor_, Ty::pred, pred_binary<std::bit_xor<>>);
  set(Alu::not_, Ty::pred, pred_not);
  set(Alu::mov, Ty::pred, pred_mov);
  set(Alu::selp, Ty::pred, pred_select);
  set(Alu::mov, Ty::u8, narrow<U8, U8>);
  set(Alu::mov, Ty::u16, narrow<U16, U16>);
  set(Alu::mov, Ty::u32, narrow<U32, U32>);
  set(Alu::mov, Ty::u64, narrow<U64, U64>);
}

void fill_comparisons(HandlerTable& t) {
  using C = ptx::Compare;
  set_compare<Eq>(t, C::eq);
  set_compare<Ne>(t, C::ne);
  set_compare<Lt>(t, C::lt);
  set_compare<Le>(t, C::le);
  set_compare<Gt>(t, C::gt);
  set_compare<Ge>(t, C::ge);
}

}  // namespace

void fill_moves(HandlerTable& t) {
  fill_selections(t);
  fill_comparisons(t);
  t.narrow[1][0] = narrow<U16, U8>;
  t.narrow[2][0] = narrow<U32, U8>;
  t.narrow[3][0] = narrow<U64, U8>;
  t.narrow[2][1] = narrow<U32, U16>;
  t.narrow[3][1] = narrow<U64, U16>;
  t.narrow[3][2] = narrow<U64, U32>;
  auto widen = [&](Ty type, unsigned log2_bytes, Handler h) { t.widen[idx(type)][log2_bytes] = h; };
  widen(Ty::u8, 1, narrow<U8, U16>);
  widen(Ty::u8, 2, narrow<U8, U32>);
  widen(Ty::u8, 3, narrow<U8, U64>);
  widen(Ty::u16, 2, narrow<U16, U32>);
  widen(Ty::u16, 3, narrow<U16, U64>);
  widen(Ty::u32, 3, narrow<U32, U64>);
  widen(Ty::s8, 1, narrow<std::int8_t, I16>);
  widen(Ty::s8, 2, narrow<std::int8_t, I32>);
  widen(Ty::s8, 3, narrow<std::int8_t, I64>);
  widen(Ty::s16, 2, narrow<I16, I32>);
  widen(Ty::s16, 3, narrow<I16, I64>);
  widen(Ty::s32, 3, narrow<I32, I64>);
  t.pack[0][1] = pack<U8, U16>;
  t.pack[0][2] = pack<U8, U32>;
  t.pack[0][3] = pack<U8, U64>;
  t.pack[1][2] = pack<U16, U32>;
  t.pack[1][3] = pack<U16, U64>;
  t.pack[2][3] = pack<U32, U64>;
  t.unpack[0][1] = unpack<U8, U16>;
  t.unpack[0][2] = unpack<U8, U32>;
  t.unpack[0][3] = unpack<U8, U64>;
  t.unpack[1][2] = unpack<U16, U32>;
  t.unpack[1][3] = unpack<U16, U64>;
  t.unpack[2][3] = unpack<U32, U64>;
  t.broadcast[0] = broadcast<U8>;
  t.broadcast[1] = broadcast<U16>;
  t.broadcast[2] = broadcast<U32>;
  t.broadcast[3] = broadcast<U64>;
}

}  // namespace simgpu::exec::kernels
