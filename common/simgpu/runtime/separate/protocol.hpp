// What a program and the device in a process of its own say to each other, over a wire::Channel: the
// calls of Backend, one at a time, each with one answer. Both are the same user's: nothing is refused
// here that the device in the program's own process would do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "common/simgpu/runtime/protocol.hpp"

namespace simgpu::runtime::separate {

/// A copy of host data is one request, so that what is said of it is said once; larger ones are cut.
constexpr std::size_t kPiece = 256u << 20;

/// As the functions of Backend; `finish` is the program's last word.
enum class Kind : std::uint16_t {
  add_image = 1,
  model,
  allocate,
  release,
  copy_in,
  copy_out,
  copy,
  fill,
  find,
  memory_info,
  kernel_info,
  variable,
  set_max_dynamic_shared,
  launch,
  synchronize,
  reset,
  note_unsupported,
  note_error,
  note_finding,
  note_touched,
  touched,
  grid_control,
  begins_early,
  finish,
  answer,
};

/// Both programs are compiled together: what one has in memory the other can read.
inline std::vector<std::byte> as_they_are(const std::vector<TouchedBytes>& touched) {
  std::vector<std::byte> bytes(touched.size() * sizeof(TouchedBytes));
  if (!touched.empty()) std::memcpy(bytes.data(), touched.data(), bytes.size());
  return bytes;
}
inline std::vector<TouchedBytes> touched_of(const std::vector<std::byte>& bytes) {
  std::vector<TouchedBytes> touched(bytes.size() / sizeof(TouchedBytes));
  if (!touched.empty())
    std::memcpy(touched.data(), bytes.data(), touched.size() * sizeof(TouchedBytes));
  return touched;
}

struct Request {
  std::uint32_t image = 0;
  std::string name, why;                 ///< of a kernel, a variable or a call; the latter's reason
  std::array<std::uint64_t, 3> value{};  ///< addresses, sizes and codes, in Backend's order
  Dim3 grid, block, cluster;
  std::vector<std::byte> data;
  template <typename Visit>
  void fields(Visit visit) {
    visit(image, name, why, value, grid, block, cluster, data);
  }
};

struct Answer {
  std::int32_t code = 0;  ///< cudaError_t
  std::array<std::uint64_t, 2> value{};
  std::vector<std::byte> data;
  std::optional<KernelInfo> kernel;
  std::optional<DeviceModel> model;
  template <typename Visit>
  void fields(Visit visit) {
    visit(code, value, data, kernel, model);
  }
};

constexpr std::size_t longest(std::uint16_t kind) {
  const bool known = kind >= 1 && kind <= static_cast<std::uint16_t>(Kind::answer);
  return known ? std::size_t{1} << 30 : wire::kNoSuchKind;
}

constexpr wire::Protocol kProtocol{0x56454453 /* "SDEV" */, 1, longest};

}  // namespace simgpu::runtime::separate
