// What a program on one GPU opens, for a box that shows nothing else (grader/os/box.hpp).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace grader::gpu {

/// The files of /dev that a process needs for the GPU with this UUID ("GPU-8f3c..."): the driver's
/// own, and that GPU's. Which number it has, the driver says in /proc/driver/nvidia/gpus; where it
/// does not (WSL2 has one file for all), every GPU's is in the list. `root` is / but in tests.
std::vector<std::string> device_files(const std::string& uuid,
                                      const std::filesystem::path& root = "/");

/// Folders of LD_LIBRARY_PATH outside of /usr: a driver's libraries may lie there.
std::vector<std::string> library_folders();

}  // namespace grader::gpu
