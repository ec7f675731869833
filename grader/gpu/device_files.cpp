#include "grader/gpu/device_files.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace grader::gpu {
namespace fs = std::filesystem;
namespace {

/// The value behind "Device Minor: \t 0"; "" if there is no such line.
std::string value_of(const fs::path& file, const std::string& key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const auto from = line.find_first_not_of(": \t", key.size());
    return from == std::string::npos ? std::string() : line.substr(from);
  }
  return {};
}

/// Of /proc/driver/nvidia/gpus/<bus>/information; "" if no GPU there has this UUID.
std::string minor_of(const std::string& uuid, const fs::path& root) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "proc/driver/nvidia/gpus", error)) {
    const fs::path about = entry.path() / "information";
    if (value_of(about, "GPU UUID") == uuid) return value_of(about, "Device Minor");
  }
  return {};
}

bool numbered(const std::string& name) {
  constexpr std::string_view prefix = "nvidia";
  return name.size() > prefix.size() && name.rfind(prefix, 0) == 0 &&
         std::all_of(name.begin() + prefix.size(), name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

std::vector<std::string> device_files(const std::string& uuid, const fs::path& root) {
  const std::string minor = minor_of(uuid, root);
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "dev", error)) {
    const std::string name = entry.path().filename().string();
    const bool shared = name == "nvidiactl" || name == "nvidia-uvm" || name == "dxg";
    const bool own = numbered(name) && (minor.empty() || name == "nvidia" + minor);
    // Slices of a GPU are opened by rights that lie in a folder of their own.
    if (shared || own || name == "nvidia-caps") files.push_back("/dev/" + name);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  const char* const path = std::getenv("LD_LIBRARY_PATH");
  std::istringstream parts(path ? path : "");
  for (std::string part; std::getline(parts, part, ':');) {
    std::error_code error;
    const bool whole = !part.empty() && part.front() == '/' && fs::path(part) != "/";
    if (whole && part.rfind("/usr/", 0) != 0 && fs::is_directory(part, error))
      folders.push_back(part);
  }
  return folders;
}

}  // namespace grader::gpu
