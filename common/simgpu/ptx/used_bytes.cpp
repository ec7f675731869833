#include "common/simgpu/ptx/used_bytes.hpp"

#include <algorithm>
#include <cstdlib>

#include "common/simgpu/ptx/control_flow.hpp"

namespace simgpu::ptx {
namespace {

using Kind = Operand::Kind;

constexpr ByteSet kAll = 0xff;

constexpr ByteSet lowest(unsigned bytes) {
  return bytes >= 8 ? kAll : static_cast<ByteSet>((1u << bytes) - 1);
}
constexpr bool is_integer(Type type) {
  return (type >= Type::b8 && type <= Type::s64) && type != Type::b128;
}
constexpr bool is_signed(Type type) {
  return type >= Type::s8 && type <= Type::s64;
}

/// Works backwards from what uses values to where they come from, register by register.
class UsedBytes {
 public:
  explicit UsedBytes(const Function& function)
      : function_(function), used_(function.registers.size(), 0), setters_(used_.size()) {}

  std::vector<ByteSet> find() {
    for (std::uint32_t i = 0; i < function_.body.size(); ++i)
      for_each_register(function_, function_.body[i], [&](std::uint32_t reg, bool is_write) {
        if (is_write) setters_[reg].push_back(i);
      });
    for (const Instruction& instruction : function_.body) visit(instruction);
    while (!changed_.empty()) {
      const std::uint32_t reg = changed_.back();
      changed_.pop_back();
      for (const std::uint32_t i : setters_[reg]) visit(function_.body[i]);
    }
    return std::move(used_);
  }

 private:
  void use(const Operand& o, unsigned bytes) {
    if (o.kind != Kind::reg && o.kind != Kind::address) return;
    if ((used_[o.index] | bytes) == used_[o.index]) return;
    used_[o.index] = static_cast<ByteSet>(used_[o.index] | bytes);
    changed_.push_back(o.index);
  }
  ByteSet used(const Operand& o) const { return o.kind == Kind::reg ? used_[o.index] : ByteSet{0}; }

  /// A vector's elements, or the operand itself.
  std::pair<const Operand*, std::uint32_t> elements(const Operand& o) const {
    return o.kind == Kind::vector ? std::pair(&function_.vector_operands[o.index], o.count)
                                  : std::pair(&o, std::uint32_t{1});
  }

  void use_all(const Instruction& ins, std::size_t from) {
    for (std::size_t k = from; k < ins.operands.size(); ++k) {
      const auto [first, count] = elements(ins.operands[k]);
      for (std::uint32_t e = 0; e < count; ++e) use(first[e], kAll);
    }
  }

  void visit(const Instruction& ins) {
    if (ins.guard != UINT32_MAX) use({.kind = Kind::reg, .index = ins.guard}, kAll);
    if (moves(ins)) return;
    // A product whose scale-d is false throws away what its sums held.
    const bool adds = ins.op == Opcode::wgmma && ins.operands.size() > 3 &&
                      ins.operands[3].kind == Kind::imm && ins.operands[3].bits != 0;
    use_all(ins, has_destination(ins.op) && !adds ? 1 : 0);
  }

  /// Instructions that pass bytes on; false = it is none.
  bool moves(const Instruction& ins) {
    const std::vector<Operand>& o = ins.operands;
    switch (ins.op) {
      case Opcode::st:
        if (o.size() != 2) return false;
        use(o[0], kAll);
        return true;
      case Opcode::mov:
        return o.size() == 2 && passes_packed(o[0], o[1]);
      case Opcode::selp:
        if (o.size() != 4) return false;
        use(o[1], used(o[0]));
        use(o[2], used(o[0]));
        use(o[3], kAll);
        return true;
      case Opcode::shfl:
        if (o.size() < 2) return false;
        use(o[1], used(o[0]));
        use_all(ins, 2);
        return true;
      case Opcode::cvt:
        return o.size() == 2 && converts(ins);
      case Opcode::and_:
      case Opcode::or_:
      case Opcode::xor_:
        return o.size() == 3 && ins.mod.type != Type::pred && combines(ins);
      case Opcode::shl:
      case Opcode::shr:
        return o.size() == 3 && o[2].kind == Kind::imm && shifts(ins);
      case Opcode::prmt:
        return o.size() == 4 && o[3].kind == Kind::imm && permutes(ins);
      default:
        return false;
    }
  }

  /// mov, and what packs and unpacks registers.
  bool passes_packed(const Operand& to, const Operand& from) {
    const auto [d, parts] = elements(to);
    const auto [s, sources] = elements(from);
    if (parts > 1 && sources > 1) return false;
    if (parts == 1 && sources == 1) {
      use(*s, used(*d));
      return true;
    }
    const bool unpacks = parts > 1;
    const Operand& whole = unpacks ? *s : *d;
    if (whole.kind != Kind::reg) return false;
    const unsigned count = unpacks ? parts : sources;
    const unsigned bytes = size_of(function_.registers[whole.index].type) / count;
    if (bytes == 0 || bytes * count > 8) return false;
    for (unsigned e = 0; e < count; ++e) {
      if (unpacks)
        use(whole, static_cast<unsigned>(used(d[e]) & lowest(bytes)) << (e * bytes));
      else
        use(s[e], (used(whole) >> (e * bytes)) & lowest(bytes));
    }
    return true;
  }

  bool converts(const Instruction& ins) {
    const Type to = ins.mod.type, from = ins.mod.type2;
    if (!is_integer(to) || !is_integer(from) || ins.mod.sat) return false;
    const ByteSet wanted = used(ins.operands[0]), low = lowest(size_of(from));
    unsigned bytes = wanted & low & lowest(size_of(to));
    if (is_signed(from) && (wanted & ~low) != 0) bytes |= 1u << (size_of(from) - 1);
    use(ins.operands[1], bytes);
    return true;
  }

  /// Of each byte the one in its place; `and` with a constant drops what that has no bits for.
  bool combines(const Instruction& ins) {
    const std::vector<Operand>& o = ins.operands;
    for (const unsigned k : {1u, 2u}) {
      unsigned kept = kAll;
      if (const Operand& other = o[3 - k]; other.kind == Kind::imm && ins.op == Opcode::and_)
        for (unsigned b = 0; b < 8; ++b)
          if (((static_cast<std::uint64_t>(other.bits) >> (8 * b)) & 0xff) == 0) kept &= ~(1u << b);
      use(o[k], used(o[0]) & kept);
    }
    return true;
  }

  bool shifts(const Instruction& ins) {
    const int bytes = static_cast<int>(size_of(ins.mod.type));
    const auto by = static_cast<std::uint64_t>(ins.operands[2].bits);
    if (by >= 64) return false;
    const bool left = ins.op == Opcode::shl;
    unsigned wanted = 0;
    for (int b = 0; b < bytes; ++b) {
      if (((used(ins.operands[0]) >> b) & 1u) == 0) continue;
      for (const int bit : {8 * b, 8 * b + 7}) {
        const int from = left ? bit - static_cast<int>(by) : bit + static_cast<int>(by);
        if (from >= 0 && from < 8 * bytes)
          wanted |= 1u << (from / 8);
        else if (!left && is_signed(ins.mod.type))
          wanted |= 1u << (bytes - 1);
      }
    }
    use(ins.operands[1], wanted);
    return true;
  }

  bool permutes(const Instruction& ins) {
    if (ins.mod.text != "prmt.b32") return false;  // other modes
    unsigned wanted[2] = {0, 0};
    for (unsigned b = 0; b < 4; ++b) {
      const auto pick = static_cast<unsigned>(ins.operands[3].bits >> (4 * b)) & 7u;
      if ((used(ins.operands[0]) >> b) & 1u) wanted[pick / 4] |= 1u << (pick % 4);
    }
    use(ins.operands[1], wanted[0]);
    use(ins.operands[2], wanted[1]);
    return true;
  }

  const Function& function_;
  std::vector<ByteSet> used_;
  std::vector<std::vector<std::uint32_t>> setters_;  ///< instructions, by register
  std::vector<std::uint32_t> changed_;               ///< registers
};

bool is_plain_load(const Instruction& ins) {
  return ins.op == Opcode::ld && ins.mod.space != Space::param && ins.operands.size() == 2;
}

/// By register: whether nothing but loads from memory sets it.
std::vector<bool> only_loaded(const Function& function) {
  std::vector<bool> loaded(function.registers.size(), true);
  for (const Instruction& ins : function.body)
    for_each_register(function, ins, [&](std::uint32_t reg, bool is_write) {
      if (is_write && !is_plain_load(ins)) loaded[reg] = false;
    });
  return loaded;
}

/// By register: whether it is read by nothing but stores to local memory, as their data. A copy of an array that the
/// compiler leaves in memory goes through such registers, and so do elements that the program has not set yet.
std::vector<bool> only_to_local(const Function& function) {
  std::vector<bool> local(function.registers.size(), true);
  for (const Instruction& ins : function.body) {
    const bool stores = ins.op == Opcode::st && ins.mod.space == Space::local &&
                        ins.operands.size() == 2 && !ins.mod.is_volatile;
    for_each_register(function, ins, [&](std::uint32_t reg, bool is_write) {
      const bool is_data =
          stores && (ins.operands[0].kind != Kind::address || ins.operands[0].index != reg);
      if (!is_write && !is_data) local[reg] = false;
    });
  }
  return local;
}

/// The address operand of a load or store that may be a step of a copy; null = it is none.
const Operand* step_address(const Instruction& ins) {
  if ((!is_plain_load(ins) && ins.op != Opcode::st) || ins.operands.size() != 2) return nullptr;
  const bool loads = ins.op == Opcode::ld;
  const Operand &address = ins.operands[loads ? 1 : 0], &data = ins.operands[loads ? 0 : 1];
  return ins.guard == UINT32_MAX && ins.mod.vec <= 1 && data.kind == Kind::reg &&
                 (address.kind == Kind::address || address.kind == Kind::symbol ||
                  (!loads && address.kind == Kind::param))
             ? &address
             : nullptr;
}
/// How many bytes a step moves. Structs in local memory, whose members the compiler knows, are copied member by member if
/// those have 4 bytes. Elsewhere 4 bytes may as well be an element of their own.
unsigned step_bytes(const Instruction& load) {
  const unsigned bytes = size_of(load.mod.type);
  return bytes == 8 || (bytes == 4 && load.mod.space == Space::local) ? bytes : 0;
}

/// Whether `load` and `store` together are a step.
bool is_copied(const Instruction& load, const Instruction& store) {
  return load.op == Opcode::ld && store.op == Opcode::st && step_address(load) != nullptr &&
         step_address(store) != nullptr && step_bytes(load) != 0 &&
         step_bytes(load) == size_of(store.mod.type) &&
         load.operands[0].index == store.operands[1].index;
}

/// clang copies a struct step by step, the upper ones first, or with a local variable the lower ones first: each
/// load is followed by the store of its value. Members that it knows are missing between others.
void find_struct_steps(const Function& function, std::vector<MovedBytes>& moved) {
  const std::vector<Instruction>& body = function.body;
  const auto is_step = [&](std::size_t i) {
    return i + 1 < body.size() && is_copied(body[i], body[i + 1]);
  };
  const auto distance = [&](std::size_t i, std::size_t next) -> std::int64_t {
    const Operand &a = *step_address(body[i]), &b = *step_address(body[next]);
    return a.kind == b.kind && a.index == b.index ? b.bits - a.bits : 0;
  };
  const auto follows = [&](std::size_t i) {
    const std::int64_t by = distance(i - 2, i), step = step_bytes(body[i]);
    if (distance(i - 1, i + 1) != by || step != step_bytes(body[i - 2]) || by % step != 0)
      return false;
    if (body[i].mod.space == Space::local && std::abs(by) <= 4 * step) return by != 0;
    return by == -step || (by == step && body[i + 1].mod.space == Space::local);
  };
  constexpr std::size_t kLongest = 64;  // instructions
  for (std::size_t i = 0; i < body.size();) {
    std::size_t end = i;
    while (is_step(end) && end - i < kLongest && (end == i || follows(end))) end += 2;
    std::int64_t lowest_place = 0, highest = 0;
    for (std::size_t k = i; end > i + 2 && k < end; k += 2) {
      lowest_place = std::min(lowest_place, distance(i, k));
      highest = std::max(highest, distance(i, k));
    }
    for (std::size_t k = i; end > i + 2 && k < end; k += 2) {
      moved[k].place = static_cast<std::uint16_t>(distance(i, k) - lowest_place);
      moved[k].whole = static_cast<std::uint16_t>(highest - lowest_place + step_bytes(body[k]));
    }
    i = std::max(end, i + 1);
  }
}

/// Or it loads all of the struct at once, from below, to store it later.
void find_struct_loads(const Function& function, std::vector<MovedBytes>& moved) {
  const std::vector<Instruction>& body = function.body;
  const auto is_step = [&](std::size_t i) {
    return i < body.size() && body[i].op == Opcode::ld && step_address(body[i]) != nullptr &&
           step_bytes(body[i]) != 0 && moved[i].bytes == lowest(step_bytes(body[i])) &&
           moved[i].whole == 0;
  };
  const auto goes_up = [&](std::size_t i) {
    const Operand &a = *step_address(body[i - 1]), &b = *step_address(body[i]);
    const unsigned step = step_bytes(body[i]);
    return step == step_bytes(body[i - 1]) && a.kind == b.kind && a.index == b.index &&
           b.bits - a.bits == step;
  };
  constexpr std::size_t kLongest = 32;  // loads
  for (std::size_t i = 0; i < body.size();) {
    std::size_t end = i;
    while (is_step(end) && end - i < kLongest && (end == i || goes_up(end))) ++end;
    for (std::size_t k = i; end > i + 1 && k < end; ++k) {
      moved[k].place = static_cast<std::uint16_t>(step_bytes(body[k]) * (k - i));
      moved[k].whole = static_cast<std::uint16_t>(step_bytes(body[k]) * (end - i));
    }
    i = std::max(end, i + 1);
  }
}

}  // namespace

std::vector<ByteSet> used_bytes(const Function& function) {
  return UsedBytes(function).find();
}

std::vector<MovedBytes> find_moved_bytes(const Function& function) {
  const std::vector<ByteSet> used = used_bytes(function);
  const std::vector<bool> loaded = only_loaded(function), local = only_to_local(function);
  std::vector<MovedBytes> moved(function.body.size());
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& ins = function.body[i];
    const bool stores = ins.op == Opcode::st;
    if ((!stores && !is_plain_load(ins)) || ins.operands.size() != 2) continue;
    const Operand& data = ins.operands[stores ? 1 : 0];
    const bool is_vector = data.kind == Kind::vector;
    const unsigned width = size_of(ins.mod.type);
    if (width > 8) continue;
    moved[i].stays_local = !stores && ins.mod.space == Space::local;
    for (std::uint32_t e = 0; e < (is_vector ? data.count : 1) && (e + 1) * width <= 32; ++e) {
      const Operand& o = is_vector ? function.vector_operands[data.index + e] : data;
      if (o.kind != Kind::reg) continue;
      moved[i].stays_local = moved[i].stays_local && local[o.index];
      unsigned bytes = lowest(width);
      if (stores)
        bytes = loaded[o.index] ? bytes : 0u;
      else
        bytes &= ~unsigned{used[o.index]};
      // A load into a wider register extends its sign.
      if (!stores && is_signed(ins.mod.type) && (used[o.index] & ~lowest(width)) != 0)
        bytes &= ~(1u << (width - 1));
      moved[i].bytes |= bytes << (e * width);
    }
  }
  find_struct_steps(function, moved);
  find_struct_loads(function, moved);
  return moved;
}

}  // namespace simgpu::ptx
