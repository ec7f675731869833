#include "grader/os/scratch.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "grader/errors.hpp"
#include "grader/os/files.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

wire::UniqueFd opened(const fs::path& folder) {
  return wire::UniqueFd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// True if `folder` is what `fd` has open, and not gone by now.
bool still_there(const wire::UniqueFd& fd, const fs::path& folder) {
  struct stat by_name {
  }, by_fd{};
  return ::lstat(folder.c_str(), &by_name) == 0 && ::fstat(fd.get(), &by_fd) == 0 &&
         by_name.st_dev == by_fd.st_dev && by_name.st_ino == by_fd.st_ino;
}

}  // namespace

Scratch::Scratch(const fs::path& parent, const std::optional<std::pair<unsigned, unsigned>>& user) {
  make_folder(parent);
  do {
    std::string pattern = (parent / "XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw UserError("cannot write to the folder " + parent.string() + ": " +
                          std::strerror(errno) +
                          ". Make it writable, or choose another one with BUILD=dir",
                      exit_infrastructure);
    path_ = pattern;
    // Between these two steps a sweep may come by. It holds its lock until the folder is gone. On a file system without
    // locks nobody gets one, and nothing is swept.
    lock_ = opened(path_);
    if (lock_) ::flock(lock_.get(), LOCK_SH);
  } while (!lock_ ? errno == ENOENT : !still_there(lock_, path_));
  if (user && ::chown(path_.c_str(), user->first, user->second) != 0)
    throw InfraError("cannot hand " + path_.string() + " to another user: " + std::strerror(errno));
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void sweep_scratch(const fs::path& parent) {
  std::error_code error;
  std::vector<fs::path> old;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& entry : fs::directory_iterator(parent, error))
    if (!entry.is_symlink(error) && entry.is_directory(error) &&
        now - entry.last_write_time(error) > scratch_age && !error)
      old.push_back(entry.path());
  for (const auto& folder : old) {
    const wire::UniqueFd lock = opened(folder);
    if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) fs::remove_all(folder, error);
  }
}

}  // namespace grader
