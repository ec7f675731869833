#include "common/simgpu/exec/video.hpp"

namespace simgpu::exec {

using ptx::Opcode;
using ptx::Type;

namespace {

/// The operation, and whether the parts are bytes; those of cvt.pack are told by its type.
std::optional<std::uint32_t> parts_of(Opcode opcode) {
  const auto form = [](VideoOp op, bool bytes) {
    return static_cast<std::uint32_t>(op) | (bytes ? kVideoBytes : 0);
  };
  switch (opcode) {
    case Opcode::vadd2:
    case Opcode::vadd4:
      return form(VideoOp::add, opcode == Opcode::vadd4);
    case Opcode::vsub2:
    case Opcode::vsub4:
      return form(VideoOp::sub, opcode == Opcode::vsub4);
    case Opcode::vavrg2:
    case Opcode::vavrg4:
      return form(VideoOp::average, opcode == Opcode::vavrg4);
    case Opcode::vabsdiff2:
    case Opcode::vabsdiff4:
      return form(VideoOp::difference, opcode == Opcode::vabsdiff4);
    case Opcode::vmin2:
    case Opcode::vmin4:
      return form(VideoOp::min, opcode == Opcode::vmin4);
    case Opcode::vmax2:
    case Opcode::vmax4:
      return form(VideoOp::max, opcode == Opcode::vmax4);
    case Opcode::vset2:
    case Opcode::vset4:
      return form(VideoOp::compare, opcode == Opcode::vset4);
    case Opcode::cvt_pack:
      return 0;
    default:
      return std::nullopt;
  }
}

/// Bits for less, equal, greater.
std::uint32_t truth_of(ptx::Compare compare) {
  switch (compare) {
    case ptx::Compare::lt:
      return 1;
    case ptx::Compare::le:
      return 3;
    case ptx::Compare::eq:
      return 2;
    case ptx::Compare::ge:
      return 6;
    case ptx::Compare::gt:
      return 4;
    default:
      return 5;
  }
}

}  // namespace

std::optional<std::uint32_t> video_form(const ptx::Instruction& ins) {
  const std::optional<std::uint32_t> parts = parts_of(ins.op);
  if (!parts) return std::nullopt;
  std::uint32_t form = *parts;
  const bool packs = ins.op == Opcode::cvt_pack;
  if (packs && (ins.mod.type == Type::u8 || ins.mod.type == Type::s8)) form |= kVideoBytes;
  const bool compares = ins.op == Opcode::vset2 || ins.op == Opcode::vset4;
  const Type a = compares ? ins.mod.type : ins.mod.type2,
             b = compares ? ins.mod.type2 : ins.mod.type3;
  if (ins.mod.type >= Type::s8 && ins.mod.type <= Type::s64) form |= kVideoSigned;
  if (a == Type::s32) form |= kVideoSignedA;
  if (b == Type::s32) form |= kVideoSignedB;
  if (ins.mod.sat) form |= kVideoSaturates;
  if (ins.mod.text.find(".add") != std::string_view::npos) form |= kVideoAdds;
  if (compares) form |= truth_of(ins.mod.compare) << kVideoCompare;
  return form;
}

}  // namespace simgpu::exec
