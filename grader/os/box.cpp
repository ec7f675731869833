#include "grader/os/box.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "grader/errors.hpp"
#include "grader/os/files.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

/// bubblewrap's arguments for what every box has.
std::vector<std::string> walls(const BoxSettings& settings, BoxRole role) {
  const auto whole = [&](const char* wall) { return settings.weakened.count(wall) == 0; };
  std::vector<std::string> argv = {"bwrap",
                                   "--unshare-user",
                                   "--unshare-ipc",
                                   "--unshare-uts",
                                   "--unshare-cgroup-try",
                                   "--hostname",
                                   "box",
                                   "--die-with-parent",
                                   "--cap-drop",
                                   "ALL",
                                   "--uid",
                                   "1000",
                                   "--gid",
                                   "1000"};
  const auto add = [&](std::initializer_list<std::string> more) { argv.insert(argv.end(), more); };
  // A session of its own is a process group of its own, and a signal to the box's group, which
  // stops a GPU's runner, would miss it. Nothing here has a terminal whose session could be misused.
  if (role != BoxRole::gpu_runner) add({"--new-session"});
  if (role == BoxRole::gpu_runner) add({"--proc", "/proc"});
  if (whole("net")) add({"--unshare-net"});
  if (whole("pids")) add({"--unshare-pid", "--as-pid-1"});
  if (whole("environment")) add({"--clearenv"});
  add({"--ro-bind", "/usr", "/usr"});
  // Where these are folders of their own, programs are there and not in /usr.
  for (const char* name : {"/bin", "/lib", "/lib64", "/sbin"}) {
    std::error_code error;
    if (fs::is_symlink(name, error))
      add({"--symlink", fs::read_symlink(name).string(), name});
    else
      add({"--ro-bind-try", name, name});
  }
  add({"--ro-bind-try", "/etc/alternatives", "/etc/alternatives", "--ro-bind-try",
       "/etc/ld.so.cache", "/etc/ld.so.cache"});
  // Not bubblewrap's --dev: /dev/zero never ends, and an #include of it neither.
  add({"--tmpfs", "/dev", "--dev-bind", "/dev/null", "/dev/null", "--dev-bind", "/dev/urandom",
       "/dev/urandom"});
  if (!whole("proc")) add({"--ro-bind", "/proc", "/proc"});
  if (!whole("devices")) add({"--dev", "/dev"});
  if (!whole("tree"))
    for (const auto& entry : fs::directory_iterator("/"))
      if (const std::string name = entry.path().filename().string();
          entry.is_directory() && !entry.is_symlink() && name != "usr" && name != "proc" &&
          name != "dev" && name != "sys")
        add({"--ro-bind", entry.path().string(), entry.path().string()});
  if (role == BoxRole::compiler) add({"--size", std::to_string(256u << 20), "--tmpfs", "/tmp"});
  if (!whole("kit")) add({"--ro-bind", settings.kit.string(), "/kit"});
  add({"--ro-bind", (settings.kit / "box_init").string(), "/kit/box_init", "--ro-bind",
       (settings.kit / "filters").string(), "/kit/filters"});
  return argv;
}

void limits(std::vector<std::string>& argv, const ProcessLimits& limits) {
  const auto add = [&](const char* name, std::uint64_t value) {
    if (value) argv.push_back(std::string(name) + "=" + std::to_string(value));
  };
  add("cpu", limits.cpu_seconds);
  add("as", limits.address_bytes);
  add("fsize", limits.file_bytes);
  add("nofile", limits.open_files);
  add("nproc", limits.processes);
}

}  // namespace

std::string_view to_string(BoxRole role) {
  switch (role) {
    case BoxRole::compiler:
      return "compiler";
    case BoxRole::runner:
      return "runner";
    case BoxRole::worker:
      return "worker";
    case BoxRole::unpacker:
      return "unpacker";
    case BoxRole::gpu_runner:
      return "gpu_runner";
  }
  return "?";
}

BoxSettings BoxSettings::read(const fs::path& file) {
  const auto document = nlohmann::json::parse(read_file(file, 1u << 16), nullptr, false);
  if (document.is_discarded())
    throw UserError(file.string() + " is no description of a box", exit_usage);
  BoxSettings settings;
  settings.kit = document.at("kit").get<std::string>();
  settings.folder = document.at("folder").get<std::string>();
  settings.protection = document.at("protection").get<std::string>();
  settings.weakened = document.at("weakened").get<std::set<std::string>>();
  if (document.contains("uid"))
    settings.user = {document.at("uid").get<unsigned>(), document.at("gid").get<unsigned>()};
  return settings;
}

void BoxSettings::write(const fs::path& file) const {
  nlohmann::json document = {{"kit", kit.string()},
                             {"folder", folder.string()},
                             {"protection", protection},
                             {"weakened", weakened}};
  if (user) document["uid"] = user->first, document["gid"] = user->second;
  write_file_atomically(file, document.dump(1) + "\n");
}

ProcessSpec boxed(const BoxSettings& settings, const BoxView& view, ProcessSpec spec) {
  ProcessSpec box;
  box.argv = walls(settings, view.role);
  const auto add = [&](std::initializer_list<std::string> more) {
    box.argv.insert(box.argv.end(), more);
  };
  for (const auto& [ours, theirs] : view.read_only) add({"--ro-bind", ours.string(), theirs});
  for (const auto& folder : view.rest) add({"--ro-bind", folder, folder});
  for (const auto& device : view.devices) add({"--dev-bind", device, device});
  if (view.out) add({"--bind", view.out->string(), "/out"});
  for (const auto& variable : spec.environment) {
    const auto at = variable.find('=');
    add({"--setenv", variable.substr(0, at), variable.substr(at + 1)});
  }
  add({"--chdir", spec.folder.empty() ? "/" : spec.folder});
  const auto whole = [&](const char* wall) { return settings.weakened.count(wall) == 0; };
  if (whole("readonly") && whole("mount") && whole("kit")) add({"--remount-ro", "/"});
  if (whole("readonly") && whole("mount of /dev") && whole("devices"))
    add({"--remount-ro", "/dev"});
  add({"--", "/kit/box_init"});
  int highest = 2;
  for (const auto& [ours, theirs] : spec.descriptors) highest = std::max(highest, theirs);
  if (!whole("descriptors")) spec.descriptors.emplace_back(0, ++highest);
  box.report_descriptor = highest + 1;
  add({"report=" + std::to_string(box.report_descriptor)});
  if (!whole("readonly") || !whole("landlock")) add({"write=/"});
  if (whole("seccomp")) add({"filter=/kit/filters/" + std::string(to_string(view.role))});
  if (view.out) add({"write=/out"});
  for (const auto& device : view.devices) add({"open=" + device});
  // The driver's library names its threads there.
  if (view.role == BoxRole::gpu_runner) add({"open=/proc"});
  if (view.role == BoxRole::compiler) add({"write=/tmp"});
  ProcessLimits inside = spec.limits;
  if (inside.processes == 0) inside.processes = view.role == BoxRole::compiler ? 32 : 64;
  limits(box.argv, inside);
  add({"--"});
  box.argv.insert(box.argv.end(), spec.argv.begin(), spec.argv.end());

  box.folder = "/";
  if (!whole("environment")) box.environment = {"SOME_SECRET=1"};
  box.descriptors = std::move(spec.descriptors);
  box.output_bytes = spec.output_bytes;
  box.user = settings.user;
  box.limits.cpu_seconds = spec.limits.cpu_seconds;  // also tells run_to_its_own_end what is spent
  box.quiet = spec.quiet;
  return box;
}

}  // namespace grader
