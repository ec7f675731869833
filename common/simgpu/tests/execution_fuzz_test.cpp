// Kernels made of random instructions of all forms, some of them mutated, on random operands: whatever they
// do, the engine refuses them or runs them to the end with findings. Deterministic; meant for
// make test-sanitized above all.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/ptx/parser.hpp"
#include "common/simgpu/tests/harness.hpp"
#include "common/simgpu/tests/parser_forms.hpp"

namespace simgpu::test {
namespace {

using Engine = std::mt19937;

unsigned below(Engine& engine, std::size_t n) {
  return static_cast<unsigned>(engine() % n);
}

/// Registers hold places in global and shared memory, small numbers, or anything.
std::string some_values(Engine& engine) {
  std::string text =
      "ld.param.u64 %rd1, [view]; cvta.to.global.u64 %rd1, %rd1; mov.u64 %rd2, %rd1; mov.u32 %r9, %tid.x; mov.u64 "
      "%rd5, s; mov.u32 %r1, s; add.u32 %r3, %r1, 512;\n";
  for (unsigned k = 1; k <= 6; ++k) {
    const std::string r = std::to_string(k);
    switch (below(engine, 5)) {
      case 0:
        text += "mov.u32 %r" + r + ", s; mad.lo.u32 %r" + r + ", %r9, " +
                std::to_string(1 << below(engine, 6)) + ", %r" + r + ";\n";
        break;
      case 1:
        text += "mul.wide.u32 %rd3, %r9, " + std::to_string(1 << below(engine, 6)) +
                "; add.u64 %rd" + r + ", %rd1, %rd3;\n";
        break;
      case 2:
        text += "mov.u32 %r" + r + ", " + std::to_string(engine()) + ";\n";
        break;
      case 3:
        text += "mov.u64 %rd" + r + ", 0x" +
                (below(engine, 2) == 0 ? "8000000000000000" : "4000004000010000") + ";\n";
        break;
      default:
        text += "setp.lt.u32 %p" + r + ", %r9, " + std::to_string(below(engine, 40)) + ";\n";
    }
  }
  return text;
}

std::string instruction(Engine& engine) {
  std::string text = below(engine, 2) == 0 ? kForms[below(engine, std::size(kForms))]
                                           : kHopperForms[below(engine, std::size(kHopperForms))];
  if (below(engine, 3) != 0) return text;
  // Another register or number in the place of one.
  const std::size_t operands = std::min(text.find(' '), text.size() - 1);
  const std::size_t at =
      text.find_first_of("123456", operands + below(engine, text.size() - operands));
  if (at != std::string::npos) text[at] = static_cast<char>('1' + below(engine, 6));
  if (below(engine, 4) == 0 && text[0] != '@')
    text = "@%p" + std::to_string(1 + below(engine, 3)) + " " + text;
  return text;
}

std::string kernel(Engine& engine) {
  std::string body = some_values(engine);
  for (unsigned n = 1 + below(engine, 12); n > 0; --n) body += instruction(engine) + "\n";
  return ".visible .entry k(.param .align 8 .b8 view[24], .param .u32 n)\n{\n.reg .pred %p<9>; .reg .b16 %h<9>; "
         ".reg .b32 %r<12>; .reg .b64 %rd<9>; .reg .f32 %f<12>; .reg .f64 %d<9>;\n"
         ".shared .align 128 .b8 s[4096]; .local .align 8 .b8 depot[64];\n" +
         body + "ret;\n}\n";
}

enum class End { refused, findings, clean };

End run(const std::string& text, unsigned threads, unsigned blocks) {
  try {
    Gpu gpu(ptx_module(text));
    if (!gpu.device.kernels(gpu.module).front().unsupported.empty()) return End::refused;
    const DevicePtr a = gpu.upload(std::vector<std::uint32_t>(1024, 3), "a");
    LaunchOptions options;
    options.instruction_budget = 1u << 16;
    options.host_threads = 2;
    struct Arguments {
      DevicePtr a, b, c;
      std::uint32_t n, unused;
    } arguments{a, a, a, 7, 0};
    const LaunchReport report =
        gpu.device.launch(gpu.module, "k", {blocks, 1, 1}, {threads, 1, 1}, 0,
                          std::as_bytes(std::span(&arguments, 1)).first(28), options);
    return report.findings.empty() ? End::clean : End::findings;
  } catch (const ptx::ParseError&) {
    return End::refused;
  } catch (const DeviceError&) {
    return End::refused;
  }
}

TEST_CASE("random instructions on random operands end", "[robustness][hostile][fuzz]") {
  constexpr unsigned kRounds = 600;
  unsigned ends[3] = {};
  for (unsigned round = 0; round < kRounds; ++round) {
    Engine engine(round);
    const std::string text = kernel(engine);
    constexpr unsigned kThreads[] = {32, 128, 45};
    INFO("round " << round);
    ++ends[static_cast<unsigned>(run(text, kThreads[round % 3], 1 + round % 4))];
  }
  // All ends must be reached often, or the kernels are too wild or too tame to test anything.
  CHECK(ends[0] > kRounds / 50);
  CHECK(ends[1] > kRounds / 5);
  CHECK(ends[2] > kRounds / 50);
}

}  // namespace
}  // namespace simgpu::test
