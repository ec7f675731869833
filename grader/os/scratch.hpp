// A private folder that is gone when its owner is.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

namespace grader {

class Scratch {
 public:
  /// A new folder below `parent` (created if missing), owned by `user` (uid, gid) if given.
  explicit Scratch(const std::filesystem::path& parent,
                   const std::optional<std::pair<unsigned, unsigned>>& user = {});
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace grader
