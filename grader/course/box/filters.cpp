#include "grader/course/box/filters.hpp"

#include <fcntl.h>
#include <linux/prctl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <vector>

#include <seccomp.h>

#include "common/wire/unique_fd.hpp"
#include "grader/errors.hpp"

namespace grader::box {
namespace {

/// Memory, threads, time, signals within the box, and the descriptors that it was given.
constexpr const char* computing[] = {"arch_prctl",
                                     "brk",
                                     "clock_getres",
                                     "clock_gettime",
                                     "clock_nanosleep",
                                     "close",
                                     "execve",
                                     "exit",
                                     "exit_group",
                                     "fstat",
                                     "futex",
                                     "get_robust_list",
                                     "getcpu",
                                     "getegid",
                                     "geteuid",
                                     "getgid",
                                     "getpid",
                                     "getppid",
                                     "getrandom",
                                     "getrlimit",
                                     "getrusage",
                                     "gettid",
                                     "gettimeofday",
                                     "getuid",
                                     "lseek",
                                     "madvise",
                                     "membarrier",
                                     "mmap",
                                     "mprotect",
                                     "mremap",
                                     "munmap",
                                     "nanosleep",
                                     "pause",
                                     "poll",
                                     "ppoll",
                                     "read",
                                     "readv",
                                     "recvfrom",
                                     "recvmsg",
                                     "restart_syscall",
                                     "rseq",
                                     "rt_sigaction",
                                     "rt_sigpending",
                                     "rt_sigprocmask",
                                     "rt_sigreturn",
                                     "rt_sigsuspend",
                                     "rt_sigtimedwait",
                                     "sched_getaffinity",
                                     "sched_getparam",
                                     "sched_getscheduler",
                                     "sched_setaffinity",
                                     "sched_yield",
                                     "sendmsg",
                                     "sendto",
                                     "set_robust_list",
                                     "set_tid_address",
                                     "sigaltstack",
                                     "sysinfo",
                                     "tgkill",
                                     "time",
                                     "times",
                                     "uname",
                                     "write",
                                     "writev"};

/// The tree that the mounts leave, read.
constexpr const char* reading[] = {"access", "faccessat",  "faccessat2", "getcwd", "getdents64",
                                   "lstat",  "newfstatat", "open",       "openat", "pread64",
                                   "preadv", "readlink",   "readlinkat", "stat",   "statx"};

/// What ordinary host code of a launcher might do beyond that, all of it within the box.
constexpr const char* hosting[] = {
    "alarm",    "dup",     "dup2",     "dup3",      "epoll_create1", "epoll_ctl", "epoll_wait",
    "eventfd2", "getpgid", "getpgrp",  "getitimer", "getsid",        "kill",      "pipe",
    "pipe2",    "select",  "pselect6", "setitimer", "shutdown"};

/// What NVIDIA's library makes of calls beside those on its devices (seen with driver 580): a socket
/// for debuggers, where memory lies, and files that it must be told it cannot make or change; that
/// there are no such calls ends it.
constexpr const char* driving[] = {"accept4",
                                   "bind",
                                   "chmod",
                                   "connect",
                                   "ftruncate",
                                   "get_mempolicy",
                                   "ioctl",
                                   "listen",
                                   "mbind",
                                   "memfd_create",
                                   "mincore",
                                   "mkdir",
                                   "mlock",
                                   "munlock",
                                   "sched_get_priority_max",
                                   "sched_get_priority_min",
                                   "setsockopt",
                                   "symlink",
                                   "unlink"};

/// Compilers, linker, readelf: files in their own folders, and programs that they start.
constexpr const char* building[] = {
    "chdir",     "chmod",     "copy_file_range", "dup",       "dup2",     "dup3",
    "fadvise64", "fallocate", "fchdir",          "fchmod",    "fchmodat", "flock",
    "fork",      "fstatfs",   "fsync",           "ftruncate", "getpgid",  "getpgrp",
    "kill",      "link",      "linkat",          "mkdir",     "mkdirat",  "pipe",
    "pipe2",     "pwrite64",  "pwritev",         "rename",    "renameat", "renameat2",
    "rmdir",     "select",    "pselect6",        "setpgid",   "setsid",   "statfs",
    "symlink",   "symlinkat", "truncate",        "umask",     "unlink",   "unlinkat",
    "utimensat", "vfork",     "wait4",           "waitid"};

class Filter {
 public:
  Filter() : context_(::seccomp_init(SCMP_ACT_ERRNO(ENOSYS)), &::seccomp_release) {
    if (!context_) throw InfraError("libseccomp cannot make a filter");
    // Another architecture's numbers mean other calls.
    check(::seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)));
  }

  template <std::size_t count>
  void allow(const char* const (&names)[count]) {
    for (const char* name : names) {
      const int number = ::seccomp_syscall_resolve_name(name);
      if (number == __NR_SCMP_ERROR) continue;  // not on this architecture
      const int done = ::seccomp_rule_add(context_.get(), SCMP_ACT_ALLOW, number, 0);
      if (done != 0 && done != -EEXIST && done != -EDOM) check(done);
    }
  }

  /// Threads, and processes unless `threads` says those alone; but no new namespace.
  void allow_clone(bool threads) {
    constexpr scmp_datum_t spaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    const scmp_datum_t thread = threads ? scmp_datum_t{CLONE_THREAD} : 0;
    check(::seccomp_rule_add(context_.get(), SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                             scmp_arg_cmp{0, SCMP_CMP_MASKED_EQ, spaces | thread, thread}));
    // clone3 hides its flags behind a pointer: left out, and libc then takes clone.
  }

  void allow_value(int number, unsigned argument, scmp_datum_t value) {
    check(::seccomp_rule_add(context_.get(), SCMP_ACT_ALLOW, number, 1,
                             scmp_arg_cmp{argument, SCMP_CMP_EQ, value, 0}));
  }

  /// What kind of socket it was given; NVIDIA's library may ask for more. Never SO_PEERPIDFD: the
  /// other end may belong to a process outside of the box, and this makes a handle of that.
  void allow_socket_options(bool on_gpu) {
    constexpr scmp_datum_t peer_pidfd = 77;  // the C library's headers may be older
    const scmp_arg_cmp level{1, SCMP_CMP_EQ, SOL_SOCKET, 0}, type{2, SCMP_CMP_EQ, SO_TYPE, 0},
        older{2, SCMP_CMP_LT, peer_pidfd, 0};
    const int call = SCMP_SYS(getsockopt);
    check(on_gpu ? ::seccomp_rule_add(context_.get(), SCMP_ACT_ALLOW, call, 1, older)
                 : ::seccomp_rule_add(context_.get(), SCMP_ACT_ALLOW, call, 2, level, type));
  }

  void write(const std::filesystem::path& file) const {
    const UniqueFd fd(
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd) throw InfraError("cannot write " + file.string());
    check(::seccomp_export_bpf(context_.get(), fd.get()));
  }

 private:
  static void check(int result) {
    if (result != 0) throw InfraError("libseccomp refuses a rule: " + std::to_string(-result));
  }

  std::unique_ptr<void, decltype(&::seccomp_release)> context_;
};

}  // namespace

void write_filter(BoxRole role, const std::filesystem::path& file) {
  Filter filter;
  filter.allow(computing);
  filter.allow(reading);
  const bool on_gpu = role == BoxRole::gpu_runner;
  if (role == BoxRole::runner || on_gpu) filter.allow(hosting);
  if (role == BoxRole::compiler) filter.allow(building);
  // A limit on memory holds for one process: only a compiler may have more than one.
  if (role != BoxRole::unpacker) filter.allow_clone(role != BoxRole::compiler);
  // Its own limits, which it cannot raise. Those of process 1 would end the box without a word.
  filter.allow_value(SCMP_SYS(prlimit64), 0, 0);
  // A descriptor and its flags. Leases, locks and notices reach beyond the box: other boxes are
  // shown the same files.
  for (const int command : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL})
    filter.allow_value(SCMP_SYS(fcntl), 1, static_cast<scmp_datum_t>(command));
  if (on_gpu) {
    filter.allow(driving);
    filter.allow_value(SCMP_SYS(socket), 0, AF_UNIX);
    filter.allow_value(SCMP_SYS(socketpair), 0, AF_UNIX);
  } else {
    filter.allow_value(SCMP_SYS(ioctl), 1, TCGETS);  // isatty
  }
  filter.allow_socket_options(on_gpu);
  filter.allow_value(SCMP_SYS(prctl), 0, PR_SET_NAME);
  filter.allow_value(SCMP_SYS(prctl), 0, PR_SET_VMA);
  filter.allow_value(SCMP_SYS(prctl), 0, PR_GET_NO_NEW_PRIVS);
  if (role == BoxRole::worker) filter.allow_value(SCMP_SYS(prctl), 0, PR_SET_DUMPABLE);
  filter.write(file);
}

}  // namespace grader::box
