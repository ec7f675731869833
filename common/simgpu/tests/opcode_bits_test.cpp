// Logic, shifts, bit fields, byte permutation and the moves that pack and unpack registers.
#include <bit>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

template <typename T>
void logic(const std::string& t) {
  check("and." + t, [](T a, T b) { return static_cast<T>(a & b); });
  check("or." + t, [](T a, T b) { return static_cast<T>(a | b); });
  check("xor." + t, [](T a, T b) { return static_cast<T>(a ^ b); });
  check("not." + t, [](T a) { return static_cast<T>(~a); });
  check("cnot." + t, [](T a) { return static_cast<T>(a == 0 ? 1 : 0); });
}

TEST_CASE("logic on words", "[opcode][bits]") {
  logic<u16>("b16");
  logic<u32>("b32");
  logic<u64>("b64");
}

TEST_CASE("logic on predicates", "[opcode][bits]") {
  check("and.pred", [](bool a, bool b) { return a && b; });
  check("or.pred", [](bool a, bool b) { return a || b; });
  check("xor.pred", [](bool a, bool b) { return a != b; });
  check("not.pred", [](bool a) { return !a; });
  check("mov.pred", [](bool a) { return a; });
}

// PTX: shift amounts above the width are clamped to it (no modulo, unlike x86 and C).
template <typename U, typename S>
void shifts(const std::string& bits) {
  check("shl.b" + bits,
        [](U a, u32 n) { return n >= sizeof(U) * 8 ? U{0} : static_cast<U>(a << n); });
  check("shr.u" + bits,
        [](U a, u32 n) { return n >= sizeof(U) * 8 ? U{0} : static_cast<U>(a >> n); });
  check("shr.b" + bits,
        [](U a, u32 n) { return n >= sizeof(U) * 8 ? U{0} : static_cast<U>(a >> n); });
  check("shr.s" + bits, [](S a, u32 n) {
    const u32 last = sizeof(S) * 8 - 1;
    return static_cast<S>(a >> (n > last ? last : n));
  });
}

TEST_CASE("shifts by any amount", "[opcode][bits]") {
  shifts<u16, s16>("16");
  shifts<u32, s32>("32");
  shifts<u64, s64>("64");
  check("shl.b32 %x, %a, 32;", [](u32) { return u32{0}; });
  check("shl.b64 %x, %a, 33;", [](u64 a) { return a << 33; });
  check("shr.s32 %x, %a, 4294967295;", [](s32 a) { return a < 0 ? -1 : 0; });
}

template <bool Left, bool Wrap>
u32 funnel(u32 a, u32 b, u32 c) {
  const u32 n = Wrap ? c & 31 : (c > 32 ? 32 : c);
  const u64 both = a | (u64{b} << 32);
  return static_cast<u32>(Left ? (both << n) >> 32 : (n == 64 ? 0 : both >> n));
}

TEST_CASE("funnel shifts", "[opcode][bits]") {
  check("shf.l.clamp.b32", [](u32 a, u32 b, u32 c) { return funnel<true, false>(a, b, c); });
  check("shf.l.wrap.b32", [](u32 a, u32 b, u32 c) { return funnel<true, true>(a, b, c); });
  check("shf.r.clamp.b32", [](u32 a, u32 b, u32 c) { return funnel<false, false>(a, b, c); });
  check("shf.r.wrap.b32", [](u32 a, u32 b, u32 c) { return funnel<false, true>(a, b, c); });
}

// The pseudo-code of the ISA manual, bit by bit.
template <typename T>
T bfe(T a, u32 b, u32 c) {
  using U = std::make_unsigned_t<T>;
  const u32 top = sizeof(T) * 8 - 1, pos = b & 0xFF, len = c & 0xFF;
  const auto bit = [a](u32 i) { return (static_cast<U>(a) >> i) & 1; };
  const U sign =
      std::is_unsigned_v<T> || len == 0 ? U{0} : bit(pos + len - 1 < top ? pos + len - 1 : top);
  U d = 0;
  for (u32 i = 0; i <= top; ++i)
    d |= static_cast<U>((i < len && pos + i <= top ? bit(pos + i) : sign) << i);
  return static_cast<T>(d);
}
template <typename U>
U bfi(U a, U b, u32 c, u32 d) {
  const u32 top = sizeof(U) * 8 - 1, pos = c & 0xFF, len = d & 0xFF;
  U f = b;
  for (u32 i = 0; i < len && pos + i <= top; ++i) {
    const U bit = U{1} << (pos + i);
    f = static_cast<U>(((a >> i) & 1) != 0 ? f | bit : f & ~bit);
  }
  return f;
}

TEST_CASE("bit fields, past the ends too", "[opcode][bits]") {
  check("bfe.u32", [](u32 a, u32 b, u32 c) { return bfe(a, b, c); });
  check("bfe.s32", [](s32 a, u32 b, u32 c) { return bfe(a, b, c); });
  check("bfi.b32", [](u32 a, u32 b, u32 c, u32 d) { return bfi(a, b, c, d); });
  // The ISA restricts position and length to 0..255. Hardware cuts them to a byte in the 32-bit
  // forms and does something else in the 64-bit ones: those are tested inside the restriction.
  FormOptions bytes;
  bytes.random_tuples = 3000;
  bytes.accept = [](const u64* in) { return in[1] < 256 && in[2] < 256; };
  check(
      "bfe.u64", [](u64 a, u32 b, u32 c) { return bfe(a, b, c); }, bytes);
  check(
      "bfe.s64", [](s64 a, u32 b, u32 c) { return bfe(a, b, c); }, bytes);
  bytes.accept = [](const u64* in) { return in[2] < 256 && in[3] < 256; };
  check(
      "bfi.b64", [](u64 a, u64 b, u32 c, u32 d) { return bfi(a, b, c, d); }, bytes);
}

// The pseudo-code of the ISA manual.
template <bool Clamp>
u32 bmsk(u32 a, u32 b) {
  const u32 a1 = a & 0x1f, b1 = b & 0x1f, sum = a1 + b1;
  u32 mask0 = ~u32{0} << a1;
  const u32 mask1 = ~u32{0} << (sum & 0x1f);
  const bool too_far = Clamp && a >= 32, too_wide = Clamp && b >= 32;
  if (too_far) mask0 = 0;
  if (sum >= 32 || too_far || too_wide) return mask0;
  return b1 == 0 ? 0 : mask0 & ~mask1;
}
template <bool Clamp, typename T>
T szext(T a, u32 b) {
  const u32 b1 = b & 0x1f;
  const bool too_large = Clamp && b >= 32;
  const u32 mask = too_large ? 0 : ~u32{0} << b1;
  const bool sign = b1 != 0 && !too_large && std::is_signed_v<T> &&
                    ((static_cast<u32>(a) >> ((b1 - 1) & 0x1f)) & 1) != 0;
  return static_cast<T>((static_cast<u32>(a) & ~mask) | (sign ? mask : 0));
}

TEST_CASE("bit masks and extensions", "[opcode][bits]") {
  check("bmsk.clamp.b32", [](u32 a, u32 b) { return bmsk<true>(a, b); });
  check("bmsk.wrap.b32", [](u32 a, u32 b) { return bmsk<false>(a, b); });
  check("szext.clamp.u32", [](u32 a, u32 b) { return szext<true>(a, b); });
  check("szext.wrap.u32", [](u32 a, u32 b) { return szext<false>(a, b); });
  check("szext.clamp.s32", [](s32 a, u32 b) { return szext<true>(a, b); });
  check("szext.wrap.s32", [](s32 a, u32 b) { return szext<false>(a, b); });
  // Small amounts, which random operands seldom are.
  check("{ .reg .b32 m, n; and.b32 m, %a, 63; and.b32 n, %b, 63; bmsk.clamp.b32 %x, m, n; }",
        [](u32 a, u32 b) { return bmsk<true>(a & 63, b & 63); });
  check("{ .reg .b32 m, n; and.b32 m, %a, 63; and.b32 n, %b, 63; bmsk.wrap.b32 %x, m, n; }",
        [](u32 a, u32 b) { return bmsk<false>(a & 63, b & 63); });
  check("{ .reg .b32 n; and.b32 n, %b, 63; szext.clamp.s32 %x, %a, n; }",
        [](s32 a, u32 b) { return szext<true>(a, b & 63); });
  check("{ .reg .b32 n; and.b32 n, %b, 63; szext.wrap.u32 %x, %a, n; }",
        [](u32 a, u32 b) { return szext<false>(a, b & 63); });
}

template <typename T>
u32 highest(T a, bool amount) {
  using U = std::make_unsigned_t<T>;
  const U v = static_cast<U>(a < 0 ? ~a : a);
  u32 d = ~u32{0};
  for (u32 i = 0; i < sizeof(T) * 8; ++i) {
    if (((v >> i) & 1) != 0) d = i;
  }
  return amount && d != ~u32{0} ? static_cast<u32>(sizeof(T) * 8 - 1) - d : d;
}

template <typename T>
T reversed(T a) {
  T r = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i) r = static_cast<T>(r << 1 | ((a >> i) & 1));
  return r;
}

TEST_CASE("counting and finding bits", "[opcode][bits]") {
  check("popc.b32", [](u32 a) { return static_cast<u32>(std::popcount(a)); });
  check("popc.b64", [](u64 a) { return static_cast<u32>(std::popcount(a)); });
  check("clz.b32", [](u32 a) { return static_cast<u32>(std::countl_zero(a)); });
  check("clz.b64", [](u64 a) { return static_cast<u32>(std::countl_zero(a)); });
  check("brev.b32", [](u32 a) { return reversed(a); });
  check("brev.b64", [](u64 a) { return reversed(a); });
  check("bfind.u32", [](u32 a) { return highest(a, false); });
  check("bfind.s32", [](s32 a) { return highest(a, false); });
  check("bfind.u64", [](u64 a) { return highest(a, false); });
  check("bfind.s64", [](s64 a) { return highest(a, false); });
  check("bfind.shiftamt.u32", [](u32 a) { return highest(a, true); });
  check("bfind.shiftamt.s32", [](s32 a) { return highest(a, true); });
  check("bfind.shiftamt.u64", [](u64 a) { return highest(a, true); });
  check("bfind.shiftamt.s64", [](s64 a) { return highest(a, true); });
}

// ---------------------------------------------------------------------------------------------
// prmt

u32 pick(u32 a, u32 b, const unsigned (&bytes)[4]) {  // bytes from the least significant one up
  const u64 both = a | (u64{b} << 32);
  u32 d = 0;
  for (unsigned i = 0; i < 4; ++i)
    d |= static_cast<u32>((both >> (8 * bytes[i])) & 0xFF) << (8 * i);
  return d;
}

TEST_CASE("prmt in every mode", "[opcode][bits]") {
  check("prmt.b32", [](u32 a, u32 b, u32 c) {
    const u64 both = a | (u64{b} << 32);
    u32 d = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const u32 selector = (c >> (4 * i)) & 0xF;
      u32 byte = static_cast<u32>(both >> (8 * (selector & 7))) & 0xFF;
      if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
      d |= byte << (8 * i);
    }
    return d;
  });
  check("prmt.b32.f4e", [](u32 a, u32 b, u32 c) {
    const unsigned i = c & 3;
    return pick(a, b, {i, i + 1, i + 2, i + 3});
  });
  check("prmt.b32.b4e", [](u32 a, u32 b, u32 c) {
    const unsigned i = c & 3;
    return pick(a, b, {i, (i + 7) & 7, (i + 6) & 7, (i + 5) & 7});
  });
  check("prmt.b32.rc8", [](u32 a, u32 b, u32 c) {
    const unsigned i = c & 3;
    return pick(a, b, {i, i, i, i});
  });
  check("prmt.b32.ecl", [](u32 a, u32 b, u32 c) {
    const unsigned i = c & 3;
    return pick(a, b, {i, i > 1 ? i : 1, i > 2 ? i : 2, 3});
  });
  check("prmt.b32.ecr", [](u32 a, u32 b, u32 c) {
    const unsigned i = c & 3;
    return pick(a, b, {0, i < 1 ? i : 1, i < 2 ? i : 2, i});
  });
  check("prmt.b32.rc16", [](u32 a, u32 b, u32 c) {
    const unsigned i = (c & 1) * 2;
    return pick(a, b, {i, i + 1, i, i + 1});
  });
}

// ---------------------------------------------------------------------------------------------
// lop3

TEST_CASE("lop3: all 256 tables", "[opcode][bits]") {
  // One kernel with 256 instructions; operands so that every lane meets all eight input
  // combinations.
  std::string body = R"(.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd2, %r0, 4;
  add.s64 %rd1, %rd1, %rd2;
  mad.lo.s32 %r1, %r0, 0x01234567, 0xF0F0F0F0;
  mad.lo.s32 %r2, %r0, 0x89ABCDE1, 0xCCCCCCCC;
  mad.lo.s32 %r3, %r0, 0x13579BDF, 0xAAAAAAAA;
)";
  for (unsigned table = 0; table < 256; ++table) {
    body += "  lop3.b32 %r4, %r1, %r2, %r3, " + std::to_string(table) +
            ";\n  st.global.u32 [%rd1+" + std::to_string(table * 128) + "], %r4;\n";
  }
  Gpu gpu(ptx_module(body + "  ret;\n}\n"));
  const DevicePtr out = gpu.device.alloc(256 * 128, "out");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {32, 1, 1}, out);
  CHECK(to_text(report.findings).empty());
  const std::vector<u32> got = gpu.download<u32>(out, 256 * 32);
  unsigned wrong = 0;
  for (unsigned table = 0; table < 256; ++table) {
    for (u32 lane = 0; lane < 32; ++lane) {
      const u32 a = lane * 0x01234567u + 0xF0F0F0F0u, b = lane * 0x89ABCDE1u + 0xCCCCCCCCu,
                c = lane * 0x13579BDFu + 0xAAAAAAAAu;
      u32 expected = 0;
      for (unsigned i = 0; i < 32; ++i) {
        const unsigned index = ((a >> i) & 1) * 4 + ((b >> i) & 1) * 2 + ((c >> i) & 1);
        expected |= ((table >> index) & 1) << i;
      }
      wrong += got[table * 32 + lane] != expected;
    }
  }
  CHECK(wrong == 0);
}

// --------------------------------------------------------------------------------------------- mov

TEST_CASE("moves", "[opcode][bits]") {
  check("mov.u16", [](u16 a) { return a; });
  check("mov.b16", [](u16 a) { return a; });
  check("mov.u32", [](u32 a) { return a; });
  check("mov.s32", [](s32 a) { return a; });
  check("mov.b32", [](float a) { return std::bit_cast<u32>(a); });
  check("mov.b32", [](u32 a) { return std::bit_cast<float>(a); });
  check("mov.f32", [](float a) { return a; });
  check("mov.b64", [](double a) { return std::bit_cast<u64>(a); });
  check("mov.f64", [](double a) { return a; });
  check("mov.u64", [](u64 a) { return a; });
  check("mov.b32 %x, 0f3FC00000;", [](u32) { return 0x3FC00000u; });
  check("mov.f32 %x, 0fBF800000;", [](u32) { return -1.0f; });
  check("mov.f64 %x, 0d3FF8000000000000;", [](u32) { return 1.5; });
  check("mov.u64 %x, -1;", [](u32) { return ~u64{0}; });
  check("mov.u32 %x, WARP_SZ;", [](u32) { return 32u; });
}

TEST_CASE("packing and unpacking moves", "[opcode][bits]") {
  check("mov.b64 %x, {%a, %b};", [](u32 a, u32 b) { return a | (u64{b} << 32); });
  check("mov.b64 {%x, %y}, %a;", [](u64 a) {
    return std::pair<u32, u32>{static_cast<u32>(a), static_cast<u32>(a >> 32)};
  });
  check("mov.b32 %x, {%a, %b};", [](u16 a, u16 b) { return a | (u32{b} << 16); });
  check("mov.b32 {%x, %y}, %a;", [](u32 a) {
    return std::pair<u16, u16>{static_cast<u16>(a), static_cast<u16>(a >> 16)};
  });
  check("mov.b64 %x, {%a, %b, %c, %d};", [](u16 a, u16 b, u16 c, u16 d) {
    return a | (u64{b} << 16) | (u64{c} << 32) | (u64{d} << 48);
  });
  check("{ .reg .b16 t, u; mov.b64 {t, %x, u, %y}, %a; }", [](u64 a) {
    return std::pair<u16, u16>{static_cast<u16>(a >> 16), static_cast<u16>(a >> 48)};
  });
  check("mov.b64 %x, {%a, %b};", [](float a, float b) {
    return std::bit_cast<u32>(a) | (u64{std::bit_cast<u32>(b)} << 32);
  });
  // The destination halves may be the source's own register's neighbours: read before write.
  check("{ .reg .b32 lo, hi; mov.b64 {lo, hi}, %a; mov.b64 %x, {hi, lo}; }",
        [](u64 a) { return (a << 32) | (a >> 32); });
  check("{ .reg .b32 hi; mov.b64 {_, hi}, %a; mov.b32 %x, hi; }",
        [](u64 a) { return static_cast<u32>(a >> 32); });
}

}  // namespace
}  // namespace simgpu::test
