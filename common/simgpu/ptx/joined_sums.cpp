#include "common/simgpu/ptx/joined_sums.hpp"

#include <array>
#include <bit>
#include <map>
#include <optional>

#include "common/simgpu/ptx/opcodes.hpp"

namespace simgpu::ptx {
namespace {

constexpr std::uint32_t kNoRegister = UINT32_MAX;
using Kind = Operand::Kind;

/// What a register holds: an expression, by its number, plus a constant. `bits`: those that may be set in
/// the expression without the constant.
struct NumberedValue {
  std::uint64_t number = 0;
  std::int64_t constant = 0;
  std::uint64_t bits = UINT64_MAX;
};

/// An expression: what is done, and to what (numbers, or an immediate value).
using ExpressionKey = std::array<std::uint64_t, 4>;
enum ExpressionKind : std::uint64_t {
  leaf_register,
  leaf_special,
  leaf_symbol,
  leaf_number,
  masked,
  computed
};

bool is_float_type(Type type) {
  return type >= Type::f16;
}
bool wraps_at_32(Type type) {
  return size_of(type) == 4;
}

class Numbering {
 public:
  Numbering(const Function& function, const std::vector<std::uint32_t>& definition)
      : function_(function), values_(function.registers.size()) {
    known_.assign(function.registers.size(), false);
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
      const Instruction& instruction = function.body[i];
      if (!has_destination(instruction.op) || instruction.operands.empty()) continue;
      const Operand& to = instruction.operands[0];
      if (to.kind != Kind::reg || to.index2 != kNoRegister || definition[to.index] != i) continue;
      values_[to.index] = of(instruction, to.index);
      known_[to.index] = true;
    }
  }

  std::vector<Shifted> result() {
    // The register without a constant stands for all that have one.
    std::map<std::uint64_t, std::uint32_t> plain;
    for (std::uint32_t reg = 0; reg < values_.size(); ++reg)
      if (known_[reg] && values_[reg].constant == 0) plain.emplace(values_[reg].number, reg);
    std::vector<Shifted> shifted(values_.size());
    for (std::uint32_t reg = 0; reg < values_.size(); ++reg) {
      shifted[reg] = {reg, 0};
      if (!known_[reg] || values_[reg].constant == 0) continue;
      if (const auto it = plain.find(values_[reg].number); it != plain.end())
        shifted[reg] = {it->second, values_[reg].constant};
    }
    return shifted;
  }

 private:
  std::uint64_t number(const ExpressionKey& key) {
    return numbers_.emplace(key, numbers_.size()).first->second;
  }
  NumberedValue opaque(std::uint32_t reg) {
    return {number({leaf_register, reg, 0, 0}), 0, UINT64_MAX};
  }

  NumberedValue of(const Operand& operand) {
    switch (operand.kind) {
      case Kind::reg:
        return known_[operand.index] ? values_[operand.index] : opaque(operand.index);
      case Kind::symbol:
        return {number({leaf_symbol, operand.index, static_cast<std::uint64_t>(operand.bits), 0})};
      case Kind::special:
        return {number({leaf_special, operand.index, 0, 0}), 0, bits_of_special(operand.index)};
      default:  // immediate
        return {number({leaf_number, static_cast<std::uint64_t>(operand.bits), 0, 0})};
    }
  }

  /// PTX ISA 10: a thread's place in its block and warp. clang knows this, and what .maxntid says.
  std::uint64_t bits_of_special(std::uint32_t index) const {
    const auto below = [&](unsigned axis, std::uint32_t most) {
      const std::uint32_t* known =
          function_.req_ntid[0] != 0 ? function_.req_ntid : function_.max_ntid;
      if (known[0] != 0 && known[axis] != 0 && known[axis] < most) most = known[axis];
      return std::bit_ceil(std::uint64_t{most}) - 1;
    };
    switch (static_cast<Special>(index)) {
      case Special::tid_x:
        return below(0, 1024);
      case Special::tid_y:
        return below(1, 1024);
      case Special::tid_z:
        return below(2, 64);
      case Special::laneid:
        return 31;
      default:
        return UINT64_MAX;
    }
  }

  NumberedValue mask(const NumberedValue& value, std::uint64_t bits) {
    bits &= value.bits;
    if (bits == value.bits) return {value.number, 0, bits};
    const auto it = masked_.find(value.number);
    const std::uint64_t whole = it == masked_.end() ? value.number : it->second;
    const std::uint64_t result = number({masked, whole, bits, 0});
    masked_.emplace(result, whole);
    return {result, 0, bits};
  }

  /// Whether the result depends on nothing but the operands, the types and MulMode.
  static bool is_plain(Opcode op) {
    switch (op) {
      case Opcode::mov:
      case Opcode::cvt:
      case Opcode::add:
      case Opcode::sub:
      case Opcode::mul:
      case Opcode::shl:
      case Opcode::shr:
      case Opcode::and_:
      case Opcode::or_:
      case Opcode::xor_:
        return true;
      default:
        return false;
    }
  }

  NumberedValue of(const Instruction& instruction, std::uint32_t to) {
    if (!is_plain(instruction.op) || is_float_type(instruction.mod.type) ||
        is_float_type(instruction.mod.type2))
      return opaque(to);
    for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
      const Kind kind = instruction.operands[i].kind;
      if ((kind != Kind::reg && kind != Kind::symbol && kind != Kind::special &&
           kind != Kind::imm) ||
          instruction.operands[i].is_memory)
        return opaque(to);
    }
    const std::size_t inputs = instruction.operands.size() - 1;
    if (inputs == 1) return of_one(instruction, to);
    if (inputs == 2) return of_two(instruction, to);
    return opaque(to);
  }

  NumberedValue of_one(const Instruction& instruction, std::uint32_t to) {
    const NumberedValue x = of(instruction.operands[1]);
    if (instruction.op == Opcode::mov) return x;
    const Modifiers& mod = instruction.mod;
    const bool widens = instruction.op == Opcode::cvt && size_of(mod.type) == 8 &&
                        (mod.type2 == Type::u32 || (mod.type2 == Type::s32 && x.bits >> 31 == 0));
    if (!widens && x.constant != 0) return opaque(to);
    return {number({computed, code(instruction), x.number, 0}), x.constant,
            widens ? x.bits & UINT32_MAX : UINT64_MAX};
  }

  NumberedValue of_two(const Instruction& instruction, std::uint32_t to) {
    const NumberedValue x = of(instruction.operands[1]), y = of(instruction.operands[2]);
    const Operand& second = instruction.operands[2];
    const bool by_number = second.kind == Kind::imm;
    const auto by = static_cast<std::uint64_t>(second.bits);
    const std::uint64_t result = number({computed, code(instruction), x.number, y.number});
    const std::uint64_t word = wraps_at_32(instruction.mod.type) ? UINT32_MAX : UINT64_MAX;
    switch (instruction.op) {
      case Opcode::and_:
      case Opcode::or_:
        if (by_number && x.constant == 0)
          if (const auto masked =
                  of_mask(instruction.op, {x.number, 0, x.bits & word}, second.bits))
            return *masked;
        break;
      case Opcode::add:
        // A constant that is added as such is not seen through here: ptxas does not, either.
        if ((!by_number || x.constant != 0) && is_small(x.constant) && is_small(y.constant))
          return {result, x.constant + y.constant};
        break;
      case Opcode::shl:
        if (by_number && by < 32 && is_small(x.constant))
          return {result, x.constant << by, (x.bits & word) << by & word};
        break;
      case Opcode::mul:
        if (by_number && instruction.mod.mul != MulMode::hi && is_small(x.constant) &&
            is_small(second.bits))
          return {result, x.constant * second.bits};
        break;
      default:
        break;
    }
    return x.constant == 0 && y.constant == 0 ? NumberedValue{result} : opaque(to);
  }

  /// x & by; and x | by, which sets bits that a mask leaves empty to a number.
  std::optional<NumberedValue> of_mask(Opcode op, const NumberedValue& x, std::int64_t by) {
    const auto bits = static_cast<std::uint64_t>(by);
    if (op == Opcode::and_) return mask(x, bits);
    if (by < 0 || !is_small(by)) return std::nullopt;
    NumberedValue rest = mask(x, ~bits);
    rest.constant = by;
    return rest;
  }

  /// Sums and products stay far from overflow, whatever the text says.
  static bool is_small(std::int64_t constant) {
    constexpr std::int64_t kMost = 1 << 24;
    return -kMost <= constant && constant <= kMost;
  }

  static std::uint64_t code(const Instruction& instruction) {
    const Modifiers& mod = instruction.mod;
    return static_cast<std::uint64_t>(instruction.op) | static_cast<std::uint64_t>(mod.type) << 16 |
           static_cast<std::uint64_t>(mod.type2) << 24 | static_cast<std::uint64_t>(mod.mul) << 32;
  }

  const Function& function_;
  std::vector<NumberedValue> values_;
  std::vector<bool> known_;
  std::map<ExpressionKey, std::uint64_t> numbers_;
  std::map<std::uint64_t, std::uint64_t> masked_;  ///< a masked expression: the whole of it
};

}  // namespace

std::vector<Shifted> undo_joined_sums(const Function& function,
                                      const std::vector<std::uint32_t>& definition) {
  return Numbering(function, definition).result();
}

}  // namespace simgpu::ptx
