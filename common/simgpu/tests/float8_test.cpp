// 8-bit floats: every value, every way to round, and products of warps (PTX ISA 5.2.3, 9.7.9.21, 9.7.15.5). Expected values
// are worked out from the definition of the formats: sign, 4 or 5 bits of exponent, 3 or 2 of fraction.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/float8.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;

/// NaN for what is none, as the tables of the OCP specification have it.
double value_of(unsigned v, bool e5m2) {
  const int bits = e5m2 ? 2 : 3, bias = e5m2 ? 15 : 7;
  const int exponent = static_cast<int>(v & 0x7f) >> bits,
            fraction = static_cast<int>(v) & ((1 << bits) - 1);
  const double sign = (v & 0x80) != 0 ? -1 : 1;
  if (e5m2 && exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (!e5m2 && (v & 0x7f) == 0x7f) return NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - bits);
  return sign * std::ldexp((1 << bits) + fraction, exponent - bias - bits);
}
/// The nearest finite value; of two, the even one.
unsigned nearest(double v, bool e5m2) {
  if (std::isnan(v)) return 0x7f;
  const unsigned sign = std::signbit(v) ? 0x80 : 0, largest = e5m2 ? 0x7b : 0x7e;
  if (std::fabs(v) >= value_of(largest, e5m2)) return largest | sign;
  unsigned best = 0;
  for (unsigned k = 0; k < 0x80; ++k) {
    const double candidate = value_of(k, e5m2);
    if (!std::isfinite(candidate)) continue;
    const double d = std::fabs(candidate - std::fabs(v)),
                 so_far = std::fabs(value_of(best, e5m2) - std::fabs(v));
    if (d < so_far || (d == so_far && k % 2 == 0)) best = k;
  }
  return best | sign;
}

/// Runs `cvt` on pairs: %d from %a and %b.
std::vector<u32> convert(const std::string& cvt, const std::vector<u32>& a,
                         const std::vector<u32>& b) {
  Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 d, .param .u32 n)
{
  .reg .pred %p; .reg .b16 %h<2>; .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [d]; ld.param.u32 %r9, [n];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 128, %r1;
  setp.ge.u32 %p, %r3, %r9; @%p bra E;
  mul.wide.u32 %rd4, %r3, 4; add.u64 %rd1, %rd1, %rd4; add.u64 %rd2, %rd2, %rd4; add.u64 %rd3, %rd3, %rd4;
  ld.global.u32 %r4, [%rd1]; ld.global.u32 %r5, [%rd2]; mov.b32 %f1, %r4; mov.b32 %f2, %r5;
  cvt.u16.u32 %h1, %r4; mov.u32 %r6, 0;
  )" + cvt + R"(
  st.global.u32 [%rd3], %r6;
E: ret;
}
)"));
  const DevicePtr d = gpu.upload(std::vector<u32>(a.size()), "d"), at_a = gpu.upload(a, "a"),
                  at_b = gpu.upload(b, "b");
  const LaunchReport r = gpu.run("k", {static_cast<u32>(a.size() / 128 + 1), 1, 1}, {128, 1, 1}, 0u,
                                 LaunchOptions{}, at_a, at_b, d, static_cast<u32>(a.size()));
  CHECK(to_text(r.findings) == "");
  return gpu.download<u32>(d, a.size());
}

TEST_CASE("8-bit floats: all 256 values", "[float8]") {
  for (const bool e5m2 : {false, true})
    for (unsigned v = 0; v < 256; ++v) {
      const auto got = static_cast<double>(float8_values(e5m2)[v]), want = value_of(v, e5m2);
      CHECK((std::isnan(want) ? std::isnan(got)
                              : got == want && std::signbit(got) == std::signbit(want)));
    }
}

TEST_CASE("cvt to pairs of 8-bit floats", "[float8]") {
  std::vector<float> values = {0,         -0.0f,    1,        -1,       448,        449,
                               464,       465,      57344,    61440,    1e30f,      -1e30f,
                               0x1p-9f,   0x1p-10f, 0x1p-16f, 0x1p-17f, 0x1.8p-17f, INFINITY,
                               -INFINITY, NAN,      0x1p-140f};
  for (const bool e5m2 : {false, true})  // between neighbours, and a little beside the middle
    for (unsigned k = 0; k + 1 < 0x7b; ++k) {
      const double middle = (value_of(k, e5m2) + value_of(k + 1, e5m2)) / 2;
      for (const double factor : {1.0, 1 - 0x1p-20, 1 + 0x1p-20})
        values.push_back(static_cast<float>(-middle * factor));
    }
  std::vector<u32> a, b;
  for (std::size_t i = 0; i < values.size(); ++i) {
    a.push_back(std::bit_cast<u32>(values[i]));
    b.push_back(std::bit_cast<u32>(values[values.size() - 1 - i]));
  }
  for (const bool e5m2 : {false, true})
    for (const bool relu : {false, true}) {
      const std::string type = e5m2 ? "e5m2x2" : "e4m3x2";
      const auto got = convert("cvt.rn.satfinite" + std::string(relu ? ".relu." : ".") + type +
                                   ".f32 %h0, %f1, %f2; cvt.u32.u16 %r6, %h0;",
                               a, b);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto of = [&](float v) {
          return nearest(relu && v < 0 ? 0.0 : static_cast<double>(v), e5m2);
        };
        INFO(values[i] << " " << type);
        CHECK(got[i] == (of(values[i]) << 8 | of(values[values.size() - 1 - i])));
      }
    }
}

TEST_CASE("cvt between pairs of 8-bit floats and halves", "[float8]") {
  std::vector<u32> pairs;
  for (u32 v = 0; v < 256; ++v) pairs.push_back(v << 8 | (255 - v));
  for (const bool e5m2 : {false, true}) {
    const std::string type = e5m2 ? "e5m2x2" : "e4m3x2";
    const auto halves = convert("cvt.rn.f16x2." + type + " %r6, %h1;", pairs, pairs);
    for (u32 v = 0; v < 256; ++v) {
      const auto want = [&](unsigned x) { return to_half(value_of(x, e5m2)); };
      CHECK(halves[v] == (u32{want(v)} << 16 | want(255 - v)));
    }
    const auto back = convert("cvt.rn.satfinite." + type + ".f16x2 %h0, %r4; cvt.u32.u16 %r6, %h0;",
                              halves, halves);
    for (u32 v = 0; v < 256; ++v)
      CHECK(back[v] ==
            (nearest(value_of(v, e5m2), e5m2) << 8 | nearest(value_of(255 - v, e5m2), e5m2)));
  }
}

TEST_CASE("mma.sync of 8-bit floats", "[float8][mma]") {
  // Lane 4 g + t has of A rows g and g + 8, columns 4 t and 16 + 4 t on; of B rows 4 t and 16 + 4 t on, column g.
  for (const char* types : {"e4m3.e4m3", "e4m3.e5m2", "e5m2.e4m3", "e5m2.e5m2"}) {
    const bool a5 = std::string(types).substr(0, 4) == "e5m2",
               b5 = std::string(types).substr(5) == "e5m2";
    const auto a = [](unsigned r, unsigned k) { return static_cast<int>((r * 5 + k * 3) % 9) - 4; };
    const auto b = [](unsigned k, unsigned c) { return static_cast<int>((c * 7 + k) % 7) - 3; };
    std::vector<u32> registers(32 * 6, 0);
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned q = 0; q < 4; ++q) {
        const unsigned g = lane / 4, t = lane % 4;
        for (unsigned r = 0; r < 4; ++r)
          registers[lane * 6 + r] |=
              u32{to_float8(a(g + 8 * (r % 2), 4 * t + q + 16 * (r / 2)), a5)} << 8 * q;
        for (unsigned r = 0; r < 2; ++r)
          registers[lane * 6 + 4 + r] |= u32{to_float8(b(4 * t + q + 16 * r, g), b5)} << 8 * q;
      }
    Gpu gpu(ptx_module(
        R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<8>; .reg .b64 %rd<6>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r7, %tid.x;
  mul.wide.u32 %rd3, %r7, 24; add.u64 %rd1, %rd1, %rd3; mul.wide.u32 %rd4, %r7, 16; add.u64 %rd2, %rd2, %rd4;
  ld.global.u32 %r0, [%rd1]; ld.global.u32 %r1, [%rd1+4]; ld.global.u32 %r2, [%rd1+8]; ld.global.u32 %r3, [%rd1+12];
  ld.global.u32 %r4, [%rd1+16]; ld.global.u32 %r5, [%rd1+20];
  mov.f32 %f0, 0f3f800000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
  mma.sync.aligned.m16n8k32.row.col.f32.)" +
        std::string(types) +
        R"(.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};
  st.global.v4.f32 [%rd2], {%f0, %f1, %f2, %f3};
  ret;
}
)"));
    const DevicePtr in = gpu.upload(registers, "in"),
                    out = gpu.upload(std::vector<float>(128), "out");
    const LaunchReport r = gpu.run("k", {1, 1, 1}, {32, 1, 1}, 0u, LaunchOptions{}, in, out);
    CHECK(to_text(r.findings) == "");
    CHECK(r.total.tensor_ops.at("f8") == 2u * 16 * 8 * 32);
    const auto d = gpu.download<float>(out, 128);
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned e = 0; e < 4; ++e) {
        int sum = 1;
        for (unsigned k = 0; k < 32; ++k)
          sum += a(lane / 4 + 8 * (e / 2), k) * b(k, lane % 4 * 2 + e % 2);
        CHECK(d[lane * 4 + e] == static_cast<float>(sum));
      }
  }
}

}  // namespace
}  // namespace simgpu::test
