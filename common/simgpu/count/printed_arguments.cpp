#include "common/simgpu/count/printed_arguments.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include "common/simgpu/count/local_arrays.hpp"
#include "common/simgpu/count/local_vectors.hpp"
#include "common/simgpu/ptx/addresses.hpp"

namespace simgpu::count {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using Kind = Operand::Kind;

/// The .param variables that calls of vprintf take the address of the arguments from.
std::set<std::uint32_t> handed_over(const ptx::Module& module, const Function& function) {
  std::set<std::uint32_t> params;
  for (const Instruction& instruction : function.body) {
    if (instruction.op != Opcode::call || instruction.operands.size() < 3) continue;
    const Operand &callee = instruction.operands[0], &arguments = instruction.operands[2];
    if (callee.kind != Kind::function || module.functions[callee.index].name != "vprintf" ||
        arguments.kind != Kind::vector || arguments.count != 2)
      continue;
    const Operand& second = function.vector_operands[arguments.index + 1];
    if (second.kind == Kind::param) params.insert(second.index);
  }
  return params;
}

}  // namespace

std::vector<bool> find_printed_arguments(const ptx::Module& module, const Function& function) {
  const std::set<std::uint32_t> params = handed_over(module, function);
  if (params.empty()) return {};
  const LocalArrays arrays(module, function);
  if (arrays.empty()) return {};
  const ptx::Addresses addresses(function);
  const std::vector<std::uint32_t> of = arrays_of(function, module, arrays);
  // The array that an address is in: printf is given a generic one, what stores has one of local memory.
  const auto array_of = [&](const Operand& operand) {
    if (operand.kind != Kind::reg && operand.kind != Kind::symbol && operand.kind != Kind::address)
      return LocalArrays::kNone;
    const ptx::Address address = addresses.find(operand, true);
    if (address.root.is_symbol && module.variables[address.root.index].space == Space::local)
      return arrays.array_at(address.root.index, address.offset);
    return operand.kind == Kind::symbol ? LocalArrays::kNone : of[operand.index];
  };
  std::set<std::uint32_t> printed;
  for (const Instruction& instruction : function.body) {
    if (instruction.op != Opcode::st || instruction.mod.space != Space::param) continue;
    const Operand& to = instruction.operands[0];
    if (to.kind == Kind::param && params.contains(to.index))
      printed.insert(array_of(instruction.operands[1]));
  }
  printed.erase(LocalArrays::kNone);
  std::vector<bool> stores(function.body.size(), false);
  for (std::size_t i = 0; i < stores.size(); ++i) {
    const Instruction& instruction = function.body[i];
    stores[i] = instruction.op == Opcode::st && instruction.mod.space != Space::param &&
                printed.contains(array_of(instruction.operands[0]));
  }
  return stores;
}

}  // namespace simgpu::count
