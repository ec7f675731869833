// A kernel and every function that it may call, as one program.
#include "common/simgpu/exec/program.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/memory/address.hpp"

namespace simgpu::exec {

using Kind = ptx::Operand::Kind;

SourceLine Program::line_of(std::uint32_t pc) const {
  if (pc >= instructions.size() || instructions[pc].ptx == nullptr) return {};
  const ptx::Location& at = instructions[pc].ptx->where;
  if (at.file >= module->files.size()) return {};
  return {module->files[at.file].path, at.line};
}

namespace {

/// Places the shared arrays of the entry and of every function it may call.
void place_shared(ProgramBuilder& b, std::uint32_t entry) {
  std::vector<char> seen(b.module.functions.size(), 0);
  std::vector<std::uint32_t> work{entry}, arrays, dynamic;
  std::vector<char> taken(b.module.variables.size(), 0);
  seen[entry] = 1;
  while (!work.empty()) {
    const ptx::Function& f = b.module.functions[work.back()];
    work.pop_back();
    for (const std::uint32_t v : f.variables) {
      if (b.module.variables[v].space != ptx::Space::shared || taken[v]) continue;
      taken[v] = 1;
      (b.module.variables[v].is_extern ? dynamic : arrays).push_back(v);
    }
    for (const ptx::Instruction& ins : f.body) {
      if (ins.op != ptx::Opcode::call || ins.operands.empty()) continue;
      const std::uint32_t callee = ins.operands[0].index;
      if (ins.operands[0].kind == Kind::function && !seen[callee]) {
        seen[callee] = 1;
        work.push_back(callee);
      }
    }
  }
  std::ranges::sort(arrays, {}, [&](std::uint32_t v) { return b.module.variables[v].position; });
  std::uint64_t at = memory::kSharedBase;
  for (const std::uint32_t v : arrays) {
    const ptx::Variable& variable = b.module.variables[v];
    const std::uint64_t align = std::max<std::uint64_t>(variable.align, 1);
    at = (at + align - 1) / align * align;
    if (at + variable.size > (std::uint64_t{1} << 24))
      throw Undecodable("more than 16 MiB of static shared memory",
                        b.module.functions[entry].where);
    b.shared_offsets[v] = static_cast<std::uint32_t>(at);
    b.program.shared.push_back({v, static_cast<std::uint32_t>(at),
                                static_cast<std::uint32_t>(variable.size),
                                variable.pretty.empty() ? variable.name : variable.pretty});
    at += variable.size;
  }
  b.program.static_shared_bytes = static_cast<std::uint32_t>(at - memory::kSharedBase);
  // Dynamic shared memory follows the static arrays; all extern arrays name its start.
  std::uint64_t align = 16;
  for (const std::uint32_t v : dynamic)
    align = std::max<std::uint64_t>(align, b.module.variables[v].align);
  at = (at + align - 1) / align * align;
  for (const std::uint32_t v : dynamic) b.shared_offsets[v] = static_cast<std::uint32_t>(at);
  if (!dynamic.empty()) {
    const ptx::Variable& variable = b.module.variables[dynamic.front()];
    b.program.shared.push_back({UINT32_MAX, static_cast<std::uint32_t>(at), 0,
                                variable.pretty.empty() ? variable.name : variable.pretty});
  }
  b.program.dynamic_shared_offset = static_cast<std::uint32_t>(at - memory::kSharedBase);
}

}  // namespace

std::unique_ptr<Program> decode(const ptx::Module& module, std::uint32_t entry,
                                const Placement& placement, SharedAddresses addresses,
                                Tracking tracking) {
  auto program = std::make_unique<Program>();
  program->module = &module;
  program->tracks_unset = tracking != Tracking::none;
  program->tracks_unwritten = tracking == Tracking::unwritten;
  ProgramBuilder b{module, placement, addresses, tracking != Tracking::none, *program, {},
                   {},     {},        {}};
  try {
    const ptx::Function& f = module.functions[entry];
    if (!f.unsupported.empty()) throw Undecodable(f.unsupported, f.unsupported_where);
    place_shared(b, entry);
    b.function_number(entry);
    while (!b.pending.empty()) {
      const std::uint32_t index = b.pending.back();
      b.pending.pop_back();
      const std::uint32_t number = b.function_numbers.at(index);
      if (program->functions.size() < b.function_numbers.size())
        program->functions.resize(b.function_numbers.size());
      FunctionDecoder(b, number, module.functions[index]).run();
      program->functions.resize(b.function_numbers.size());
    }
  } catch (const Undecodable& e) {
    program->unsupported = e.what();
    program->unsupported_where = e.where;
  }
  return program;
}

}  // namespace simgpu::exec
