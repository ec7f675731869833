#include "common/simgpu/ptx/updates.hpp"

#include <cstdint>
#include <map>
#include <tuple>

#include "common/simgpu/ptx/control_flow.hpp"

namespace simgpu::ptx {
namespace {

/// Where a plain load or store reaches to, as its text says it.
using Place = std::tuple<Operand::Kind, std::uint32_t, std::int64_t, Space, Type, std::uint32_t,
                         std::uint32_t>;

Place place_of(const Instruction& i, const Operand& address) {
  return {address.kind, address.index, address.bits, i.mod.space,
          i.mod.type,   i.where.file,  i.where.line};
}

}  // namespace

std::vector<bool> find_updates(const Function& function) {
  std::vector<bool> updates(function.body.size(), false);
  const ControlFlow flow = build_control_flow(function);
  for (const BasicBlock& block : flow.blocks) {
    std::map<Place, std::uint32_t> loads;
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      const Instruction& instruction = function.body[i];
      if (instruction.op == Opcode::st && instruction.operands.size() == 2) {
        const auto load = loads.find(place_of(instruction, instruction.operands[0]));
        if (load != loads.end()) updates[i] = updates[load->second] = true;
      }
      // An address that changes is another place from then on.
      for_each_register(function, instruction, [&](std::uint32_t reg, bool is_write) {
        if (!is_write) return;
        std::erase_if(loads, [&](const auto& known) {
          return std::get<0>(known.first) == Operand::Kind::address &&
                 std::get<1>(known.first) == reg;
        });
      });
      if (instruction.op == Opcode::ld && instruction.operands.size() == 2 &&
          instruction.where.line != 0)
        loads[place_of(instruction, instruction.operands[1])] = i;
    }
  }
  return updates;
}

}  // namespace simgpu::ptx
