// Bytes that nothing has written may be copied, as the padding of structs is, but not used.
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/ptx/parser.hpp"
#include "common/simgpu/ptx/used_bytes.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

const std::string kHead =
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<3>; .reg .b16 %h<9>; .reg .b32 %r<9>; "
    ".reg .b64 %rd<9>; .reg .f32 %f<9>;\n";

/// Which bytes of %rd2 count as used, if 8 bytes are loaded into it and then `body` follows.
unsigned used(const std::string& body) {
  const ptx::Module module = ptx::parse(ptx_module(
      kHead + "ld.param.u64 %rd1, [p]; ld.global.u64 %rd2, [%rd1];\n" + body + "\nret;\n}\n"));
  const ptx::Function& f = module.functions.at(0);
  const std::vector<ptx::ByteSet> bytes = ptx::used_bytes(f);
  for (std::size_t r = 0; r < f.registers.size(); ++r)
    if (f.registers[r].name == "%rd2") return bytes[r];
  return 0x100;
}

TEST_CASE("bytes that are only moved are not used", "[ptx][init]") {
  CHECK(used("") == 0);
  CHECK(used("st.global.u64 [%rd1], %rd2;") == 0);
  CHECK(used("mov.b64 %rd3, %rd2; st.shared.u64 [%rd1], %rd3;") == 0);
  CHECK(used("mov.b64 {%r1, %r2}, %rd2; st.global.v2.u32 [%rd1], {%r2, %r1};") == 0);
  CHECK(
      used(
          "setp.eq.u64 %p1, %rd1, 0; selp.b64 %rd3, %rd2, %rd1, %p1; st.global.u64 [%rd1], %rd3;") ==
      0);
  CHECK(
      used(
          "mov.b64 {%r1, %r2}, %rd2; shfl.sync.down.b32 %r3, %r2, 1, 31, -1; st.global.u32 [%rd1], %r3;") ==
      0);
}

TEST_CASE("bytes that something depends on are used, and no others", "[ptx][init]") {
  CHECK(used("add.u64 %rd3, %rd2, 1;") == 0xff);
  CHECK(used("st.global.u64 [%rd2], %rd1;") == 0xff);
  CHECK(used("atom.global.add.u64 %rd3, [%rd1], %rd2;") == 0xff);
  CHECK(
      used(
          "shfl.sync.down.b32 %r3, %r1, 1, 31, -1; mov.b64 {%r1, %r2}, %rd2; add.u32 %r4, %r3, 1;") ==
      0x0f);
  CHECK(
      used("mov.b64 {%r1, %r2}, %rd2; setp.eq.u32 %p1, %r2, 0; @%p1 st.global.u32 [%rd1], %r1;") ==
      0xf0);
  CHECK(used("cvt.u32.u64 %r1, %rd2; add.u32 %r1, %r1, 1;") == 0x0f);
  CHECK(
      used(
          "cvt.s64.s32 %rd3, %r1; cvt.u32.u64 %r1, %rd2; shr.u64 %rd4, %rd3, 32; add.u64 %rd4, %rd4, 1;") ==
      0x08);
  CHECK(used("shr.u64 %rd3, %rd2, 40; cvt.u16.u64 %h1, %rd3; add.u16 %h1, %h1, 1;") == 0x60);
  CHECK(used("shl.b64 %rd3, %rd2, 8; shr.u64 %rd4, %rd3, 56; add.u64 %rd4, %rd4, 1;") == 0x40);
  CHECK(used("and.b64 %rd3, %rd2, 65280; add.u64 %rd4, %rd3, 1;") == 0x02);
  CHECK(
      used(
          "mov.b64 {%r1, %r2}, %rd2; prmt.b32 %r3, %r1, %r2, 0x7521; and.b32 %r4, %r3, 0xff00ff; add.u32 %r4, %r4, 1;") ==
      0x22);
}

/// Kernels on structs {8 bytes, 4 bytes, 4 of padding}: the lane's own is at %rd2.
std::string on_struct(const std::string& name, const std::string& body) {
  return ".visible .entry " + name +
         "(.param .u64 from, .param .u64 to)\n{\n.reg .b32 %r<9>; .reg .b64 %rd<12>;\n"
         ".shared .align 16 .b8 s[512];\n"
         "ld.param.u64 %rd1, [from]; ld.param.u64 %rd3, [to];\n"
         "mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 16; add.u64 %rd2, %rd1, %rd4; add.u64 %rd3, %rd3, "
         "%rd4;\nmov.u64 %rd5, s; add.u64 %rd5, %rd5, %rd4;\n" +
         body + "\nret;\n}\n";
}

const std::string kStructs =
    on_struct("make", "st.global.u64 [%rd3], 7; st.global.u32 [%rd3+8], %r1;") +
    on_struct(
        "copy",
        "ld.global.u64 %rd6, [%rd2+8]; st.global.u64 [%rd3+8], %rd6; ld.global.u64 %rd7, [%rd2]; st.global.u64 [%rd3], %rd7;") +
    on_struct(
        "through_shared",
        "ld.global.v2.u64 {%rd6, %rd7}, [%rd2]; st.shared.v2.u64 [%rd5], {%rd6, %rd7}; bar.sync 0;\n"
        "ld.shared.v2.u64 {%rd8, %rd9}, [%rd5]; st.global.v2.u64 [%rd3], {%rd8, %rd9};") +
    on_struct("add",
              "ld.global.u64 %rd6, [%rd2+8]; add.u64 %rd6, %rd6, 1; st.global.u64 [%rd3], %rd6;") +
    on_struct(
        "member",
        "ld.global.u64 %rd6, [%rd2+8]; cvt.u32.u64 %r2, %rd6; add.u32 %r2, %r2, 1; st.global.u32 [%rd3], %r2;") +
    on_struct("padding", "ld.global.u32 %r2, [%rd2+12]; st.global.u32 [%rd3], %r2;") +
    on_struct(
        "computed",
        "ld.global.u64 %rd6, [%rd2+8]; st.global.u64 [%rd3+8], %rd6; mul.wide.u32 %rd6, %r1, 3; st.global.u64 [%rd3+8], %rd6;");

TEST_CASE("padding that nobody wrote is copied without a finding and stays unwritten",
          "[finding][init]") {
  Gpu gpu(ptx_module(kStructs));
  const DevicePtr a = gpu.device.alloc(512, "a"), b = gpu.device.alloc(512, "b"),
                  c = gpu.device.alloc(512, "c"), d = gpu.device.alloc(512, "d");
  const auto findings = [&](const char* kernel, DevicePtr from, DevicePtr to) {
    return gpu.run(kernel, {1, 1, 1}, {32, 1, 1}, 0u, LaunchOptions{}, from, to).findings.size();
  };
  CHECK(findings("make", a, a) == 0);
  CHECK(findings("copy", a, b) == 0);
  CHECK(findings("through_shared", b, c) == 0);
  for (const DevicePtr p : {b, c}) {
    CHECK(gpu.device.is_initialised(p + 16, 12));
    CHECK_FALSE(gpu.device.is_initialised(p + 28, 1));
  }
  CHECK(gpu.device.written_by(b, 16) ==
        std::vector<std::uint8_t>{8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 0, 0, 0, 0});
  CHECK(findings("member", c, d) == 0);
  CHECK(findings("add", c, d) == 1);      // a use of the padding
  CHECK(findings("padding", c, d) == 1);  // nothing but padding: no struct is that
  // A register that is set again carries what it is set to.
  CHECK(findings("computed", c, d) == 0);
  CHECK(gpu.device.is_initialised(d + 8, 8));
}

TEST_CASE("a whole element that nobody wrote is found where it is copied", "[finding][init]") {
  Gpu gpu(ptx_module(kStructs));
  const DevicePtr a = gpu.device.alloc(512, "a"), b = gpu.device.alloc(512, "b");
  for (const char* kernel : {"copy", "through_shared"})
    CHECK_FALSE(gpu.run(kernel, {1, 1, 1}, {32, 1, 1}, 0u, LaunchOptions{}, a, b).findings.empty());
}

/// Of an array of two words in local memory, the first is set. Then `body`.
std::string on_array(const std::string& name, const std::string& body) {
  return on_struct(name,
                   ".local .align 8 .b8 a[16]; mov.u64 %rd8, a; st.local.u32 [%rd8], 1;\n" + body);
}

TEST_CASE("an array in local memory is copied before all of it is set", "[finding][init]") {
  const std::string copy = "ld.local.u32 %r2, [%rd8+4]; st.local.u32 [%rd8+12], %r2;\n";
  Gpu gpu(
      ptx_module(on_array("copy", copy) +
                 on_array("use", copy + "ld.local.u32 %r3, [%rd8+12]; st.global.u32 [%rd3], %r3;") +
                 on_array("also", copy + "st.global.u32 [%rd3], %r2;") +
                 on_array("address", "ld.local.u64 %rd6, [%rd8+8]; st.local.u64 [%rd6], %rd6;")));
  const DevicePtr a = gpu.device.alloc(512, "a");
  const auto findings = [&](const char* kernel) {
    return gpu.run(kernel, {1, 1, 1}, {32, 1, 1}, 0u, LaunchOptions{}, a, a).findings.size();
  };
  CHECK(findings("copy") == 0);
  CHECK(findings("use") == 1);   // the copy's element is as little set
  CHECK(findings("also") == 1);  // it leaves the array
  CHECK(findings("address") != 0);
}

/// A struct of four words in local memory, of which the second is set, is passed on by 4 bytes at a time.
TEST_CASE("a struct in local memory is copied before all of it is set", "[finding][init]") {
  const auto copy = [](const std::string& place, std::vector<int> order) {
    std::string text;
    for (const int k : order)
      text += "ld.local.u32 %r2, [%rd8+" + std::to_string(k) + "]; st." + place +
              std::to_string(k) + "], %r2;\n";
    return text;
  };
  const std::string set = ".local .align 8 .b8 b[16]; mov.u64 %rd8, b; st.local.u32 [%rd8+4], 1;\n",
                    all_at_once =
                        ".reg .b32 %q<4>; ld.local.u32 %q0, [%rd8]; ld.local.u32 %q1, [%rd8+4]; "
                        "ld.local.u32 %q2, [%rd8+8]; ld.local.u32 %q3, [%rd8+12];\n"
                        "st.global.u32 [%rd3+4], %q1; st.global.u32 [%rd3], %q0; st.global.u32 "
                        "[%rd3+12], %q3; st.global.u32 [%rd3+8], %q2;\n";
  Gpu gpu(ptx_module(on_struct("down", set + copy("global.u32 [%rd3+", {12, 8, 4, 0})) +
                     on_struct("with_gap", set + copy("global.u32 [%rd3+", {12, 4, 0})) +
                     on_struct("at_once", set + all_at_once) +
                     on_struct("nothing", set + copy("global.u32 [%rd3+", {12, 8})) +
                     on_struct("used", set + copy("global.u32 [%rd3+", {12, 8, 4, 0}) +
                                           "add.u32 %r2, %r2, 1; st.global.u32 [%rd3], %r2;")));
  const DevicePtr a = gpu.device.alloc(512, "a"), b = gpu.device.alloc(512, "b");
  const auto findings = [&](const char* kernel) {
    return gpu.run(kernel, {1, 1, 1}, {32, 1, 1}, 0u, LaunchOptions{}, a, b).findings.size();
  };
  CHECK(findings("down") == 0);
  CHECK(gpu.device.is_initialised(b + 4, 4));
  CHECK_FALSE(gpu.device.is_initialised(b + 8, 1));  // it stays unwritten in the copy
  CHECK(findings("with_gap") == 0);
  CHECK(findings("at_once") == 0);
  CHECK(findings("nothing") != 0);
  CHECK(findings("used") != 0);
}

}  // namespace
}  // namespace simgpu::test
