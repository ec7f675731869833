#include "common/simgpu/count/alignment.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "common/simgpu/ptx/control_flow.hpp"

namespace simgpu::count {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Variable;
using Kind = ptx::Operand::Kind;

constexpr std::uint32_t kNoSecond = UINT32_MAX;

std::vector<SharedPlace> place_shared(const ptx::Module& module, const Function& function) {
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
  std::vector<SharedPlace> places(module.variables.size());
  std::uint64_t offset = 0;
  std::uint32_t first = kNoSecond;
  for (const std::uint32_t v : order) {
    const Variable& variable = module.variables[v];
    places[v].first = v;
    if (variable.is_extern) {
      places[v].zeros = kMostZeros;
      continue;
    }
    offset = (offset + variable.align - 1) / variable.align * variable.align;
    if (first == kNoSecond) first = v;
    places[v] = {zeros_of(offset), first, offset};
    offset += variable.size;
  }
  return places;
}

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

}  // namespace

Alignment::Alignment(const ptx::Module& module, const Function& function)
    : function_(function),
      module_(module),
      shared_(place_shared(module, function)),
      local_(module, function) {
  low_.resize(function.registers.size());
  if (!local_.empty()) fix_local_addresses();
  follow_constants();
  add_multiples();
  constexpr int kMostSweeps = 64;  // honest code settles in a few; hostile code gets no merging
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    if (!pass()) return;
  }
  std::fill(low_.begin(), low_.end(), Low{0, 0});
}

/// Sums of the depot's address and a constant are elsewhere with nvcc.
void Alignment::fix_local_addresses() {
  fixed_.resize(low_.size());
  const ptx::Addresses addresses(function_);
  for (std::uint32_t reg = 0; reg < fixed_.size(); ++reg) {
    Operand operand;
    operand.kind = Kind::reg;
    operand.index = reg;
    const ptx::Address address = addresses.find(operand);
    if (!address.root.is_symbol || module_.variables[address.root.index].space != Space::local)
      continue;
    operand.kind = Kind::symbol;
    operand.index = address.root.index;
    operand.bits = address.offset;
    fixed_[reg] = of(operand);
  }
}

void Alignment::follow_constants() {
  copied_.resize(function_.body.size());
  const ptx::ControlFlow flow = ptx::build_control_flow(function_);
  std::map<std::uint32_t, Low> constants;  // by register
  for (const auto& block : flow.blocks) {
    constants.clear();
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      const Instruction& instruction = function_.body[i];
      const bool is_move = instruction.op == Opcode::mov && instruction.operands.size() == 2 &&
                           instruction.operands[0].kind == Kind::reg;
      if (is_move && instruction.operands[1].kind == Kind::reg)
        if (const auto it = constants.find(instruction.operands[1].index); it != constants.end())
          copied_[i] = it->second;
      if (!constants.empty())
        ptx::for_each_register(function_, instruction, [&](std::uint32_t reg, bool is_write) {
          if (is_write) constants.erase(reg);
        });
      if (is_move && instruction.operands[1].kind == Kind::imm && instruction.guard == UINT32_MAX)
        constants[instruction.operands[0].index] = of(instruction.operands[1]);
    }
  }
}

namespace {

/// What a result is the sum of: operands by number, each with the factor by which it counts. Empty if
/// it is no such sum.
std::vector<std::pair<std::size_t, std::uint64_t>> addends(const Instruction& from) {
  const auto constant = [&](std::size_t i) {
    return i < from.operands.size() && from.operands[i].kind == Kind::imm;
  };
  const bool low = from.mod.mul != ptx::MulMode::hi;
  switch (from.op) {
    case Opcode::cvt:
      if (!is_integer(from.mod.type) || !is_integer(from.mod.type2) || from.mod.sat) return {};
      return {{1, 1}};
    case Opcode::add:
      if (from.operands.size() != 3) return {};
      return {{1, 1}, {2, 1}};
    case Opcode::mul:
      if (!low || !is_integer(from.mod.type) || !constant(2)) return {};
      return {{1, static_cast<std::uint64_t>(from.operands[2].bits)}};
    case Opcode::mad:
      if (!low || !constant(2)) return {};
      return {{1, static_cast<std::uint64_t>(from.operands[2].bits)}, {3, 1}};
    case Opcode::shl:
      if (!constant(2) || from.operands[2].bits < 0 || from.operands[2].bits >= 64) return {};
      return {{1, std::uint64_t{1} << from.operands[2].bits}};
    default:
      return {};
  }
}

}  // namespace

/// Takes an operand apart into registers and symbols with their factors; false if there are too many.
bool Alignment::find_multiples(const Operand& operand, std::uint64_t factor,
                               const std::vector<std::uint32_t>& definition, int depth,
                               std::vector<Multiple>* found) const {
  constexpr std::size_t kMostTerms = 8;
  const bool known = operand.kind == Kind::reg && definition[operand.index] != UINT32_MAX;
  if (known && depth > 0) {
    const Instruction& from = function_.body[definition[operand.index]];
    const auto parts = addends(from);
    const auto opened = [&](const auto& part) {
      return find_multiples(from.operands[part.first], factor * part.second, definition, depth - 1,
                            found);
    };
    if (!parts.empty()) return std::all_of(parts.begin(), parts.end(), opened);
  }
  for (Multiple& other : *found)
    if (operand.kind == Kind::reg && known && other.of.kind == Kind::reg &&
        other.of.index == operand.index) {
      other.factor += factor;
      return true;
    }
  found->push_back({operand, factor});
  return found->size() <= kMostTerms;
}

/// Only where two terms are of the same register is more known than of each by itself.
void Alignment::add_multiples() {
  constexpr int kDepth = 6;
  added_.resize(function_.body.size());
  const std::vector<std::uint32_t> definition = ptx::only_definitions(function_);
  std::vector<Multiple> terms;
  for (std::size_t i = 0; i < function_.body.size(); ++i) {
    const Instruction& sum = function_.body[i];
    if (sum.op != Opcode::add || !is_integer(sum.mod.type) || sum.operands.size() != 3) continue;
    terms.clear();
    if (!find_multiples(sum.operands[1], 1, definition, kDepth, &terms)) continue;
    const std::vector<Multiple> first = terms;
    if (!find_multiples(sum.operands[2], 1, definition, kDepth, &terms)) continue;
    for (std::size_t k = 0; k < first.size(); ++k)
      if (terms[k].factor != first[k].factor) added_[i] = terms;
  }
}

ptx::Address Alignment::placed(ptx::Address address) const {
  if (!address.root.is_symbol) return address;
  const std::uint32_t variable = address.root.index;
  if (module_.variables[variable].space == Space::local)
    address.offset = local_.place(variable, address.offset);
  // Hostile text can have an offset of any size.
  else if (const SharedPlace& place = shared_[variable];
           place.first != kNoSecond && std::abs(address.offset) <= INT32_MAX)
    address = {{true, place.first}, address.offset + static_cast<std::int64_t>(place.offset)};
  return address;
}

Low Alignment::of(const Operand& operand) const {
  switch (operand.kind) {
    case Kind::imm:
      return Low::of(kMostZeros, static_cast<std::uint64_t>(operand.bits));
    case Kind::reg:
    case Kind::address:
      return low_[operand.index];
    case Kind::symbol:
      if (module_.variables[operand.index].space == Space::local)
        return Low::of(local_.zeros(operand.index),
                       static_cast<std::uint64_t>(local_.place(operand.index, operand.bits)));
      return Low::of(shared_[operand.index].zeros, static_cast<std::uint64_t>(operand.bits));
    case Kind::vector:  // packing: the first element is the low half
      return operand.count == 0 ? Low{0, 0} : of(function_.vector_operands[operand.index]);
    default:
      return {0, 0};
  }
}

Low Alignment::of(const ptx::Root& root) const {
  Operand operand;
  operand.kind = root.is_symbol ? Kind::symbol : Kind::reg;
  operand.index = root.index;
  const Low low = of(operand);
  return low.bits == Low::kUnset ? Low{0, 0} : low;
}

bool Alignment::pass() {
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
    if (to.index2 != kNoSecond) define(to.index2, {0, 0});
    if (to.kind == Kind::reg) {
      const bool fixed = !fixed_.empty() && fixed_[to.index].bits != Low::kUnset;
      define(to.index, fixed ? fixed_[to.index] : result(instruction));
    }
    if (to.kind == Kind::vector) {
      for (std::uint32_t i = 0; i < to.count; ++i) {
        const Operand& element = function_.vector_operands[to.index + i];
        if (element.kind == Kind::reg) define(element.index, {0, 0});
      }
    }
  }
  return changed;
}

Low Alignment::added(const Instruction& instruction) const {
  const Low whole = sum(of(instruction.operands[1]), of(instruction.operands[2]));
  Low apart = Low::of(kMostZeros, 0);
  const auto& terms = added_[static_cast<std::size_t>(&instruction - function_.body.data())];
  for (const Multiple& term : terms)
    apart = sum(apart, product(of(term.of), Low::of(kMostZeros, term.factor)));
  return !terms.empty() && !unset(whole) && apart.bits > whole.bits ? apart : whole;
}

Low Alignment::result(const Instruction& instruction) const {
  const auto operand = [&](std::size_t i) { return of(instruction.operands[i]); };
  const ptx::Modifiers& mod = instruction.mod;
  switch (instruction.op) {
    case Opcode::mov:
      if (const Low low = copied_[&instruction - function_.body.data()]; !unset(low)) return low;
      return operand(1);
    case Opcode::cvta:
      return operand(1);
    case Opcode::neg:
      return negative(operand(1));
    case Opcode::cvt:
      return is_integer(mod.type) && is_integer(mod.type2) && !mod.sat ? operand(1) : Low{0, 0};
    case Opcode::add:
      return added(instruction);
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

}  // namespace simgpu::count
