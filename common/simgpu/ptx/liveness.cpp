#include "common/simgpu/ptx/liveness.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "common/simgpu/ptx/control_flow.hpp"

namespace simgpu::ptx {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
// Correction from live registers to ptxas's count, fitted to the kernels of
// tests/ptx/register_kernels.cu as clang 14 and 22 write them and ptxas 13.0 allocates them for
// sm_80 (register_calibration.csv, made by tests/tools/calibrate_registers.py):
//   - ptxas issues the loads of a block early and keeps about this many of their results waiting;
constexpr unsigned kLoadsInFlight = 12;
//   - and uses a few registers of its own for addresses, carries and the stack pointer.
constexpr unsigned kOverhead = 4;

/// Words of bit sets all passes of the dataflow may touch together: about a second of work.
constexpr std::uint64_t kWorkBudget = 400'000'000;
constexpr std::uint64_t kMostSetWords = 4'000'000;  // 32 MB a set, four sets

using Kind = Operand::Kind;

/// What a register becomes once ptxas has folded copies, constants and address arithmetic.
struct Values {
  std::vector<std::uint32_t>
      alias;  ///< by register: the register that really holds the value; kNone = free
  std::vector<std::uint8_t> width;  ///< 32-bit registers a representative needs; 0 for predicates
};

struct Definitions {
  std::vector<std::uint32_t>
      instruction;  ///< the only definition of a register, kNone if none or several
  std::vector<std::uint32_t> count;
};

Definitions find_definitions(const Function& function) {
  Definitions d;
  d.instruction.assign(function.registers.size(), kNone);
  d.count.assign(function.registers.size(), 0);
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    for_each_register(function, function.body[i], [&](std::uint32_t reg, bool is_write) {
      if (!is_write) return;
      d.instruction[reg] = ++d.count[reg] == 1 && function.body[i].guard == kNone ? i : kNone;
    });
  }
  return d;
}

bool is_plain_register(const Operand& operand) {
  return operand.kind == Kind::reg && !operand.negated;
}

bool is_constant_operand(const Operand& operand) {
  return operand.kind == Kind::imm || operand.kind == Kind::symbol || operand.kind == Kind::param ||
         operand.kind == Kind::function;
}

/// Registers whose every use is as the address of a memory access.
std::vector<bool> address_only(const Function& function) {
  std::vector<bool> only(function.registers.size(), true);
  for (const Instruction& instruction : function.body) {
    const bool writes = has_destination(instruction.op);
    const auto mark = [&](const Operand& operand) {
      if (operand.kind == Kind::reg) only[operand.index] = false;
    };
    for (std::size_t i = writes ? 1 : 0; i < instruction.operands.size(); ++i) {
      const Operand& operand = instruction.operands[i];
      mark(operand);
      if (operand.kind == Kind::vector)
        for (std::uint32_t e = 0; e < operand.count; ++e)
          mark(function.vector_operands[operand.index + e]);
    }
  }
  return only;
}

/// The low half of the result needs only the low halves of the sources.
bool is_low_user(const Instruction& instruction) {
  constexpr Opcode kLow[] = {Opcode::add,  Opcode::sub, Opcode::mov, Opcode::shl,
                             Opcode::and_, Opcode::or_, Opcode::xor_};
  if (instruction.op == Opcode::mul) return instruction.mod.mul == MulMode::lo;
  return std::find(std::begin(kLow), std::end(kLow), instruction.op) != std::end(kLow);
}
/// cvt of 64 bits to fewer.
bool truncates(const Instruction& instruction) {
  return instruction.op == Opcode::cvt && size_of(instruction.mod.type) <= 4 &&
         (instruction.mod.type2 == Type::u64 || instruction.mod.type2 == Type::s64);
}

/// 64-bit registers of which only the low half is ever needed: addresses of shared memory, which
/// clang computes in 64 bits and ptxas in 32.
std::vector<bool> low_half_only(const Function& function) {
  std::vector<bool> low(function.registers.size(), true);
  // Optimistic start, then wideness flows from users to what they use until nothing changes. Each
  // register changes once; users are found through lists.
  std::vector<std::vector<std::uint32_t>> sources_of(function.registers.size());
  std::vector<std::uint32_t> work;
  const auto widen = [&](std::uint32_t reg) {
    if (low[reg] && size_of(function.registers[reg].type) == 8) {
      low[reg] = false;
      work.push_back(reg);
    }
  };
  for (const Instruction& instruction : function.body) {
    const bool writes = has_destination(instruction.op);
    const bool passes =
        writes && is_low_user(instruction) && instruction.operands[0].kind == Kind::reg;
    const bool is_shared = instruction.mod.space == Space::shared;
    for (std::size_t i = writes ? 1 : 0; i < instruction.operands.size(); ++i) {
      const Operand& operand = instruction.operands[i];
      if (operand.kind == Kind::vector) {
        for (std::uint32_t e = 0; e < operand.count; ++e) {
          const Operand& element = function.vector_operands[operand.index + e];
          if (element.kind == Kind::reg) widen(element.index);
        }
      } else if (operand.kind == Kind::address) {
        // cp.async has a shared destination and a global source
        if (!is_shared || (instruction.op == Opcode::cp_async && i == 1)) widen(operand.index);
      } else if (operand.kind == Kind::reg && !truncates(instruction)) {
        if (passes)
          sources_of[instruction.operands[0].index].push_back(operand.index);
        else
          widen(operand.index);
      }
    }
  }
  while (!work.empty()) {
    const std::uint32_t reg = work.back();
    work.pop_back();
    for (const std::uint32_t source : sources_of[reg]) widen(source);
    sources_of[reg].clear();
  }
  return low;
}

/// Finds the registers that hold what another one holds, or what costs none.
class Folding {
 public:
  explicit Folding(const Function& function)
      : function_(function),
        definitions_(find_definitions(function)),
        addresses_(address_only(function)),
        low_(low_half_only(function)) {
    const std::size_t n = function.registers.size();
    values_.alias.resize(n);
    values_.width.assign(n, 0);
    for (std::uint32_t r = 0; r < n; ++r) {
      values_.alias[r] = r;
      const unsigned size = size_of(function.registers[r].type);
      values_.width[r] = size == 0 ? 0 : size == 8 && !low_[r] ? 2 : 1;
    }
    // In the order of the text, so that a chain of copies has its source folded first.
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
      const Instruction& instruction = function.body[i];
      if (!has_destination(instruction.op) || instruction.operands.size() < 2) continue;
      const Operand& to = instruction.operands[0];
      if (to.kind == Kind::reg && definitions_.instruction[to.index] == i) visit(instruction);
    }
    for (std::uint32_t r = 0; r < n; ++r) values_.alias[r] = find(r);
  }
  Values values() && { return std::move(values_); }

 private:
  /// Chains end at the representative; path halving keeps them short.
  std::uint32_t find(std::uint32_t r) {
    while (r != kNone && values_.alias[r] != r) {
      const std::uint32_t next = values_.alias[r];
      if (next == kNone) return kNone;
      values_.alias[r] = values_.alias[next];
      r = next;
    }
    return r;
  }
  bool is_free(const Operand& operand) {
    return is_constant_operand(operand) ||
           (is_plain_register(operand) && find(operand.index) == kNone);
  }
  void same_value(std::uint32_t to, const Operand& source) {
    if (is_free(source)) {
      values_.alias[to] = kNone;
    } else if (is_plain_register(source)) {
      const std::uint32_t root = find(source.index);
      if (definitions_.count[root] != 1) return;
      values_.alias[to] = root;
      values_.width[root] = std::max(values_.width[root], values_.width[to]);
    }
  }

  void visit(const Instruction& instruction) {
    const std::uint32_t to = instruction.operands[0].index;
    const Operand& from = instruction.operands[1];
    switch (instruction.op) {
      case Opcode::mov:
        if (is_block_shape(from)) values_.alias[to] = kNone;
        same_value(to, from);
        break;
      case Opcode::cvta:
        same_value(to, from);
        break;
      case Opcode::ld:
        if (is_own_parameter(instruction)) values_.alias[to] = kNone;
        break;
      case Opcode::cvt:
        // Zero extension costs no register: the upper half is RZ.
        if (instruction.mod.type == Type::u64 && instruction.mod.type2 == Type::u32 &&
            is_plain_register(from) && find(from.index) != kNone &&
            definitions_.count[find(from.index)] == 1)
          values_.alias[to] = find(from.index);
        else if (is_free(from))
          values_.alias[to] = kNone;
        break;
      case Opcode::add:
        if (addresses_[to] || low_[to]) fold_sum(to, from, instruction.operands[2]);
        break;
      default:
        break;
    }
  }
  /// The block's shape stands in the constant bank.
  static bool is_block_shape(const Operand& from) {
    const auto special = static_cast<Special>(from.index);
    return from.kind == Kind::special &&
           ((special >= Special::ntid_x && special <= Special::ntid_z) ||
            (special >= Special::nctaid_x && special <= Special::nctaid_z));
  }
  /// Parameters stand in the constant bank, which arithmetic reads directly.
  bool is_own_parameter(const Instruction& load) const {
    const Operand& from = load.operands[1];
    return load.mod.space == Space::param && function_.is_entry &&
           (from.kind == Kind::address ||
            (from.kind == Kind::param && from.index < function_.params.size()));
  }
  /// base + constant, used as an address only: the constant moves into the access.
  void fold_sum(std::uint32_t to, const Operand& from, const Operand& second) {
    if (is_constant_operand(second) ||
        (is_plain_register(second) && find(second.index) == kNone && low_[to]))
      same_value(to, from);
    else if (is_free(from) && low_[to])
      same_value(to, second);
  }

  const Function& function_;
  const Definitions definitions_;
  const std::vector<bool> addresses_, low_;
  Values values_;
};

/// The registers that cross a block boundary get dense numbers; all others never enter a set.
struct Sets {
  std::vector<std::uint32_t> number;  ///< by register, kNone = lives in one block only
  std::vector<std::uint32_t> registers;
  std::size_t words = 0;
  std::vector<std::uint64_t> in, out;  ///< blocks * words
  bool complete = true;
};

/// Numbers the registers that are read before any unguarded write of the same block.
void number_exposed(const Function& function, const ControlFlow& flow, const Values& values,
                    Sets& sets) {
  sets.number.assign(function.registers.size(), kNone);
  std::vector<std::uint32_t> written_in(function.registers.size(), kNone);
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    for (std::uint32_t i = flow.blocks[b].begin; i < flow.blocks[b].end; ++i) {
      const Instruction& instruction = function.body[i];
      for_each_register(function, instruction, [&](std::uint32_t reg, bool is_write) {
        const std::uint32_t r = values.alias[reg];
        if (r == kNone) return;
        if (is_write) {
          if (instruction.guard == kNone) written_in[r] = b;
        } else if (written_in[r] != b && sets.number[r] == kNone) {
          sets.number[r] = static_cast<std::uint32_t>(sets.registers.size());
          sets.registers.push_back(r);
        }
      });
    }
  }
}

/// By block and word: what it reads before it writes it, and what it writes.
struct Effects {
  std::vector<std::uint64_t> use, kill;
};
Effects effects_of(const Function& function, const ControlFlow& flow, const Values& values,
                   const Sets& sets) {
  Effects effects;
  effects.use.resize(sets.words * flow.blocks.size());
  effects.kill.resize(sets.words * flow.blocks.size());
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    std::uint64_t* const block_use = effects.use.data() + b * sets.words;
    std::uint64_t* const block_kill = effects.kill.data() + b * sets.words;
    for (std::uint32_t i = flow.blocks[b].begin; i < flow.blocks[b].end; ++i) {
      const Instruction& instruction = function.body[i];
      for_each_register(function, instruction, [&](std::uint32_t reg, bool is_write) {
        const std::uint32_t r = values.alias[reg];
        if (r == kNone || sets.number[r] == kNone) return;
        const std::uint32_t word = sets.number[r] / 64;
        const std::uint64_t bit = std::uint64_t{1} << (sets.number[r] % 64);
        if (!is_write && (block_kill[word] & bit) == 0) block_use[word] |= bit;
        if (is_write && instruction.guard == kNone) block_kill[word] |= bit;
      });
    }
  }
  return effects;
}

Sets solve(const Function& function, const ControlFlow& flow, const Values& values) {
  Sets sets;
  const std::size_t blocks = flow.blocks.size();
  number_exposed(function, flow, values, sets);
  sets.words = (sets.registers.size() + 63) / 64;
  if (sets.words * blocks > kMostSetWords) {
    sets.complete = false;
    sets.words = 0;
    std::fill(sets.number.begin(), sets.number.end(), kNone);
    sets.registers.clear();
    return sets;
  }
  const auto [use, kill] = effects_of(function, flow, values, sets);
  sets.in.assign(sets.words * blocks, 0);
  sets.out.assign(sets.words * blocks, 0);
  std::vector<std::uint32_t> work;
  std::vector<bool> queued(blocks, true);
  for (std::uint32_t b = 0; b < blocks; ++b)
    work.push_back(b);  // taken from the back: last block first
  std::uint64_t spent = 0;
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    queued[b] = false;
    spent += sets.words + 1;
    if (spent > kWorkBudget) {
      sets.complete = false;
      break;
    }
    bool changed = false;
    for (std::size_t w = 0; w < sets.words; ++w) {
      const std::size_t at = b * sets.words + w;
      const std::uint64_t in = use[at] | (sets.out[at] & ~kill[at]);
      changed |= in != sets.in[at];
      sets.in[at] = in;
    }
    if (!changed) continue;
    for (const std::uint32_t p : flow.blocks[b].predecessors) {
      spent += sets.words;
      for (std::size_t w = 0; w < sets.words; ++w)
        sets.out[p * sets.words + w] |= sets.in[b * sets.words + w];
      if (!queued[p]) {
        queued[p] = true;
        work.push_back(p);
      }
    }
  }
  return sets;
}

/// The most 32-bit registers that a loop carries from one turn into the next: values that are there
/// when a turn begins, and written anew before the next one does, such as sums. Whatever order the
/// instructions of the loop are brought into, all of them are live at once where it begins.
/// (What is only read in the loop may be computed again, and loads may wait until they are used.)
unsigned carried_registers(const Function& function, const ControlFlow& flow, const Values& values,
                           const Sets& sets) {
  // By numbered register: the blocks that write it, ascending.
  std::vector<std::vector<std::uint32_t>> writers(sets.registers.size());
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b)
    for (std::uint32_t i = flow.blocks[b].begin; i < flow.blocks[b].end; ++i)
      for_each_register(function, function.body[i], [&](std::uint32_t reg, bool is_write) {
        const std::uint32_t r = values.alias[reg];
        if (!is_write || r == kNone || sets.number[r] == kNone) return;
        auto& blocks = writers[sets.number[r]];
        if (blocks.empty() || blocks.back() != b) blocks.push_back(b);
      });
  unsigned most = 0;
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    const auto& from = flow.blocks[b].predecessors;
    if (from.empty() || from.back() < b) continue;  // no loop begins here
    unsigned carried = 0;
    for (std::size_t w = 0; w < sets.words; ++w)
      for (std::uint64_t bits = sets.in [b * sets.words + w]; bits != 0; bits &= bits - 1) {
        const std::size_t n = w * 64 + static_cast<unsigned>(std::countr_zero(bits));
        const auto first = std::lower_bound(writers[n].begin(), writers[n].end(), b);
        if (first != writers[n].end() && *first <= from.back())
          carried += values.width[sets.registers[n]];
      }
    most = std::max(most, carried);
  }
  return most;
}

/// By register: the instruction that uses first what the only load into it brings, if that is in the
/// load's own block; kNone for all others.
std::vector<std::uint32_t> late_loads(const Function& function, const ControlFlow& flow,
                                      const Values& values) {
  const Definitions definitions = find_definitions(function);
  std::vector<std::uint32_t> first_use(function.registers.size(), kNone);
  for (std::uint32_t i = 0; i < function.body.size(); ++i)
    for_each_register(function, function.body[i], [&](std::uint32_t reg, bool is_write) {
      const std::uint32_t r = values.alias[reg];
      if (is_write || r == kNone || first_use[r] != kNone) return;
      const std::uint32_t load = definitions.instruction[r];
      if (load != kNone && function.body[load].op == Opcode::ld && load < i &&
          flow.block_of[load] == flow.block_of[i])
        first_use[r] = i;
    });
  return first_use;
}

/// The peak of live registers if every load waits until what it brings is used: an order that ptxas
/// may always choose, if registers are short.
unsigned peak_with_late_loads(const Function& function, const ControlFlow& flow,
                              const Values& values, const Sets& sets) {
  const std::vector<std::uint32_t> first_use = late_loads(function, flow, values);
  std::vector<std::uint32_t> live_in(function.registers.size(), kNone);
  unsigned most = 0;
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    unsigned live = 0;
    const auto begin = [&](std::uint32_t r) {
      if (live_in[r] == b) return;
      live_in[r] = b;
      live += values.width[r];
    };
    const auto end = [&](std::uint32_t r) {
      if (live_in[r] != b) return;
      live_in[r] = kNone;
      live -= values.width[r];
    };
    for (std::size_t w = 0; w < sets.words; ++w)
      for (std::uint64_t bits = sets.out[b * sets.words + w]; bits != 0; bits &= bits - 1)
        begin(sets.registers[w * 64 + static_cast<unsigned>(std::countr_zero(bits))]);
    for (std::uint32_t i = flow.blocks[b].end; i-- > flow.blocks[b].begin;) {
      const Instruction& instruction = function.body[i];
      const auto each = [&](bool writes, const auto& visit) {
        for_each_register(function, instruction, [&](std::uint32_t reg, bool is_write) {
          const std::uint32_t r = values.alias[reg];
          if (r != kNone && is_write == writes) visit(r);
        });
      };
      if (instruction.guard == kNone) each(true, end);
      each(false, begin);
      most = std::max(most, live);
      each(false, [&](std::uint32_t r) {
        if (first_use[r] == i) end(r);
      });
    }
  }
  return most;
}

/// 32-bit registers that the loads of a block fill, parameters aside.
unsigned loaded_registers(const Function& function, const BasicBlock& block) {
  unsigned sum = 0;
  for (std::uint32_t i = block.begin; i < block.end; ++i) {
    const Instruction& instruction = function.body[i];
    if (instruction.op != Opcode::ld || instruction.mod.space == Space::param) continue;
    sum += std::max(1u, size_of(instruction.mod.type) / 4) * instruction.mod.vec;
  }
  return sum;
}

/// Registers a thread may have under the kernel's own bounds. PTX ISA 11.4, ".maxntid",
/// ".minnctapersm", ".maxnreg".
unsigned register_limit(const Function& function) {
  constexpr std::uint64_t kMost = 255, kPerMultiprocessor = 65536, kUnit = 8;
  std::uint64_t limit = kMost;
  if (function.max_nreg != 0) limit = std::min<std::uint64_t>(limit, function.max_nreg);
  const auto& shape = function.req_ntid[0] != 0 ? function.req_ntid : function.max_ntid;
  const std::uint64_t blocks = std::clamp<std::uint64_t>(function.min_nctapersm, 1, 32);
  std::uint64_t threads = 1;
  for (const std::uint32_t extent : shape) threads *= std::clamp<std::uint64_t>(extent, 1, 1024);
  if (shape[0] != 0) {
    const std::uint64_t share =
        kPerMultiprocessor / ((threads + 31) / 32 * 32 * blocks) / kUnit * kUnit;
    limit = std::min(limit, std::max<std::uint64_t>(share, 16));
  }
  return static_cast<unsigned>(limit);
}

}  // namespace

RegisterPressure estimate_registers(const Module&, const Function& function) {
  RegisterPressure result;
  if (function.body.empty()) return result;
  const ControlFlow flow = build_control_flow(function);
  const Values values = Folding(function).values();
  const Sets sets = solve(function, flow, values);
  result.complete = sets.complete;

  std::vector<std::uint32_t> live_in(function.registers.size(),
                                     kNone);  // last block that saw it live
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    unsigned live = 0, predicates = 0, block_peak = 0;
    const auto count = [&](std::uint32_t r, int sign) {
      if (values.width[r] == 0)
        predicates += static_cast<unsigned>(sign);
      else
        live += static_cast<unsigned>(sign * values.width[r]);
    };
    const auto note = [&](std::uint32_t i) {
      block_peak = std::max(block_peak, live);
      result.predicates = std::max(result.predicates, predicates);
      if (live <= result.live) return;
      result.live = live;
      result.instruction = i;
    };
    for (std::size_t w = 0; w < sets.words; ++w) {
      for (std::uint64_t bits = sets.out[b * sets.words + w]; bits != 0; bits &= bits - 1) {
        const std::uint32_t r =
            sets.registers[w * 64 + static_cast<unsigned>(std::countr_zero(bits))];
        live_in[r] = b;
        count(r, 1);
      }
    }
    for (std::uint32_t i = flow.blocks[b].end; i-- > flow.blocks[b].begin;) {
      const Instruction& instruction = function.body[i];
      // Backwards: writes end a life, reads begin one. A value nobody reads still needs a place.
      for_each_register(function, instruction, [&](std::uint32_t reg, bool is_write) {
        const std::uint32_t r = values.alias[reg];
        if (r == kNone || !is_write || live_in[r] == b) return;
        live_in[r] = b;
        count(r, 1);
      });
      note(i);
      if (instruction.guard == kNone) {
        for_each_register(function, instruction, [&](std::uint32_t reg, bool is_write) {
          const std::uint32_t r = values.alias[reg];
          if (r == kNone || !is_write || live_in[r] != b) return;
          live_in[r] = kNone;
          count(r, -1);
        });
      }
      for_each_register(function, instruction, [&](std::uint32_t reg, bool is_write) {
        const std::uint32_t r = values.alias[reg];
        if (r == kNone || is_write || live_in[r] == b) return;
        live_in[r] = b;
        count(r, 1);
      });
      note(i);
    }
    const unsigned in_flight = std::min(kLoadsInFlight, loaded_registers(function, flow.blocks[b]));
    result.estimate = std::max(result.estimate, block_peak + in_flight + kOverhead);
  }
  result.where = function.body[result.instruction].where;
  result.limit = register_limit(function);
  result.carried = carried_registers(function, flow, values, sets);
  // ptxas computes some values again instead of keeping them: a quarter over the limit is certain.
  const unsigned late = peak_with_late_loads(function, flow, values, sets);
  result.needed = std::max(result.carried, late > result.limit + result.limit / 4 ? late : 0);
  result.spills = result.needed > result.limit;
  return result;
}

}  // namespace simgpu::ptx
