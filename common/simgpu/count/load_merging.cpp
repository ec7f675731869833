#include "common/simgpu/count/load_merging.hpp"

#include <algorithm>
#include <bit>
#include <compare>
#include <map>
#include <utility>

#include "common/simgpu/count/alignment.hpp"
#include "common/simgpu/count/early_reads.hpp"
#include "common/simgpu/count/math_code.hpp"
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
using Kind = ptx::Operand::Kind;

constexpr std::uint32_t kNone = UINT32_MAX;
// Of an `if` that a piece goes on behind; hostile text could have any number of them in each other.
constexpr std::uint32_t kLongestArms = 64;  // blocks
constexpr unsigned kMostNested = 8;

/// Whether loads of `of` before and after it may not become one.
bool ends_piece(const Instruction& instruction, Space of) {
  const Space space = instruction.mod.space;
  switch (instruction.op) {
    case Opcode::st:
    case Opcode::atom:
    case Opcode::red:
      return space == of || space == Space::generic;
    case Opcode::ld:
      return of == Space::shared && instruction.mod.ordering != ptx::Ordering::none;
    case Opcode::cp_async:
    case Opcode::cp_async_wait_group:
    case Opcode::cp_async_wait_all:
      return true;
    case Opcode::stmatrix:
      return of == Space::shared;
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
  unsigned unused;        ///< elements before `first` that PTX loads and nobody uses
};

class Merger {
 public:
  /// `vectors`: of local memory; empty: each access is what PTX says.
  Merger(const ptx::Module& module, const Function& function, Space space,
         const std::vector<Vector>& vectors, std::vector<NarrowedLoad> narrowed)
      : module_(module),
        function_(function),
        space_(space),
        vectors_(vectors),
        alignment_(module, function),
        addresses_(function),
        narrowed_(std::move(narrowed)) {
    merged_.resize(function.body.size());
    for (std::uint32_t i = 0; i < merged_.size(); ++i) merged_[i].leader = i;
    root_in_use_.assign(function.registers.size(), 0);
    widened_.assign(function.registers.size(), false);
    only_packed_.assign(function.registers.size(), true);
    use_.assign(function.registers.size(), Use::none);
    for (const Instruction& instruction : function.body) {
      const bool packs =
          instruction.op == Opcode::or_ ||
          (instruction.op == Opcode::shl && instruction.operands.size() == 3 &&
           instruction.operands[2].kind == Kind::imm && instruction.operands[2].bits == 32);
      if (!packs)
        ptx::for_each_register(function, instruction, [&](std::uint32_t reg, bool is_write) {
          if (!is_write) only_packed_[reg] = false;
        });
      const auto use = splits(instruction) ? Use::halves : Use::whole;
      ptx::for_each_register(function, instruction, [&](std::uint32_t reg, bool is_write) {
        if (!is_write) use_[reg] = std::max(use_[reg], use);
      });
      if (!widens(instruction)) continue;
      ptx::for_each_register(function, instruction, [&](std::uint32_t reg, bool is_write) {
        if (!is_write) widened_[reg] = size_of(function.registers[reg].type) == 2;
      });
    }
  }

  std::vector<MergedAccess> run() {
    flow_ = ptx::build_control_flow(function_);
    early_ = find_early_blocks(module_, function_, flow_);
    pieces_of(0, static_cast<std::uint32_t>(flow_.blocks.size()), 0);
    return std::move(merged_);
  }

 private:
  /// The pieces of the blocks [begin, end). One goes on behind the arms of an `if`, which have pieces of
  /// their own.
  void pieces_of(std::uint32_t begin, std::uint32_t end, unsigned depth) {
    for (std::uint32_t block = begin; block < end;) {
      for (std::uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i) visit(i);
      if (block + 1 < end && (early_[block] || early_[block + 1])) {  // there is no branch
        ++block;
        continue;
      }
      if (const std::uint32_t behind = behind_exit(block); behind < end) {
        block = behind;
        continue;
      }
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

  bool ends_piece_here(const Instruction& instruction) const {
    return ends_piece(instruction, space_) && !loads_pass(module_, instruction);
  }

  /// Where the lanes go on that stay, if the branch at the end of `block` lets others end the kernel;
  /// kNone: it does not. That is a predicated EXIT for ptxas, and the code goes on straight behind it.
  std::uint32_t behind_exit(std::uint32_t block) const {
    const auto& blocks = flow_.blocks;
    const std::vector<std::uint32_t>& to = blocks[block].successors;
    if (to.size() != 2 || to.front() != block + 1) return kNone;
    const auto only_from = [&](std::uint32_t b) {
      return blocks[b].predecessors == std::vector{block};
    };
    const auto leaves = [&](std::uint32_t out) {
      const auto begin = function_.body.begin() + blocks[out].begin,
                 end = function_.body.begin() + blocks[out].end;
      return blocks[out].successors.empty() && (end - begin == 1 || only_from(out)) &&
             std::none_of(begin, end, [&](const Instruction& i) { return ends_piece_here(i); });
    };
    if (leaves(to.front()) && blocks[to.front()].end - blocks[to.front()].begin == 1)
      return to.back() == block + 2 && only_from(to.back()) ? to.back() : kNone;
    return leaves(to.back()) && only_from(to.front()) ? to.front() : kNone;
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
      if (ends_piece_here(instruction)) return false;
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
      case Opcode::cvt:
        if (instruction.mod.type == ptx::Type::f32 || instruction.mod.type == ptx::Type::f64)
          return false;  // takes them as they are
        [[fallthrough]];
      default:
        return type != ptx::Type::f16 && type != ptx::Type::bf16;
    }
  }

  /// Whether it takes one half of 64 bits.
  static bool splits(const Instruction& instruction) {
    const std::vector<Operand>& operands = instruction.operands;
    switch (instruction.op) {
      case Opcode::cvt:
        return instruction.mod.type == ptx::Type::u32 && instruction.mod.type2 == ptx::Type::u64;
      case Opcode::mov:
        return operands[0].kind == Kind::vector;
      case Opcode::shr:
        return operands[2].kind == Kind::imm && operands[2].bits == 32;
      default:
        return false;
    }
  }

  void visit(std::uint32_t i) {
    const Instruction& instruction = function_.body[i];
    if (ends_piece_here(instruction)) flush();
    if (instruction.op == Opcode::ld && instruction.mod.space == space_) add(i);
    // A root that changes means another address from here on.
    ptx::for_each_register(function_, instruction, [&](std::uint32_t reg, bool is_write) {
      if (is_write && root_in_use_[reg] == piece_) flush();
    });
  }

  /// What ptxas loads of what PTX says: `count` elements, from element `unused` on.
  struct Taken {
    unsigned element, count, unused;
    bool is_pair;  ///< the halves of 64 bits
  };

  Taken taken_by(std::uint32_t i) const {
    const Instruction& load = function_.body[i];
    if (!vectors_.empty()) return {vectors_[i].element, vectors_[i].elements, 0, false};
    const unsigned element = size_of(load.mod.type);
    const Operand& to = load.operands[0];
    if (element == 8 && load.mod.vec == 1 && to.kind == Kind::reg && use_[to.index] == Use::halves)
      return {4, 2, 0, true};
    if (narrowed_[i].count != 1) return {element, load.mod.vec, 0, false};
    const auto [offset, bytes] = narrowed_[i].accesses[0];
    return {element, bytes / element, offset / element, false};
  }

  void add(std::uint32_t i) {
    const Instruction& instruction = function_.body[i];
    const auto [element, count, unused, is_pair] = taken_by(i);
    if (!vectors_.empty()) merged_[i].leader = vectors_[i].leader;
    if (count == 0) return;
    merged_[i].bytes = static_cast<std::uint8_t>(element * count);
    merged_[i].shift = static_cast<std::int16_t>(unused * element);
    const bool joined = !vectors_.empty() && vectors_[i].is_joined;
    const bool stays = instruction.guard != kNone || instruction.mod.is_volatile ||
                       instruction.mod.ordering != ptx::Ordering::none ||
                       (vectors_.empty() && narrowed_[i].count > 1);
    if (stays || element < 2 || count > 4 || element * count > 16) return;
    if (joined ? element < 4 : !is_pair && !fills_registers(instruction)) return;
    const Operand& memory = instruction.operands[1];
    if (memory.kind != Kind::address && memory.kind != Kind::symbol) return;
    Address address = alignment_.placed(addresses_.find(memory));
    if (joined) address.offset += vectors_[i].shift;
    address.offset += unused * element;
    const Low low = alignment_.of(address.root);
    // An element's place in its window: what is known of the root says where the window begins.
    address.offset += low.value;
    const auto [window, within] = in_window(address.offset, element);
    if (within % element != 0 || within + element * count > window_of(element)) return;
    if ((1u << low.bits) < 2 * element) return;
    pending_[Key{address.root, element, window}].push_back(
        Load{i, static_cast<unsigned>(within) / element, count, unused});
    if (!address.root.is_symbol) root_in_use_[address.root.index] = piece_;
  }

  bool fills_registers(const Instruction& instruction) const {
    const unsigned element = size_of(instruction.mod.type);
    const auto fits = [&](const Operand& operand) {
      if (operand.kind != Kind::reg) return false;
      const unsigned bytes = size_of(function_.registers[operand.index].type);
      return (bytes == element && !widened_[operand.index]) ||
             (bytes == 8 && element == 4 && only_packed_[operand.index]);
    };
    const Operand& to = instruction.operands[0];
    if (to.kind != Kind::vector) return fits(to);
    for (std::uint32_t i = 0; i < to.count; ++i)
      if (!fits(function_.vector_operands[to.index + i])) return false;
    return true;
  }

  void flush() {
    for (auto& [key, loads] : pending_) {
      const unsigned aligned = 1u << alignment_.of(key.root).bits;
      const auto elements = static_cast<unsigned>(window_of(key.element)) / key.element;
      unsigned wanted = 0;
      for (const Load& load : loads) wanted |= ((1u << load.count) - 1) << load.first;
      // Of local memory nothing is loaded that nobody wants.
      const int enough = elements == 4 && space_ == Space::shared ? 3 : static_cast<int>(elements);
      const bool whole = aligned >= key.element * elements && std::popcount(wanted) >= enough;
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
    int leader_start = 0;  // of all that PTX loads
    std::vector<Load> rest;
    for (const Load& load : loads) {
      if (load.first < first || load.first + load.count > first + count) {
        rest.push_back(load);
        continue;
      }
      if (leader == kNone) {
        leader = load.instruction;
        leader_start = static_cast<int>(load.first) - static_cast<int>(load.unused);
      }
      merged_[load.instruction] = MergedAccess{leader, 0, 0};
    }
    if (leader == kNone) return;
    merged_[leader].bytes = static_cast<std::uint8_t>(count * element);
    merged_[leader].shift = static_cast<std::int16_t>((static_cast<int>(first) - leader_start) *
                                                      static_cast<int>(element));
    loads = std::move(rest);
  }

  const ptx::Module& module_;
  const Function& function_;
  const Space space_;
  const std::vector<Vector>& vectors_;
  Alignment alignment_;
  Addresses addresses_;
  std::vector<MergedAccess> merged_;
  std::vector<NarrowedLoad> narrowed_;  ///< where there are no vectors
  std::map<Key, std::vector<Load>> pending_;
  std::vector<std::uint32_t> root_in_use_;  ///< by register: the piece that last used it as a root
  std::vector<bool> widened_;               ///< 16-bit registers that integer arithmetic reads
  /// Registers that become halves of 64 bits and nothing else: clang hands small structs to functions in this way, nvcc
  /// member by member.
  std::vector<bool> only_packed_;
  /// By register. Where only the halves of 64 bits are used, clang 22 has loaded a small struct, which nvcc
  /// loads member by member.
  enum class Use : std::uint8_t { none, halves, whole };
  std::vector<Use> use_;
  std::uint32_t piece_ = 1, last_piece_ = 1;
  ptx::ControlFlow flow_;
  std::vector<bool> early_;  ///< by block
};

}  // namespace

std::vector<MergedAccess> merge_shared_loads(const ptx::Module& module, const Function& function,
                                             std::vector<NarrowedLoad> narrowed) {
  return Merger(module, function, Space::shared, {}, std::move(narrowed)).run();
}

std::vector<MergedAccess> merge_local_loads(const ptx::Module& module, const Function& function,
                                            const std::vector<Vector>& vectors) {
  // Without vectors a load is what ptxas makes of the one in PTX.
  std::vector<NarrowedLoad> narrowed;
  if (vectors.empty()) narrowed = find_narrowed_loads(function);
  return Merger(module, function, Space::local, vectors, std::move(narrowed)).run();
}

}  // namespace simgpu::count
