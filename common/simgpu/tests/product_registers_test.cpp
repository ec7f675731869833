// Registers of wgmma: what adds to them in the background may not be disturbed, and what threads have
// written into them must be behind a fence. PTX ISA 9.7.15.7.1 (wgmma.fence), 9.7.15.7.3.
#include <string>

#include "common/catch2.hpp"
#include "common/simgpu/tests/findings.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using findings::of_kind;

const std::string kFence = "wgmma.fence.sync.aligned;\n",
                  kCommit = "wgmma.commit_group.sync.aligned;\n",
                  kWait = "wgmma.wait_group.sync.aligned 0;\n",
                  kWaitOne = "wgmma.wait_group.sync.aligned 1;\n";

/// A product of 64 x 8 into %`name`0 to 3, A from shared memory or from %a0 to 3.
std::string product(const std::string& name, bool registers = false) {
  std::string d;
  for (const char* i : {"0", "1", "2", "3"}) d += (d.empty() ? "%" : ", %") + name + i;
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" + d + "}, " +
         (registers ? "{%a0, %a1, %a2, %a3}, %rd1, 1, 1, 1, 0;\n" : "%rd1, %rd1, 1, 1, 1, 0, 0;\n");
}

LaunchReport run(const std::string& body) {
  std::string set;
  for (const char* i : {"0", "1", "2", "3"})
    set += std::string("mov.f32 %d") + i + ", 0f00000000; mov.f32 %e" + i +
           ", 0f00000000; mov.b32 %a" + i + ", %r2;\n";
  Gpu gpu(ptx_module(R"(
.shared .align 1024 .b8 tile[4096];
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<4>; .reg .b32 %r<8>, %a<4>; .reg .b64 %rd<8>; .reg .f32 %d<4>, %e<4>, %f<8>;
  .reg .f16 %h<4>;
  .loc 1 1 1
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, tile; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; add.u32 %r1, %r1, %r3;
  mul.wide.u32 %rd3, %r2, 16; add.u64 %rd2, %rd2, %rd3;
  mov.u32 %r4, 0;
FILL:
  st.shared.u32 [%r1], 0; add.u32 %r1, %r1, 512; add.u32 %r4, %r4, 512;
  setp.lt.u32 %p1, %r4, 4096; @%p1 bra FILL;
  fence.proxy.async; bar.sync 0;
  mov.u64 %rd1, 0x1000080040;  // from byte 0x400 on, core matrices 128 and 256 bytes apart
)" + set + body + "ret;\n}\n.file 1 \"products.cu\"\n"));
  const DevicePtr out = gpu.upload(std::vector<float>(512, 0), "out");
  return gpu.run("k", {1, 1, 1}, {128, 1, 1}, 0u, LaunchOptions{}, out);
}
std::string clean(const std::string& body) {
  return to_text(run(body).findings);
}
void check_found(const std::string& body, FindingKind kind, const std::string& text,
                 unsigned line = 8) {
  INFO(body);
  const LaunchReport r = run(body);
  INFO(to_text(r.findings));
  REQUIRE(of_kind(r, kind).size() == 1);
  const Finding f = of_kind(r, kind)[0];
  CHECK(f.detail.find(text) != std::string::npos);
  CHECK(f.at.where.line == line);
  CHECK(r.findings.size() == 1);
}

const std::string kStart = ".loc 1 7 1\n" + kFence + product("d") + kCommit + ".loc 1 8 1\n";
const std::string kStore = "st.global.v4.f32 [%rd2], {%d0, %d1, %d2, %d3};\n";

TEST_CASE("wgmma: what its registers allow is no finding", "[proxy][wgmma]") {
  CHECK(clean(kStart + kWait + kStore) == "");
  // Sums of one shape follow each other without a fence, waited for or not.
  CHECK(clean(kStart + product("d") + kCommit + kWaitOne + product("d") + kCommit + kWait +
              kStore) == "");
  // Two sums take turns: those of the older group are there behind wait_group 1.
  CHECK(clean(kFence + product("d") + kCommit + product("e") + kCommit + kWaitOne + kStore +
              kWait) == "");
  // A compiler writes constants behind the fence, and copies registers that are one to ptxas.
  CHECK(clean(kFence + "mov.f32 %d0, 0f00000000;\n" + product("d") + kCommit + kWait + kStore) ==
        "");
  CHECK(clean(kStart + "mov.f32 %f1, %d1;\n" + kWait + "st.global.f32 [%rd2], %f1;\n") == "");
  CHECK(clean(kStart + "mov.f32 %f1, %d1; mov.f32 %d1, %e1; mov.f32 %e1, %f1;\n" + kWait +
              kStore) == "");
  // Registers of A may be read, not written; its sums may be scaled between products.
  CHECK(clean(kFence + product("d", true) + kCommit + "st.global.u32 [%rd2], %a1;\n" + kWait) ==
        "");
  CHECK(clean(kStart + kWait + "mul.f32 %d0, %d0, 0f40000000;\n" + kFence + product("d") + kCommit +
              kWait + kStore) == "");
}

TEST_CASE("wgmma: products that are started while none are under way are counted", "[wgmma]") {
  const auto alone = [](const std::string& body) {
    return run(kFence + body + kWait).total.wgmma_alone;
  };
  const std::string step = product("d") + product("d") + kCommit;
  CHECK(alone(step) == 1);
  CHECK(alone(step + kWait + step + kWait + step) == 3);
  // Under way, committed or not, until it has been waited for.
  CHECK(alone(step + step + step) == 1);
  CHECK(alone(step + kWaitOne + step + kWaitOne + step) == 1);
  CHECK(alone(product("d") + kWait + product("d") + kCommit) == 1);
  CHECK(run(kFence + step + kWait + step + kWait).total.wgmma_groups == 1);
  CHECK(run("").total.wgmma_groups == 0);
}

TEST_CASE("wgmma: sums and fragments that are touched too early are found",
          "[proxy][wgmma][finding]") {
  const auto early = FindingKind::product_registers;
  check_found(kStart + kStore + kWait, early,
              "products.cu:8 reads register 0 of the sums of the wgmma of products.cu:7");
  check_found(kStart + "add.f32 %f1, %d2, %d2;\n" + kWait, early, "reads register 2 of the sums");
  check_found(
      kStart + product("e") + kCommit + "wgmma.wait_group.sync.aligned 2;\n" + kStore + kWait,
      early, "may not be there yet: wgmma.wait_group must come first");
  check_found(kStart + "mov.f32 %d3, 0f3f800000;\n" + kWait, early,
              "writes register 3 of the sums");
  check_found(kStart + "ld.global.f32 %d1, [%rd2];\n" + kWait, early, "writes register 1");
  // Through a copy, and under a guard.
  check_found(kStart + "mov.f32 %f1, %d1;\n st.global.f32 [%rd2], %f1;\n" + kWait, early,
              "reads register 1 of the sums");
  check_found(kStart + "setp.lt.u32 %p2, %r2, 40;\n@%p2 st.global.f32 [%rd2], %d1;\n" + kWait,
              early, "reads register 1 of the sums");
  // Not committed: wait_group does not wait for it.
  check_found(
      kFence + ".loc 1 7 1\n" + product("d") + kWait + ".loc 1 8 1\n" + kStore + kCommit + kWait,
      early, "no wgmma.commit_group stands behind that product");
  check_found(".loc 1 7 1\n" + kFence + product("d", true) + kCommit +
                  ".loc 1 8 1\nadd.u32 %a2, %a2, 1;\n" + kWait,
              early, "writes register 2 of A of the wgmma of products.cu:7");
}

TEST_CASE("wgmma: a missing wgmma.fence is found", "[proxy][wgmma][finding]") {
  const auto missing = FindingKind::proxy_fence_missing;
  const std::string again = ".loc 1 8 1\n" + product("d") + kCommit + kWait;
  check_found(again, missing, "must come before the first wgmma");
  check_found(kStart + kWait + ".loc 1 7 1\nmul.f32 %d1, %d1, 0f40000000;\n" + again, missing,
              "takes register 1 of its sums, which products.cu:7 has written");
  check_found(kStart + kWait + ".loc 1 7 1\nmov.f32 %d1, 0f40000000;\n" + again, missing,
              "takes register 1 of its sums");
  check_found(kStart + kWait + ".loc 1 7 1\nadd.u32 %a3, %a3, 1;\n.loc 1 8 1\n" +
                  product("d", true) + kCommit + kWait,
              missing, "takes register 3 of its A");
  // Sums that another shape begins with.
  check_found(kStart +
                  "wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%a0, %a1, %a2, %d3}, %rd1, "
                  "%rd1, 0, 1, 1, 0, 0;\n" +
                  kCommit + kWait,
              missing, "another shape");
}

}  // namespace
}  // namespace simgpu::test
