#include "common/simgpu/count/local_arrays.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace simgpu::count {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Space;
using ptx::Variable;
using Kind = ptx::Operand::Kind;

constexpr unsigned kFrameZeros = 3;  // log2 of 8 bytes

bool is_depot(const Variable& variable) {
  return variable.name.find("__local_depot") != std::string::npos;
}

/// The variable whose very address a register holds, kNone: none's.
std::uint32_t variable_in(const Function& function, const std::vector<std::uint32_t>& definitions,
                          std::uint32_t reg) {
  constexpr int kMostSteps = 8;
  for (int step = 0; step < kMostSteps && definitions[reg] != LocalArrays::kNone; ++step) {
    const Instruction& instruction = function.body[definitions[reg]];
    if (instruction.op != Opcode::mov && instruction.op != Opcode::cvta) break;
    const ptx::Operand& from = instruction.operands[1];
    if (from.kind == Kind::symbol && from.bits == 0) return from.index;
    if (from.kind != Kind::reg) break;
    reg = from.index;
  }
  return LocalArrays::kNone;
}

/// Where the arrays of `variable` begin: at what is added to its own address.
std::vector<std::int64_t> starts_in(const Function& function,
                                    const std::vector<std::uint32_t>& definitions,
                                    std::uint32_t variable) {
  std::vector<std::int64_t> starts{0};
  for (const Instruction& instruction : function.body) {
    if (instruction.op != Opcode::add || instruction.operands.size() != 3) continue;
    const ptx::Operand &base = instruction.operands[1], &by = instruction.operands[2];
    if (base.kind == Kind::reg && by.kind == Kind::imm &&
        variable_in(function, definitions, base.index) == variable)
      starts.push_back(by.bits);
  }
  return starts;
}

}  // namespace

LocalArrays::LocalArrays(const ptx::Module& module, const Function& function) {
  std::vector<std::uint32_t> locals;
  for (const std::uint32_t v : function.variables)
    if (module.variables[v].space == Space::local) locals.push_back(v);
  if (locals.empty()) return;
  const std::vector<std::uint32_t> definitions = ptx::only_definitions(function);
  std::sort(locals.begin(), locals.end());
  for (const std::uint32_t v : locals) {
    const Variable& variable = module.variables[v];
    if (is_depot(variable) && locals.size() == 1) {
      lay_out(module, v, starts_in(function, definitions, v));
    } else {
      // Of several, nobody has looked where ptxas puts which. No compiler writes them.
      const unsigned declared = zeros_of(variable.align);
      arrays_.push_back({v, 0});
      frames_.push_back({v, locals.size() == 1 ? std::max(declared, kFrameZeros) : declared});
    }
  }
}

void LocalArrays::lay_out(const ptx::Module& module, std::uint32_t variable,
                          std::vector<std::int64_t> starts) {
  const auto size = static_cast<std::int64_t>(module.variables[variable].size);
  std::erase_if(starts, [&](std::int64_t start) { return start < 0 || start >= size; });
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  unsigned most = kFrameZeros;
  std::int64_t at = 0;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const std::int64_t bytes = (k + 1 < starts.size() ? starts[k + 1] : size) - starts[k];
    const unsigned zeros = zeros_of(static_cast<std::uint64_t>(bytes));
    const std::int64_t align = std::int64_t{1} << zeros;
    at = (at + align - 1) / align * align;
    arrays_.push_back({variable, starts[k], at, zeros, bytes});
    at += bytes;
    most = std::max(most, zeros);
  }
  frames_.push_back({variable, most});
}

std::uint32_t LocalArrays::array_at(std::uint32_t variable, std::int64_t offset) const {
  const auto after = std::upper_bound(arrays_.begin(), arrays_.end(), std::pair(variable, offset),
                                      [](const auto& at, const Array& array) {
                                        return at < std::pair(array.variable, array.start);
                                      });
  if (after == arrays_.begin() || std::prev(after)->variable != variable) return kNone;
  return static_cast<std::uint32_t>(after - arrays_.begin() - 1);
}

std::int64_t LocalArrays::place(std::uint32_t variable, std::int64_t offset) const {
  const std::uint32_t array = array_at(variable, offset);
  if (array == kNone) return offset;
  const std::int64_t moved = arrays_[array].place - arrays_[array].start;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) +
                                   static_cast<std::uint64_t>(moved));  // wraps like addresses do
}

unsigned LocalArrays::zeros(std::uint32_t variable) const {
  const auto at = std::lower_bound(
      frames_.begin(), frames_.end(), variable,
      [](const Frame& frame, std::uint32_t wanted) { return frame.variable < wanted; });
  return at == frames_.end() || at->variable != variable ? 0 : at->zeros;
}

}  // namespace simgpu::count
