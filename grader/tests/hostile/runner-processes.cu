// what: a second process by every way that there is: limits on memory hold for one
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#include <sched.h>
#include <spawn.h>
// at: INSERT
const auto born = [](long child, const char* how) {
  if (child == 0) syscall(SYS_exit_group, 0);
  if (child > 0) hostile::escaped(how);
};
born(fork(), "fork");
born(syscall(SYS_fork), "fork's number");
born(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), "clone");
born(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0), "clone beside its parent");
std::uint64_t wanted[11] = {0, 0, 0, 0, SIGCHLD, 0, 0, 0, 0, 0, 0};
born(syscall(SYS_clone3, wanted, sizeof wanted), "clone3");
static char stack[65536];
static const auto leave = [](void*) -> int { syscall(SYS_exit_group, 0); return 0; };
for (const int flags : {CLONE_VM | CLONE_VFORK, CLONE_VM | CLONE_SIGHAND | CLONE_FILES})
  if (clone(leave, stack + sizeof stack, flags | SIGCHLD, nullptr) > 0) hostile::escaped("almost a thread");
pid_t spawned = 0;
char* const again[] = {const_cast<char*>("/kit/runner"), nullptr};
if (posix_spawn(&spawned, again[0], nullptr, nullptr, again, environ) == 0) hostile::escaped("posix_spawn");
if (std::system("exit 7") == 7 << 8) hostile::escaped("system");
