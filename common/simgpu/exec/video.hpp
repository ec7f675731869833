// Packed video instructions (vadd4, vset2, ...) and cvt.pack: what they do to the parts of words, as a number.
#pragma once

#include <cstdint>
#include <optional>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::exec {

enum class VideoOp : std::uint8_t { add, sub, average, difference, min, max, compare };

/// Beside a VideoOp.
inline constexpr std::uint32_t kVideoBytes = 1u << 3;  ///< else halves
inline constexpr std::uint32_t kVideoSigned = 1u << 4, kVideoSignedA = 1u << 5,
                               kVideoSignedB = 1u << 6;
inline constexpr std::uint32_t kVideoSaturates = 1u << 7, kVideoAdds = 1u << 8;
/// From this bit on: whether less, equal and greater are true.
inline constexpr unsigned kVideoCompare = 9;

/// Its number; nothing if it is no such instruction.
std::optional<std::uint32_t> video_form(const ptx::Instruction& ins);

}  // namespace simgpu::exec
