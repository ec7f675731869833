#include "common/simgpu/ptx/unrolling.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/simgpu/ptx/control_flow.hpp"
#include "common/simgpu/ptx/opcodes.hpp"

namespace simgpu::ptx {
namespace {

/// Machine instructions of a loop that ptxas still unrolls: it does with 42, not with 49.
constexpr unsigned kLongestLoop = 45;
/// Code that is longer than any author's is left alone.
constexpr std::size_t kLongestBody = 100'000;

/// Whether it becomes one machine instruction, two for sums of 64 bits.
bool is_simple(Opcode op) {
  switch (op) {
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mov:
    case Opcode::mul:
    case Opcode::mad:
    case Opcode::fma:
    case Opcode::min:
    case Opcode::max:
    case Opcode::abs:
    case Opcode::neg:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::not_:
    case Opcode::shl:
    case Opcode::shr:
    case Opcode::cvt:
    case Opcode::setp:
    case Opcode::selp:
    case Opcode::bra:
      return true;
    default:
      return false;
  }
}

/// About how many machine instructions a stretch of code becomes.
class MachineLength {
 public:
  /// False if ptxas unrolls no loop with it.
  bool add(const Instruction& instruction) {
    const Modifiers& mod = instruction.mod;
    const bool plain_access = (instruction.op == Opcode::ld || instruction.op == Opcode::st) &&
                              !mod.is_volatile && mod.ordering == Ordering::none;
    if (!plain_access && !is_simple(instruction.op)) return false;
    const bool is_sum = instruction.op == Opcode::add || instruction.op == Opcode::sub;
    if (is_sum && size_of(mod.type) == 8)
      so_far_ += takes_product(instruction);
    else
      ++so_far_;
    if (instruction.op == Opcode::mul && mod.mul == MulMode::wide &&
        instruction.operands[0].kind == Operand::Kind::reg)
      products_.emplace_back(instruction.operands[0].index, false);
    return true;
  }
  unsigned so_far() const { return so_far_; }

 private:
  /// Of a sum of 64 bits: two instructions. But an address plus an index times 4 is a single one: none more for the first
  /// sum that takes a product, and one for each other.
  unsigned takes_product(const Instruction& sum) {
    for (auto& [reg, taken] : products_)
      for (std::size_t i = 1; i < sum.operands.size(); ++i)
        if (sum.operands[i].kind == Operand::Kind::reg && sum.operands[i].index == reg)
          return std::exchange(taken, true) ? 1 : 0;
    return 2;
  }

  unsigned so_far_ = 0;
  std::vector<std::pair<std::uint32_t, bool>> products_;  ///< register, whether a sum has taken it
};

/// Registers that may differ between the lanes of a warp, by what they are computed from. Compilers' code settles
/// in a few rounds; of text that does not, none is said to differ, and its loops stay as they are.
std::vector<bool> differing(const Function& function) {
  std::vector<bool> differs(function.registers.size(), false);
  const auto begins = [](const Instruction& instruction) {
    switch (instruction.op) {
      case Opcode::shfl:
      case Opcode::atom:
      case Opcode::call:
        return true;
      case Opcode::ld:
        return instruction.mod.space == Space::local ||
               (instruction.mod.space == Space::param &&
                instruction.operands[1].kind == Operand::Kind::param);
      default:
        return false;
    }
  };
  constexpr int kMostRounds = 50;
  int round = 0;
  for (bool changed = true; changed; ++round) {
    if (round == kMostRounds) return std::vector<bool>(differs.size(), false);
    changed = false;
    for (const Instruction& instruction : function.body) {
      bool from = begins(instruction) && !(function.is_entry && instruction.op == Opcode::ld &&
                                           instruction.mod.space == Space::param &&
                                           instruction.operands[1].index < function.params.size());
      for (const Operand& operand : instruction.operands)
        if (operand.kind == Operand::Kind::special) {
          const auto special = static_cast<Special>(operand.index);
          from |= special <= Special::tid_z || special == Special::laneid;
        }
      for_each_register(function, instruction, [&](std::uint32_t reg, bool is_write) {
        if (!is_write) from |= differs[reg];
      });
      if (!from) continue;
      for_each_register(function, instruction, [&](std::uint32_t reg, bool is_write) {
        if (!is_write || differs[reg]) return;
        differs[reg] = true;
        changed = true;
      });
    }
  }
  return differs;
}

/// A block that ends with a branch to its own begin, taken for one more turn. Or with one out of the loop, and one back to
/// the begin behind it: clang writes either for the same loop, nvcc's front end only the first.
struct Loop {
  std::uint32_t begin = 0, end = 0;  ///< instructions [begin, end), with the branches
  std::uint32_t branch = 0;          ///< the one that depends on the condition
  std::uint32_t exit = 0;            ///< where it goes on behind the loop
  std::uint32_t counter = 0, condition = 0;
  bool until = false;  ///< there is a turn if the condition does not hold
  std::int64_t step = 0;
  Operand bound;  ///< register or number
  Type type = Type::none;
  bool or_equal = false;  ///< there is a turn also if the counter is the bound
};

class Unroller {
 public:
  explicit Unroller(Function& function) : function_(function) {}

  void run() {
    if (function_.body.size() > kLongestBody) return;
    std::vector<Loop> loops;
    const ControlFlow flow = build_control_flow(function_);
    for (const BasicBlock& block : flow.blocks)
      if (const std::optional<Loop> loop = find(block)) loops.push_back(*loop);
    if (loops.empty()) return;
    const std::vector<bool> differs = differing(function_);
    std::erase_if(loops, [&](const Loop& loop) {
      return !differs[loop.counter] &&
             (loop.bound.kind != Operand::Kind::reg || !differs[loop.bound.index]);
    });
    if (!loops.empty()) write(loops);
  }

 private:
  std::optional<Loop> find(const BasicBlock& block) const {
    const std::vector<Instruction>& body = function_.body;
    const Instruction& last = body[block.end - 1];
    if (last.op != Opcode::bra || last.guard == UINT32_MAX) return {};
    Loop loop;
    loop.begin = block.begin;
    loop.branch = block.end - 1;
    loop.condition = last.guard;
    if (last.operands[0].index == block.begin) {
      loop.end = loop.exit = block.end;
      loop.until = last.guard_negated;
    } else if (goes_back(block)) {
      loop.end = block.end + 1;
      loop.exit = last.operands[0].index;
      loop.until = !last.guard_negated;
    } else {
      return {};
    }
    MachineLength length;
    const Instruction* compared = nullptr;
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      if (!length.add(body[i]) || body[i].stays_rolled || length.so_far() > kLongestLoop) return {};
      bool reads = false, writes = false;
      for_each_register(function_, body[i], [&](std::uint32_t reg, bool is_write) {
        (is_write ? writes : reads) |= reg == loop.condition;
      });
      if ((reads && &body[i] != &last) || (writes && std::exchange(compared, &body[i]) != nullptr))
        return {};
    }
    return compared != nullptr && counts(*compared, &loop) ? std::optional<Loop>(loop)
                                                           : std::nullopt;
  }

  /// Whether nothing stands behind `block` but a branch to its begin.
  bool goes_back(const BasicBlock& block) const {
    if (block.end >= function_.body.size()) return false;
    const Instruction& back = function_.body[block.end];
    return back.op == Opcode::bra && back.guard == UINT32_MAX &&
           back.operands[0].index == block.begin;
  }

  /// The instructions of the loop that write `reg`: how many, and the last.
  struct Writers {
    unsigned count = 0;
    const Instruction* last = nullptr;
  };
  Writers writers(const Loop& loop, std::uint32_t reg) const {
    Writers found;
    for (std::uint32_t i = loop.begin; i < loop.end; ++i)
      for_each_register(function_, function_.body[i], [&](std::uint32_t other, bool is_write) {
        if (is_write && other == reg) found = {found.count + 1, &function_.body[i]};
      });
    return found;
  }

  /// Whether the comparison says that a counter has not reached its bound.
  bool counts(const Instruction& compare, Loop* loop) const {
    if (compare.op != Opcode::setp || compare.guard != UINT32_MAX || compare.operands.size() != 3 ||
        compare.operands[0].index2 != UINT32_MAX)
      return false;
    const Compare holds = loop->until ? opposite(compare.mod.compare) : compare.mod.compare;
    return counts_to(compare, compare.operands[1], compare.operands[2], holds, loop) ||
           counts_to(compare, compare.operands[2], compare.operands[1], mirrored(holds), loop);
  }
  bool counts_to(const Instruction& compare, const Operand& counter, const Operand& bound,
                 Compare holds, Loop* loop) const {
    if (counter.kind != Operand::Kind::reg) return false;
    if (bound.kind != Operand::Kind::imm &&
        (bound.kind != Operand::Kind::reg || writers(*loop, bound.index).count != 0))
      return false;
    const auto [steps, step] = writers(*loop, counter.index);
    if (steps != 1 || step > &compare || step->op != Opcode::add || step->guard != UINT32_MAX ||
        step->operands[1].kind != Operand::Kind::reg || step->operands[1].index != counter.index ||
        step->operands[2].kind != Operand::Kind::imm || size_of(step->mod.type) != 4)
      return false;
    loop->counter = counter.index;
    loop->bound = bound;
    loop->step = step->operands[2].bits;
    loop->type = compare.mod.type == Type::u32 ? Type::u32 : Type::s32;
    if (loop->step == 0 || loop->step < -INT32_MAX || loop->step > INT32_MAX ||
        size_of(compare.mod.type) != 4)
      return false;
    return goes_towards_bound(holds, loop);
  }
  /// What holds for b and a if `compare` does for a and b.
  static Compare mirrored(Compare compare) {
    switch (compare) {
      case Compare::lt:
        return Compare::gt;
      case Compare::le:
        return Compare::ge;
      case Compare::gt:
        return Compare::lt;
      case Compare::ge:
        return Compare::le;
      default:
        return compare;
    }
  }
  /// What holds where `compare` does not.
  static Compare opposite(Compare compare) {
    switch (compare) {
      case Compare::lt:
        return Compare::ge;
      case Compare::le:
        return Compare::gt;
      case Compare::gt:
        return Compare::le;
      case Compare::ge:
        return Compare::lt;
      case Compare::eq:
        return Compare::ne;
      default:
        return Compare::eq;
    }
  }
  /// The same by the comparison alone: it must hold as long as turns are left. Notes whether the bound is
  /// a turn's as well.
  static bool goes_towards_bound(Compare compare, Loop* loop) {
    const bool up = loop->step > 0;
    switch (compare) {
      case Compare::lt:
      case Compare::gt:
        return up == (compare == Compare::lt);
      case Compare::le:
      case Compare::ge:
        loop->or_equal = true;
        return up == (compare == Compare::le);
      case Compare::ne:  // as long as it has not come to the bound, it is on its way there
        return true;
      default:
        return false;
    }
  }

  std::uint32_t add_register(Type type) {
    function_.registers.push_back({"%unrolled" + std::to_string(function_.registers.size()), type});
    return static_cast<std::uint32_t>(function_.registers.size() - 1);
  }
  static Operand reg(std::uint32_t index) {
    Operand operand;
    operand.kind = Operand::Kind::reg;
    operand.index = index;
    return operand;
  }
  static Operand number(std::int64_t value) {
    Operand operand;
    operand.kind = Operand::Kind::imm;
    operand.bits = value;
    return operand;
  }

  /// An instruction of the loop's line.
  Instruction& emit(const Loop& loop, Opcode op, Type type, std::string_view text,
                    std::vector<Operand> operands) {
    const Instruction& branch = function_.body[loop.branch];
    Instruction& instruction = code_.emplace_back();
    instruction.op = op;
    instruction.mod.type = type;
    instruction.mod.text = text;
    instruction.operands = std::move(operands);
    instruction.where = branch.where;
    instruction.ptx_line = branch.ptx_line;
    return instruction;
  }
  /// Of a branch in new places, whose target is filled in later.
  std::size_t emit_branch(const Loop& loop, std::uint32_t condition, bool negated) {
    Operand label;
    label.kind = Operand::Kind::label;
    Instruction& branch = emit(loop, Opcode::bra, Type::none, "bra", {label});
    branch.guard = condition;
    branch.guard_negated = negated;
    fixed_.push_back(code_.size() - 1);
    return code_.size() - 1;
  }
  void lead(std::size_t branch, std::size_t to) {
    code_[branch].operands[0].index = static_cast<std::uint32_t>(to);
  }

  /// Sets `enough`: at least `turns` turns are left, in 64 bits, where nothing wraps.
  void compare(const Loop& loop, unsigned turns, std::uint32_t enough, std::uint32_t counter,
               std::uint32_t bound) {
    emit(loop, Opcode::cvt, Type::s64, "cvt.s64.s32", {reg(counter), reg(loop.counter)}).mod.type2 =
        loop.type;
    Operand to =
        number(loop.type == Type::u32 ? std::int64_t{static_cast<std::uint32_t>(loop.bound.bits)}
                                      : std::int64_t{static_cast<std::int32_t>(loop.bound.bits)});
    if (loop.bound.kind == Operand::Kind::reg) {
      emit(loop, Opcode::cvt, Type::s64, "cvt.s64.s32", {reg(bound), loop.bound}).mod.type2 =
          loop.type;
      to = reg(bound);
    }
    emit(loop, Opcode::add, Type::s64, "add.s64",
         {reg(counter), reg(counter), number(loop.step * (static_cast<int>(turns) - 1))});
    Instruction& test =
        emit(loop, Opcode::setp, Type::s64, "setp.s64", {reg(enough), reg(counter), to});
    test.mod.compare = loop.step > 0 ? (loop.or_equal ? Compare::le : Compare::lt)
                                     : (loop.or_equal ? Compare::ge : Compare::gt);
  }

  void copy_turns(const Loop& loop, unsigned turns) {
    for (unsigned turn = 0; turn < turns; ++turn)
      code_.insert(code_.end(), function_.body.begin() + loop.begin,
                   function_.body.begin() + loop.branch);
  }

  /// The copies in front of a loop: four turns in a loop, two, and past the loop if none is left.
  void write(const Loop& loop) {
    const std::uint32_t enough = add_register(Type::pred), counter = add_register(Type::s64),
                        bound = add_register(Type::s64);
    // The first turn is taken in any case.
    Instruction& first = emit(loop, Opcode::setp, Type::s32, "setp.eq.s32",
                              {reg(loop.condition), number(0), number(0)});
    first.mod.compare = loop.until ? Compare::ne : Compare::eq;
    compare(loop, 4, enough, counter, bound);
    const std::size_t past_four = emit_branch(loop, enough, true);
    const std::size_t four = code_.size();
    copy_turns(loop, 4);
    compare(loop, 4, enough, counter, bound);
    lead(emit_branch(loop, enough, false), four);
    lead(past_four, code_.size());
    compare(loop, 2, enough, counter, bound);
    const std::size_t past_two = emit_branch(loop, enough, true);
    copy_turns(loop, 2);
    lead(past_two, code_.size());
    const std::size_t past_all = emit_branch(loop, loop.condition, !loop.until);
    const std::size_t rest = code_.size();
    copy_turns(loop, 1);
    lead(emit_branch(loop, loop.condition, loop.until), rest);
    lead(past_all, code_.size());
    if (loop.exit == loop.end) return;
    Operand out;
    out.kind = Operand::Kind::label;
    out.index = loop.exit;
    emit(loop, Opcode::bra, Type::none, "bra", {out});
  }

  void write(const std::vector<Loop>& loops) {
    std::vector<std::uint32_t> moved(function_.body.size() + 1);
    std::uint32_t at = 0;
    for (const Loop& loop : loops) {
      for (; at < loop.begin; ++at) keep(at, &moved);
      moved[at] = static_cast<std::uint32_t>(code_.size());
      write(loop);
      at = loop.end;
    }
    for (; at < function_.body.size(); ++at) keep(at, &moved);
    std::vector<bool> is_fixed(code_.size(), false);
    for (const std::size_t branch : fixed_) is_fixed[branch] = true;
    for (std::size_t i = 0; i < code_.size(); ++i)
      if (code_[i].op == Opcode::bra && !is_fixed[i])
        code_[i].operands[0].index = moved[code_[i].operands[0].index];
    for (Operand& operand : function_.vector_operands)
      if (operand.kind == Operand::Kind::label) operand.index = moved[operand.index];
    function_.body = std::move(code_);
  }
  void keep(std::uint32_t at, std::vector<std::uint32_t>* moved) {
    (*moved)[at] = static_cast<std::uint32_t>(code_.size());
    code_.push_back(function_.body[at]);
  }

  Function& function_;
  std::vector<Instruction> code_;
  std::vector<std::size_t> fixed_;  ///< branches whose targets are already those of code_
};

}  // namespace

void unroll_loops(Function& function) {
  if (!function.is_declaration && function.unsupported.empty()) Unroller(function).run();
}

}  // namespace simgpu::ptx
