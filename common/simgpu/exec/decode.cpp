// Structure: frames, basic blocks, control flow. See decode_alu.cpp and decode_memory.cpp for
// single instructions.
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "common/simgpu/count/doubled_sums.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/order.hpp"
#include "common/simgpu/memory/address.hpp"
#include "common/simgpu/ptx/polls.hpp"
#include "common/simgpu/ptx/shared_origins.hpp"
#include "common/simgpu/ptx/updates.hpp"

namespace simgpu::exec {

using ptx::Opcode;
using Kind = ptx::Operand::Kind;

unsigned log2_bytes(unsigned bytes) {
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

// ----------------------------------------------------------------------------------------
// ProgramBuilder

Ref ProgramBuilder::constant(std::uint64_t bits, unsigned bytes) {
  if (bytes < 8) bits &= (std::uint64_t{1} << (8 * bytes)) - 1;
  auto [it, is_new] = constants.try_emplace({bits, bytes}, kNoRef);
  if (is_new) {
    ConstantLanes& lanes = program.constants.emplace_back();
    for (unsigned i = 0; i < kLanes; ++i) std::memcpy(lanes.bytes + i * bytes, &bits, bytes);
    it->second = static_cast<Ref>(reinterpret_cast<std::uintptr_t>(lanes.bytes));
  }
  return it->second;
}
Ref ProgramBuilder::constant_mask(bool value) {
  return constant(value ? kFullMask : 0u, 4);
}

std::uint32_t ProgramBuilder::function_number(std::uint32_t module_index) {
  auto [it, is_new] = function_numbers.try_emplace(
      module_index, static_cast<std::uint32_t>(function_numbers.size()));
  if (is_new) pending.push_back(module_index);
  return it->second;
}

std::uint32_t ProgramBuilder::shared_address(std::uint32_t variable) {
  const auto it = shared_offsets.find(variable);
  return it == shared_offsets.end() ? 0 : it->second;
}

// ----------------------------------------------------------------------------------------------
// operands

FunctionDecoder::FunctionDecoder(ProgramBuilder& builder, std::uint32_t number,
                                 const ptx::Function& function)
    : b_(builder), p_(builder.program), number_(number), f_(function) {
  code_.source = &function;
}

void FunctionDecoder::fail(const std::string& message) const {
  throw Undecodable(message, current_ != nullptr ? current_->where : f_.where);
}
void FunctionDecoder::unsupported() const {
  fail("'" + std::string(current_->mod.text) + "' is not supported by the simulated GPU");
}

std::uint32_t FunctionDecoder::allocate(std::uint32_t bytes, std::uint32_t align) {
  frame_ = (frame_ + align - 1) / align * align;
  const std::uint32_t offset = frame_;
  frame_ += bytes;
  return offset;
}

void FunctionDecoder::lay_out_parameters() {
  // Numbered through params, results, call_params; each group lies in an area of its own.
  auto area = [&](const std::vector<ptx::Parameter>& group, std::uint32_t& offset,
                  std::uint32_t& bytes, bool placed) {
    std::uint32_t at = 0;
    for (const ptx::Parameter& p : group) {
      const std::uint32_t align = p.align == 0 ? 1 : p.align;
      at = placed ? p.offset : (at + align - 1) / align * align;
      param_offset_.push_back(at);
      at += p.size;
      bytes = std::max(bytes, at);
    }
    bytes = (bytes + 15) / 16 * 16;
    offset = f_.is_entry && placed
                 ? 0
                 : allocate(kLanes * bytes * (b_.tracks_unset ? kAreasWithMarks : 1));
  };
  area(f_.params, code_.param_area, code_.param_bytes, true);
  area(f_.results, code_.result_area, code_.result_bytes, false);
  area(f_.call_params, code_.call_area, code_.call_bytes, false);
}

Ref FunctionDecoder::temporary(unsigned lane_bytes) {
  const unsigned k = log2_bytes(lane_bytes);
  if (temporaries_used_[k] == temporaries_[k].size())
    temporaries_[k].push_back(frame_ref(allocate(kLanes * lane_bytes)));
  return temporaries_[k][temporaries_used_[k]++];
}
Ref FunctionDecoder::mask_temporary() {
  if (mask_temporaries_used_ == mask_temporaries_.size())
    mask_temporaries_.push_back(frame_ref(allocate(4, 4)));
  return mask_temporaries_[mask_temporaries_used_++];
}

Ref FunctionDecoder::reg(std::uint32_t index) const {
  return frame_ref(register_offset_[index]);
}
unsigned FunctionDecoder::register_bytes(std::uint32_t index) const {
  return ptx::size_of(f_.registers[index].type);
}

const ptx::Operand& FunctionDecoder::at(const Ins& ins, std::size_t k) const {
  if (k >= ins.operands.size()) fail("'" + std::string(ins.mod.text) + "' has too few operands");
  return ins.operands[k];
}

void FunctionDecoder::convert_width(Ref to, unsigned to_bytes, Ref from, unsigned from_bytes) {
  const HandlerTable& t = handlers();
  Handler h =
      to_bytes < from_bytes
          ? t.narrow[log2_bytes(from_bytes)][log2_bytes(to_bytes)]
          : t.widen[static_cast<std::size_t>(from_bytes == 1   ? Ty::u8
                                             : from_bytes == 2 ? Ty::u16
                                                               : Ty::u32)][log2_bytes(to_bytes)];
  Op& op = emit(h);
  op.dst = to;
  op.a = from;
}

Ref FunctionDecoder::special(ptx::Special s, unsigned bytes) {
  using S = ptx::Special;
  if (s == S::clock || s == S::clock_hi || s == S::clock64 || s == S::globaltimer ||
      s == S::globaltimer_lo || s == S::globaltimer_hi) {
    const Ref t = temporary(bytes);
    Op& op = emit(op_clock);
    op.dst = t;
    op.width = static_cast<std::uint8_t>(bytes);
    op.x = s == S::clock_hi || s == S::globaltimer_hi ? 1 : 0;
    op.y = s == S::globaltimer || s == S::globaltimer_lo || s == S::globaltimer_hi ? 1 : 0;
    return t;
  }
  auto [it, is_new] = specials_.try_emplace({s, bytes}, kNoRef);
  if (is_new) {
    const std::uint32_t offset = allocate(kLanes * bytes);
    code_.specials.push_back({s, offset, bytes});
    it->second = frame_ref(offset);
  }
  return it->second;
}

/// A symbol's or parameter's address as a 64-bit constant, unless it has a frame_base().
Ref FunctionDecoder::address_constant(const Operand& o) {
  if (o.kind == Kind::param) {
    const std::uint32_t n = static_cast<std::uint32_t>(f_.params.size());
    if (o.index >= n) fail("the address of a call parameter is taken");
    return b_.constant(param_offset_[o.index] + static_cast<std::uint64_t>(o.bits), 8);
  }
  const ptx::Variable& v = b_.module.variables[o.index];
  std::uint64_t base;
  if (v.space == ptx::Space::shared)
    base = b_.shared_address(o.index);
  else
    base = b_.placement.variables[o.index];
  return b_.constant(base + static_cast<std::uint64_t>(o.bits), 8);
}

Ref FunctionDecoder::source(const Operand& o, unsigned bytes) {
  switch (o.kind) {
    case Kind::reg: {
      const unsigned have = register_bytes(o.index);
      if (have == 0) fail("a predicate stands where a value is needed");
      if (have == bytes) return reg(o.index);
      const Ref t = temporary(bytes);
      convert_width(t, bytes, reg(o.index), have);
      return t;
    }
    case Kind::imm:
      return b_.constant(static_cast<std::uint64_t>(o.bits), bytes);
    case Kind::special:
      return special(static_cast<ptx::Special>(o.index), bytes);
    case Kind::symbol:
    case Kind::param: {
      Ref value;
      std::int64_t offset = 0;
      if (const Ref base = frame_base(o, offset); base != kNoRef) {
        value = temporary(8);
        Op& op = emit_alu(Alu::add, Ty::u64);
        op.dst = value;
        op.a = base;
        op.b = b_.constant(static_cast<std::uint64_t>(offset), 8);
      } else {
        value = address_constant(o);
      }
      if (bytes == 8) return value;
      const Ref t = temporary(bytes);
      convert_width(t, bytes, value, 8);
      return t;
    }
    default:
      fail("an operand of '" + std::string(current_->mod.text) + "' has an unexpected form");
  }
}

Ref FunctionDecoder::predicate(const Operand& o) {
  if (o.kind == Kind::imm) return b_.constant_mask((o.bits != 0) != o.negated);
  if (o.kind != Kind::reg || f_.registers[o.index].type != ptx::Type::pred)
    fail("a predicate is expected");
  if (!o.negated) return reg(o.index);
  const Ref t = mask_temporary();
  Op& op = emit_alu(Alu::not_, Ty::pred);
  op.dst = t;
  op.a = reg(o.index);
  return t;
}

Ref FunctionDecoder::destination(const Operand& o, ptx::Type type) {
  if (o.kind == Kind::sink)
    return type == ptx::Type::pred ? mask_temporary() : temporary(ptx::size_of(type));
  if (o.kind != Kind::reg)
    fail("the destination of '" + std::string(current_->mod.text) + "' is no register");
  if (type == ptx::Type::pred || register_bytes(o.index) == ptx::size_of(type)) return reg(o.index);
  return temporary(ptx::size_of(type));
}

void FunctionDecoder::finish_destination(const Operand& o, ptx::Type type, Ref written) {
  if (o.kind != Kind::reg || type == ptx::Type::pred) return;
  const unsigned have = register_bytes(o.index), bytes = ptx::size_of(type);
  if (have == bytes) return;
  // Narrow results are extended to the register: by their sign if the type has one.
  Ty t = lane_type(type);
  if (t == Ty::f16 || t == Ty::bf16 || t == Ty::e4m3x2 || t == Ty::e5m2x2) t = Ty::u16;
  if (t == Ty::f32 || t == Ty::tf32 || t == Ty::f16x2 || t == Ty::bf16x2) t = Ty::u32;
  Handler h = have > bytes ? handlers().widen[static_cast<std::size_t>(t)][log2_bytes(have)]
                           : handlers().narrow[log2_bytes(bytes)][log2_bytes(have)];
  Op& op = emit(h);
  op.dst = reg(o.index);
  op.a = written;
}

// ----------------------------------------------------------------------------------------------
// emitting

Op& FunctionDecoder::emit(Handler handler) {
  if (handler == nullptr) unsupported();
  Op& op = ops_.emplace_back();
  op.fn = handler;
  op.pc = code_.first_pc + current_index_;
  if (current_->guard != UINT32_MAX) {
    op.guarded = handler;
    op.fn = run_guarded;
    op.guard = reg(current_->guard);
    op.guard_negated =
        static_cast<std::uint8_t>((current_->guard_negated ? 1 : 0) | (counted_ ? 0 : 2));
    counted_ = true;
  }
  return op;
}
Op& FunctionDecoder::emit_alu(Alu op, Ty type) {
  if (type == Ty::count_) unsupported();
  return emit(handlers().alu[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)]);
}

// ------------------------------------------------------------------------------------------
// control flow

namespace {
bool ends_block(Opcode op) {
  switch (op) {
    case Opcode::bra:
    case Opcode::brx_idx:
    case Opcode::call:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::trap:
    case Opcode::bar_sync:
    case Opcode::bar_red:
    case Opcode::mbarrier_wait:
    case Opcode::mbarrier_wait_parity:
    case Opcode::wgmma:
    case Opcode::cluster_wait:
      return true;
    default:
      return false;
  }
}
}  // namespace

void FunctionDecoder::find_blocks() {
  const auto n = static_cast<std::uint32_t>(f_.body.size());
  std::vector<char> leader(n + 1, 0);
  leader[0] = 1;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Ins& ins = f_.body[i];
    if (!ends_block(ins.op)) continue;
    leader[i + 1] = 1;
    current_ = &ins;
    auto mark = [&](const Operand& o) {
      if (o.kind != Kind::label || o.index >= n) fail("a branch leads out of the function");
      leader[o.index] = 1;
    };
    if (ins.op == Opcode::bra) mark(at(ins, 0));
    if (ins.op == Opcode::brx_idx)
      for (std::uint32_t k = 0; k < at(ins, 1).count; ++k)
        mark(f_.vector_operands[at(ins, 1).index + k]);
  }
  leader_block_.assign(n + 1, kNoBlock);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (leader[i]) ranges_.push_back({i, i});
    leader_block_[i] = static_cast<std::uint32_t>(ranges_.size()) - 1;
    ranges_.back().second = i + 1;
  }
  blocks_.resize(ranges_.size());
}

namespace {
/// Functions that the engine provides, beside those of math_calls.hpp. Constant: a program with managed variables
/// decodes its kernels before main begins, perhaps before this file's variables are constructed.
constexpr std::pair<std::string_view, std::uint32_t> kProvided[] = {{"vprintf", kVprintf},
                                                                    {"__assertfail", kAssertFail},
                                                                    {"__simgpu_forget", kForget},
                                                                    {"__simgpu_lend", kLend}};
}  // namespace

void FunctionDecoder::decode_call(BasicBlock& block, const Ins& ins) {
  const Operand &callee = at(ins, 0), &results = at(ins, 1), &arguments = at(ins, 2);
  if (callee.kind != Kind::function) fail("a call through a pointer is not supported");
  const ptx::Function& target = b_.module.functions[callee.index];
  p_.has_calls = true;
  Call call;
  std::vector<std::uint32_t> to_param, to_result;
  std::uint32_t at_bytes = 0;
  if (target.is_declaration) {
    const auto* const known = std::find_if(std::begin(kProvided), std::end(kProvided),
                                           [&](const auto& p) { return p.first == target.name; });
    if (known != std::end(kProvided))
      call.function = known->second;
    else if ((call.math = find_math_function(target.name)) != nullptr)
      call.function = kMath;
    else if (target.name == "malloc" || target.name == "free")
      fail("'" + target.name +
           "' inside a kernel is not supported: allocate with cudaMalloc before the launch");
    else
      fail("the function '" + target.name + "' is declared but not defined in this module");
  } else {
    if (!target.unsupported.empty())
      throw Undecodable(target.unsupported, target.unsupported_where);
    call.function = b_.function_number(callee.index);
  }
  for (const ptx::Parameter& p : target.params) to_param.push_back(p.offset);
  for (const ptx::Parameter& p : target.results) {
    const std::uint32_t align = p.align == 0 ? 1 : p.align;
    at_bytes = (at_bytes + align - 1) / align * align;
    to_result.push_back(at_bytes);
    at_bytes += p.size;
  }
  const auto first_call_param = static_cast<std::uint32_t>(f_.params.size() + f_.results.size());
  auto copy = [&](const Operand& list, const std::vector<ptx::Parameter>& formal,
                  const std::vector<std::uint32_t>& offset, std::vector<Call::Copy>& out,
                  bool back) {
    if (list.count != formal.size())
      fail("call of '" + target.name + "' with another number of parameters");
    for (std::uint32_t k = 0; k < list.count; ++k) {
      const Operand& o = f_.vector_operands[list.index + k];
      Call::Copy c;
      c.bytes = formal[k].size;
      c.to = offset[k];
      if (o.kind == Kind::param && o.index >= first_call_param) {
        c.from = param_offset_[o.index];
        if (f_.call_params[o.index - first_call_param].size < c.bytes)
          fail("a call parameter of '" + target.name + "' is too small");
      } else if (!back && o.kind == Kind::imm && c.bytes <= 8) {
        c.immediate = b_.constant(static_cast<std::uint64_t>(o.bits), c.bytes);
      } else if (!back && o.kind == Kind::reg && register_bytes(o.index) == c.bytes) {
        c.immediate = reg(o.index);
      } else {
        fail("a call parameter of '" + target.name + "' has an unexpected form");
      }
      if (back) std::swap(c.from, c.to);
      out.push_back(c);
    }
  };
  copy(results, target.results, to_result, call.results, true);
  copy(arguments, target.params, to_param, call.arguments, false);
  if (call.math != nullptr) check_math_call(call, target);
  block.detail = static_cast<std::uint32_t>(p_.calls.size());
  p_.calls.push_back(std::move(call));
}

void FunctionDecoder::decode_end(BasicBlock& block, const Ins& ins) {
  auto block_at = [&](const Operand& o) { return leader_block_[o.index]; };
  const bool guarded = ins.guard != UINT32_MAX;
  if (guarded) {
    block.guard = reg(ins.guard);
    block.guard_negated = ins.guard_negated;
  }
  switch (ins.op) {
    case Opcode::bra:
      block.end = guarded ? End::branch : End::next;
      block.target = block_at(at(ins, 0));
      if (!guarded) block.next = block.target;
      break;
    case Opcode::brx_idx: {
      block.end = End::indexed;
      JumpTable table;
      table.index = source(at(ins, 0), 4);
      const Operand& labels = at(ins, 1);
      for (std::uint32_t k = 0; k < labels.count; ++k)
        table.blocks.push_back(block_at(f_.vector_operands[labels.index + k]));
      if (table.blocks.empty()) fail("brx.idx with an empty table");
      block.detail = static_cast<std::uint32_t>(p_.jumps.size());
      p_.jumps.push_back(std::move(table));
      break;
    }
    case Opcode::call:
      block.end = End::call;
      decode_call(block, ins);
      break;
    case Opcode::ret:
      block.end = f_.is_entry ? End::exit : End::ret;
      break;
    case Opcode::exit:
      block.end = End::exit;
      break;
    case Opcode::trap:
      block.end = End::trap;
      break;
    case Opcode::bar_sync:
    case Opcode::bar_red: {
      block.end = End::barrier;
      Barrier bar;
      bar.aligned = ins.mod.aligned;
      std::size_t k = 0;
      if (ins.op == Opcode::bar_red) {
        const Operand& d = at(ins, k++);
        bar.reduce = ins.mod.atom == ptx::AtomOp::and_  ? 2
                     : ins.mod.atom == ptx::AtomOp::or_ ? 3
                                                        : 1;
        bar.dst = destination(d, ins.mod.type);
      }
      bar.id = source(at(ins, k++), 4);
      const std::size_t operands_left = ins.operands.size() - k - (bar.reduce != 0 ? 1 : 0);
      if (operands_left > 0) bar.count = source(at(ins, k++), 4);
      if (bar.reduce != 0) {
        const Operand& p = at(ins, k);
        bar.pred_negated = p.negated;
        Operand plain = p;
        plain.negated = false;
        bar.pred = predicate(plain);
      }
      block.detail = static_cast<std::uint32_t>(p_.barriers.size());
      p_.barriers.push_back(bar);
      break;
    }
    case Opcode::mbarrier_wait:
    case Opcode::mbarrier_wait_parity:
      mbarrier_wait(block, ins);
      break;
    case Opcode::wgmma:
      product(block, ins);
      break;
    case Opcode::cluster_wait:
      block.end = End::cluster_wait;
      p_.uses_cluster = true;
      break;
    default:
      break;
  }
}

namespace {
/// Arithmetic that copies can hide behind. Wide integer products are addresses.
bool is_multiply_add(const ptx::Instruction& ins) {
  switch (ins.op) {
    case Opcode::fma:
    case Opcode::dp4a:
    case Opcode::mma:
    case Opcode::wmma_mma:
    case Opcode::wgmma:
      return true;
    case Opcode::mad:
      return ins.mod.mul != ptx::MulMode::wide;
    default:
      return false;
  }
}

/// The lanes of its warp that an instruction waits for; 0: for none.
std::uint32_t lanes_met(const ptx::Instruction& ins) {
  switch (ins.op) {
    case Opcode::bar_warp_sync:
    case Opcode::shfl:
    case Opcode::vote:
    case Opcode::match:
    case Opcode::redux:
    case Opcode::elect: {
      const ptx::Operand& mask = ins.operands.back();
      return mask.kind == ptx::Operand::Kind::imm ? static_cast<std::uint32_t>(mask.bits)
                                                  : kFullMask;
    }
    default:
      return ins.mod.text.find(".sync.aligned") != std::string_view::npos ||
                     (ins.op == Opcode::cluster_arrive && ins.mod.aligned)
                 ? kFullMask
                 : 0;
  }
}

/// An access that releases or acquires is one beside a fence: PTX ISA, release and acquire patterns.
bool orders(const ptx::Instruction& ins, ptx::Ordering which) {
  const bool accesses = ins.op == Opcode::ld || ins.op == Opcode::st || ins.op == Opcode::atom ||
                        ins.op == Opcode::red;
  return accesses && (ins.mod.ordering == which || ins.mod.ordering == ptx::Ordering::both);
}
}  // namespace

void FunctionDecoder::decode_block(std::uint32_t number) {
  BasicBlock& block = blocks_[number];
  const auto [first, last] = ranges_[number];
  block_slots_.clear();
  block.first = static_cast<std::uint32_t>(ops_.size());
  block.first_pc = code_.first_pc + first;
  block.pc = code_.first_pc + last - 1;
  block.next = number + 1 < ranges_.size() ? number + 1 : kNoBlock;
  bool ended = false;
  multiply_adds_ = 0;
  current_index_ = first;
  if (number == 0) begin_marks();
  for (std::uint32_t i = first; i < last; ++i) {
    const Ins& ins = f_.body[i];
    current_ = &ins;
    current_index_ = i;
    counted_ = false;
    std::fill(std::begin(temporaries_used_), std::end(temporaries_used_), 0);
    mask_temporaries_used_ = 0;
    InstructionInfo& info = p_.instructions[code_.first_pc + i];
    const bool branch = ins.op == Opcode::bra;
    info.guarded = ins.guard != UINT32_MAX && !branch;
    if (!info.guarded) ++block.instructions;
    track_unset(ins);
    if (ends_block(ins.op)) {
      counted_ = true;  // with the end of the block
      decode_end(block, ins);
      ended = true;
    } else {
      watch_product_registers(ins);
      if (orders(ins, ptx::Ordering::release)) emit(op_fence);
      decode(ins);
      save_marks(ins);
      if (orders(ins, ptx::Ordering::acquire)) emit(op_fence);
      forget_addresses(ins);
    }
    multiply_adds_ += is_multiply_add(ins);
    block.meets |= lanes_met(ins);
  }
  block.multiply_adds = multiply_adds_;
  join_stretches(block.first);
  block.last = static_cast<std::uint32_t>(ops_.size());
  block.returns_at_once = block.first == block.last &&
                          (block.end == End::exit || block.end == End::ret) &&
                          block.guard == kNoRef;
  if (!ended) {
    block.end = End::next;
    block.target = block.next;
  }
  const bool stays = block.end != End::exit && block.end != End::ret && block.end != End::trap;
  const bool needs_next = (stays && block.end != End::indexed) || block.guard != kNoRef;
  if (needs_next && block.next == kNoBlock) fail("control runs off the end of '" + f_.name + "'");
}

/// Appends the blocks to the program in running order.
void FunctionDecoder::renumber() {
  std::vector<std::vector<std::uint32_t>> successors(blocks_.size());
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const BasicBlock& block = blocks_[k];
    auto& s = successors[k];
    if (block.end == End::branch) s.push_back(block.target);
    if (block.end == End::indexed) s = p_.jumps[block.detail].blocks;
    if (block.next != kNoBlock &&
        (block.guard != kNoRef || (block.end != End::exit && block.end != End::ret &&
                                   block.end != End::trap && block.end != End::indexed)))
      s.push_back(block.next);
  }
  const std::vector<std::uint32_t> order = running_order(successors);
  const auto base = static_cast<std::uint32_t>(p_.blocks.size());
  std::vector<std::uint32_t> number(blocks_.size());
  for (std::uint32_t k = 0; k < order.size(); ++k) number[order[k]] = base + k;
  const auto op_base = static_cast<std::uint32_t>(p_.ops.size());
  auto map = [&](std::uint32_t& b) {
    if (b != kNoBlock) b = number[b];
  };
  for (const std::uint32_t old : order) {
    BasicBlock block = blocks_[old];
    block.first += op_base;
    block.last += op_base;
    map(block.target);
    map(block.next);
    if (block.end == End::indexed)
      for (std::uint32_t& t : p_.jumps[block.detail].blocks) map(t);
    const auto [first, last] = ranges_[old];
    for (std::uint32_t i = first; i < last; ++i)
      p_.instructions[code_.first_pc + i].block = static_cast<std::uint32_t>(p_.blocks.size());
    p_.blocks.push_back(block);
  }
  p_.ops.insert(p_.ops.end(), ops_.begin(), ops_.end());
  code_.entry_block = number[0];
  code_.end_block = static_cast<std::uint32_t>(p_.blocks.size());
}

void FunctionDecoder::run() {
  current_ = f_.body.empty() ? nullptr : &f_.body.front();
  const std::size_t first_site = p_.site_pc.size();
  if (f_.body.empty()) fail("'" + f_.name + "' has no instructions");
  find_blocks();
  lay_out_registers();
  lay_out_parameters();
  lay_out_locals();
  code_.first_pc = static_cast<std::uint32_t>(p_.instructions.size());
  const std::vector<bool> polls = ptx::find_polls(f_);
  const std::vector<bool> updates = ptx::find_updates(f_);
  const std::vector<bool> doubled = count::find_doubled_sums(f_);
  const std::vector<count::Fusion> fusions = count::find_fusions(f_);
  for (const Ins& ins : f_.body) {
    InstructionInfo info;
    const auto place = static_cast<std::size_t>(&ins - f_.body.data());
    info.polls = polls[place];
    info.updates = updates[place];
    info.doubled_sum = doubled[place];
    info.fusion = fusions[place];
    info.ptx = &ins;
    info.function = number_;
    info.is_branch = ins.op == Opcode::bra;
    info.hidden_fma_f32 = hidden_multiply_adds(b_.module, ins);
    info.klass =
        ins.op == Opcode::bar_sync || ins.op == Opcode::bar_red || ins.op == Opcode::cluster_wait
            ? InstructionClass::synchronisation
            : InstructionClass::control;
    p_.instructions.push_back(info);
  }
  find_product_registers();
  find_unset();
  parts_ = count::find_struct_copies(f_);
  narrowed_ = count::find_narrowed_loads(f_);
  origins_ = ptx::find_shared_origins(b_.module, f_);
  for (std::uint32_t k = 0; k < blocks_.size(); ++k) decode_block(k);
  renumber();
  describe_sites(first_site);
  code_.frame_bytes = (frame_ + 63) / 64 * 64;
  p_.functions[number_] = std::move(code_);
}

}  // namespace simgpu::exec
