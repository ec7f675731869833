// What may stand behind each opcode: modifiers, types and operands. ISA chapter 9.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::ptx {

std::optional<Type> type_from_name(std::string_view name);        ///< "f32", without the dot
std::string_view to_string(Type type);                            ///< "f32"
std::string_view to_string(Space space);                          ///< "shared"; constant is "const"
std::optional<Special> special_from_name(std::string_view name);  ///< "%tid.x"
constexpr unsigned bits_of(Special special) {
  return special == Special::clock64 || special == Special::globaltimer ||
                 special == Special::gridid
             ? 64
             : 32;
}
/// A special register of real GPUs that simgpu does not have (%clusterid.x, %pm0, ...).
bool is_unsupported_special(std::string_view name);

/// An opcode with all its suffixes, decoded.
struct DecodedOpcode {
  Opcode op{};
  Modifiers mod;  ///< `text` is not set
  /// Operand forms this opcode takes, see opcodes.cpp for the notation.
  std::string_view operands;
  /// Why it cannot be used, empty if it can.
  std::string problem;
  bool needs_gpu = false;  ///< `problem` is that only real hardware has it
};

DecodedOpcode decode_opcode(std::string_view text);

/// Whether the first operand is a destination (a register, a vector of registers or "_").
bool has_destination(Opcode op);

}  // namespace simgpu::ptx
