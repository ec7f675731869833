// Process 1 of a box (grader/os/box.hpp): applies what has to be set from inside, starts the one
// program, waits for it, reports how it ended, and ends. The kernel then ends whatever is left.
//
//   box_init report=FD [filter=FILE] [write=FOLDER]... [open=PATH]... [cpu=S] [as=B] [fsize=B]
//            [nofile=N] [nproc=N] -- PROGRAM [ARGUMENT]...
//
// To FD: 'S' once the program runs, or 'E' and the errno and step of what failed; after 'S' wait4's
// status and the processor time in milliseconds, 4 bytes each. Without these somebody outside ended
// the box. The program gets every descriptor below FD and nothing above. Uses libc alone and says
// nothing on its own.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "grader/os/limit.hpp"

namespace {

struct Options {
  int report = -1;
  const char* filter = nullptr;
  std::vector<const char*> writable;  ///< all may be done in there
  std::vector<const char*>
      openable;  ///< devices and such: written to, and neither made nor removed
  std::uint64_t cpu = 0, as = 0, fsize = 0, nofile = 0, nproc = 0;
  char** program = nullptr;
};

[[noreturn]] void fail(int report, char step) {
  const int code = errno;
  char message[6] = {'E'};
  std::memcpy(message + 1, &code, sizeof code);
  message[5] = step;
  (void)!::write(report, message, sizeof message);
  ::_exit(127);
}

Options parse(int argc, char** argv) {
  Options options;
  int i = 1;
  for (; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    const char* const equals = std::strchr(argv[i], '=');
    if (!equals) ::_exit(126);
    const std::string key(argv[i], static_cast<std::size_t>(equals - argv[i]));
    const char* const value = equals + 1;
    const std::uint64_t number = std::strtoull(value, nullptr, 10);
    if (key == "report") options.report = static_cast<int>(number);
    if (key == "filter") options.filter = value;
    if (key == "write") options.writable.push_back(value);
    if (key == "open") options.openable.push_back(value);
    if (key == "cpu") options.cpu = number;
    if (key == "as") options.as = number;
    if (key == "fsize") options.fsize = number;
    if (key == "nofile") options.nofile = number;
    if (key == "nproc") options.nproc = number;
  }
  if (options.report < 0 || i + 1 >= argc) ::_exit(126);
  options.program = argv + i + 1;
  return options;
}

void allow(int ruleset, const char* path, std::uint64_t access) {
  const int at = ::open(path, O_PATH | O_CLOEXEC);
  if (at < 0) return;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = access;
  rule.parent_fd = at;
  ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  ::close(at);
}

/// Reading everywhere (the mounts decide what that is), writing where it was said. Kernels without
/// Landlock have the mounts alone.
void landlock(const Options& options) {
  const auto version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return;
  constexpr std::uint64_t read =
      LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  // The thirteen rights of its first version; later ones narrow what these already hold.
  constexpr std::uint64_t all = (1ull << 13) - 1;
  landlock_ruleset_attr rules{};
  rules.handled_access_fs = all;
  const int ruleset = static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &rules, sizeof rules.handled_access_fs, 0));
  if (ruleset < 0) fail(options.report, 'l');
  allow(ruleset, "/", read);
  constexpr std::uint64_t open = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
  allow(ruleset, "/dev/null", open);
  for (const char* path : options.openable) allow(ruleset, path, open);
  for (const char* path : options.writable) allow(ruleset, path, all);
  if (::syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) fail(options.report, 'l');
  ::close(ruleset);
}

std::vector<char> read_filter(const Options& options) {
  std::vector<char> bytes;
  if (!options.filter) return bytes;
  const int fd = ::open(options.filter, O_RDONLY | O_CLOEXEC);
  char buffer[4096];
  ssize_t got = -1;
  while (fd >= 0 && (got = ::read(fd, buffer, sizeof buffer)) > 0)
    bytes.insert(bytes.end(), buffer, buffer + got);
  if (fd < 0 || got < 0 || bytes.empty() || bytes.size() % sizeof(sock_filter) != 0)
    fail(options.report, 'f');
  ::close(fd);
  return bytes;
}

[[noreturn]] void child(const Options& options, std::vector<char>& filter) {
  const auto limit = [&](int resource, std::uint64_t soft, std::uint64_t hard) {
    if (soft != 0 && !grader::set_limit(resource, soft, hard)) fail(options.report, 'r');
  };
  limit(RLIMIT_CPU, options.cpu, options.cpu + 1);  // soft below hard: SIGXCPU tells it apart
  limit(RLIMIT_AS, options.as, options.as);
  limit(RLIMIT_FSIZE, options.fsize, options.fsize);
  limit(RLIMIT_NPROC, options.nproc, options.nproc);
  limit(RLIMIT_NOFILE, options.nofile, options.nofile);
  if (!grader::set_limit(RLIMIT_CORE, 0)) fail(options.report, 'r');
  landlock(options);
  sock_fprog program{};
  program.len = static_cast<unsigned short>(filter.size() / sizeof(sock_filter));
  program.filter = reinterpret_cast<sock_filter*>(filter.data());
  // Last: what comes before may need what the filter refuses. 'S' goes out by the closing of exec's
  // half of a pipe, see main.
  if (program.len != 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    fail(options.report, 's');
  ::execv(options.program[0], options.program);
  if (errno == ENOENT && std::strchr(options.program[0], '/') == nullptr)
    ::execvp(options.program[0], options.program);
  fail(options.report, 'x');
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  ::prctl(PR_SET_DUMPABLE, 0);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::fcntl(options.report, F_SETFD, FD_CLOEXEC);
  if (::syscall(SYS_close_range, options.report + 1, ~0u, 0) != 0) {
    for (int fd = options.report + 1; fd < 4096; ++fd) ::close(fd);
  }
  std::vector<char> filter = read_filter(options);
  int started[2];
  if (::pipe2(started, O_CLOEXEC) != 0) fail(options.report, 'p');
  const pid_t pid = ::fork();
  if (pid < 0) fail(options.report, 'k');
  if (pid == 0) child(options, filter);
  ::close(started[1]);
  char nothing;
  (void)!::read(started[0], &nothing, 1);  // ends when the program runs, or its process is gone
  (void)!::write(options.report, "S", 1);
  for (int fd = 0; fd < options.report; ++fd) ::close(fd);  // not held open for a dead program
  for (;;) {
    struct {
      int status;
      std::uint32_t cpu_ms;
    } ended{};
    rusage usage{};
    const pid_t gone = ::wait4(-1, &ended.status, 0, &usage);
    if (gone == pid) {
      const auto ms = [](const timeval& time) { return time.tv_sec * 1000 + time.tv_usec / 1000; };
      ended.cpu_ms = static_cast<std::uint32_t>(ms(usage.ru_utime) + ms(usage.ru_stime));
      (void)!::write(options.report, &ended, sizeof ended);
      return 0;
    }
    if (gone < 0 && errno != EINTR) return 125;
  }
}
