// Loads, stores, atomics, parameters.
#include <algorithm>
#include <limits>

#include "common/simgpu/count/early_reads.hpp"
#include "common/simgpu/count/kept_arrays.hpp"
#include "common/simgpu/count/load_merging.hpp"
#include "common/simgpu/count/local_vectors.hpp"
#include "common/simgpu/count/printed_arguments.hpp"
#include "common/simgpu/count/store_merging.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/memory/address.hpp"
#include "common/simgpu/ptx/shared_origins.hpp"

namespace simgpu::exec {

using ptx::Opcode;
using ptx::Space;
using Kind = ptx::Operand::Kind;
using PT = ptx::Type;

std::uint32_t FunctionDecoder::new_site() {
  const auto site = static_cast<std::uint32_t>(p_.site_pc.size());
  p_.site_pc.push_back(code_.first_pc + current_index_);
  p_.merges.push_back({});
  p_.fetches.push_back(false);
  p_.parts_of_copies.push_back({});
  p_.narrowed.push_back({});
  p_.moved.push_back({});
  p_.early.push_back(count::kNotEarly);
  p_.instructions[code_.first_pc + current_index_].site = site;
  return site;
}

namespace {

/// What ptxas makes of each access to shared or local memory, by instruction.
class MergedAccesses {
 public:
  MergedAccesses(const ptx::Module& module, const ptx::Function& function,
                 const std::vector<count::NarrowedLoad>& narrowed)
      : function_(function),
        loads_(count::merge_shared_loads(module, function, narrowed)),
        stores_(count::merge_shared_stores(module, function)) {
    const std::vector<count::Vector> vectors = count::find_local_vectors(module, function);
    if (vectors.empty()) return;
    local_loads_ = count::merge_local_loads(module, function, vectors);
    local_stores_ = count::merge_local_stores(module, function, vectors);
    const std::vector<bool> kept = count::find_kept_accesses(module, function, vectors);
    for (std::uint32_t i = 0; i < kept.size(); ++i)
      if (kept[i]) local_loads_[i] = local_stores_[i] = {i, 0, 0};
  }

  count::MergedAccess of(std::uint32_t i) const {
    const ptx::Instruction& ins = function_.body[i];
    const bool load = ins.op == Opcode::ld || ins.op == Opcode::ldu, store = ins.op == Opcode::st;
    if (ins.mod.space == Space::shared && (load || store)) return (load ? loads_ : stores_)[i];
    if (ins.mod.space == Space::local && (ins.op == Opcode::ld || store) && !local_loads_.empty())
      return (store ? local_stores_ : local_loads_)[i];
    const unsigned bytes = ptx::size_of(ins.mod.type) * std::max<unsigned>(ins.mod.vec, 1);
    return {i, static_cast<std::uint8_t>(bytes), 0};
  }

 private:
  const ptx::Function& function_;
  std::vector<count::MergedAccess> loads_, stores_, local_loads_, local_stores_;
};

}  // namespace

/// What else is to be known of the accesses from `first` on: what moves with them, what ptxas makes of them, and how
/// small the elements are.
void FunctionDecoder::describe_sites(std::size_t first) {
  const std::vector<ptx::MovedBytes> moved = ptx::find_moved_bytes(f_);
  const std::vector<std::uint32_t> early = count::find_early_reads(b_.module, f_);
  const std::vector<bool> printed = count::find_printed_arguments(b_.module, f_);
  const MergedAccesses accesses(b_.module, f_, narrowed_);
  for (std::size_t site = first; site < p_.site_pc.size(); ++site) {
    const std::uint32_t i = p_.site_pc[site] - code_.first_pc;
    const ptx::Instruction& ins = f_.body[i];
    const count::MergedAccess merged = accesses.of(i);
    if (i < printed.size()) p_.instructions[p_.site_pc[site]].prints = printed[i];
    if (i < parts_.size()) p_.parts_of_copies[site] = parts_[i];
    if (i < narrowed_.size()) p_.narrowed[site] = narrowed_[i];
    p_.moved[site] = moved[i];
    if (early[i] != count::kNotEarly) p_.early[site] = code_.first_pc + early[i];
    p_.merges[site] = {merged.bytes, merged.shift};
    // Only stores of single elements must be told apart within a word: cp.async moves whole words,
    // ldmatrix and stmatrix rows of them.
    const bool whole_words = ins.op == Opcode::wmma_load || ins.op == Opcode::cp_async ||
                             ins.op == Opcode::ldmatrix || ins.op == Opcode::stmatrix ||
                             ptx::size_of(ins.mod.type) == 0;
    const std::uint32_t element = whole_words ? 4u : std::min(ptx::size_of(ins.mod.type), 4u);
    const bool any = ins.mod.space == Space::none || ins.mod.space == Space::generic;
    if (any || ins.mod.space == Space::shared || ins.mod.space == Space::cluster)
      p_.shared_granule = std::min(p_.shared_granule, element);
    if (any || ins.mod.space == Space::global)
      p_.global_granule = std::min(p_.global_granule, element);
  }
}

/// Whether a function takes the address of a parameter. It then has its parameters in local memory, as PTX says; newer
/// clangs read structs that way (ld.local), older ones with ld.param at the parameter's own address.
bool FunctionDecoder::moves_params_to_local() const {
  if (f_.is_entry) return false;
  const auto is_param = [&](const Operand& o) {
    return o.kind == Kind::param && o.index < f_.params.size();
  };
  bool taken = false;
  for (const Ins& ins : f_.body) {
    const bool access =
        (ins.op == Opcode::ld || ins.op == Opcode::st) && ins.mod.space == Space::param;
    for (const Operand& o : ins.operands) {
      if (access && o.kind == Kind::address) return false;
      taken |= ins.op == Opcode::mov && is_param(o);
    }
  }
  return taken;
}

void FunctionDecoder::lay_out_locals() {
  std::uint32_t at = 0;
  if (moves_params_to_local()) {
    code_.local_params = at;
    at += code_.param_bytes;
  }
  for (const std::uint32_t v : f_.variables) {
    const ptx::Variable& variable = b_.module.variables[v];
    if (variable.space != Space::local) continue;
    const std::uint32_t align = std::max<std::uint32_t>(variable.align, 1);
    at = (at + align - 1) / align * align;
    local_offset_[v] = at;
    at += static_cast<std::uint32_t>(variable.size);
  }
  code_.local_bytes = (at + 15) / 16 * 16;
  if (at != 0) code_.local_base = allocate(kLanes * 8);
}

/// What of a symbol's address only the frame knows, and the constant to add: where .local begins, or
/// the rank that shared addresses carry. Other addresses are constants (kNoRef).
Ref FunctionDecoder::frame_base(const Operand& o, std::int64_t& offset) {
  if (o.kind == Kind::param && o.index < f_.params.size() && code_.local_params != UINT32_MAX) {
    offset = code_.local_params + param_offset_[o.index] + o.bits;
    return frame_ref(code_.local_base);
  }
  if (o.kind != Kind::symbol) return kNoRef;
  const Space space = b_.module.variables[o.index].space;
  const auto from = [&](std::uint64_t start) {
    return static_cast<std::int64_t>(start + static_cast<std::uint64_t>(o.bits));
  };
  if (space == Space::local) {
    offset = from(local_offset_.at(o.index));
    return frame_ref(code_.local_base);
  }
  if (space != Space::shared || b_.addresses == SharedAddresses::constant) return kNoRef;
  offset = from(b_.shared_address(o.index));
  if (code_.rank_base == UINT32_MAX) code_.rank_base = allocate(kLanes * 8);
  return frame_ref(code_.rank_base);
}

/// The 64-bit lanes an address starts from, and the constant to add.
Ref FunctionDecoder::memory_base(const Operand& o, std::int64_t& offset) {
  offset = 0;
  switch (o.kind) {
    case Kind::address: {
      offset = o.bits;
      if (register_bytes(o.index) == 8) return reg(o.index);
      if (register_bytes(o.index) != 4)
        fail("an address stands in a register of less than 32 bits");
      const Ref t = temporary(8);
      convert_width(t, 8, reg(o.index), 4);
      return t;
    }
    case Kind::symbol:
      if (const Ref base = frame_base(o, offset); base != kNoRef) return base;
      return address_constant(o);
    case Kind::imm:
      return b_.constant(static_cast<std::uint64_t>(o.bits), 8);
    default:
      fail("'" + std::string(current_->mod.text) + "' has an unexpected address");
  }
}

/// An address that was computed from that of a shared array: the array is where it may lead. Op::b and Op::c
/// are its limits, counted from where shared memory begins.
void FunctionDecoder::keep_within_array(Op& op) {
  op.b = 0;
  op.c = std::numeric_limits<Ref>::max();
  const SharedArray* const array = find_array();
  if (array == nullptr) return;
  op.b = static_cast<Ref>(array->offset - memory::kSharedBase);
  if (array->variable != UINT32_MAX) op.c = op.b + array->bytes;
}
/// The same, for the instruction's own record; null = any.
const SharedArray* FunctionDecoder::find_array() {
  const std::uint32_t variable = origins_[current_index_];
  if (variable == ptx::kNoOrigin) return nullptr;
  const std::uint32_t wanted = b_.module.variables[variable].is_extern ? UINT32_MAX : variable;
  const auto found = std::ranges::find(p_.shared, wanted, &SharedArray::variable);
  if (found == p_.shared.end()) return nullptr;
  p_.instructions[code_.first_pc + current_index_].array =
      static_cast<std::uint32_t>(found - p_.shared.begin());
  return &*found;
}

/// The quick path, if there is one for this access, and the address pattern it uses. Accesses of a
/// block through the same register share a pattern; after the first, the register need not be
/// looked at again until it changes.
void FunctionDecoder::choose_quick_path(Op& op, const Operand& address) {
  const auto space = static_cast<Space>(op.x);
  op.slot = p_.slots++;
  if ((op.z & 1) != 0) return;  // threads hand over by these: the scheduler must see them
  if (parts_[current_index_].whole != 0) return;  // their addresses decide how they are counted
  if (space == Space::global && narrowed_[current_index_].count != 0) return;  // not of one width
  if ((space != Space::shared && space != Space::global) || (op.width != 4 && op.width != 8))
    return;
  const unsigned vec = op.vec == 1 ? 0 : op.vec == 2 ? 1 : op.vec == 4 ? 2 : 3;
  if (vec == 3) return;
  const unsigned store = static_cast<AccessType>(op.y) == AccessType::store ? 1 : 0;
  const HandlerTable& t = handlers();
  const Handler quick = (space == Space::shared ? t.shared : t.global)[store][op.width == 8][vec];
  if (quick == nullptr) return;
  if (op.guarded != nullptr) {
    op.guarded = quick;
    return;
  }
  op.fn = quick;
  if (address.kind == Kind::address && register_bytes(address.index) != 8) return;  // a temporary
  const auto [it, is_new] = block_slots_.try_emplace({op.a, op.x}, op.slot);
  if (is_new) return;
  --p_.slots;
  op.slot = it->second;
  op.z |= kFollows;
}

/// An instruction writes registers: accesses through them must look again.
void FunctionDecoder::forget_addresses(const Ins& ins) {
  if (ins.operands.empty()) return;
  auto forget = [&](std::uint32_t r) {
    for (const Space space : {Space::shared, Space::global})
      block_slots_.erase({reg(r), static_cast<std::uint8_t>(space)});
  };
  const Operand& d = ins.operands[0];
  if (d.kind == Kind::reg) forget(d.index);
  if (d.kind == Kind::reg && d.index2 != UINT32_MAX) forget(d.index2);
  if (d.kind == Kind::vector)
    for (std::uint32_t k = 0; k < d.count; ++k)
      if (f_.vector_operands[d.index + k].kind == Kind::reg)
        forget(f_.vector_operands[d.index + k].index);
}

/// A load of what a compare and swap at the same address changes: the loop's first guess. If it is out of
/// date, the swap fails, so it is no race.
bool FunctionDecoder::starts_swap_loop(const Ins& load) {
  const auto is_place = [](const Operand& o) {
    return o.kind == Kind::address || (o.kind == Kind::symbol && o.is_memory);
  };
  if (!swapped_) {
    swapped_.emplace();
    for (const Ins& ins : f_.body) {
      if (ins.op != Opcode::atom || ins.mod.atom != ptx::AtomOp::cas || !is_place(at(ins, 1)))
        continue;
      if (!addresses_) addresses_.emplace(f_);
      swapped_->insert(addresses_->find(at(ins, 1), true));
    }
  }
  return !swapped_->empty() && load.mod.vec <= 1 && is_place(at(load, 1)) &&
         swapped_->count(addresses_->find(at(load, 1), true)) != 0;
}

/// Of ld and st: one op for all elements of `list`.
Op& FunctionDecoder::emit_access(const Ins& ins, AccessType type, Space space, Ref base,
                                 std::int64_t offset, const std::vector<Ref>& list) {
  Op& o = emit(op_memory);
  o.a = base;
  o.imm = offset;
  o.list = list.data();
  o.vec = static_cast<std::uint8_t>(list.size());
  o.width = static_cast<std::uint8_t>(ptx::size_of(ins.mod.type));
  o.x = static_cast<std::uint8_t>(space);
  o.y = static_cast<std::uint8_t>(type);
  const bool strong = ins.mod.is_volatile || ins.mod.ordering != ptx::Ordering::none ||
                      (type == AccessType::load && starts_swap_loop(ins));
  o.z = strong ? 1 : 0;
  o.site = new_site();
  keep_within_array(o);
  choose_quick_path(o, at(ins, type == AccessType::load ? 1 : 0));
  return o;
}

void FunctionDecoder::load(const Ins& ins) {
  InstructionInfo& info = p_.instructions[code_.first_pc + current_index_];
  const Space space = ins.mod.space == Space::none ? Space::generic : ins.mod.space;
  if (space == Space::param) {
    info.klass = InstructionClass::memory_other;
    return parameter_access(ins, true);
  }
  check_hint(ins, 2);
  p_.uses_cluster |= space == Space::cluster;
  info.klass = space == Space::shared || space == Space::cluster ? InstructionClass::memory_shared
               : space == Space::local                           ? InstructionClass::memory_local
               : space == Space::constant                        ? InstructionClass::memory_other
                                                                 : InstructionClass::memory_global;
  const unsigned bytes = ptx::size_of(ins.mod.type), vec = std::max<unsigned>(ins.mod.vec, 1);
  std::int64_t offset;
  const Ref base = memory_base(at(ins, 1), offset);
  std::vector<Ref>& list = p_.lists.emplace_back();
  const Operand& d = at(ins, 0);
  auto element = [&](unsigned k) -> const Operand& {
    return d.kind == Kind::vector ? f_.vector_operands[d.index + k] : d;
  };
  if (d.kind == Kind::vector && d.count != vec)
    fail("'" + std::string(ins.mod.text) + "' with another number of registers");
  const PT raw = bytes == 1 ? (ins.mod.type == PT::s8 ? PT::s8 : PT::u8) : ins.mod.type;
  for (unsigned k = 0; k < vec; ++k)
    list.push_back(element(k).kind == Kind::sink ? temporary(bytes) : destination(element(k), raw));
  if (ins.mod.is_volatile || ins.mod.ordering != ptx::Ordering::none)
    p_.watches_global |= space == Space::global || space == Space::generic;
  emit_access(ins, AccessType::load, space, base, offset, list).dst = list.front();
  for (unsigned k = 0; k < vec; ++k) finish_destination(element(k), raw, list[k]);
}

void FunctionDecoder::store(const Ins& ins) {
  InstructionInfo& info = p_.instructions[code_.first_pc + current_index_];
  const Space space = ins.mod.space == Space::none ? Space::generic : ins.mod.space;
  if (space == Space::param) {
    info.klass = InstructionClass::memory_other;
    return parameter_access(ins, false);
  }
  if (space == Space::constant) fail("constant memory cannot be written");
  check_hint(ins, 2);
  p_.uses_cluster |= space == Space::cluster;
  info.klass = space == Space::shared || space == Space::cluster ? InstructionClass::memory_shared
               : space == Space::local                           ? InstructionClass::memory_local
                                                                 : InstructionClass::memory_global;
  const unsigned bytes = ptx::size_of(ins.mod.type), vec = std::max<unsigned>(ins.mod.vec, 1);
  std::int64_t offset;
  const Ref base = memory_base(at(ins, 0), offset);
  std::vector<Ref>& list = p_.lists.emplace_back();
  const Operand& s = at(ins, 1);
  if (s.kind == Kind::vector && s.count != vec)
    fail("'" + std::string(ins.mod.text) + "' with another number of registers");
  for (unsigned k = 0; k < vec; ++k)
    list.push_back(source(s.kind == Kind::vector ? f_.vector_operands[s.index + k] : s, bytes));
  Op& o = emit_access(ins, AccessType::store, space, base, offset, list);
  const Operand& first = s.kind == Kind::vector ? f_.vector_operands[s.index] : s;
  if (space == Space::local && holds_tensor_map(first)) o.z |= kUncounted;
}

/// Whether the value was read from a tensor map that the kernel takes: clang copies a
/// __grid_constant__ parameter whose address is used to local memory, nvcc does not.
bool FunctionDecoder::holds_tensor_map(const Operand& value) {
  if (value.kind != Kind::reg || !f_.is_entry) return false;
  if (from_map_.empty()) find_tensor_map_values();
  return from_map_[value.index];
}

/// clang 14 reads a map piece by piece, by the parameter's name; later versions read it in a loop,
/// through a pointer that an addition moves on.
void FunctionDecoder::find_tensor_map_values() {
  constexpr std::uint32_t kMapBytes = 128, kMapAlign = 64;
  from_map_.assign(f_.registers.size() + 1, false);
  std::vector<bool> points_to_map(from_map_.size(), false);
  const auto names_map = [&](const Operand& from) {
    if (from.kind == Kind::param)
      return from.index < f_.params.size() && f_.params[from.index].size == kMapBytes &&
             f_.params[from.index].align >= kMapAlign;
    return (from.kind == Kind::reg || from.kind == Kind::address) && points_to_map[from.index];
  };
  for (const Ins& ins : f_.body) {
    if (ins.operands.size() < 2) continue;
    const Operand &to = ins.operands[0], &from = ins.operands[1];
    if (ins.op == Opcode::mov || ins.op == Opcode::add) {
      if (to.kind == Kind::reg && names_map(from)) points_to_map[to.index] = true;
    } else if (ins.op == Opcode::ld && ins.mod.space == Space::param && names_map(from)) {
      if (to.kind == Kind::reg) from_map_[to.index] = true;
      for (std::uint32_t k = 0; to.kind == Kind::vector && k < to.count; ++k)
        if (const Operand& e = f_.vector_operands[to.index + k]; e.kind == Kind::reg)
          from_map_[e.index] = true;
    }
  }
}

/// Whether anything reads a register that `ins` writes. Clang names one for each atomic, like ptxas gives it one
/// only if it is read.
bool FunctionDecoder::uses_result(const Ins& ins) {
  if (read_.empty()) {
    read_.resize(f_.registers.size());
    for (const Ins& other : f_.body)
      ptx::for_each_register(f_, other, [&](std::uint32_t reg, bool is_write) {
        if (!is_write) read_[reg] = true;
      });
  }
  bool used = false;
  ptx::for_each_register(
      f_, ins, [&](std::uint32_t reg, bool is_write) { used = used || (is_write && read_[reg]); });
  return used;
}

void FunctionDecoder::atomic(const Ins& ins) {
  InstructionInfo& info = p_.instructions[code_.first_pc + current_index_];
  const Space space = ins.mod.space == Space::none ? Space::generic : ins.mod.space;
  info.klass = space == Space::shared || space == Space::cluster ? InstructionClass::memory_shared
                                                                 : InstructionClass::memory_global;
  p_.uses_cluster |= space == Space::cluster;
  if (space != Space::shared && space != Space::cluster) p_.uses_global_atomics = true;
  const bool returns = ins.op == Opcode::atom;
  const PT type = ins.mod.type;
  const unsigned bytes = ptx::size_of(type);
  const Ty ty = lane_type(type);
  if (ty == Ty::count_) unsupported();
  const std::size_t first = returns ? 1 : 0;
  const bool swaps = ins.mod.atom == ptx::AtomOp::cas;
  check_hint(ins, first + (swaps ? 3 : 2));
  const unsigned vec = std::max<unsigned>(ins.mod.vec, 1);
  const Operand &to = at(ins, 0), &from = at(ins, first + 1);
  if (vec > 1) check_vector_atomic(ins, returns ? &to : nullptr, from);
  const auto element = [&](const Operand& o, unsigned k) -> const Operand& {
    return o.kind == Kind::vector ? f_.vector_operands[o.index + k] : o;
  };
  std::int64_t offset;
  const Ref base = memory_base(at(ins, first), offset);
  const Ref c = swaps ? source(at(ins, first + 2), bytes) : kNoRef;
  const std::uint32_t site = new_site();
  p_.fetches[site] = returns && uses_result(ins);
  find_array();
  // A vector is one access, of which each element is an atomic of its own.
  std::vector<Ref> values, results;
  for (unsigned k = 0; k < vec; ++k) values.push_back(source(element(from, k), bytes));
  for (unsigned k = 0; k < vec; ++k)
    results.push_back(!returns                            ? kNoRef
                      : element(to, k).kind == Kind::sink ? temporary(bytes)
                                                          : destination(element(to, k), type));
  for (unsigned k = 0; k < vec; ++k) {
    Op& o = emit(op_atomic);
    o.a = base;
    o.imm = offset + k * bytes;
    o.b = values[k];
    o.c = c;
    o.dst = results[k];
    o.width = static_cast<std::uint8_t>(bytes);
    o.vec = static_cast<std::uint8_t>(k == 0 ? vec : 0);
    o.x = static_cast<std::uint8_t>(space);
    o.y = static_cast<std::uint8_t>(ins.mod.atom);
    o.z = static_cast<std::uint8_t>(ty);
    o.site = site;
  }
}

/// PTX ISA 9.7.13.5 and .6: sums of floats and, of 16 bits, minima and maxima, up to 16 bytes of global
/// memory.
void FunctionDecoder::check_vector_atomic(const Ins& ins, const Operand* to,
                                          const Operand& from) const {
  using Do = ptx::AtomOp;
  const PT type = ins.mod.type;
  const bool whole = type == PT::f32;
  const bool halves =
      type == PT::f16 || type == PT::bf16 || type == PT::f16x2 || type == PT::bf16x2;
  const bool there = ins.mod.atom == Do::add
                         ? whole || halves
                         : halves && (ins.mod.atom == Do::min || ins.mod.atom == Do::max);
  const bool in_global = ins.mod.space == Space::global || ins.mod.space == Space::generic;
  const auto fits = [&](const Operand& o) {
    return o.kind == Kind::vector && o.count == ins.mod.vec;
  };
  if (!there || !in_global || ptx::size_of(type) * ins.mod.vec > 16 || !fits(from) ||
      (to != nullptr && !fits(*to)))
    fail("'" + std::string(ins.mod.text) + "' is a vector of atomics that there is not");
}

/// How many operands there are but for a cache policy, which the suffixes announce.
std::size_t FunctionDecoder::without_hint(const Ins& ins) const {
  const bool hint = ins.mod.text.find(".L2::cache_hint") != std::string_view::npos;
  return ins.operands.size() - (hint ? 1 : 0);
}

void FunctionDecoder::check_hint(const Ins& ins, std::size_t operands) const {
  if (without_hint(ins) != operands)
    fail("'" + std::string(ins.mod.text) + "': an operand too many or too few for its suffixes");
}

/// Entry parameters are the same for all lanes; those of functions and calls are per lane, in areas
/// of the frame.
void FunctionDecoder::parameter_access(const Ins& ins, bool is_load) {
  const Operand &address = at(ins, is_load ? 1 : 0), &data = at(ins, is_load ? 0 : 1);
  const unsigned bytes = ptx::size_of(ins.mod.type), vec = std::max<unsigned>(ins.mod.vec, 1);
  const auto params = static_cast<std::uint32_t>(f_.params.size()),
             results = static_cast<std::uint32_t>(f_.results.size());
  std::uint32_t area = 0, stride = 0;
  std::int64_t offset = address.bits;
  bool entry_param = false, indexed = false;
  if (address.kind == Kind::param) {
    offset += param_offset_[address.index];
    if (address.index < params) {
      entry_param = f_.is_entry;
      area = code_.param_area;
      stride = code_.param_bytes;
    } else if (address.index < params + results) {
      area = code_.result_area;
      stride = code_.result_bytes;
    } else {
      area = code_.call_area;
      stride = code_.call_bytes;
    }
  } else if (address.kind == Kind::address) {
    indexed = true;
    entry_param = f_.is_entry;
    area = code_.param_area;
    stride = code_.param_bytes;
  } else {
    fail("'" + std::string(ins.mod.text) + "' has an unexpected address");
  }
  if (entry_param && !is_load) fail("a kernel parameter cannot be written");
  if (data.kind == Kind::vector && data.count != vec)
    fail("'" + std::string(ins.mod.text) + "' with another number of registers");
  if (!indexed && (offset < 0 || static_cast<std::uint64_t>(offset) + bytes * vec >
                                     (entry_param ? code_.param_bytes : stride)))
    fail("'" + std::string(ins.mod.text) + "' reaches beyond its parameter");
  auto element = [&](unsigned k) -> const Operand& {
    return data.kind == Kind::vector ? f_.vector_operands[data.index + k] : data;
  };
  const Ref base = indexed ? memory_base(address, offset) : kNoRef;
  if (!entry_param) {
    UnsetForm marks;
    marks.address = base;
    marks.offset = offset;
    marks.area = area;
    marks.stride = stride;
    parameter_marks(ins, is_load, std::move(marks));
  }
  for (unsigned k = 0; k < vec; ++k) {
    const auto where = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) + k * bytes);
    if (is_load) {
      if (element(k).kind == Kind::sink) continue;
      const Ref dst = destination(element(k), ins.mod.type);
      Op& o =
          emit(entry_param ? (indexed ? op_kernel_param_indexed : op_kernel_param) : op_area_load);
      o.dst = dst;
      o.a = base;
      o.imm = where;
      o.width = static_cast<std::uint8_t>(bytes);
      o.slot = area;
      o.site = stride;
      finish_destination(element(k), ins.mod.type, dst);
    } else {
      const Ref src = source(element(k), bytes);
      Op& o = emit(op_area_store);
      o.a = base;
      o.b = src;
      o.imm = where;
      o.width = static_cast<std::uint8_t>(bytes);
      o.slot = area;
      o.site = stride;
    }
  }
}

}  // namespace simgpu::exec
