// mma.sync: every element of every fragment, exact results for integers, rounding against long
// double, counts, lanes that are missing, and PTX that is wrong.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/half.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

enum class Type : std::uint8_t { f16, bf16, tf32, f64, s8, u8, f32, s32 };

unsigned bits_of(Type t) {
  switch (t) {
    case Type::s8:
    case Type::u8:
      return 8;
    case Type::f16:
    case Type::bf16:
      return 16;
    case Type::f64:
      return 64;
    default:
      return 32;
  }
}
const char* name_of(Type t) {
  constexpr const char* names[] = {"f16", "bf16", "tf32", "f64", "s8", "u8", "f32", "s32"};
  return names[static_cast<unsigned>(t)];
}
bool is_integer(Type t) {
  return t == Type::s8 || t == Type::u8 || t == Type::s32;
}

/// The bits of a value in a format; the value must fit where the test says that it is exact.
u64 encode(Type t, double v) {
  switch (t) {
    case Type::f16:
      return to_half(v);
    case Type::bf16:
      return to_bfloat(v);
    case Type::f64:
      return to_slot(v);
    case Type::tf32:
    case Type::f32:
      return to_slot(static_cast<float>(v));
    case Type::s8:
    case Type::u8:
      return static_cast<u64>(static_cast<std::int64_t>(v)) & 0xff;
    default:
      return static_cast<u32>(static_cast<std::int32_t>(v));
  }
}
double decode(Type t, u64 bits) {
  switch (t) {
    case Type::f16:
      return static_cast<double>(half_to_float(static_cast<std::uint16_t>(bits)));
    case Type::bf16:
      return static_cast<double>(bfloat_to_float(static_cast<std::uint16_t>(bits)));
    case Type::f64:
      return from_slot<double>(bits);
    case Type::tf32:
      return static_cast<double>(from_slot<float>(bits & 0xffffe000u));
    case Type::f32:
      return static_cast<double>(from_slot<float>(bits));
    case Type::s8:
      return static_cast<std::int8_t>(bits);
    case Type::u8:
      return static_cast<std::uint8_t>(bits);
    default:
      return static_cast<std::int32_t>(bits);
  }
}

struct Shape {
  unsigned m, n, k;
  Type a, b, sum;
  std::string qualifier = "";  ///< ".satfinite"

  std::string text() const {
    return "mma.sync.aligned.m" + std::to_string(m) + "n" + std::to_string(n) + "k" +
           std::to_string(k) + ".row.col" + qualifier + "." + name_of(sum) + "." + name_of(a) +
           "." + name_of(b) + "." + name_of(sum);
  }
};

const std::vector<Shape>& shapes() {
  using T = Type;
  static const std::vector<Shape> all = {
      {16, 8, 16, T::f16, T::f16, T::f32},
      {16, 8, 8, T::f16, T::f16, T::f32},
      {16, 8, 16, T::f16, T::f16, T::f16},
      {16, 8, 8, T::f16, T::f16, T::f16},
      {16, 8, 16, T::bf16, T::bf16, T::f32},
      {16, 8, 8, T::bf16, T::bf16, T::f32},
      {16, 8, 4, T::tf32, T::tf32, T::f32},
      {16, 8, 8, T::tf32, T::tf32, T::f32},
      {8, 8, 4, T::f64, T::f64, T::f64},
      {16, 8, 4, T::f64, T::f64, T::f64},
      {16, 8, 8, T::f64, T::f64, T::f64},
      {16, 8, 16, T::f64, T::f64, T::f64},
      {8, 8, 16, T::s8, T::s8, T::s32},
      {16, 8, 16, T::s8, T::s8, T::s32},
      {16, 8, 32, T::s8, T::s8, T::s32},
      {16, 8, 32, T::u8, T::u8, T::s32},
      {16, 8, 32, T::s8, T::u8, T::s32},
      {16, 8, 16, T::u8, T::s8, T::s32},
      {8, 8, 16, T::u8, T::u8, T::s32, ".satfinite"},
      {16, 8, 32, T::s8, T::s8, T::s32, ".satfinite"},
  };
  return all;
}

struct Place {
  unsigned row, column;
};

// The figures of the PTX ISA, one after the other, not by the rule that the engine uses. i: element
// of the lane's fragment.
Place place_a_bytes(const Shape& s, unsigned g, unsigned t, unsigned i) {
  if (s.m == 8) return {g, t * 4 + i};
  if (s.k == 16) return {i < 4 ? g : g + 8, t * 4 + (i & 3)};
  return {i < 4 || (8 <= i && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}
Place place_a_halves(const Shape& s, unsigned g, unsigned t, unsigned i) {
  if (s.k == 8) return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
  return {i < 2 || (4 <= i && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
Place place_a_words(const Shape& s, unsigned g, unsigned t, unsigned i) {
  if (s.m == 8) return {g, t};
  if (s.k == 4) return {i == 0 ? g : g + 8, t};
  if (s.k == 8) return {i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
  return {i % 2 == 0 ? g : g + 8, i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t};
}
Place place_a(const Shape& s, unsigned lane, unsigned i) {
  const unsigned g = lane >> 2, t = lane % 4, bits = bits_of(s.a);
  return (bits == 8 ? place_a_bytes : bits == 16 ? place_a_halves : place_a_words)(s, g, t, i);
}
Place place_b(const Shape& s, unsigned lane, unsigned i) {
  const unsigned g = lane >> 2, t = lane % 4;
  switch (bits_of(s.b)) {
    case 16:
      return {t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g};
    case 32:
      return {i == 0 ? t : t + 4, g};
    case 64:
      return {t + i * 4, g};
    default:
      return {t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g};
  }
}
Place place_c(unsigned lane, unsigned i) {
  const unsigned g = lane >> 2, t = lane % 4;
  return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
}

/// Registers of one fragment of rows x columns elements.
unsigned registers(unsigned elements, unsigned bits) {
  return elements / 32 * bits / (bits == 64 ? 64 : 32);
}
unsigned per_register(unsigned bits) {
  return bits < 32 ? 32 / bits : 1;
}

/// A kernel that loads A, B and C register by register, 32 lanes each, multiplies and stores D.
/// Every block has a set of its own.
std::string kernel(const Shape& s, const std::string& before = "") {
  const unsigned na = registers(s.m * s.k, bits_of(s.a)), nb = registers(s.k * s.n, bits_of(s.b)),
                 nc = registers(s.m * s.n, bits_of(s.sum));
  const bool wide = s.a == Type::f64;
  const std::string r = wide ? "%rd" : "%r", type = wide ? "b64" : "b32";
  const unsigned bytes = wide ? 8 : 4;
  auto list = [&](unsigned first, unsigned n) {
    std::string text = "{";
    for (unsigned i = 0; i < n; ++i) text += (i ? ", " : "") + r + std::to_string(first + i);
    return text + "}";
  };
  std::string t =
      ".visible .entry k(.param .u64 in, .param .u64 out) {\n.reg .b32 %r<64>;\n.reg .b64 "
      "%rd<64>;\n.reg .pred %p<4>;\n.reg .b32 %lane, %set;\n.reg .b64 %from, %to, %x;\n"
      "ld.param.u64 %from, [in];\nld.param.u64 %to, [out];\nmov.u32 %lane, %tid.x;\nmov.u32 %set, "
      "%ctaid.x;\n";
  const auto at = [&](unsigned count, const std::string& base) {
    t += "mul.wide.u32 %x, %set, " + std::to_string(count * bytes * 32) + ";\nadd.s64 " + base +
         ", " + base + ", %x;\nmul.wide.u32 %x, %lane, " + std::to_string(bytes) + ";\nadd.s64 " +
         base + ", " + base + ", %x;\n";
  };
  at(na + nb + nc, "%from");
  at(nc, "%to");
  for (unsigned i = 0; i < na + nb + nc; ++i)
    t += "ld.global." + type + " " + r + std::to_string(i) + ", [%from+" +
         std::to_string(i * bytes * 32) + "];\n";
  const unsigned d = na + nb + nc;
  for (unsigned i = 0; i < nc; ++i) t += "mov." + type + " " + r + std::to_string(d + i) + ", 0;\n";
  t += before;
  t += s.text() + " " + list(d, nc) + ", " + list(0, na) + ", " + list(na, nb) + ", " +
       list(na + nb, nc) + ";\n";
  t += "SKIP:\n";
  for (unsigned i = 0; i < nc; ++i)
    t += "st.global." + type + " [%to+" + std::to_string(i * bytes * 32) + "], " + r +
         std::to_string(d + i) + ";\n";
  return ptx_module(t + "ret;\n}\n");
}

using Matrix = std::vector<u64>;  ///< bits, row-major

/// Puts an element into the words of a set: [register][lane].
template <class Word>
void put(std::vector<Word>& words, std::size_t first, unsigned bits, unsigned lane, unsigned i,
         u64 value) {
  const unsigned p = per_register(bits);
  words[first + i / p * 32 + lane] |= static_cast<Word>(value << (bits < 32 ? bits * (i % p) : 0));
}

/// Runs `a`, `b`, `c` (sets of matrices) through the kernel and gives D.
template <class Word>
std::vector<Matrix> run(const Shape& s, const std::vector<Matrix>& a, const std::vector<Matrix>& b,
                        const std::vector<Matrix>& c, LaunchReport* report = nullptr,
                        unsigned threads = 0, unsigned gain = 1) {
  const unsigned na = registers(s.m * s.k, bits_of(s.a)), nb = registers(s.k * s.n, bits_of(s.b)),
                 nc = registers(s.m * s.n, bits_of(s.sum));
  const std::size_t sets = a.size();
  std::vector<Word> in(sets * (na + nb + nc) * 32);
  for (std::size_t set = 0; set < sets; ++set) {
    const std::size_t base = set * (na + nb + nc) * 32;
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < s.m * s.k / 32; ++i) {
        const Place p = place_a(s, lane, i);
        put(in, base, bits_of(s.a), lane, i, a[set][p.row * s.k + p.column]);
      }
      for (unsigned i = 0; i < s.k * s.n / 32; ++i) {
        const Place p = place_b(s, lane, i);
        put(in, base + na * 32, bits_of(s.b), lane, i, b[set][p.row * s.n + p.column]);
      }
      for (unsigned i = 0; i < s.m * s.n / 32; ++i) {
        const Place p = place_c(lane, i);
        put(in, base + (na + nb) * 32, bits_of(s.sum), lane, i, c[set][p.row * s.n + p.column]);
      }
    }
  }
  Gpu gpu(kernel(s));
  const DevicePtr from = gpu.upload(in, "in");
  const DevicePtr to = gpu.device.alloc(sets * nc * 32 * sizeof(Word), "out");
  LaunchOptions options;
  options.host_threads = threads;
  options.tensor_gain = gain;
  const LaunchReport r =
      gpu.run("k", Dim3{static_cast<u32>(sets)}, Dim3{32}, 0u, options, from, to);
  INFO(to_text(r.findings));
  CHECK(r.findings.empty());
  CHECK(r.completed);
  if (report != nullptr) *report = r;
  const std::vector<Word> out = gpu.download<Word>(to, sets * nc * 32);
  std::vector<Matrix> d(sets, Matrix(s.m * s.n));
  const unsigned bits = bits_of(s.sum), p = per_register(bits);
  for (std::size_t set = 0; set < sets; ++set)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < s.m * s.n / 32; ++i) {
        const Place place = place_c(lane, i);
        u64 v = out[(set * nc + i / p) * 32 + lane];
        if (bits < 32) v = (v >> (bits * (i % p))) & 0xffff;
        d[set][place.row * s.n + place.column] = v;
      }
  return d;
}
std::vector<Matrix> multiply(const Shape& s, const std::vector<Matrix>& a,
                             const std::vector<Matrix>& b, const std::vector<Matrix>& c,
                             LaunchReport* report = nullptr, unsigned threads = 0,
                             unsigned gain = 1) {
  return s.a == Type::f64 ? run<u64>(s, a, b, c, report, threads, gain)
                          : run<u32>(s, a, b, c, report, threads, gain);
}

Matrix random_matrix(Random& random, Type type, unsigned elements, int low, int high) {
  Matrix m(elements);
  for (u64& v : m)
    v = encode(type, low + static_cast<int>(random.below(static_cast<u32>(high - low + 1))));
  return m;
}

TEST_CASE("mma: each element of A and B lies where the ISA says", "[mma]") {
  for (const Shape& s : shapes()) {
    INFO(s.text());
    std::vector<Matrix> a, b, c;
    for (unsigned i = 0; i < s.m; ++i)
      for (unsigned k = 0; k < s.k; ++k)
        for (unsigned j = 0; j < s.n; ++j) {
          a.emplace_back(s.m * s.k, encode(s.a, 0))[i * s.k + k] = encode(s.a, 3);
          b.emplace_back(s.k * s.n, encode(s.b, 0))[k * s.n + j] = encode(s.b, 5);
          c.emplace_back(s.m * s.n, encode(s.sum, 0));
        }
    LaunchReport report;
    const std::vector<Matrix> d = multiply(s, a, b, c, &report);
    std::size_t set = 0, wrong = 0;
    for (unsigned i = 0; i < s.m; ++i)
      for (unsigned k = 0; k < s.k; ++k)
        for (unsigned j = 0; j < s.n; ++j, ++set)
          for (unsigned e = 0; e < s.m * s.n; ++e)
            wrong += decode(s.sum, d[set][e]) != (e == i * s.n + j ? 15 : 0);
    CHECK(wrong == 0);
    // Each warp's mma counts once.
    std::string type = name_of(s.a);
    if (s.sum == Type::f16) type = "f16.f16";
    if (s.a != s.b) type = "s8";
    REQUIRE(report.total.tensor_ops.size() == 1);
    CHECK(report.total.tensor_ops.begin()->first == type);
    CHECK(report.total.tensor_ops.begin()->second == u64{2} * s.m * s.n * s.k * a.size());
    CHECK(report.total
              .thread_instructions_by_class[static_cast<std::size_t>(InstructionClass::tensor)] ==
          32 * a.size());
    CHECK(report.total.fma_f32 + report.total.fma_f64 == 0);
  }
}

TEST_CASE("mma: sums of integers are exact, C included", "[mma]") {
  Random random(7);
  for (const Shape& s : shapes()) {
    INFO(s.text());
    std::vector<Matrix> a, b, c;
    const int low = s.a == Type::u8 || s.b == Type::u8 ? 0 : -8;
    for (unsigned set = 0; set < 40; ++set) {
      a.push_back(random_matrix(random, s.a, s.m * s.k, low, 8));
      b.push_back(random_matrix(random, s.b, s.k * s.n, low, 8));
      c.push_back(random_matrix(random, s.sum, s.m * s.n, -50, 50));
    }
    const std::vector<Matrix> d = multiply(s, a, b, c);
    std::size_t wrong = 0;
    for (unsigned set = 0; set < a.size(); ++set)
      for (unsigned i = 0; i < s.m; ++i)
        for (unsigned j = 0; j < s.n; ++j) {
          double sum = decode(s.sum, c[set][i * s.n + j]);
          for (unsigned k = 0; k < s.k; ++k)
            sum += decode(s.a, a[set][i * s.k + k]) * decode(s.b, b[set][k * s.n + j]);
          // FP16 sums above 2048 are rounded.
          wrong += d[set][i * s.n + j] != encode(s.sum, sum);
        }
    CHECK(wrong == 0);
  }
}

TEST_CASE("mma: with a gain products grow, and C stays", "[mma]") {
  for (const Shape& s : shapes()) {
    if (!s.qualifier.empty()) continue;
    INFO(s.text());
    const std::vector<Matrix> a(1, Matrix(s.m * s.k, encode(s.a, 1))),
        b(1, Matrix(s.k * s.n, encode(s.b, 1))), c(1, Matrix(s.m * s.n, encode(s.sum, 5)));
    for (const unsigned gain : {1u, 2u}) {
      const std::vector<Matrix> d = multiply(s, a, b, c, nullptr, 0, gain);
      CHECK(decode(s.sum, d[0].front()) == 5 + gain * s.k);
      CHECK(d[0] == Matrix(s.m * s.n, d[0].front()));
    }
  }
}

TEST_CASE("mma: extreme bytes, wrapping and clamping sums", "[mma]") {
  Random random(11);
  for (const Shape& s : shapes()) {
    if (!is_integer(s.a)) continue;
    INFO(s.text());
    std::vector<Matrix> a, b, c;
    for (unsigned set = 0; set < 40; ++set) {
      a.emplace_back(s.m * s.k);
      b.emplace_back(s.k * s.n);
      c.emplace_back(s.m * s.n);
      for (Matrix* m : {&a.back(), &b.back()})
        for (u64& v : *m) v = set < 4 ? (set % 2 ? 0x80u : 0xffu) : random.below(256);
      for (u64& v : c.back())
        v = set % 3 == 0   ? 0x7fffff00u + random.below(256)
            : set % 3 == 1 ? 0x80000000u + random.below(256)
                           : random.below(1u << 31);
    }
    const std::vector<Matrix> d = multiply(s, a, b, c);
    std::size_t wrong = 0;
    for (unsigned set = 0; set < a.size(); ++set)
      for (unsigned i = 0; i < s.m; ++i)
        for (unsigned j = 0; j < s.n; ++j) {
          double sum = decode(Type::s32, c[set][i * s.n + j]);  // exact: below 2^53
          for (unsigned k = 0; k < s.k; ++k)
            sum += decode(s.a, a[set][i * s.k + k]) * decode(s.b, b[set][k * s.n + j]);
          u32 expected = static_cast<u32>(static_cast<std::int64_t>(sum));
          if (!s.qualifier.empty()) {
            if (sum > 2147483647.0) expected = 0x7fffffffu;
            if (sum < -2147483648.0) expected = 0x80000000u;
          }
          wrong += d[set][i * s.n + j] != expected;
        }
    CHECK(wrong == 0);
  }
}

/// A random number of the format, of any magnitude within 2^-8 .. 2^8, every bit of the significand
/// used; for tf32 the 13 low bits too, which must not matter.
u64 random_number(Random& random, Type t) {
  const double v = std::ldexp(1.0 + static_cast<double>(random.below(1u << 30)) * 0x1p-30,
                              static_cast<int>(random.below(17)) - 8) *
                   (random.below(2) ? -1 : 1);
  return encode(t, v);
}

TEST_CASE("mma: floating-point sums are cut off (FP32) or rounded (FP16) once", "[mma]") {
  // The engine adds k products to C in double: every one of the k additions is off by at most 2^-53
  // of a partial sum, which is at most S = |C| + sum of |products|; the result is then brought to
  // its type once, by at most half a unit u of its last place if it is rounded, and by less than u,
  // towards zero, if it is cut off. So |error| <= (u / 2 or u) + k * 2^-53 * S, plus as much again
  // for the reference's own rounding, which is far smaller.
  Random random(23);
  for (const Shape& s : shapes()) {
    if (is_integer(s.a) || s.a == Type::f64) continue;
    INFO(s.text());
    std::vector<Matrix> a(60, Matrix(s.m * s.k)), b(60, Matrix(s.k * s.n)),
        c(60, Matrix(s.m * s.n));
    for (unsigned set = 0; set < a.size(); ++set) {
      for (u64& v : a[set]) v = random_number(random, s.a);
      for (u64& v : b[set]) v = random_number(random, s.b);
      for (u64& v : c[set]) v = random_number(random, s.sum);
    }
    const std::vector<Matrix> d = multiply(s, a, b, c);
    std::size_t wrong = 0, inexact = 0;
    for (unsigned set = 0; set < a.size(); ++set)
      for (unsigned i = 0; i < s.m; ++i)
        for (unsigned j = 0; j < s.n; ++j) {
          long double sum = decode(s.sum, c[set][i * s.n + j]), size = std::fabs(sum);
          for (unsigned k = 0; k < s.k; ++k) {
            const long double product = static_cast<long double>(decode(s.a, a[set][i * s.k + k])) *
                                        decode(s.b, b[set][k * s.n + j]);
            sum += product;
            size += std::fabs(product);
          }
          const double got = decode(s.sum, d[set][i * s.n + j]);
          if (s.sum == Type::f16 && std::fabs(sum) >= 65520) {
            wrong += !std::isinf(got);
            continue;
          }
          int exponent = 0;
          std::frexp(static_cast<double>(sum), &exponent);
          const long double unit = std::ldexp(1.0L, exponent - (s.sum == Type::f16 ? 11 : 24));
          const long double noise = s.k * size * 0x1p-52L;
          const long double lost = sum < 0 ? got - sum : sum - got;  // towards zero
          wrong += s.sum == Type::f16 ? !(std::fabs(lost) <= unit / 2 + noise)
                                      : !(lost >= -noise && lost <= unit + noise);
          inexact += static_cast<long double>(got) != sum;
        }
    CHECK(wrong == 0);
    CHECK(inexact > 0);  // the bound was put to the test
  }
}

TEST_CASE("mma: FP64 is a chain of fused multiply-adds over k", "[mma]") {
  Random random(29);
  for (const Shape& s : shapes()) {
    if (s.a != Type::f64) continue;
    INFO(s.text());
    std::vector<Matrix> a(60, Matrix(s.m * s.k)), b(60, Matrix(s.k * s.n)),
        c(60, Matrix(s.m * s.n));
    for (std::vector<Matrix>* all : {&a, &b, &c})
      for (Matrix& m : *all)
        for (u64& v : m)
          v = (random.next() & 0x800fffffffffffffull) | (u64{1000 + random.below(46)} << 52);
    const std::vector<Matrix> d = multiply(s, a, b, c);
    std::size_t wrong = 0;
    for (unsigned set = 0; set < a.size(); ++set)
      for (unsigned i = 0; i < s.m; ++i)
        for (unsigned j = 0; j < s.n; ++j) {
          double sum = from_slot<double>(c[set][i * s.n + j]);
          for (unsigned k = 0; k < s.k; ++k)
            sum = std::fma(from_slot<double>(a[set][i * s.k + k]),
                           from_slot<double>(b[set][k * s.n + j]), sum);
          wrong += d[set][i * s.n + j] != to_slot(sum);
        }
    CHECK(wrong == 0);
  }
}

TEST_CASE("mma: tf32 does not look at the low 13 bits", "[mma]") {
  for (const Shape& s : shapes()) {
    if (s.a != Type::tf32) continue;
    INFO(s.text());
    const float just_below_two = from_slot<float>(0x3fffffff);
    const std::vector<Matrix> a(1, Matrix(s.m * s.k, to_slot(just_below_two)));
    const std::vector<Matrix> b(1, Matrix(s.k * s.n, to_slot(1.0f)));
    const std::vector<Matrix> c(1, Matrix(s.m * s.n, to_slot(0.0f)));
    const std::vector<Matrix> d = multiply(s, a, b, c);
    for (const u64 v : d[0])
      CHECK(from_slot<float>(v) == static_cast<float>(s.k) * from_slot<float>(0x3fffe000));
  }
}

TEST_CASE("mma: infinities, NaN, subnormals and overflow", "[mma]") {
  const float infinity = std::numeric_limits<float>::infinity();
  const Shape half{16, 8, 16, Type::f16, Type::f16, Type::f32};
  const Shape narrow{16, 8, 16, Type::f16, Type::f16, Type::f16};
  const Shape brain{16, 8, 8, Type::bf16, Type::bf16, Type::f32};
  struct Case {
    Shape shape;
    u64 a, b, c, d;  // one product a * b, the others zero
  };
  for (const Case& t : std::vector<Case>{
           {half, 0x7c00, 0x3c00, 0, to_slot(infinity)},
           {half, 0x7c00, 0x0000, 0, 0x7fffffff},  // infinity * 0
           {half, 0x7c00, 0x3c00, to_slot(-infinity), 0x7fffffff},
           {half, 0x7e01, 0x3c00, 0, 0x7fffffff},
           {half, 0x0001, 0x0001, 0, to_slot(0x1p-48f)},
           {half, 0x0001, 0x8001, 0, to_slot(-0x1p-48f)},
           {narrow, 0x7bff, 0x7bff, 0, 0x7c00},
           {narrow, 0x0001, 0x3800, 0, 0x0000},  // half of the least subnormal: to even
           {narrow, 0x0003, 0x3800, 0, 0x0002},
           {brain, 0x7f7f, 0x7f7f, 0, to_slot(infinity)},
           {brain, 0x7f7f, 0x7f7f, to_slot(-infinity), to_slot(-infinity)},
           {brain, 0x0001, 0x3f80, 0, 0x00010000}}) {
    const Shape& s = t.shape;
    std::vector<Matrix> a(1, Matrix(s.m * s.k, 0)), b(1, Matrix(s.k * s.n, 0)),
        c(1, Matrix(s.m * s.n, 0));
    a[0][3 * s.k + 5] = t.a;
    b[0][5 * s.n + 2] = t.b;
    c[0][3 * s.n + 2] = t.c;
    const std::vector<Matrix> d = multiply(s, a, b, c);
    INFO(s.text() << " " << std::hex << t.a << " " << t.b << " " << t.c);
    CHECK(d[0][3 * s.n + 2] == t.d);
    CHECK(d[0][4 * s.n + 2] == 0);
  }
}

TEST_CASE("mma: the same bits with any number of host threads", "[mma]") {
  Random random(31);
  const Shape s{16, 8, 16, Type::bf16, Type::bf16, Type::f32};
  std::vector<Matrix> a(30, Matrix(s.m * s.k)), b(30, Matrix(s.k * s.n)), c(30, Matrix(s.m * s.n));
  for (unsigned set = 0; set < a.size(); ++set) {
    for (u64& v : a[set]) v = random_number(random, s.a);
    for (u64& v : b[set]) v = random_number(random, s.b);
    for (u64& v : c[set]) v = random_number(random, s.sum);
  }
  LaunchReport one, four;
  const auto first = multiply(s, a, b, c, &one, 1), second = multiply(s, a, b, c, &four, 4);
  CHECK(first == second);
  CHECK(to_text(one) == to_text(four));
}

TEST_CASE("mma: destination and source may share registers", "[mma]") {
  // D over A: f16 sums take two registers, A four.
  const std::string text = ptx_module(R"(
.visible .entry k(.param .u64 out) {
.reg .b32 %r<8>; .reg .b64 %rd<4>;
ld.param.u64 %rd0, [out];
mov.u32 %r5, %tid.x;
mul.wide.u32 %rd1, %r5, 8;
add.s64 %rd0, %rd0, %rd1;
mov.b32 %r0, 0x3c003c00;
mov.b32 %r1, 0x40004000;
mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r0, %r1, %r0, %r1}, {%r0, %r0}, {%r1, %r1};
st.global.v2.b32 [%rd0], {%r0, %r1};
ret;
})");
  Gpu gpu(text);
  const DevicePtr out = gpu.device.alloc(256, "out");
  CHECK(gpu.run("k", Dim3{1}, Dim3{32}, out).findings.empty());
  const auto d = gpu.download<u32>(out, 64);
  for (unsigned lane = 0; lane < 32; ++lane) {
    CHECK(d[2 * lane] == 0x4c804c80);      // 16 * 1 * 1 + 2 = 18
    CHECK(d[2 * lane + 1] == 0x50405040);  // 16 * 2 * 1 + 2 = 34
  }
}

TEST_CASE("mma: FP32 sums in the registers of A, of B, of C in any order", "[mma]") {
  // %r16-19 are D in registers of its own; each of `overlaps` is D once more.
  const std::string inputs = "{%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r8, %r9, %r10, %r11};";
  for (const std::string overlap : {"%r8 %r9 %r10 %r11", "%r9 %r8 %r11 %r10", "%r10 %r11 %r8 %r9",
                                    "%r20 %r21 %r8 %r22", "%r3 %r2 %r1 %r0", "%r4 %r20 %r5 %r21"}) {
    std::istringstream names(overlap);
    std::vector<std::string> d(4);
    for (std::string& name : d) names >> name;
    std::string text = R"(
.visible .entry k(.param .u64 out) {
.reg .b32 %r<32>; .reg .f32 %f<4>; .reg .b64 %rd<4>;
ld.param.u64 %rd0, [out];
mov.u32 %r30, %tid.x;
mul.wide.u32 %rd1, %r30, 32;
add.s64 %rd0, %rd0, %rd1;
cvt.rn.f32.u32 %f0, %r30;
)";
    for (const unsigned r : {0u, 1u, 2u, 3u, 4u, 5u})
      text += "mad.lo.u32 %r" + std::to_string(r) + ", %r30, " + std::to_string(0x10001 * (r + 3)) +
              ", 0x3c003800;\n";
    for (const unsigned r : {8u, 9u, 10u, 11u})
      text += "fma.rn.f32 %f1, %f0, 0f3f19999a, 0f" +
              std::string(r % 2 == 0 ? "3e99999a" : "3dcccccd") + "; mov.b32 %r" +
              std::to_string(r) + ", %f1; mul.f32 %f0, %f0, 0fbf99999a;\n";
    const std::string mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ";
    text += mma + "{%r16, %r17, %r18, %r19}, " + inputs + "\n" + mma + "{" + d[0] + ", " + d[1] +
            ", " + d[2] + ", " + d[3] + "}, " + inputs + R"(
st.global.v4.b32 [%rd0], {%r16, %r17, %r18, %r19};
st.global.v4.b32 [%rd0+16], {)" +
            d[0] + ", " + d[1] + ", " + d[2] + ", " + d[3] + "};\nret;\n}\n";
    Gpu gpu(ptx_module(text));
    const DevicePtr out = gpu.device.alloc(32 * 32, "out");
    REQUIRE(gpu.run("k", Dim3{1}, Dim3{32}, out).findings.empty());
    const auto v = gpu.download<u32>(out, 256);
    INFO(overlap);
    for (unsigned i = 0; i < 256; i += 8)
      for (unsigned k = 0; k < 4; ++k) CHECK(v[i + k] == v[i + k + 4]);
    CHECK(v[0] != v[8]);
  }
}

TEST_CASE("mma: lanes that are missing are a finding", "[mma]") {
  const Shape s{16, 8, 8, Type::f16, Type::f16, Type::f32};
  const std::size_t words = (2 + 1 + 4) * 32;
  const std::vector<u32> in(words, 0x3c003c00);
  const auto launch = [&](const std::string& before, unsigned threads, const Checks& checks) {
    Gpu gpu(kernel(s, before));
    const DevicePtr from = gpu.upload(in, "in"), to = gpu.device.alloc(4 * 32 * 4, "out");
    LaunchOptions options;
    options.checks = checks;
    return gpu.run("k", Dim3{1}, Dim3{threads}, 0u, options, from, to);
  };
  CHECK(launch("", 32, Checks{}).findings.empty());
  const std::string branch = "setp.gt.u32 %p0, %lane, 11;\n@%p0 bra SKIP;\n";
  const LaunchReport apart = launch(branch, 32, Checks{});
  REQUIRE(apart.findings.size() == 1);
  CHECK(apart.findings[0].kind == FindingKind::divergent_barrier);
  CHECK(apart.findings[0].detail.find("mma.sync needs all 32 lanes of warp 0, but lane 12") == 0);
  CHECK(launch(branch, 32, Checks::none()).findings.empty());
  const LaunchReport partial = launch("", 24, Checks{});
  REQUIRE(partial.findings.size() == 1);
  CHECK(partial.findings[0].detail.find("has only 24 threads") != std::string::npos);
}

TEST_CASE("mma: what does not exist is one clear error", "[mma]") {
  const auto error_of = [](const std::string& instruction) {
    try {
      Gpu gpu(
          ptx_module(".visible .entry k() {\n.reg .b32 %r<32>;\n.reg .b64 %rd<32>;\n.reg .b16 "
                     "%h<8>;\n" +
                     instruction + "\nret;\n}\n"));
      const auto info = gpu.device.kernel(gpu.module, "k");
      return info ? info->unsupported : std::string("no kernel");
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
  };
  const std::string four = "{%r0, %r1, %r2, %r3}", two = "{%r4, %r5}";
  const std::string f16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ";
  CHECK(error_of(f16 + four + ", " + four + ", " + two + ", " + four + ";").empty());
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {f16 + two + ", " + four + ", " + two + ", " + four + ";", "4 registers where 2"},
           {f16 + four + ", " + two + ", " + two + ", " + four + ";", "4 registers where 2"},
           {f16 + four + ", " + four + ", %r1, " + four + ";", "2 registers where 1"},
           {f16 + four + ", {%rd0, %rd1, %rd2, %rd3}, " + two + ", " + four + ";", "32-bit"},
           {f16 + four + ", {%h0, %h1, %h2, %h3}, " + two + ", " + four + ";", "32-bit"},
           {"mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 " + four + ", " + four + ", " + two +
                ", " + four + ";",
            "m16n8k32"},
           {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 " + four + ", " + two + ", " + two +
                ", " + four + ";",
            "m8n8k4"},
           {"mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32 " + four + ", " + four + ", " + two +
                ", " + four + ";",
            ".row.col"},
           {"mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 " + four + ", " + four + ", " +
                two + ", " + four + ";",
            "types"},
           {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32 " + two + ", " + four + ", " + two +
                ", " + four + ";",
            "types"},
           {"mma.sync.aligned.m65535n65535k65535.row.col.f32.f16.f16.f32 " + four + ", " + four +
                ", " + two + ", " + four + ";",
            "m65535n65535k65535"},
           {"mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32 " + four + ", " + four +
                ", " + two + ", " + four + ";",
            "satfinite"}}) {
    const std::string error = error_of(text);
    INFO(text << "\n" << error);
    CHECK(!error.empty());
    CHECK(error.find(part) != std::string::npos);
  }
}

}  // namespace
}  // namespace simgpu::test
