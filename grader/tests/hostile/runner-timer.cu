// what: a timer that goes off while the runner waits for the worker
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
struct { long interval[2], value[2]; } soon = {{0, 1000}, {0, 1000}};
syscall(SYS_setitimer, 0, &soon, nullptr);
raise(SIGALRM);
