#include "common/simgpu/ptx/polls.hpp"

#include <algorithm>
#include <cstdint>

#include "common/simgpu/ptx/control_flow.hpp"

namespace simgpu::ptx {
namespace {

bool is_load(const Instruction& ins) {
  return ins.op == Opcode::ld || ins.op == Opcode::ldu || ins.op == Opcode::atom;
}

/// Registers that depend on what `load` brings, but not by way of memory.
std::vector<bool> depending(const Function& f, const Instruction& load) {
  std::vector<bool> in(f.registers.size() + 1, false);
  const auto visit_writes = [&](const Instruction& ins, auto&& mark) {
    for_each_register(f, ins, [&](std::uint32_t reg, bool is_write) {
      if (is_write) mark(reg);
    });
  };
  visit_writes(load, [&](std::uint32_t reg) { in[reg] = true; });
  constexpr int kMostRounds = 20;  // the rest depends, too
  bool changed = true;
  for (int round = 0; changed; ++round) {
    if (round == kMostRounds) return std::vector<bool>(in.size(), true);
    changed = false;
    for (const Instruction& ins : f.body) {
      if (is_load(ins)) continue;
      bool depends = false;
      for_each_register(f, ins,
                        [&](std::uint32_t reg, bool is_write) { depends |= !is_write && in[reg]; });
      if (depends)
        visit_writes(ins, [&](std::uint32_t reg) {
          changed |= !in[reg];
          in[reg] = true;
        });
    }
  }
  return in;
}

/// Blocks that may come after `from`, by edges forwards or backwards.
std::vector<bool> reached(const ControlFlow& flow, std::uint32_t from, bool backwards) {
  std::vector<bool> seen(flow.blocks.size(), false);
  std::vector<std::uint32_t> work{from};
  while (!work.empty()) {
    const BasicBlock& b = flow.blocks[work.back()];
    work.pop_back();
    for (const std::uint32_t next : backwards ? b.predecessors : b.successors)
      if (!seen[next]) {
        seen[next] = true;
        work.push_back(next);
      }
  }
  return seen;
}

bool decides_its_loop(const Function& f, const ControlFlow& flow, std::uint32_t load) {
  const std::uint32_t home = flow.block_of[load];
  const std::vector<bool> after = reached(flow, home, false);
  if (!after[home]) return false;
  const std::vector<bool> before = reached(flow, home, true), in = depending(f, f.body[load]);
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    if (!after[b] || !before[b] || flow.blocks[b].successors.size() < 2) continue;
    const Instruction& last = f.body[flow.blocks[b].end - 1];
    bool depends = false;
    for_each_register(f, last, [&](std::uint32_t reg, bool) { depends |= in[reg]; });
    if (depends) return true;
  }
  return false;
}

}  // namespace

std::vector<bool> find_polls(const Function& function) {
  const auto is_candidate = [](const Instruction& ins) {
    return ins.op == Opcode::ld && (ins.mod.is_volatile || ins.mod.ordering != Ordering::none);
  };
  std::vector<bool> polls(function.body.size(), false);
  if (std::none_of(function.body.begin(), function.body.end(), is_candidate)) return polls;
  const ControlFlow flow = build_control_flow(function);
  constexpr int kMostLoads = 32;
  int loads = 0;
  for (std::uint32_t i = 0; i < function.body.size(); ++i)
    if (is_candidate(function.body[i]))
      polls[i] = ++loads > kMostLoads || decides_its_loop(function, flow, i);
  return polls;
}

}  // namespace simgpu::ptx
