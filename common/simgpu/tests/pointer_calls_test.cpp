// Calls through pointers: each lane calls what its pointer names, and a pointer that names nothing of
// the right type ends the launch with a finding, whatever the text says.
#include <string>

#include "common/catch2.hpp"
#include "common/simgpu/ptx/parser.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

const std::string kFunctions = R"(
.func (.param .b32 r) twice(.param .b32 x)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [x]; shl.b32 %r1, %r1, 1; st.param.b32 [r], %r1; ret;
}
.func (.param .b32 r) squared(.param .b32 x)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [x]; mul.lo.u32 %r1, %r1, %r1; st.param.b32 [r], %r1; ret;
}
.func (.param .b64 r) wide(.param .b32 x)
{
  .reg .b64 %rd<2>;
  mov.u64 %rd1, 1; st.param.b64 [r], %rd1; ret;
}
.func other(.param .b32 x, .param .b32 y) { ret; }
.global .align 8 .u64 table[5] = {twice, squared, wide, other, 0};
)";

/// Lane t calls table[choice], `choice` being of an array of words, and writes the result, or 7.
std::string kernel(const std::string& before_call = "",
                   const std::string& call_of = "call (q), %rd4, (p), proto;") {
  return kFunctions + R"(
.visible .entry k(.param .u64 choices, .param .u64 out)
{
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [choices]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
  ld.global.u32 %r2, [%rd1];
  mov.u64 %rd5, table; mul.wide.u32 %rd6, %r2, 8; add.s64 %rd5, %rd5, %rd6;
  ld.global.u64 %rd4, [%rd5];
  mov.u32 %r3, 0; mov.u32 %r4, %r1;
AGAIN:
  {
    .param .b32 p; .param .b32 q;
    st.param.b32 [p], %r4;
    proto : .callprototype (.param .b32 _) _ (.param .b32 _);
)" + before_call +
         call_of + R"(
    ld.param.b32 %r4, [q];
  }
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 3;
  @%p1 bra AGAIN;
  st.global.u32 [%rd2], %r4;
  ret;
})";
}

LaunchReport run(const std::string& text, const std::vector<u32>& choices, std::vector<u32>& out) {
  Gpu gpu(ptx_module(text));
  const auto n = static_cast<unsigned>(choices.size());
  const DevicePtr in = gpu.upload(choices, "choices"), result = gpu.upload(out, "out");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {n, 1, 1}, in, result);
  out = gpu.download<u32>(result, out.size());
  return report;
}

TEST_CASE("pointer calls: lanes of a warp call different functions, in a loop", "[pointer-call]") {
  std::vector<u32> choices(48), out(48, 7);
  for (u32 t = 0; t < 48; ++t) choices[t] = t % 3 == 0 ? 1 : 0;
  const LaunchReport report = run(kernel(), choices, out);
  CHECK(to_text(report.findings).empty());
  for (u32 t = 0; t < 48; ++t)
    CHECK(out[t] == (t % 3 == 0 ? t * t * t * t * t * t * t * t : 8 * t));
}

TEST_CASE("pointer calls: what is no function of the type is a finding", "[pointer-call]") {
  for (const u32 bad : {2u, 3u, 4u}) {  // another result, other parameters, null
    std::vector<u32> choices(32, 0), out(32, 7);
    choices[9] = bad;
    const LaunchReport report = run(kernel(), choices, out);
    CHECK_FALSE(report.completed);
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].kind == FindingKind::trap);
    CHECK(report.findings[0].cause == FindingCause::unspecified);
    CHECK(report.findings[0].detail.find("call through a pointer") != std::string::npos);
    CHECK(report.findings[0].at.thread.x == 9);
    CHECK(out[9] == 7);
  }
  // Numbers that are near an address of a function, or anything at all.
  for (const char* change : {"add.s64 %rd4, %rd4, 8;", "sub.s64 %rd4, %rd4, 256;",
                             "mov.u64 %rd4, 0xffffffffffffffff;", "mov.u64 %rd4, table;"}) {
    std::vector<u32> choices(32, 0), out(32, 7);
    const LaunchReport report = run(kernel(change), choices, out);
    CHECK_FALSE(report.completed);
    CHECK(out == std::vector<u32>(32, 7));
  }
}

TEST_CASE("pointer calls: the address of a function in a register", "[pointer-call]") {
  std::vector<u32> choices(32, 0), out(32, 7);
  const LaunchReport report = run(kernel("mov.u64 %rd4, squared;"), choices, out);
  CHECK(report.completed);
  CHECK(out[3] == 6561);
  // As memory it is out of bounds.
  std::vector<u32> none(32, 7);
  const LaunchReport read =
      run(kernel("mov.u64 %rd7, squared; ld.u32 %r5, [%rd7];"), choices, none);
  REQUIRE_FALSE(read.findings.empty());
  CHECK(read.findings[0].kind == FindingKind::out_of_bounds);
}

TEST_CASE("pointer calls: recursion through a pointer ends with a finding", "[pointer-call]") {
  const std::string text = R"(
.func (.param .b32 r) deep(.param .b32 x);
.global .align 8 .u64 self = deep;
.func (.param .b32 r) deep(.param .b32 x)
{
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.global.u64 %rd1, [self];
  { .param .b32 p; .param .b32 q;
    st.param.b32 [p], 1;
    proto : .callprototype (.param .b32 _) _ (.param .b32 _);
    call (q), %rd1, (p), proto;
    ld.param.b32 %r1, [q]; }
  st.param.b32 [r], %r1;
  ret;
}
.visible .entry k(.param .u64 a, .param .u64 b)
{
  .reg .b32 %r<3>;
  { .param .b32 p; .param .b32 q;
    st.param.b32 [p], 1;
    call.uni (q), deep, (p);
    ld.param.b32 %r1, [q]; }
  ret;
})";
  std::vector<u32> choices(32, 0), out(32, 7);
  const LaunchReport report = run(text, choices, out);
  CHECK_FALSE(report.completed);
  CHECK_FALSE(report.findings.empty());
}

TEST_CASE("pointer calls: forms that are refused, each with its reason", "[pointer-call]") {
  const auto reason = [](const std::string& call) {
    try {
      const ptx::Module m = ptx::parse(ptx_module(kernel("", call)));
      return m.functions[m.function_index.at("k")].unsupported;
    } catch (const ptx::ParseError& error) {
      return std::string(error.what());
    }
  };
  const auto check = [&](const std::string& call, const std::string& what) {
    INFO(call);
    INFO(reason(call));
    CHECK(reason(call).find(what) != std::string::npos);
  };
  CHECK(reason("call (q), %rd4, (p), proto;").empty());
  check("call (q), %rd4, (p);", "without a prototype");
  check("call (q), %rd4, (p), nothing;", "needs a .callprototype");
  check("call (q), %rd4, (p, p), proto;", "with 2 arguments");
  check("call %rd4, (p), proto;", "0 results");
  check("call (q), %r4, (p), proto;", "cannot hold the address of a function");
  check("@%p1 call (q), %rd4, (p), proto;", "guarded");
  check("call (q), %rd4, p, proto;", "parentheses");
  check("targets : .calltargets twice; call (q), %rd4, (p), targets;", "needs a .callprototype");
  check("proto : .callprototype _ ();", "defined twice");
  check("q1 : .callprototype (.reg .b32 _) _ (.param .b32 _); call (q), %rd4, (p), q1;",
        "needs a .callprototype");
  check("q1 : .callprototype (.param .b32 _) _ (.param .b32 _;", "expected");
  check("mov.u32 %r5, twice;", "64-bit register only");
  check("add.u64 %rd4, %rd4, twice;", "64-bit register only");
  // The call's own variables are smaller than the prototype: the kernel cannot be run.
  std::vector<u32> choices(32, 0), out(32, 7);
  const LaunchReport report = run(
      kernel("q8 : .callprototype (.param .b64 _) _ (.param .b32 _);", "call (q), %rd4, (p), q8;"),
      choices, out);
  CHECK_FALSE(report.completed);
  CHECK(to_text(report.findings).find("is too small") != std::string::npos);
}

TEST_CASE("pointer calls: many calls of many functions stay within the limits", "[pointer-call]") {
  std::string text = ptx_module("");
  for (int i = 0; i < 1000; ++i) text += ".func f" + std::to_string(i) + "() { ret; }\n";
  text += ".entry k() {\n.reg .b64 %rd<2>;\nproto : .callprototype _ ();\n";
  for (int i = 0; i < 2000; ++i) text += "call %rd1, (), proto;\n";
  text += "ret; }";
  std::string said;
  try {
    ptx::parse(text);
  } catch (const ptx::ParseError& error) {
    said = error.what();
  }
  CHECK(said.find("instructions, labels and operands") != std::string::npos);
}

TEST_CASE("pointer calls: functions that only a pointer names are read on demand",
          "[pointer-call]") {
  ptx::Source source(ptx_module(kernel()), ptx::Bodies::on_demand);
  const ptx::Module& m = source.module();
  source.complete(m.function_index.at("k"));
  CHECK_FALSE(m.functions[m.function_index.at("squared")].body.empty());
  CHECK(m.functions[m.function_index.at("other")].body.empty());
}

// clang 22 reads a struct that it passes by value in this way; older clangs read it with ld.param.
TEST_CASE("calls: the address of a parameter is one in local memory", "[pointer-call]") {
  const std::string text = R"(
.func (.param .b32 r) pick(.param .b32 unused, .param .align 4 .b8 three[12], .param .b32 which)
{
  .reg .b32 %r<5>; .reg .b64 %rd<6>;
  mov.b64 %rd1, three;
  ld.param.u32 %r1, [which];
  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  ld.local.u32 %r2, [%rd3];
  add.u32 %r2, %r2, 1; st.local.u32 [%rd3], %r2;
  cvta.local.u64 %rd4, %rd3; ld.u32 %r3, [%rd4];
  st.param.b32 [r], %r3; ret;
}
.visible .entry k(.param .u64 out)
{
  .local .align 4 .b8 own[4];
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
  mov.u32 %r2, 7; mov.u64 %rd3, own; st.local.u32 [%rd3], %r2;
  rem.u32 %r3, %r1, 3; mul.lo.u32 %r4, %r1, 100; add.u32 %r5, %r4, 10; add.u32 %r6, %r4, 20;
  {
    .param .b32 p; .param .align 4 .b8 q[12]; .param .b32 i; .param .b32 x;
    st.param.b32 [p], 5; st.param.b32 [i], %r3;
    st.param.b32 [q], %r4; st.param.b32 [q+4], %r5; st.param.b32 [q+8], %r6;
    call (x), pick, (p, q, i);
    ld.param.b32 %r7, [x];
  }
  ld.local.u32 %r8, [%rd3]; add.u32 %r7, %r7, %r8;
  st.global.u32 [%rd1], %r7; ret;
})";
  Gpu gpu(ptx_module(text));
  const DevicePtr out = gpu.upload(std::vector<u32>(40), "out");
  const LaunchReport report = gpu.run("k", {1, 1, 1}, {40, 1, 1}, out);
  CHECK(to_text(report.findings).empty());
  const std::vector<u32> result = gpu.download<u32>(out, 40);
  for (u32 t = 0; t < 40; ++t) CHECK(result[t] == 100 * t + t % 3 * 10 + 1 + 7);
}

}  // namespace
}  // namespace simgpu::test
