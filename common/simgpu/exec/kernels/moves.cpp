// The moves that change a register's width.
#include <cstdint>
#include <cstring>

#include "common/simgpu/exec/kernels/lanes.hpp"

namespace simgpu::exec::kernels {
namespace {

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

}  // namespace

void fill_moves(HandlerTable& t) {
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
