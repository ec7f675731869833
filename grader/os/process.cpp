#include "grader/os/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "grader/errors.hpp"
#include "grader/os/limit.hpp"

namespace grader {
namespace {

using Clock = std::chrono::steady_clock;

void make_pipe(UniqueFd& read_end, UniqueFd& write_end) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    throw InfraError(std::string("cannot make a pipe: ") + std::strerror(errno));
  read_end.reset(fds[0]);
  write_end.reset(fds[1]);
  ::fcntl(fds[0], F_SETFL, O_NONBLOCK);
}

/// Everything the child needs, prepared before it is there: until it is another program it
/// shares our memory, so only system calls are allowed that change nothing but the child.
struct Prepared {
  std::vector<char*> argv, environment;
  std::string program;
  std::vector<std::pair<int, int>> descriptors;  ///< ours -> theirs
  int highest = 2;
};

char* pointer(const std::string& text) {
  return const_cast<char*>(text.c_str());
}

void close_above(int last, int spare) {
#ifdef SYS_close_range
  if (spare > last) {
    const bool below = spare == last + 1 || ::syscall(SYS_close_range, last + 1, spare - 1, 0) == 0;
    if (below && ::syscall(SYS_close_range, spare + 1, ~0u, 0) == 0) return;
  } else if (::syscall(SYS_close_range, last + 1, ~0u, 0) == 0) {
    return;
  }
#endif
  rlimit bound{};
  ::getrlimit(RLIMIT_NOFILE, &bound);
  const int end = bound.rlim_cur == RLIM_INFINITY ? 65536 : static_cast<int>(bound.rlim_cur);
  for (int fd = last + 1; fd < end; ++fd)
    if (fd != spare) ::close(fd);
}

/// What a child has to go by.
struct First {
  const Prepared& prepared;
  const ProcessSpec& spec;
  pid_t parent;
  int in, out, err, report;
};

int first_steps(void* of) {
  const auto& [prepared, spec, parent, in, out, err, report_here] = *static_cast<const First*>(of);
  if (::getppid() != parent) ::_exit(127);
  int report = report_here;
  const auto fail = [&](char stage) {
    const int code = errno;
    char message[5] = {stage};
    std::memcpy(message + 1, &code, 4);
    (void)!::write(report, message, sizeof message);
    ::_exit(127);
  };
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Nobody's handler may run in here: signals are let in when all of them have their defaults.
  for (int s = 1; s < NSIG; ++s) ::signal(s, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Move everything out of the way of the target numbers first, then into place.
  const int base = prepared.highest + 16;
  int moved[16];
  std::size_t count = 0;
  for (const auto& [ours, theirs] : prepared.descriptors) {
    moved[count] = ::fcntl(ours, F_DUPFD, base);
    if (moved[count] < 0) fail('d');
    ++count;
  }
  const int report_fd = ::fcntl(report, F_DUPFD_CLOEXEC, base + 32);
  if (report_fd < 0) fail('d');
  report = report_fd;
  if (::dup2(in, 0) < 0) fail('d');
  if (spec.quiet && (::dup2(out, 1) < 0 || ::dup2(err, 2) < 0)) fail('d');
  for (std::size_t i = 0; i < count; ++i)
    if (::dup2(moved[i], prepared.descriptors[i].second) < 0) fail('d');
  close_above(prepared.highest, report);
  if (!spec.folder.empty() && ::chdir(spec.folder.c_str()) != 0) fail('c');
  const UniqueFd program(::open(prepared.program.c_str(), O_PATH | O_CLOEXEC));
  if (program.get() < 0) fail('e');
  ::umask(022);
  const auto limit = [&](int resource, std::uint64_t most) {
    if (most != 0 && !set_limit(resource, most)) fail('r');
  };
  limit(RLIMIT_AS, spec.limits.address_bytes);
  limit(RLIMIT_FSIZE, spec.limits.file_bytes);
  if (!set_limit(RLIMIT_CORE, 0)) fail('r');
  // Soft below hard: SIGXCPU tells this limit from every other kill.
  const std::uint64_t seconds = spec.limits.cpu_seconds;
  if (seconds != 0 && !set_limit(RLIMIT_CPU, seconds, seconds + 1)) fail('r');
  if (spec.user) {
    // Not by the C library's functions, which would change the user of all our threads.
    if (::syscall(SYS_setgroups, 0, nullptr) != 0 ||
        ::syscall(SYS_setgid, spec.user->second) != 0 ||
        ::syscall(SYS_setuid, spec.user->first) != 0)
      fail('u');
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // cleared by the change of user
  }
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  limit(RLIMIT_NPROC, spec.limits.processes);
  limit(RLIMIT_NOFILE, spec.limits.open_files);
  // By descriptor: the path may lie in a folder that the new user cannot search.
  ::syscall(SYS_execveat, program.get(), "", prepared.argv.data(), prepared.environment.data(),
            AT_EMPTY_PATH);
  ::execve(prepared.program.c_str(), prepared.argv.data(), prepared.environment.data());
  fail('e');
  ::_exit(127);
}

}  // namespace

std::vector<std::string> minimal_environment() {
  std::vector<std::string> environment = {"LC_ALL=C", "PATH=/usr/local/bin:/usr/bin:/bin"};
  if (const char* path = std::getenv("PATH")) environment[1] = std::string("PATH=") + path;
  return environment;
}

std::string find_program(const std::string& program) {
  if (program.empty()) return {};
  const auto usable = [](const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string::npos) return usable(program) ? program : std::string();
  const char* from = std::getenv("PATH");
  std::string path = from ? from : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string candidate = path.substr(begin, end - begin) + "/" + program;
    if (end > begin && usable(candidate)) return candidate;
    begin = end + 1;
  }
  return {};
}

namespace {

/// The only child of a process; -1: none, several, or a kernel that does not say.
pid_t only_child(pid_t parent) {
  const std::string id = std::to_string(parent);
  const UniqueFd list(
      ::open(("/proc/" + id + "/task/" + id + "/children").c_str(), O_RDONLY | O_CLOEXEC));
  char text[64] = {};
  if (!list || ::read(list.get(), text, sizeof text - 1) <= 0) return -1;
  char* end = nullptr;
  const long child = std::strtol(text, &end, 10);
  return child > 0 && (*end == '\0' || (*end == ' ' && end[1] == '\0')) ? static_cast<pid_t>(child)
                                                                        : -1;
}

}  // namespace

Process::Process(const ProcessSpec& spec)
    : cap_(spec.output_bytes), boxed_(spec.report_descriptor != 0) {
  Prepared prepared;
  prepared.program = find_program(spec.argv.at(0));
  if (prepared.program.empty()) throw InfraError("cannot find the program " + spec.argv[0]);
  for (const auto& argument : spec.argv) prepared.argv.push_back(pointer(argument));
  for (const auto& variable : spec.environment) prepared.environment.push_back(pointer(variable));
  prepared.argv.push_back(nullptr);
  prepared.environment.push_back(nullptr);
  prepared.descriptors = spec.descriptors;
  for (const auto& [ours, theirs] : spec.descriptors)
    prepared.highest = std::max(prepared.highest, theirs);
  UniqueFd box_report;
  if (boxed_) {
    make_pipe(report_pipe_, box_report);
    prepared.descriptors.emplace_back(box_report.get(), spec.report_descriptor);
    prepared.highest = std::max(prepared.highest, spec.report_descriptor);
  }
  if (prepared.descriptors.size() > 16)
    throw InfraError("too many descriptors for a child process");

  UniqueFd out_write, err_write, report_read, report_write;
  make_pipe(out_pipe_, out_write);
  make_pipe(err_pipe_, err_write);
  make_pipe(report_read, report_write);
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const pid_t parent = ::getpid();
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  // Copying the tables of a process of 100 MB for a child that leaves them at once took 1.4 ms, for
  // each of the 200 processes of a submission. So it borrows our memory, and we wait.
  First first{prepared,          spec, parent, nothing.get(), out_write.get(), err_write.get(),
              report_write.get()};
  std::vector<std::max_align_t> stack((64u << 10) / sizeof(std::max_align_t));
  pid_ =
      ::clone(first_steps, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, &first);
  const int failed = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid_ < 0) throw InfraError(std::string("cannot start a process: ") + std::strerror(failed));
  report_write.reset();
  ::fcntl(report_read.get(), F_SETFL, 0);
  char message[5];
  ssize_t got;
  do {
    got = ::read(report_read.get(), message, sizeof message);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof message) {
    int code = 0;
    std::memcpy(&code, message + 1, 4);
    reap(true);
    throw InfraError((message[0] == 'r' ? "cannot limit " : "cannot start ") + spec.argv[0] + ": " +
                     std::strerror(code));
  }
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      dead_(other.dead_),
      status_(other.status_),
      cpu_seconds_(other.cpu_seconds_),
      out_pipe_(std::move(other.out_pipe_)),
      err_pipe_(std::move(other.err_pipe_)),
      report_pipe_(std::move(other.report_pipe_)),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)),
      cap_(other.cap_),
      capped_(other.capped_),
      boxed_(other.boxed_),
      reported_(other.reported_),
      report_(std::move(other.report_)) {}

Process::~Process() {
  if (pid_ > 0) kill();
}

bool Process::reap(bool block) {
  if (dead_ || pid_ <= 0) return true;
  siginfo_t death{};
  int asked;
  do {
    asked =
        ::waitid(P_PID, static_cast<id_t>(pid_), &death, WEXITED | WNOWAIT | (block ? 0 : WNOHANG));
  } while (asked < 0 && errno == EINTR);
  if (asked == 0 && death.si_pid == 0) return false;
  // The group outlives its leader, so forked children are ended here, and not once the leader is
  // reaped: its id, which is the group's, may then be somebody else's.
  if (asked == 0) ::kill(-pid_, SIGKILL);
  rusage usage{};
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  pid_t got;
  do {
    got = ::wait4(pid_, &status_, 0, &usage);
  } while (got < 0 && errno == EINTR);
  dead_ = true;
  if (boxed_) {
    read_report(0);
    // 'S', then what wait4 said of the program to process 1.
    struct {
      int status;
      std::uint32_t cpu_ms;
    } ended{};
    reported_ = report_.size() == 1 + sizeof ended && report_[0] == 'S';
    if (reported_) {
      std::memcpy(&ended, report_.data() + 1, sizeof ended);
      status_ = ended.status;
      cpu_seconds_ = ended.cpu_ms / 1e3;
    }
  } else {
    cpu_seconds_ = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  return true;
}

void Process::read_report(int timeout_ms) {
  if (!report_pipe_) return;
  pollfd ready{report_pipe_.get(), POLLIN, 0};
  if (::poll(&ready, 1, timeout_ms) <= 0) return;
  char bytes[64];
  const ssize_t got = ::read(report_pipe_.get(), bytes, sizeof bytes);
  if (got > 0) report_.append(bytes, static_cast<std::size_t>(got));
  if (got == 0) report_pipe_.reset();
}

pid_t Process::program_pid() {
  if (!boxed_) return pid_;
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  while (report_.empty() && report_pipe_ && Clock::now() < deadline) read_report(100);
  const pid_t init = only_child(pid_);
  return init > 0 ? only_child(init) : -1;
}

std::string Process::box_trouble() const {
  if (!boxed_ || (!report_.empty() && report_[0] == 'S')) return {};
  if (report_.empty()) return err_.empty() ? "bubblewrap ended without a word" : err_;
  int code = 0;
  if (report_.size() >= 6) std::memcpy(&code, report_.data() + 1, sizeof code);
  return "process 1 of the box failed at step " +
         report_.substr(std::min<std::size_t>(report_.size(), 5), 1) + ": " + std::strerror(code);
}

void Process::drain(int timeout_ms) {
  pollfd fds[2] = {{out_pipe_.get(), POLLIN, 0}, {err_pipe_.get(), POLLIN, 0}};
  if (!out_pipe_ && !err_pipe_) {
    if (timeout_ms > 0) ::poll(nullptr, 0, std::min(timeout_ms, 5));
    return;
  }
  if (::poll(fds, 2, timeout_ms) <= 0) return;
  char buffer[1 << 14];
  const auto take = [&](const pollfd& ready, UniqueFd& pipe, std::string& into) {
    if (!pipe || ready.revents == 0) return;
    const ssize_t got = ::read(pipe.get(), buffer, sizeof buffer);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) pipe.reset();
    if (got <= 0) return;
    const std::size_t room = cap_ > into.size() ? cap_ - into.size() : 0;
    into.append(buffer, std::min(room, static_cast<std::size_t>(got)));
    capped_ = capped_ || static_cast<std::size_t>(got) > room;
  };
  take(fds[0], out_pipe_, out_);
  take(fds[1], err_pipe_, err_);
}

bool Process::wait(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (!reap(false)) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    drain(static_cast<int>(std::min<long long>(left, out_pipe_ || err_pipe_ ? 20 : 5)));
  }
  // What it wrote last is still in the pipes; a grandchild may hold them open, so never wait for
  // the end.
  for (int i = 0; i < 256 && (out_pipe_ || err_pipe_); ++i) {
    const std::size_t before = out_.size() + err_.size();
    const bool open_before = static_cast<bool>(out_pipe_) && static_cast<bool>(err_pipe_);
    drain(0);
    if (out_.size() + err_.size() == before && open_before == (out_pipe_ && err_pipe_)) break;
  }
  return true;
}

bool Process::drain_until_readable(int fd, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd fds[3] = {{fd, POLLIN, 0}, {out_pipe_.get(), POLLIN, 0}, {err_pipe_.get(), POLLIN, 0}};
    if (::poll(fds, 3, static_cast<int>(std::min<long long>(left, 1000))) < 0 && errno != EINTR)
      return false;
    drain(0);
    if (fds[0].revents != 0) return true;
  }
}

void Process::kill() {
  if (pid_ <= 0 || dead_) return;
  if (boxed_) {
    // With process 1 the kernel ends everything in the box before bubblewrap hears of it.
    if (const pid_t init = only_child(pid_); init > 0 && ::kill(init, SIGKILL) == 0)
      wait(std::chrono::seconds(5));
  }
  if (dead_) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);  // by its own id, too: it may not have a group of its own yet
  reap(true);
}

RunResult run_process(const ProcessSpec& spec, std::chrono::milliseconds timeout) {
  Process process(spec);
  RunResult result;
  result.timed_out = !process.wait(timeout);
  process.kill();
  if (const std::string trouble = process.box_trouble(); !trouble.empty())
    throw InfraError("the box around " + spec.argv.back() + " could not be made: " + trouble);
  if (process.vanished() && !result.timed_out)
    throw InfraError("something outside ended the box around a program");
  result.status = process.status();
  result.cpu_seconds = process.cpu_seconds();
  result.output = process.output();
  result.errors = process.errors();
  result.capped = process.output_capped();
  return result;
}

namespace {

/// clang's last two lines where its linker was killed. What it shows of a source stands before its
/// own last line, so that nobody can write these.
bool tells_of_a_killed_linker(std::string_view errors) {
  constexpr std::string_view last =
      "error: linker command failed due to signal (use -v to see invocation)\n";
  constexpr std::string_view before = "error: unable to execute command: Killed\n";
  if (!errors.ends_with(last)) return false;
  errors = errors.substr(0, errors.rfind('\n', errors.size() - last.size()) + 1);
  return errors.ends_with(before);
}

}  // namespace

RunResult run_to_its_own_end(const ProcessSpec& spec, std::chrono::milliseconds timeout) {
  constexpr int tries = 3;
  std::string why;
  for (int i = 0; i < tries; ++i) {
    try {
      RunResult ran = run_process(spec, timeout);
      const std::uint64_t limit = spec.limits.cpu_seconds;
      // The kernel counts ticks against the limit, and on a busy machine these run ahead of the time
      // that it reports: compilers that it ended at 40 s had used 39 or less.
      const bool spent = limit != 0 && ran.cpu_seconds >= 0.8 * static_cast<double>(limit);
      const bool killed = (WIFSIGNALED(ran.status) && WTERMSIG(ran.status) == SIGKILL) ||
                          (ran.status != 0 && tells_of_a_killed_linker(ran.errors));
      if (ran.timed_out || spent || !killed) return ran;
      why = "it was killed";
    } catch (const InfraError& error) {
      why = error.what();
    }
  }
  throw InfraError("something outside ended " + spec.argv.at(0) + " " + std::to_string(tries) +
                   " times: " + why);
}

std::string signal_name(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV (invalid memory access on the host)";
    case SIGBUS:
      return "SIGBUS (invalid memory access on the host)";
    case SIGABRT:
      return "SIGABRT (abort, a failed assert or an uncaught exception)";
    case SIGFPE:
      return "SIGFPE (integer division by zero on the host)";
    case SIGILL:
      return "SIGILL (illegal instruction on the host)";
    case SIGXCPU:
      return "SIGXCPU (processor time limit)";
    case SIGXFSZ:
      return "SIGXFSZ (file size limit)";
    case SIGKILL:
      return "SIGKILL";
    case SIGTERM:
      return "SIGTERM";
    case SIGTRAP:
      return "SIGTRAP";
    case SIGSYS:
      return "SIGSYS (forbidden system call)";
    default:
      return "signal " + std::to_string(signal);
  }
}

}  // namespace grader
