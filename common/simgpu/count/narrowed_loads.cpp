#include "common/simgpu/count/narrowed_loads.hpp"

#include <bit>

#include "common/simgpu/ptx/control_flow.hpp"

namespace simgpu::count {

namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Space;
using Kind = ptx::Operand::Kind;

bool can_be_narrowed(const Instruction& load) {
  const unsigned element = ptx::size_of(load.mod.type);
  const bool in_reach = load.mod.space == Space::global || load.mod.space == Space::shared ||
                        load.mod.space == Space::generic || load.mod.space == Space::none;
  return (load.op == Opcode::ld || load.op == Opcode::ldu) && in_reach && !load.mod.is_volatile &&
         load.mod.ordering == ptx::Ordering::none && load.operands[0].kind == Kind::vector &&
         ((element == 4 && (load.mod.vec == 2 || load.mod.vec == 4)) ||
          (element == 8 && load.mod.vec == 2));
}

/// Bit k: element k of the load's vector is read by some instruction.
unsigned used_elements(const Function& function, const Instruction& load,
                       const std::vector<bool>& is_read) {
  const ptx::Operand& to = load.operands[0];
  unsigned used = 0;
  for (std::uint32_t k = 0; k < to.count; ++k)
    if (const ptx::Operand& e = function.vector_operands[to.index + k];
        e.kind == Kind::reg && is_read[e.index])
      used |= 1u << k;
  return used;
}

NarrowedLoad narrowed(unsigned used, unsigned elements, unsigned element, bool generic) {
  NarrowedLoad load;
  const auto add = [&](unsigned first, unsigned count) {
    load.accesses[load.count++] = {static_cast<std::uint8_t>(first * element),
                                   static_cast<std::uint8_t>(count * element)};
  };
  const int most = std::popcount(used), enough = elements == 4 && !generic ? 3 : int(elements);
  if (most == 0 || most >= enough) return load;
  for (unsigned first = 0; first < elements; first += 2) {
    const unsigned half = (used >> first) & 3u;
    if (half == 3)
      add(first, 2);
    else if (half != 0)
      add(first + (half == 2 ? 1 : 0), 1);
  }
  return load;
}

}  // namespace

std::vector<NarrowedLoad> find_narrowed_loads(const Function& function) {
  std::vector<NarrowedLoad> all(function.body.size());
  std::vector<bool> is_read;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Instruction& load = function.body[i];
    if (!can_be_narrowed(load)) continue;
    if (is_read.empty()) {
      is_read.resize(function.registers.size());
      for (const Instruction& one : function.body)
        ptx::for_each_register(function, one, [&](std::uint32_t reg, bool is_write) {
          if (!is_write) is_read[reg] = true;
        });
    }
    const bool generic = load.mod.space == Space::generic || load.mod.space == Space::none;
    all[i] = narrowed(used_elements(function, load, is_read), load.mod.vec,
                      ptx::size_of(load.mod.type), generic);
  }
  return all;
}

}  // namespace simgpu::count
