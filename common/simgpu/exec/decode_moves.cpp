// Asynchronous copies and matrix moves (PTX ISA: "cp.async", "ldmatrix", "stmatrix", "movmatrix").
#include <algorithm>

#include "common/simgpu/exec/decoder.hpp"

namespace simgpu::exec {

using ptx::Opcode;
using ptx::Space;
using Kind = ptx::Operand::Kind;
using PT = ptx::Type;

void FunctionDecoder::async_copy(const Ins& ins) {
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::memory_global;
  const Operand& size = at(ins, 2);
  if (size.kind != Kind::imm || (size.bits != 4 && size.bits != 8 && size.bits != 16))
    fail("'" + std::string(ins.mod.text) + "' copies 4, 8 or 16 bytes, and says so by a constant");
  AsyncForm form;
  form.bypasses_l1 = ins.mod.text.substr(0, 11) == "cp.async.cg";
  if (form.bypasses_l1 && size.bits != 16)
    fail("'" + std::string(ins.mod.text) +
         "' copies 16 bytes only: smaller copies are cp.async.ca");
  form.to = memory_base(at(ins, 0), form.to_offset);
  form.from = memory_base(at(ins, 1), form.from_offset);
  if (without_hint(ins) > 3) {
    const Operand& o = at(ins, 3);
    const bool is_predicate = o.kind == Kind::reg && f_.registers[o.index].type == PT::pred;
    if (is_predicate)
      form.ignore = predicate(o);
    else
      form.source_bytes = source(o, 4);
  }
  Op& o = emit(op_async_copy);
  o.imm = static_cast<std::int64_t>(p_.async_forms.size());
  o.width = static_cast<std::uint8_t>(size.bits);
  o.site = new_site();
  o.slot = p_.moves++;
  p_.async_forms.push_back(form);
}

void FunctionDecoder::async_wait(const Ins& ins) {
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::synchronisation;
  Op& o = emit(ins.op == Opcode::cp_async_commit_group ? op_async_commit : op_async_wait);
  o.imm = multiply_adds_;
  o.x = ins.op == Opcode::cp_async_wait_all ? 1 : ins.op == Opcode::cp_async_arrive ? 2 : 0;
  // Groups that may stay open; more than there can be is as good as all.
  if (ins.op == Opcode::cp_async_wait_group)
    o.slot = static_cast<std::uint32_t>(std::clamp<std::int64_t>(at(ins, 0).bits, 0, INT32_MAX));
  // The copies may arrive at any time: here they do at once, and then the barrier is told of them.
  if (ins.op == Opcode::cp_async_arrive) mbarrier(ins);
}

void FunctionDecoder::matrix_move(const Ins& ins) {
  InstructionInfo& info = p_.instructions[code_.first_pc + current_index_];
  if (ins.mod.m != 8 || ins.mod.n != 8 || ins.mod.k != 0)
    fail("'" + std::string(ins.mod.text) +
         "' is not supported by the simulated GPU: 8x8 matrices "
         "of 16-bit elements are");
  if (ins.op == Opcode::movmatrix) {
    info.klass = InstructionClass::move;
    const Ref a = source(at(ins, 1), 4), dst = destination(at(ins, 0), PT::b32);
    Op& o = emit(op_movmatrix);
    o.dst = dst;
    o.a = a;
    finish_destination(at(ins, 0), PT::b32, dst);
    return;
  }
  info.klass = InstructionClass::memory_shared;
  const bool load = ins.op == Opcode::ldmatrix;
  const Space space = ins.mod.space == Space::none ? Space::generic : ins.mod.space;
  if (space != Space::shared && space != Space::generic)
    fail("'" + std::string(ins.mod.text) + "' works on shared memory only");
  const Operand& fragments = at(ins, load ? 0 : 1);
  const unsigned num = ins.mod.num;
  auto element = [&](unsigned k) -> const Operand& {
    return fragments.kind == Kind::vector ? f_.vector_operands[fragments.index + k] : fragments;
  };
  if ((fragments.kind == Kind::vector ? fragments.count : 1) != num)
    fail("'" + std::string(ins.mod.text) + "' with another number of registers");
  std::int64_t offset;
  const Ref base = memory_base(at(ins, load ? 1 : 0), offset);
  std::vector<Ref>& list = p_.lists.emplace_back();
  for (unsigned k = 0; k < num; ++k)
    list.push_back(load ? destination(element(k), PT::b32) : source(element(k), 4));
  Op& o = emit(load ? op_ldmatrix : op_stmatrix);
  o.a = base;
  o.imm = offset;
  o.list = list.data();
  o.vec = static_cast<std::uint8_t>(num);
  o.width = 16;
  o.x = static_cast<std::uint8_t>(space);
  o.z = ins.mod.trans ? 1 : 0;
  o.site = new_site();
  o.slot = p_.moves++;
  for (unsigned k = 0; load && k < num; ++k) finish_destination(element(k), PT::b32, list[k]);
}

}  // namespace simgpu::exec
