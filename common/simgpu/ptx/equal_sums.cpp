#include "common/simgpu/ptx/equal_sums.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <map>

#include "common/simgpu/ptx/control_flow.hpp"
#include "common/simgpu/ptx/opcodes.hpp"

namespace simgpu::ptx {
namespace {

constexpr std::uint32_t kNothing = UINT32_MAX;

/// What is added or taken off: a register or a symbol. Of a register with several definitions, what it holds behind its
/// `version`th in `block`.
struct Term {
  std::uint32_t index = kNothing;
  bool is_symbol = false, is_negative = false;
  std::uint32_t block = kNothing, version = 0;
  auto operator<=>(const Term&) const = default;
};

constexpr std::size_t kMostTerms = 6;
/// Terms in order, the unused ones last.
using Terms = std::array<Term, kMostTerms>;

struct Sum {
  Terms terms;
  std::size_t count = 0;
  std::uint64_t constant = 0;

  /// False if it has too many terms.
  bool add(Term term) {
    Term opposite = term;
    opposite.is_negative = !term.is_negative;
    const auto end = terms.begin() + static_cast<std::ptrdiff_t>(count);
    if (const auto it = std::find(terms.begin(), end, opposite); it != end) {
      std::move(it + 1, end, it);
      terms[--count] = {};
      return true;
    }
    if (count == kMostTerms) return false;
    terms[count++] = term;
    std::sort(terms.begin(), terms.begin() + static_cast<std::ptrdiff_t>(count));
    return true;
  }
};

class Sums {
 public:
  Sums(const Function& function, const std::vector<std::uint32_t>& definition,
       const std::vector<Shifted>& joined)
      : function_(function),
        definition_(definition),
        joined_(joined),
        version_(function.registers.size(), 0),
        written_in_(function.registers.size(), kNothing),
        sum_of_(function.registers.size(), kNothing) {}

  std::vector<Shifted> result() {
    std::vector<Shifted> equal(function_.registers.size());
    for (std::uint32_t reg = 0; reg < equal.size(); ++reg) equal[reg] = {reg, 0};
    const ControlFlow flow = build_control_flow(function_);
    for (block_ = 0; block_ < flow.blocks.size(); ++block_)
      for (std::uint32_t i = flow.blocks[block_].begin; i < flow.blocks[block_].end; ++i) visit(i);
    std::map<Terms, std::uint32_t> first;
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      open_up(k, 0);
      const Sum& sum = sums_[k].sum;
      if (!sums_[k].is_known || sum.count < 2) continue;
      const std::uint32_t other =
          first.emplace(sum.terms, static_cast<std::uint32_t>(k)).first->second;
      equal[sums_[k].reg] = {sums_[other].reg,
                             static_cast<std::int64_t>(sum.constant - sums_[other].sum.constant)};
    }
    return equal;
  }

 private:
  /// The sum that a register holds: at first of what the instruction names, then of what that is the sum of.
  struct Held {
    std::uint32_t reg;
    Sum sum;
    bool is_opened = false, is_known = true;
  };

  void visit(std::uint32_t i) {
    const Instruction& instruction = function_.body[i];
    const bool is_sum = instruction.op == Opcode::add || instruction.op == Opcode::sub ||
                        instruction.op == Opcode::mov;
    if (is_sum && size_of(instruction.mod.type) == 8 && instruction.mod.type != Type::f64 &&
        instruction.operands[0].kind == Operand::Kind::reg &&
        definition_[instruction.operands[0].index] == i) {
      Held held{instruction.operands[0].index, {}};
      for (std::size_t k = 1; k < instruction.operands.size(); ++k)
        if (!add(instruction.operands[k], instruction.op == Opcode::sub && k == 2, &held.sum))
          return;
      sum_of_[held.reg] = static_cast<std::uint32_t>(sums_.size());
      sums_.push_back(held);
    }
    for_each_register(function_, instruction, [&](std::uint32_t reg, bool is_write) {
      if (!is_write || definition_[reg] != kNothing) return;
      if (written_in_[reg] != block_) version_[reg] = 0;
      written_in_[reg] = block_;
      ++version_[reg];
    });
  }

  bool add(const Operand& operand, bool is_negative, Sum* sum) const {
    const auto constant = static_cast<std::uint64_t>(operand.bits);
    const std::uint32_t reg = operand.index;
    switch (operand.kind) {
      case Operand::Kind::imm:
        sum->constant += is_negative ? 0 - constant : constant;
        return true;
      case Operand::Kind::symbol:
        sum->constant += is_negative ? 0 - constant : constant;
        return sum->add({reg, true, is_negative, kNothing, 0});
      case Operand::Kind::reg:
        return definition_[reg] == kNothing
                   ? sum->add({reg, false, is_negative, block_,
                               written_in_[reg] == block_ ? version_[reg] : 0})
                   : sum->add({reg, false, is_negative, kNothing, 0});
      default:
        return false;
    }
  }

  /// Hostile text could lead in circles, or deep down.
  void open_up(std::size_t k, int depth) {
    constexpr int kDeepest = 32;
    if (sums_[k].is_opened || depth == kDeepest) return;
    sums_[k].is_opened = true;
    const Sum before = sums_[k].sum;
    Sum after;
    after.constant = before.constant;
    for (std::size_t t = 0; t < before.count; ++t)
      if (!add_opened(before.terms[t], depth, &after)) {
        sums_[k].is_known = false;
        return;
      }
    sums_[k].sum = after;
  }
  bool add_opened(Term term, int depth, Sum* sum) {
    if (term.is_symbol || term.block != kNothing) return sum->add(term);
    const auto constant = static_cast<std::uint64_t>(joined_[term.index].offset);
    sum->constant += term.is_negative ? 0 - constant : constant;
    term.index = joined_[term.index].reg;
    const std::uint32_t held = sum_of_[term.index];
    if (held == kNothing) return sum->add(term);
    open_up(held, depth + 1);
    if (!sums_[held].is_known) return sum->add(term);
    const Sum& part = sums_[held].sum;
    sum->constant += term.is_negative ? 0 - part.constant : part.constant;
    for (std::size_t t = 0; t < part.count; ++t) {
      Term one = part.terms[t];
      one.is_negative ^= term.is_negative;
      if (!sum->add(one)) return false;
    }
    return true;
  }

  const Function& function_;
  const std::vector<std::uint32_t>& definition_;
  const std::vector<Shifted>& joined_;
  std::uint32_t block_ = 0;
  std::vector<std::uint32_t> version_, written_in_;  ///< of registers with several definitions
  std::vector<std::uint32_t> sum_of_;  ///< by register: its place in sums_, or kNothing
  std::vector<Held> sums_;
};

}  // namespace

std::vector<Shifted> find_equal_sums(const Function& function,
                                     const std::vector<std::uint32_t>& definition,
                                     const std::vector<Shifted>& joined) {
  return Sums(function, definition, joined).result();
}

}  // namespace simgpu::ptx
