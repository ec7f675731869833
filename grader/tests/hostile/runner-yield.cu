// what: threads that give way for ever: always ready to run, and hardly any time of their own
// expect: TIMEOUT ACCEPTED LOCKED
// at: INSERT
for (int i = 0; i < 20; ++i) if (fork() == 0) for (;;) syscall(SYS_sched_yield);
for (;;) syscall(SYS_sched_yield);
