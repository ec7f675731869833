#include "common/simgpu/count/early_reads.hpp"

#include <algorithm>

#include "common/simgpu/ptx/addresses.hpp"

namespace simgpu::count {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

constexpr unsigned kMostCost = 5, kTooMuch = kMostCost + 1;

class EarlyBlocks {
 public:
  EarlyBlocks(const ptx::Module& module, const Function& function)
      : module_(module), function_(function), addresses_(function) {}

  bool is_early(const ptx::ControlFlow& flow, std::uint32_t block) const {
    const auto& blocks = flow.blocks;
    if (block == 0 || block + 1 >= blocks.size()) return false;
    const ptx::BasicBlock &arm = blocks[block], &before = blocks[block - 1];
    if (arm.predecessors != std::vector{block - 1} || arm.successors != std::vector{block + 1} ||
        before.successors != std::vector{block, block + 1} || arm.end - arm.begin > 2 * kMostCost)
      return false;
    unsigned cost = 0;
    bool loads = false;
    for (std::uint32_t i = arm.begin; i < arm.end; ++i) {
      cost += cost_of(function_.body[i]);
      loads |= function_.body[i].op == Opcode::ld;
    }
    return loads && cost <= kMostCost;
  }

 private:
  unsigned cost_of(const Instruction& instruction) const {
    if (instruction.guard != UINT32_MAX) return kTooMuch;
    switch (instruction.op) {
      case Opcode::mov:
        return 0;
      case Opcode::ld:
        return is_within_array(instruction) ? 1 : kTooMuch;
      case Opcode::fma:
      case Opcode::mad:
        return 2;
      case Opcode::add:
      case Opcode::sub:
      case Opcode::mul:
      case Opcode::neg:
      case Opcode::and_:
      case Opcode::or_:
      case Opcode::xor_:
      case Opcode::shl:
      case Opcode::shr:
      case Opcode::cvt:
        return 1;
      default:
        return kTooMuch;
    }
  }

  bool is_within_array(const Instruction& instruction) const {
    const ptx::Modifiers& mod = instruction.mod;
    const Operand& memory = instruction.operands[1];
    if (mod.space != Space::shared || mod.is_volatile || mod.ordering != ptx::Ordering::none ||
        (memory.kind != Operand::Kind::address && memory.kind != Operand::Kind::symbol))
      return false;
    const ptx::Address address = addresses_.find(memory);
    if (!address.root.is_symbol || address.offset < 0) return false;
    const ptx::Variable& variable = module_.variables[address.root.index];
    const std::uint64_t bytes = size_of(mod.type) * std::max<unsigned>(1, mod.vec);
    return variable.space == Space::shared && !variable.is_extern && bytes <= variable.size &&
           static_cast<std::uint64_t>(address.offset) <= variable.size - bytes;
  }

  const ptx::Module& module_;
  const Function& function_;
  ptx::Addresses addresses_;
};

bool reads_shared(const Instruction& instruction) {
  return instruction.op == Opcode::ld && instruction.mod.space == Space::shared;
}

}  // namespace

std::vector<bool> find_early_blocks(const ptx::Module& module, const Function& function,
                                    const ptx::ControlFlow& flow) {
  std::vector<bool> early(flow.blocks.size(), false);
  if (std::none_of(function.body.begin(), function.body.end(), reads_shared)) return early;
  const EarlyBlocks blocks(module, function);
  for (std::uint32_t block = 0; block < early.size(); ++block)
    early[block] = blocks.is_early(flow, block);
  return early;
}

std::vector<std::uint32_t> find_early_reads(const ptx::Module& module, const Function& function) {
  std::vector<std::uint32_t> branch(function.body.size(), kNotEarly);
  const ptx::ControlFlow flow = ptx::build_control_flow(function);
  const std::vector<bool> early = find_early_blocks(module, function, flow);
  for (std::uint32_t block = 0; block < early.size(); ++block)
    for (std::uint32_t i = flow.blocks[block].begin; early[block] && i < flow.blocks[block].end;
         ++i)
      if (reads_shared(function.body[i])) branch[i] = flow.blocks[block].begin - 1;
  return branch;
}

}  // namespace simgpu::count
