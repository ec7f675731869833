#include "common/simgpu/count/kept_arrays.hpp"

#include <algorithm>
#include <cstdint>

#include "common/simgpu/count/local_arrays.hpp"
#include "common/simgpu/count/local_vectors.hpp"
#include "common/simgpu/ptx/addresses.hpp"
#include "common/simgpu/ptx/control_flow.hpp"

namespace simgpu::count {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using Kind = ptx::Operand::Kind;

constexpr std::uint32_t kNone = LocalArrays::kNone;
constexpr std::int64_t kMostBytes = 380;  // between 80 floats and 96
constexpr std::int64_t kAlwaysKept = 6;   // elements
constexpr std::int64_t kLoadInLoop = 5, kStoreInLoop = 16;
// What keeping saves, in thousandths of a comparison.
constexpr std::int64_t kSaved = 4500, kSavedAccess = 1900, kSavedElement = 1775, kComparison = 1000;

/// What is done with one array.
struct Use {
  bool stays = false;  ///< in memory, for certain
  std::int64_t indexed = 0, accesses = 0, elements = 0;
};

bool is_access(const Instruction& instruction) {
  return (instruction.op == Opcode::ld || instruction.op == Opcode::st) &&
         instruction.mod.space == ptx::Space::local;
}

/// By instruction: whether it is between a branch and a place before it where that leads.
std::vector<bool> in_loops(const Function& function) {
  std::vector<std::int32_t> change(function.body.size() + 1, 0);
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    const Instruction& branch = function.body[i];
    if (branch.op != Opcode::bra || branch.operands[0].index > i) continue;
    ++change[branch.operands[0].index];
    --change[i + 1];
  }
  std::vector<bool> inside(function.body.size(), false);
  std::int32_t depth = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) inside[i] = (depth += change[i]) > 0;
  return inside;
}

/// Whether an address is used as one, or to compute another.
bool only_leads(const Instruction& instruction, std::size_t operand) {
  switch (instruction.op) {
    case Opcode::ld:
    case Opcode::st:
      return instruction.mod.space == ptx::Space::local &&
             operand == (instruction.op == Opcode::ld);
    case Opcode::add:
    case Opcode::mov:
    case Opcode::cvta:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<bool> find_kept_accesses(const ptx::Module& module, const Function& function,
                                     const std::vector<Vector>& vectors) {
  std::vector<bool> kept(function.body.size(), false);
  const LocalArrays arrays(module, function);
  if (arrays.empty()) return kept;
  const ptx::Addresses addresses(function);
  const std::vector<std::uint32_t> of = arrays_of(function, module, arrays);
  const std::vector<bool> looped = in_loops(function);
  std::vector<Use> uses(arrays.count());
  std::vector<std::uint32_t> reached(function.body.size(), kNone);
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    const Instruction& instruction = function.body[i];
    for (std::size_t k = 0; k < instruction.operands.size(); ++k) {
      const ptx::Operand& operand = instruction.operands[k];
      if ((operand.kind == Kind::reg || operand.kind == Kind::address) &&
          of[operand.index] != kNone && !only_leads(instruction, k))
        uses[of[operand.index]].stays = true;
    }
    if (!is_access(instruction)) continue;
    const bool load = instruction.op == Opcode::ld;
    const ptx::Operand& memory = instruction.operands[load ? 1 : 0];
    if (memory.kind != Kind::symbol && memory.kind != Kind::address) return kept;
    const ptx::Address address = addresses.find(memory);
    reached[i] = address.root.is_symbol ? arrays.array_at(address.root.index, address.offset)
                                        : of[address.root.index];
    if (reached[i] == kNone) return kept;
    Use& use = uses[reached[i]];
    const Vector& vector = vectors[i];
    use.stays |= size_of(instruction.mod.type) != 4 || instruction.mod.is_volatile;
    if (vector.elements == 0) continue;  // another instruction leads
    if (!address.root.is_symbol) {
      use.indexed += !looped[i] ? 1 : load ? kLoadInLoop : kStoreInLoop;
      continue;
    }
    ++use.accesses;
    use.elements += vector.elements;
  }
  const auto is_kept = [&](std::uint32_t array) {
    const Use& use = uses[array];
    const std::int64_t bytes = arrays.bytes(array), elements = bytes / 4;
    if (use.stays || use.indexed == 0 || bytes == 0 || bytes > kMostBytes) return false;
    return use.indexed * std::max<std::int64_t>(0, elements - kAlwaysKept) * kComparison <=
           kSaved + kSavedAccess * use.accesses + kSavedElement * use.elements;
  };
  for (std::uint32_t i = 0; i < kept.size(); ++i)
    kept[i] = reached[i] != kNone && is_kept(reached[i]);
  return kept;
}

}  // namespace simgpu::count
