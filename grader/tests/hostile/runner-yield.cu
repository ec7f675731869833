// what: threads that give way for ever: always ready to run, and hardly any time of their own
// expect: TIMEOUT ACCEPTED LOCKED
// at: GLOBAL
#include <thread>
// at: INSERT
for (int i = 0; i < 20; ++i) std::thread([] { for (;;) syscall(SYS_sched_yield); }).detach();
for (;;) syscall(SYS_sched_yield);
