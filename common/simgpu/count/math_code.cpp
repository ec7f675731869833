#include "common/simgpu/count/math_code.hpp"

#include <algorithm>
#include <string_view>

namespace simgpu::count {
namespace {

using ptx::Instruction;
using ptx::Module;

constexpr std::string_view kPrefix = "__simgpu_math_";
/// Loads and stores pass.
constexpr std::string_view kStraight[] = {"acosf", "asinf", "cbrtf",  "coshf",  "erfcf", "exp10f",
                                          "exp2f", "expf",  "expm1f", "rcbrtf", "sinhf", "tanhf"};
/// Only loads do.
constexpr std::string_view kBranched[] = {"atanf", "erff", "log10f",   "log1pf",
                                          "log2f", "logf", "normcdff", "sinpif"};

/// Without the prefix; empty: it calls none of the engine's functions.
std::string_view called(const Module& module, const Instruction& instruction) {
  if (instruction.op != ptx::Opcode::call ||
      instruction.operands[0].kind != ptx::Operand::Kind::function)
    return {};
  const std::string_view name = module.functions[instruction.operands[0].index].name;
  return name.substr(0, kPrefix.size()) == kPrefix ? name.substr(kPrefix.size())
                                                   : std::string_view();
}

bool is_in(const auto& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

bool loads_pass(const Module& module, const Instruction& instruction) {
  const std::string_view name = called(module, instruction);
  return is_in(kStraight, name) || is_in(kBranched, name);
}

bool stores_pass(const Module& module, const Instruction& instruction) {
  return is_in(kStraight, called(module, instruction));
}

}  // namespace simgpu::count
