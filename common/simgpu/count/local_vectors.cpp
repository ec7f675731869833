#include "common/simgpu/count/local_vectors.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>

#include "common/simgpu/ptx/addresses.hpp"
#include "common/simgpu/ptx/control_flow.hpp"

namespace simgpu::count {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using Kind = Operand::Kind;

constexpr std::uint32_t kNone = LocalArrays::kNone;
// Hostile text could have any number of them.
constexpr std::size_t kMostGroups = 64, kMostInGroup = 32;
constexpr std::int64_t kFarthest = std::int64_t{1} << 40;  // bytes

struct Access {
  std::uint32_t instruction = 0;
  bool is_load = false;
  ptx::Root root;
  std::uint32_t array = kNone;
  std::int64_t offset = 0;  ///< from the root, bytes
  unsigned element = 0, count = 0;
  std::int64_t window = 0,
               within = 0;  ///< which window, and where in it, bytes; `reach` 0: it joins none
  unsigned reach = 0;       ///< bytes of a window

  std::int64_t bytes() const { return std::int64_t{element} * count; }
  bool overlaps(const Access& other) const {
    return offset < other.offset + other.bytes() && other.offset < offset + bytes();
  }
  bool joins(const Access& other) const {
    return reach != 0 && is_load == other.is_load && root == other.root && reach == other.reach &&
           window == other.window && element == other.element;
  }
};

/// Accesses to one window, in PTX order, and for loads what was stored since the first of them.
struct Group {
  std::vector<Access> members, stored;
};

class Vectorizer {
 public:
  Vectorizer(const ptx::Module& module, const Function& function)
      : function_(function),
        alignment_(module, function),
        addresses_(function),
        array_(arrays_of(function, module, alignment_.local_arrays())) {
    vectors_.resize(function.body.size());
    for (std::uint32_t i = 0; i < vectors_.size(); ++i) {
      const Instruction& instruction = function.body[i];
      vectors_[i].leader = i;
      if (is_local(instruction)) vectors_[i] = vector_in(i, instruction.mod);
      escapes_ |= instruction.op == Opcode::cvta && !instruction.mod.to &&
                  instruction.mod.space == Space::local;
    }
  }

  std::vector<Vector> run() {
    for (const ptx::BasicBlock& block : ptx::build_control_flow(function_).blocks) {
      for (std::uint32_t i = block.begin; i < block.end; ++i) visit(i);
      close_if([](const Group&) { return true; });
    }
    return std::move(vectors_);
  }

 private:
  static bool is_local(const Instruction& instruction) {
    return (instruction.op == Opcode::ld || instruction.op == Opcode::st) &&
           instruction.mod.space == Space::local;
  }

  static Vector vector_of_bytes(std::uint32_t leader, unsigned element, unsigned bytes) {
    // Small elements lie together in registers.
    const unsigned unit = std::min(bytes, std::max(4u, element));
    return {leader, static_cast<std::uint8_t>(unit), static_cast<std::uint8_t>(bytes / unit), 0,
            true};
  }
  static Vector vector_in(std::uint32_t i, const ptx::Modifiers& mod) {
    const unsigned element = size_of(mod.type), elements = std::max<unsigned>(1, mod.vec);
    if (element != 0 && element < 4 && elements > 1)
      return vector_of_bytes(i, element, element * elements);
    return {i, static_cast<std::uint8_t>(element), static_cast<std::uint8_t>(elements), 0, false};
  }

  void visit(std::uint32_t i) {
    const Instruction& instruction = function_.body[i];
    if (is_local(instruction)) {
      add(access_of(i));
    } else if (const bool generic = reaches_generic(instruction);
               (generic && escapes_) || orders_stores(instruction)) {
      // Nobody else can change an array of which there is no generic address.
      const bool loads_too =
          escapes_ && (ptx::orders_memory(instruction.op) || instruction.op != Opcode::ld);
      close_if([&](const Group& group) { return loads_too || !group.members[0].is_load; });
    }
    ptx::for_each_register(function_, instruction, [&](std::uint32_t reg, bool is_write) {
      if (!is_write) return;
      close_if([&](const Group& group) {
        const ptx::Root& root = group.members[0].root;
        return !root.is_symbol && root.index == reg;
      });
    });
  }

  static bool reaches_generic(const Instruction& instruction) {
    return (instruction.op == Opcode::ld || instruction.op == Opcode::st) &&
           instruction.mod.space == Space::generic;
  }
  static bool orders_stores(const Instruction& instruction) {
    switch (instruction.op) {
      case Opcode::atom:
      case Opcode::red:
      case Opcode::shfl:
      case Opcode::vote:
      case Opcode::cp_async:
      case Opcode::cp_async_wait_group:
      case Opcode::cp_async_wait_all:
        return true;
      default:
        return ptx::orders_memory(instruction.op);
    }
  }

  Access access_of(std::uint32_t i) const {
    const Instruction& instruction = function_.body[i];
    Access access;
    access.instruction = i;
    access.is_load = instruction.op == Opcode::ld;
    access.element = vectors_[i].element;
    access.count = vectors_[i].elements;
    const Operand& memory = instruction.operands[access.is_load ? 1 : 0];
    if (memory.kind != Kind::address && memory.kind != Kind::symbol) return access;
    const ptx::Address clangs = addresses_.find(memory);
    if (std::abs(clangs.offset / 2) > kFarthest) return access;
    const ptx::Address address = alignment_.placed(clangs);
    const LocalArrays& arrays = alignment_.local_arrays();
    access.root = address.root;
    access.offset = address.offset;
    access.array = address.root.is_symbol ? arrays.array_at(clangs.root.index, clangs.offset)
                                          : array_[address.root.index];
    if (access.array == kNone || instruction.guard != kNone || instruction.mod.is_volatile)
      return access;
    const Low low = alignment_.of(address.root);
    const unsigned reach = 1u << std::min<unsigned>(arrays.front_end_zeros(access.array), low.bits);
    if (access.element == 0 || reach < 2 * access.element || access.bytes() > reach) return access;
    const std::int64_t at = address.offset + low.value;
    access.within = (at % reach + reach) % reach;
    access.window = (at - access.within) / reach;
    if (access.within % access.element == 0 && access.within + access.bytes() <= reach)
      access.reach = reach;
    return access;
  }

  /// Whether the two may be of the same bytes.
  static bool may_touch(const Access& x, const Access& y) {
    if (x.array != kNone && y.array != kNone && x.array != y.array) return false;
    return x.array == kNone || y.array == kNone || x.root != y.root || x.overlaps(y);
  }

  void add(const Access& access) {
    const auto touches = [&](const Access& other) { return may_touch(access, other); };
    Group* own = nullptr;
    close_if([&](const Group& group) {
      const bool loads = group.members[0].is_load;
      if (loads && access.is_load)
        return group.members[0].joins(access) &&
               std::any_of(group.stored.begin(), group.stored.end(), touches);
      if (loads) return false;
      return std::any_of(group.members.begin(), group.members.end(), touches);
    });
    for (Group& group : open_) {
      if (group.members[0].is_load && !access.is_load) group.stored.push_back(access);
      if (group.members[0].joins(access)) own = &group;
    }
    if (own != nullptr)
      own->members.push_back(access);
    else if (access.reach != 0)
      open_.push_back(Group{{access}, {}});
    close_if([&](const Group& group) {
      return std::max(group.members.size(), group.stored.size()) > kMostInGroup ||
             (open_.size() > kMostGroups && &group == open_.data());
    });
  }

  template <typename Condition>
  void close_if(Condition&& condition) {
    std::erase_if(open_, [&](const Group& group) {
      if (!condition(group)) return false;
      split(group, 0, group.members[0].reach);
      return true;
    });
  }

  /// Makes vectors of what lies in the bytes [begin, begin + bytes) of the window.
  void split(const Group& group, unsigned begin, unsigned bytes) {
    const unsigned element = group.members[0].element, elements = bytes / element;
    if (elements < 2) return;
    std::uint32_t wanted = 0;
    for (const Access& access : group.members) {
      if (access.within < begin || access.within + access.bytes() > begin + bytes) {
        if (access.within < begin + bytes && begin < access.within + access.bytes()) return;
        continue;
      }
      wanted |= ((1u << access.count) - 1)
                << ((static_cast<unsigned>(access.within) - begin) / element);
    }
    const bool may_lack = group.members[0].is_load && starts_window(group);
    if (const unsigned length = vector_of(wanted, elements, element, may_lack); length != 0) {
      join(group, begin, bytes, length);
      return;
    }
    split(group, begin, bytes / 2);
    split(group, begin + bytes / 2, bytes / 2);
  }

  static bool starts_window(const Group& group) {
    return std::any_of(group.members.begin(), group.members.end(),
                       [](const Access& access) { return access.within == 0; });
  }

  /// The bytes that are accessed if these elements become one vector, 0: they do not.
  static unsigned vector_of(std::uint32_t wanted, unsigned elements, unsigned element,
                            bool may_lack) {
    if (wanted == (1u << elements) - 1) return elements * element;
    const auto end = static_cast<unsigned>(std::bit_width(wanted));
    const bool has_gap = static_cast<unsigned>(std::popcount(wanted)) != end;
    if (!may_lack || element >= 4 || (wanted & 1u) == 0 || 2 * end <= elements ||
        (!has_gap && end % 2 == 0))
      return 0;
    const unsigned bytes = std::min(elements * element, (end * element + 3) / 4 * 4);
    return std::has_single_bit(bytes) ? bytes : 0;
  }

  void join(const Group& group, unsigned begin, unsigned bytes, unsigned length) {
    const Access* leader = nullptr;
    unsigned joined = 0;
    for (const Access& access : group.members) {
      if (access.within < begin || access.within >= begin + bytes) continue;
      // Loads take place where the first was, stores where the last was.
      if (leader == nullptr || !access.is_load) leader = &access;
      ++joined;
    }
    if (joined < 2) return;
    for (const Access& access : group.members) {
      if (access.within < begin || access.within >= begin + bytes) continue;
      vectors_[access.instruction].leader = leader->instruction;
      vectors_[access.instruction].elements = 0;
    }
    Vector& vector = vectors_[leader->instruction];
    vector = vector_of_bytes(leader->instruction, leader->element, length);
    vector.shift = static_cast<std::int16_t>(static_cast<std::int64_t>(begin) - leader->within);
  }

  const Function& function_;
  Alignment alignment_;
  ptx::Addresses addresses_;
  std::vector<std::uint32_t> array_;  ///< by register
  std::vector<Vector> vectors_;
  std::vector<Group> open_;
  bool escapes_ = false;
};

}  // namespace

std::vector<std::uint32_t> arrays_of(const Function& function, const ptx::Module& module,
                                     const LocalArrays& arrays) {
  const ptx::Addresses addresses(function);
  std::vector<std::uint32_t> of(function.registers.size(), kNone);
  std::vector<bool> lost(function.registers.size(), false);
  const auto array_in = [&](const Operand& operand) {
    if ((operand.kind != Kind::reg && operand.kind != Kind::symbol) || operand.is_memory)
      return kNone;
    const ptx::Address address = addresses.find(operand);
    if (!address.root.is_symbol) return operand.kind == Kind::reg ? of[operand.index] : kNone;
    const bool local = module.variables[address.root.index].space == Space::local;
    return local ? arrays.array_at(address.root.index, address.offset) : kNone;
  };
  constexpr int kMostRounds = 50;  // text made by hand may need more: then nothing is known
  for (int round = 0; round < kMostRounds; ++round) {
    bool changed = false;
    for (const Instruction& instruction : function.body) {
      if (!ptx::has_destination(instruction.op) || instruction.operands.empty()) continue;
      const Operand& to = instruction.operands[0];
      if (to.kind != Kind::reg || lost[to.index]) continue;
      std::uint32_t array = array_in(to);
      for (std::size_t k = 1; array == kNone && k < instruction.operands.size(); ++k)
        array = array_in(instruction.operands[k]);
      if (array == of[to.index] || array == kNone) continue;
      if (of[to.index] != kNone) {
        lost[to.index] = true;
        array = kNone;
      }
      of[to.index] = array;
      changed = true;
    }
    if (!changed) return of;
  }
  return std::vector<std::uint32_t>(function.registers.size(), kNone);
}

std::vector<Vector> find_local_vectors(const ptx::Module& module, const Function& function) {
  if (LocalArrays(module, function).empty()) return {};
  return Vectorizer(module, function).run();
}

}  // namespace simgpu::count
