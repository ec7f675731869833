#include "grader/gpu/toolchain.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include <fmt/core.h>

#include "grader/compile/toolchain.hpp"
#include "grader/gpu/runner.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/process.hpp"

namespace grader::gpu {
namespace {

using messages::text;

constexpr int oldest_arch = 75;  // Turing: what the labs are written for

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

std::string trimmed(const std::string& word) {
  const auto from = word.find_first_not_of(" \t\r\n");
  if (from == std::string::npos) return {};
  return word.substr(from, word.find_last_not_of(" \t\r\n") - from + 1);
}

std::vector<std::string> split(const std::string& line, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(line);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(trimmed(part));
  return parts;
}

std::optional<int> number(const std::string& word) {
  if (word.empty() || word.size() > 8 ||
      !std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return {};
  return std::atoi(word.c_str());
}

RunResult ask(std::vector<std::string> argv) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.environment = gpu_environment();
  return run_process(spec, std::chrono::seconds(30));
}

std::string first_line(const std::string& said) {
  return trimmed(said.substr(0, said.find('\n')));
}

}  // namespace

std::optional<Version> version_after(const std::string& said, const std::string& word) {
  for (auto at = said.find(word); at != std::string::npos; at = said.find(word, at + 1)) {
    auto begin = at + word.size();
    while (begin < said.size() && (said[begin] == ' ' || said[begin] == ':' || said[begin] == '\t'))
      ++begin;
    std::size_t digits = 0;
    while (begin + digits < said.size() &&
           std::isdigit(static_cast<unsigned char>(said[begin + digits])))
      ++digits;
    if (digits == 0 || digits > 4 || begin + digits >= said.size() || said[begin + digits] != '.')
      continue;
    return Version{std::atoi(said.c_str() + begin), std::atoi(said.c_str() + begin + digits + 1)};
  }
  return {};
}

std::optional<Arch> parse_arch(const std::string& given) {
  std::string rest = given;
  for (const char* prefix : {"sm_", "compute_"})
    if (rest.rfind(prefix, 0) == 0) rest.erase(0, std::string(prefix).size());
  rest.erase(std::remove(rest.begin(), rest.end(), '.'), rest.end());
  Arch arch;
  if (!rest.empty() && (rest.back() == 'a' || rest.back() == 'f')) {
    arch.suffix = rest.back();
    rest.pop_back();
  }
  const auto value = number(rest);
  if (!value || *value < 10 || *value > 999) return {};
  arch.number = *value;
  return arch;
}

bool runs_on(const Arch& code, int device) {
  if (code.suffix == "a") return code.number == device;
  return code.number / 10 == device / 10 && code.number <= device;
}

std::vector<Device> parse_devices(const std::string& csv) {
  std::vector<Device> devices;
  std::istringstream stream(csv);
  for (std::string line; std::getline(stream, line);) {
    const auto parts = split(line, ',');
    if (parts.size() != 7) continue;
    const auto index = number(parts[0]), total = number(parts[5]), used = number(parts[6]);
    const auto arch = parse_arch(parts[3]);
    if (!index || !arch) continue;
    Device device;
    device.index = *index;
    device.name = parts[1];
    device.uuid = parts[2];
    device.arch = arch->number;
    device.driver = parts[4];
    // "[N/A]" where memory is the system's own: then nothing is known about it.
    device.memory_mib = static_cast<std::uint64_t>(total.value_or(0));
    device.used_mib = static_cast<std::uint64_t>(used.value_or(0));
    devices.push_back(device);
  }
  return devices;
}

std::vector<Device> visible_devices(const std::vector<Device>& all,
                                    const std::optional<std::string>& value) {
  if (!value) return all;
  std::vector<Device> chosen;
  for (const auto& word : split(*value, ',')) {
    const Device* found = nullptr;
    for (const auto& device : all) {
      const auto index = number(word);
      const bool by_uuid =
          word.size() > 4 && word.rfind("GPU-", 0) == 0 && device.uuid.rfind(word, 0) == 0;
      // An older form names the GPU in front of the slice: MIG-GPU-<uuid>/<g>/<c>.
      const bool by_slice = word.rfind("MIG-GPU-", 0) == 0 && device.uuid.size() > 4 &&
                            word.compare(4, device.uuid.size(), device.uuid) == 0;
      if ((index && *index == device.index) || by_uuid || by_slice) found = &device;
    }
    if (!found && word.rfind("MIG-", 0) == 0 && all.size() == 1) found = &all.front();
    if (!found) break;
    chosen.push_back(*found);
  }
  return chosen;
}

Driver probe_driver() {
  Driver driver;
  const std::string tool = find_program("nvidia-smi");
  if (tool.empty()) {
    driver.trouble = text("gpu.no_driver");
    return driver;
  }
  const RunResult asked =
      ask({tool, "--query-gpu=index,name,uuid,compute_cap,driver_version,memory.total,memory.used",
           "--format=csv,noheader,nounits"});
  if (asked.ok()) driver.devices = parse_devices(asked.output);
  if (driver.devices.empty()) {
    std::string said = first_line(printable(asked.output));
    if (said.empty()) said = first_line(printable(asked.errors));
    if (asked.timed_out) said = text("gpu.no_answer");
    driver.trouble = text("gpu.driver_dead", {{"said", said.empty() ? "nothing" : said}});
    return driver;
  }
  // The table's header is the only place that says it, in all versions.
  driver.cuda = version_after(ask({tool}).output, "CUDA Version");
  return driver;
}

std::optional<GpuToolchain> probe_nvcc() {
  GpuToolchain tools;
  tools.nvcc = find_nvcc();
  if (tools.nvcc.empty()) return {};
  const RunResult version = ask({tools.nvcc, "--version"});
  const auto cuda = version_after(version.output, "release");
  if (!version.ok() || !cuda) return {};
  tools.cuda = *cuda;
  tools.identity = printable(version.output);
  const RunResult listed = ask({tools.nvcc, "--list-gpu-code"});
  std::istringstream lines(listed.output);
  for (std::string line; listed.ok() && std::getline(lines, line);)
    if (const auto arch = parse_arch(trimmed(line))) tools.known_arch.push_back(arch->number);
  const std::string beside = tools.nvcc.substr(0, tools.nvcc.rfind('/') + 1) + "compute-sanitizer";
  tools.sanitizer = find_program(beside);
  if (tools.sanitizer.empty()) tools.sanitizer = find_program("compute-sanitizer");
  return tools;
}

Hardware decide(const Driver& driver, const std::optional<GpuToolchain>& tools,
                const std::optional<std::string>& visible, const std::string& wanted) {
  if (driver.devices.empty()) {
    Hardware none;
    none.reason = driver.trouble;
    none.advice = text("gpu.no_driver.next");
    return none;
  }
  const auto unusable = [](std::string reason, std::string advice) {
    Hardware hardware;
    hardware.seen = true;
    hardware.reason = std::move(reason);
    hardware.advice = std::move(advice);
    return hardware;
  };
  const std::vector<Device> seen = visible_devices(driver.devices, visible);
  if (seen.empty())
    return unusable(text("gpu.hidden", {{"value", printable(visible.value_or(""))},
                                        {"count", driver.devices.size()}}),
                    text("gpu.hidden.next"));
  const Device& device = seen.front();
  const std::string own = fmt::format("sm_{}", device.arch);
  if (device.arch < oldest_arch)
    return unusable(text("gpu.too_old", {{"name", device.name}, {"arch", own}}), "");
  if (!tools)
    return unusable(text("gpu.no_nvcc", {{"name", device.name}}), text("gpu.no_nvcc.next"));
  if (driver.cuda && driver.cuda->major < tools->cuda.major)
    return unusable(text("gpu.driver_old", {{"driver", device.driver},
                                            {"runs", driver.cuda->text()},
                                            {"toolkit", tools->cuda.text()}}),
                    text("gpu.driver_old.next", {{"toolkit", driver.cuda->major}}));
  Arch arch{device.arch, ""};
  if (!wanted.empty()) {
    const auto parsed = parse_arch(wanted);
    if (!parsed)
      return unusable(text("gpu.bad_arch", {{"arch", printable(wanted)}}),
                      text("gpu.bad_arch.next"));
    if (!runs_on(*parsed, device.arch))
      return unusable(
          text("gpu.other_arch", {{"arch", parsed->name()}, {"name", device.name}, {"own", own}}),
          text("gpu.other_arch.next"));
    arch = *parsed;
    if (arch.number < oldest_arch)
      return unusable(text("gpu.too_old", {{"name", "ARCH=" + wanted}, {"arch", arch.name()}}), "");
  }
  const auto& known = tools->known_arch;
  if (!known.empty() && std::find(known.begin(), known.end(), arch.number) == known.end())
    return unusable(text("gpu.nvcc_old", {{"toolkit", tools->cuda.text()}, {"arch", arch.name()}}),
                    text("gpu.nvcc_old.next"));
  Hardware hardware;
  hardware.usable = hardware.seen = true;
  hardware.device = device;
  hardware.visible = seen;
  hardware.arch = arch;
  hardware.tools = *tools;
  hardware.driver_cuda = driver.cuda;
  hardware.reason = visible ? text("gpu.picked.visible", {{"value", printable(*visible)}})
                    : seen.size() == 1 ? text("gpu.picked.only")
                                       : text("gpu.picked.first", {{"count", seen.size()}});
  return hardware;
}

UserError no_gpu(const Hardware& hardware) {
  const std::string advice = hardware.advice.empty() ? "" : "\n" + hardware.advice + ".";
  return {"DEVICE=gpu: " + hardware.reason + "." + advice, exit_infrastructure};
}

Hardware probe_hardware(const std::string& arch) {
  ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
  const Driver driver = probe_driver();
  return decide(driver, driver.devices.empty() ? std::nullopt : probe_nvcc(),
                environment("CUDA_VISIBLE_DEVICES"), arch);
}

std::string why_not(const Rung& rung, const std::string& type, const Arch& arch) {
  if (!rung.needs_arch.empty()) {
    const auto needed = parse_arch(rung.needs_arch);
    if (needed && runs_on(*needed, arch.number)) return {};
    return text("gpu.needs_exactly",
                {{"rung", rung.name}, {"needed", rung.needs_arch}, {"arch", arch.name()}});
  }
  const int from = rung.from_arch(type);
  if (arch.number >= from) return {};
  return text("gpu.needs_newer", {{"entry", rung.name + "<" + type + ">"},
                                  {"needed", fmt::format("sm_{}", from)},
                                  {"arch", arch.name()}});
}

}  // namespace grader::gpu
