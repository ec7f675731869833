// Bad launches, bad memory requests, hostile PTX: one clear error each, never a crash or a hang.
#include <ctime>

#include "common/catch2.hpp"
#include "common/simgpu/ptx/clusters.hpp"
#include "common/simgpu/ptx/parser.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;

const char* const kSimple = R"(
.visible .entry simple(.param .u64 p, .param .u32 n)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry bounded() .maxntid 128, 1, 1 { ret; }
.visible .entry fixed()
{
  .reg .b32 %r<2>;
  .shared .align 4 .b8 box[40000];
  mov.u32 %r1, 1;
  st.shared.u32 [box], %r1;
  ret;
}
.visible .entry too_much()
{
  .reg .b32 %r<2>;
  .shared .align 4 .b8 box[50000];
  mov.u32 %r1, 1;
  st.shared.u32 [box], %r1;
  ret;
}
)";

Status status_of(const std::function<void()>& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const DeviceError& error) {
    if (message != nullptr) *message = error.what();
    CHECK(std::string(error.what()).size() > 10);
    return error.status;
  }
  return Status::success;
}

// Processor time of this process: a busy machine changes little about it.
class Stopwatch {
 public:
  double seconds() const { return static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC; }

 private:
  std::clock_t start_ = std::clock();
};

TEST_CASE("launch configurations are refused as CUDA refuses them", "[robustness]") {
  Gpu gpu(ptx_module(kSimple));
  struct Case {
    std::string kernel;
    Dim3 grid, block;
    unsigned dynamic;
    std::size_t arg_bytes;
    Status expected;
    std::string says;
  };
  const std::vector<Case> cases = {
      {"simple", {1, 1, 1}, {1024, 1, 1}, 0, 12, Status::success, ""},
      {"simple", {1, 1, 1}, {2000, 1, 1}, 0, 12, Status::invalid_configuration, "2000"},
      {"simple", {1, 1, 1}, {1025, 1, 1}, 0, 12, Status::invalid_configuration, "1024"},
      {"simple", {1, 1, 1}, {32, 33, 1}, 0, 12, Status::invalid_configuration, "1056"},
      {"simple", {1, 1, 1}, {1, 1, 65}, 0, 12, Status::invalid_configuration, "64"},
      {"simple", {1, 1, 1}, {0, 1, 1}, 0, 12, Status::invalid_configuration, "0"},
      {"simple", {0, 1, 1}, {1, 1, 1}, 0, 12, Status::invalid_configuration, "0"},
      {"simple", {1, 0, 1}, {1, 1, 1}, 0, 12, Status::invalid_configuration, "0"},
      {"simple", {1, 65536, 1}, {1, 1, 1}, 0, 12, Status::invalid_configuration, "65535"},
      {"simple", {1, 1, 65536}, {1, 1, 1}, 0, 12, Status::invalid_configuration, "65535"},
      {"simple",
       {2147483648u, 1, 1},
       {1, 1, 1},
       0,
       12,
       Status::invalid_configuration,
       "2147483647"},
      {"simple",
       {1, 1, 1},
       {65536, 65536, 1},
       0,
       12,
       Status::invalid_configuration,
       ""},  // product wraps to 0
      {"simple", {1, 1, 1}, {1, 1, 1}, 49152, 12, Status::success, ""},
      {"simple", {1, 1, 1}, {1, 1, 1}, 49153, 12, Status::invalid_value, "49152"},
      {"fixed", {1, 1, 1}, {1, 1, 1}, 9152, 0, Status::success, ""},
      {"fixed", {1, 1, 1}, {1, 1, 1}, 9153, 0, Status::invalid_value, "49152"},
      {"fixed", {1, 1, 1}, {1, 1, 1}, 0xFFFFFFFFu, 0, Status::invalid_value, ""},
      {"bounded", {1, 1, 1}, {128, 1, 1}, 0, 0, Status::success, ""},
      {"bounded", {1, 1, 1}, {129, 1, 1}, 0, 0, Status::invalid_value, "128"},
      {"nowhere", {1, 1, 1}, {1, 1, 1}, 0, 0, Status::invalid_device_function, "nowhere"},
  };
  for (const Case& c : cases) {
    INFO(c.kernel << " grid " << c.grid.x << "," << c.grid.y << "," << c.grid.z << " block "
                  << c.block.x << "," << c.block.y << "," << c.block.z << " dynamic " << c.dynamic);
    std::string message;
    const Status got = status_of(
        [&] {
          gpu.device.validate_launch(gpu.module, c.kernel, c.grid, c.block, c.dynamic, c.arg_bytes);
        },
        &message);
    INFO(message);
    CHECK(static_cast<int>(got) == static_cast<int>(c.expected));
    if (!c.says.empty()) CHECK(message.find(c.says) != std::string::npos);
    if (c.expected != Status::success) {
      // launch() itself says the same and does nothing.
      const std::vector<std::byte> args(c.arg_bytes);
      CHECK(status_of([&] {
              gpu.device.launch(gpu.module, c.kernel, c.grid, c.block, c.dynamic, args);
            }) == c.expected);
    }
  }
  // Too few or too many argument bytes.
  CHECK(status_of([&] {
          gpu.device.launch(gpu.module, "simple", {1, 1, 1}, {1, 1, 1}, 0, {});
        }) == Status::invalid_value);
  CHECK(status_of([&] {
          gpu.device.validate_launch(gpu.module, "simple", {1, 1, 1}, {1, 1, 1}, 0, 11);
        }) == Status::invalid_value);
}

TEST_CASE("more static shared memory than a block can have", "[robustness]") {
  Gpu gpu(ptx_module(kSimple));
  CHECK(status_of([&] {
          gpu.device.validate_launch(gpu.module, "too_much", {1, 1, 1}, {1, 1, 1}, 0, 0);
        }) != Status::success);
}

TEST_CASE("registers and local memory of a block have a limit", "[robustness][hostile]") {
  Gpu gpu(ptx_module(R"(
.visible .entry registers()
{
  .reg .b32 %r<130000>;
  ret;
}
.visible .entry arrays()
{
  .reg .b32 %r<2>;
  .local .align 4 .b8 mine[524288];
  mov.u32 %r1, 1;
  st.local.u32 [mine], %r1;
  ret;
}
)"));
  for (const char* kernel : {"registers", "arrays"}) {
    INFO(kernel);
    std::string message;
    CHECK(status_of(
              [&] {
                gpu.device.validate_launch(gpu.module, kernel, {1, 1, 1}, {1024, 1, 1}, 0, 0);
              },
              &message) == Status::launch_out_of_resources);
    CHECK(message.find("MiB for registers and local memory") != std::string::npos);
    CHECK(gpu.run(kernel, {64, 1, 1}, {64, 1, 1}).findings.empty());
  }
}

TEST_CASE("the opt-in for large dynamic shared memory", "[robustness]") {
  Gpu gpu(ptx_module(kSimple));
  const auto launch = [&](unsigned bytes) {
    return status_of([&] {
      gpu.device.validate_launch(gpu.module, "simple", {1, 1, 1}, {1, 1, 1}, bytes, 12);
    });
  };
  CHECK(launch(100000) == Status::invalid_value);
  gpu.device.set_max_dynamic_shared(gpu.module, "simple", 100000);
  CHECK(launch(100000) == Status::success);
  CHECK(launch(100001) == Status::invalid_value);
  CHECK(status_of([&] { gpu.device.set_max_dynamic_shared(gpu.module, "simple", 163840 * 2); }) ==
        Status::invalid_value);
  // With the kernel's own arrays that is 39,999 modulo 2^32.
  CHECK(status_of([&] { gpu.device.set_max_dynamic_shared(gpu.module, "fixed", UINT32_MAX); }) ==
        Status::invalid_value);
  CHECK(status_of([&] { gpu.device.set_max_dynamic_shared(gpu.module, "none", 1); }) ==
        Status::invalid_device_function);
}

TEST_CASE("all of the dynamic shared memory that can be had is there", "[robustness]") {
  // Thread t writes its number to bytes 4t, 4(t + 256), ... and reads what its neighbour wrote.
  Gpu gpu(ptx_module(R"(
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 out, .param .u32 words)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  .shared .align 4 .b8 fixed[100];
  ld.param.u64 %rd1, [out]; ld.param.u32 %r2, [words];
  mov.u32 %r1, %tid.x; st.shared.u32 [fixed], %r2;
  mov.u32 %r3, %r1;
FILL:
  setp.ge.u32 %p, %r3, %r2;
  @%p bra FILLED;
  mul.wide.u32 %rd2, %r3, 4; mov.u64 %rd3, dynamic; add.s64 %rd3, %rd3, %rd2;
  st.shared.u32 [%rd3], %r3;
  add.u32 %r3, %r3, 256;
  bra FILL;
FILLED:
  bar.sync 0;
  mov.u32 %r4, 0; xor.b32 %r3, %r1, 1;
READ:
  setp.ge.u32 %p, %r3, %r2;
  @%p bra DONE;
  mul.wide.u32 %rd2, %r3, 4; mov.u64 %rd3, dynamic; add.s64 %rd3, %rd3, %rd2;
  ld.shared.u32 %r5, [%rd3]; add.u32 %r4, %r4, %r5;
  add.u32 %r3, %r3, 256;
  bra READ;
DONE:
  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r4;
  ret;
}
)"));
  const auto info = gpu.device.kernel(gpu.module, "k");
  REQUIRE(info);
  const unsigned fixed = info->static_shared_bytes, all = 227u << 10;
  const DevicePtr out = gpu.device.alloc(1024, "out");
  LaunchOptions options;
  options.checks.race = false;  // all store to `fixed`
  const auto status = [&](unsigned bytes) {
    return status_of([&] {
      gpu.device.validate_launch(gpu.module, "k", {1, 1, 1}, {256, 1, 1}, bytes, 12);
    });
  };
  // 48 KiB together with the static arrays are free; one word more must be asked for.
  CHECK(status((48u << 10) - fixed) == Status::success);
  CHECK(status((48u << 10) - fixed + 4) == Status::invalid_value);
  CHECK(status_of([&] { gpu.device.set_max_dynamic_shared(gpu.module, "k", all - fixed + 4); }) ==
        Status::invalid_value);
  gpu.device.set_max_dynamic_shared(gpu.module, "k", all - fixed);
  for (const unsigned bytes : {(48u << 10) - fixed + 4, 65540u, 100000u, all - fixed}) {
    INFO(bytes);
    REQUIRE(status(bytes) == Status::success);
    const u32 words = bytes / 4;
    const LaunchReport report = gpu.run("k", {1, 1, 1}, {256, 1, 1}, bytes, options, out, words);
    CHECK(to_text(report.findings).empty());
    CHECK(report.dynamic_shared_bytes == bytes);
    std::vector<u32> want(256);
    for (u32 t = 0; t < 256; ++t)
      for (u32 w = t ^ 1; w < words; w += 256) want[t] += w;
    CHECK(gpu.download<u32>(out, 256) == want);
    // A word more than was asked for is not there, even where the multiprocessor would have it.
    const LaunchReport beyond =
        gpu.run("k", {1, 1, 1}, {256, 1, 1}, bytes, options, out, words + 1);
    REQUIRE(beyond.findings.size() >= 1);
    CHECK(beyond.findings[0].kind == FindingKind::out_of_bounds);
  }
  // A smaller limit than before holds from then on.
  gpu.device.set_max_dynamic_shared(gpu.module, "k", 50000);
  CHECK(status(50000) == Status::success);
  CHECK(status(50001) == Status::invalid_value);
}

TEST_CASE("huge grids are stopped by the budget, not by memory or overflow", "[robustness]") {
  Gpu gpu(ptx_module(kSimple));
  const DevicePtr p = gpu.upload(std::vector<int>{0}, "p");
  LaunchOptions options;
  options.instruction_budget = 1u << 20;
  options.checks.race = false;
  const Stopwatch watch;
  const LaunchReport report =
      gpu.run("simple", {2147483647u, 65535, 65535}, {1024, 1, 1}, 0u, options, p, 5u);
  CHECK_FALSE(report.completed);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].kind == FindingKind::budget_exceeded);
  CHECK(watch.seconds() < 2);
}

TEST_CASE("the budget stops endless kernels quickly, one lane or all", "[robustness]") {
  Gpu gpu(compile("findings.cu"));
  const DevicePtr flag = gpu.upload(std::vector<int>{0}, "flag");
  for (const char* kernel : {"endless", "endless_one_lane"}) {
    LaunchOptions options;
    options.instruction_budget = 1u << 23;
    options.host_threads = 1;
    const Stopwatch watch;
    const LaunchReport report = gpu.run(kernel, {4, 1, 1}, {256, 1, 1}, 0u, options, flag);
    CHECK_FALSE(report.completed);
    INFO(kernel);
    CHECK(watch.seconds() < 2);
  }
  // Ten instructions are enough for nothing here, and the device works on afterwards.
  LaunchOptions tiny;
  tiny.instruction_budget = 10;
  const DevicePtr out = gpu.device.alloc(128, "out");
  CHECK_FALSE(gpu.run("writes", {4, 1, 1}, {32, 1, 1}, 0u, tiny, out).completed);
  const LaunchReport after = gpu.run("writes", {1, 1, 1}, {32, 1, 1}, out);
  CHECK(after.completed);
  CHECK(after.findings.empty());
}

TEST_CASE("an endless kernel on several host threads stops all of them", "[robustness]") {
  Gpu gpu(compile("findings.cu"));
  const DevicePtr flag = gpu.upload(std::vector<int>{0}, "flag");
  LaunchOptions options;
  options.host_threads = 4;
  options.instruction_budget = 1u << 24;
  const Stopwatch watch;
  CHECK_FALSE(gpu.run("endless", {64, 1, 1}, {128, 1, 1}, 0u, options, flag).completed);
  CHECK(watch.seconds() < 2);
}

TEST_CASE("printf output: formats and cap", "[robustness][printf]") {
  for (const Clang& clang : clangs()) {
    INFO(clang.command);
    Gpu gpu(compile("output.cu", clang));
    const LaunchReport formats = gpu.run("formats", {1, 1, 1}, {32, 1, 1}, 1.5f, -9000000000ll);
    CHECK(to_text(formats.findings).empty());
    const std::string expected =
        "plain\n"
        "-5 6 4000000000 ff FF 10 z|%\n"
        "   42|42   |00042|+42|007\n"
        "-9000000000 18446744073709551615 ff -7\n"
        "1.500000 1.50    1.500 1.234568e+04 0.0001\n"
        "text and      right|\n";
    CHECK(formats.printf_output.substr(0, expected.size()) == expected);
    CHECK(formats.printf_output.find("44 4464\n") != std::string::npos);
  }
  Gpu gpu(compile("output.cu"));
  LaunchOptions options;
  options.checks = Checks::none();
  const LaunchReport flood = gpu.run("floods", {8, 1, 1}, {128, 1, 1}, 0u, options, 2000);
  CHECK(flood.printf_output.size() < (16u << 20));
  CHECK(flood.printf_output.size() > 1000);
  const LaunchReport hello = gpu.run("hello", {2, 1, 1}, {40, 1, 1});
  CHECK(hello.printf_output ==
        "block 0 thread 0\nblock 0 thread 20\nblock 1 thread 0\nblock 1 thread 20\n");
}

TEST_CASE("hostile printf formats", "[robustness][printf]") {
  // The format string comes from the module; %n, missing arguments and wild %s must be harmless.
  for (const std::string format :
       {"%n%n%n", "%s", "%999999999d", "%*d", "%.999999999f", "%", "%l", "%hhhhhd",
        "%d %d %d %d %d %d", "%999999999999999999999d", "%ls", "%Lf", "%-+ #0d"}) {
    std::string bytes;
    for (const char c : format) bytes += std::to_string(static_cast<int>(c)) + ", ";
    Gpu gpu(
        ptx_module(".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.global "
                   ".align 1 .b8 fmt[" +
                   std::to_string(format.size() + 1) + "] = {" + bytes + R"(0};
.visible .entry k()
{
  .reg .b32 %r<2>; .reg .b64 %rd<4>;
  .local .align 8 .b8 args[8];
  mov.u64 %rd1, 0x123456789ABC;
  st.local.u64 [args], %rd1;
  mov.u64 %rd2, args; cvta.local.u64 %rd2, %rd2;
  mov.u64 %rd3, fmt; cvta.global.u64 %rd3, %rd3;
  { .param .b64 p0; .param .b64 p1; .param .b32 q;
    st.param.b64 [p0], %rd3; st.param.b64 [p1], %rd2;
    call.uni (q), vprintf, (p0, p1); ld.param.b32 %r1, [q]; }
  ret;
})"));
    INFO(format);
    const LaunchReport report = gpu.run("k", {1, 1, 1}, {2, 1, 1});
    CHECK(report.printf_output.size() < (1u << 20));
  }
}

TEST_CASE("a program's own call of what malloc() calls lends no byte past the heap",
          "[robustness]") {
  Gpu gpu(ptx_module(R"(.extern .func __simgpu_lend(.param .b64 header, .param .b64 bytes);
.global .align 16 .b8 __simgpu_heap_bytes[384];
.visible .entry k(.param .u64 bytes)
{
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [bytes];
  mov.u64 %rd2, __simgpu_heap_bytes; cvta.global.u64 %rd2, %rd2;
  { .param .b64 p0; .param .b64 p1;
    st.param.b64 [p0], %rd2; st.param.b64 [p1], %rd1;
    call.uni __simgpu_lend, (p0, p1); }
  st.u64 [%rd2+16], %rd1;
  ret;
})"));
  for (const std::uint64_t refused :
       {std::uint64_t{384 - 15}, std::uint64_t{384}, ~std::uint64_t{0}}) {
    INFO(refused);
    CHECK_FALSE(gpu.run("k", {1, 1, 1}, {1, 1, 1}, refused).findings.empty());
  }
  CHECK(gpu.run("k", {1, 1, 1}, {1, 1, 1}, std::uint64_t{384 - 16}).findings.empty());
}

TEST_CASE("assert of the compiled kernel", "[robustness]") {
  for (const Clang& clang : clangs()) {
    INFO(clang.command);
    Gpu gpu(compile("output.cu", clang));
    std::vector<int> values(32, 1);
    values[21] = 50;
    const DevicePtr in = gpu.upload(values, "in");
    CHECK(gpu.run("asserts", {1, 1, 1}, {32, 1, 1}, in, 51).findings.empty());
    const LaunchReport report = gpu.run("asserts", {1, 1, 1}, {32, 1, 1}, in, 10);
    INFO(to_text(report.findings));
    CHECK_FALSE(report.completed);
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].kind == FindingKind::assertion);
    CHECK(report.findings[0].at.where.line == marker("output.cu", "assert"));
    CHECK(report.findings[0].at.thread == Dim3{21, 0, 0});
    CHECK(report.findings[0].detail.find("in[i] < n") != std::string::npos);
  }
}

// ----------------------------------------------------------------------------------------- memory
// API

TEST_CASE("allocations: none, many, too many", "[robustness]") {
  Device device;
  CHECK(device.alloc(0, "nothing") == 0);
  CHECK(device.bytes_in_use() == 0);
  std::vector<DevicePtr> pointers;
  const Stopwatch watch;
  for (unsigned i = 0; i < 10000; ++i)
    pointers.push_back(device.alloc(100 + i % 7, "block " + std::to_string(i)));
  for (const DevicePtr p : pointers) CHECK(p % 256 == 0);
  CHECK(device.find(pointers[5000] + 50)->base == pointers[5000]);
  CHECK(device.find(pointers[5000] + 50)->label == "block 5000");
  CHECK_FALSE(device.find(pointers[0] + 100));
  for (const DevicePtr p : pointers) device.free(p);
  CHECK(device.bytes_in_use() == 0);
  CHECK(watch.seconds() < 2);
  CHECK(status_of([&] { device.free(pointers[3]); }) == Status::invalid_value);  // twice
  CHECK(status_of([&] { device.alloc(5ull << 30, "huge"); }) == Status::out_of_memory);
  CHECK(status_of([&] { device.alloc(~std::size_t{0}, "all"); }) == Status::out_of_memory);
  CHECK(status_of([&] { device.alloc(~std::size_t{0} - 100, "nearly all"); }) ==
        Status::out_of_memory);
  DeviceModel small;
  small.global_bytes = 1000;
  Device limited(small);
  const DevicePtr p = limited.alloc(900, "most");
  CHECK(status_of([&] { limited.alloc(200, "rest"); }) == Status::out_of_memory);
  limited.free(p);
  CHECK(limited.alloc(1000, "all again") != 0);
}

TEST_CASE("a device with ten thousand live allocations still launches fast", "[robustness]") {
  Gpu gpu(compile("findings.cu"));
  std::vector<DevicePtr> all;
  for (unsigned i = 0; i < 10000; ++i) all.push_back(gpu.device.alloc(128, "x"));
  const Stopwatch watch;
  for (unsigned i = 0; i < 50; ++i) {
    const LaunchReport report = gpu.run("writes", {1, 1, 1}, {32, 1, 1}, all[i * 199]);
    CHECK(report.findings.empty());
    CHECK(report.buffers.size() == 1);
  }
  CHECK(watch.seconds() < 2);
}

TEST_CASE("host copies are bounds-checked", "[robustness]") {
  Device device;
  const DevicePtr p = device.alloc(100, "p"), q = device.alloc(50, "q");
  std::vector<std::byte> buffer(200);
  const std::span<std::byte> bytes(buffer);
  const auto status = [&](auto action) { return status_of(action); };
  CHECK(status([&] { device.write(p, bytes.first(100)); }) == Status::success);
  CHECK(status([&] { device.write(p, bytes.first(101)); }) == Status::invalid_value);
  CHECK(status([&] { device.write(p + 1, bytes.first(100)); }) == Status::invalid_value);
  CHECK(status([&] { device.write(p - 1, bytes.first(1)); }) == Status::invalid_value);
  CHECK(status([&] { device.write(p + 100, bytes.first(0)); }) == Status::success);
  CHECK(status([&] { device.write(0, bytes.first(1)); }) == Status::invalid_value);
  CHECK(status([&] { device.read(bytes.first(101), p); }) == Status::invalid_value);
  CHECK(status([&] { device.read(bytes.first(1), ~DevicePtr{0}); }) == Status::invalid_value);
  CHECK(status([&] { device.fill(p + 50, std::byte{0}, 51); }) == Status::invalid_value);
  CHECK(status([&] { device.fill(p + 50, std::byte{0}, ~std::size_t{0}); }) ==
        Status::invalid_value);
  CHECK(status([&] { device.copy(q, p, 51); }) == Status::invalid_value);
  CHECK(status([&] { device.copy(q, p, 50); }) == Status::success);
  CHECK(status([&] { device.mark_uninitialised(p, 101); }) == Status::invalid_value);
  CHECK(status([&] { device.free(p + 4); }) == Status::invalid_value);
  CHECK(status([&] { device.free(0); }) == Status::invalid_value);
  device.free(p);
  CHECK(status([&] { device.write(p, bytes.first(1)); }) == Status::invalid_value);
  // Overlapping copies inside one allocation behave like memmove.
  const DevicePtr r = device.alloc(16, "r");
  for (unsigned i = 0; i < 16; ++i) device.fill(r + i, std::byte(i), 1);
  device.copy(r + 2, r, 14);
  std::vector<std::byte> got(16);
  device.read(got, r);
  for (unsigned i = 2; i < 16; ++i) CHECK(got[i] == std::byte(i - 2));
}

TEST_CASE("modules: several at once, unloading, moves of the device", "[robustness]") {
  Device device;
  const ModuleId a =
      device.load_module(ptx_module(".global .align 4 .u32 x = 7;\n.visible .entry f() { ret; }"));
  const ModuleId b = device.load_module(ptx_module(
      ".global .align 4 .u32 x = 8;\n.visible .entry f() { ret; }\n.visible .entry g() { ret; }"));
  CHECK(a != b);
  CHECK(device.variable(a, "x") != device.variable(b, "x"));
  CHECK(device.kernels(a).size() == 1);
  CHECK(device.kernels(b).size() == 2);
  CHECK_FALSE(device.kernel(a, "g"));
  device.unload_module(a);
  CHECK(status_of([&] { device.launch(a, "f", {1, 1, 1}, {1, 1, 1}, 0, {}); }) != Status::success);
  CHECK(status_of([&] { device.unload_module(a); }) != Status::success);
  CHECK(device.launch(b, "f", {1, 1, 1}, {1, 1, 1}, 0, {}).completed);
  Device moved = std::move(device);
  CHECK(moved.launch(b, "g", {1, 1, 1}, {1, 1, 1}, 0, {}).completed);
  for (int i = 0; i < 200; ++i) moved.unload_module(moved.load_module(ptx_module(kSimple)));
}

// ---------------------------------------------------------------------------------------- hostile
// PTX

TEST_CASE("hostile PTX is an error with a line, in little time and memory",
          "[robustness][hostile]") {
  const auto entry = [](const std::string& body) {
    return ptx_module(".visible .entry k()\n{\n" + body + "\nret;\n}\n");
  };
  std::string nest, many_labels, wide;
  for (int i = 0; i < 200000; ++i) nest += "{";
  for (int i = 0; i < 300000; ++i) many_labels += "L" + std::to_string(i) + ":\n";
  for (int i = 0; i < 100000; ++i) wide += "%r1,";
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"empty", ""},
      {"not PTX", "hello world"},
      {"binary", std::string("\x7f"
                             "ELF\0\0\1\2\3",
                             10)},
      {"no version", ".target sm_80\n"},
      {"unknown directive", ptx_module(".incbin \"/etc/passwd\"\n")},
      {"unknown instruction type", entry(".reg .b32 %r<4>; add.q77 %r1, %r2, %r3;")},
      {"two thousand million registers", entry(".reg .b32 %r<2000000000>;")},
      {"registers beyond 2^64", entry(".reg .b32 %r<99999999999999999999999>;")},
      {"negative registers", entry(".reg .b32 %r<-5>;")},
      {"undeclared register", entry("mov.u32 %r1, 5;")},
      {"label missing", entry("bra NOWHERE;")},
      {"label twice", entry("A: A: bra A;")},
      {"terabytes of shared memory", entry(".shared .b8 x[1099511627776];")},
      {"terabytes of global memory", ptx_module(".global .b8 x[1099511627776];\n")},
      {"array size beyond 2^64", ptx_module(".global .b8 x[99999999999999999999999999];\n")},
      {"product of sizes overflows", ptx_module(".global .u64 x[4294967296][4294967296];\n")},
      {"local memory without end", entry(".local .b8 x[1073741824];")},
      {"alignment 3", ptx_module(".global .align 3 .b8 x[8];\n")},
      {"alignment 2^40", ptx_module(".global .align 1099511627776 .b8 x[8];\n")},
      {"initialiser too long", ptx_module(".global .b8 x[2] = {1, 2, 3};\n")},
      {"braces nested without end", ptx_module(".visible .entry k()\n{\n" + nest)},
      {"brace left open", ptx_module(".visible .entry k()\n{\n ret;\n")},
      {"comment left open", ptx_module("/* and so on")},
      {"string left open", ptx_module(".file 1 \"never closed\n")},
      {"operands without end", entry(".reg .b32 %r<4>; add.u32 " + wide + " %r1;")},
      {"too few operands", entry(".reg .b32 %r<4>; add.u32 %r1, %r2;")},
      {"too many operands", entry(".reg .b32 %r<4>; add.u32 %r1, %r2, %r3, %r3, %r3;")},
      {"function twice",
       ptx_module(".visible .entry k() { ret; }\n.visible .entry k() { ret; }\n")},
      {"unknown function called", entry("call.uni nobody, ();")},
      {"garbage after a module", ptx_module(".visible .entry k() { ret; }\n%%%%%%")},
      {"vector of nine",
       entry(".reg .b32 %r<12>; .reg .b64 %rd<2>; ld.global.v9.u32 {%r1}, [%rd1];")},
      {"vector sizes differ",
       entry(".reg .b32 %r<12>; .reg .b64 %rd<2>; ld.global.v4.u32 {%r1,%r2}, [%rd1];")},
  };
  for (const auto& [name, text] : texts) {
    INFO(name);
    Device device;
    const Stopwatch watch;
    std::string said;
    try {
      const ModuleId module = device.load_module(text);
      // A body that simgpu cannot run may be reported when the kernel is launched.
      for (const Finding& f : device.launch(module, "k", {1, 1, 1}, {1, 1, 1}, 0, {}).findings) {
        if (f.kind == FindingKind::unsupported) said = f.detail;
      }
    } catch (const ptx::ParseError& error) {
      said = error.what();
    } catch (const DeviceError& error) {
      said = error.what();
    }
    CHECK(said.size() > 5);
    CHECK(said.size() < 2000);  // hostile text is not echoed without end
    CHECK(watch.seconds() < 2);
  }
  // Many labels are no crime; whatever the verdict, it comes soon.
  const Stopwatch watch;
  Device device;
  try {
    device.load_module(entry(many_labels));
  } catch (const ptx::ParseError&) {
  }
  CHECK(watch.seconds() < 4);
}

TEST_CASE("hostile but legal PTX runs inside its limits", "[robustness][hostile]") {
  // A register that is never written, a branch to itself, a function that calls itself, addresses
  // from nowhere in every space.
  Gpu gpu(ptx_module(R"(
.visible .entry wild(.param .u64 a)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  .shared .align 8 .b8 box[64];
  .local .align 8 .b8 mine[64];
  ld.param.u64 %rd1, [a];
  ld.shared.u32 %r1, [%rd1];
  ld.local.u32 %r1, [%rd1];
  ld.u32 %r1, [%rd1];
  ld.const.u32 %r1, [%rd1];
  ld.global.u32 %r1, [%rd1];
  ld.local.v4.u32 {%r1, %r2, %r3, %r4}, [mine+0x7ffffffffffffff8];
  ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [box+-0x7ffffffffffffff8];
  st.shared.u64 [%rd1], %rd2;
  st.local.u64 [%rd1], %rd2;
  st.u64 [%rd1], %rd2;
  atom.shared.add.u32 %r1, [%rd1], 1;
  atom.add.u32 %r1, [%rd1], 1;
  red.global.add.u32 [%rd1], 1;
  ret;
}
.visible .entry itself()
{
HERE: bra HERE;
}
.visible .entry no_return()
{
  .reg .b32 %r<2>;
  mov.u32 %r1, 1;
}
.visible .entry barrier_ids(.param .u32 id, .param .u32 count)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [id]; ld.param.u32 %r2, [count];
  bar.sync %r1, %r2;
  ret;
}
.visible .entry indexed(.param .u32 i)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [i];
T: .branchtargets A, B;
  brx.idx %r1, T;
A: ret;
B: ret;
}
)"));
  LaunchOptions options;
  options.instruction_budget = 1u << 16;
  for (const DevicePtr a :
       {DevicePtr{0}, DevicePtr{64}, ~DevicePtr{0}, ~DevicePtr{0} - 7, DevicePtr{1} << 63,
        (DevicePtr{1} << 63) + 0x400, DevicePtr{0x400}, DevicePtr{0xFFFFFFFF},
        DevicePtr{0x100000000}, DevicePtr{0x2'00000000}, DevicePtr{0x4'00000000},
        DevicePtr{0x4'00000040}, DevicePtr{0x6'00000000}, DevicePtr{0x2'000003FC},
        DevicePtr{0x2'FFFFFFFF}, DevicePtr{0x10'00000000}}) {
    INFO(a);
    const LaunchReport report = gpu.run("wild", {1, 1, 1}, {64, 1, 1}, 0u, options, a);
    CHECK_FALSE(report.findings.empty());
    for (const Finding& f : report.findings) CHECK(f.kind != FindingKind::unsupported);
    options.checks = Checks::none();
    gpu.run("wild", {1, 1, 1}, {64, 1, 1}, 0u, options, a);
    options.checks = Checks{};
  }
  CHECK_FALSE(gpu.run("itself", {1, 1, 1}, {64, 1, 1}, 0u, options).completed);
  gpu.run("no_return", {1, 1, 1}, {64, 1, 1}, 0u, options);  // falls off the end: ends
  for (const u32 id : {0u, 15u, 16u, 99u, ~0u}) {
    for (const u32 count : {0u, 1u, 31u, 32u, 64u, 96u, ~0u}) {
      INFO("barrier " << id << " of " << count);
      gpu.run("barrier_ids", {1, 1, 1}, {64, 1, 1}, 0u, options, id, count);
    }
  }
  for (const u32 i : {0u, 1u, 2u, 1000u, ~0u})
    gpu.run("indexed", {1, 1, 1}, {64, 1, 1}, 0u, options, i);
  // The device is as good as before.
  CHECK(gpu.run("barrier_ids", {1, 1, 1}, {64, 1, 1}, 0u, options, 0u, 64u).findings.empty());
}

TEST_CASE("braces that nothing closes are looked at once", "[robustness]") {
  // Once for each of them would take minutes.
  CHECK(ptx::read_clusters(std::string(2'000'000, '{')).empty());
  const std::string closed = ".entry a { { } } { } .entry b .maxntid 65794 { }";
  CHECK(ptx::read_clusters(closed).at("b") == std::array<std::uint32_t, 3>{2, 1, 1});
}

}  // namespace
}  // namespace simgpu::test
