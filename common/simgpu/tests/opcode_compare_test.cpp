// setp, set, selp, slct: every comparison, ordered and unordered, combined and with two
// destinations.
#include <cmath>

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
std::string type_name() {
  const std::string bits = std::to_string(sizeof(T) * 8);
  return (std::is_floating_point_v<T> ? "f" : std::is_signed_v<T> ? "s" : "u") + bits;
}

enum class C { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

// The relations of two numbers for which a comparison holds.
constexpr unsigned kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8;
constexpr unsigned holds(C op) {
  constexpr unsigned kOrdered[] = {kEqual,   kLess | kGreater, kLess, kLess | kEqual,
                                   kGreater, kGreater | kEqual};  // eq to ge
  if (op == C::num) return kLess | kEqual | kGreater;
  if (op == C::nan) return kUnordered;
  const auto place = static_cast<unsigned>(op);
  return place < 6 ? kOrdered[place] : kOrdered[place - 6] | kUnordered;  // equ to geu
}

template <C Op, typename T>
bool compare(T a, T b) {
  bool unordered = false;
  if constexpr (std::is_floating_point_v<T>) unordered = std::isnan(a) || std::isnan(b);
  return (holds(Op) & (unordered ? kUnordered : a < b ? kLess : a == b ? kEqual : kGreater)) != 0;
}

template <C Op, typename T>
void one(const std::string& name, std::string t = type_name<T>()) {
  check("setp." + name + "." + t, [](T a, T b) { return compare<Op>(a, b); });
  check("setp." + name + "." + t, [](T a, T b) {
    return std::pair<bool, bool>{compare<Op>(a, b), !compare<Op>(a, b)};
  });
  check("setp." + name + ".and." + t, [](T a, T b, bool c) {
    return std::pair<bool, bool>{compare<Op>(a, b) && c, !compare<Op>(a, b) && c};
  });
  check("setp." + name + ".or." + t, [](T a, T b, bool c) {
    return std::pair<bool, bool>{compare<Op>(a, b) || c, !compare<Op>(a, b) || c};
  });
  check("setp." + name + ".xor." + t, [](T a, T b, bool c) {
    return std::pair<bool, bool>{compare<Op>(a, b) != c, !compare<Op>(a, b) != c};
  });
  check("set." + name + ".u32." + t, [](T a, T b) { return compare<Op>(a, b) ? ~u32{0} : 0; });
  check("set." + name + ".f32." + t, [](T a, T b) { return compare<Op>(a, b) ? 1.0f : 0.0f; });
}

template <typename T>
void equality() {
  one<C::eq, T>("eq");
  one<C::ne, T>("ne");
}
template <typename T>
void order() {
  equality<T>();
  one<C::lt, T>("lt");
  one<C::le, T>("le");
  one<C::gt, T>("gt");
  one<C::ge, T>("ge");
}

TEST_CASE("setp and set on 16-bit integers", "[opcode][compare]") {
  order<u16>();
  order<s16>();
}
TEST_CASE("setp and set on 32-bit integers", "[opcode][compare]") {
  order<u32>();
  order<s32>();
}
TEST_CASE("setp and set on 64-bit integers", "[opcode][compare]") {
  order<u64>();
  order<s64>();
}

TEST_CASE("setp on untyped bits and the unsigned spellings lo ls hi hs", "[opcode][compare]") {
  one<C::eq, u16>("eq", "b16");
  one<C::ne, u32>("ne", "b32");
  one<C::eq, u64>("eq", "b64");
  one<C::lt, u32>("lo");
  one<C::le, u32>("ls");
  one<C::gt, u32>("hi");
  one<C::ge, u32>("hs");
  one<C::lt, u64>("lo");
  one<C::ge, u64>("hs");
}

template <typename T>
void floating() {
  order<T>();
  one<C::equ, T>("equ");
  one<C::neu, T>("neu");
  one<C::ltu, T>("ltu");
  one<C::leu, T>("leu");
  one<C::gtu, T>("gtu");
  one<C::geu, T>("geu");
  one<C::num, T>("num");
  one<C::nan, T>("nan");
}

TEST_CASE("setp and set on f32, ordered and unordered", "[opcode][compare]") {
  floating<float>();
}
TEST_CASE("setp and set on f64, ordered and unordered", "[opcode][compare]") {
  floating<double>();
}

TEST_CASE("setp details", "[opcode][compare]") {
  check("setp.lt.ftz.f32", [](float a, float b) {
    const auto flush = [](float v) { return std::fpclassify(v) == FP_SUBNORMAL ? 0.0f : v; };
    return compare<C::lt>(flush(a), flush(b));
  });
  check("setp.eq.s32 %x, %a, -1;", [](s32 a) { return a == -1; });
  check("setp.gt.u32 %x, %a, 4294967294;", [](u32 a) { return a > 4294967294u; });
  check("setp.lt.s64 %x, %a, -5;", [](s64 a) { return a < -5; });
  check("setp.gt.f32 %x, %a, 0f00000000;", [](float a) { return a > 0.0f; });
  check("setp.lt.and.s32 %x, %a, %b, !%c;", [](s32 a, s32 b, bool c) { return a < b && !c; });
  check("setp.lt.s32 _|%x, %a, %b;", [](s32 a, s32 b) { return !(a < b); });
  // The combining predicate may be the destination itself.
  check("setp.ne.s32 %x, %a, 0; setp.gt.or.s32 %x, %b, 5, %x;",
        [](s32 a, s32 b) { return b > 5 || a != 0; });
  check("set.lt.and.u32.s32", [](s32 a, s32 b, bool c) { return a < b && c ? ~u32{0} : 0; });
  check("set.ge.s32.f32", [](float a, float b) { return compare<C::ge>(a, b) ? -1 : 0; });
}

TEST_CASE("constants in the place of predicates", "[opcode][compare]") {
  check("setp.lt.and.s32 %x, %a, %b, 1;", [](s32 a, s32 b) { return a < b; });
  check("setp.lt.and.s32 %x, %a, %b, 0;", [](s32, s32) { return false; });
  check("setp.lt.xor.s32 %x, %a, %b, 1;", [](s32 a, s32 b) { return !(a < b); });
  check("selp.b32 %x, %a, %b, 1;", [](u32 a, u32) { return a; });
  check("selp.b32 %x, %a, %b, 0;", [](u32, u32 b) { return b; });
}

TEST_CASE("lop3 with a predicate: whether its result is not 0", "[opcode][compare]") {
  // The two first operands often have no bit in common.
  check("lop3.or.b32 _|%x, %a, %b, %b, 0xc0, %c;",
        [](u32 a, u32 b, bool c) { return (a & b) != 0 || c; });
  check("lop3.and.b32 _|%x, %a, %b, %b, 0xc0, !%c;",
        [](u32 a, u32 b, bool c) { return (a & b) != 0 && !c; });
  check("{ .reg .pred p; lop3.or.b32 %x|p, %a, %b, %c, 0x96, 0; selp.b32 %x, %x, 7, p; }",
        [](u32 a, u32 b, u32 c) { return (a ^ b ^ c) != 0 ? a ^ b ^ c : u32{7}; });
  // The predicate may be its own destination.
  check("setp.ne.u32 %x, %a, 5; lop3.and.b32 _|%x, %a, %b, %b, 0xc0, %x;",
        [](u32 a, u32 b) { return (a & b) != 0 && a != 5; });
}

template <typename T>
void select(const std::string& t) {
  check("selp." + t, [](T a, T b, bool c) { return c ? a : b; });
  check("slct." + t + ".s32", [](T a, T b, s32 c) { return c >= 0 ? a : b; });
  // NaN selects the second operand, -0 the first.
  check("slct." + t + ".f32", [](T a, T b, float c) { return c >= 0.0f ? a : b; });
}

TEST_CASE("selp and slct", "[opcode][compare]") {
  select<u16>("b16");
  select<u16>("u16");
  select<u32>("b32");
  select<u32>("u32");
  select<s32>("s32");
  select<u64>("b64");
  select<s64>("s64");
  select<float>("f32");
  select<double>("f64");
  check("selp.b32 %x, 1, 0, %a;", [](bool a) { return u32{a}; });
  check("selp.f32 %x, 0f3F800000, %b, %a;", [](bool a, float b) { return a ? 1.0f : b; });
}

}  // namespace
}  // namespace simgpu::test
