// Packed video instructions and cvt.pack, against what the manual says of each part (PTX ISA 9.7.18, 9.7.9.22).
#include <algorithm>
#include <cstdint>
#include <string>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

/// The types of one instruction: whether the result, a and b have signs.
struct Signs {
  bool result, a, b;
};
s64 part(u32 word, unsigned k, unsigned width, bool is_signed) {
  const s64 bits = (word >> (k * width)) & ((1u << width) - 1);
  return is_signed && (bits >> (width - 1)) != 0 ? bits - (s64{1} << width) : bits;
}
std::string types(Signs s) {
  return std::string(s.result ? ".s32" : ".u32") + (s.a ? ".s32" : ".u32") +
         (s.b ? ".s32" : ".u32");
}

/// Of three words; unlike check(), `reference` may know more than its arguments.
template <class F>
void check_words(std::string text, F reference) {
  const Reg word = reg_of<u32>();
  check_form({std::move(text),
              {word, word, word},
              {word},
              [=](const std::uint64_t* in, std::uint64_t* out) {
                out[0] = reference(static_cast<u32>(in[0]), static_cast<u32>(in[1]),
                                   static_cast<u32>(in[2]));
              }},
             {});
}

/// All forms of an instruction whose parts are computed by `f`.
template <class F>
void check_parts(const std::string& name, unsigned width, F f) {
  for (unsigned bits = 0; bits < 8; ++bits) {
    const Signs s{(bits & 4) != 0, (bits & 2) != 0, (bits & 1) != 0};
    const auto value = [=](u32 a, u32 b, unsigned k) {
      return f(part(a, k, width, s.a), part(b, k, width, s.b));
    };
    const auto packed = [=](u32 a, u32 b, bool sat) {
      const s64 most = (s64{1} << (s.result ? width - 1 : width)) - 1;
      u32 all = 0;
      for (unsigned k = 0; k < 32 / width; ++k) {
        s64 v = value(a, b, k);
        if (sat) v = std::clamp(v, s.result ? -most - 1 : 0, most);
        all |= (static_cast<u32>(v) & ((1u << width) - 1)) << (k * width);
      }
      return all;
    };
    check_words(name + types(s), [=](u32 a, u32 b, u32) { return packed(a, b, false); });
    check_words(name + types(s) + ".sat", [=](u32 a, u32 b, u32) { return packed(a, b, true); });
    check_words(name + types(s) + ".add", [=](u32 a, u32 b, u32 c) {
      for (unsigned k = 0; k < 32 / width; ++k) c += static_cast<u32>(value(a, b, k));
      return c;
    });
  }
}

TEST_CASE("packed video instructions", "[opcode][video]") {
  for (const unsigned width : {8u, 16u}) {
    const std::string parts = std::to_string(32 / width);
    check_parts("vadd" + parts, width, [](s64 a, s64 b) { return a + b; });
    check_parts("vsub" + parts, width, [](s64 a, s64 b) { return a - b; });
    check_parts("vabsdiff" + parts, width, [](s64 a, s64 b) { return a < b ? b - a : a - b; });
    check_parts("vmin" + parts, width, [](s64 a, s64 b) { return std::min(a, b); });
    check_parts("vmax" + parts, width, [](s64 a, s64 b) { return std::max(a, b); });
    // Halves go away from zero.
    check_parts("vavrg" + parts, width, [](s64 a, s64 b) {
      const s64 sum = a + b;
      return sum >= 0 ? (sum + 1) / 2 : -((-sum + 1) / 2);
    });
  }
}

template <class F>
void check_set(const std::string& compare, F f) {
  for (const unsigned width : {8u, 16u})
    for (const bool is_signed : {false, true})
      for (const bool adds : {false, true}) {
        const std::string type = is_signed ? ".s32" : ".u32";
        check_words(
            "vset" + std::to_string(32 / width) + type + type + compare + (adds ? ".add" : ""),
            [=](u32 a, u32 b, u32 c) {
              u32 all = adds ? c : 0;
              for (unsigned k = 0; k < 32 / width; ++k)
                if (f(part(a, k, width, is_signed), part(b, k, width, is_signed)))
                  all += adds ? 1u : 1u << (k * width);
              return all;
            });
      }
}

TEST_CASE("packed comparisons", "[opcode][video]") {
  check_set(".eq", [](s64 a, s64 b) { return a == b; });
  check_set(".ne", [](s64 a, s64 b) { return a != b; });
  check_set(".lt", [](s64 a, s64 b) { return a < b; });
  check_set(".le", [](s64 a, s64 b) { return a <= b; });
  check_set(".gt", [](s64 a, s64 b) { return a > b; });
  check_set(".ge", [](s64 a, s64 b) { return a >= b; });
}

u32 within(u32 value, s64 least, s64 most) {
  return static_cast<u32>(std::clamp<s64>(static_cast<s32>(value), least, most));
}

TEST_CASE("cvt.pack", "[opcode][video]") {
  check("cvt.pack.sat.s16.s32", [](u32 a, u32 b) {
    return within(a, -32768, 32767) << 16 | (within(b, -32768, 32767) & 0xffff);
  });
  check("cvt.pack.sat.u16.s32",
        [](u32 a, u32 b) { return within(a, 0, 65535) << 16 | within(b, 0, 65535); });
  check("cvt.pack.sat.s8.s32.b32", [](u32 a, u32 b, u32 c) {
    return c << 16 | (within(a, -128, 127) & 0xff) << 8 | (within(b, -128, 127) & 0xff);
  });
  check("cvt.pack.sat.u8.s32.b32",
        [](u32 a, u32 b, u32 c) { return c << 16 | within(a, 0, 255) << 8 | within(b, 0, 255); });
}

}  // namespace
}  // namespace simgpu::test
