// mma.sync on 4-bit integers and on single bits: exact results against sums of the host's, counts, and
// PTX that is wrong. Fragments of wmma: programs/packed_products.cu.
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;
using s32 = std::int32_t;

struct Form {
  unsigned m, k;  // n is 8
  std::string a, b, operation = "", qualifier = "";

  unsigned bits() const { return a == "b1" ? 1 : 4; }
  unsigned a_registers() const { return m * k * bits() / 1024; }
  unsigned b_registers() const { return 8 * k * bits() / 1024; }
  unsigned c_registers() const { return m / 4; }
  std::string text() const {
    return "mma.sync.aligned.m" + std::to_string(m) + "n8k" + std::to_string(k) + ".row.col" +
           qualifier + ".s32." + a + "." + b + ".s32" + operation;
  }
};

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const auto& [m, k] : {std::pair{8u, 32u}, {16u, 32u}, {16u, 64u}})
    for (const char* a : {"s4", "u4"})
      for (const char* b : {"s4", "u4"})
        for (const char* qualifier : {"", ".satfinite"}) all.push_back({m, k, a, b, "", qualifier});
  for (const auto& [m, k] : {std::pair{8u, 128u}, {16u, 128u}, {16u, 256u}})
    for (const char* operation : {".xor.popc", ".and.popc"})
      all.push_back({m, k, "b1", "b1", operation});
  return all;
}

struct Place {
  unsigned row, column;
};

// The figures of the PTX ISA 9.7.15.5, one after the other, not by the rule that the engine uses. i: element of
// the lane's fragment.
Place place_a(const Form& f, unsigned lane, unsigned i) {
  const unsigned g = lane >> 2, t = lane % 4;
  if (f.bits() == 4) {
    if (f.m == 8) return {g, t * 8 + i};
    if (f.k == 32) return {i < 8 ? g : g + 8, t * 8 + (i & 7)};
    return {i < 8 || (16 <= i && i < 24) ? g : g + 8, t * 8 + (i & 7) + (i < 16 ? 0 : 32)};
  }
  if (f.m == 8) return {g, t * 32 + i};
  if (f.k == 128) return {i < 32 ? g : g + 8, t * 32 + (i & 31)};
  return {i < 32 || (64 <= i && i < 96) ? g : g + 8, t * 32 + (i & 31) + (i < 64 ? 0 : 128)};
}
Place place_b(const Form& f, unsigned lane, unsigned i) {
  const unsigned g = lane >> 2, t = lane % 4;
  if (f.bits() == 4) return {t * 8 + (i & 7) + (i < 8 ? 0 : 32), g};
  return {t * 32 + (i & 31) + (i < 32 ? 0 : 128), g};
}
Place place_c(unsigned lane, unsigned i) {
  return {(lane >> 2) + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)};
}

std::string registers(unsigned first, unsigned n) {
  std::string text = "{";
  for (unsigned i = 0; i < n; ++i) text += (i ? ", %r" : "%r") + std::to_string(first + i);
  return text + "}";
}

/// Loads A, B and C register by register, 32 lanes each, multiplies and stores D over C.
std::string kernel(const Form& f, const std::string& before = "") {
  const unsigned a = f.a_registers(), b = f.b_registers(), c = f.c_registers(), all = a + b + c;
  std::string t =
      ".visible .entry k(.param .u64 data) {\n.reg .b32 %r<32>;\n.reg .b64 %q<3>;\n.reg .pred %p;\n"
      ".reg .b32 %lane, %set;\nld.param.u64 %q0, [data];\nmov.u32 %lane, %tid.x;\n"
      "mov.u32 %set, %ctaid.x;\nmul.wide.u32 %q1, %set, " +
      std::to_string(all * 128) + ";\nadd.s64 %q0, %q0, %q1;\n" +
      "mul.wide.u32 %q1, %lane, 4;\nadd.s64 %q0, %q0, %q1;\n";
  for (unsigned i = 0; i < all; ++i)
    t += "ld.global.b32 %r" + std::to_string(i) + ", [%q0+" + std::to_string(i * 128) + "];\n";
  t += before + f.text() + " " + registers(a + b, c) + ", " + registers(0, a) + ", " +
       registers(a, b) + ", " + registers(a + b, c) + ";\nSKIP:\n";
  for (unsigned i = a + b; i < all; ++i)
    t += "st.global.b32 [%q0+" + std::to_string(i * 128) + "], %r" + std::to_string(i) + ";\n";
  return ptx_module(t + "ret;\n}\n");
}

/// One product: elements as numbers, by rows.
struct Product {
  std::vector<int> a, b;
  std::vector<u32> c;
};

int least(const std::string& type) {
  return type == "s4" ? -8 : 0;
}
int most(const std::string& type) {
  return type == "s4" ? 7 : type == "u4" ? 15 : 1;
}

Product make(const Form& f, Random& random, unsigned set) {
  Product p{std::vector<int>(f.m * f.k), std::vector<int>(f.k * 8), std::vector<u32>(f.m * 8)};
  const auto fill = [&](std::vector<int>& v, const std::string& type) {
    const int low = least(type), high = most(type);
    for (int& x : v)
      x = set == 0   ? low
          : set == 1 ? high
                     : low + static_cast<int>(random.below(static_cast<u32>(high - low + 1)));
  };
  fill(p.a, f.a);
  fill(p.b, f.b);
  for (u32& x : p.c)
    x = set % 3 == 0   ? 0x7ffffff0u + random.below(16)
        : set % 3 == 1 ? 0x80000000u + random.below(16)
                       : random.below(2000);
  return p;
}

u32 expected(const Form& f, const Product& p, unsigned row, unsigned column, unsigned gain) {
  std::int64_t sum = 0;
  for (unsigned k = 0; k < f.k; ++k) {
    const int x = p.a[row * f.k + k], y = p.b[k * 8 + column];
    sum += f.operation == ".xor.popc" ? x ^ y : x * y;  // of bits, .and is the product
  }
  sum = sum * gain + static_cast<s32>(p.c[row * 8 + column]);
  if (!f.qualifier.empty() && sum > INT32_MAX) sum = INT32_MAX;
  if (!f.qualifier.empty() && sum < INT32_MIN) sum = INT32_MIN;
  return static_cast<u32>(sum);
}

template <class Where>
void put(std::vector<u32>& words, std::size_t first, const Form& f, unsigned count, unsigned pitch,
         const std::vector<int>& values, Where where) {
  const unsigned per = 32 / f.bits();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < count * per; ++i) {
      const Place p = where(f, lane, i);
      const u32 bits = static_cast<u32>(values[p.row * pitch + p.column]) & ((1u << f.bits()) - 1);
      words[first + i / per * 32 + lane] |= bits << (f.bits() * (i % per));
    }
}

std::vector<u32> packed(const Form& f, const std::vector<Product>& products) {
  const unsigned a = f.a_registers(), b = f.b_registers(), c = f.c_registers();
  std::vector<u32> words(products.size() * (a + b + c) * 32);
  std::size_t first = 0;
  for (const Product& p : products) {
    put(words, first, f, a, f.k, p.a, place_a);
    put(words, first + a * 32, f, b, 8, p.b, place_b);
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < c; ++i) {
        const Place at = place_c(lane, i);
        words[first + (a + b + i) * 32 + lane] = p.c[at.row * 8 + at.column];
      }
    first += (a + b + c) * 32;
  }
  return words;
}

/// How many elements of D are not what the host says.
std::size_t wrong_elements(const Form& f, const std::vector<Product>& products, unsigned gain,
                           LaunchReport* report) {
  Gpu gpu(kernel(f));
  const std::vector<u32> words = packed(f, products);
  const DevicePtr data = gpu.upload(words, "data");
  LaunchOptions options;
  options.tensor_gain = gain;
  *report = gpu.run("k", Dim3{static_cast<u32>(products.size())}, Dim3{32}, 0u, options, data);
  const std::vector<u32> out = gpu.download<u32>(data, words.size());
  const unsigned before = f.a_registers() + f.b_registers(), c = f.c_registers();
  std::size_t wrong = 0, first = 0;
  for (const Product& p : products) {
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < c; ++i) {
        const Place at = place_c(lane, i);
        wrong += out[first + (before + i) * 32 + lane] != expected(f, p, at.row, at.column, gain);
      }
    first += (before + c) * 32;
  }
  return wrong;
}

TEST_CASE("mma on 4-bit integers and on bits: exact sums, each element in its place", "[mma]") {
  Random random(41);
  for (const Form& f : forms()) {
    INFO(f.text());
    std::vector<Product> products;
    for (unsigned set = 0; set < 30; ++set) products.push_back(make(f, random, set));
    LaunchReport report;
    CHECK(wrong_elements(f, products, 1, &report) == 0);
    CHECK(report.completed);
    CHECK(report.findings.empty());
    const std::string type = f.a == f.b ? f.a : "s4";
    REQUIRE(report.total.tensor_ops.size() == 1);
    CHECK(report.total.tensor_ops.begin()->first == type);
    CHECK(report.total.tensor_ops.begin()->second == std::uint64_t{2} * f.m * 8 * f.k * 30);
    CHECK(report.total
              .thread_instructions_by_class[static_cast<std::size_t>(InstructionClass::tensor)] ==
          32 * products.size());
    CHECK(wrong_elements(f, {make(f, random, 2)}, 3, &report) == 0);  // products grow, C stays
  }
}

TEST_CASE("mma on bits: lanes that are missing are a finding", "[mma]") {
  for (const Form& f : {Form{8, 32, "s4", "s4"}, Form{8, 128, "b1", "b1", ".and.popc"}}) {
    Gpu gpu(kernel(f, "setp.gt.u32 %p, %lane, 11;\n@%p bra SKIP;\n"));
    Random random(43);
    const DevicePtr data = gpu.upload(packed(f, {make(f, random, 2)}), "data");
    const LaunchReport report = gpu.run("k", Dim3{1}, Dim3{32}, data);
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].kind == FindingKind::divergent_barrier);
    CHECK(report.findings[0].detail.find("mma.sync needs all 32 lanes of warp 0, but lane 12") ==
          0);
  }
}

TEST_CASE("mma on 4-bit integers and on bits: what does not exist is one clear error", "[mma]") {
  const auto error_of = [](const std::string& text) {
    try {
      Gpu gpu(ptx_module(".visible .entry k(.param .u64 data) {\n.reg .b32 %r<8>;\n" + text +
                         "ret;\n}\n"));
      const auto info = gpu.device.kernel(gpu.module, "k");
      return info ? info->unsupported : std::string("no kernel");
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
  };
  const std::string small = " {%r0, %r1}, {%r2}, {%r3}, {%r0, %r1};\n";
  CHECK(error_of("mma.sync.aligned.m8n8k32.row.col.s32.u4.s4.s32" + small).empty());
  CHECK(error_of("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc" + small).empty());
  const std::string load = "mov.b64 %q, 0;\nwmma.load.";
  const std::string wide = ".reg .b64 %q;\n";
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32" + small, "needs .and.popc or"},
           {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor" + small, "needs .and.popc or"},
           {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.or.popc" + small,
            "needs .and.popc or"},
           {"mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32.and.popc" + small,
            ".popc is for single bits"},
           {"mma.sync.aligned.m8n8k32.row.col.s32.s4.s8.s32" + small, "types"},
           {"mma.sync.aligned.m8n8k32.row.col.s32.b1.b1.s32.and.popc" + small, "m8n8k32"},
           {"mma.sync.aligned.m8n8k128.row.col.s32.s4.s4.s32" + small, "m8n8k128"},
           {"mma.sync.aligned.m8n8k32.row.row.s32.s4.s4.s32" + small, ".row.col"},
           {"mma.sync.aligned.m8n8k128.row.col.satfinite.s32.b1.b1.s32.and.popc" + small,
            "satfinite"},
           {"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%r0, %r1, %r2, %r3}, {%r4}, {%r5}, "
            "{%r0, %r1, %r2, %r3};\n",
            "4 registers where 1"},
           {wide + "wmma.mma.xor.popc.sync.aligned.row.row.m8n8k128.s32.b1.b1.s32" + small,
            ".row.col"},
           {wide + load + "a.sync.aligned.col.m8n8k32.s4 {%r0}, [%q];\n", "does not have"},
           {wide + load + "b.sync.aligned.row.m8n8k128.b1 {%r0}, [%q];\n", "does not have"},
           {".reg .s4 %x;\n", "a register cannot have this type"}}) {
    const std::string error = error_of(text);
    INFO(text << "\n" << error);
    CHECK(error.find(part) != std::string::npos);
  }
}

}  // namespace
}  // namespace simgpu::test
