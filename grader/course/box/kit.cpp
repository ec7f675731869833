#include "grader/course/box/kit.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "grader/course/box/filters.hpp"
#include "grader/errors.hpp"
#include "grader/gpu/build.hpp"
#include "grader/gpu/device_files.hpp"
#include "grader/gpu/runner.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"

namespace grader::box {
namespace fs = std::filesystem;
namespace {

using messages::text;

constexpr const char* prefix = "gemm-lab-box-";
// Between Debian's ordinary users (to 59999) and those of services: nobody's, as a rule.
constexpr unsigned first_user = 55000, users = 4900;

fs::path parent_folder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen && *chosen ? fs::path(chosen) : fs::path("/var/tmp");
}

UniqueFd locked(const fs::path& folder) {
  UniqueFd fd(::open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

/// Removes what a `make grade` that was killed has left behind.
void sweep(const fs::path& parent) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    struct stat info {};
    if (entry.path().filename().string().rfind(prefix, 0) != 0 ||
        ::lstat(entry.path().c_str(), &info) != 0 || !S_ISDIR(info.st_mode) ||
        info.st_uid != ::geteuid())
      continue;
    if (const UniqueFd lock = locked(entry.path())) fs::remove_all(entry.path(), error);
  }
}

void copy_readable(const fs::path& from, const fs::path& to, fs::perms mode) {
  make_folder(to.parent_path());
  fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  fs::permissions(to, mode);
}

bool header(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".hpp" || extension == ".cuh" || extension == ".h" || extension == ".rsp" ||
         extension == ".inl" || extension == ".inc";
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// True for root who can become the users of submissions. In a container without other users root is
/// an ordinary user outside, and as good as one; real root who cannot is refused.
bool can_switch_users() {
  if (::geteuid() != 0) return false;
  std::ifstream map("/proc/self/uid_map");
  bool real = false;
  for (unsigned long inside = 0, outside = 0, count = 0; map >> inside >> outside >> count;) {
    if (inside <= first_user && first_user + users < inside + count) return true;
    real = real || (inside == 0 && outside == 0);
  }
  if (real) throw UserError(text("box.users"), exit_infrastructure);
  return false;
}

/// What to do about a machine that lets nobody make a box.
std::string advice() {
  if (first_line("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1")
    return text("box.apparmor");
  if (first_line("/proc/sys/kernel/unprivileged_userns_clone") == "0") return text("box.sysctl");
  if (first_line("/proc/sys/user/max_user_namespaces") == "0") return text("box.max_namespaces");
  return text("box.container");
}

// Each line that this prints is one wall that does not stand. $1: a file outside of the box.
constexpr const char* probe = R"sh(
[ "$(hostname 2>/dev/null || uname -n)" = box ] || echo 'its own host name'
[ ! -e "$1" ] || echo 'files outside are hidden'
[ "$(id -u)" != 0 ] || echo 'not root'
! (: >/usr/x) 2>/dev/null || echo '/usr is read-only'
! (: >/x) 2>/dev/null || echo 'the tree is read-only'
[ ! -e /proc/self ] || echo 'no /proc'
[ "$(ls /dev | tr '\n' ' ')" = 'null urandom ' ] || echo 'no devices'
! kill -0 "$2" 2>/dev/null || echo 'no other processes'
! unshare -U true 2>/dev/null || echo 'no new namespaces'
! mount -t tmpfs x /tmp 2>/dev/null || echo 'no mounts'
echo done)sh";

}  // namespace

Kit::Kit(const Workplace& place, const fs::path& programs, const std::set<std::string>& weakened) {
  settings_.weakened = weakened;
  make(&place, programs);
}

Kit::Kit(const fs::path& programs) {
  make(nullptr, programs);
}

void Kit::make(const Workplace* place, const fs::path& programs) {
  if (find_program("bwrap").empty()) throw UserError(text("box.no_bwrap"), exit_infrastructure);
  const fs::path parent = parent_folder();
  sweep(parent);
  std::string pattern = (parent / (prefix + std::string("XXXXXX"))).string();
  if (!::mkdtemp(pattern.data()))
    throw UserError(text("box.folder", {{"folder", parent.string()}}), exit_infrastructure);
  folder_ = pattern;
  lock_ = locked(folder_);
  try {
    fs::permissions(folder_, fs::perms(0711));
    settings_.kit = folder_ / "kit";
    copy_parts(place, programs);
    own_users_ = can_switch_users();
    settings_.protection = text(own_users_ ? "box.protection.root" : "box.protection");
    if (!settings_.weakened.empty()) {
      std::string list;
      for (const auto& wall : settings_.weakened) list += (list.empty() ? "" : ", ") + wall;
      settings_.protection = text("box.protection.weakened", {{"walls", list}});
    } else {
      try_boxes(place != nullptr);
    }
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    throw;
  }
}

Kit::~Kit() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Kit::copy_parts(const Workplace* place, const fs::path& programs) {
  const fs::perms program{0755};
  const fs::path kit = settings_.kit;
  make_folder(kit / "filters");
  for (const BoxRole role : {BoxRole::compiler, BoxRole::runner, BoxRole::worker, BoxRole::unpacker,
                             BoxRole::gpu_runner})
    write_filter(role, kit / "filters" / std::string(to_string(role)));
  copy_readable(programs / "grader", kit / "grader", program);
  copy_readable(programs / "box_init", kit / "box_init", program);
  copy_readable(programs / "unpack", kit / "unpack", program);
  if (place) copy_headers(*place);
  // Whatever umask was in force: others have to get in.
  for (const auto& entry : fs::recursive_directory_iterator(folder_))
    if (entry.is_directory()) fs::permissions(entry.path(), fs::perms(0755));
}

void Kit::copy_headers(const Workplace& place) {
  const fs::perms file{0644};
  const fs::path kit = settings_.kit;
  copy_readable(place.remote_library, kit / "lab/lib" / place.remote_library.filename(), file);
  // What a lab's file may include, and nothing else of the project.
  std::vector<fs::path> folders = {place.root / "common"};
  for (const auto& entry : fs::directory_iterator(place.root))
    if (entry.path().filename().string().rfind("lab", 0) == 0 &&
        fs::is_directory(entry.path() / "given"))
      folders.push_back(entry.path() / "given");
  for (const auto& folder : folders)
    for (const auto& entry :
         fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink))
      if (entry.is_regular_file() && header(entry.path()))
        copy_readable(entry.path(), kit / "lab" / entry.path().lexically_relative(place.root),
                      file);
  // Our half of a runner on a real GPU is compiled together with the submission.
  for (const char* name : gpu::gpu_runner_sources)
    if (fs::exists(place.root / name)) copy_readable(place.root / name, kit / "lab" / name, file);
}

void Kit::try_boxes(bool worker) const {
  BoxSettings settings = settings_;
  if (own_users_) settings.user = {first_user + users, first_user + users};
  ProcessSpec spec;
  spec.argv = {
      "/bin/sh", "-c", probe, "sh", (folder_ / "lock").string(), std::to_string(::getpid())};
  spec.environment = {"PATH=/usr/bin:/bin:/usr/sbin"};
  std::string broken;
  try {
    const RunResult tried = run_process(boxed(settings, {BoxRole::compiler, {}, {}, {}}, spec),
                                        std::chrono::seconds(20));
    if (tried.ok() && tried.output == "done\n") {
      if (!worker) return;
      spec.argv = {"/kit/grader", "device-worker"};
      // Without a judge at its descriptor it has nothing to do, and says so by ending well.
      const RunResult ended = run_process(
          boxed(settings, {BoxRole::worker, {{settings.kit / "grader", "/kit/grader"}}, {}, {}},
                spec),
          std::chrono::seconds(20));
      if (ended.ok()) return;
      broken = "device worker: " + ended.errors;
    } else {
      broken = tried.output + tried.errors;
    }
  } catch (const InfraError& error) {
    throw UserError(text("box.none", {{"why", printable(error.what())}, {"advice", advice()}}),
                    exit_infrastructure);
  }
  throw UserError(text("box.broken", {{"what", printable(broken)}}), exit_infrastructure);
}

void Kit::try_gpu(const std::string& uuid) const {
  gpu::RunnerBox box;
  box.settings = settings_;
  if (own_users_) box.settings.user = {first_user + users, first_user + users};
  box.uuid = uuid;
  box.devices = gpu::device_files(uuid);
  ProcessSpec spec;
  spec.argv = {(settings_.kit / "grader").string(), "gpu-probe"};
  std::string why;
  try {
    const RunResult tried =
        run_process(gpu::in_gpu_box(box, std::move(spec)), std::chrono::seconds(60));
    if (tried.ok()) return;
    why = tried.timed_out ? text("box.gpu_silent") : tried.output + tried.errors;
  } catch (const InfraError& error) {
    why = error.what();
  }
  throw UserError(text("box.no_gpu", {{"gpu", uuid}, {"why", printable(why)}}),
                  exit_infrastructure);
}

std::pair<unsigned, unsigned> Kit::next_user() {
  // Begins somewhere else in every run, so that two runs at a time hardly meet.
  for (unsigned tries = 0; tries < users; ++tries) {
    const unsigned id = first_user + (static_cast<unsigned>(::getpid()) * 61u + users_++) % users;
    if (!::getpwuid(id)) return {id, id};
  }
  throw InfraError("no user id is free for a submission");
}

Kit::Submission::Submission(Kit& kit, const std::string& key)
    : folder_(kit.folder_ / key), file_(folder_ / "box.json"), settings_(kit.settings_) {
  settings_.folder = folder_ / "files";
  if (kit.own_users_) settings_.user = kit.next_user();
  make_folder(settings_.folder);
  fs::permissions(folder_, fs::perms(0711));
  fs::permissions(settings_.folder, fs::perms(0711));
  settings_.write(file_);
}

Kit::Submission::~Submission() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace grader::box
