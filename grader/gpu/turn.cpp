#include "grader/gpu/turn.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>

namespace grader::gpu {
namespace {

/// To be read is enough for a lock, and so is what another user has made: in a folder that all may
/// write to, not even root may open somebody else's file with O_CREAT (fs.protected_regular).
wire::UniqueFd opened(const std::filesystem::path& file) {
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  wire::UniqueFd fd(::open(file.c_str(), flags));
  if (fd || errno != ENOENT) return fd;
  fd.reset(::open(file.c_str(), flags | O_CREAT, 0644));
  if (fd) ::fchmod(fd.get(), 0644);  // whatever umask is in force
  if (!fd) fd.reset(::open(file.c_str(), flags));
  return fd;
}

}  // namespace

wire::UniqueFd take_turn(const std::string& uuid, const std::function<void()>& waiting,
                         const std::filesystem::path& folder) {
  std::string name = "gemm-lab-";
  for (const char c : uuid) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
  wire::UniqueFd file = opened(folder / name);
  if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (waiting) waiting();
  while (::flock(file.get(), LOCK_EX) != 0)
    if (errno != EINTR) return {};
  return file;
}

}  // namespace grader::gpu
