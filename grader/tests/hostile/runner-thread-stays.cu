// what: the first thread leaves, another stays: a process whose own state says that it is dead
// expect: TIMEOUT ACCEPTED LOCKED
// at: GLOBAL
#include <thread>
// at: INSERT
std::thread([] { for (;;) pause(); }).detach(); syscall(SYS_exit, 0);
