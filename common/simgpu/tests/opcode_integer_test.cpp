// Integer arithmetic, form by form, against plain C++ in wide types.
#include <algorithm>
#include <limits>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using s128 = __int128;
__extension__ using u128 = unsigned __int128;

template <typename T>
std::string type_name() {
  return std::string(std::is_signed_v<T> ? "s" : "u") + std::to_string(sizeof(T) * 8);
}

// 128-bit arithmetic, cut to T: no overflow to think about.
template <typename T>
T cut(s128 v) {
  return static_cast<T>(static_cast<u128>(v));
}

template <typename T>
T clamp_to(s128 v) {
  const s128 low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return static_cast<T>(v < low ? low : v > high ? high : v);
}

template <typename T>
void arithmetic() {
  const std::string t = type_name<T>();
  check("add." + t, [](T a, T b) { return cut<T>(s128{a} + b); });
  check("sub." + t, [](T a, T b) { return cut<T>(s128{a} - b); });
  check("mul.lo." + t, [](T a, T b) {
    return cut<T>(static_cast<s128>(static_cast<u128>(s128{a}) * static_cast<u128>(s128{b})));
  });
  check("mul.hi." + t, [](T a, T b) {
    constexpr unsigned bits = sizeof(T) * 8;
    if constexpr (std::is_signed_v<T>) return cut<T>((s128{a} * b) >> bits);
    return static_cast<T>((static_cast<u128>(a) * b) >> bits);
  });
  check("mad.lo." + t, [](T a, T b, T c) {
    return static_cast<T>(static_cast<u128>(s128{a}) * static_cast<u128>(s128{b}) +
                          static_cast<u128>(s128{c}));
  });
  check("mad.hi." + t, [](T a, T b, T c) {
    constexpr unsigned bits = sizeof(T) * 8;
    if constexpr (std::is_signed_v<T>) return cut<T>(((s128{a} * b) >> bits) + c);
    return static_cast<T>(((static_cast<u128>(a) * b) >> bits) + c);
  });
  check("min." + t, [](T a, T b) { return std::min(a, b); });
  check("max." + t, [](T a, T b) { return std::max(a, b); });
  check("sad." + t,
        [](T a, T b, T c) { return cut<T>(s128{c} + (a < b ? s128{b} - a : s128{a} - b)); });
  // Division by zero has a test of its own below; MIN / -1 wraps to MIN as the hardware's sequence
  // does.
  FormOptions nonzero;
  nonzero.accept = [](const u64* in) { return static_cast<T>(in[1]) != 0; };
  check(
      "div." + t, [](T a, T b) { return cut<T>(s128{a} / (b == 0 ? s128{1} : s128{b})); }, nonzero);
  check(
      "rem." + t, [](T a, T b) { return cut<T>(s128{a} % (b == 0 ? s128{1} : s128{b})); }, nonzero);
}

TEST_CASE("integer add sub mul mad min max sad div rem", "[opcode][integer]") {
  arithmetic<u16>();
  arithmetic<s16>();
  arithmetic<u32>();
  arithmetic<s32>();
  arithmetic<u64>();
  arithmetic<s64>();
}

template <typename T>
void sign() {
  const std::string t = type_name<T>();
  check("abs." + t, [](T a) { return cut<T>(a < 0 ? -s128{a} : s128{a}); });
  check("neg." + t, [](T a) { return cut<T>(-s128{a}); });
}

TEST_CASE("integer abs and neg, of the smallest value too", "[opcode][integer]") {
  sign<s16>();
  sign<s32>();
  sign<s64>();
}

template <typename T, typename Wide>
void wide() {
  const std::string t = type_name<T>();
  check("mul.wide." + t,
        [](T a, T b) { return static_cast<Wide>(static_cast<Wide>(a) * static_cast<Wide>(b)); });
  check("mad.wide." + t, [](T a, T b, Wide c) { return cut<Wide>(s128{a} * b + c); });
}

TEST_CASE("mul.wide and mad.wide give the whole product", "[opcode][integer]") {
  wide<u16, u32>();
  wide<s16, s32>();
  wide<u32, u64>();
  wide<s32, s64>();
}

TEST_CASE("saturating integer add, sub, mad", "[opcode][integer]") {
  check("add.sat.s32", [](s32 a, s32 b) { return clamp_to<s32>(s128{a} + b); });
  check("sub.sat.s32", [](s32 a, s32 b) { return clamp_to<s32>(s128{a} - b); });
  check("mad.hi.sat.s32",
        [](s32 a, s32 b, s32 c) { return clamp_to<s32>(((s128{a} * b) >> 32) + c); });
}

s64 low24(s32 v) {
  return static_cast<s32>(static_cast<u32>(v) << 8) >> 8;
}
u64 low24(u32 v) {
  return v & 0xFFFFFFu;
}

TEST_CASE("24-bit multiplication", "[opcode][integer]") {
  check("mul24.lo.s32", [](s32 a, s32 b) { return static_cast<s32>(low24(a) * low24(b)); });
  check("mul24.lo.u32", [](u32 a, u32 b) { return static_cast<u32>(low24(a) * low24(b)); });
  check("mul24.hi.s32", [](s32 a, s32 b) { return static_cast<s32>((low24(a) * low24(b)) >> 16); });
  check("mul24.hi.u32", [](u32 a, u32 b) { return static_cast<u32>((low24(a) * low24(b)) >> 16); });
  check("mad24.lo.s32",
        [](s32 a, s32 b, s32 c) { return cut<s32>(s128{low24(a) * low24(b)} + c); });
  check("mad24.lo.u32",
        [](u32 a, u32 b, u32 c) { return static_cast<u32>(low24(a) * low24(b) + c); });
  check("mad24.hi.s32",
        [](s32 a, s32 b, s32 c) { return cut<s32>((s128{low24(a) * low24(b)} >> 16) + c); });
  check("mad24.hi.u32",
        [](u32 a, u32 b, u32 c) { return static_cast<u32>(((low24(a) * low24(b)) >> 16) + c); });
}

// Division by zero does not trap on NVIDIA hardware: every bit of the quotient is 1. The simulator
// gives that value (and may report it as a finding, never crash).
TEST_CASE("division by zero gives all ones", "[opcode][integer]") {
  FormOptions zero;
  zero.division_by_zero = true;
  zero.accept = [](const u64* in) { return in[1] == 0; };
  check(
      "div.u32", [](u32, u32) { return ~u32{0}; }, zero);
  check(
      "div.s32", [](s32, s32) { return s32{-1}; }, zero);
  check(
      "div.u64", [](u64, u64) { return ~u64{0}; }, zero);
  check(
      "div.s64", [](s64, s64) { return s64{-1}; }, zero);
}

TEST_CASE("remainder of a division by zero is defined and harmless", "[opcode][integer]") {
  // a - b * (a / b) with b = 0 is a; what hardware gives for it is not documented.
  const char* const ptx = R"(
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 77; mov.u32 %r2, 0;
  rem.u32 %r3, %r1, %r2;
  st.global.u32 [%rd1], %r3;
  rem.s32 %r3, %r1, %r2;
  st.global.u32 [%rd1+4], %r3;
  ret;
})";
  Gpu gpu(ptx_module(ptx));
  const DevicePtr out = gpu.device.alloc(8, "out");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {1, 1, 1}, out);
  for (const Finding& f : report.findings) CHECK(f.kind == FindingKind::division_by_zero);
  const std::vector<u32> values = gpu.download<u32>(out, 2);
  for (const u32 v : values) CHECK((v == 77 || v == ~u32{0}));
}

u32 dot4(u32 a, u32 b, u32 c, bool sign_a, bool sign_b) {
  s64 sum = 0;
  for (unsigned i = 0; i < 32; i += 8) {
    const s64 x = sign_a ? s64{static_cast<s8>(a >> i)} : s64{static_cast<u8>(a >> i)};
    const s64 y = sign_b ? s64{static_cast<s8>(b >> i)} : s64{static_cast<u8>(b >> i)};
    sum += x * y;
  }
  return static_cast<u32>(static_cast<u64>(sum)) + c;
}

TEST_CASE("dp4a", "[opcode][integer]") {
  check("dp4a.u32.u32", [](u32 a, u32 b, u32 c) { return dot4(a, b, c, false, false); });
  check("dp4a.s32.s32", [](u32 a, u32 b, u32 c) { return dot4(a, b, c, true, true); });
  check("dp4a.s32.u32", [](u32 a, u32 b, u32 c) { return dot4(a, b, c, true, false); });
  check("dp4a.u32.s32", [](u32 a, u32 b, u32 c) { return dot4(a, b, c, false, true); });
}

template <bool High>
u32 dot2(u32 a, u32 b, u32 c, bool sign_a, bool sign_b) {
  s64 sum = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const s64 x =
        sign_a ? s64{static_cast<s16>(a >> (16 * i))} : s64{static_cast<u16>(a >> (16 * i))};
    const u32 byte = b >> (8 * i + (High ? 16 : 0));
    sum += x * (sign_b ? s64{static_cast<s8>(byte)} : s64{static_cast<u8>(byte)});
  }
  return static_cast<u32>(static_cast<u64>(sum)) + c;
}

TEST_CASE("dp2a", "[opcode][integer]") {
  check("dp2a.lo.u32.u32", [](u32 a, u32 b, u32 c) { return dot2<false>(a, b, c, false, false); });
  check("dp2a.hi.u32.u32", [](u32 a, u32 b, u32 c) { return dot2<true>(a, b, c, false, false); });
  check("dp2a.lo.s32.s32", [](u32 a, u32 b, u32 c) { return dot2<false>(a, b, c, true, true); });
  check("dp2a.hi.s32.u32", [](u32 a, u32 b, u32 c) { return dot2<true>(a, b, c, true, false); });
}

u64 join(u32 low, u32 high) {
  return low | (static_cast<u64>(high) << 32);
}
std::pair<u32, u32> split(u64 v) {
  return {static_cast<u32>(v), static_cast<u32>(v >> 32)};
}

TEST_CASE("carry chains", "[opcode][integer]") {
  check("add.cc.u32 %x, %a, %c; addc.u32 %y, %b, %d;",
        [](u32 a, u32 b, u32 c, u32 d) { return split(join(a, b) + join(c, d)); });
  check("sub.cc.u32 %x, %a, %c; subc.u32 %y, %b, %d;",
        [](u32 a, u32 b, u32 c, u32 d) { return split(join(a, b) - join(c, d)); });
  // Three limbs: the carry of addc.cc itself.
  check(R"({ .reg .u32 t; add.cc.u32 t, %a, %b; addc.cc.u32 %x, %c, %d; addc.u32 %y, 0, 0; })",
        [](u32 a, u32 b, u32 c, u32 d) {
          const u64 low = u64{a} + b, high = u64{c} + d + (low >> 32);
          return std::pair<u32, u32>{static_cast<u32>(high), static_cast<u32>(high >> 32)};
        });
  check(R"({ .reg .u32 t; sub.cc.u32 t, %a, %b; subc.cc.u32 %x, %c, %d; subc.u32 %y, 0, 0; })",
        [](u32 a, u32 b, u32 c, u32 d) {
          const u32 borrow = a < b ? 1 : 0;
          const bool again = u64{c} < u64{d} + borrow;
          return std::pair<u32, u32>{c - d - borrow, again ? ~u32{0} : 0};
        });
  // 32 x 32 + 64 as compilers write it.
  check("mad.lo.cc.u32 %x, %a, %b, %c; madc.hi.u32 %y, %a, %b, %d;",
        [](u32 a, u32 b, u32 c, u32 d) { return split(u64{a} * b + join(c, d)); });
  check("{ .reg .u64 t; add.cc.u64 t, %a, %b; addc.u64 %x, %c, %d; }",
        [](u64 a, u64 b, u64 c, u64 d) { return c + d + (a + b < a ? 1 : 0); });
  // Each lane has a carry of its own, and a plain add leaves it alone.
  check("{ .reg .u32 t; add.cc.u32 t, %a, %b; add.u32 t, %a, %a; addc.u32 %x, 0, 0; }",
        [](u32 a, u32 b) { return u32{a + b < a}; });
}

TEST_CASE("immediate operands", "[opcode][integer]") {
  check("add.s32 %x, %a, -1;", [](u32 a) { return a - 1; });
  check("sub.s32 %x, 5, %a;", [](u32 a) { return 5 - a; });
  check("add.s64 %x, %a, -1;", [](u64 a) { return a - 1; });
  check("mul.lo.s32 %x, %a, 0x7fffffff;", [](u32 a) { return a * 0x7FFFFFFFu; });
  check("mad.lo.s32 %x, %a, 0b101, 017;", [](u32 a) { return a * 5 + 15; });
  check("add.u32 %x, %a, 4294967295;", [](u32 a) { return a - 1; });
  check("add.u32 %x, %a, 0xFFFFFFFFU;", [](u32 a) { return a - 1; });
  check("mul.wide.s32 %x, %a, -4;", [](s32 a) { return s64{a} * -4; });
  check("mul.wide.u32 %x, %a, 4294967292;", [](u32 a) { return u64{a} * 4294967292u; });
  check("add.s16 %x, %a, -2;", [](u16 a) { return static_cast<u16>(a - 2); });
  check("max.s32 %x, %a, -3;", [](s32 a) { return std::max(a, -3); });
  check("min.u64 %x, %a, 18446744073709551614;", [](u64 a) { return std::min(a, ~u64{0} - 1); });
}

}  // namespace
}  // namespace simgpu::test
