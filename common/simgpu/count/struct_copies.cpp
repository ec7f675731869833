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

bool is_plain(const Instruction& instruction) {
  const ptx::Modifiers& mod = instruction.mod;
  return (instruction.op == Opcode::ld || instruction.op == Opcode::st) &&
         instruction.guard == UINT32_MAX && !mod.is_volatile &&
         mod.ordering == ptx::Ordering::none && instruction.operands.size() >= 2 &&
         address_of(instruction).kind == Kind::address;
}

bool may_be_part(const Instruction& instruction, Space space) {
  const ptx::Modifiers& mod = instruction.mod;
  return is_plain(instruction) && mod.space == space && mod.vec == 4 && size_of(mod.type) <= 2;
}

/// What reaches memory of `space`, or orders what does; `but`: the kind of access that does not count.
bool ends_piece(const Instruction& instruction, Opcode but, Space space) {
  const Space here = instruction.mod.space;
  switch (instruction.op) {
    case Opcode::ld:
    case Opcode::st:
      return instruction.op != but && here != Space::param && here != Space::local &&
             (here == space || (here != Space::shared && here != Space::global));
    case Opcode::atom:
    case Opcode::red:
      return true;
    default:
      return ptx::orders_memory(instruction.op);
  }
}

/// Vectors of small elements in one space.
class Finder {
 public:
  Finder(const ptx::Function& function, Space space, std::vector<PartOfCopy>& parts)
      : function_(function),
        space_(space),
        parts_(parts),
        is_base_(function.registers.size(), false) {}

  void run(const ptx::BasicBlock& block) {
    for (std::uint32_t i = block.begin; i < block.end; ++i) visit(i);
    flush_all();
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
      if (ends_piece(instruction, op, space_)) flush(op);
    if (may_be_part(instruction, space_)) {
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
  const Space space_;
  std::vector<PartOfCopy>& parts_;
  std::map<Key, Window> pending_[2];  ///< loads, stores
  std::vector<std::uint32_t> bases_;  ///< of those, since the last flush_all
  std::vector<bool> is_base_;         ///< by register
};

/// Structs of 16 bytes as clang copies any struct as a whole: the upper 8 bytes, then the lower ones, each
/// read and written at once.
class Steps {
 public:
  Steps(const ptx::Function& function, std::vector<PartOfCopy>& parts)
      : function_(function), parts_(parts) {}

  void run(const ptx::BasicBlock& block) {
    now_ = last_ = {};
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      visit(function_.body[i], i);
      ptx::for_each_register(function_, function_.body[i], [&](std::uint32_t reg, bool is_write) {
        if (is_write && (reg == base_of(last_.load) || reg == base_of(last_.store))) last_ = {};
      });
    }
  }

 private:
  struct Step {
    std::uint32_t load = UINT32_MAX, store = UINT32_MAX;  ///< of the same 8 bytes
  };

  static bool may_be_half(const Instruction& instruction) {
    const ptx::Modifiers& mod = instruction.mod;
    return is_plain(instruction) && (mod.space == Space::global || mod.space == Space::shared) &&
           mod.vec <= 1 && size_of(mod.type) == 8 && mod.type != ptx::Type::f64;
  }

  void visit(const Instruction& instruction, std::uint32_t i) {
    const bool half = may_be_half(instruction);
    if (half && instruction.op == Opcode::ld) {
      if (now_.load != UINT32_MAX) last_ = {};
      now_ = {i, UINT32_MAX};
    } else if (half && now_.load != UINT32_MAX && writes_what(now_.load, instruction)) {
      now_.store = i;
      pair();
    } else if (instruction.op == Opcode::ld || instruction.op == Opcode::st ||
               instruction.op == Opcode::atom || instruction.op == Opcode::red ||
               ptx::orders_memory(instruction.op)) {
      now_ = last_ = {};
    }
  }

  bool writes_what(std::uint32_t load, const Instruction& store) const {
    const ptx::Operand &from = function_.body[load].operands[0], &to = store.operands[1];
    return from.kind == Kind::reg && to.kind == Kind::reg && from.index == to.index;
  }

  void pair() {
    if (last_.load != UINT32_MAX && is_below(last_.load, now_.load) &&
        is_below(last_.store, now_.store)) {
      parts_[last_.load] = parts_[last_.store] = {16, 8};
      parts_[now_.load] = parts_[now_.store] = {16, 0};
      last_ = {};
    } else {
      last_ = now_;
    }
    now_ = {};
  }

  /// Whether `second` reaches the 8 bytes below those of `first`.
  bool is_below(std::uint32_t first, std::uint32_t second) const {
    const Instruction &a = function_.body[first], &b = function_.body[second];
    const ptx::Operand &x = address_of(a), &y = address_of(b);
    return a.mod.space == b.mod.space && a.mod.non_coherent == b.mod.non_coherent &&
           x.index == y.index && x.bits - y.bits == 8;
  }

  std::uint32_t base_of(std::uint32_t i) const {
    return i == UINT32_MAX ? UINT32_MAX : address_of(function_.body[i]).index;
  }

  const ptx::Function& function_;
  std::vector<PartOfCopy>& parts_;
  Step last_, now_;
};

/// Three of a struct's four words, which clang 14 reads by two and one; nvcc and later versions of clang read all
/// four at once, if the struct is aligned.
class Triples {
 public:
  Triples(const ptx::Function& function, std::vector<PartOfCopy>& parts)
      : function_(function), parts_(parts) {}

  void run(const ptx::BasicBlock& block) {
    std::uint32_t pair = UINT32_MAX;
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      const Instruction& instruction = function_.body[i];
      const bool word = is_plain(instruction) && instruction.op == Opcode::ld &&
                        instruction.mod.space == Space::global &&
                        size_of(instruction.mod.type) == 4;
      if (word && instruction.mod.vec == 2) {
        pair = i;
      } else if (word && instruction.mod.vec <= 1 && pair != UINT32_MAX && follows(pair, i)) {
        parts_[pair] = {16, 0};
        parts_[i] = {16, 8};
        pair = UINT32_MAX;
      } else if (ends_piece(instruction, Opcode::ld, Space::global)) {
        pair = UINT32_MAX;
      }
      ptx::for_each_register(function_, instruction, [&](std::uint32_t reg, bool is_write) {
        if (is_write && pair != UINT32_MAX && reg == address_of(function_.body[pair]).index)
          pair = UINT32_MAX;
      });
    }
  }

 private:
  bool follows(std::uint32_t pair, std::uint32_t word) const {
    const Instruction &a = function_.body[pair], &b = function_.body[word];
    return address_of(a).index == address_of(b).index &&
           address_of(b).bits - address_of(a).bits == 8 && a.mod.non_coherent == b.mod.non_coherent;
  }

  const ptx::Function& function_;
  std::vector<PartOfCopy>& parts_;
};

}  // namespace

std::vector<PartOfCopy> find_struct_copies(const ptx::Function& function) {
  std::vector<PartOfCopy> parts(function.body.size());
  Finder global(function, Space::global, parts), shared(function, Space::shared, parts);
  Steps steps(function, parts);
  Triples triples(function, parts);
  for (const ptx::BasicBlock& block : ptx::build_control_flow(function).blocks) {
    global.run(block);
    shared.run(block);
    steps.run(block);
    triples.run(block);
  }
  return parts;
}

}  // namespace simgpu::count
