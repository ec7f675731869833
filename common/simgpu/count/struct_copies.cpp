#include "common/simgpu/count/struct_copies.hpp"

#include <map>
#include <tuple>

#include "common/simgpu/ptx/control_flow.hpp"

namespace simgpu::count {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Space;
using Kind = ptx::Operand::Kind;

/// The operand of a load or store that is its address.
const ptx::Operand& address_of(const Instruction& instruction) {
  return instruction.operands[instruction.op == Opcode::ld ? 1 : 0];
}

bool may_be_part(const Instruction& instruction) {
  const ptx::Modifiers& mod = instruction.mod;
  return (instruction.op == Opcode::ld || instruction.op == Opcode::st) &&
         mod.space == Space::global && mod.vec == 4 && size_of(mod.type) <= 2 &&
         instruction.guard == UINT32_MAX && !mod.is_volatile && !mod.release_acquire &&
         instruction.operands.size() >= 2 && address_of(instruction).kind == Kind::address;
}

/// What reaches memory, or orders what does; `but`: the kind of access that does not count.
bool ends_piece(const Instruction& instruction, Opcode but) {
  switch (instruction.op) {
    case Opcode::ld:
    case Opcode::st:
      return instruction.op != but && instruction.mod.space != Space::param &&
             instruction.mod.space != Space::shared && instruction.mod.space != Space::local;
    case Opcode::atom:
    case Opcode::red:
      return true;
    default:
      return ptx::orders_memory(instruction.op);
  }
}

class Finder {
 public:
  explicit Finder(const ptx::Function& function)
      : function_(function),
        parts_(function.body.size()),
        is_base_(function.registers.size(), false) {}

  std::vector<PartOfCopy> run() {
    for (const ptx::BasicBlock& block : ptx::build_control_flow(function_).blocks) {
      for (std::uint32_t i = block.begin; i < block.end; ++i) visit(i);
      flush_all();
    }
    return std::move(parts_);
  }

 private:
  /// Accesses of one kind and element size, at one register, to the same 16 bytes if that is aligned.
  struct Key {
    std::uint32_t base;
    unsigned element;
    bool non_coherent;
    std::int64_t window;
    auto operator<=>(const Key&) const = default;
  };
  using Window = std::map<std::int64_t, std::uint32_t>;  // instructions by their place

  void visit(std::uint32_t i) {
    const Instruction& instruction = function_.body[i];
    for (const Opcode op : {Opcode::ld, Opcode::st})
      if (ends_piece(instruction, op)) flush(op);
    if (may_be_part(instruction)) {
      const ptx::Operand& at = address_of(instruction);
      const std::int64_t place = at.bits & 15;
      const Key key = {at.index, size_of(instruction.mod.type), instruction.mod.non_coherent,
                       at.bits - place};
      pending_[instruction.op == Opcode::st][key].emplace(place, i);
      if (!is_base_[at.index]) bases_.push_back(at.index);
      is_base_[at.index] = true;
    }
    ptx::for_each_register(function_, instruction, [&](std::uint32_t reg, bool is_write) {
      if (is_write && is_base_[reg]) flush_all();
    });
  }

  void flush_all() {
    flush(Opcode::ld);
    flush(Opcode::st);
    for (const std::uint32_t reg : bases_) is_base_[reg] = false;
    bases_.clear();
  }

  void flush(Opcode op) {
    auto& pending = pending_[op == Opcode::st];
    for (const auto& [key, window] : pending)
      if (!join(window, 4 * key.element, 0, 16) && key.element == 1)
        for (const std::int64_t half : {0, 8}) join(window, 4, half, 8);
    pending.clear();
  }

  /// Makes one of the parts from `first` on if they fill `whole` bytes.
  bool join(const Window& window, unsigned bytes, std::int64_t first, unsigned whole) {
    for (unsigned place = 0; place < whole; place += bytes)
      if (!window.contains(first + place)) return false;
    for (unsigned place = 0; place < whole; place += bytes)
      parts_[window.at(first + place)] = {static_cast<std::uint8_t>(whole),
                                          static_cast<std::uint8_t>(place)};
    return true;
  }

  const ptx::Function& function_;
  std::vector<PartOfCopy> parts_;
  std::map<Key, Window> pending_[2];  ///< loads, stores
  std::vector<std::uint32_t> bases_;  ///< of those, since the last flush_all
  std::vector<bool> is_base_;         ///< by register
};

}  // namespace

std::vector<PartOfCopy> find_struct_copies(const ptx::Function& function) {
  return Finder(function).run();
}

}  // namespace simgpu::count
