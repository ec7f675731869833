#include "common/simgpu/count/doubled_sums.hpp"

#include <cstdint>

#include "common/simgpu/ptx/addresses.hpp"

namespace simgpu::count {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using Kind = Operand::Kind;

/// 2 or -2 where an operand is that number, else 0.
int two(const Operand& operand, ptx::Type type) {
  if (operand.kind != Kind::imm) return 0;
  if (type == ptx::Type::f32) {
    const auto bits = static_cast<std::uint32_t>(operand.bits);
    return bits == 0x4000'0000u ? 2 : bits == 0xc000'0000u ? -2 : 0;
  }
  const auto bits = static_cast<std::uint64_t>(operand.bits);
  return bits == 0x4000'0000'0000'0000u ? 2 : bits == 0xc000'0000'0000'0000u ? -2 : 0;
}

}  // namespace

std::vector<bool> find_doubled_sums(const ptx::Function& function) {
  std::vector<bool> doubled(function.body.size(), false);
  const std::vector<std::uint32_t> definition = ptx::only_definitions(function);
  /// What writes an operand, if that is one instruction; else nullptr.
  const auto writer = [&](const Operand& operand) -> const Instruction* {
    const bool known = operand.kind == Kind::reg && definition[operand.index] != UINT32_MAX;
    return known ? &function.body[definition[operand.index]] : nullptr;
  };
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& fma = function.body[i];
    const ptx::Type type = fma.mod.type;
    if (fma.op != Opcode::fma || fma.operands.size() < 4 ||
        (type != ptx::Type::f32 && type != ptx::Type::f64))
      continue;
    const int factor = two(fma.operands[1], type) + two(fma.operands[2], type);
    if (factor != 2 && factor != -2) continue;
    const Instruction* const sum = writer(fma.operands[3]);
    const bool negated = sum != nullptr && sum->op == Opcode::neg;
    if (factor == -2) {
      doubled[i] = !negated;
    } else if (negated) {
      // Of a difference of two products the other one is joined.
      const Instruction* const taken_off = writer(sum->operands[1]);
      doubled[i] = taken_off == nullptr || taken_off->op != Opcode::mul;
    }
  }
  return doubled;
}

}  // namespace simgpu::count
