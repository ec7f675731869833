// Basic blocks of a function, and which registers an instruction reads and writes.
#pragma once

#include <cstdint>
#include <vector>

#include "common/simgpu/ptx/opcodes.hpp"

namespace simgpu::ptx {

/// Whether control never reaches the next instruction.
bool ends_flow(const Instruction& instruction);

/// Barriers, fences and calls: accesses before and after one may not become one access.
bool orders_memory(Opcode op);

/// Calls visit(register, is_write) for every register of `instruction`, the guard included. A
/// register read and written is visited twice, reads first.
template <typename Visit>
void for_each_register(const Function& function, const Instruction& instruction, Visit&& visit) {
  const bool writes = has_destination(instruction.op);
  const auto plain = [&](const Operand& operand, bool is_write) {
    if (operand.kind == Operand::Kind::reg) visit(operand.index, is_write);
    if (operand.kind == Operand::Kind::address) visit(operand.index, false);
    if (operand.index2 != UINT32_MAX) visit(operand.index2, true);
  };
  const auto any = [&](const Operand& operand, bool is_write) {
    if (operand.kind != Operand::Kind::vector) return plain(operand, is_write);
    for (std::uint32_t i = 0; i < operand.count; ++i)
      plain(function.vector_operands[operand.index + i], is_write);
  };
  if (instruction.guard != UINT32_MAX) visit(instruction.guard, false);
  for (std::size_t i = writes ? 1 : 0; i < instruction.operands.size(); ++i)
    any(instruction.operands[i], false);
  if (instruction.op == Opcode::wgmma && !instruction.operands.empty())
    any(instruction.operands[0], false);  // it adds to its accumulators
  if (writes && !instruction.operands.empty()) any(instruction.operands[0], true);
}

struct BasicBlock {
  std::uint32_t begin = 0, end = 0;       ///< instructions [begin, end)
  std::vector<std::uint32_t> successors;  ///< blocks, each once, ascending
  std::vector<std::uint32_t> predecessors;
};

struct ControlFlow {
  std::vector<BasicBlock> blocks;       ///< in the order of the text; block 0 is the entry
  std::vector<std::uint32_t> block_of;  ///< by instruction
};

/// Empty for a declaration. Calls return: they do not end a block.
ControlFlow build_control_flow(const Function& function);

}  // namespace simgpu::ptx
