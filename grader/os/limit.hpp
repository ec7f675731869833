// Limits of a process on itself, between fork and exec: system calls alone.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>

namespace grader {

/// At most `soft` and `hard` from now on, or what the login already has where that is less, which
/// only root could raise. False if it could not be set: then the process must not go on.
inline bool set_limit(int resource, std::uint64_t soft, std::uint64_t hard) {
  const auto which = static_cast<__rlimit_resource_t>(resource);
  rlimit bound{};
  if (::getrlimit(which, &bound) != 0) return false;
  bound.rlim_max = std::min<rlim_t>(bound.rlim_max, hard);
  bound.rlim_cur = std::min<rlim_t>(bound.rlim_max, soft);
  return ::setrlimit(which, &bound) == 0;
}
inline bool set_limit(int resource, std::uint64_t most) {
  return set_limit(resource, most, most);
}

}  // namespace grader
