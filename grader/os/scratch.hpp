// A private folder that is gone when its owner is.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "common/wire/unique_fd.hpp"

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
  wire::UniqueFd lock_;  ///< on the folder itself, shared, for as long as this process lives
};

/// Only folders that have not changed for this long are swept, which spares new ones of a program that
/// does not lock them.
constexpr std::chrono::hours scratch_age{1};

/// Removes every old folder in `parent` that nobody holds: what processes that were killed have left
/// behind. `parent` must be for Scratch alone.
void sweep_scratch(const std::filesystem::path& parent);

}  // namespace grader
