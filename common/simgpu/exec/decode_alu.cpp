// What becomes of the rows of instructions.inc, and of the instructions that are more than one
// operation on lanes: comparisons, moves, conversions.
#include <algorithm>
#include <cfenv>

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/video.hpp"
#include "common/simgpu/memory/address.hpp"

namespace simgpu::exec {

using ptx::Opcode;
using Kind = ptx::Operand::Kind;
using PT = ptx::Type;
using R = ptx::Rounding;

Ty lane_type(ptx::Type type) {
  using T = ptx::Type;
  switch (type) {
    case T::pred:
      return Ty::pred;
    case T::b8:
    case T::u8:
      return Ty::u8;
    case T::b16:
    case T::u16:
      return Ty::u16;
    case T::b32:
    case T::u32:
      return Ty::u32;
    case T::b64:
    case T::u64:
      return Ty::u64;
    case T::s8:
      return Ty::s8;
    case T::s16:
      return Ty::s16;
    case T::s32:
      return Ty::s32;
    case T::s64:
      return Ty::s64;
    case T::f16:
      return Ty::f16;
    case T::f16x2:
      return Ty::f16x2;
    case T::bf16:
      return Ty::bf16;
    case T::bf16x2:
      return Ty::bf16x2;
    case T::e4m3x2:
      return Ty::e4m3x2;
    case T::e5m2x2:
      return Ty::e5m2x2;
    case T::tf32:
      return Ty::tf32;
    case T::f32:
      return Ty::f32;
    case T::f64:
      return Ty::f64;
    default:
      return Ty::count_;
  }
}

namespace {

bool is_half(Ty t) {
  return t == Ty::f16 || t == Ty::f16x2 || t == Ty::bf16 || t == Ty::bf16x2;
}
bool is_float(Ty t) {
  return is_half(t) || t == Ty::f32 || t == Ty::f64 || t == Ty::tf32;
}

/// FE_TONEAREST (also if none is given): no wrapper needed.
int host_rounding(R r) {
  return r == R::rz   ? FE_TOWARDZERO
         : r == R::rm ? FE_DOWNWARD
         : r == R::rp ? FE_UPWARD
                      : FE_TONEAREST;
}

/// Puts the op behind the wrapper that switches the host's rounding mode.
void round_as(Op& op, R r) {
  const int mode = host_rounding(r);
  if (mode == FE_TONEAREST) return;
  Handler& inner = op.guarded != nullptr ? op.guarded : op.fn;
  op.rounded = inner;
  op.slot = static_cast<std::uint32_t>(mode);
  inner = run_rounded;
}

PT bits_type(unsigned bytes) {
  return bytes == 1 ? PT::u8 : bytes == 2 ? PT::u16 : bytes == 4 ? PT::u32 : PT::u64;
}

/// The lanes that handle `type` by this row of a table: those of an unsigned type stand in for all of
/// its size. count_: there are none.
Ty lanes_for(const Handler* by_type, PT type) {
  const auto has = [&](Ty t) {
    return t != Ty::count_ && by_type[static_cast<std::size_t>(t)] != nullptr;
  };
  if (const Ty own = lane_type(type); has(own)) return own;
  if (type == PT::pred) return Ty::count_;
  const Ty bits = lane_type(bits_type(ptx::size_of(type)));
  return has(bits) ? bits : Ty::count_;
}

/// Whether all of `words`, separated by blanks, stand behind dots of an instruction.
bool has_suffixes(std::string_view instruction, std::string_view words) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    std::size_t at = instruction.find('.');
    const auto part = [&] {
      return instruction.substr(at + 1, instruction.find('.', at + 1) - at - 1);
    };
    while (at != std::string_view::npos && part() != word) at = instruction.find('.', at + 1);
    if (at == std::string_view::npos) return false;
  }
  return true;
}

enum class Category : std::uint8_t { arithmetic, logic, move };

InstructionClass class_of(Category category, PT type) {
  using C = InstructionClass;
  if (category == Category::logic) return C::logic;
  if (category == Category::move) return C::move;
  return type == PT::f64 ? C::fp64 : is_float(lane_type(type)) ? C::fp32 : C::integer;
}

struct Operation {
  Alu op;
  Opcode of;
  std::string_view when;
  PT second;
  std::string_view operands;
  Category category;
};
constexpr Operation kOperations[] = {
#define OPERATION(id, of, when, second, operands, category, ...) \
  {Alu::id, Opcode::of, when, PT::second, operands, Category::category},
#include "common/simgpu/instructions.inc"
};

}  // namespace

bool is_lanewise(Opcode op) {
  return std::any_of(std::begin(kOperations), std::end(kOperations),
                     [op](const Operation& row) { return row.of == op; });
}

/// False if the instruction has no operation among the rows of instructions.inc.
bool FunctionDecoder::lanewise(const Ins& ins) {
  bool has_rows = false;
  for (const Operation& row : kOperations) {
    if (row.of != ins.op) continue;
    if (!has_rows)
      p_.instructions[code_.first_pc + current_index_].klass = class_of(row.category, ins.mod.type);
    has_rows = true;
    const Ty type = lanes_for(handlers().alu[static_cast<std::size_t>(row.op)], ins.mod.type);
    if (type == Ty::count_ || (row.second != PT::none && row.second != ins.mod.type2) ||
        !has_suffixes(ins.mod.text, row.when))
      continue;
    // What the decoder does not put around an operation, the row must do.
    if (ins.mod.relu && row.when.find("relu") == std::string_view::npos) unsupported();
    if (ins.mod.sat && !is_float(type) && row.when.find("sat") == std::string_view::npos)
      unsupported();
    operation(ins, row.op, row.operands, type);
    return true;
  }
  if (has_rows) unsupported();
  return false;
}

/// `operands` in the notation of instructions.inc, `type` the lanes of T.
void FunctionDecoder::operation(const Ins& ins, Alu op, std::string_view operands, Ty type) {
  const unsigned bytes = ptx::size_of(ins.mod.type);
  if (is_half(type) && host_rounding(ins.mod.rounding) != FE_TONEAREST)
    fail("'" + std::string(ins.mod.text) + "': 16-bit formats round to nearest only");
  const auto register_type = [&](char width) {
    if (width == '1' || (width == 'T' && type == Ty::pred)) return PT::pred;
    return bits_type(width == 'T' ? bytes : width == 'W' ? 2 * bytes : 4);
  };
  Ref sources[4] = {kNoRef, kNoRef, kNoRef, kNoRef};
  std::int64_t immediate = 0;
  for (std::size_t k = 1; 3 * k < operands.size(); ++k) {
    const char width = operands[3 * k + 1];
    const PT held = register_type(width);
    if (operands[3 * k] == 'i') {
      immediate = at(ins, k).bits;
    } else if (held == PT::pred) {
      sources[k - 1] = predicate(at(ins, k));
    } else {
      sources[k - 1] = source(at(ins, k), ptx::size_of(held));
      if (ins.mod.ftz && (width == 'T' || width == 'F'))
        sources[k - 1] = flushed(sources[k - 1], width == 'F' ? Ty::f32 : type);
    }
  }
  if ((ins.op == Opcode::div || ins.op == Opcode::rem) && !is_float(type)) {
    Op& check = emit(op_check_divisor);
    check.a = sources[1];
    check.width = static_cast<std::uint8_t>(bytes);
  }
  const PT written = register_type(operands[1]);
  const Ref dst = destination(at(ins, 0), written);
  Op& o = emit_alu(op, type);
  o.dst = dst;
  o.a = sources[0];
  o.b = sources[1];
  o.c = sources[2];
  o.d = sources[3];
  o.imm = immediate;
  if (is_float(type)) {
    round_as(o, ins.mod.rounding);
    after_rounding(ins, dst, type);
  }
  finish_destination(at(ins, 0), written, dst);
}

/// .ftz of a source: itself, or a temporary.
Ref FunctionDecoder::flushed(Ref source, Ty type) {
  if (type != Ty::f32 && !is_half(type)) return source;
  const Ref t = temporary(type == Ty::f16 || type == Ty::bf16 ? 2 : 4);
  Op& o = emit_alu(Alu::flush, type);
  o.dst = t;
  o.a = source;
  return t;
}

/// .ftz and .sat of a result.
void FunctionDecoder::after_rounding(const Ins& ins, Ref dst, Ty type) {
  const auto change = [&](Alu op) {
    Op& o = emit_alu(op, type);
    o.dst = o.a = dst;
  };
  if (ins.mod.ftz && type != Ty::f64) change(Alu::flush);
  if (ins.mod.sat) change(Alu::saturate);
}

/// add.cc, addc and their kin. False if the instruction is none of them.
bool FunctionDecoder::carry_arithmetic(const Ins& ins) {
  const bool mad = ins.op == Opcode::mad || ins.op == Opcode::madc;
  const bool in = ins.op == Opcode::addc || ins.op == Opcode::subc || ins.op == Opcode::madc;
  if (!in && !ins.mod.carry_out) return false;
  p_.instructions[code_.first_pc + current_index_].klass =
      class_of(Category::arithmetic, ins.mod.type);
  if (carry_ == kNoRef) carry_ = frame_ref(allocate(4, 4));
  if (ins.mod.mul == ptx::MulMode::wide) unsupported();
  operation(ins, Alu::add_carry, mad ? "dT sT sT sT" : "dT sT sT", lane_type(ins.mod.type));
  Op& o = ops_.back();
  o.dst2 = carry_;
  o.x = static_cast<std::uint8_t>((in ? 1 : 0) | (ins.mod.carry_out ? 2 : 0));
  o.y = mad ? (ins.mod.mul == ptx::MulMode::hi ? 3 : 2)
        : (ins.op == Opcode::sub || ins.op == Opcode::subc) ? 1
                                                            : 0;
  return true;
}

/// Packed video instructions and cvt.pack: what is done to the parts goes into the operation's number.
bool FunctionDecoder::packed_parts(const Ins& ins) {
  const std::optional<std::uint32_t> form = video_form(ins);
  if (!form) return false;
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::integer;
  const bool packs = ins.op == Opcode::cvt_pack;
  const bool bytes = (*form & kVideoBytes) != 0;
  if (packs && (ins.operands.size() == 4) != bytes)
    fail("'" + std::string(ins.mod.text) + "' has a third operand if it packs bytes, else none");
  const Ref value = destination(at(ins, 0), PT::u32);
  const Ref sources[] = {source(at(ins, 1), 4), source(at(ins, 2), 4),
                         ins.operands.size() == 4 ? source(at(ins, 3), 4) : b_.constant(0, 4)};
  Op& op = emit_alu(packs ? Alu::pack_saturated : Alu::video, Ty::u32);
  op.dst = value;
  op.a = sources[0];
  op.b = sources[1];
  op.c = sources[2];
  op.imm = *form;
  finish_destination(at(ins, 0), PT::u32, value);
  return true;
}

/// lop3 with a second destination, a predicate: whether the result is not 0, combined with another.
/// False if the instruction is something else.
bool FunctionDecoder::table_to_predicate(const Ins& ins) {
  using ptx::BoolOp;
  if (ins.op != Opcode::lop3) return false;
  const BoolOp combine = ins.mod.combine;
  const Operand& to = at(ins, 0);
  if ((combine != BoolOp::none) != (ins.operands.size() == 6) ||
      (combine != BoolOp::none) != (to.index2 != UINT32_MAX))
    fail("'" + std::string(ins.mod.text) +
         "' needs a second destination and its predicate, or none");
  if (combine == BoolOp::none) return false;
  if (combine == BoolOp::xor_) unsupported();
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::logic;
  Operand first = to;
  first.index2 = UINT32_MAX;
  const Ref with = predicate(at(ins, 5)), value = destination(first, PT::u32);
  const Ref sources[] = {source(at(ins, 1), 4), source(at(ins, 2), 4), source(at(ins, 3), 4)};
  Op& table = emit_alu(Alu::lop3, Ty::u32);
  table.dst = value;
  table.a = sources[0];
  table.b = sources[1];
  table.c = sources[2];
  table.imm = at(ins, 4).bits;
  finish_destination(first, PT::u32, value);
  const Handler* by_type = handlers().compare[static_cast<std::size_t>(ptx::Compare::ne)];
  Op& test = emit(by_type[static_cast<std::size_t>(Ty::u32)]);
  test.a = value;
  test.b = b_.constant(0, 4);
  test.c = with;
  test.x = static_cast<std::uint8_t>(combine);
  test.dst = reg(to.index2);
  test.dst2 = kNoRef;
  return true;
}

/// setp and set.
void FunctionDecoder::compare(const Ins& ins) {
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::compare;
  const bool is_set = ins.op == Opcode::set;
  const PT type = is_set ? ins.mod.type2 : ins.mod.type;
  const unsigned bytes = ptx::size_of(type);
  Ref a = source(at(ins, 1), bytes), b = source(at(ins, 2), bytes);
  if (ins.mod.ftz) {
    a = flushed(a, lane_type(type));
    b = flushed(b, lane_type(type));
  }
  const Operand& d = at(ins, 0);
  const Ref c = ins.mod.combine != ptx::BoolOp::none ? predicate(at(ins, 3)) : kNoRef;
  const auto is_pair = [](PT t) { return t == PT::f16x2 || t == PT::bf16x2; };
  const PT result = ins.mod.type;  // of set
  if (is_set && is_pair(type) && result != type && result != PT::u32 && result != PT::s32)
    unsupported();
  if (is_set && !is_pair(type) && is_pair(result)) unsupported();
  const Ref dst = is_set ? mask_temporary() : destination(d, PT::pred);
  const Ref high = is_set && is_pair(type) ? mask_temporary() : kNoRef;
  const Handler* by_type = handlers().compare[static_cast<std::size_t>(ins.mod.compare)];
  const Ty lanes = lanes_for(by_type, type);
  if (lanes == Ty::count_) unsupported();
  Op& o = emit(by_type[static_cast<std::size_t>(lanes)]);
  o.a = a;
  o.b = b;
  o.c = c;
  o.x = static_cast<std::uint8_t>(ins.mod.combine);
  o.dst = dst;
  o.dst2 = !is_set && d.index2 != UINT32_MAX ? reg(d.index2) : high;
  if (is_set) choose(result, dst, high, d);
}

/// set: 1.0 or all ones where true; of each half if there are two.
void FunctionDecoder::choose(PT result, Ref where, Ref high, const Operand& to) {
  const auto select = [&](Ref dst, unsigned width, std::uint32_t one, Ref mask) {
    Op& s = emit_alu(Alu::selp, lane_type(bits_type(width)));
    s.dst = dst;
    s.a = b_.constant(one, width);
    s.b = b_.constant(0, width);
    s.c = mask;
  };
  const std::uint32_t one = result == PT::f32                            ? 0x3f800000u
                            : result == PT::f16 || result == PT::f16x2   ? 0x3c00u
                            : result == PT::bf16 || result == PT::bf16x2 ? 0x3f80u
                                                                         : 0xffffffffu;
  const Ref value = destination(to, result);
  if (high == kNoRef) {
    select(value, ptx::size_of(result), one, where);
  } else {
    std::vector<Ref>& list = p_.lists.emplace_back();
    for (const Ref mask : {where, high}) {
      list.push_back(temporary(2));
      select(list.back(), 2, one & 0xffffu, mask);
    }
    Op& p = emit(handlers().pack[1][2]);
    p.dst = value;
    p.list = list.data();
  }
  finish_destination(to, result, value);
}

/// The registers of a vector that shares `bytes` of another register.
const std::vector<Ref>& FunctionDecoder::parts(const Operand& vector, unsigned bytes,
                                               bool is_destination) {
  const unsigned element = vector.count == 0 ? 0 : bytes / vector.count;
  if (element * vector.count != bytes || (element != 1 && element != 2 && element != 4))
    fail("a vector does not fit '" + std::string(current_->mod.text) + "'");
  std::vector<Ref>& list = p_.lists.emplace_back();
  for (std::uint32_t k = 0; k < vector.count; ++k) {
    const Operand& e = f_.vector_operands[vector.index + k];
    list.push_back(!is_destination        ? source(e, element)
                   : e.kind == Kind::sink ? kNoRef
                                          : destination(e, bits_type(element)));
  }
  return list;
}

void FunctionDecoder::move(const Ins& ins) {
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::move;
  const Operand &d = at(ins, 0), &s = at(ins, 1);
  const PT type = ins.mod.type;
  const unsigned bytes = ptx::size_of(type);
  if (type != PT::pred && s.kind == Kind::vector) {  // pack
    const std::vector<Ref>& list = parts(s, bytes, false);
    const Ref dst = destination(d, type);
    Op& o = emit(handlers().pack[log2_bytes(bytes / s.count)][log2_bytes(bytes)]);
    o.dst = dst;
    o.list = list.data();
    return;
  }
  if (type != PT::pred && d.kind == Kind::vector) {  // unpack
    const Ref a = source(s, bytes);
    const std::vector<Ref>& list = parts(d, bytes, true);
    Op& o = emit(handlers().unpack[log2_bytes(bytes / d.count)][log2_bytes(bytes)]);
    o.a = a;
    o.list = list.data();
    return;
  }
  if (s.kind == Kind::special &&
      static_cast<ptx::Special>(s.index) == ptx::Special::is_explicit_cluster) {
    const Ref dst = destination(d, type);
    emit(op_explicit_cluster).dst = dst;
    return;
  }
  operation(ins, Alu::mov, "dT sT", type == PT::pred ? Ty::pred : lane_type(bits_type(bytes)));
}

namespace {

bool can_convert(const ptx::Modifiers& m) {
  if (lane_type(m.type) == Ty::count_ || lane_type(m.type2) == Ty::count_) return false;
  if (m.rounding == R::approx || m.rounding == R::full) return false;
  const auto is_float8 = [](PT t) { return t == PT::e4m3x2 || t == PT::e5m2x2; };
  const bool finite = m.text.find(".satfinite") != std::string_view::npos;
  if (is_float8(m.type)) return finite && m.rounding == R::rn && !m.ftz;
  if (finite) return false;
  if (is_float8(m.type2)) return m.rounding == R::rn && !m.sat && !m.ftz;
  if (m.type != PT::tf32) return !m.relu || is_half(lane_type(m.type));
  return !m.sat && !m.ftz &&
         (m.rounding == R::rn || m.rounding == R::rz || (m.rounding == R::rna && !m.relu));
}

}  // namespace

void FunctionDecoder::convert(const Ins& ins) {
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::convert;
  const PT to = ins.mod.type, from = ins.mod.type2;
  const bool pair = from == PT::f32 &&
                    (to == PT::f16x2 || to == PT::bf16x2 || to == PT::e4m3x2 || to == PT::e5m2x2);
  if (ins.operands.size() != (pair ? 3 : 2)) unsupported();
  const Ref a = source(at(ins, 1), ptx::size_of(from));
  const Ref b = pair ? source(at(ins, 2), ptx::size_of(from)) : kNoRef;
  const Ref dst = destination(at(ins, 0), to);
  if (!can_convert(ins.mod)) unsupported();
  Op& o = emit(handlers().cvt[static_cast<std::size_t>(lane_type(to))]
                             [static_cast<std::size_t>(lane_type(from))]);
  o.dst = dst;
  o.a = a;
  o.b = b;
  o.x = static_cast<std::uint8_t>(ins.mod.rounding);
  o.y = static_cast<std::uint8_t>((ins.mod.sat ? 1 : 0) | (ins.mod.ftz ? 2 : 0) |
                                  (ins.mod.relu ? 4 : 0));
  if (to == PT::f32 || to == PT::f64) {
    round_as(o, ins.mod.rounding);
    after_rounding(ins, dst, lane_type(to));
  }
  finish_destination(at(ins, 0), to, dst);
}

/// Generic addresses of shared, local and param memory lie in windows; global and const ones are
/// themselves.
void FunctionDecoder::convert_address(const Ins& ins) {
  p_.instructions[code_.first_pc + current_index_].klass = InstructionClass::convert;
  const unsigned bytes = ptx::size_of(ins.mod.type);
  std::uint64_t window = 0;
  if (ins.mod.space == ptx::Space::shared || ins.mod.space == ptx::Space::cluster)
    window = memory::kSharedWindow;
  if (ins.mod.space == ptx::Space::local) window = memory::kLocalWindow;
  if (ins.mod.space == ptx::Space::param) window = memory::kParamWindow;
  const Ref a = source(at(ins, 1), 8);
  const Ref dst = destination(at(ins, 0), bytes == 8 ? PT::u64 : PT::u32);
  const Ref wide = bytes == 8 ? dst : temporary(8);
  Op& o = emit_alu(window == 0 ? Alu::mov : ins.mod.to ? Alu::sub : Alu::add, Ty::u64);
  o.dst = wide;
  o.a = a;
  o.b = window == 0 ? kNoRef : b_.constant(window, 8);
  if (bytes != 8) convert_width(dst, bytes, wide, 8);
}

namespace {

struct Collective {
  Opcode of;
  InstructionClass klass;
  std::string_view fields;
  Handler handler;
  std::uint8_t (*mode)(const ptx::Modifiers& m);
};
constexpr Collective kCollectives[] = {
#define COLLECTIVE(id, text, allowed, required, least, types, operands, category, fields, handler, \
                   mode)                                                                           \
  {Opcode::id, InstructionClass::category, fields, handler,                                        \
   []([[maybe_unused]] const ptx::Modifiers& m) { return static_cast<std::uint8_t>(mode); }},
#include "common/simgpu/instructions.inc"
};

}  // namespace

/// False if the instruction has no row COLLECTIVE in instructions.inc.
bool FunctionDecoder::collective(const Ins& ins) {
  const auto* row = std::find_if(std::begin(kCollectives), std::end(kCollectives),
                                 [&](const Collective& c) { return c.of == ins.op; });
  if (row == std::end(kCollectives)) return false;
  p_.instructions[code_.first_pc + current_index_].klass = row->klass;
  p_.uses_cluster |= ins.op == Opcode::cluster_arrive;
  p_.lets_next_begin |= ins.op == Opcode::launch_control;
  p_.uses_proxy |= ins.op == Opcode::bulk_commit || ins.op == Opcode::wgmma_fence ||
                   ins.op == Opcode::wgmma_commit || ins.op == Opcode::fence_proxy;
  const unsigned bytes = ins.mod.type == PT::none ? 4 : ptx::size_of(ins.mod.type);
  std::map<char, Ref> refs;
  for (std::size_t k = 0; k < row->fields.size(); ++k) {
    const char field = row->fields[k];
    const Operand& o = at(ins, k);
    const bool to_predicate =
        field == 'd' && (ins.mod.type == PT::pred || ins.op == Opcode::isspacep);
    refs[field] = field == 'd'
                      ? destination(o, to_predicate                                   ? PT::pred
                                       : bytes == 8 && ins.op == Opcode::createpolicy ? PT::u64
                                                                                      : PT::u32)
                  : field == 'p' ? predicate(o)
                                 : source(o, field == 'w'   ? 8
                                             : field == 'm' ? 4
                                                            : bytes);
  }
  const auto given = [&](std::string_view fields) {
    for (const char field : fields)
      if (const auto it = refs.find(field); it != refs.end()) return it->second;
    return kNoRef;
  };
  Op& o = emit(row->handler);
  o.dst = given("d");
  if (given("d") != kNoRef && at(ins, 0).index2 != UINT32_MAX) o.dst2 = reg(at(ins, 0).index2);
  o.a = given("apw");
  o.b = given("b");
  o.c = given("c");
  o.d = given("m");
  o.width = static_cast<std::uint8_t>(bytes);
  o.x = row->mode(ins.mod);
  o.y = ins.mod.type == PT::s32 ? 1 : 0;
  return true;
}

bool FunctionDecoder::warp_matrices(const Ins& ins) {
  switch (ins.op) {
    case Opcode::mma:
    case Opcode::wmma_mma:
      multiply_matrices(ins);
      return true;
    case Opcode::wmma_load:
    case Opcode::wmma_store:
      wmma_access(ins);
      return true;
    case Opcode::ldmatrix:
    case Opcode::stmatrix:
    case Opcode::movmatrix:
      matrix_move(ins);
      return true;
    default:
      return false;
  }
}

void FunctionDecoder::decode(const Ins& ins) {
  if (carry_arithmetic(ins) || table_to_predicate(ins) || packed_parts(ins) || lanewise(ins) ||
      collective(ins) || warp_matrices(ins))
    return;
  switch (ins.op) {
    case Opcode::set:
    case Opcode::setp:
      return compare(ins);
    case Opcode::mov:
      return move(ins);
    case Opcode::cvt:
      return convert(ins);
    case Opcode::cvta:
      return convert_address(ins);
    case Opcode::ld:
    case Opcode::ldu:
      return load(ins);
    case Opcode::st:
      return store(ins);
    case Opcode::atom:
    case Opcode::red:
      return atomic(ins);
    case Opcode::cp_async:
      return async_copy(ins);
    case Opcode::cp_async_commit_group:
    case Opcode::cp_async_wait_group:
    case Opcode::cp_async_wait_all:
    case Opcode::cp_async_arrive:
      return async_wait(ins);
    default:
      if (!asynchronous_proxy(ins)) unsupported();
  }
}

/// The text may declare the engine's functions as it likes.
void FunctionDecoder::check_math_call(const Call& call, const ptx::Function& target) const {
  const auto is_double = [](const Call::Copy& c) { return c.bytes == 8; };
  if (call.arguments.size() != call.math->parameters || call.results.size() != 1 ||
      !std::all_of(call.arguments.begin(), call.arguments.end(), is_double) ||
      !std::all_of(call.results.begin(), call.results.end(), is_double))
    fail("'" + target.name + "' is declared with other parameters than it has");
}

std::uint8_t hidden_multiply_adds(const ptx::Module& module, const ptx::Instruction& ins) {
  if (ins.op == Opcode::call && ins.operands[0].kind == ptx::Operand::Kind::function)
    return static_cast<std::uint8_t>(
        multiply_adds_of(module.functions[ins.operands[0].index].name));
  if (ins.mod.type != ptx::Type::f32 || ins.mod.rounding != ptx::Rounding::rn) return 0;
  if (ins.op == Opcode::div) return 5;
  return ins.op == Opcode::rcp || ins.op == Opcode::sqrt ? 2 : 0;
}

}  // namespace simgpu::exec
