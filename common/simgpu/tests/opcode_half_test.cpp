// 16-bit formats: conversions over all 65536 values and around every place where rounding changes,
// arithmetic against exact integers, comparisons, pairs, and how fma counts.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
__extension__ using s128 = __int128;

// ---- what the bits mean, without the engine's code

struct Format {
  const char* name;
  int fraction_bits, bias;
  u16 infinity;
};
constexpr Format kHalf{"f16", 10, 15, 0x7c00};
constexpr Format kBfloat{"bf16", 7, 127, 0x7f80};

bool is_nan(const Format& f, u16 v) {
  return (v & 0x7fff) > f.infinity;
}
double value(const Format& f, u16 v) {
  const double sign = v & 0x8000 ? -1.0 : 1.0;
  const int exponent = (v & 0x7fff) >> f.fraction_bits, fraction = v & ((1 << f.fraction_bits) - 1);
  if (is_nan(f, v)) return std::numeric_limits<double>::quiet_NaN();
  if ((v & 0x7fff) == f.infinity) return sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - f.bias - f.fraction_bits);
  return sign * std::ldexp(fraction + (1 << f.fraction_bits), exponent - f.bias - f.fraction_bits);
}

/// One rounding of an exact value between two neighbours `low` and `low + 1` (bits, positive).
u16 choose(char mode, bool negative, u16 low, int below, bool odd) {
  // below: -1 the value is nearer to low, 0 in the middle, 1 nearer to the next; 2 exactly low
  bool up = false;
  if (below == 2)
    up = false;
  else if (mode == 'n')
    up = below > 0 || (below == 0 && odd);
  else if (mode == 'm')
    up = negative;
  else if (mode == 'p')
    up = !negative;
  return static_cast<u16>((low + (up ? 1 : 0)) | (negative ? 0x8000 : 0));
}

// ---- running one instruction over arrays

std::string bits_type(unsigned bytes) {
  return "b" + std::to_string(8 * bytes);
}
template <class T>
struct Inputs {
  Inputs(std::initializer_list<std::vector<T>> list) : arrays(list) {}
  std::vector<std::vector<T>> arrays;
};
/// Lines `text` with %x %y %z in and %r out, over `n` elements.
template <class Out, class In>
std::vector<Out> over(const std::string& text, const Inputs<In>& inputs,
                      LaunchReport* report = nullptr) {
  const std::vector<std::vector<In>>& in = inputs.arrays;
  const std::size_t n = in[0].size();
  std::string t =
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 out, "
      ".param .u32 n) {\n.reg .b32 %i, %n, %d;\n.reg .b64 %p, %q;\n.reg .pred %v, %w;\n";
  t += ".reg ." + bits_type(sizeof(In)) + " %x, %y, %z;\n.reg ." + bits_type(sizeof(Out)) +
       " %r, %s;\n";
  t += "mov.u32 %i, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmul.lo.u32 %i, %i, %n;\nmov.u32 %d, "
       "%tid.x;\nadd.u32 %i, %i, %d;\nld.param.u32 %n, [n];\nsetp.ge.u32 %v, %i, %n;\n@%v ret;\n";
  const char* names[] = {"a", "b", "c"};
  const char* registers[] = {"%x", "%y", "%z"};
  for (std::size_t k = 0; k < in.size(); ++k)
    t += std::string("ld.param.u64 %p, [") + names[k] + "];\nmul.wide.u32 %q, %i, " +
         std::to_string(sizeof(In)) + ";\nadd.s64 %p, %p, %q;\nld.global." + bits_type(sizeof(In)) +
         " " + registers[k] + ", [%p];\n";
  t += text + "\nld.param.u64 %p, [out];\nmul.wide.u32 %q, %i, " + std::to_string(sizeof(Out)) +
       ";\nadd.s64 %p, %p, %q;\nst.global." + bits_type(sizeof(Out)) + " [%p], %r;\nret;\n}\n";
  Gpu gpu(ptx_module(t));
  DevicePtr ptr[3] = {};
  for (std::size_t k = 0; k < in.size(); ++k) ptr[k] = gpu.upload(in[k], names[k]);
  const DevicePtr out = gpu.device.alloc(n * sizeof(Out), "out");
  const LaunchReport r = gpu.run("k", Dim3{static_cast<u32>((n + 255) / 256)}, Dim3{256}, ptr[0],
                                 ptr[1], ptr[2], out, static_cast<u32>(n));
  INFO(text << "\n" << to_text(r.findings));
  CHECK(r.findings.empty());
  if (report != nullptr) *report = r;
  return gpu.download<Out>(out, n);
}

std::vector<u16> all_values() {
  std::vector<u16> v(65536);
  for (unsigned i = 0; i < v.size(); ++i) v[i] = static_cast<u16>(i);
  return v;
}

// ---- conversions

TEST_CASE("f16 and bf16 to float and double: all values", "[opcode][half]") {
  const std::vector<u16> in = all_values();
  for (const Format& f : {kHalf, kBfloat}) {
    const std::string name = f.name;
    const auto to32 = over<u32>("cvt.f32." + name + " %r, %x;", Inputs{in});
    const auto to64 = over<u64>("cvt.f64." + name + " %r, %x;", Inputs{in});
    std::size_t wrong = 0;
    for (const u16 v : in) {
      const float a = from_slot<float>(to32[v]);
      const double b = from_slot<double>(to64[v]);
      if (is_nan(f, v)) {
        wrong += !(a != a) + !(b != b);
      } else {
        wrong += to_slot(a) != to_slot(static_cast<float>(value(f, v)));
        wrong += to_slot(b) != to_slot(value(f, v));
      }
    }
    INFO(name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("float to f16 and bf16: around every value, every rounding", "[opcode][half]") {
  for (const Format& f : {kHalf, kBfloat}) {
    // Between every value and the next: the value, a bit more, the middle and its neighbours, a bit
    // less than the next.
    std::vector<u32> in;
    std::vector<u16> low;
    std::vector<int> where;
    for (unsigned v = 0; v < f.infinity; ++v) {
      const float a = static_cast<float>(value(f, static_cast<u16>(v)));
      const double next = v + 1 == f.infinity ? 2 * value(f, static_cast<u16>(v)) -
                                                    value(f, static_cast<u16>(v - 1))
                                              : value(f, static_cast<u16>(v + 1));
      const float middle = static_cast<float>((static_cast<double>(a) + next) / 2);
      const u32 first = std::bit_cast<u32>(a), mid = std::bit_cast<u32>(middle);
      for (const auto& [bits, place] : std::vector<std::pair<u32, int>>{
               {first, 2}, {first + 1, -1}, {mid - 1, -1}, {mid, 0}, {mid + 1, 1}}) {
        if (place == -1 && bits == first) continue;
        for (const u32 sign : {0u, 0x80000000u}) {
          in.push_back(bits | sign);
          low.push_back(static_cast<u16>(v));
          where.push_back(bits == first ? 2 : place);
        }
      }
    }
    for (const char mode : {'n', 'z', 'm', 'p'}) {
      const std::string text = std::string("cvt.r") + mode + "." + f.name + ".f32 %r, %x;";
      const auto out = over<u16>(text, Inputs{in});
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < in.size(); ++i)
        wrong += out[i] != choose(mode, in[i] >> 31, low[i], where[i], low[i] & 1);
      INFO(text);
      CHECK(wrong == 0);
      // The same through a pair, and from double.
      const auto pair =
          over<u32>(std::string("cvt.rn.") + f.name + "x2.f32 %r, %x, %y;", Inputs{in, in});
      std::vector<u64> wide;
      for (const u32 v : in) wide.push_back(to_slot(static_cast<double>(std::bit_cast<float>(v))));
      const auto from64 =
          over<u16>(std::string("cvt.r") + mode + "." + f.name + ".f64 %r, %x;", Inputs{wide});
      CHECK(from64 == out);
      if (mode != 'n') continue;
      wrong = 0;
      for (std::size_t i = 0; i < in.size(); ++i) wrong += pair[i] != (u32{out[i]} << 16 | out[i]);
      CHECK(wrong == 0);
    }
    // What a double has below a float's last place decides.
    const std::string text = std::string("cvt.rn.") + f.name + ".f64 %r, %x;";
    const double tie = value(f, 1) * 2.5;
    const auto fine =
        over<u16>(text, Inputs{std::vector<u64>{to_slot(tie), to_slot(std::nextafter(tie, 1.0)),
                                                to_slot(std::nextafter(tie, 0.0)), to_slot(1e300),
                                                to_slot(-1e300), to_slot(1e-300), to_slot(-0.0)}});
    CHECK(fine ==
          std::vector<u16>{2, 3, 2, f.infinity, static_cast<u16>(f.infinity | 0x8000), 0, 0x8000});
  }
}

TEST_CASE("float to f16: limits, NaN, .sat, .relu", "[opcode][half]") {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto one = [](const std::string& text, float v) {
    return over<u16>(text + " %r, %x;", Inputs{std::vector<u32>{std::bit_cast<u32>(v)}})[0];
  };
  CHECK(one("cvt.rn.f16.f32", infinity) == 0x7c00);
  CHECK(one("cvt.rz.f16.f32", -infinity) == 0xfc00);
  CHECK(one("cvt.rz.f16.f32", 1e9f) == 0x7bff);
  CHECK(one("cvt.rm.f16.f32", -1e9f) == 0xfc00);
  CHECK(one("cvt.rp.f16.f32", -1e9f) == 0xfbff);
  CHECK(one("cvt.rn.f16.f32", std::bit_cast<float>(0x7f800001u)) == 0x7fff);
  CHECK(one("cvt.rn.bf16.f32", std::bit_cast<float>(0xffc00000u)) == 0x7fff);
  CHECK(one("cvt.rn.sat.f16.f32", 1.5f) == 0x3c00);
  CHECK(one("cvt.rn.sat.f16.f32", -1.5f) == 0);
  CHECK(one("cvt.rn.sat.f16.f32", std::nanf("")) == 0);
  CHECK(one("cvt.rn.relu.f16.f32", -1.5f) == 0);
  CHECK(one("cvt.rn.relu.f16.f32", 1.5f) == 0x3e00);
}

TEST_CASE("f16 and bf16 to integers and back", "[opcode][half]") {
  const std::vector<u16> in = all_values();
  for (const Format& f : {kHalf, kBfloat}) {
    const auto check_all = [&]<class To>(To, const std::string& type) {
      using U = std::make_unsigned_t<To>;
      for (const std::string round : {"rni", "rzi", "rmi", "rpi"}) {
        const auto out =
            over<U>("cvt." + round + "." + type + "." + f.name + " %r, %x;", Inputs{in});
        std::size_t wrong = 0;
        for (const u16 v : in) {
          const double d = value(f, v);
          if (d != d) continue;
          const double r = round == "rni"   ? std::nearbyint(d)
                           : round == "rzi" ? std::trunc(d)
                           : round == "rmi" ? std::floor(d)
                                            : std::ceil(d);
          using L = std::numeric_limits<To>;
          const To expected = r >= static_cast<double>(L::max())   ? L::max()
                              : r <= static_cast<double>(L::min()) ? L::min()
                                                                   : static_cast<To>(r);
          wrong += out[v] != static_cast<U>(expected);
        }
        INFO(round << " " << type << " " << f.name);
        CHECK(wrong == 0);
      }
    };
    check_all(std::int16_t{}, "s16");
    check_all(u16{}, "u16");
    check_all(std::int32_t{}, "s32");
    check_all(u32{}, "u32");
    check_all(std::int64_t{}, "s64");
    check_all(u64{}, "u64");
  }
  // 64-bit integers have more bits than a double: one rounding, not two.
  const std::vector<u64> big = {0x8100000000000000ull,
                                0x8080000000000000ull,
                                0x8080000000000001ull,
                                0x8180000000000000ull,
                                0x817fffffffffffffull,
                                ~u64{0},
                                1,
                                0};
  CHECK(over<u16>("cvt.rn.bf16.u64 %r, %x;", Inputs{big}) ==
        std::vector<u16>{0x5f01, 0x5f00, 0x5f01, 0x5f02, 0x5f01, 0x5f80, 0x3f80, 0});
  CHECK(over<u16>("cvt.rz.bf16.u64 %r, %x;", Inputs{big}) ==
        std::vector<u16>{0x5f01, 0x5f00, 0x5f00, 0x5f01, 0x5f01, 0x5f7f, 0x3f80, 0});
  CHECK(over<u16>("cvt.rn.f16.s32 %r, %x;",
                  Inputs{std::vector<u32>{2049, 2051, 65519, 65520, 0x80000000u, 0xffffffffu}}) ==
        std::vector<u16>{0x6800, 0x6802, 0x7bff, 0x7c00, 0xfc00, 0xbc00});
}

TEST_CASE("tf32: ties away from zero, or to even", "[opcode][half]") {
  std::vector<u32> in, away, even;
  Random random(3);
  for (unsigned i = 0; i < 20000; ++i) {
    u32 v = static_cast<u32>(random.next());
    if (i % 4 == 0) v = (v & ~0x1fffu) | 0x1000u;
    if (i % 4 == 1) v = (v & ~0x1fffu) | 0x0fffu;
    if ((v & 0x7f800000u) >= 0x7f000000u) v ^= 0x40000000u;
    in.push_back(v);
    const double d = static_cast<double>(std::bit_cast<float>(v));
    const double low = static_cast<double>(std::bit_cast<float>(v & ~0x1fffu));
    const double high = static_cast<double>(std::bit_cast<float>((v & ~0x1fffu) + 0x2000u));
    const double to_low = std::fabs(d - low), to_high = std::fabs(high - d);
    const u32 a = v & ~0x1fffu, b = a + 0x2000u;
    away.push_back(to_low < to_high ? a : b);
    even.push_back(to_low < to_high ? a : to_low > to_high ? b : (a & 0x2000u) ? b : a);
  }
  CHECK(over<u32>("cvt.rna.tf32.f32 %r, %x;", Inputs{in}) == away);
  CHECK(over<u32>("cvt.rn.tf32.f32 %r, %x;", Inputs{in}) == even);

  // What is near overflow, infinite, subnormal, or no number. A NaN keeps its upper bits, as in
  // what ptxas makes of .rna.
  const std::vector<u32> special = {0x7f7fefff, 0x7f7ff000, 0xff7fffff, 0x7f800000, 0xff800000,
                                    0x7fffffff, 0xffffffff, 0xffc00000, 0x7f802000, 0x7f801fff,
                                    0x00000fff, 0x00001000, 0x807fffff, 0x80000000};
  CHECK(over<u32>("cvt.rna.tf32.f32 %r, %x;", Inputs{special}) ==
        std::vector<u32>{0x7f7fe000, 0x7f800000, 0xff800000, 0x7f800000, 0xff800000, 0x7fffe000,
                         0xffffe000, 0xffc00000, 0x7f802000, 0x7f800000, 0x00000000, 0x00002000,
                         0x80800000, 0x80000000});
  CHECK(over<u32>("cvt.rz.tf32.f32 %r, %x;", Inputs{special}) ==
        std::vector<u32>{0x7f7fe000, 0x7f7fe000, 0xff7fe000, 0x7f800000, 0xff800000, 0x7fffffff,
                         0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x00000000, 0x00000000,
                         0x807fe000, 0x80000000});
  CHECK(over<u32>("cvt.rn.relu.tf32.f32 %r, %x;", Inputs{special}) ==
        std::vector<u32>{0x7f7fe000, 0x7f800000, 0x00000000, 0x7f800000, 0x00000000, 0x7fffffff,
                         0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x00000000, 0x00000000,
                         0x00000000, 0x00000000});
  // Not in the PTX ISA: refused, not taken for something near.
  for (const char* form : {"cvt.tf32.f32", "cvt.rna.relu.tf32.f32", "cvt.rna.sat.tf32.f32",
                           "cvt.rm.tf32.f32", "cvt.rna.ftz.tf32.f32"}) {
    INFO(form);
    Gpu gpu(ptx_module(std::string(".visible .entry k() {\n.reg .b32 %r, %x;\nmov.u32 %x, 0;\n") +
                       form + " %r, %x;\nret;\n}\n"));
    const auto info = gpu.device.kernel(gpu.module, "k");
    REQUIRE(info);
    CHECK(info->unsupported.find("is not supported by the simulated GPU") != std::string::npos);
  }
}

// ---- arithmetic: exact values as integers of 2^-kScale

constexpr int kScale =
    110;  // f16: products are multiples of 2^-48; bf16 operands are chosen to fit

s128 exact(const Format& f, u16 v) {
  const double d = value(f, v);
  int exponent = 0;
  const double m = std::frexp(std::fabs(d), &exponent);
  const s128 bits = static_cast<s128>(std::ldexp(m, 20));  // 11 bits at most
  const int shift = exponent - 20 + kScale;
  const s128 r = shift >= 0 ? bits << shift : bits >> -shift;
  return d < 0 ? -r : r;
}
/// Positive values below 2^15.9, sorted as their bits are.
const std::vector<s128>& table(const Format& f) {
  static const auto make = [](const Format& g) {
    std::vector<s128> t;
    for (unsigned v = 0; v < g.infinity && value(g, static_cast<u16>(v)) < 60000; ++v)
      t.push_back(exact(g, static_cast<u16>(v)));
    return t;
  };
  static const std::vector<s128> half = make(kHalf), brain = make(kBfloat);
  return f.bias == 15 ? half : brain;
}
/// `zero_sign` for exact zeros. Returns false if out of the table.
bool nearest(const Format& f, s128 v, u16& out) {
  const std::vector<s128>& t = table(f);
  const s128 m = v < 0 ? -v : v;
  if (m >= t.back()) return false;
  const auto next = std::upper_bound(t.begin(), t.end(), m);
  const auto low = static_cast<u16>(next - t.begin() - 1);
  const s128 below = m - *(next - 1), above = *next - m;
  const int place = below == 0 ? 2 : below < above ? -1 : below == above ? 0 : 1;
  out = choose('n', v < 0, low, place, low & 1);
  return true;
}

/// Three operands of one operation, 120,000 times.
std::vector<std::vector<u16>> operands(const Format& f) {
  Random random(f.bias);
  std::vector<std::vector<u16>> in(3);
  auto &a = in[0], &b = in[1], &c = in[2];
  const auto number = [&](int low, int high) {  // exponents of two
    const u32 e = static_cast<u32>(low + f.bias) + random.below(static_cast<u32>(high - low + 1));
    return static_cast<u16>((e << f.fraction_bits) | (random.next() & 0x8000) |
                            (random.next() & ((1u << f.fraction_bits) - 1)));
  };
  for (unsigned i = 0; i < 120000; ++i) {
    switch (i % 4) {
      case 0:  // of one size: the result's last bits matter
        a.push_back(number(-3, 3));
        b.push_back(number(-3, 3));
        c.push_back(number(-3, 3));
        break;
      case 1:  // a product that is a tie, and something tiny beside it
        a.push_back(number(0, 5));
        b.push_back(
            static_cast<u16>((u32(f.bias) << f.fraction_bits) | (1u << (f.fraction_bits - 1))));
        c.push_back(number(f.bias == 15 ? -14 : -100, -9));
        break;
      case 2:
        a.push_back(number(-14, 6));
        b.push_back(number(-14, 6));
        c.push_back(number(-14, 6));
        break;
      default:  // f16: subnormal numbers as well
        a.push_back(f.bias == 15 ? static_cast<u16>(random.next() & 0x83ff) : number(-20, 0));
        b.push_back(number(-14, 5));
        c.push_back(f.bias == 15 ? static_cast<u16>(random.next() & 0x87ff) : number(-40, 0));
    }
  }
  return in;
}

/// x * y / 2^kScale, which is exact.
s128 product_of(s128 x, s128 y) {
  // Both are at most 11 bits above some power of two: take the trailing zeros off first.
  int shift = -kScale;
  const auto strip = [&](s128 v) {
    while (v != 0 && v % 2 == 0) {
      v /= 2;
      ++shift;
    }
    return v;
  };
  s128 p = strip(x) * strip(y);
  if (x == 0 || y == 0) return s128{0};
  return shift >= 0 ? p * (s128{1} << shift) : p / (s128{1} << -shift);
}

void check_rounding(const Format& f, const std::string& name,
                    const std::function<s128(s128, s128, s128)>& exact_result) {
  const std::vector<std::vector<u16>> in = operands(f);
  const auto &a = in[0], &b = in[1], &c = in[2];
  const std::string type = f.name;
  const bool three = name == "fma.rn.";
  const auto scalar = three ? over<u16>(name + type + " %r, %x, %y, %z;", Inputs{a, b, c})
                            : over<u16>(name + type + " %r, %x, %y;", Inputs{a, b});
  std::size_t wrong = 0, compared = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    u16 expected = 0;
    const s128 e = exact_result(exact(f, a[i]), exact(f, b[i]), exact(f, c[i]));
    if (e == 0 || !nearest(f, e, expected)) continue;
    ++compared;
    wrong += scalar[i] != expected;
  }
  INFO(name << type);
  CHECK(wrong == 0);
  CHECK(compared > a.size() / 2);
  // Pairs give the same, half by half.
  const auto pairs = [](const std::vector<u16>& v) {
    std::vector<u32> p(v.size() / 2);
    std::memcpy(p.data(), v.data(), v.size() * 2);
    return p;
  };
  LaunchReport report;
  const auto packed =
      three ? over<u32>(name + type + "x2 %r, %x, %y, %z;", Inputs{pairs(a), pairs(b), pairs(c)},
                        &report)
            : over<u32>(name + type + "x2 %r, %x, %y;", Inputs{pairs(a), pairs(b)}, &report);
  CHECK(packed == pairs(scalar));
  CHECK(report.total.fma_f16 == (three ? a.size() : 0));
  CHECK(report.total.fma_f32 == 0);
}

TEST_CASE("f16 and bf16 add, sub, mul, fma: one rounding", "[opcode][half]") {
  for (const Format& f : {kHalf, kBfloat}) {
    check_rounding(f, "add.", [](s128 x, s128 y, s128) { return x + y; });
    check_rounding(f, "add.rn.", [](s128 x, s128 y, s128) { return x + y; });
    check_rounding(f, "sub.", [](s128 x, s128 y, s128) { return x - y; });
    check_rounding(f, "mul.", [](s128 x, s128 y, s128) { return product_of(x, y); });
    check_rounding(f, "fma.rn.", [](s128 x, s128 y, s128 z) { return product_of(x, y) + z; });
  }
}

TEST_CASE("f16 and bf16: unary operations on all values", "[opcode][half]") {
  const std::vector<u16> in = all_values();
  for (const Format& f : {kHalf, kBfloat}) {
    const std::string type = f.name;
    const auto each = [&](const std::string& text, auto reference) {
      const auto out = over<u16>(text + " %r, %x;", Inputs{in});
      std::size_t wrong = 0;
      for (const u16 v : in)
        if (!is_nan(f, v)) wrong += out[v] != reference(v);
      INFO(text);
      CHECK(wrong == 0);
    };
    each("neg." + type, [](u16 v) { return static_cast<u16>(v ^ 0x8000); });
    each("abs." + type, [](u16 v) { return static_cast<u16>(v & 0x7fff); });
    const u16 least = static_cast<u16>(1 << f.fraction_bits);
    if (f.bias == 15)
      each("neg.ftz." + type, [&](u16 v) {
        return static_cast<u16>((v & 0x7fff) < least ? (v & 0x8000) ^ 0x8000 : v ^ 0x8000);
      });
    for (const std::string name : {"ex2.approx.", "tanh.approx."}) {
      const bool ex2 = name[0] == 'e';
      const auto out = over<u16>(name + type + " %r, %x;", Inputs{in});
      std::size_t wrong = 0;
      for (const u16 v : in) {
        const double x = value(f, v), y = ex2 ? std::exp2(x) : std::tanh(x);
        if (y != y || y > 65000) continue;
        // One unit in the last place; f16's units do not become smaller than 2^-24.
        const double unit = std::fabs(y) * std::ldexp(1, -f.fraction_bits);
        wrong +=
            !(std::fabs(value(f, out[v]) - y) <= std::max(unit, f.bias == 15 ? 0x1p-24 : 0x1p-133));
      }
      INFO(name << type);
      CHECK(wrong == 0);
    }
  }
}

/// Every pair of some numbers, the special ones among them.
class Pairs {
 public:
  explicit Pairs(const Format& f) : f_(f), type_(f.name), one_(f.bias == 15 ? 0x3c00 : 0x3f80) {
    std::vector<u16> some = {0,
                             0x8000,
                             1,
                             0x8001,
                             f.infinity,
                             static_cast<u16>(f.infinity | 0x8000),
                             static_cast<u16>(f.infinity + 1),
                             0x7fff,
                             0xffff,
                             static_cast<u16>(f.infinity - 1)};
    Random random(9);
    for (unsigned i = 0; i < 90; ++i) some.push_back(static_cast<u16>(random.next()));
    some.push_back(one_);
    for (const u16 x : some)
      for (const u16 y : some) {
        a_.push_back(x);
        b_.push_back(y);
      }
    for (std::size_t i = 0; i + 1 < a_.size(); i += 2) {
      low_and_high_a_.push_back(a_[i] | u32{a_[i + 1]} << 16);
      low_and_high_b_.push_back(b_[i] | u32{b_[i + 1]} << 16);
    }
  }

  void each(const std::string& text, const std::function<u16(u16, u16)>& reference) const {
    const auto out = over<u16>(text, Inputs{a_, b_});
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < a_.size(); ++i) wrong += out[i] != reference(a_[i], b_[i]);
    INFO(text);
    CHECK(wrong == 0);
  }

  void extreme(const std::string& name, bool max, bool nan) const {
    const auto rank = [](u16 v) { return v & 0x8000 ? -1 - (v & 0x7fff) : int{v}; };
    each(name + type_ + " %r, %x, %y;", [&](u16 x, u16 y) -> u16 {
      const bool nx = is_nan(f_, x), ny = is_nan(f_, y);
      if ((nx && ny) || (nan && (nx || ny))) return 0x7fff;
      if (nx || ny) return nx ? y : x;
      return (rank(x) < rank(y)) != max ? x : y;
    });
  }

  void relation(const std::string& name, const std::function<bool(double, double)>& holds) const {
    const auto expected = [&](u16 x, u16 y) -> u16 {
      return holds(value(f_, x), value(f_, y)) ? 1 : 0;
    };
    const std::string setp = "setp." + name + "." + type_, set = "set." + name + ".";
    each(setp + " %v, %x, %y;\nselp.b16 %r, 1, 0, %v;", expected);
    each(setp + " %v|%w, %x, %y;\nselp.b16 %r, 0, 1, %w;", expected);
    each(set + type_ + "." + type_ + " %r, %x, %y;",
         [&](u16 x, u16 y) -> u16 { return expected(x, y) ? one_ : 0; });
    each(set + "u16." + type_ + " %r, %x, %y;",
         [&](u16 x, u16 y) -> u16 { return expected(x, y) ? 0xffff : 0; });
    // Pairs: %v of the low halves, %w of the high ones.
    const Inputs in{low_and_high_a_, low_and_high_b_};
    const auto bits = over<u32>(setp +
                                    "x2 %v|%w, %x, %y;\n"
                                    "selp.b32 %r, 1, 0, %v;\n"
                                    "selp.b32 %s, 2, 0, %w;\n"
                                    "or.b32 %r, %r, %s;",
                                in);
    const auto ones = over<u32>(set + type_ + "x2." + type_ + "x2 %r, %x, %y;", in);
    const auto masks = over<u32>(set + "u32." + type_ + "x2 %r, %x, %y;", in);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < low_and_high_a_.size(); ++i) {
      const u32 low = expected(a_[2 * i], b_[2 * i]);
      const u32 high = expected(a_[2 * i + 1], b_[2 * i + 1]);
      wrong += bits[i] != (low | high << 1);
      wrong += ones[i] != ((low ? one_ : 0u) | (high ? u32{one_} << 16 : 0u));
      wrong += masks[i] != ((low ? 0xffffu : 0u) | (high ? 0xffff0000u : 0u));
    }
    INFO(name << type_ << "x2");
    CHECK(wrong == 0);
  }

 private:
  const Format& f_;
  const std::string type_;
  const u16 one_;
  std::vector<u16> a_, b_;
  std::vector<u32> low_and_high_a_, low_and_high_b_;
};

TEST_CASE("f16 and bf16: min, max, comparisons with NaN and zeros", "[opcode][half]") {
  for (const Format& f : {kHalf, kBfloat}) {
    const Pairs pairs(f);
    pairs.extreme("min.", false, false);
    pairs.extreme("max.", true, false);
    pairs.extreme("min.NaN.", false, true);
    pairs.extreme("max.NaN.", true, true);
    pairs.relation("eq", [](double x, double y) { return x == y; });
    pairs.relation("ne", [](double x, double y) { return x < y || x > y; });
    pairs.relation("lt", [](double x, double y) { return x < y; });
    pairs.relation("le", [](double x, double y) { return x <= y; });
    pairs.relation("gt", [](double x, double y) { return x > y; });
    pairs.relation("ge", [](double x, double y) { return x >= y; });
    pairs.relation("equ", [](double x, double y) { return !(x < y || x > y); });
    pairs.relation("neu", [](double x, double y) { return x != y; });
    pairs.relation("ltu", [](double x, double y) { return !(x >= y); });
    pairs.relation("leu", [](double x, double y) { return !(x > y); });
    pairs.relation("gtu", [](double x, double y) { return !(x <= y); });
    pairs.relation("geu", [](double x, double y) { return !(x < y); });
    pairs.relation("num", [](double x, double y) { return x == x && y == y; });
    pairs.relation("nan", [](double x, double y) { return x != x || y != y; });
  }
}

TEST_CASE("f16: .sat, .relu and .ftz of arithmetic", "[opcode][half]") {
  const auto one = [](const std::string& text, u16 x, u16 y, u16 z) {
    return over<u16>(text, Inputs{std::vector{x}, std::vector{y}, std::vector{z}})[0];
  };
  CHECK(one("add.sat.f16 %r, %x, %y;", 0x3c00, 0x3c00, 0) == 0x3c00);
  CHECK(one("sub.sat.f16 %r, %x, %y;", 0x3c00, 0x4000, 0) == 0);
  CHECK(one("fma.rn.sat.f16 %r, %x, %y, %z;", 0x7fff, 0x3c00, 0) == 0);
  CHECK(one("fma.rn.relu.f16 %r, %x, %y, %z;", 0xbc00, 0x3c00, 0) == 0);
  CHECK(one("fma.rn.relu.f16 %r, %x, %y, %z;", 0xbc00, 0x3c00, 0x4000) == 0x3c00);
  CHECK(one("fma.rn.relu.bf16 %r, %x, %y, %z;", 0x7fff, 0x3f80, 0) == 0x7fff);
  CHECK(one("add.ftz.f16 %r, %x, %y;", 0x0001, 0x0400, 0) == 0x0400);
  CHECK(one("mul.ftz.f16 %r, %x, %y;", 0x0400, 0x3800, 0) == 0);
  CHECK(one("mul.f16 %r, %x, %y;", 0x0400, 0x3800, 0) == 0x0200);
  CHECK(one("mul.f16 %r, %x, %y;", 0x7bff, 0x4000, 0) == 0x7c00);
  CHECK(one("add.f16 %r, %x, %y;", 0x7c00, 0xfc00, 0) == 0x7fff);
}

}  // namespace
}  // namespace simgpu::test
