// Findings at barriers, kernels that are stopped, and what can be chosen about findings.
#include <algorithm>

#include "common/simgpu/tests/findings.hpp"

namespace simgpu::test {
namespace {

using namespace findings;

// -------------------------------------------------------------------------------------------
// barriers

TEST_CASE("a barrier reached by half a warp", "[finding][barrier]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    const LaunchReport report = gpu.run("divergent_barrier", {1, 1, 1}, {64, 1, 1}, out);
    INFO(to_text(report.findings));
    const std::vector<Finding> divergent = of_kind(report, FindingKind::divergent_barrier);
    REQUIRE_FALSE(divergent.empty());
    const unsigned line = divergent[0].at.where.line;
    CHECK((line == marker(kFile, "divergent_barrier") ||
           line == marker(kFile, "divergent_barrier_else")));
    CHECK(divergent[0].at.block == Dim3{0, 0, 0});
  }
}

TEST_CASE("threads that returned before a barrier", "[finding][barrier]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    for (const int n : {40, 32, 2}) {  // part of a warp, a whole warp
      const LaunchReport report = gpu.run("exited_before_barrier", {1, 1, 1}, {64, 1, 1}, out, n);
      INFO(n << " threads stay\n" << to_text(report.findings));
      const std::vector<Finding> exited = of_kind(report, FindingKind::exited_before_barrier);
      REQUIRE(exited.size() == 1);
      CHECK(exited[0].at.where.line == marker(kFile, "exited_before_barrier"));
    }
    CHECK(gpu.run("exited_before_barrier", {1, 1, 1}, {64, 1, 1}, out, 64).findings.empty());
  }
}

TEST_CASE("warps that go past a barrier are not told as an early return", "[finding][barrier]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    const LaunchReport report = gpu.run("barrier_in_branch", {1, 1, 1}, {64, 1, 1}, out, 32);
    INFO(to_text(report.findings));
    CHECK(of_kind(report, FindingKind::exited_before_barrier).empty());
    const std::vector<Finding> divergent = of_kind(report, FindingKind::divergent_barrier);
    REQUIRE(divergent.size() == 1);
    CHECK(divergent[0].at.where.line == marker(kFile, "barrier_in_branch"));
    CHECK(divergent[0].detail.find("32 of 64 threads went past the barrier") == 0);
    CHECK(of_kind(gpu.run("barrier_in_branch", {1, 1, 1}, {64, 1, 1}, out, 64),
                  FindingKind::divergent_barrier)
              .empty());
  }
}

TEST_CASE("warps at different barriers", "[finding][barrier]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    const Finding f = only(gpu.run("mismatched_barrier", {1, 1, 1}, {64, 1, 1}, out),
                           FindingKind::mismatched_barrier);
    REQUIRE(f.other);
    CHECK(std::min(f.at.where.line, f.other->where.line) == marker(kFile, "mismatch_a"));
    CHECK(std::max(f.at.where.line, f.other->where.line) == marker(kFile, "mismatch_b"));
  }
}

TEST_CASE("barriers that wait for each other forever", "[finding][barrier]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(256, "out");
    const LaunchReport report = gpu.run("deadlock", {1, 1, 1}, {64, 1, 1}, out);
    INFO(to_text(report.findings));
    CHECK_FALSE(report.completed);
    const std::vector<Finding> stuck = of_kind(report, FindingKind::deadlock);
    REQUIRE(stuck.size() == 1);
    const unsigned line = stuck[0].at.where.line;
    CHECK((line == marker(kFile, "deadlock_a") || line == marker(kFile, "deadlock_b")));
  }
}

TEST_CASE("a flag that nobody raises: what is waited for is memory", "[finding][barrier]") {
  Gpu gpu(ptx_module(R"(
.visible .entry k(.param .u64 a)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [a];
AGAIN:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.s32 %p, %r1, 0;
  @%p bra AGAIN;
  ret;
})"));
  const DevicePtr flag = gpu.upload(std::vector<std::uint32_t>{7, 7, 0, 0, 7}, "flag");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {32, 1, 1}, flag + 8);
  const std::vector<Finding> stuck = of_kind(report, FindingKind::deadlock);
  REQUIRE(stuck.size() == 1);
  CHECK(stuck[0].cause == FindingCause::awaited_memory);
  // Which element that is, and which ones hold something else.
  CHECK(stuck[0].at.object == "flag");
  CHECK(stuck[0].at.offset == 8);
  CHECK(stuck[0].at.bytes == 4);
  CHECK(stuck[0].written == std::vector<ByteRange>{{0, 8}, {16, 20}});
  CHECK(stuck[0].written_bytes == 12);
}

// -------------------------------------------------------------------------------------- traps and
// ends

TEST_CASE("a kernel that does not end is stopped by the budget", "[finding][end]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr flag = gpu.upload(std::vector<int>{0}, "flag");
    for (const char* kernel : {"endless", "endless_one_lane"}) {
      LaunchOptions options;
      options.instruction_budget = 1u << 22;
      const LaunchReport report = gpu.run(kernel, {2, 1, 1}, {64, 1, 1}, 0u, options, flag);
      INFO(to_text(report.findings));
      CHECK_FALSE(report.completed);
      const std::vector<Finding> stopped = of_kind(report, FindingKind::budget_exceeded);
      REQUIRE(stopped.size() == 1);
      CHECK(ends_with(stopped[0].at.where.file, kFile));
      CHECK(stopped[0].at.where.line >= marker(kFile, "endless"));
      CHECK(report.findings.size() == 1);
    }
  }
}

TEST_CASE("traps stop the kernel", "[finding][end]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(128, "out");
    const LaunchReport report = gpu.run("traps", {1, 1, 1}, {32, 1, 1}, out);
    CHECK_FALSE(report.completed);
    const Finding f = only(report, FindingKind::trap);
    CHECK(f.at.thread == Dim3{9, 0, 0});
    CHECK(f.cause == FindingCause::trap_instruction);
  }
}

TEST_CASE("endless recursion overflows the stack, not the host's", "[finding][end]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr out = gpu.device.alloc(128, "out");
    const LaunchReport report = gpu.run("stack_overflow", {1, 1, 1}, {32, 1, 1}, out);
    CHECK_FALSE(report.completed);
    const Finding f = only(report, FindingKind::stack_overflow);
    CHECK(ends_with(f.at.where.file, kFile));
  }
}

TEST_CASE("division by zero names the line and the lanes", "[finding][end]") {
  FOR_EACH_CLANG(gpu) {
    std::vector<int> by(32, 3);
    by[4] = by[20] = 0;
    const DevicePtr in = gpu.upload(by, "by"), out = gpu.device.alloc(128, "out");
    const LaunchReport report = gpu.run("divides", {1, 1, 1}, {32, 1, 1}, in, out);
    CHECK(report.completed);
    const Finding f = only(report, FindingKind::division_by_zero);
    at(f.at, "divides");
    CHECK(f.at.thread == Dim3{4, 0, 0});
    CHECK(f.occurrences == 2);
    CHECK(gpu.download<int>(out, 4) == std::vector<int>(4, 33));
  }
}

TEST_CASE("assertions give file, line, function and message", "[finding][end]") {
  Gpu gpu(ptx_module(R"(
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 message[8] = {105, 32, 60, 32, 110, 0};
.global .align 1 .b8 file[8] = {103, 46, 99, 117, 0};
.global .align 1 .b8 function[8] = {102, 40, 41, 0};
.visible .entry k()
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p, %r1, 6;
  @%p ret;
  mov.u64 %rd1, message; cvta.global.u64 %rd1, %rd1;
  mov.u64 %rd2, file; cvta.global.u64 %rd2, %rd2;
  mov.u64 %rd3, function; cvta.global.u64 %rd3, %rd3;
  { .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
    st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2; st.param.b32 [p2], 42; st.param.b64 [p3], %rd3; st.param.b64 [p4], 1;
    call.uni __assertfail, (p0, p1, p2, p3, p4); }
  ret;
})"));
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {32, 1, 1});
  CHECK_FALSE(report.completed);
  const std::vector<Finding> failed = of_kind(report, FindingKind::assertion);
  INFO(to_text(report.findings));
  REQUIRE(failed.size() == 1);
  CHECK(failed[0].at.thread == Dim3{6, 0, 0});
  CHECK(failed[0].detail.find("i < n") != std::string::npos);
  CHECK((failed[0].detail.find("g.cu") != std::string::npos || failed[0].at.where.file == "g.cu"));
}

TEST_CASE("an accumulator tile that cannot fit will spill", "[finding][registers]") {
  FOR_EACH_CLANG(gpu) {
    const DevicePtr a = gpu.upload(std::vector<float>(64 * 24, 1), "a"),
                    b = gpu.upload(std::vector<float>(64 * 16, 1), "b"),
                    c = gpu.device.alloc(24 * 16 * 4, "c");
    const LaunchReport report = gpu.run("spills", {1, 1, 1}, {1, 1, 1}, a, b, c);
    INFO(to_text(report.findings));
    CHECK(of_kind(report, FindingKind::will_spill).size() == 1);
    CHECK(report.registers.live_registers > 255);
    CHECK(report.registers.allocated == 255);
    CHECK(report.registers.live_registers < 24 * 16 + 200);
    CHECK(gpu.download<float>(c, 384) == std::vector<float>(384, 64.0f));
  }
}

TEST_CASE("an unsupported instruction names itself and its line, when the kernel is launched",
          "[finding][unsupported]") {
  Gpu gpu(ptx_module(R"(
.visible .entry bad()
{
  .reg .b32 %r<4>; .reg .f32 %f<4>;
  .loc 1 17 3
  tcgen05.wait::ld.sync.aligned;
  ret;
}
.visible .entry good(.param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 5;
  st.global.u32 [%rd1], %r1;
  ret;
}
.file 1 "student.cu"
)"));
  const std::optional<KernelInfo> info = gpu.device.kernel(gpu.module, "bad");
  REQUIRE(info);
  CHECK(info->unsupported.find("tcgen05") != std::string::npos);
  std::string said;
  try {
    const LaunchReport report = gpu.run("bad", {1, 1, 1}, {32, 1, 1});
    said = to_text(report.findings);
    CHECK(of_kind(report, FindingKind::unsupported).size() == 1);
  } catch (const DeviceError& error) {
    CHECK(error.status == Status::unsupported);
    said = error.what();
  }
  CHECK(said.find("tcgen05") != std::string::npos);
  CHECK(said.find("17") != std::string::npos);
  const DevicePtr out = gpu.device.alloc(4, "out");
  CHECK(gpu.run("good", {1, 1, 1}, {1, 1, 1}, out).findings.empty());
}

// ------------------------------------------------------------------------------- reports as a
// whole

TEST_CASE("checks can be switched off one by one, accesses stay safe", "[finding]") {
  Gpu gpu(compile(kFile));
  const DevicePtr out = gpu.device.alloc(256, "out"), in = gpu.device.alloc(128, "in");
  LaunchOptions options;
  options.checks = Checks::none();
  CHECK(gpu.run("race_raw", {1, 1, 1}, {64, 1, 1}, 0u, options, out).findings.empty());
  CHECK(gpu.run("uninit_shared", {1, 1, 1}, {64, 1, 1}, 0u, options, out).findings.empty());
  CHECK(gpu.run("reads", {1, 1, 1}, {32, 1, 1}, 0u, options, in, out).findings.empty());
  gpu.run("reads", {1, 1, 1}, {32, 1, 1}, 0u, options, DevicePtr{0}, out);
  gpu.run("oob_far", {1, 1, 1}, {1, 1, 1}, 0u, options, out, -1000000ll);
  gpu.run("oob_shared", {1, 1, 1}, {64, 1, 1}, 0u, options, out, 1000000);
  gpu.run("oob_local", {1, 1, 1}, {9, 1, 1}, 0u, options, out, 1 << 20);
  options.checks.race = true;
  CHECK_FALSE(of_kind(gpu.run("race_raw", {1, 1, 1}, {64, 1, 1}, 0u, options, out),
                      FindingKind::shared_race)
                  .empty());
  options.checks = Checks::none();
  options.checks.init = true;
  CHECK(of_kind(gpu.run("reads", {1, 1, 1}, {32, 1, 1}, 0u, options, in, out),
                FindingKind::uninitialised_read)
            .size() == 1);
}

TEST_CASE("no more findings of a kind than asked for", "[finding]") {
  std::string body =
      ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %r<3>; .reg .b64 %rd<3>;\n ld.param.u64 "
      "%rd1, [p];\n mov.u32 %r1, 1;\n";
  for (unsigned i = 0; i < 20; ++i) {
    body += " .loc 1 " + std::to_string(100 + i) + " 1\n st.global.u32 [%rd1+" +
            std::to_string(4 * i + 4) + "], %r1;\n";
  }
  Gpu gpu(ptx_module(body + " ret;\n}\n.file 1 \"x.cu\"\n"));
  const DevicePtr p = gpu.device.alloc(4, "p");
  LaunchOptions options;
  options.checks.race = false;
  options.max_findings_per_kind = 8;
  const LaunchReport eight = gpu.run("k", {1, 1, 1}, {32, 1, 1}, 0u, options, p);
  CHECK(eight.findings.size() == 8);
  for (std::size_t i = 0; i < eight.findings.size(); ++i) {
    CHECK(eight.findings[i].at.where.line == 100 + i);
    CHECK(eight.findings[i].occurrences == 32);
    CHECK(eight.findings[i].at.where.file == "x.cu");
  }
  options.max_findings_per_kind = 3;
  CHECK(gpu.run("k", {1, 1, 1}, {32, 1, 1}, 0u, options, p).findings.size() == 3);
}

TEST_CASE("every kind has a name", "[finding]") {
  std::vector<std::string_view> names;
  for (unsigned k = 0; k <= static_cast<unsigned>(FindingKind::will_spill); ++k) {
    names.push_back(to_string(static_cast<FindingKind>(k)));
    CHECK_FALSE(names.back().empty());
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

}  // namespace
}  // namespace simgpu::test
