// Decodes mbarriers, bulk copies and wgmma (PTX ISA 9.7.13.15, 9.7.9.25, 9.7.9.27, 9.7.15).
#include <algorithm>
#include <cstddef>

#include "common/simgpu/exec/bulk_copy.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/memory/address.hpp"
#include "common/simgpu/ptx/control_flow.hpp"
#include "common/simgpu/tensor_map.hpp"

namespace simgpu::exec {

using ptx::Opcode;
using ptx::Space;
using Kind = ptx::Operand::Kind;
using PT = ptx::Type;

namespace {
/// cp.async.mbarrier.arrive adds an arrival to the phase before it brings one, .noinc does not.
bool brings_one(const ptx::Instruction& ins) {
  return ins.op == Opcode::cp_async_arrive && ins.mod.text.find(".noinc") != std::string_view::npos;
}
}  // namespace

void FunctionDecoder::mbarrier(const Ins& ins) {
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::synchronisation;
  p_.uses_proxy = true;
  p_.uses_cluster |= ins.mod.space == Space::cluster;
  if (ins.mod.space == Space::cluster &&
      (ins.op == Opcode::mbarrier_init || ins.op == Opcode::mbarrier_inval))
    fail("'" + std::string(ins.mod.text) + "': only the own block's mbarriers");
  if (ins.op == Opcode::mbarrier_pending) {
    const Ref state = source(at(ins, 1), 8), dst = destination(at(ins, 0), PT::b32);
    Op& o = emit(op_mbarrier_pending);
    o.dst = dst;
    o.a = state;
    return;
  }
  const bool arrives = ins.op == Opcode::mbarrier_arrive ||
                       ins.op == Opcode::mbarrier_arrive_expect ||
                       ins.op == Opcode::mbarrier_drop || ins.op == Opcode::mbarrier_drop_expect;
  const bool has_bytes = ins.op == Opcode::mbarrier_arrive_expect ||
                         ins.op == Opcode::mbarrier_drop_expect ||
                         ins.op == Opcode::mbarrier_expect || ins.op == Opcode::mbarrier_complete;
  const std::size_t address = arrives ? 1 : 0;
  std::int64_t offset;
  const Ref base = memory_base(at(ins, address), offset);
  const Ref value = ins.operands.size() > address + 1 ? source(at(ins, address + 1), 4) : kNoRef;
  const bool returns = arrives && at(ins, 0).kind != Kind::sink;
  const Ref dst = returns ? destination(at(ins, 0), PT::b64) : kNoRef;
  Op& o = emit(ins.op == Opcode::mbarrier_init    ? op_mbarrier_init
               : ins.op == Opcode::mbarrier_inval ? op_mbarrier_inval
                                                  : op_mbarrier_arrive);
  o.a = base;
  o.imm = offset;
  o.x = static_cast<std::uint8_t>(ins.mod.space);
  o.dst = dst;
  (arrives && !has_bytes ? o.c : o.b) = value;
  const bool drops = ins.op == Opcode::mbarrier_drop || ins.op == Opcode::mbarrier_drop_expect;
  o.y =
      static_cast<std::uint8_t>((arrives || brings_one(ins) ? kArrives : 0) | (drops ? kDrops : 0) |
                                (!has_bytes                            ? 0
                                 : ins.op == Opcode::mbarrier_complete ? kCompletes
                                                                       : kExpects));
}

/// By register: whether its value comes to anything. One that is only turned into others, as in selp, and
/// these into nothing, does not.
std::vector<bool> FunctionDecoder::find_looked_at() const {
  std::vector<bool> found(f_.registers.size());
  std::vector<std::uint32_t> open;
  const auto look_at = [&](std::uint32_t reg) {
    if (!found[reg]) open.push_back(reg);
    found[reg] = true;
  };
  std::vector<std::vector<std::uint32_t>> made_of(f_.registers.size());
  for (const Ins& ins : f_.body) {
    const bool turns = ins.op == Opcode::selp || ins.op == Opcode::setp || ins.op == Opcode::mov ||
                       ins.op == Opcode::and_ || ins.op == Opcode::cvt;
    std::vector<std::uint32_t> read;
    bool written = false;
    ptx::for_each_register(f_, ins, [&](std::uint32_t reg, bool is_write) {
      if (!is_write) return turns ? read.push_back(reg) : look_at(reg);
      written = true;
      made_of[reg].insert(made_of[reg].end(), read.begin(), read.end());
    });
    if (!written) std::for_each(read.begin(), read.end(), look_at);
  }
  while (!open.empty()) {
    const std::uint32_t reg = open.back();
    open.pop_back();
    std::for_each(made_of[reg].begin(), made_of[reg].end(), look_at);
  }
  return found;
}

/// mbarrier.try_wait and test_wait.
void FunctionDecoder::mbarrier_wait(BasicBlock& block, const Ins& ins) {
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::synchronisation;
  p_.uses_proxy = true;
  block.end = End::wait;
  MBarrierWait wait;
  wait.by_parity = ins.op == Opcode::mbarrier_wait_parity;
  wait.generic = ins.mod.space == Space::generic;
  if (ins.mod.space != Space::shared && !wait.generic)
    fail("'" + std::string(ins.mod.text) + "': an mbarrier lies in shared memory");
  wait.dst = destination(at(ins, 0), PT::pred);
  if (looked_at_.empty()) looked_at_ = find_looked_at();
  wait.is_looked_at = looked_at_[at(ins, 0).index];
  // Nothing may follow in this block: what the operands need is emitted before its end.
  wait.address = memory_base(at(ins, 1), wait.offset);
  wait.phase = source(at(ins, 2), wait.by_parity ? 4 : 8);
  block.detail = static_cast<std::uint32_t>(p_.waits.size());
  p_.waits.push_back(wait);
}

/// Of cp.reduce.async.bulk.tensor; whether the tensor's elements have it, their map says.
std::uint8_t FunctionDecoder::tensor_operation(const Ins& ins) const {
  using Do = ptx::AtomOp;
  if (ins.mod.atom == Do::exch || ins.mod.atom == Do::cas ||
      ins.mod.text.find(".popc") != std::string_view::npos)
    fail("'" + std::string(ins.mod.text) + "' is a reduction that there is not");
  return static_cast<std::uint8_t>(ins.mod.atom);
}

void FunctionDecoder::bulk_copy(const Ins& ins) {
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::memory_global;
  p_.uses_proxy = true;
  const bool between = ins.op == Opcode::bulk_cluster || ins.op == Opcode::reduce_cluster;
  const bool load = ins.op == Opcode::bulk_load || ins.op == Opcode::tensor_load || between;
  p_.uses_cluster |= between;
  const bool tensor = ins.mod.text.find(".tensor.") != std::string_view::npos;
  const bool hint = ins.mod.text.find(".L2::cache_hint") != std::string_view::npos;
  BulkForm form;
  if (ins.op == Opcode::reduce_cluster || ins.op == Opcode::reduce_global)
    form.reduction = reduction(ins);
  form.reduces_tensor = ins.op == Opcode::tensor_reduce;
  if (form.reduces_tensor) form.reduction.operation = tensor_operation(ins);
  if (ins.op == Opcode::reduce_global || form.reduces_tensor) p_.uses_global_atomics = true;
  // load: [to], [from] or [map, {}], (bytes), [barrier]; store: [to] or [map, {}], [from], (bytes)
  std::size_t k = 0;
  const auto global = [&] {
    form.global = memory_base(at(ins, k++), form.global_offset);
    if (!tensor) return;
    const Operand& coordinates = at(ins, k++);
    const std::string_view text = ins.mod.text;
    const auto dims = static_cast<unsigned>(text[text.find("tensor.") + 7] - '0');
    if (coordinates.count != dims)
      fail("'" + std::string(text) + "' takes " + std::to_string(dims) + " coordinates");
    for (std::uint32_t d = 0; d < coordinates.count; ++d)
      form.coordinates.push_back(source(f_.vector_operands[coordinates.index + d], 4));
  };
  const auto shared = [&] { form.shared = memory_base(at(ins, k++), form.shared_offset); };
  if (load) {
    shared();
    global();
  } else {
    global();
    shared();
  }
  if (!tensor) form.bytes = source(at(ins, k++), 4);
  if (load) form.barrier = memory_base(at(ins, k++), form.barrier_offset);
  if (ins.mod.text.find(".multicast::cluster") != std::string_view::npos) {
    p_.uses_cluster = true;
    const Operand& mask = at(ins, k++);
    if (mask.kind == Kind::reg && register_bytes(mask.index) == 8)
      fail("'" + std::string(ins.mod.text) + "' takes a mask of 16 bits");
    form.multicast = source(mask, 4);
  }
  if (ins.operands.size() != k + (hint ? 1 : 0))
    fail("'" + std::string(ins.mod.text) + "': an operand too many or too few for its suffixes");
  Op& o = emit(between ? op_bulk_cluster : load ? op_bulk_load : op_bulk_store);
  o.imm = static_cast<std::int64_t>(p_.bulk_forms.size());
  o.site = new_site();
  p_.bulk_forms.push_back(std::move(form));
}

/// A load or store of one value that an instruction is made of.
void FunctionDecoder::map_access(AccessType type, Space space, PT as, Ref base, std::int64_t offset,
                                 Ref value) {
  Ins access;
  access.op = type == AccessType::load ? Opcode::ld : Opcode::st;
  access.mod.type = as;
  access.mod.space = space;
  access.operands.resize(2);
  std::vector<Ref>& list = p_.lists.emplace_back();
  list.push_back(value);
  Op& o = emit_access(access, type, space, base, offset, list);
  if (type == AccessType::load) o.dst = value;
}

namespace {

/// Where tensormap.replace writes: a field of a map is what the instruction's value is, but for two that CUDA counts
/// otherwise.
struct MapField {
  std::string_view name;
  std::size_t offset;
  PT type;
  unsigned places = 0;  ///< that the first of two operands chooses among; 0: there is one
  std::int32_t added = 0;
};
constexpr MapField kMapFields[] = {
    {"global_address", offsetof(TensorMap, base), PT::b64},
    {"rank", offsetof(TensorMap, rank), PT::b8, 0, 1},
    {"box_dim", offsetof(TensorMap, box), PT::b16, TensorMap::kMostRank},
    {"global_dim", offsetof(TensorMap, last), PT::b32, TensorMap::kMostRank, -1},
    {"global_stride", offsetof(TensorMap, stride), PT::b64, TensorMap::kMostRank - 1},
    {"element_stride", offsetof(TensorMap, step), PT::b8, TensorMap::kMostRank},
    {"elemtype", offsetof(TensorMap, type), PT::b8},
    {"swizzle_mode", offsetof(TensorMap, swizzle), PT::b8},
    {"fill_mode", offsetof(TensorMap, fills_with_nan), PT::b8},
};

}  // namespace

/// tensormap.replace: a store into the map. Whoever copies by the map checks what stands there.
void FunctionDecoder::map_replace(const Ins& ins) {
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::memory_other;
  const std::string_view text = ins.mod.text;
  const std::size_t name = std::string_view("tensormap.replace.tile.").size();
  const std::string_view field_name = text.substr(name, text.find('.', name) - name);
  const auto* const field = std::find_if(std::begin(kMapFields), std::end(kMapFields),
                                         [&](const MapField& f) { return f.name == field_name; });
  const Operand& value = at(ins, ins.operands.size() - 1);
  if (field ==
      std::end(kMapFields)) {  // interleave_layout: 0 is the one that tensor maps have here
    if (value.bits != 0) fail("'" + std::string(text) + "': there is no interleaved layout");
    return;
  }
  const unsigned bytes = ptx::size_of(field->type);
  const std::int64_t place = field->places == 0 ? 0 : at(ins, 1).bits;
  if (place < 0 || (field->places != 0 && place >= std::int64_t{field->places}))
    fail("'" + std::string(text) + "': a tensor has no dimension " + std::to_string(place));
  if (field_name == "fill_mode" && (value.bits < 0 || value.bits > 1))
    fail("'" + std::string(text) + "' takes 0 or 1");
  const Space space = text.find(".shared::cta") != std::string_view::npos ? Space::shared
                      : text.find(".global") != std::string_view::npos    ? Space::global
                                                                          : Space::generic;
  std::int64_t offset;
  const Ref base = memory_base(at(ins, 0), offset);
  Ref written = source(value, std::max(bytes, 4u));
  if (field->added != 0) {
    const Ref sum = temporary(4);
    Op& o = emit_alu(Alu::add, Ty::u32);
    o.dst = sum;
    o.a = written;
    o.b = b_.constant(static_cast<std::uint32_t>(field->added), 4);
    written = sum;
  }
  if (bytes < 4) {
    const Ref narrow = temporary(bytes);
    convert_width(narrow, bytes, written, 4);
    written = narrow;
  }
  map_access(AccessType::store, space, field->type, base,
             offset + static_cast<std::int64_t>(field->offset) + place * bytes, written);
  if (space == Space::shared) return;
  Op& changed = emit(op_map_changed);
  changed.a = base;
  changed.imm = offset;
}

/// tensormap.cp_fenceproxy: the warp copies a map of 128 bytes, four by each lane.
void FunctionDecoder::map_copy(const Ins& ins) {
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::memory_global;
  constexpr std::int64_t kMapBytes = 128;
  if (at(ins, 2).bits != kMapBytes) fail("'" + std::string(ins.mod.text) + "' copies 128 bytes");
  const auto own = [&](std::size_t k, std::int64_t& offset) {
    const Ref base = memory_base(at(ins, k), offset), lane = special(ptx::Special::laneid, 4);
    const Ref sum = temporary(8);
    Op& o = emit_alu(Alu::mad_wide, Ty::u32);
    o.dst = sum;
    o.a = lane;
    o.b = b_.constant(4, 4);
    o.c = base;
    return sum;
  };
  std::int64_t to_offset, from_offset;
  const Ref map = memory_base(at(ins, 0), to_offset);
  const Ref to = own(0, to_offset), from = own(1, from_offset), word = temporary(4);
  map_access(AccessType::load, Space::shared, PT::b32, from, from_offset, word);
  map_access(AccessType::store, Space::global, PT::b32, to, to_offset, word);
  Op& changed = emit(op_map_changed);
  changed.a = map;
  changed.imm = to_offset;
  emit(op_fence_map);
}

/// setmaxnreg: warps give registers to others, which changes nothing of what is computed.
void FunctionDecoder::registers_of_warps(const Ins& ins) {
  const std::uint64_t count = at(ins, 0).bits;
  if (count < 24 || count > 256 || count % 8 != 0)
    fail("'" + std::string(ins.mod.text) + "' takes 24 to 256 registers, a multiple of 8");
  Op& o = emit(op_set_registers);
  o.slot = static_cast<std::uint32_t>(count);
}

/// What changes tensor maps; false: it is another instruction.
bool FunctionDecoder::tensor_map(const Ins& ins) {
  switch (ins.op) {
    case Opcode::map_replace:
      map_replace(ins);
      return true;
    case Opcode::map_copy:
      map_copy(ins);
      return true;
    case Opcode::fence_map_acquire: {
      p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::synchronisation;
      std::int64_t offset;
      const Ref base = memory_base(at(ins, 0), offset);
      Op& o = emit(op_map_acquire);
      o.a = base;
      o.imm = offset;
      return true;
    }
    default:
      return false;
  }
}

/// Instructions of the asynchronous proxy and what comes with them; false: it is another one.
bool FunctionDecoder::asynchronous_proxy(const Ins& ins) {
  switch (ins.op) {
    case Opcode::mbarrier_init:
    case Opcode::mbarrier_inval:
    case Opcode::mbarrier_arrive:
    case Opcode::mbarrier_arrive_expect:
    case Opcode::mbarrier_drop:
    case Opcode::mbarrier_drop_expect:
    case Opcode::mbarrier_expect:
    case Opcode::mbarrier_complete:
    case Opcode::mbarrier_pending:
      mbarrier(ins);
      return true;
    case Opcode::bulk_load:
    case Opcode::bulk_store:
    case Opcode::tensor_load:
    case Opcode::tensor_store:
    case Opcode::tensor_reduce:
    case Opcode::bulk_cluster:
    case Opcode::reduce_cluster:
    case Opcode::reduce_global:
      bulk_copy(ins);
      return true;
    case Opcode::st_async:
    case Opcode::red_async:
      asynchronous_store(ins);
      return true;
    case Opcode::mapa:
    case Opcode::getctarank:
      cluster_address(ins);
      return true;
    case Opcode::bulk_wait:
    case Opcode::wgmma_wait:
      proxy_wait(ins);
      return true;
    case Opcode::setmaxnreg:
      registers_of_warps(ins);
      return true;
    default:
      return tensor_map(ins);
  }
}

/// What cp.reduce.async.bulk (PTX ISA 9.7.9.26) and red.async (9.7.13.8) do with elements.
check::Reduction FunctionDecoder::reduction(const Ins& ins) const {
  const PT type = ins.mod.type;
  const bool half = type == PT::f16 || type == PT::bf16;
  const bool noftz = ins.mod.text.find(".noftz") != std::string_view::npos;
  const bool there = ins.mod.text.find(".popc") == std::string_view::npos &&
                     bulk::can_reduce(ins.mod.atom, type, ins.op == Opcode::reduce_global);
  // Sums of 16 bits keep small numbers, and say so.
  if (!there || noftz != (half && ins.mod.atom == ptx::AtomOp::add))
    fail("'" + std::string(ins.mod.text) +
         "' is a combination of operation and type that there is not");
  return {static_cast<std::uint8_t>(ptx::size_of(type)), static_cast<std::uint8_t>(ins.mod.atom),
          static_cast<std::uint8_t>(lane_type(type))};
}

/// st.async and red.async.
void FunctionDecoder::asynchronous_store(const Ins& ins) {
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::memory_shared;
  p_.uses_proxy = p_.uses_cluster = true;
  AsyncStore store;
  store.width = ptx::size_of(ins.mod.type);
  store.to = memory_base(at(ins, 0), store.to_offset);
  const Operand& values = at(ins, 1);
  const unsigned count = values.kind == Kind::vector ? values.count : 1;
  if (count != std::max<unsigned>(ins.mod.vec, 1) || ins.mod.space != Space::cluster ||
      store.width * count > 16)
    fail("'" + std::string(ins.mod.text) + "' writes up to 16 bytes to .shared::cluster");
  for (unsigned k = 0; k < count; ++k)
    store.values.push_back(source(
        values.kind == Kind::vector ? f_.vector_operands[values.index + k] : values, store.width));
  if (ins.op == Opcode::red_async) store.reduction = reduction(ins);
  store.barrier = memory_base(at(ins, 2), store.barrier_offset);
  Op& o = emit(op_async_store);
  o.slot = static_cast<std::uint32_t>(p_.async_stores.size());
  o.site = new_site();
  p_.async_stores.push_back(std::move(store));
}

/// mapa and getctarank.
void FunctionDecoder::cluster_address(const Ins& ins) {
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::convert;
  p_.uses_cluster = true;
  if (ins.mod.space != Space::cluster && ins.mod.space != Space::generic)
    fail("'" + std::string(ins.mod.text) + "' takes .shared::cluster or generic addresses");
  const unsigned bytes = ptx::size_of(ins.mod.type);
  const bool maps = ins.op == Opcode::mapa;
  const Ref from = source(at(ins, 1), bytes);
  const Ref rank = maps ? source(at(ins, 2), 4) : kNoRef;
  const Ref dst = destination(at(ins, 0), maps && bytes == 8 ? PT::u64 : PT::u32);
  Op& o = emit(maps ? op_map_address : op_rank_of_address);
  o.dst = dst;
  o.a = from;
  o.b = rank;
  o.width = static_cast<std::uint8_t>(bytes);
  o.x = static_cast<std::uint8_t>(ins.mod.space);
}

/// wait_group of wgmma and of bulk stores.
void FunctionDecoder::proxy_wait(const Ins& ins) {
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::synchronisation;
  p_.uses_proxy = true;
  const std::int64_t groups = at(ins, 0).bits;
  const bool wgmma = ins.op == Opcode::wgmma_wait;
  if (groups < 0 || (wgmma && groups > 7))
    fail("'" + std::string(ins.mod.text) + "' takes a number of groups" +
         (wgmma ? ", 0 to 7" : ""));
  Op& o = emit(wgmma ? op_wgmma_wait : op_bulk_wait);
  o.slot = static_cast<std::uint32_t>(std::min<std::int64_t>(groups, INT32_MAX));
}

struct WgmmaType {
  PT a, d;
  MmaFormat format;
  unsigned k;
};

namespace {

/// PTX ISA 9.7.15.2. Of two types of bytes, each may have a sign.
constexpr WgmmaType kTypes[] = {
    {PT::f16, PT::f32, MmaFormat::f16, 16},   {PT::f16, PT::f16, MmaFormat::f16, 16},
    {PT::bf16, PT::f32, MmaFormat::bf16, 16}, {PT::tf32, PT::f32, MmaFormat::tf32, 8},
    {PT::s8, PT::s32, MmaFormat::s8, 32},     {PT::u8, PT::s32, MmaFormat::s8, 32},
    {PT::e4m3, PT::f32, MmaFormat::f8, 32},   {PT::e4m3, PT::f16, MmaFormat::f8, 32},
    {PT::e5m2, PT::f32, MmaFormat::f8, 32},   {PT::e5m2, PT::f16, MmaFormat::f8, 32},
};

}  // namespace

/// Shape, types and what is done with the sums, from the suffixes.
const WgmmaType& FunctionDecoder::product_type(const ptx::Modifiers& m, Wgmma& w) const {
  const auto is_byte = [](PT type) { return type == PT::s8 || type == PT::u8; };
  const bool bytes = is_byte(m.type2);
  const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const WgmmaType& t) {
    return t.a == m.type2 && t.d == m.type && t.k == m.k;
  });
  const auto is_f8 = [](PT type) { return type == PT::e4m3 || type == PT::e5m2; };
  const bool same = bytes ? is_byte(m.type3) : is_f8(m.type2) ? is_f8(m.type3) : m.type3 == m.type2;
  // PTX ISA 9.7.15.2: of bytes, beyond 32 columns every other size.
  const unsigned step = bytes && m.n > 32 ? 16 : 8;
  const bool shape = m.m == 64 && m.n >= 8 && m.n <= 256 && m.n % step == 0;
  if (row == std::end(kTypes) || !same || !shape || (m.sat && !bytes))
    fail("'" + std::string(m.text) +
         "' is a shape or a combination of types that the simulated GPU does not have");
  w.format = row->format;
  w.n = static_cast<std::uint8_t>(m.n / 8);
  w.half_sums = m.type == PT::f16;
  w.second_a = m.type2 == PT::u8 || m.type2 == PT::e5m2;
  w.second_b = m.type3 == PT::u8 || m.type3 == PT::e5m2;
  w.saturates = m.sat;
  return *row;
}

/// wgmma.mma_async.
void FunctionDecoder::product(BasicBlock& block, const Ins& ins) {
  const std::string text(ins.mod.text);
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::tensor;
  p_.uses_proxy = true;
  Wgmma w;
  const WgmmaType& type = product_type(ins.mod, w);
  w.sums = fragment(at(ins, 0), ins.mod.n / (w.half_sums ? 4u : 2u), 4, true);
  const Operand& a = at(ins, 1);
  const bool registers = a.kind == Kind::vector;
  if (registers)
    w.fragment = fragment(a, 4, 4, false);
  else
    w.a = source(a, 8);
  const auto number = [&](const Operand& list, std::vector<std::uint32_t>& numbers) {
    for (std::uint32_t e = 0; e < list.count; ++e) {
      const Operand& element = f_.vector_operands[list.index + e];
      numbers.push_back(element.kind == Kind::reg ? product_register_[element.index] : UINT32_MAX);
    }
  };
  number(at(ins, 0), w.sum_numbers);
  if (registers) number(a, w.fragment_numbers);
  w.b = source(at(ins, 2), 8);
  w.scale_d = predicate(at(ins, 3));
  // Signs of floats, and how 16-bit operands in shared memory lie.
  const bool floats = type.format != MmaFormat::s8;
  const bool transposes = type.format == MmaFormat::f16 || type.format == MmaFormat::bf16;
  const std::size_t transposed = transposes ? (registers ? 1 : 2) : 0;
  const std::size_t wanted = (floats ? 2 : 0) + transposed;
  if (ins.operands.size() != 4 + wanted)
    fail("'" + text + "' takes " + std::to_string(wanted) + " constants behind scale-d");
  const auto constant = [&](std::size_t k, int least) {
    const auto v = static_cast<std::int32_t>(at(ins, k).bits);
    if (v != least && v != 1)
      fail("'" + text + "': operand " + std::to_string(k + 1) + " is " + std::to_string(least) +
           " or 1");
    return v;
  };
  if (floats) {
    w.negates_a = constant(4, -1) < 0;
    w.negates_b = constant(5, -1) < 0;
  }
  if (transposed == 2) w.mn_major_a = constant(6, 0) != 0;
  if (transposed != 0) w.mn_major_b = constant(5 + transposed, 0) != 0;
  block.end = End::product;
  block.detail = static_cast<std::uint32_t>(p_.products.size());
  p_.products.push_back(std::move(w));
}

}  // namespace simgpu::exec
