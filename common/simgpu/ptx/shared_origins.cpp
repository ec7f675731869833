#include "common/simgpu/ptx/shared_origins.hpp"

#include <algorithm>

#include "common/simgpu/ptx/control_flow.hpp"

namespace simgpu::ptx {
namespace {

/// What is known of a register: nothing wrote it yet, no address, an address within one variable (its index),
/// or an address that could be anywhere.
constexpr std::uint32_t kUnseen = UINT32_MAX - 1, kNumber = UINT32_MAX - 2, kLost = UINT32_MAX - 3;

bool is_variable(std::uint32_t state) {
  return state < kLost;
}

class Origins {
 public:
  Origins(const Module& module, const Function& function)
      : module_(module), f_(function), state_(function.registers.size() + 1, kUnseen) {}

  std::vector<std::uint32_t> find() {
    std::vector<std::uint32_t> of(f_.body.size(), kNoOrigin);
    // States only move towards kLost. Compilers' code settles in a few rounds, text made by hand may not.
    constexpr int kMostRounds = 50;
    bool changed = true;
    for (int round = 0; changed && round < kMostRounds; ++round) {
      changed = false;
      for (const Instruction& ins : f_.body) changed |= pass(ins);
    }
    if (changed) return of;
    for (std::size_t i = 0; i < f_.body.size(); ++i)
      if (const Operand* address = address_of(f_.body[i])) {
        const std::uint32_t s = state_of(*address);
        if (is_variable(s)) of[i] = s;
      }
    return of;
  }

 private:
  static const Operand* address_of(const Instruction& ins) {
    const bool load = ins.op == Opcode::ld || ins.op == Opcode::ldu || ins.op == Opcode::atom;
    if (!load && ins.op != Opcode::st && ins.op != Opcode::red) return nullptr;
    const std::size_t k = load ? 1 : 0;
    return k < ins.operands.size() ? &ins.operands[k] : nullptr;
  }

  std::uint32_t state_of(const Operand& o) const {
    switch (o.kind) {
      case Operand::Kind::reg:
      case Operand::Kind::address:
        return state_[o.index];
      case Operand::Kind::symbol:
        return o.index < module_.variables.size() &&
                       module_.variables[o.index].space == Space::shared
                   ? o.index
                   : kNumber;
      default:
        return kNumber;
    }
  }

  bool join(std::uint32_t reg, std::uint32_t with) {
    std::uint32_t& s = state_[reg];
    if (with == kUnseen || s == with || s == kLost) return false;
    s = s == kUnseen ? with : kLost;
    return true;
  }

  /// Of operands that are added up: at most one may be an address.
  std::uint32_t sum(const Instruction& ins, std::size_t first) const {
    std::uint32_t all = kNumber;
    for (std::size_t k = first; k < ins.operands.size(); ++k) {
      const std::uint32_t s = state_of(ins.operands[k]);
      if (s == kLost || (is_variable(s) && is_variable(all))) return kLost;
      if (s == kUnseen && all == kNumber) all = kUnseen;
      if (is_variable(s)) all = s;
    }
    return all;
  }

  std::uint32_t result(const Instruction& ins) const {
    const auto& o = ins.operands;
    switch (ins.op) {
      case Opcode::mov:
      case Opcode::cvta:
      case Opcode::cvt:
        return o.size() == 2 ? state_of(o[1]) : kLost;
      case Opcode::add:
      case Opcode::or_:  // of bits that an alignment leaves free
        return sum(ins, 1);
      case Opcode::sub:
        return o.size() == 3 && state_of(o[2]) == kNumber ? state_of(o[1]) : anything(ins);
      case Opcode::mad:
        return o.size() == 4 && state_of(o[1]) == kNumber && state_of(o[2]) == kNumber
                   ? state_of(o[3])
                   : anything(ins);
      case Opcode::ld:
      case Opcode::ldu:
      case Opcode::atom:
        return kNumber;  // a stored pointer is no longer followed
      default:
        return anything(ins);
    }
  }
  /// A number, if all that goes in are numbers.
  std::uint32_t anything(const Instruction& ins) const {
    std::uint32_t all = kNumber;
    for_each_register(f_, ins, [&](std::uint32_t reg, bool is_write) {
      if (is_write) return;
      if (state_[reg] == kUnseen) {
        if (all == kNumber) all = kUnseen;
      } else if (state_[reg] != kNumber) {
        all = kLost;
      }
    });
    for (const Operand& o : ins.operands)
      if (o.kind == Operand::Kind::symbol && is_variable(state_of(o))) all = kLost;
    return all;
  }

  bool pass(const Instruction& ins) {
    bool changed = false;
    std::uint32_t to = kUnseen;
    bool known = false;
    for_each_register(f_, ins, [&](std::uint32_t reg, bool is_write) {
      if (!is_write) return;
      if (!known) to = result(ins), known = true;
      changed |= join(reg, to);
    });
    return changed;
  }

  const Module& module_;
  const Function& f_;
  std::vector<std::uint32_t> state_;
};

}  // namespace

std::vector<std::uint32_t> find_shared_origins(const Module& module, const Function& function) {
  const bool several =
      std::count_if(function.variables.begin(), function.variables.end(), [&](std::uint32_t v) {
        return module.variables[v].space == Space::shared;
      }) > 1;
  // Of a single array, the bounds of shared memory are its own.
  return several ? Origins(module, function).find()
                 : std::vector<std::uint32_t>(function.body.size(), kNoOrigin);
}

}  // namespace simgpu::ptx
