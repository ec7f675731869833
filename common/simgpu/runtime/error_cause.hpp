// Why a call failed, where somebody has more to say of it than the sentence does.
#pragma once

#include <cstdint>

namespace simgpu::runtime {

enum class ErrorCause : std::uint8_t {
  other,
  device_as_host,  ///< a copy whose kind says host of memory that is on the device
};
constexpr ErrorCause last_of(ErrorCause) {
  return ErrorCause::device_as_host;
}

}  // namespace simgpu::runtime
