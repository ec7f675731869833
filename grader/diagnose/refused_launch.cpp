// A launch that CUDA refused, in words: no thread ran, so there is nothing to find.
#include <algorithm>

#include "grader/diagnose/diagnose.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader::diag {

std::string kernel_name(const std::string& demangled) {
  std::size_t depth = 0, end = demangled.size();
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    if (demangled[i] == '<') ++depth;
    if (demangled[i] == '>' && depth > 0) --depth;
    if (demangled[i] == '(' && depth == 0) {
      end = i;
      break;
    }
  }
  const std::string type = "void ";
  const std::size_t begin = demangled.compare(0, type.size(), type) == 0 ? type.size() : 0;
  return demangled.substr(begin, end - begin);
}

Diagnosis explain(const LaunchFailure& failure) {
  const auto zero = [](const simgpu::Dim3& d) { return d.x == 0 || d.y == 0 || d.z == 0; };
  const auto count = [](const simgpu::Dim3& d) { return std::uint64_t{d.x} * d.y * d.z; };
  const std::uint64_t threads = count(failure.block), blocks = count(failure.grid);
  std::string reason;
  if (!failure.has_shape())
    reason = messages::text("LAUNCH.other", {{"error", failure.error}});
  else if (zero(failure.grid))
    reason = messages::text("LAUNCH.zero",
                            {{"what", messages::text("part.grid")}, {"size", dims(failure.grid)}});
  else if (zero(failure.block))
    reason = messages::text(
        "LAUNCH.zero", {{"what", messages::text("part.block")}, {"size", dims(failure.block)}});
  else if (threads > 1024)
    reason =
        messages::text("LAUNCH.threads", {{"block", dims(failure.block)}, {"threads", threads}});
  else if (failure.dynamic_shared_bytes > (48u << 10))
    reason = messages::text("LAUNCH.shared",
                            {{"bytes", failure.dynamic_shared_bytes}, {"limit", "49152"}});
  else
    reason = messages::text("LAUNCH.other", {{"error", failure.error}});
  const auto plain = [&failure](std::string text) {
    const std::size_t at = failure.kernel.empty() ? std::string::npos : text.find(failure.kernel);
    return at == std::string::npos
               ? text
               : text.replace(at, failure.kernel.size(), kernel_name(failure.kernel));
  };
  const bool grid_would_do = blocks > 0 && blocks <= 1024 && blocks % 32 == 0;  // as a block
  // No C of the labs takes so many blocks.
  const unsigned most = std::max({failure.grid.x, failure.grid.y, failure.grid.z});
  constexpr unsigned kFarTooMany = 1u << 22;
  Diagnosis d = say("LAUNCH",
                    threads > 1024 && grid_would_do          ? "exchanged"
                    : threads <= 1024 && most >= kFarTooMany ? "wrapped"
                                                             : "",
                    {{"reason", plain(reason)}, {"grid", dims(failure.grid)}, {"blocks", most}});
  if (failure.has_shape())
    d.details.push_back((failure.kernel.empty() ? "" : kernel_name(failure.kernel) + ": ") +
                        messages::text("part.grid_and_block", {{"grid", dims(failure.grid)},
                                                               {"block", dims(failure.block)}}));
  if (reason != failure.error && !failure.error.empty()) d.details.push_back(plain(failure.error));
  return d;
}

}  // namespace grader::diag
