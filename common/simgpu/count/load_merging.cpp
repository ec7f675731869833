#include "common/simgpu/count/load_merging.hpp"

#include <algorithm>
#include <bit>
#include <compare>
#include <map>
#include <utility>

#include "common/simgpu/ptx/addresses.hpp"
#include "common/simgpu/ptx/control_flow.hpp"

namespace simgpu::count {
namespace {

using ptx::Address;
using ptx::Addresses;
using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Root;
using ptx::Space;
using ptx::Variable;
using Kind = ptx::Operand::Kind;

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr unsigned kMostZeros = 4;  // log2 of 16 bytes, the widest access
// Of an `if` that a piece goes on behind; hostile text could have any number of them in each other.
constexpr std::uint32_t kLongestArms = 64;  // blocks
constexpr unsigned kMostNested = 8;

unsigned zeros_of(std::uint64_t value) {
  return std::min<unsigned>(kMostZeros, static_cast<unsigned>(std::countr_zero(value)));
}

/// Zero bits at the end of the address of every shared variable the function uses; 0 for all
/// others.
std::vector<unsigned> place_shared(const ptx::Module& module, const Function& function) {
  // ptxas drops arrays that no instruction names.
  std::vector<bool> named(module.variables.size(), false);
  for (const Instruction& instruction : function.body)
    for (const Operand& operand : instruction.operands)
      if (operand.kind == Kind::symbol) named[operand.index] = true;
  std::vector<std::uint32_t> order;
  for (const std::uint32_t v : function.variables)
    if (named[v] && module.variables[v].space == Space::shared) order.push_back(v);
  const auto in_body = [&](std::uint32_t v) {
    const auto it = module.variable_index.find(module.variables[v].name);
    return it == module.variable_index.end() || it->second != v;
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(in_body(a), a) < std::pair(in_body(b), b);
  });
  std::vector<unsigned> zeros(module.variables.size(), 0);
  std::uint64_t offset = 0;
  for (const std::uint32_t v : order) {
    const Variable& variable = module.variables[v];
    if (variable.is_extern) {
      zeros[v] = kMostZeros;
      continue;
    }
    offset = (offset + variable.align - 1) / variable.align * variable.align;
    zeros[v] = zeros_of(offset);
    offset += variable.size;
  }
  return zeros;
}

/// What is known of the end of a value: its lowest `bits` bits (at most kMostZeros) are those of
/// `value`.
struct Low {
  static constexpr std::uint8_t kUnset = 255;  ///< no definition seen yet: agrees with everything
  std::uint8_t bits = kUnset, value = 0;
  friend bool operator==(const Low&, const Low&) = default;

  static Low of(unsigned bits, std::uint64_t value) {
    bits = std::min(bits, kMostZeros);
    return {static_cast<std::uint8_t>(bits),
            static_cast<std::uint8_t>(value & ((1u << bits) - 1u))};
  }
  /// Zero bits at the end.
  unsigned zeros() const { return std::min<unsigned>(bits, zeros_of(value)); }
};

/// What is known of a register with both of these definitions.
Low meet(Low x, Low y) {
  if (x.bits == Low::kUnset) return y;
  if (y.bits == Low::kUnset) return x;
  return Low::of(std::min<unsigned>({x.bits, y.bits, zeros_of(x.value ^ y.value)}), x.value);
}

// What arithmetic leaves known. A sum's end is known as far as both ends are; a product's further, by
// the other's zeros.
bool unset(Low x) {
  return x.bits == Low::kUnset;
}
Low negative(Low x) {
  return unset(x) ? x : Low::of(x.bits, 0u - x.value);
}
Low sum(Low x, Low y) {
  if (unset(x) || unset(y)) return {};
  return Low::of(std::min(x.bits, y.bits), unsigned{x.value} + y.value);
}
Low product(Low x, Low y) {
  if (unset(x) || unset(y)) return {};
  return Low::of(std::min(x.bits + y.zeros(), y.bits + x.zeros()), unsigned{x.value} * y.value);
}
Low bitwise(Opcode op, Low x, Low y) {
  if (unset(x) || unset(y)) return {};
  const unsigned both = std::min(x.bits, y.bits);
  if (op == Opcode::or_) return Low::of(both, unsigned{x.value} | y.value);
  if (op == Opcode::xor_) return Low::of(both, unsigned{x.value} ^ y.value);
  // Where one of them ends in zeros, the other need not be known.
  return Low::of(std::max({both, x.zeros(), y.zeros()}), unsigned{x.value} & y.value);
}
Low shifted(Low x, const Operand& amount) {
  if (unset(x)) return x;
  if (amount.kind != Kind::imm || amount.bits < 0) return Low::of(x.zeros(), 0);
  const auto by = static_cast<unsigned>(std::min<std::int64_t>(kMostZeros, amount.bits));
  return Low::of(x.bits + by, unsigned{x.value} << by);
}
bool is_integer(ptx::Type type) {
  return type >= ptx::Type::u8 && type <= ptx::Type::s64;
}

/// The known end of each register: the greatest solution over all its definitions, so that a loop's
/// step counts and not only its start.
class Alignment {
 public:
  Alignment(const ptx::Module& module, const Function& function)
      : function_(function), shared_(place_shared(module, function)) {
    low_.resize(function.registers.size());
    constexpr int kMostSweeps = 64;  // honest code settles in a few; hostile code gets no merging
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      if (!pass()) return;
    }
    std::fill(low_.begin(), low_.end(), Low{0, 0});
  }

  Low of(const Operand& operand) const {
    switch (operand.kind) {
      case Kind::imm:
        return Low::of(kMostZeros, static_cast<std::uint64_t>(operand.bits));
      case Kind::reg:
      case Kind::address:
        return low_[operand.index];
      case Kind::symbol:
        return Low::of(shared_[operand.index], static_cast<std::uint64_t>(operand.bits));
      case Kind::vector:  // packing: the first element is the low half
        return operand.count == 0 ? Low{0, 0} : of(function_.vector_operands[operand.index]);
      default:
        return {0, 0};
    }
  }

 private:
  bool pass() {
    bool changed = false;
    for (const Instruction& instruction : function_.body) {
      if (!ptx::has_destination(instruction.op) || instruction.operands.empty()) continue;
      const Operand& to = instruction.operands[0];
      const auto define = [&](std::uint32_t reg, Low low) {
        const Low both = meet(low_[reg], low);
        if (both == low_[reg]) return;
        low_[reg] = both;
        changed = true;
      };
      if (to.index2 != kNone) define(to.index2, {0, 0});
      if (to.kind == Kind::reg) define(to.index, result(instruction));
      if (to.kind == Kind::vector) {
        for (std::uint32_t i = 0; i < to.count; ++i) {
          const Operand& element = function_.vector_operands[to.index + i];
          if (element.kind == Kind::reg) define(element.index, {0, 0});
        }
      }
    }
    return changed;
  }

  Low result(const Instruction& instruction) const {
    const auto operand = [&](std::size_t i) { return of(instruction.operands[i]); };
    const ptx::Modifiers& mod = instruction.mod;
    switch (instruction.op) {
      case Opcode::mov:
      case Opcode::cvta:
        return operand(1);
      case Opcode::neg:
        return negative(operand(1));
      case Opcode::cvt:
        return is_integer(mod.type) && is_integer(mod.type2) && !mod.sat ? operand(1) : Low{0, 0};
      case Opcode::add:
        return sum(operand(1), operand(2));
      case Opcode::sub:
        return sum(operand(1), negative(operand(2)));
      case Opcode::min:
      case Opcode::max:
      case Opcode::selp:
        return meet(operand(1), operand(2));
      case Opcode::or_:
      case Opcode::xor_:
      case Opcode::and_:
        return bitwise(instruction.op, operand(1), operand(2));
      case Opcode::mul:
        return mod.mul == ptx::MulMode::hi ? Low{0, 0} : product(operand(1), operand(2));
      case Opcode::mad:
        return mod.mul == ptx::MulMode::hi ? Low{0, 0}
                                           : sum(product(operand(1), operand(2)), operand(3));
      case Opcode::shl:
        return shifted(operand(1), instruction.operands[2]);
      default:
        return {0, 0};
    }
  }

  const Function& function_;
  std::vector<unsigned> shared_;
  std::vector<Low> low_;
};

/// Whether loads before and after it may not become one.
bool ends_piece(const Instruction& instruction) {
  const Space space = instruction.mod.space;
  switch (instruction.op) {
    case Opcode::st:
    case Opcode::atom:
    case Opcode::red:
      return space == Space::shared || space == Space::generic;
    case Opcode::ld:
      return instruction.mod.ordering != ptx::Ordering::none;
    case Opcode::cp_async:
    case Opcode::cp_async_wait_group:
    case Opcode::cp_async_wait_all:
    case Opcode::stmatrix:
      return true;
    case Opcode::wmma_store:
      return space != Space::global;
    default:
      return ptx::orders_memory(instruction.op);
  }
}

/// Loads of one address up to a constant, and one element size, that wait for their piece to end.
struct Key {
  Root root;
  unsigned element;  ///< bytes
  std::int64_t window;
  auto operator<=>(const Key&) const = default;
};
struct Load {
  std::uint32_t instruction;
  unsigned first, count;  ///< elements within the window
};

class Merger {
 public:
  Merger(const ptx::Module& module, const Function& function)
      : function_(function), alignment_(module, function), addresses_(function) {
    merged_.resize(function.body.size());
    for (std::uint32_t i = 0; i < merged_.size(); ++i) merged_[i].leader = i;
    root_in_use_.assign(function.registers.size(), 0);
    widened_.assign(function.registers.size(), false);
    for (const Instruction& instruction : function.body) {
      if (!widens(instruction)) continue;
      ptx::for_each_register(function, instruction, [&](std::uint32_t reg, bool is_write) {
        if (!is_write) widened_[reg] = size_of(function.registers[reg].type) == 2;
      });
    }
  }

  std::vector<MergedLoad> run() {
    flow_ = ptx::build_control_flow(function_);
    pieces_of(0, static_cast<std::uint32_t>(flow_.blocks.size()), 0);
    return std::move(merged_);
  }

 private:
  /// The pieces of the blocks [begin, end). One goes on behind the arms of an `if`, which have pieces of
  /// their own.
  void pieces_of(std::uint32_t begin, std::uint32_t end, unsigned depth) {
    for (std::uint32_t block = begin; block < end;) {
      for (std::uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i) visit(i);
      const std::uint32_t join = depth < kMostNested ? join_of(block, end) : kNone;
      if (join == kNone || !lets_pass(block + 1, join)) {
        flush();
        ++block;
        continue;
      }
      auto outer = std::exchange(pending_, {});
      const std::uint32_t outer_piece = std::exchange(piece_, ++last_piece_);
      pieces_of(block + 1, join, depth + 1);
      pending_ = std::move(outer);
      piece_ = outer_piece;
      for (const auto& [key, loads] : pending_)
        if (!key.root.is_symbol) root_in_use_[key.root.index] = piece_;
      block = join;
    }
    flush();
  }

  /// The block where all paths from `block`, which branches, come together again, once each and without a
  /// way in from elsewhere; kNone: there is none before `end`.
  std::uint32_t join_of(std::uint32_t block, std::uint32_t end) const {
    const auto& blocks = flow_.blocks;
    if (blocks[block].successors.size() < 2) return kNone;
    std::uint32_t join = block + 1;
    for (std::uint32_t b = block; b < join; ++b) {
      if (join >= end || join - block > kLongestArms || blocks[b].successors.empty()) return kNone;
      if (blocks[b].successors.front() <= b) return kNone;
      join = std::max(join, blocks[b].successors.back());
    }
    if (join >= end) return kNone;
    for (std::uint32_t b = block + 1; b <= join; ++b)
      for (const std::uint32_t from : blocks[b].predecessors)
        if (from < block || from >= join) return kNone;
    return join;
  }

  /// Whether the loads that wait may become one with others behind the blocks [begin, end).
  bool lets_pass(std::uint32_t begin, std::uint32_t end) const {
    for (std::uint32_t i = flow_.blocks[begin].begin; i < flow_.blocks[end].begin; ++i) {
      const Instruction& instruction = function_.body[i];
      if (ends_piece(instruction)) return false;
      bool moves_root = false;
      ptx::for_each_register(function_, instruction, [&](std::uint32_t reg, bool is_write) {
        moves_root |= is_write && root_in_use_[reg] == piece_;
      });
      if (moves_root) return false;
    }
    return true;
  }

  /// Whether 16-bit sources are extended to 32 bits: integer arithmetic has no 16-bit form in
  /// hardware.
  static bool widens(const Instruction& instruction) {
    const ptx::Type type =
        instruction.op == Opcode::cvt ? instruction.mod.type2 : instruction.mod.type;
    switch (instruction.op) {
      case Opcode::mov:
      case Opcode::st:
        return false;
      default:
        return type != ptx::Type::f16 && type != ptx::Type::bf16;
    }
  }

  void visit(std::uint32_t i) {
    const Instruction& instruction = function_.body[i];
    if (ends_piece(instruction)) flush();
    if (instruction.op == Opcode::ld && instruction.mod.space == Space::shared) add(i);
    // A root that changes means another address from here on.
    ptx::for_each_register(function_, instruction, [&](std::uint32_t reg, bool is_write) {
      if (is_write && root_in_use_[reg] == piece_) flush();
    });
  }

  void add(std::uint32_t i) {
    const Instruction& instruction = function_.body[i];
    const unsigned element = size_of(instruction.mod.type), count = instruction.mod.vec;
    merged_[i].bytes = static_cast<std::uint8_t>(element * count);
    const Operand& memory = instruction.operands[1];
    if (instruction.guard != kNone || instruction.mod.is_volatile ||
        instruction.mod.ordering != ptx::Ordering::none)
      return;
    if (element < 2 || count > 4 || element * count > 16 || !fills_registers(instruction)) return;
    if (memory.kind != Kind::address && memory.kind != Kind::symbol) return;
    Address address = addresses_.find(memory);
    const Low low = low_of(address.root);
    // An element's place in its window: what is known of the root says where the window begins.
    address.offset += low.value;
    const std::int64_t window_bytes = window_of(element);
    std::int64_t window = address.offset / window_bytes, within = address.offset % window_bytes;
    if (within < 0) {
      --window;
      within += window_bytes;
    }
    if (within % element != 0 || within + element * count > window_bytes) return;
    if ((1u << low.bits) < 2 * element) return;
    pending_[Key{address.root, element, window}].push_back(
        Load{i, static_cast<unsigned>(within) / element, count});
    if (!address.root.is_symbol) root_in_use_[address.root.index] = piece_;
  }

  /// Never unset: the address of code that cannot be reached counts as unknown.
  Low low_of(const Root& root) const {
    Operand operand;
    operand.kind = root.is_symbol ? Kind::symbol : Kind::reg;
    operand.index = root.index;
    const Low low = alignment_.of(operand);
    return low.bits == Low::kUnset ? Low{0, 0} : low;
  }

  static std::int64_t window_of(unsigned element) { return std::min(16u, 4 * element); }

  bool fills_registers(const Instruction& instruction) const {
    const unsigned element = size_of(instruction.mod.type);
    const auto fits = [&](const Operand& operand) {
      return operand.kind == Kind::reg &&
             size_of(function_.registers[operand.index].type) == element &&
             !widened_[operand.index];
    };
    const Operand& to = instruction.operands[0];
    if (to.kind != Kind::vector) return fits(to);
    for (std::uint32_t i = 0; i < to.count; ++i)
      if (!fits(function_.vector_operands[to.index + i])) return false;
    return true;
  }

  void flush() {
    for (auto& [key, loads] : pending_) {
      const unsigned aligned = 1u << low_of(key.root).bits;
      const auto elements = static_cast<unsigned>(window_of(key.element)) / key.element;
      unsigned wanted = 0;
      for (const Load& load : loads) wanted |= ((1u << load.count) - 1) << load.first;
      const bool whole =
          aligned >= key.element * elements && std::popcount(wanted) >= (elements == 4 ? 3 : 2);
      if (whole) {
        unite(loads, 0, elements, key.element);
        continue;
      }
      for (unsigned half = 0; elements == 4 && half < 4; half += 2) {
        if (((wanted >> half) & 3u) == 3u) unite(loads, half, 2, key.element);
      }
      for (unsigned e = 0; e < elements; ++e) unite(loads, e, 1, key.element);
    }
    pending_.clear();
    piece_ = ++last_piece_;
  }

  /// Makes one access of all still separate loads that lie within `count` elements from `first` on.
  void unite(std::vector<Load>& loads, unsigned first, unsigned count, unsigned element) {
    std::uint32_t leader = kNone;
    unsigned leader_first = 0;
    std::vector<Load> rest;
    for (const Load& load : loads) {
      if (load.first < first || load.first + load.count > first + count) {
        rest.push_back(load);
        continue;
      }
      if (leader == kNone) {
        leader = load.instruction;
        leader_first = load.first;
      }
      merged_[load.instruction] = MergedLoad{leader, 0, 0};
    }
    if (leader == kNone) return;
    merged_[leader].bytes = static_cast<std::uint8_t>(count * element);
    merged_[leader].shift = static_cast<std::int16_t>(static_cast<int>(first * element) -
                                                      static_cast<int>(leader_first * element));
    loads = std::move(rest);
  }

  const Function& function_;
  Alignment alignment_;
  Addresses addresses_;
  std::vector<MergedLoad> merged_;
  std::map<Key, std::vector<Load>> pending_;
  std::vector<std::uint32_t> root_in_use_;  ///< by register: the piece that last used it as a root
  std::vector<bool> widened_;               ///< 16-bit registers that integer arithmetic reads
  std::uint32_t piece_ = 1, last_piece_ = 1;
  ptx::ControlFlow flow_;
};

}  // namespace

std::vector<MergedLoad> merge_shared_loads(const ptx::Module& module, const Function& function) {
  return Merger(module, function).run();
}

}  // namespace simgpu::count
