#include "common/simgpu/ptx/control_flow.hpp"

#include <algorithm>

namespace simgpu::ptx {
namespace {

/// Instructions `instruction` may jump to.
template <typename Visit>
void for_each_target(const Function& function, const Instruction& instruction, Visit&& visit) {
  if (instruction.op == Opcode::bra) visit(instruction.operands[0].index);
  if (instruction.op == Opcode::brx_idx) {
    const Operand& table = instruction.operands[1];
    for (std::uint32_t i = 0; i < table.count; ++i)
      visit(function.vector_operands[table.index + i].index);
  }
}

}  // namespace

bool ends_flow(const Instruction& instruction) {
  if (instruction.guard != UINT32_MAX) return false;
  switch (instruction.op) {
    case Opcode::bra:
    case Opcode::brx_idx:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::trap:
      return true;
    default:
      return false;
  }
}

bool orders_memory(Opcode op) {
  switch (op) {
    case Opcode::bar_sync:
    case Opcode::bar_arrive:
    case Opcode::bar_red:
    case Opcode::bar_warp_sync:
    case Opcode::cluster_arrive:
    case Opcode::cluster_wait:
    case Opcode::membar:
    case Opcode::fence:
    case Opcode::call:
      return true;
    default:
      return false;
  }
}

ControlFlow build_control_flow(const Function& function) {
  ControlFlow flow;
  const auto size = static_cast<std::uint32_t>(function.body.size());
  if (size == 0) return flow;
  std::vector<bool> starts(size + 1, false);
  starts[0] = true;
  for (std::uint32_t i = 0; i < size; ++i) {
    const Instruction& instruction = function.body[i];
    bool ends = ends_flow(instruction);
    for_each_target(function, instruction, [&](std::uint32_t target) {
      starts[target] = true;
      ends = true;
    });
    if (ends) starts[i + 1] = true;
  }
  flow.block_of.resize(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    if (starts[i]) flow.blocks.push_back(BasicBlock{i, i, {}, {}});
    flow.block_of[i] = static_cast<std::uint32_t>(flow.blocks.size() - 1);
    flow.blocks.back().end = i + 1;
  }
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    BasicBlock& block = flow.blocks[b];
    const Instruction& last = function.body[block.end - 1];
    if (!ends_flow(last) && block.end < size) block.successors.push_back(b + 1);
    for_each_target(function, last, [&](std::uint32_t target) {
      block.successors.push_back(flow.block_of[target]);
    });
    std::sort(block.successors.begin(), block.successors.end());
    block.successors.erase(std::unique(block.successors.begin(), block.successors.end()),
                           block.successors.end());
    for (const std::uint32_t s : block.successors) flow.blocks[s].predecessors.push_back(b);
  }
  return flow;
}

}  // namespace simgpu::ptx
