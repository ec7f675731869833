// Registers of wgmma (PTX ISA 9.7.15.7.1): a product adds to its sums, and takes A out of registers,
// from the moment that it is issued until wait_group; wgmma.fence must stand between what threads
// have written into them and the product.
//
// Only kernels with products have what is here. The decoder finds their registers, and those that
// are copied from or to them, and puts an operation before each instruction that touches one. A copy
// of a whole register is what a compiler makes where the program has none (ptxas makes the two one
// register): the copy counts as the register itself.
#include <algorithm>
#include <utility>

#include "common/simgpu/exec/async_proxy.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/ptx/control_flow.hpp"

namespace simgpu::exec {

using ptx::Opcode;
using Kind = ptx::Operand::Kind;

namespace {

bool is_copy(const ptx::Instruction& ins) {
  return ins.op == Opcode::mov && ins.operands.size() == 2 && ins.operands[0].kind == Kind::reg &&
         ins.operands[1].kind == Kind::reg;
}

const check::AsyncRead* open_product(const Warp& w, std::uint32_t number) {
  const check::AsyncRead* r = w.run->proxy.warpgroups[w.index / 4].find(number);
  return r != nullptr && r->ended[w.index % 4] == check::AsyncRead::kOpen ? r : nullptr;
}

void tell(const Warp& w, FindingKind kind, std::uint32_t pc, std::uint32_t other,
          std::string text) {
  add_finding(*w.run, kind, pc, other,
              describe(*w.run, {pc, w.index, 0, AccessType::load, MemorySpace::shared, 0, 0}),
              std::nullopt, std::move(text));
}

std::string sum_text(const Warp& w, const ProductRegister& r, std::uint32_t product) {
  return "register " + std::to_string(r.position) + " of the sums of the wgmma of " +
         line_text(*w.run->launch->program, product);
}

/// What must come before the sums of product `number`, which is open, may be used.
std::string what_is_missing(const Warp& w, std::uint32_t number) {
  return w.run->proxy.groups[w.index].is_grouped(number)
             ? "wgmma.wait_group must come first"
             : "no wgmma.commit_group stands behind that product, and wgmma.wait_group waits only "
               "for what has been committed";
}

}  // namespace

void FunctionDecoder::find_product_registers() {
  std::vector<std::uint32_t> found;
  std::vector<bool> known(f_.registers.size(), false);
  const auto add = [&](std::uint32_t reg) {
    if (known[reg]) return;
    known[reg] = true;
    found.push_back(reg);
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> copies;
  for (const Ins& ins : f_.body) {
    if (is_copy(ins)) {
      copies.emplace_back(ins.operands[0].index, ins.operands[1].index);
      copies.emplace_back(ins.operands[1].index, ins.operands[0].index);
    }
    if (ins.op != Opcode::wgmma) continue;
    for (std::size_t k = 0; k < 2 && k < ins.operands.size(); ++k) {
      const Operand& list = ins.operands[k];
      for (std::uint32_t e = 0; list.kind == Kind::vector && e < list.count; ++e)
        if (f_.vector_operands[list.index + e].kind == Kind::reg)
          add(f_.vector_operands[list.index + e].index);
    }
  }
  if (found.empty()) return;
  std::sort(copies.begin(), copies.end());
  for (std::size_t k = 0; k < found.size(); ++k)
    for (auto c = std::lower_bound(copies.begin(), copies.end(), std::pair{found[k], 0u});
         c != copies.end() && c->first == found[k]; ++c)
      add(c->second);
  product_register_.assign(f_.registers.size(), UINT32_MAX);
  for (const std::uint32_t reg : found) product_register_[reg] = p_.product_registers++;
}

void FunctionDecoder::watch_product_registers(const Ins& ins) {
  if (product_register_.empty()) return;
  // Sums in an array that clang leaves in local memory: nvcc has them in registers, or ptxas waits for each product.
  if ((ins.op == Opcode::ld || ins.op == Opcode::st) && ins.mod.space == ptx::Space::local) return;
  ProductAccess access;
  ptx::for_each_register(f_, ins, [&](std::uint32_t reg, bool writes) {
    const std::uint32_t number = product_register_[reg];
    if (number != UINT32_MAX) (writes ? access.writes : access.reads).push_back(number);
  });
  if (access.reads.empty() && access.writes.empty()) return;
  access.moves = ins.op == Opcode::mov;
  Op& op = emit(is_copy(ins) ? op_product_register_copy : op_product_registers);
  op.slot = static_cast<std::uint32_t>(p_.product_accesses.size());
  p_.product_accesses.push_back(std::move(access));
}

/// What is known of a register that a product works on goes with its copy; another one is a value
/// that the compiler puts where it likes.
void op_product_register_copy(Warp& w, const Op& op) {
  const ProductAccess& a = w.run->launch->program->product_accesses[op.slot];
  if (a.reads.empty() || a.writes.empty()) return;
  const ProductRegister& from = w.product_registers[a.reads[0]];
  ProductRegister& to = w.product_registers[a.writes[0]];
  const std::uint32_t fences = to.fences;
  to = from;
  if (open_product(w, from.sum_of) != nullptr) return;
  to.fences = to.fences_at_write = fences;
  to.writer = op.pc;
}

void op_product_registers(Warp& w, const Op& op) {
  if (!w.run->launch->options.checks.race) return;
  const Program& p = *w.run->launch->program;
  const ProductAccess& a = p.product_accesses[op.slot];
  for (const std::uint32_t number : a.reads) {
    const ProductRegister& r = w.product_registers[number];
    if (const check::AsyncRead* product = open_product(w, r.sum_of))
      tell(w, FindingKind::product_registers, op.pc, product->pc,
           line_text(p, op.pc) + " reads " + sum_text(w, r, product->pc) +
               ", which may not be there yet: " + what_is_missing(w, r.sum_of));
  }
  for (const std::uint32_t number : a.writes) {
    ProductRegister& r = w.product_registers[number];
    if (const check::AsyncRead* product = open_product(w, r.sum_of))
      tell(w, FindingKind::product_registers, op.pc, product->pc,
           line_text(p, op.pc) + " writes " + sum_text(w, r, product->pc) +
               ", which is still adding to it: " + what_is_missing(w, r.sum_of));
    else if (const check::AsyncRead* reader = open_product(w, r.input_of))
      tell(w, FindingKind::product_registers, op.pc, reader->pc,
           line_text(p, op.pc) + " writes register " + std::to_string(r.position) +
               " of A of the wgmma of " + line_text(p, reader->pc) +
               ", which may still be reading it: wgmma.wait_group must come first");
    r.writer = op.pc;
    r.fences_at_write = a.moves ? r.fences : w.product_fences;
  }
}

void note_product(Warp& w, const Wgmma& form, std::uint32_t pc, std::uint32_t number) {
  const Program& p = *w.run->launch->program;
  const bool checks = w.run->launch->options.checks.race;
  // Of the hundred and more registers of each product, most have only been added to.
  const auto is_unfenced = [&](const ProductRegister& r) {
    return r.writer != UINT32_MAX && w.product_fences == r.fences_at_write && checks;
  };
  const auto unfenced = [&](const ProductRegister& r, std::uint32_t position, const char* of) {
    tell(w, FindingKind::proxy_fence_missing, pc, r.writer,
         "the wgmma of " + line_text(p, pc) + " takes register " + std::to_string(position) +
             " of its " + of + ", which " + line_text(p, r.writer) +
             " has written, without a wgmma.fence between them");
  };
  for (std::uint32_t k = 0; k < form.fragment_numbers.size(); ++k) {
    if (form.fragment_numbers[k] == UINT32_MAX) continue;  // a constant
    ProductRegister& r = w.product_registers[form.fragment_numbers[k]];
    const check::AsyncRead* product = checks ? open_product(w, r.sum_of) : nullptr;
    if (product != nullptr)
      tell(w, FindingKind::product_registers, pc, product->pc,
           "the wgmma of " + line_text(p, pc) + " takes as A " + sum_text(w, r, product->pc) +
               ", which may not be there yet: wgmma.wait_group must come first");
    if (is_unfenced(r)) unfenced(r, k, "A");
    r = {r.sum_of, number, k, r.shape, w.product_fences, UINT32_MAX, 0};
  }
  const std::uint32_t shape =
      form.n | (form.half_sums ? 256u : 0u) | static_cast<std::uint32_t>(form.format) << 16;
  for (std::uint32_t k = 0; k < form.sum_numbers.size(); ++k) {
    if (form.sum_numbers[k] == UINT32_MAX) continue;  // "_"
    ProductRegister& r = w.product_registers[form.sum_numbers[k]];
    const bool changes = checks && r.shape != shape && r.fences == w.product_fences;
    if (const check::AsyncRead* product = changes ? open_product(w, r.sum_of) : nullptr)
      tell(w, FindingKind::proxy_fence_missing, pc, product->pc,
           "the wgmma of " + line_text(p, pc) + " adds to " + sum_text(w, r, product->pc) +
               ", which has another shape: only products of one shape follow each other without a "
               "wgmma.fence");
    if (is_unfenced(r)) unfenced(r, k, "sums");
    r = {number, r.input_of, k, shape, w.product_fences, UINT32_MAX, 0};
  }
}

}  // namespace simgpu::exec
