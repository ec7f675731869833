// Loads and stores: every width, vectors, every space, generic addresses, constants, calls'
// parameters.
#include <bit>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

std::vector<u8> pattern(std::size_t bytes) {
  std::vector<u8> values(bytes);
  Random random(bytes);
  for (u8& v : values) v = static_cast<u8>(random.next());
  return values;
}

// Copies 32 lanes x `bytes` from `in` to `out` with one load and one store form; `through` may put
// another space in between.
void copy_with(const std::string& type, unsigned vec, unsigned bytes, const std::string& load,
               const std::string& store) {
  const std::string reg = bytes / vec == 8 ? "b64" : bytes / vec == 4 ? "b32" : "b16";
  const std::string regs = vec == 1 ? "%v0" : vec == 2 ? "{%v0, %v1}" : "{%v0, %v1, %v2, %v3}";
  const std::string v = vec == 1 ? "" : ".v" + std::to_string(vec);
  const std::string ptx = R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .)" + reg + R"( %v<4>; .reg .b32 %r<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, )" +
                          std::to_string(bytes) + R"(;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  )" + load + v + "." + type +
                          " " + regs + R"(, [%rd1];
  )" + store + v + "." + type +
                          R"( [%rd2], )" + regs + R"(;
  ret;
})";
  INFO(load << v << "." << type << " / " << store << v << "." << type);
  Gpu gpu(ptx_module(ptx));
  const std::vector<u8> data = pattern(32 * bytes);
  const DevicePtr in = gpu.upload(data, "in"), out = gpu.device.alloc(32 * bytes, "out");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {32, 1, 1}, in, out);
  CHECK(to_text(report.findings).empty());
  CHECK(gpu.download<u8>(out, data.size()) == data);
  CHECK(report.total.global_load.requests == 1);
  CHECK(report.total.global_load.bytes == 32 * bytes);
  CHECK(report.total.global_load.sectors == bytes);
  CHECK(report.total.global_store.sectors == bytes);
}

TEST_CASE("every type and vector width of global loads and stores", "[opcode][memory]") {
  for (const std::string type : {"b8", "u8", "s8"}) copy_with(type, 1, 1, "ld.global", "st.global");
  for (const std::string type : {"b16", "u16", "s16"})
    copy_with(type, 1, 2, "ld.global", "st.global");
  for (const std::string type : {"b32", "u32", "s32", "f32"}) {
    for (const unsigned vec : {1u, 2u, 4u}) copy_with(type, vec, 4 * vec, "ld.global", "st.global");
  }
  for (const std::string type : {"b64", "u64", "s64", "f64"}) {
    for (const unsigned vec : {1u, 2u}) copy_with(type, vec, 8 * vec, "ld.global", "st.global");
  }
  for (const unsigned vec : {2u, 4u}) {
    copy_with("u8", vec, vec, "ld.global", "st.global");
    copy_with("u16", vec, 2 * vec, "ld.global", "st.global");
  }
}

TEST_CASE("cache operators, volatile and ordering of loads and stores", "[opcode][memory]") {
  for (const std::string load :
       {"ld.global.nc", "ld.global.ca", "ld.global.cg", "ld.global.cs", "ld.global.lu",
        "ld.global.cv", "ld.volatile.global", "ld.relaxed.gpu.global", "ld.acquire.gpu.global",
        "ld.weak.global", "ld.relaxed.sys.global", "ldu.global", "ld", "ld.volatile"}) {
    copy_with("u32", 1, 4, load, "st.global");
  }
  for (const std::string store :
       {"st.global.wb", "st.global.cg", "st.global.cs", "st.global.wt", "st.volatile.global",
        "st.relaxed.gpu.global", "st.release.gpu.global", "st.weak.global", "st", "st.volatile"}) {
    copy_with("u32", 1, 4, "ld.global", store);
  }
  copy_with("f32", 4, 16, "ld.global.nc", "st");
  copy_with("f32", 4, 16, "ld", "st.global");
}

TEST_CASE("narrow loads extend by their type into wide registers", "[opcode][memory]") {
  const std::string ptx = ptx_module(R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.global.s8 %r1, [%rd1];    st.global.u32 [%rd2], %r1;
  ld.global.u8 %r1, [%rd1];    st.global.u32 [%rd2+4], %r1;
  ld.global.s16 %r1, [%rd1];   st.global.u32 [%rd2+8], %r1;
  ld.global.u16 %r1, [%rd1];   st.global.u32 [%rd2+12], %r1;
  ld.global.s8 %rd3, [%rd1+1]; st.global.u64 [%rd2+16], %rd3;
  ld.global.s32 %rd3, [%rd1];  st.global.u64 [%rd2+24], %rd3;
  ld.global.u32 %rd3, [%rd1];  st.global.u64 [%rd2+32], %rd3;
  ret;
})");
  Gpu gpu(ptx);
  const DevicePtr in = gpu.upload(std::vector<u32>{0x8081F2F3u}, "in"),
                  out = gpu.device.alloc(40, "out");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {1, 1, 1}, in, out);
  CHECK(to_text(report.findings).empty());
  const std::vector<u32> got = gpu.download<u32>(out, 10);
  CHECK(got == std::vector<u32>{0xFFFFFFF3u, 0xF3u, 0xFFFFF2F3u, 0xF2F3u, 0xFFFFFFF2u, 0xFFFFFFFFu,
                                0x8081F2F3u, 0xFFFFFFFFu, 0x8081F2F3u, 0u});
}

TEST_CASE("stores of narrow types write only their bytes", "[opcode][memory]") {
  const std::string ptx = ptx_module(R"(
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 0x11223344;
  st.global.u8 [%rd1+1], %r1;
  st.global.u16 [%rd1+4], %r1;
  ret;
})");
  Gpu gpu(ptx);
  const DevicePtr out = gpu.upload(std::vector<u32>{~0u, ~0u}, "out");
  gpu.run("k", {1, 1, 1}, {1, 1, 1}, out);
  CHECK(gpu.download<u32>(out, 2) == std::vector<u32>{0xFFFF44FFu, 0xFFFF3344u});
}

TEST_CASE("vector elements may be the sink", "[opcode][memory]") {
  const std::string ptx = ptx_module(R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.global.v4.u32 {%r1, _, _, %r2}, [%rd1];
  st.global.v2.u32 [%rd2], {%r2, %r1};
  ret;
})");
  Gpu gpu(ptx);
  const DevicePtr in = gpu.upload(std::vector<u32>{10, 11, 12, 13}, "in"),
                  out = gpu.device.alloc(8, "out");
  CHECK(to_text(gpu.run("k", {1, 1, 1}, {1, 1, 1}, in, out).findings).empty());
  CHECK(gpu.download<u32>(out, 2) == std::vector<u32>{13, 10});
}

// Shared, local, constant and global through their own forms and through generic addresses.
constexpr const char* kEverySpace = R"(
.const .align 4 .b8 table[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0};
.global .align 8 .u64 counter = 5000000000;
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<16>;
  .shared .align 16 .b8 tile[256];
  .local .align 8 .b8 mine[64];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  mul.wide.u32 %rd9, %r1, 32;
  add.s64 %rd1, %rd1, %rd9;

  mov.u64 %rd3, tile;
  add.s64 %rd3, %rd3, %rd2;
  st.shared.u32 [%rd3], %r1;
  cvta.shared.u64 %rd4, %rd3;
  ld.u32 %r2, [%rd4];
  st.global.u32 [%rd1], %r2;

  mov.u64 %rd5, mine;
  add.s32 %r3, %r1, 1000;
  st.local.u32 [%rd5+8], %r3;
  cvta.local.u64 %rd6, %rd5;
  ld.u32 %r2, [%rd6+8];
  st.global.u32 [%rd1+4], %r2;
  add.s32 %r3, %r3, 1;
  st.u32 [%rd6+12], %r3;
  ld.local.u32 %r2, [mine+12];
  st.global.u32 [%rd1+8], %r2;

  and.b32 %r4, %r1, 3;
  mul.wide.u32 %rd7, %r4, 4;
  mov.u64 %rd8, table;
  add.s64 %rd8, %rd8, %rd7;
  ld.const.u32 %r2, [%rd8];
  st.global.u32 [%rd1+12], %r2;
  cvta.const.u64 %rd8, %rd8;
  ld.u32 %r2, [%rd8];
  st.global.u32 [%rd1+16], %r2;

  ld.global.u64 %rd10, [counter];
  cvt.u32.u64 %r2, %rd10;
  st.global.u32 [%rd1+20], %r2;
  mov.u64 %rd11, counter;
  cvta.global.u64 %rd11, %rd11;
  ld.u64 %rd10, [%rd11];
  shr.u64 %rd10, %rd10, 32;
  cvt.u32.u64 %r2, %rd10;
  st.u32 [%rd1+24], %r2;

  isspacep.shared %p1, %rd4;
  isspacep.local %p2, %rd6;
  isspacep.global %p3, %rd11;
  selp.u32 %r5, 1, 0, %p1;
  selp.u32 %r6, 2, 0, %p2;
  or.b32 %r5, %r5, %r6;
  selp.u32 %r6, 4, 0, %p3;
  or.b32 %r5, %r5, %r6;
  isspacep.shared %p1, %rd11;
  isspacep.global %p2, %rd4;
  isspacep.local %p3, %rd4;
  selp.u32 %r6, 8, 0, %p1;
  or.b32 %r5, %r5, %r6;
  selp.u32 %r6, 16, 0, %p2;
  or.b32 %r5, %r5, %r6;
  selp.u32 %r6, 32, 0, %p3;
  or.b32 %r5, %r5, %r6;
  st.global.u32 [%rd1+28], %r5;
  ret;
})";

TEST_CASE("generic addressing reaches every space", "[opcode][memory]") {
  Gpu gpu(ptx_module(kEverySpace));
  const DevicePtr out = gpu.device.alloc(64 * 32, "out");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {64, 1, 1}, out);
  CHECK(to_text(report.findings).empty());
  const std::vector<u32> got = gpu.download<u32>(out, 64 * 8);
  for (u32 t = 0; t < 64; ++t) {
    const std::vector<u32> row(got.begin() + t * 8, got.begin() + t * 8 + 8);
    CHECK(row == std::vector<u32>{t, t + 1000, t + 1001, t % 4 + 1, t % 4 + 1,
                                  static_cast<u32>(5000000000u), 1, 7});
  }
  CHECK(report.total.shared_store.raw_requests == 2);
  CHECK(report.total.shared_load.raw_requests == 2);  // generic, but in the shared window
  CHECK(report.total.local_store_requests == 4);
  CHECK(report.total.local_load_requests == 4);
}

TEST_CASE("one generic load may touch different spaces in different lanes", "[opcode][memory]") {
  const std::string ptx = ptx_module(R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<16>;
  .shared .align 16 .b8 tile[128];
  .local .align 8 .b8 mine[8];
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  mov.u64 %rd4, tile;
  add.s64 %rd4, %rd4, %rd3;
  add.s32 %r2, %r1, 100;
  st.shared.u32 [%rd4], %r2;
  cvta.shared.u64 %rd4, %rd4;
  mov.u64 %rd5, mine;
  add.s32 %r2, %r1, 200;
  st.local.u32 [%rd5], %r2;
  cvta.local.u64 %rd5, %rd5;
  rem.u32 %r3, %r1, 3;
  setp.eq.s32 %p1, %r3, 0;
  setp.eq.s32 %p2, %r3, 1;
  selp.b64 %rd6, %rd4, %rd5, %p2;
  selp.b64 %rd6, %rd1, %rd6, %p1;
  ld.u32 %r4, [%rd6];
  st.global.u32 [%rd2], %r4;
  ret;
})");
  Gpu gpu(ptx);
  std::vector<u32> values(32), expected(32);
  for (u32 i = 0; i < 32; ++i) values[i] = i + 300;
  for (u32 i = 0; i < 32; ++i) expected[i] = i % 3 == 0 ? i + 300 : i % 3 == 1 ? i + 100 : i + 200;
  const DevicePtr in = gpu.upload(values, "in"), out = gpu.device.alloc(128, "out");
  CHECK(to_text(gpu.run("k", {1, 1, 1}, {32, 1, 1}, in, out).findings).empty());
  CHECK(gpu.download<u32>(out, 32) == expected);
}

TEST_CASE("constants that differ between lanes are counted one by one", "[opcode][memory]") {
  Gpu gpu(ptx_module(R"(
.const .align 8 .b8 table[256];
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f64 %fd<4>;
  mov.u64 %rd1, table;
  mov.u32 %r1, %tid.x;
  ld.const.u32 %r2, [table];
  and.b32 %r3, %r1, 7;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd2, %rd1, %rd2;
  ld.const.u32 %r2, [%rd2];
  mul.wide.u32 %rd2, %r1, 8;
  add.s64 %rd2, %rd1, %rd2;
  cvta.const.u64 %rd2, %rd2;
  ld.f64 %fd1, [%rd2];
  ret;
})"));
  const DevicePtr out = gpu.device.alloc(32, "out");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {32, 1, 1}, out);
  CHECK(to_text(report.findings).empty());
  CHECK(report.total.constant_words == 1 + 8 + 64);
  CHECK(report.total.global_load.requests == 0);
}

TEST_CASE("initialised module variables, and addresses inside them", "[opcode][memory]") {
  const std::string ptx = ptx_module(R"(
.global .align 4 .u32 list[4] = {7, 8, 9};
.global .align 4 .f32 weights[2] = {0f3FC00000, 0fC0200000};
.global .align 8 .u64 pointer = generic(list)+4;
.global .align 4 .b8 blob[8] = {255, 0x7f, 1};
.const .align 8 .f64 pi = 0d400921FB54442D18;
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .f64 %fd<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.global.u32 %r1, [list+8];
  st.global.u32 [%rd1], %r1;
  ld.global.u32 %r1, [list+12];
  st.global.u32 [%rd1+4], %r1;
  ld.global.f32 %f1, [weights+4];
  st.global.f32 [%rd1+8], %f1;
  ld.global.u64 %rd2, [pointer];
  ld.u32 %r1, [%rd2];
  st.global.u32 [%rd1+12], %r1;
  ld.global.u32 %r1, [blob];
  st.global.u32 [%rd1+16], %r1;
  ld.global.u32 %r1, [blob+4];
  st.global.u32 [%rd1+20], %r1;
  ld.const.f64 %fd1, [pi];
  st.global.f64 [%rd1+24], %fd1;
  mov.u32 %r1, 99;
  st.global.u32 [list], %r1;
  ret;
})");
  Gpu gpu(ptx);
  const DevicePtr out = gpu.device.alloc(32, "out");
  CHECK(to_text(gpu.run("k", {1, 1, 1}, {1, 1, 1}, out).findings).empty());
  const std::vector<u32> got = gpu.download<u32>(out, 6);
  CHECK(got == std::vector<u32>{9, 0, std::bit_cast<u32>(-2.5f), 8, 0x00017FFF, 0});
  CHECK(gpu.download<double>(out + 24, 1)[0] == std::bit_cast<double>(0x400921FB54442D18ull));
  // Variables are reachable from the host and keep their values between launches.
  std::size_t bytes = 0;
  const DevicePtr list = gpu.device.variable(gpu.module, "list", &bytes);
  REQUIRE(list != 0);
  CHECK(bytes == 16);
  CHECK(gpu.download<u32>(list, 4) == std::vector<u32>{99, 8, 9, 0});
  CHECK(gpu.device.variable(gpu.module, "pi", &bytes) != 0);
  CHECK(bytes == 8);
  CHECK(gpu.device.variable(gpu.module, "nothing") == 0);
  CHECK(gpu.device.variable(gpu.module, "k") == 0);
}

TEST_CASE("kernel parameters: every width, structs by value, addresses in registers",
          "[opcode][memory]") {
  const std::string ptx = ptx_module(R"(
.visible .entry k(.param .u64 out, .param .u8 a, .param .u16 b, .param .f32 c, .param .f64 d,
                  .param .align 8 .b8 view[24])
{
  .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .f64 %fd<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.param.u8 %r1, [a];
  st.global.u32 [%rd1], %r1;
  ld.param.u16 %r1, [b];
  st.global.u32 [%rd1+4], %r1;
  ld.param.f32 %f1, [c];
  st.global.f32 [%rd1+8], %f1;
  ld.param.f64 %fd1, [d];
  st.global.f64 [%rd1+16], %fd1;
  mov.b64 %rd2, view;
  ld.param.u32 %r1, [%rd2+12];
  st.global.u32 [%rd1+12], %r1;
  ld.param.v2.u32 {%r2, %r3}, [view+16];
  st.global.v2.u32 [%rd1+24], {%r2, %r3};
  ret;
})");
  Gpu gpu(ptx);
  struct View {
    u64 data;
    u32 rows, cols, ld, pad;
  };
  const std::optional<KernelInfo> info = gpu.device.kernel(gpu.module, "k");
  REQUIRE(info);
  REQUIRE(info->params.size() == 6);
  CHECK(info->params[1].offset == 8);
  CHECK(info->params[2].offset == 10);
  CHECK(info->params[3].offset == 12);
  CHECK(info->params[4].offset == 16);
  CHECK(info->params[5].offset == 24);
  CHECK(info->params[5].size == 24);
  CHECK(info->params[5].align == 8);
  CHECK(info->param_bytes == 48);
  const DevicePtr out = gpu.device.alloc(32, "out");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {1, 1, 1}, out, u8{200}, std::uint16_t{50000},
                                      1.5f, -2.25, View{1, 21, 22, 23, 24});
  CHECK(to_text(report.findings).empty());
  CHECK(gpu.download<u32>(out, 4) == std::vector<u32>{200, 50000, std::bit_cast<u32>(1.5f), 22});
  CHECK(gpu.download<double>(out + 16, 1)[0] == -2.25);
  CHECK(gpu.download<u32>(out + 24, 2) == std::vector<u32>{23, 24});
}

TEST_CASE("dynamic shared memory follows the static arrays, aligned", "[opcode][memory]") {
  const std::string ptx = ptx_module(R"(
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 out)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  .shared .align 4 .b8 fixed[4];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  mov.u64 %rd3, dynamic;
  add.s64 %rd3, %rd3, %rd2;
  st.shared.u32 [%rd3], %r1;
  st.shared.u32 [fixed], %r1;
  bar.sync 0;
  ld.shared.u32 %r2, [%rd3];
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r2;
  mov.u32 %r3, %dynamic_smem_size;
  setp.eq.s32 %p, %r1, 0;
  @%p st.global.u32 [%rd1+128], %r3;
  mov.u64 %rd4, dynamic;
  cvt.u32.u64 %r4, %rd4;
  and.b32 %r4, %r4, 15;
  @%p st.global.u32 [%rd1+132], %r4;
  ret;
})");
  Gpu gpu(ptx);
  const DevicePtr out = gpu.device.alloc(136, "out");
  LaunchOptions options;
  options.checks.race = false;  // every lane stores to `fixed`: on purpose
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {32, 1, 1}, 128u, options, out);
  CHECK(to_text(report.findings).empty());
  const std::vector<u32> got = gpu.download<u32>(out, 34);
  for (u32 i = 0; i < 32; ++i) CHECK(got[i] == i);
  CHECK(got[32] == 128);
  CHECK(got[33] == 0);
  CHECK(report.dynamic_shared_bytes == 128);
  CHECK(report.static_shared_bytes >= 4);  // rounded up to where the dynamic part may start
  CHECK(report.static_shared_bytes <= 16);
}

TEST_CASE("buffers switched by XOR of an address, not of an offset", "[opcode][memory]") {
  // Where shared memory begins is the GPU's business: at 1 KiB on sm_90, and here. XOR with the
  // size of a buffer then leads out of the array, although it switches between offsets 0 and 1024.
  const auto run_with = [](const std::string& second) {
    Gpu gpu(
        ptx_module(".visible .entry k()\n{\n.reg .b32 %r<8>;\n"
                   ".shared .align 1024 .b8 pair[2048];\n"
                   "mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2; mov.u32 %r2, pair;\n" +
                   second + "st.shared.u32 [%r3], %r1;\nret;\n}"));
    return gpu.run("k", {1, 1, 1}, {256, 1, 1});
  };
  const LaunchReport report = run_with("add.u32 %r3, %r2, %r1; xor.b32 %r3, %r3, 1024;\n");
  INFO(to_text(report.findings));
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].kind == FindingKind::out_of_bounds);
  CHECK(report.findings[0].occurrences == 256);
  CHECK(run_with("xor.b32 %r3, %r1, 1024; add.u32 %r3, %r2, %r3;\n").findings.empty());
}

TEST_CASE("special registers", "[opcode][memory]") {
  const std::vector<std::string> names = {
      "%tid.x",       "%tid.y",       "%tid.z",       "%ntid.x",     "%ntid.y",
      "%ntid.z",      "%ctaid.x",     "%ctaid.y",     "%ctaid.z",    "%nctaid.x",
      "%nctaid.y",    "%nctaid.z",    "%laneid",      "%warpid",     "%lanemask_eq",
      "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"};
  std::string body = R"(.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<12>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.y; mad.lo.s32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.x; mad.lo.s32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %ntid.z; mov.u32 %r3, %tid.z; mad.lo.s32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %ntid.y; mov.u32 %r3, %tid.y; mad.lo.s32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r1, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r1, )" +
                     std::to_string(names.size() * 4) + R"(;
  add.s64 %rd1, %rd1, %rd2;
)";
  for (std::size_t i = 0; i < names.size(); ++i) {
    body += "  mov.u32 %r4, " + names[i] + "; st.global.u32 [%rd1+" + std::to_string(4 * i) +
            "], %r4;\n";
  }
  Gpu gpu(ptx_module(body + "  ret;\n}\n"));
  const Dim3 grid{2, 3, 2}, block{5, 4, 3};
  const std::size_t threads = 12 * 60;
  const DevicePtr out = gpu.device.alloc(threads * names.size() * 4, "out");
  CHECK(to_text(gpu.run("k", grid, block, out).findings).empty());
  const std::vector<u32> got = gpu.download<u32>(out, threads * names.size());
  std::size_t at = 0, wrong = 0;
  for (u32 bz = 0; bz < 2; ++bz)
    for (u32 by = 0; by < 3; ++by)
      for (u32 bx = 0; bx < 2; ++bx)
        for (u32 z = 0; z < 3; ++z)
          for (u32 y = 0; y < 4; ++y)
            for (u32 x = 0; x < 5; ++x) {
              const u32 linear = (z * 4 + y) * 5 + x, lane = linear % 32;
              const u32 eq = 1u << lane, lt = eq - 1, le = lt | eq;
              for (const u32 v : {x, y, z, 5u, 4u, 3u, bx, by, bz, 2u, 3u, 2u, lane, linear / 32,
                                  eq, lt, le, ~le, ~lt}) {
                wrong += got[at++] != v;
              }
            }
  CHECK(at == got.size());
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace simgpu::test
