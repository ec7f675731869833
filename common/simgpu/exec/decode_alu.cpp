// Arithmetic, logic, comparisons, moves and conversions.
#include <cfenv>

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/memory/address.hpp"

namespace simgpu::exec {

using ptx::Opcode;
using Kind = ptx::Operand::Kind;
using PT = ptx::Type;

namespace {

bool is_float(PT t) {
  return t == PT::f16 || t == PT::f16x2 || t == PT::bf16 || t == PT::bf16x2 || t == PT::f32 ||
         t == PT::f64 || t == PT::tf32;
}

bool is_half(PT t) {
  return t == PT::f16 || t == PT::f16x2 || t == PT::bf16 || t == PT::bf16x2;
}

/// 0 = to nearest (or none given): no wrapper needed.
int host_rounding(ptx::Rounding r) {
  switch (r) {
    case ptx::Rounding::rz:
      return FE_TOWARDZERO;
    case ptx::Rounding::rm:
      return FE_DOWNWARD;
    case ptx::Rounding::rp:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}

/// Puts the op behind the wrapper that switches the host's rounding mode.
void round_as(Op& op, ptx::Rounding r) {
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

}  // namespace

/// dst = op(sources), all plain: `source_bytes` per operand.
void FunctionDecoder::simple(const Ins& ins, Alu op, Ty type, unsigned dst_bytes,
                             std::initializer_list<unsigned> source_bytes) {
  Ref refs[4] = {kNoRef, kNoRef, kNoRef, kNoRef};
  std::size_t k = 0;
  for (const unsigned bytes : source_bytes) {
    refs[k] = source(at(ins, k + 1), bytes);
    ++k;
  }
  const PT dst_type = bits_type(dst_bytes);
  const Ref dst = destination(at(ins, 0), dst_type);
  Op& o = emit_alu(op, type);
  o.dst = dst;
  o.a = refs[0];
  o.b = refs[1];
  o.c = refs[2];
  o.d = refs[3];
  finish_destination(at(ins, 0), dst_type, dst);
}

/// A row of instructions.inc; `operands` in the notation there.
void FunctionDecoder::lanewise(const Ins& ins, Alu op, std::string_view operands) {
  const unsigned bytes = ptx::size_of(ins.mod.type);
  const auto width = [&](std::size_t k) { return operands[3 * k + 1] == '3' ? 4u : bytes; };
  Ref sources[4] = {kNoRef, kNoRef, kNoRef, kNoRef};
  for (std::size_t k = 0; 3 * (k + 1) < operands.size(); ++k)
    sources[k] = source(at(ins, k + 1), width(k + 1));
  const PT dst_type = bits_type(width(0));
  const Ref dst = destination(at(ins, 0), dst_type);
  Op& o = emit_alu(op, lane_type(ins.mod.type));
  o.dst = dst;
  o.a = sources[0];
  o.b = sources[1];
  o.c = sources[2];
  o.d = sources[3];
  finish_destination(at(ins, 0), dst_type, dst);
}

void FunctionDecoder::float_arithmetic(const Ins& ins) {
  const PT type = ins.mod.type;
  const unsigned bytes = ptx::size_of(type);
  const Ty ty = lane_type(type);
  Alu op;
  unsigned n = 2;
  switch (ins.op) {
    case Opcode::add:
      op = Alu::add;
      break;
    case Opcode::sub:
      op = Alu::sub;
      break;
    case Opcode::mul:
      op = Alu::mul_lo;
      break;
    case Opcode::mad:
    case Opcode::fma:
      op = ins.mod.relu ? Alu::fma_relu : Alu::fma;
      n = 3;
      break;
    case Opcode::div:
      op = Alu::div;
      break;
    case Opcode::min:
      op = ins.mod.nan ? Alu::min_nan : Alu::min;
      break;
    case Opcode::max:
      op = ins.mod.nan ? Alu::max_nan : Alu::max;
      break;
    case Opcode::copysign:
      op = Alu::copysign;
      break;
    case Opcode::abs:
      op = Alu::abs;
      n = 1;
      break;
    case Opcode::neg:
      op = Alu::neg;
      n = 1;
      break;
    case Opcode::sqrt:
      op = Alu::sqrt;
      n = 1;
      break;
    case Opcode::rsqrt:
      op = Alu::rsqrt;
      n = 1;
      break;
    case Opcode::rcp:
      op = Alu::rcp;
      n = 1;
      break;
    case Opcode::sin:
      op = Alu::sin;
      n = 1;
      break;
    case Opcode::cos:
      op = Alu::cos;
      n = 1;
      break;
    case Opcode::lg2:
      op = Alu::lg2;
      n = 1;
      break;
    case Opcode::ex2:
      op = Alu::ex2;
      n = 1;
      break;
    case Opcode::tanh:
      op = Alu::tanh;
      n = 1;
      break;
    default:
      unsupported();
  }
  const bool half = is_half(type);
  if (half && host_rounding(ins.mod.rounding) != FE_TONEAREST)
    fail("'" + std::string(ins.mod.text) + "': 16-bit formats round to nearest only");
  const bool flush = ins.mod.ftz && (type == PT::f32 || half);
  Ref refs[3] = {kNoRef, kNoRef, kNoRef};
  for (unsigned k = 0; k < n; ++k) {
    refs[k] = source(at(ins, k + 1), bytes);
    if (!flush) continue;
    const Ref t = temporary(bytes);
    Op& f = emit_alu(Alu::flush, ty);
    f.dst = t;
    f.a = refs[k];
    refs[k] = t;
  }
  const Ref dst = destination(at(ins, 0), bits_type(bytes));
  Op& o = emit_alu(op, ty);
  o.dst = dst;
  o.a = refs[0];
  o.b = refs[1];
  o.c = refs[2];
  round_as(o, ins.mod.rounding);
  if (flush) {
    Op& f = emit_alu(Alu::flush, ty);
    f.dst = f.a = dst;
  }
  if (ins.mod.sat) {
    Op& s = emit_alu(Alu::saturate, ty);
    s.dst = s.a = dst;
  }
  if (ins.mod.relu && op != Alu::fma_relu) unsupported();
}

void FunctionDecoder::integer_arithmetic(const Ins& ins) {
  const PT type = ins.mod.type;
  const unsigned bytes = ptx::size_of(type);
  const Ty ty = lane_type(type);
  const bool hi = ins.mod.mul == ptx::MulMode::hi, wide = ins.mod.mul == ptx::MulMode::wide;
  switch (ins.op) {
    case Opcode::add:
      return simple(ins, ins.mod.sat ? Alu::add_sat : Alu::add, ty, bytes, {bytes, bytes});
    case Opcode::sub:
      return simple(ins, ins.mod.sat ? Alu::sub_sat : Alu::sub, ty, bytes, {bytes, bytes});
    case Opcode::mul:
      if (wide) return simple(ins, Alu::mul_wide, ty, 2 * bytes, {bytes, bytes});
      return simple(ins, hi ? Alu::mul_hi : Alu::mul_lo, ty, bytes, {bytes, bytes});
    case Opcode::mad:
      if (wide) return simple(ins, Alu::mad_wide, ty, 2 * bytes, {bytes, bytes, 2 * bytes});
      if (hi && ins.mod.sat) return simple(ins, Alu::mad_hi_sat, ty, bytes, {bytes, bytes, bytes});
      return simple(ins, hi ? Alu::mad_hi : Alu::mad_lo, ty, bytes, {bytes, bytes, bytes});
    case Opcode::mul24:
      return simple(ins, hi ? Alu::mul24_hi : Alu::mul24_lo, ty, 4, {4, 4});
    case Opcode::mad24:
      if (ins.mod.sat) unsupported();
      return simple(ins, hi ? Alu::mad24_hi : Alu::mad24_lo, ty, 4, {4, 4, 4});
    case Opcode::div:
    case Opcode::rem: {
      const Ref divisor = source(at(ins, 2), bytes);
      Op& check = emit(op_check_divisor);
      check.a = divisor;
      check.width = static_cast<std::uint8_t>(bytes);
      return simple(ins, ins.op == Opcode::div ? Alu::div : Alu::rem, ty, bytes, {bytes, bytes});
    }
    case Opcode::min:
      return simple(ins, Alu::min, ty, bytes, {bytes, bytes});
    case Opcode::max:
      return simple(ins, Alu::max, ty, bytes, {bytes, bytes});
    case Opcode::abs:
      return simple(ins, Alu::abs, ty, bytes, {bytes});
    case Opcode::neg:
      return simple(ins, Alu::neg, ty, bytes, {bytes});
    case Opcode::dp4a:
    case Opcode::dp2a: {
      simple(ins, ins.op == Opcode::dp4a ? Alu::dp4a : Alu::dp2a, Ty::u32, 4, {4, 4, 4});
      ops_.back().x = static_cast<std::uint8_t>((type == PT::s32 ? 1 : 0) |
                                                (ins.mod.type2 == PT::s32 ? 2 : 0) | (hi ? 4 : 0));
      return;
    }
    default:
      unsupported();
  }
}

void FunctionDecoder::carry_arithmetic(const Ins& ins) {
  if (carry_ == kNoRef) carry_ = frame_ref(allocate(4, 4));
  const unsigned bytes = ptx::size_of(ins.mod.type);
  const bool mad = ins.op == Opcode::mad || ins.op == Opcode::madc;
  const bool in = ins.op == Opcode::addc || ins.op == Opcode::subc || ins.op == Opcode::madc;
  if (ins.mod.mul == ptx::MulMode::wide) unsupported();
  if (mad)
    simple(ins, Alu::add_carry, lane_type(ins.mod.type), bytes, {bytes, bytes, bytes});
  else
    simple(ins, Alu::add_carry, lane_type(ins.mod.type), bytes, {bytes, bytes});
  Op& o = ops_.back();
  o.dst2 = carry_;
  o.x = static_cast<std::uint8_t>((in ? 1 : 0) | (ins.mod.carry_out ? 2 : 0));
  o.y = mad ? (ins.mod.mul == ptx::MulMode::hi ? 3 : 2)
        : (ins.op == Opcode::sub || ins.op == Opcode::subc) ? 1
                                                            : 0;
}

void FunctionDecoder::arithmetic(const Ins& ins) {
  if (ins.mod.carry_out || ins.op == Opcode::addc || ins.op == Opcode::subc ||
      ins.op == Opcode::madc)
    return carry_arithmetic(ins);
  if (is_float(ins.mod.type)) return float_arithmetic(ins);
  integer_arithmetic(ins);
}

void FunctionDecoder::logic(const Ins& ins) {
  const PT type = ins.mod.type;
  if (type == PT::pred) {
    const Alu op = ins.op == Opcode::and_   ? Alu::and_
                   : ins.op == Opcode::or_  ? Alu::or_
                   : ins.op == Opcode::xor_ ? Alu::xor_
                                            : Alu::not_;
    const Ref a = predicate(at(ins, 1)),
              b = ins.op == Opcode::not_ ? kNoRef : predicate(at(ins, 2));
    const Ref dst = destination(at(ins, 0), PT::pred);
    Op& o = emit_alu(op, Ty::pred);
    o.dst = dst;
    o.a = a;
    o.b = b;
    return;
  }
  const unsigned bytes = ptx::size_of(type);
  const Ty ty = lane_type(type);
  const Ty u = lane_type(bits_type(bytes));
  switch (ins.op) {
    case Opcode::and_:
      return simple(ins, Alu::and_, u, bytes, {bytes, bytes});
    case Opcode::or_:
      return simple(ins, Alu::or_, u, bytes, {bytes, bytes});
    case Opcode::xor_:
      return simple(ins, Alu::xor_, u, bytes, {bytes, bytes});
    case Opcode::not_:
      return simple(ins, Alu::not_, u, bytes, {bytes});
    case Opcode::shf: {
      const Alu op = ins.mod.left ? (ins.mod.wrap ? Alu::shf_l_wrap : Alu::shf_l_clamp)
                                  : (ins.mod.wrap ? Alu::shf_r_wrap : Alu::shf_r_clamp);
      return simple(ins, op, Ty::u32, 4, {4, 4, 4});
    }
    case Opcode::bfind: {
      const bool shift = ins.mod.text.find(".shiftamt") != std::string_view::npos;
      return simple(ins, shift ? Alu::bfind_shift : Alu::bfind, ty, 4, {bytes});
    }
    case Opcode::prmt: {
      constexpr std::string_view modes[] = {".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"};
      for (std::size_t m = 0; m < std::size(modes); ++m) {
        if (!ins.mod.text.ends_with(modes[m])) continue;
        simple(ins, Alu::prmt_mode, Ty::u32, 4, {4, 4, 4});
        ops_.back().x = static_cast<std::uint8_t>(m);
        return;
      }
      return simple(ins, Alu::prmt, Ty::u32, 4, {4, 4, 4});
    }
    case Opcode::lop3: {
      if (at(ins, 4).kind != Kind::imm) fail("lop3 needs an immediate table");
      const std::int64_t lut = at(ins, 4).bits & 0xff;
      simple(ins, Alu::lop3, Ty::u32, 4, {4, 4, 4});
      ops_.back().imm = lut;
      return;
    }
    default:
      unsupported();
  }
}

namespace {

/// lo, ls, hi, hs are lt, le, gt, ge of operands taken as unsigned.
ptx::Compare comparison(ptx::Compare c, bool& is_unsigned) {
  using C = ptx::Compare;
  is_unsigned = c >= C::lo && c <= C::hs;
  switch (c) {
    case C::lo:
      return C::lt;
    case C::ls:
      return C::le;
    case C::hi:
      return C::gt;
    case C::hs:
      return C::ge;
    default:
      return c;
  }
}

}  // namespace

/// setp and set.
void FunctionDecoder::compare(const Ins& ins) {
  const bool is_set = ins.op == Opcode::set;
  const PT type = is_set ? ins.mod.type2 : ins.mod.type;
  const unsigned bytes = ptx::size_of(type);
  Ref a = source(at(ins, 1), bytes), b = source(at(ins, 2), bytes);
  if (ins.mod.ftz && (type == PT::f32 || is_half(type))) {
    for (Ref* r : {&a, &b}) {
      const Ref t = temporary(bytes);
      Op& f = emit_alu(Alu::flush, lane_type(type));
      f.dst = t;
      f.a = *r;
      *r = t;
    }
  }
  bool as_unsigned = false;
  const ptx::Compare cmp = comparison(ins.mod.compare, as_unsigned);
  const Ty ty = as_unsigned ? lane_type(bits_type(bytes)) : lane_type(type);
  const Operand& d = at(ins, 0);
  Ref c = kNoRef;
  if (ins.mod.combine != ptx::BoolOp::none) c = predicate(at(ins, 3));
  const bool pair = type == PT::f16x2 || type == PT::bf16x2;
  const PT result = ins.mod.type;  // of set
  if (is_set && pair && result != type && result != PT::u32 && result != PT::s32) unsupported();
  if (is_set && !pair && (result == PT::f16x2 || result == PT::bf16x2)) unsupported();
  const Ref dst = is_set ? mask_temporary() : destination(d, PT::pred);
  const Ref high = is_set && pair ? mask_temporary() : kNoRef;
  if (ty == Ty::count_) unsupported();
  Op& o = emit(handlers().compare[static_cast<std::size_t>(cmp)][static_cast<std::size_t>(ty)]);
  o.a = a;
  o.b = b;
  o.c = c;
  o.x = static_cast<std::uint8_t>(ins.mod.combine);
  o.dst = dst;
  o.dst2 = high;
  if (!is_set && d.index2 != UINT32_MAX) o.dst2 = reg(d.index2);
  if (!is_set) return;
  // set: 1.0 or all ones where true; of each half if there are two.
  auto choose = [&](Ref to, unsigned width, std::uint32_t one, Ref where) {
    Op& s = emit_alu(Alu::selp, lane_type(bits_type(width)));
    s.dst = to;
    s.a = b_.constant(one, width);
    s.b = b_.constant(0, width);
    s.c = where;
  };
  const std::uint32_t one = result == PT::f32                            ? 0x3f800000u
                            : result == PT::f16 || result == PT::f16x2   ? 0x3c00u
                            : result == PT::bf16 || result == PT::bf16x2 ? 0x3f80u
                                                                         : 0xffffffffu;
  const Ref value = destination(d, result);
  if (pair) {
    std::vector<Ref>& list = p_.lists.emplace_back();
    for (const Ref where : {dst, high}) {
      list.push_back(temporary(2));
      choose(list.back(), 2, one & 0xffffu, where);
    }
    Op& p = emit(handlers().pack[1][2]);
    p.dst = value;
    p.list = list.data();
  } else {
    choose(value, ptx::size_of(result), one, dst);
  }
  finish_destination(d, result, value);
}

void FunctionDecoder::select(const Ins& ins) {
  const unsigned bytes = ptx::size_of(ins.mod.type);
  const Ty u = lane_type(bits_type(bytes));
  const Ref a = source(at(ins, 1), bytes), b = source(at(ins, 2), bytes);
  if (ins.op == Opcode::selp) {
    const Ref p = predicate(at(ins, 3));
    const Ref dst = destination(at(ins, 0), ins.mod.type);
    Op& o = emit_alu(Alu::selp, u);
    o.dst = dst;
    o.a = a;
    o.b = b;
    o.c = p;
    return;
  }
  const bool f = ins.mod.type2 == PT::f32;
  Ref c = source(at(ins, 3), 4);
  if (f && ins.mod.ftz) {
    const Ref t = temporary(4);
    Op& fl = emit_alu(Alu::flush, Ty::f32);
    fl.dst = t;
    fl.a = c;
    c = t;
  }
  const Ref dst = destination(at(ins, 0), ins.mod.type);
  Op& o = emit_alu(f ? Alu::slct_f32 : Alu::slct_s32, u);
  o.dst = dst;
  o.a = a;
  o.b = b;
  o.c = c;
}

void FunctionDecoder::move(const Ins& ins) {
  const Operand &d = at(ins, 0), &s = at(ins, 1);
  const PT type = ins.mod.type;
  if (type == PT::pred) {
    const Ref a = predicate(s), dst = destination(d, PT::pred);
    Op& o = emit_alu(Alu::mov, Ty::pred);
    o.dst = dst;
    o.a = a;
    return;
  }
  const unsigned bytes = ptx::size_of(type);
  if (s.kind == Kind::vector) {  // pack
    const unsigned element = bytes / s.count;
    if (s.count == 0 || element * s.count != bytes ||
        (element != 1 && element != 2 && element != 4))
      fail("a vector does not fit '" + std::string(ins.mod.text) + "'");
    std::vector<Ref>& list = p_.lists.emplace_back();
    for (std::uint32_t k = 0; k < s.count; ++k)
      list.push_back(source(f_.vector_operands[s.index + k], element));
    const Ref dst = destination(d, type);
    Op& o = emit(handlers().pack[log2_bytes(element)][log2_bytes(bytes)]);
    o.dst = dst;
    o.list = list.data();
    return;
  }
  if (d.kind == Kind::vector) {  // unpack
    const unsigned element = bytes / d.count;
    if (d.count == 0 || element * d.count != bytes ||
        (element != 1 && element != 2 && element != 4))
      fail("a vector does not fit '" + std::string(ins.mod.text) + "'");
    const Ref a = source(s, bytes);
    std::vector<Ref>& list = p_.lists.emplace_back();
    for (std::uint32_t k = 0; k < d.count; ++k) {
      const Operand& e = f_.vector_operands[d.index + k];
      list.push_back(e.kind == Kind::sink ? kNoRef : destination(e, bits_type(element)));
    }
    Op& o = emit(handlers().unpack[log2_bytes(element)][log2_bytes(bytes)]);
    o.a = a;
    o.list = list.data();
    return;
  }
  const Ref a = source(s, bytes);
  const Ref dst = destination(d, type);
  Op& o = emit_alu(Alu::mov, lane_type(bits_type(bytes)));
  o.dst = dst;
  o.a = a;
  finish_destination(d, type, dst);
}

void FunctionDecoder::convert(const Ins& ins) {
  const PT to = ins.mod.type, from = ins.mod.type2;
  const bool pair = to == PT::f16x2 || to == PT::bf16x2;
  const Ref a = source(at(ins, 1), ptx::size_of(from));
  const Ref b = pair ? source(at(ins, 2), ptx::size_of(from)) : kNoRef;
  const Ref dst = destination(at(ins, 0), to);
  const Ty to_ty = lane_type(to), from_ty = lane_type(from);
  using R = ptx::Rounding;
  const R round = ins.mod.rounding;
  const bool to_tf32 = to == PT::tf32;
  if (to_ty == Ty::count_ || from_ty == Ty::count_ || round == R::approx || round == R::full ||
      (ins.mod.relu && !is_half(to) && !to_tf32) ||
      (to_tf32 && (ins.mod.sat || ins.mod.ftz ||
                   (round != R::rn && round != R::rz && (round != R::rna || ins.mod.relu)))))
    unsupported();
  Op& o = emit(handlers().cvt[static_cast<std::size_t>(to_ty)][static_cast<std::size_t>(from_ty)]);
  o.dst = dst;
  o.a = a;
  o.b = b;
  o.x = static_cast<std::uint8_t>(round);
  o.y = static_cast<std::uint8_t>((ins.mod.sat ? 1 : 0) | (ins.mod.ftz ? 2 : 0) |
                                  (ins.mod.relu ? 4 : 0));
  const bool to_f32 = to == PT::f32 || to == PT::f64;
  if (to_f32) {
    round_as(o, round);
    if (ins.mod.ftz && (from == PT::f32 || to == PT::f32) && to == PT::f32) {
      Op& f = emit_alu(Alu::flush, Ty::f32);
      f.dst = f.a = dst;
    }
    if (ins.mod.sat) {
      Op& s = emit_alu(Alu::saturate, to_ty);
      s.dst = s.a = dst;
    }
  }
  finish_destination(at(ins, 0), to, dst);
}

/// Generic addresses of shared, local and param memory lie in windows; global and const ones are
/// themselves.
void FunctionDecoder::convert_address(const Ins& ins) {
  const unsigned bytes = ptx::size_of(ins.mod.type);
  std::uint64_t window = 0;
  if (ins.mod.space == ptx::Space::shared) window = memory::kSharedWindow;
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

void FunctionDecoder::decode(const Ins& ins) {
  InstructionInfo& info = p_.instructions[code_.first_pc + current_index_];
  using C = InstructionClass;
  const PT type = ins.mod.type;
  const C arithmetic_class = type == PT::f64 ? C::fp64 : is_float(type) ? C::fp32 : C::integer;
  switch (ins.op) {
#define LANEWISE(id, text, types, operands, category, ...) \
  case Opcode::id:                                         \
    info.klass = C::category;                              \
    return lanewise(ins, Alu::id, operands);
#include "common/simgpu/instructions.inc"
#undef LANEWISE
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
    case Opcode::mad:
    case Opcode::fma:
    case Opcode::div:
    case Opcode::rem:
    case Opcode::abs:
    case Opcode::neg:
    case Opcode::min:
    case Opcode::max:
    case Opcode::mul24:
    case Opcode::mad24:
    case Opcode::dp4a:
    case Opcode::dp2a:
    case Opcode::addc:
    case Opcode::subc:
    case Opcode::madc:
    case Opcode::sqrt:
    case Opcode::rsqrt:
    case Opcode::rcp:
    case Opcode::sin:
    case Opcode::cos:
    case Opcode::lg2:
    case Opcode::ex2:
    case Opcode::tanh:
    case Opcode::copysign:
      info.klass = arithmetic_class;
      return arithmetic(ins);
    case Opcode::testp: {
      info.klass = arithmetic_class;
      const Ref a = source(at(ins, 1), ptx::size_of(type)), dst = destination(at(ins, 0), PT::pred);
      Op& o = emit_alu(Alu::testp, lane_type(type));
      o.dst = dst;
      o.a = a;
      o.x = static_cast<std::uint8_t>(ins.mod.testp);
      return;
    }
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::not_:
    case Opcode::lop3:
    case Opcode::shf:
    case Opcode::bfind:
    case Opcode::prmt:
      info.klass = C::logic;
      return logic(ins);
    case Opcode::set:
    case Opcode::setp:
      info.klass = C::compare;
      return compare(ins);
    case Opcode::selp:
    case Opcode::slct:
      info.klass = C::move;
      return select(ins);
    case Opcode::mov:
      info.klass = C::move;
      return move(ins);
    case Opcode::cvt:
      info.klass = C::convert;
      return convert(ins);
    case Opcode::cvta:
      info.klass = C::convert;
      return convert_address(ins);
    case Opcode::ld:
    case Opcode::ldu:
      return load(ins);
    case Opcode::st:
      return store(ins);
    case Opcode::atom:
    case Opcode::red:
      return atomic(ins);
    case Opcode::mma:
    case Opcode::wmma_mma:
      return multiply_matrices(ins);
    case Opcode::wmma_load:
    case Opcode::wmma_store:
      return wmma_access(ins);
    case Opcode::cp_async:
      return async_copy(ins);
    case Opcode::cp_async_commit_group:
    case Opcode::cp_async_wait_group:
    case Opcode::cp_async_wait_all:
      return async_wait(ins);
    case Opcode::ldmatrix:
    case Opcode::stmatrix:
    case Opcode::movmatrix:
      return matrix_move(ins);
    default:
      return collective(ins);
  }
}

}  // namespace simgpu::exec
