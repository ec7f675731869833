#include "grader/os/scratch.hpp"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "grader/errors.hpp"
#include "grader/os/files.hpp"

namespace grader {

Scratch::Scratch(const std::filesystem::path& parent,
                 const std::optional<std::pair<unsigned, unsigned>>& user) {
  make_folder(parent);
  std::string pattern = (parent / "XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    throw UserError("cannot write to the folder " + parent.string() + ": " + std::strerror(errno) +
                        ". Make it writable, or choose another one with BUILD=dir",
                    exit_infrastructure);
  path_ = pattern;
  if (user && ::chown(path_.c_str(), user->first, user->second) != 0)
    throw InfraError("cannot hand " + path_.string() + " to another user: " + std::strerror(errno));
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace grader
