#include "grader/commands/common.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include "grader/errors.hpp"
#include "grader/judge/session.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/scratch.hpp"

namespace grader {
namespace fs = std::filesystem;
using messages::text;

Workplace workplace(const Place& place) {
  Workplace result;
  result.root = fs::weakly_canonical(fs::absolute(place.root));
  result.build =
      place.build.empty() ? result.root / "build" : fs::weakly_canonical(fs::absolute(place.build));
  result.remote_library = result.build / "lib" / "libsimgpu_cudart_remote.a";
  const Scratch writable(result.build / "tmp");  // throws with the reason
  sweep_scratch(result.build / "tmp");
  return result;
}

std::vector<Lab> load_labs(const fs::path& root, const fs::path& course) {
  std::vector<Lab> labs = discover_labs(root);
  if (!course.empty()) apply_course(labs, read_file(course, 1u << 20), course.string());
  return labs;
}

const Lab& lab_with_id(const std::vector<Lab>& labs, int id) {
  for (const auto& lab : labs)
    if (lab.id == id) return lab;
  throw UserError(text("usage.no_lab", {{"lab", std::to_string(id)}, {"labs", list_of_ids(labs)}}),
                  exit_usage);
}

const Lab& lab_of_stage(const std::vector<Lab>& labs, const std::string& id) {
  for (const auto& lab : labs)
    if (lab.stage(id)) return lab;
  // Of the lab that its number begins with, else all.
  const auto of_lab = [&](const Lab& lab) {
    return id == std::to_string(lab.id) || id.rfind(std::to_string(lab.id) + ".", 0) == 0;
  };
  const bool known = std::any_of(labs.begin(), labs.end(), of_lab);
  std::string all;
  for (const auto& lab : labs)
    if (!known || of_lab(lab))
      for (const auto& stage : lab.stages) all += (all.empty() ? "" : ", ") + stage.id;
  throw UserError(text("usage.no_stage", {{"stage", printable(id)}, {"stages", all}}), exit_usage);
}

fs::path source_of(const Lab& lab, const fs::path& root, bool solution, const std::string& file) {
  const fs::path source = solution ? lab.folder / "solution" / file : lab.folder / file;
  if (solution && !fs::exists(root / source))
    throw UserError(text("usage.no_solution", {{"lab", lab.name}}), exit_usage);
  return source;
}

SourceOf sources_of(const Lab& lab, const fs::path& root, bool solution, const fs::path& given) {
  if (given.empty())
    return [&lab, root, solution](const std::string& file) {
      return source_of(lab, root, solution, file);
    };
  const fs::path path = fs::absolute(given);
  const std::vector<std::string> files = lab.files();
  const bool known = std::find(files.begin(), files.end(), path.filename().string()) != files.end();
  const std::string stands_for = known ? path.filename().string() : files.front();
  return [path, stands_for](const std::string& file) {
    return file == stands_for ? path : path.parent_path() / file;
  };
}

std::string commit_of(const fs::path& root) {
  if (const char* given = std::getenv("GEMM_LAB_COMMIT"); given && *given) return printable(given);
  ProcessSpec spec;
  spec.argv = {"git", "-C", root.string(), "describe", "--always", "--dirty", "--abbrev=12"};
  spec.environment = minimal_environment();
  std::string name;
  try {
    if (const RunResult said = run_process(spec, std::chrono::seconds(10)); said.ok())
      name = printable(said.output);
  } catch (const InfraError&) {  // no git here
  }
  name.erase(std::remove(name.begin(), name.end(), '\n'), name.end());
  return name.empty() ? "unknown" : name;
}

std::string chosen_arch() {
  const char* const chosen = std::getenv("ARCH_CHOSEN");
  const char* const arch = std::getenv("ARCH");
  return chosen && std::string(chosen) == "1" && arch ? arch : "";
}

std::optional<std::pair<unsigned, unsigned>> lesser_user(const Workplace& place) {
  if (::geteuid() != 0) return {};
  // From the file, not from whatever else the system asks: that a static program cannot load.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> users(std::fopen("/etc/passwd", "re"),
                                                              &std::fclose);
  const passwd* nobody = nullptr;
  while (users && (nobody = ::fgetpwent(users.get())) &&
         std::strcmp(nobody->pw_name, "nobody") != 0) {
  }
  if (!nobody || nobody->pw_uid == 0) return {};
  const std::pair<unsigned, unsigned> user{nobody->pw_uid, nobody->pw_gid};
  // The clone may lie where nobody may not go (a home folder with mode 700): try what a compiler
  // will have to do.
  const Scratch own(place.build / "tmp", user);
  ProcessSpec spec;
  spec.argv = {"sh", "-c", "test -r common/matrix.hpp && : >\"$1\"/probe", "sh",
               own.path().string()};
  spec.environment = minimal_environment();
  spec.folder = place.root.string();
  spec.user = user;
  return run_process(spec, std::chrono::seconds(10)).ok() ? std::optional(user) : std::nullopt;
}

unsigned usable_cores() {
  return std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
}

fs::path grader_program() {
  return fs::read_symlink(own_program()).parent_path() / "grader";
}

ProcessSpec check_alone(const Workplace& place, const fs::path& sources, const std::string& json,
                        const std::string& visible_gpu) {
  ProcessSpec spec;
  spec.argv = {grader_program().string(),
               "--root",
               place.root.string(),
               "--build",
               place.build.string(),
               "check",
               "--sources",
               sources.string(),
               "--json",
               json,
               "--device",
               visible_gpu.empty() ? "sim" : "gpu",
               "--jobs",
               "1"};
  spec.environment = minimal_environment();
  std::vector<const char*> kept = {"CLANG"};
  if (!visible_gpu.empty()) {
    spec.environment.push_back("CUDA_VISIBLE_DEVICES=" + visible_gpu);
    kept.insert(kept.end(),
                {"NVCC", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "ARCH", "ARCH_CHOSEN"});
  }
  for (const char* name : kept)
    if (const char* value = std::getenv(name))
      spec.environment.push_back(std::string(name) + "=" + value);
  return spec;
}

}  // namespace grader
