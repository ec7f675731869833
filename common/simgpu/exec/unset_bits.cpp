#include "common/simgpu/exec/unset_bits.hpp"

#include <algorithm>
#include <string_view>

namespace simgpu::exec {
namespace {

using ptx::Compare;
using ptx::Opcode;

bool of_integers(ptx::Type type) {
  return type >= ptx::Type::b8 && type <= ptx::Type::s64 && type != ptx::Type::b128;
}
bool has_sign(ptx::Type type) {
  return type >= ptx::Type::s8 && type <= ptx::Type::s64;
}

/// Of a table of three inputs (lop3): both results are possible.
std::uint64_t of_table(unsigned table, const BitwiseOperands& o) {
  std::uint64_t zero = 0, one = 0;
  for (unsigned k = 0; k < 8; ++k) {
    std::uint64_t possible = kAllBits;
    for (unsigned input = 0; input < 3; ++input) {
      const bool holds = ((k >> (2 - input)) & 1u) != 0;
      possible &= (holds ? o.value[input] : ~o.value[input]) | o.unset[input];
    }
    (((table >> k) & 1u) != 0 ? one : zero) |= possible;
  }
  return zero & one;
}

std::uint64_t of_sum(const BitwiseOperands& o, bool difference) {
  const std::uint64_t least[2] = {o.value[0] & ~o.unset[0], o.value[1] & ~o.unset[1]};
  const std::uint64_t most[2] = {o.value[0] | o.unset[0], o.value[1] | o.unset[1]};
  const std::uint64_t low = difference ? least[0] - most[1] : least[0] + least[1],
                      high = difference ? most[0] - least[1] : most[0] + most[1];
  return (low ^ high) | o.unset[0] | o.unset[1];
}

/// The bits of a word of `width` bits, extended as its value is.
std::uint64_t extended(std::uint64_t bits, unsigned width, bool is_signed) {
  if (width >= 64) return bits;
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  bits &= mask;
  return is_signed && width != 0 && ((bits >> (width - 1)) & 1u) != 0 ? bits | ~mask : bits;
}

std::uint64_t of_shift(const BitwiseForm& f, const BitwiseOperands& o) {
  const unsigned width = 8u * f.bytes;
  const auto by = static_cast<unsigned>(std::min<std::uint64_t>(o.value[1] & 0xffffffffu, width));
  if (f.op == Opcode::shl) return by >= 64 ? 0 : o.unset[0] << by;
  const std::uint64_t bits = extended(o.unset[0], width, f.is_signed);
  if (by < 64 && by < width) return bits >> by;
  return f.is_signed && (bits >> 63) != 0 ? kAllBits : 0;
}

std::uint64_t of_funnel(const BitwiseForm& f, const BitwiseOperands& o) {
  const auto amount = static_cast<unsigned>(o.value[2] & 0xffffffffu);
  const unsigned by = f.wraps ? amount & 31u : std::min(amount, 32u);
  const std::uint64_t whole = (o.unset[0] & 0xffffffffu) | o.unset[1] << 32;
  return f.left ? (whole << by) >> 32 : whole >> by;
}

std::uint64_t of_field(const BitwiseForm& f, const BitwiseOperands& o) {
  const bool inserts = f.op == Opcode::bfi;
  const auto at = static_cast<unsigned>(o.value[inserts ? 2 : 1] & 0xff),
             count = static_cast<unsigned>(o.value[inserts ? 3 : 2] & 0xff);
  const std::uint64_t field = count >= 64 ? kAllBits : (std::uint64_t{1} << count) - 1;
  if (inserts) {
    if (at >= 64) return o.unset[1];
    return (o.unset[1] & ~(field << at)) | (o.unset[0] & field) << at;
  }
  const unsigned width = 8u * f.bytes, end = std::min(width, at + count);
  if (at >= width || count == 0)  // what there is of it is the sign
    return f.is_signed && count != 0 && (o.unset[0] >> (width - 1) & 1u) != 0 ? kAllBits : 0;
  return extended((o.unset[0] & low_bits(f.bytes)) >> at, end - at, f.is_signed);
}

/// prmt without a mode: each byte of the result is one of eight, or its sign.
std::uint64_t of_bytes(const BitwiseOperands& o) {
  std::uint64_t bits = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const auto pick = static_cast<unsigned>(o.value[2] >> (4 * k)) & 15u;
    const std::uint64_t byte = o.unset[(pick >> 2) & 1u] >> (8 * (pick & 3u)) & 0xff;
    bits |= (pick < 8 ? byte : byte >> 7 != 0 ? 0xff : 0) << (8 * k);
  }
  return bits;
}

/// Whether it is certain how two numbers compare, wherever they lie within what is set of them.
std::uint64_t of_comparison(const BitwiseForm& f, const BitwiseOperands& o) {
  const std::uint64_t mask = low_bits(f.bytes), unset = (o.unset[0] | o.unset[1]) & mask;
  if (unset == 0) return 0;
  const std::uint64_t sign = f.is_signed ? std::uint64_t{1} << (8 * f.bytes - 1) : 0;
  const auto least = [&](unsigned k) { return ((o.value[k] ^ sign) & ~o.unset[k]) & mask; };
  const auto most = [&](unsigned k) { return ((o.value[k] ^ sign) | o.unset[k]) & mask; };
  switch (f.compare) {
    case Compare::eq:
    case Compare::ne:
      return ((o.value[0] ^ o.value[1]) & mask & ~unset) != 0 ? 0 : kAllBits;
    case Compare::lt:
    case Compare::lo:
    case Compare::ge:
    case Compare::hs:
      return most(0) < least(1) || least(0) >= most(1) ? 0 : kAllBits;
    case Compare::le:
    case Compare::ls:
    case Compare::gt:
    case Compare::hi:
      return most(0) <= least(1) || least(0) > most(1) ? 0 : kAllBits;
    default:
      return kAllBits;
  }
}

/// Operands that say where bits go. If one of them is not set, nothing of the result is.
std::uint64_t unset_places(const BitwiseForm& f, const BitwiseOperands& o) {
  switch (f.op) {
    case Opcode::shl:
    case Opcode::shr:
      return o.unset[1];
    case Opcode::shf:
    case Opcode::prmt:
      return o.unset[2];
    case Opcode::bfe:
      return o.unset[1] | o.unset[2];
    case Opcode::bfi:
      return o.unset[2] | o.unset[3];
    default:
      return 0;
  }
}

}  // namespace

bool follows_bits(const ptx::Instruction& ins) {
  switch (ins.op) {
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::not_:
      return ins.mod.type != ptx::Type::pred;
    case Opcode::lop3:
      return ins.mod.combine == ptx::BoolOp::none;
    case Opcode::shl:
    case Opcode::shr:
    case Opcode::shf:
    case Opcode::bfi:
    case Opcode::bfe:
      return true;
    case Opcode::prmt:
      return ins.mod.text == "prmt.b32";
    case Opcode::add:
    case Opcode::sub:
      return of_integers(ins.mod.type) && !ins.mod.carry_out && !ins.mod.sat;
    case Opcode::setp:
      return of_integers(ins.mod.type) && ins.mod.combine == ptx::BoolOp::none;
    case Opcode::cvt:
      return of_integers(ins.mod.type) && of_integers(ins.mod.type2) && !ins.mod.sat;
    default:
      return false;
  }
}

BitwiseForm bitwise_form(const ptx::Instruction& ins) {
  BitwiseForm f;
  f.op = ins.op;
  f.bytes = static_cast<std::uint8_t>(ptx::size_of(ins.mod.type));
  f.compare = ins.mod.compare;
  f.is_signed = has_sign(ins.op == Opcode::cvt ? ins.mod.type2 : ins.mod.type);
  if (ins.op == Opcode::cvt) f.from_bytes = static_cast<std::uint8_t>(ptx::size_of(ins.mod.type2));
  f.left = ins.mod.text.find(".l.") != std::string_view::npos;
  f.wraps = ins.mod.text.find(".wrap") != std::string_view::npos;
  return f;
}

std::uint64_t unset_bits(const BitwiseForm& f, const BitwiseOperands& o) {
  if (unset_places(f, o) != 0) return low_bits(f.bytes);
  const auto bits = [&]() -> std::uint64_t {
    switch (f.op) {
      case Opcode::and_:
        return of_table(0xc0, o);
      case Opcode::or_:
        return of_table(0xfc, o);
      case Opcode::xor_:
        return of_table(0x3c, o);
      case Opcode::lop3:
        return of_table(static_cast<unsigned>(o.value[3]), o);
      case Opcode::shl:
      case Opcode::shr:
        return of_shift(f, o);
      case Opcode::shf:
        return of_funnel(f, o);
      case Opcode::bfi:
      case Opcode::bfe:
        return of_field(f, o);
      case Opcode::prmt:
        return of_bytes(o);
      case Opcode::add:
      case Opcode::sub:
        return of_sum(o, f.op == Opcode::sub);
      case Opcode::setp:
        return of_comparison(f, o);
      case Opcode::cvt:
        return extended(o.unset[0], 8u * f.from_bytes, f.is_signed);
      default:
        return o.unset[0];
    }
  }();
  return f.op == Opcode::setp ? bits : bits & low_bits(f.bytes);
}

bool computes(ptx::Opcode op) {
  return op == Opcode::add || op == Opcode::sub || op == Opcode::setp;
}

}  // namespace simgpu::exec
