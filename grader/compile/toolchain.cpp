#include "grader/compile/toolchain.hpp"

#include <cctype>
#include <cstdlib>

#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/process.hpp"

namespace grader {
namespace {

constexpr int oldest_clang =
    14;  // the first whose CUDA front end takes the flags in common/simgpu/flags

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::string reject_clang(const std::string& program, const std::string& version,
                         std::string& number) {
  number.clear();
  if (version.find("Apple") != std::string::npos)
    return messages::text("toolchain.apple", {{"program", program}});
  const std::string word = "clang version ";
  const auto at = version.find(word);
  if (at == std::string::npos)
    return messages::text("toolchain.no_clang_program", {{"program", program}});
  std::size_t end = at + word.size();
  while (end < version.size() &&
         (std::isdigit(static_cast<unsigned char>(version[end])) || version[end] == '.'))
    ++end;
  number = version.substr(at + word.size(), end - at - word.size());
  if (std::atoi(number.c_str()) < oldest_clang)
    return messages::text("toolchain.old", {{"program", program}, {"version", number}});
  return {};
}

Toolchain probe_clang() {
  std::string wanted = environment("CLANG");
  std::string found = find_program(wanted.empty() ? "clang++" : wanted);
  if (found.empty() && wanted.empty())
    for (int version = 30; version >= oldest_clang && found.empty(); --version)
      found = find_program("clang++-" + std::to_string(version));
  if (found.empty())
    throw UserError(wanted.empty() ? messages::text("toolchain.none")
                                   : messages::text("toolchain.none_named", {{"program", wanted}}),
                    exit_infrastructure);
  ProcessSpec spec;
  spec.argv = {found, "--version"};
  spec.environment = minimal_environment();
  const RunResult result = run_process(spec, std::chrono::seconds(20));
  Toolchain toolchain;
  toolchain.clang = found;
  const std::string problem = reject_clang(found, result.output, toolchain.clang_version);
  if (!problem.empty()) throw UserError(problem, exit_infrastructure);
  toolchain.identity = result.output.substr(0, result.output.find('\n'));
  if (!find_program("ld.gold").empty()) toolchain.quick_linker = "-fuse-ld=gold";
  return toolchain;
}

std::string device_flags_of(const std::string& clang_version) {
  return std::atoi(clang_version.c_str()) < 15 ? "@common/simgpu/flags/device-14.rsp"
                                               : "@common/simgpu/flags/device-15.rsp";
}

std::string find_nvcc() {
  if (const std::string named = environment("NVCC"); !named.empty()) return find_program(named);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string home = environment(variable); !home.empty())
      if (const std::string found = find_program(home + "/bin/nvcc"); !found.empty()) return found;
  if (const std::string found = find_program("nvcc"); !found.empty()) return found;
  return find_program("/usr/local/cuda/bin/nvcc");
}

bool gpu_present() {
  const std::string tool = find_program("nvidia-smi");
  if (tool.empty()) return false;
  ProcessSpec spec;
  spec.argv = {tool, "-L"};
  spec.environment = minimal_environment();
  const RunResult result = run_process(spec, std::chrono::seconds(20));
  return result.ok() && result.output.find("GPU 0:") != std::string::npos;
}

}  // namespace grader
