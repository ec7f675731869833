// what: more of the processors than others get: priorities, schedulers, groups of processes
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
struct { int priority; } first{1};
if (syscall(SYS_sched_setscheduler, 0, 1, &first) == 0) hostile::escaped("a scheduler of real time");
if (syscall(SYS_setpriority, 0, 0, -20) == 0) hostile::escaped("a priority");
if (syscall(SYS_setpriority, 2, getuid(), 19) == 0) hostile::escaped("a priority of all that this user runs");
if (syscall(SYS_ioprio_set, 1, 0, 1 << 13) == 0) hostile::escaped("first at the disk");
if (syscall(314 /* sched_setattr */, 0, &first, 0) == 0) hostile::escaped("attributes of a scheduler");
if (syscall(SYS_kill, -1, 0) == 0 && getppid() == 0) hostile::escaped("processes outside");
