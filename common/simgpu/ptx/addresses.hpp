// Addresses as something fixed plus a constant: two of them with the same root are that far apart.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/simgpu/ptx/control_flow.hpp"
#include "common/simgpu/ptx/equal_sums.hpp"
#include "common/simgpu/ptx/joined_sums.hpp"
#include "common/simgpu/ptx/module.hpp"

namespace simgpu::ptx {

struct Root {
  bool is_symbol = false;
  std::uint32_t index = 0;  ///< register or variable
  auto operator<=>(const Root&) const = default;
};
struct Address {
  Root root;
  std::int64_t offset = 0;
  auto operator<=>(const Address&) const = default;
};

/// By register: the one instruction that writes it, always; else UINT32_MAX.
inline std::vector<std::uint32_t> only_definitions(const Function& function) {
  std::vector<std::uint32_t> definition(function.registers.size(), UINT32_MAX);
  std::vector<bool> seen(function.registers.size(), false);
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    const Instruction& instruction = function.body[i];
    for_each_register(function, instruction, [&](std::uint32_t reg, bool is_write) {
      if (!is_write) return;
      definition[reg] = seen[reg] || instruction.guard != UINT32_MAX ? UINT32_MAX : i;
      seen[reg] = true;
    });
  }
  return definition;
}

/// Of one function, which must live as long.
class Addresses {
 public:
  explicit Addresses(const Function& function) : function_(function) {
    definition_ = only_definitions(function);
    joined_ = undo_joined_sums(function, definition_);
    equal_ = find_equal_sums(function, definition_, joined_);
  }

  /// Of [register + constant] or [symbol + constant]. `across_spaces`: a generic address and that of its
  /// state space have the same root.
  Address find(const Operand& memory, bool across_spaces = false) const {
    Address address{{memory.kind == Operand::Kind::symbol, memory.index}, memory.bits};
    constexpr int kMostSteps = 64;
    for (int step = 0; step < kMostSteps; ++step)
      if (!open_up(&address, across_spaces) && !undo_joined_sum(&address) &&
          !go_to_equal_sum(&address))
        break;
    return address;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// Sees through one copy or one addition of a constant; false if the root is neither. Registers
  /// with several definitions are never seen through to: they may have changed since.
  bool open_up(Address* address, bool across_spaces) const {
    if (address->root.is_symbol || definition_[address->root.index] == kNone) return false;
    const Instruction& instruction = function_.body[definition_[address->root.index]];
    const bool is_move =
        instruction.op == Opcode::mov || (across_spaces && instruction.op == Opcode::cvta);
    if (!is_move && instruction.op != Opcode::add) return false;
    Root root;
    unsigned roots = 0;
    auto offset = static_cast<std::uint64_t>(address->offset);  // wraps like addresses do
    for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
      const Operand& operand = instruction.operands[i];
      if (operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::symbol) {
        root = {operand.kind == Operand::Kind::symbol, operand.index};
        if (!root.is_symbol && definition_[root.index] == kNone) return false;
        ++roots;
      } else if (operand.kind != Operand::Kind::imm || is_move) {
        return false;
      }
      offset += static_cast<std::uint64_t>(operand.bits);  // 0 for a register
    }
    if (roots != 1) return false;
    *address = {root, static_cast<std::int64_t>(offset)};
    return true;
  }

  bool undo_joined_sum(Address* address) const {
    if (address->root.is_symbol || joined_[address->root.index].offset == 0) return false;
    const auto& [reg, offset] = joined_[address->root.index];
    *address = {{false, reg}, address->offset + offset};
    return true;
  }

  bool go_to_equal_sum(Address* address) const {
    if (address->root.is_symbol || equal_[address->root.index].reg == address->root.index)
      return false;
    const auto& [reg, offset] = equal_[address->root.index];
    *address = {{false, reg}, address->offset + offset};
    return true;
  }

  const Function& function_;
  std::vector<Shifted> joined_, equal_;
  std::vector<std::uint32_t>
      definition_;  ///< the only, unguarded definition of a register, else kNone
};

}  // namespace simgpu::ptx
