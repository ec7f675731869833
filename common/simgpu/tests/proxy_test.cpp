// Hopper's asynchronous proxy: wgmma in every type, layout and major-ness and bulk copies of tensors
// against values that are computed here from the figures of the PTX ISA (9.7.15.5.1, 5.5.3, 5.5.6),
// mbarriers, and the mistakes that are found.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/float8.hpp"
#include "common/simgpu/half.hpp"
#include "common/simgpu/tensor_map.hpp"
#include "common/simgpu/tests/findings.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using findings::of_kind;
using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr unsigned kImageBytes = 64 << 10, kB = 32 << 10;  // where B begins

// ---- wgmma

struct Case {
  std::string type;  // of A and B
  unsigned n = 64;
  unsigned swizzle = 3;  // 0 none, 1 32, 2 64, 3 128 bytes
  bool mn_a = false, mn_b = false, registers = false, clears = false, negates = false;
  bool half_sums = false;
  std::string type_b = {};  // of B; "": as A
};
bool is_integer(const Case& c) {
  return c.type == "s8" || c.type == "u8";
}
bool is_float8(const Case& c) {
  return c.type == "e4m3" || c.type == "e5m2";
}
unsigned bytes_of(const Case& c) {
  return c.type == "tf32" ? 4 : is_integer(c) || is_float8(c) ? 1 : 2;
}
unsigned depth(const Case& c) {
  return 32 / bytes_of(c);
}
u64 encode(const Case& c, double v) {
  if (c.type == "f16") return to_half(v);
  if (c.type == "bf16") return to_bfloat(v);
  if (c.type == "tf32") return to_slot(static_cast<float>(v));
  if (is_float8(c)) return to_float8(v, c.type == "e5m2");
  return static_cast<u64>(static_cast<int>(v)) & 0xff;
}

/// Byte of element (r, k) of an operand, by the figures of the ISA.
unsigned place(const Case& c, bool mn_major, unsigned r, unsigned k) {
  const unsigned size = bytes_of(c), width = 16u << c.swizzle, chunks = width / 16;
  const unsigned along = (mn_major ? r : k) * size, across = mn_major ? k : r;
  if (c.swizzle == 0)  // core matrices of 8 x 16 bytes, 128 and 256 bytes apart
    return across % 8 * 16 + along % 16 +
           (mn_major ? along / 16 * 256 + across / 8 * 128 : across / 8 * 256 + along / 16 * 128);
  const unsigned turn = c.swizzle == 3   ? across % 8
                        : c.swizzle == 2 ? across / 2 % 4
                                         : across / 4 % 2;
  const unsigned chunk = (along / 16 % chunks) ^ turn;
  return along / width * 16 * width + across * width + chunk * 16 + along % 16;
}
u64 descriptor(const Case& c, bool mn_major, unsigned start) {
  const unsigned width = 16u << c.swizzle;
  const unsigned stride = c.swizzle == 0 ? 256 : 8 * width;
  const unsigned leading = c.swizzle == 0 ? 128 : mn_major ? 16 * width : 16;
  constexpr u64 kMode[] = {0, 3, 2, 1};
  return u64{start + 0x400} / 16 | u64{leading / 16} << 16 | u64{stride / 16} << 32 |
         kMode[c.swizzle] << 62;
}

std::string list(const char* name, unsigned n) {
  std::string s = "{";
  for (unsigned i = 0; i < n; ++i) s += (i != 0 ? ", %" : "%") + (name + std::to_string(i));
  return s + "}";
}

std::string product_text(const Case& c, unsigned registers) {
  const bool integer = is_integer(c);
  std::string s =
      "wgmma.mma_async.sync.aligned.m64n" + std::to_string(c.n) + "k" + std::to_string(depth(c)) +
      (integer       ? ".s32."
       : c.half_sums ? ".f16."
                     : ".f32.") +
      c.type + "." + (c.type_b.empty() ? c.type : c.type_b) + " " + list("d", registers) + ", " +
      (c.registers ? list("a", 4) : "%desca") + ", %descb, %keep";
  if (!integer) s += c.negates ? ", -1, 1" : ", 1, 1";
  if (bytes_of(c) == 2) {
    if (!c.registers) s += c.mn_a ? ", 1" : ", 0";
    s += c.mn_b ? ", 1" : ", 0";
  }
  return s + ";\n";
}

std::string kernel_text(const Case& c, unsigned registers) {
  std::string s = R"(
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(.param .u64 image, .param .u64 a, .param .u64 d, .param .u64 da, .param .u64 db)
{
  .reg .pred %p<4>; .reg .pred %keep; .reg .b32 %r<8>; .reg .b64 %rd<12>; .reg .b64 %desca, %descb;
  .reg .b32 %a<4>; .reg .b32 %d<128>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [image]; ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [d];
  ld.param.u64 %desca, [da]; ld.param.u64 %descb, [db];
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd2, %rd2, %rd4; add.u64 %rd3, %rd3, %rd4; add.u64 %rd1, %rd1, %rd4;
  mov.u32 %r2, smem; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3;
  mov.u32 %r4, 0;
L:
  ld.global.u32 %r5, [%rd1]; st.shared.u32 [%r2], %r5;
  add.u64 %rd1, %rd1, 512; add.u32 %r2, %r2, 512; add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 128; @%p1 bra L;
  fence.proxy.async; bar.sync 0;
)";
  const auto moves = [&](const char* name, const char* base, unsigned n, bool load) {
    for (unsigned i = 0; i < n; ++i) {
      const std::string at = std::string("[") + base + "+" + std::to_string(512 * i) + "]";
      const std::string reg = std::string("%") + name + std::to_string(i);
      s += load ? "ld.global.u32 " + reg + ", " + at + ";\n"
                : "st.global.u32 " + at + ", " + reg + ";\n";
    }
  };
  moves("a", "%rd2", 4, true);
  moves("d", "%rd3", registers, true);
  s += std::string("setp.ne.u32 %keep, ") + (c.clears ? "0" : "1") + ", 0;\n";
  s += "wgmma.fence.sync.aligned;\n" + product_text(c, registers) +
       "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  moves("d", "%rd3", registers, false);
  return ptx_module(s + "ret;\n}\n");
}

int value(unsigned x, unsigned y, bool has_sign) {
  const int v = static_cast<int>((x * 7 + y * 13 + x * y) % 9);
  return has_sign ? v - 4 : v;
}

void check_product(const Case& c) {
  INFO(product_text(c, 1) << " swizzle " << c.swizzle);
  const unsigned size = bytes_of(c), k_extent = depth(c), registers = c.n / (c.half_sums ? 4 : 2);
  const bool has_sign = c.type != "u8", integer = is_integer(c);
  std::vector<u8> image(kImageBytes, 0);
  Case of_b = c;
  if (!c.type_b.empty()) of_b.type = c.type_b;
  for (unsigned k = 0; k < k_extent; ++k) {
    for (unsigned m = 0; m < 64; ++m) {
      const u64 bits = encode(c, value(m, k, has_sign));
      std::memcpy(&image[place(c, c.mn_a, m, k)], &bits, size);
    }
    for (unsigned n = 0; n < c.n; ++n) {
      const u64 bits = encode(of_b, value(n + 5, k + 3, has_sign));
      std::memcpy(&image[kB + place(c, c.mn_b, n, k)], &bits, size);
    }
  }
  std::vector<u32> a(4 * 128, 0), d(registers * 128);
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned p = 0; p < 4 / size; ++p) {
        const unsigned row = t / 32 * 16 + t % 32 / 4 + 8 * (r % 2),
                       k = t % 4 * (4 / size) + p + 16 / size * (r / 2);
        a[r * 128 + t] |= static_cast<u32>(encode(c, value(row, k, has_sign))) << 8 * size * p;
      }
  const auto sum_at = [&](unsigned row, unsigned col) { return value(row, col, true); };
  const auto element = [&](unsigned t, unsigned i, unsigned* row, unsigned* col) {
    *row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 2 % 2);
    *col = i / 4 * 8 + t % 4 * 2 + i % 2;
  };
  const auto expected = [&](unsigned row, unsigned col) {
    int sum = 0;
    for (unsigned k = 0; k < k_extent; ++k)
      sum += value(row, k, has_sign) * value(col + 5, k + 3, has_sign);
    return (c.clears ? 0 : sum_at(row, col)) + (c.negates ? -sum : sum);
  };
  const auto bits = [&](int v) -> u32 {
    return c.half_sums ? to_half(v)
           : integer   ? static_cast<u32>(v)
                       : static_cast<u32>(to_slot(static_cast<float>(v)));
  };
  std::vector<u32> want(d.size(), 0);
  const unsigned per = c.half_sums ? 2 : 1;
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned i = 0; i < registers * per; ++i) {
      unsigned row, col;
      element(t, i, &row, &col);
      if (i % per == 0) d[i / per * 128 + t] = 0;
      d[i / per * 128 + t] |= bits(sum_at(row, col)) << 16 * (i % per);
      want[i / per * 128 + t] |= bits(expected(row, col)) << 16 * (i % per);
    }
  Gpu gpu(kernel_text(c, registers));
  const DevicePtr image_at = gpu.upload(image, "image"), a_at = gpu.upload(a, "a"),
                  d_at = gpu.upload(d, "d");
  gpu.device.set_max_dynamic_shared(gpu.module, "k", kImageBytes);
  const LaunchReport report =
      gpu.run("k", {1, 1, 1}, {128, 1, 1}, kImageBytes, LaunchOptions{}, image_at, a_at, d_at,
              descriptor(c, c.mn_a, 0), descriptor(c, c.mn_b, kB));
  CHECK(to_text(report.findings) == "");
  CHECK(report.total.tensor_ops.begin()->second == 2ull * 64 * c.n * k_extent);
  CHECK(gpu.download<u32>(d_at, d.size()) == want);
}

TEST_CASE("wgmma: every type, layout, source of A and size", "[proxy][wgmma]") {
  for (const char* type : {"f16", "bf16", "tf32", "s8", "u8", "e4m3", "e5m2"})
    for (unsigned swizzle = 0; swizzle < 4; ++swizzle)
      for (const bool registers : {false, true})
        check_product({.type = type, .n = 64, .swizzle = swizzle, .registers = registers});
  for (const char* type : {"f16", "bf16"})
    for (unsigned swizzle = 0; swizzle < 4; ++swizzle)
      for (const bool mn_a : {false, true}) {
        check_product({.type = type, .n = 128, .swizzle = swizzle, .mn_a = mn_a, .mn_b = true});
        check_product({.type = type, .n = 128, .swizzle = swizzle, .mn_a = mn_a});
      }
  for (const unsigned n : {8u, 16u, 96u, 256u}) {
    check_product({.type = "f16", .n = n});
    check_product({.type = "tf32", .n = n, .clears = true});
    check_product({.type = "bf16", .n = n, .negates = true});
    check_product({.type = "f16", .n = n, .half_sums = true});
    check_product({.type = "e4m3", .n = n, .negates = true, .half_sums = true});
    check_product({.type = "e5m2", .n = n, .clears = true});
    check_product({.type = "e4m3", .n = n, .type_b = "e5m2"});
    check_product({.type = "e5m2", .n = n, .registers = true, .type_b = "e4m3"});
  }
}

TEST_CASE("wgmma: FP32 sums are cut off, FP16 sums rounded, once for each instruction",
          "[proxy][wgmma]") {
  // To C = 1024 (rows from 32 on: -1024) comes three quarters of the unit of its last place, once in
  // columns 0 to 7 and twice in the others. Rounding would go up to 1 and 2 units; cutting off after
  // each product would stay at 0.
  for (const char* type : {"f16", "bf16", "tf32", "e4m3", "e5m2", "half"}) {
    Case c{type, 16, 0};
    c.half_sums = c.type == "half";
    if (c.half_sums) c.type = "f16";
    INFO(type);
    const double unit = c.half_sums ? 1 : 0x1p-13, b = c.half_sums ? 1 : 0x1p-7;
    const auto put = [&](std::vector<u8>& image, unsigned at, double v) {
      const u64 bits = encode(c, v);
      std::memcpy(&image[at], &bits, bytes_of(c));
    };
    std::vector<u8> image(kImageBytes, 0);
    for (unsigned k = 0; k < 2; ++k) {
      for (unsigned m = 0; m < 64; ++m)
        put(image, place(c, false, m, k), (m < 32 ? 0.75 : -0.75) * unit / b);
      for (unsigned n = 0; n < 16; ++n) put(image, kB + place(c, false, n, k), n < 8 && k ? 0 : b);
    }
    const unsigned registers = c.half_sums ? 4 : 8;
    const auto bits = [&](double v) {
      return c.half_sums ? to_half(v) * 0x10001u : static_cast<u32>(to_slot(static_cast<float>(v)));
    };
    std::vector<u32> d(registers * 128), want(d.size());
    for (unsigned i = 0; i < d.size(); ++i) {
      const double sign = i % 128 < 64 ? 1 : -1;
      const bool twice = i / 128 >= registers / 2;
      d[i] = bits(sign * 1024);
      want[i] = bits(sign * (1024 + (c.half_sums ? twice ? 2 : 1 : twice ? unit : 0)));
    }
    Gpu gpu(kernel_text(c, registers));
    const DevicePtr image_at = gpu.upload(image, "image"), d_at = gpu.upload(d, "d");
    gpu.device.set_max_dynamic_shared(gpu.module, "k", kImageBytes);
    gpu.run("k", {1, 1, 1}, {128, 1, 1}, kImageBytes, LaunchOptions{}, image_at, image_at, d_at,
            descriptor(c, false, 0), descriptor(c, false, kB));
    CHECK(gpu.download<u32>(d_at, d.size()) == want);
  }
}

TEST_CASE("wgmma: what does not exist is an error, never an access", "[proxy][wgmma]") {
  const auto refused = [](const std::string& statement) {
    INFO(statement);
    Gpu gpu(
        ptx_module(".visible .entry k()\n{\n.reg .b64 %rd<4>; .reg .f32 %f<8>; .reg .b32 %r<8>;\n"
                   ".reg .pred %p<2>;\n" +
                   statement + "\nret;\n}\n"));
    return !gpu.device.kernel(gpu.module, "k")->unsupported.empty();
  };
  const std::string head = "wgmma.mma_async.sync.aligned.", d = " {%f0, %f1, %f2, %f3}, ";
  CHECK_FALSE(refused(head + "m64n8k16.f32.f16.f16" + d + "%rd1, %rd2, 1, 1, 1, 0, 0;"));
  CHECK(refused(head + "m64n8k8.f32.f16.f16" + d + "%rd1, %rd2, 1, 1, 1, 0, 0;"));
  CHECK(refused(head + "m64n12k16.f32.f16.f16" + d + "%rd1, %rd2, 1, 1, 1, 0, 0;"));
  CHECK(refused(head + "m64n8k16.f32.f16.bf16" + d + "%rd1, %rd2, 1, 1, 1, 0, 0;"));
  CHECK(refused(head + "m64n8k16.f32.f16.f16 {%f0, %f1}, %rd1, %rd2, 1, 1, 1, 0, 0;"));
  CHECK(refused(head + "m64n8k16.f32.f16.f16" + d + "%rd1, %rd2, 1, 1, 1, 0, 2;"));
  CHECK(refused(head + "m64n8k16.f32.f16.f16" + d + "%rd1, %rd2, 1, 0, 1, 0, 0;"));
  CHECK(refused(head + "m64n8k8.f32.tf32.tf32" + d + "%rd1, %rd2, 1, 1, 1, 0, 0;"));
  CHECK(refused(head + "m64n8k16.f32.f16.f16" + d + "{%r0, %r1}, %rd2, 1, 1, 1, 0;"));
  CHECK(refused("setmaxnreg.inc.sync.aligned.u32 20;"));
  CHECK(refused("wgmma.wait_group.sync.aligned 8;"));
}

// ---- bulk copies

TensorMap map_of(DevicePtr base, TensorType type, const std::vector<u64>& dims,
                 const std::vector<u64>& strides, const std::vector<unsigned>& box,
                 unsigned swizzle) {
  TensorMap m;
  m.type = type;
  m.rank = static_cast<u8>(dims.size());
  m.swizzle = static_cast<Swizzle>(swizzle);
  m.base = base;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    m.last[d] = static_cast<u32>(dims[d] - 1);
    m.box[d] = static_cast<std::uint16_t>(box[d]);
    m.step[d] = 1;
    if (d + 1 < dims.size()) m.stride[d] = strides[d];
  }
  return m;
}
struct alignas(64) MapBytes {
  u8 bytes[128] = {};
  explicit MapBytes(const TensorMap& m) { std::memcpy(bytes, &m, sizeof m); }
};

/// One thread copies a box to shared memory and back to `out`, word by word.
std::string copy_text(unsigned rank, unsigned bytes, const std::string& announced,
                      const std::string& fence = "fence.mbarrier_init.release.cluster;",
                      const std::string& parity = "0") {
  std::string coordinates;
  for (unsigned d = 0; d < rank; ++d) coordinates += (d != 0 ? ", %c" : "%c") + std::to_string(d);
  std::string loads;
  for (unsigned d = 0; d < rank; ++d)
    loads += "ld.global.u32 %c" + std::to_string(d) + ", [%rd1+" + std::to_string(4 * d) + "];\n";
  return ptx_module(R"(
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 at, .param .u64 out)
{
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b32 %c<5>; .reg .b64 %rd<8>;
  .loc 1 5 1
  ld.param.u64 %rd1, [at]; ld.param.u64 %rd2, [out];
  mov.b64 %rd3, map; add.u64 %rd3, %rd3, 0x600000000;  // its generic address
  mov.u32 %r1, smem; add.u32 %r2, %r1, )" +
                    std::to_string((bytes + 1023) / 1024 * 1024) + ";\n" + loads + R"(
  mbarrier.init.shared::cta.b64 [%r2], 1;
  )" + fence + R"(
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], )" +
                    announced + R"(;
  .loc 1 6 1
  cp.async.bulk.tensor.)" +
                    std::to_string(rank) +
                    "d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd3, {" +
                    coordinates + R"(}], [%r2];
W:
  .loc 1 7 1
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], )" +
                    parity + R"(;
  @!%p1 bra W;
  .loc 1 8 1
  mov.u32 %r3, 0;
L:
  ld.shared.u32 %r4, [%r1]; st.global.u32 [%rd2], %r4;
  add.u32 %r1, %r1, 4; add.u64 %rd2, %rd2, 4; add.u32 %r3, %r3, 4;
  setp.lt.u32 %p2, %r3, )" +
                    std::to_string(bytes) + R"(; @%p2 bra L;
  ret;
}
.file 1 "tma.cu"
)");
}

TEST_CASE("cp.async.bulk.tensor: boxes of 1 to 5 dimensions, swizzled, partly outside",
          "[proxy][tma]") {
  for (unsigned rank = 1; rank <= 5; ++rank)
    for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
      const std::vector<u64> all_dims = {40, 9, 5, 4, 3};
      const std::vector<unsigned> all_box = {8u << (swizzle == 0 ? 2 : swizzle - 1), 8, 2, 2, 2};
      const std::vector<u64> dims(all_dims.begin(), all_dims.begin() + rank);
      std::vector<unsigned> box(all_box.begin(), all_box.begin() + rank);
      std::vector<u64> strides;
      u64 pitch = 48 * 4;
      for (unsigned d = 1; d < rank; ++d, pitch *= dims[d - 1]) strides.push_back(pitch);
      std::vector<u32> data(static_cast<std::size_t>(pitch) * (rank > 1 ? dims[rank - 1] : 1) / 4);
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<u32>(i * 2654435761u);
      u32 elements = 1;
      for (const unsigned b : box) elements *= b;
      for (const int shift : {0, -4, 36}) {
        INFO("rank " << rank << " swizzle " << swizzle << " origin " << shift);
        std::vector<int> at(5, 0);
        at[0] = shift;
        if (rank > 1) at[1] = shift == 36 ? 4 : shift;
        if (rank > 2) at[rank - 1] += 2;
        Gpu gpu(copy_text(rank, elements * 4, std::to_string(elements * 4)));
        const DevicePtr in = gpu.upload(data, "in"), where = gpu.upload(at, "at"),
                        out = gpu.upload(std::vector<u32>(elements, 7), "out");
        const MapBytes map(map_of(in, TensorType::u32, dims, strides, box, swizzle));
        const LaunchReport report =
            gpu.run("k", {1, 1, 1}, {1, 1, 1}, 48000u, LaunchOptions{}, map, where, out);
        CHECK(to_text(report.findings) == "");
        std::vector<u32> want(elements);
        for (u32 e = 0; e < elements; ++e) {
          u64 rest = e, from = 0;
          bool inside = true;
          for (unsigned d = 0; d < rank; ++d) {
            const int c = at[d] + static_cast<int>(rest % box[d]);
            rest /= box[d];
            inside &= c >= 0 && c < static_cast<int>(dims[d]);
            from += static_cast<u64>(c) * (d == 0 ? 4 : strides[d - 1]);
          }
          u32 to = e * 4;  // chunks are exchanged by the row of 128 bytes that they lie in
          const u32 mask = swizzle == 0 ? 0 : (1u << swizzle) - 1;
          to ^= (to / 128 & mask) * 16;
          want[to / 4] = inside ? data[from / 4] : 0;
        }
        CHECK(gpu.download<u32>(out, elements) == want);
        CHECK(report.total.bulk_load.requests == 1);
        CHECK(report.total.global_load.requests == rank);  // of the coordinates
      }
    }
}

LaunchReport copy_once(const std::string& text, const TensorMap& m,
                       const std::vector<int>& origin = {0, 0}) {
  Gpu gpu(text);
  const DevicePtr in = gpu.upload(std::vector<float>(64 * 64, 1.5f), "in"),
                  at = gpu.upload(origin, "at"), out = gpu.upload(std::vector<u32>(64 * 32), "out");
  TensorMap map = m;
  if (map.base == 0) map.base = in;
  return gpu.run("k", {1, 1, 1}, {1, 1, 1}, 48000u, LaunchOptions{}, MapBytes(map), at, out);
}
TensorMap square(DevicePtr base = 0) {
  return map_of(base, TensorType::f32, {64, 64}, {256}, {32, 8}, 3);
}

/// Copies a parameter to local memory, in one of clang's two ways; the stores that are counted.
std::uint64_t counted_copy(const std::string& param, const std::string& body) {
  Gpu gpu(ptx_module(".visible .entry k(.param " + param + R"( .b8 map[128], .param .u64 out)
{
  .local .align 64 .b8 depot[128];
  .reg .pred %p<2>; .reg .b16 %rs<2>; .reg .b64 %rd<8>;
  mov.u64 %rd1, depot;
)" + body + " ret;\n}\n"));
  const LaunchReport r = gpu.run("k", {1, 1, 1}, {1, 1, 1}, 0u, LaunchOptions{}, MapBytes(square()),
                                 gpu.upload(std::vector<u32>(1), "out"));
  CHECK(to_text(r.findings) == "");
  return r.total.local_store_requests;
}

TEST_CASE("a tensor map that clang copies to local memory counts as none", "[proxy][tma]") {
  const std::string pieces = "ld.param.u64 %rd2, [map+8]; st.local.u64 [%rd1+8], %rd2;";
  const std::string loop = R"(
  mov.b64 %rd3, map; mov.b64 %rd4, 0;
L:
  add.s64 %rd5, %rd3, %rd4; ld.param.b8 %rs1, [%rd5];
  add.s64 %rd6, %rd1, %rd4; st.local.b8 [%rd6], %rs1;
  add.s64 %rd4, %rd4, 1; setp.lt.u64 %p1, %rd4, 128; @%p1 bra L;
)";
  CHECK(counted_copy(".align 64", pieces) == 0);
  CHECK(counted_copy(".align 64", loop) == 0);
  // No map: an array of the same size. And what is stored beside a map counts.
  CHECK(counted_copy(".align 8", pieces) == 1);
  CHECK(counted_copy(".align 8", loop) == 128);
  CHECK(counted_copy(".align 64", loop + "mov.b64 %rd7, 5; st.local.u64 [%rd1], %rd7;") == 1);
}

TEST_CASE("tensormap.replace: what makes no map is a trap in the copy", "[proxy][tma][finding]") {
  const MapBytes map(square(0x40000000));  // of memory that nobody allocated
  std::vector<int> origin(48);             // the map lies behind the box's place
  std::memcpy(&origin[16], map.bytes, sizeof map.bytes);
  const auto changed = [&](const std::string& field) {
    return copy_once(copy_text(2, 1024, "1024",
                               "fence.mbarrier_init.release.cluster; add.u64 %rd3, %rd1, 64; "
                               "tensormap.replace.tile." +
                                   field + ";"),
                     square(), origin);
  };
  CHECK(of_kind(changed("elemtype.global.b1024.b32 [%rd3], 200"), FindingKind::trap).size() == 1);
  CHECK(of_kind(changed("box_dim.b1024.b32 [%rd3], 0, 0"), FindingKind::trap).size() == 1);
  // As it was: a map, of memory that is not there.
  const LaunchReport same = changed("elemtype.global.b1024.b32 [%rd3], 7");
  CHECK(of_kind(same, FindingKind::trap).empty());
  CHECK(to_text(same.findings).find("reads 128 bytes") != std::string::npos);
}

TEST_CASE("a changed tensor map needs fences of its own", "[proxy][tma][finding]") {
  const DevicePtr nowhere = 0x40000000;
  std::vector<int> origin(48);  // the map lies behind the box's place
  const MapBytes map(square(nowhere));
  std::memcpy(&origin[16], map.bytes, sizeof map.bytes);
  const auto missing = [&](const std::string& behind) {
    const LaunchReport r = copy_once(
        copy_text(2, 1024, "1024",
                  "fence.mbarrier_init.release.cluster; add.u64 %rd3, %rd1, 64; " + behind),
        square(), origin);
    const std::vector<Finding> found = of_kind(r, FindingKind::proxy_fence_missing);
    return found.empty() ? "" : found.size() > 1 ? "several" : found[0].detail;
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const std::string change = "tensormap.replace.tile.elemtype.global.b1024.b32 [%rd3], 7; ",
                    release = "fence.proxy.tensormap::generic.release.gpu; ",
                    acquire = "fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128; ";
  CHECK(missing("") == "");  // as the host made it
  CHECK(missing(change + release + acquire) == "");
  CHECK(has(missing(change), "fence.proxy.tensormap::generic.acquire"));
  CHECK(has(missing(change + release), "fence.proxy.tensormap::generic.acquire"));
  CHECK(has(missing(change + acquire), "fence.proxy.tensormap::generic.release must come behind"));
  CHECK(has(missing(acquire + change + release), "fence.proxy.tensormap::generic.acquire"));
  // The fence of another map.
  CHECK(has(
      missing(change + release + "fence.proxy.tensormap::generic.acquire.gpu [%rd3+128], 128; "),
      "fence.proxy.tensormap::generic.acquire"));
}

TEST_CASE("bulk copies: mistakes are found", "[proxy][tma][finding]") {
  CHECK(to_text(copy_once(copy_text(2, 1024, "1024"), square()).findings) == "");
  SECTION("too many bytes announced") {
    const LaunchReport r = copy_once(copy_text(2, 1024, "2048"), square());
    REQUIRE(of_kind(r, FindingKind::deadlock).size() == 1);
    const std::string text = of_kind(r, FindingKind::deadlock)[0].detail;
    CHECK(text.find("announced 2048 bytes") != std::string::npos);
    CHECK(text.find("brought 1024") != std::string::npos);
    CHECK(text.find("tma.cu:7") != std::string::npos);
    CHECK(of_kind(r, FindingKind::deadlock)[0].cause == FindingCause::other_bytes);
  }
  SECTION("a box that does not begin at a multiple of 16 bytes") {  // on an H200, too
    for (const int col : {1, 2, -1, 30}) {
      const LaunchReport r = copy_once(copy_text(2, 1024, "1024"), square(), {col, 0});
      REQUIRE(of_kind(r, FindingKind::trap).size() == 1);
      CHECK(of_kind(r, FindingKind::trap)[0].detail.find("multiples of 16 bytes") !=
            std::string::npos);
    }
    CHECK(to_text(copy_once(copy_text(2, 1024, "1024"), square(), {-4, -1}).findings) == "");
  }
  SECTION("too few bytes announced") {
    CHECK(of_kind(copy_once(copy_text(2, 1024, "512"), square()), FindingKind::deadlock).size() ==
          1);
  }
  SECTION("the wrong parity: the tile is read before it has come") {
    const LaunchReport r =
        copy_once(copy_text(2, 1024, "1024", "fence.proxy.async;", "1"), square());
    CHECK(of_kind(r, FindingKind::async_not_waited).size() >= 1);
    INFO(to_text(r.findings));
    CHECK(
        to_text(r.findings)
            .find("(the last wait there that was let through, at tma.cu:7, was for parity 1, "
                  "which counts as ended at a new barrier; the copy ends the phase of parity 0)") !=
        std::string::npos);
  }
  SECTION("no fence behind the initialisation") {
    const LaunchReport r = copy_once(copy_text(2, 1024, "1024", ""), square());
    CHECK(of_kind(r, FindingKind::proxy_fence_missing).size() == 1);
  }
  SECTION("over what threads have stored, of which the copy engine knows nothing") {
    const std::string init = "fence.mbarrier_init.release.cluster;",
                      store = "st.shared.u32 [%r1], 0;";
    const LaunchReport r = copy_once(copy_text(2, 1024, "1024", init + store), square());
    REQUIRE(of_kind(r, FindingKind::proxy_fence_missing).size() == 1);
    CHECK(of_kind(r, FindingKind::proxy_fence_missing)[0].detail.find("overwrites smem+0") !=
          std::string::npos);
    const std::string fenced = init + store + "fence.proxy.async;";
    CHECK(to_text(copy_once(copy_text(2, 1024, "1024", fenced), square()).findings) == "");
  }
  SECTION("a map that reaches beyond its allocation") {
    TensorMap m = square();
    m.stride[0] = 4096;
    CHECK(of_kind(copy_once(copy_text(2, 1024, "1024"), m), FindingKind::out_of_bounds).size() ==
          1);
  }
  SECTION("bytes that are no map") {
    TensorMap m = square();
    m.magic = 1;
    const LaunchReport r = copy_once(copy_text(2, 1024, "1024"), m);
    CHECK(of_kind(r, FindingKind::trap).size() == 1);
  }
  SECTION("hostile maps") {
    Random random(7);
    for (int i = 0; i < 300; ++i) {
      TensorMap m = square();
      auto* bytes = reinterpret_cast<u8*>(&m);
      for (int k = 0; k < 3; ++k)
        bytes[4 + random.below(sizeof m - 4)] = static_cast<u8>(random.next());
      copy_once(copy_text(2, 1024, "1024"), m);
    }
  }
}

TEST_CASE("phases of an mbarrier that end too early, or never", "[proxy][tma][finding]") {
  const auto early =
      of_kind(copy_once(copy_text(2, 1024, "0"), square()), FindingKind::async_not_waited);
  CHECK(std::any_of(early.begin(), early.end(),
                    [](const Finding& f) { return f.cause == FindingCause::short_phase; }));
  std::string two = copy_text(2, 1024, "1024");
  two.replace(two.find("[%r2], 1;"), 9, "[%r2], 2;");
  const auto never = of_kind(copy_once(two, square()), FindingKind::deadlock);
  CHECK((never.size() == 1 && never[0].cause == FindingCause::few_arrivals));
}

TEST_CASE("a finding says how wide the number is that is moved", "[finding]") {
  const auto width = [](const std::string& body) {
    Gpu gpu(
        ptx_module(".shared .align 16 .b8 smem[64];\n.visible .entry k()\n{\n"
                   ".reg .b32 %r<4>; .reg .f32 %f<4>; .reg .f64 %fd<2>;\n"
                   "mov.u32 %r1, smem; mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0;\n"
                   "mov.f64 %fd0, 0d0000000000000000; mov.u32 %r2, 0;\n" +
                   body + "\nret;\n}\n"));
    const auto oob = of_kind(gpu.run("k", {1, 1, 1}, {1, 1, 1}), FindingKind::out_of_bounds);
    return oob.size() == 1 ? static_cast<int>(oob[0].at.number_bytes) : -1;
  };
  CHECK(width("st.shared.f32 [%r1+4096], %f0;") == 4);
  CHECK(width("st.shared.f64 [%r1+4096], %fd0;") == 8);
  CHECK(width("st.shared.u32 [%r1+4096], %r2;") == 0);            // two halves, perhaps
  CHECK(width("st.shared.v2.f32 [%r1+4096], {%f0, %f1};") == 0);  // a wide copy of anything
}

LaunchReport run(const std::string& body, unsigned threads = 32, unsigned shared = 1024) {
  Gpu gpu(
      ptx_module(".extern .shared .align 1024 .b8 smem[];\n.visible .entry k()\n{\n"
                 ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>;\n"
                 "mov.u32 %r1, smem; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0;\n" +
                 body + "\nret;\n}\n"));
  return gpu.run("k", {1, 1, 1}, {threads, 1, 1}, shared, LaunchOptions{});
}

TEST_CASE("a deadlock tells which of several mbarriers it is", "[proxy][finding]") {
  // Of several barriers in one array of bytes: which one it is among those that are set up alike.
  const LaunchReport many = run(
      "@!%p1 bra S;\nmbarrier.init.shared.b64 [%r1], 1; mbarrier.init.shared.b64 [%r1+8], 4;\n"
      "mbarrier.init.shared.b64 [%r1+16], 1; mbarrier.init.shared.b64 [%r1+24], 4;\nS: bar.sync 0;\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1+24], 0;\n@!%p2 bra W;");
  REQUIRE(of_kind(many, FindingKind::deadlock).size() == 1);
  INFO(to_text(many.findings));
  CHECK(of_kind(many, FindingKind::deadlock)[0].detail.find(
            "smem+24 ([1] of the 2 that an unknown line sets up for 4 arrivals), at which") !=
        std::string::npos);
}

TEST_CASE("mbarriers: mistakes and hostile operands end in findings", "[proxy][finding]") {
  const std::string init = "@%p1 mbarrier.init.shared.b64 [%r1], 32;\nbar.sync 0;\n";
  CHECK(to_text(run(init + "mbarrier.arrive.shared.b64 %rd1, [%r1];\n"
                           "W: mbarrier.test_wait.shared.b64 %p2, [%r1], %rd1;\n@!%p2 bra W;")
                    .findings) == "");
  CHECK(of_kind(run("mbarrier.arrive.shared.b64 _, [%r1];"), FindingKind::trap).size() == 1);
  CHECK(of_kind(run(init + "mbarrier.arrive.shared.b64 _, [%r1], 33;"), FindingKind::trap).size() ==
        1);
  // One more than all, while bytes are missing, is another mistake than too many at once.
  const auto cause_of = [&](const std::string& body) {
    const auto traps = of_kind(run(init + body), FindingKind::trap);
    return traps.size() == 1 ? traps[0].cause : FindingCause::unspecified;
  };
  const std::string announced = "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 16;\n";
  CHECK(cause_of(announced + "mbarrier.arrive.shared.b64 _, [%r1];") == FindingCause::late_bytes);
  CHECK(cause_of("mbarrier.arrive.shared.b64 _, [%r1], 33;") == FindingCause::unspecified);
  CHECK(of_kind(run("mbarrier.init.shared.b64 [%r1], 0;"), FindingKind::trap).size() == 1);
  CHECK(of_kind(run("mbarrier.init.shared.b64 [%r1+4], 1;"), FindingKind::misaligned).size() == 1);
  CHECK(
      of_kind(run("mbarrier.init.shared.b64 [%r1+65536], 1;"), FindingKind::out_of_bounds).size() ==
      1);
  CHECK(of_kind(run(init + "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;\n@!%p2 bra W;"),
                FindingKind::deadlock)
            .size() == 1);
  // All lanes of a warp arrive, and one arrival ends a phase: 32 have ended before anybody waits.
  const LaunchReport overrun =
      run("mbarrier.init.shared.b64 [%r1], 1;\nmbarrier.arrive.shared.b64 _, [%r1];\n"
          "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;\n@!%p2 bra W;");
  INFO(to_text(overrun.findings));
  REQUIRE(of_kind(overrun, FindingKind::deadlock).size() == 1);
  CHECK(of_kind(overrun, FindingKind::deadlock)[0].detail.find("brings 32 arrivals at once") !=
        std::string::npos);
  // wgmma without four warps, with a descriptor outside, without shared memory.
  const std::string product =
      "mov.u64 %rd1, 0x3fff3fff3fff;\nmov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; "
      "mov.f32 %f3, %f0;\nwgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd1, 1, 1, 1, 0, "
      "0;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  CHECK(of_kind(run(product, 96), FindingKind::divergent_barrier).size() == 1);
  CHECK(of_kind(run(product, 128), FindingKind::out_of_bounds).size() == 1);
  CHECK(of_kind(run(product, 128, 0), FindingKind::out_of_bounds).size() == 1);
  CHECK(of_kind(run("setp.lt.u32 %p2, %r2, 96;\n@!%p2 bra E;\n" + product + "E:", 128),
                FindingKind::deadlock)
            .size() == 1);
  const LaunchReport unlike =
      run("mov.u64 %rd1, 0x1000080000;\nshr.u32 %r4, %r2, 5;\ncvt.u64.u32 %rd2, %r4;\n"
          "add.u64 %rd1, %rd1, %rd2;\n" +
              product.substr(product.find("mov.f32")),
          128, 4096);  // the start of the warp, where all four must pass one
  REQUIRE_FALSE(of_kind(unlike, FindingKind::trap).empty());
  CHECK(of_kind(unlike, FindingKind::trap)[0].cause == FindingCause::unlike_operands);
  // A wgmma that reads what nobody has stored: the finding tells what has been, copies included.
  const std::string stored =
      "mad.lo.s32 %r3, %r2, 4, %r1; st.shared.u32 [%r3], 0; fence.proxy.async; bar.sync 0;\n"
      "mov.u64 %rd1, 0x1000080000;\n";  // 64 x 16 of A, without padding: 2048 bytes
  const LaunchReport half = run(stored + product.substr(product.find("mov.f32")), 128, 4096);
  REQUIRE(of_kind(half, FindingKind::uninitialised_read).size() == 1);
  const Finding unwritten = of_kind(half, FindingKind::uninitialised_read)[0];
  CHECK(unwritten.at.offset == 512);
  CHECK(unwritten.detail.find("the descriptor of its operand A begins at") != std::string::npos);
  REQUIRE(unwritten.written.size() == 1);
  CHECK(unwritten.written[0].begin == 0);
  CHECK(unwritten.written[0].end == 512);
  // Nor may it read where nothing at all has been stored.
  const LaunchReport none =
      run("mov.u64 %rd1, 0x1000080000;\n" + product.substr(product.find("mov.f32")), 128, 4096);
  REQUIRE(of_kind(none, FindingKind::uninitialised_read).size() == 1);
  CHECK(of_kind(none, FindingKind::uninitialised_read)[0].at.offset == 0);
}

}  // namespace
}  // namespace simgpu::test
