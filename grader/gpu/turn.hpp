// Who measures on a GPU measures alone.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "common/wire/unique_fd.hpp"

namespace grader::gpu {

/// Waits until no other grader of this machine uses the GPU with this UUID, and keeps it until the
/// descriptor is closed or its process is gone, however it ended: a lock on a file of the folder
/// for temporary files. `waiting` is called once if it is taken. Of no effect (an empty descriptor)
/// where no such file can be made.
wire::UniqueFd take_turn(const std::string& uuid, const std::function<void()>& waiting = {},
                         const std::filesystem::path& folder = "/var/tmp");

}  // namespace grader::gpu
