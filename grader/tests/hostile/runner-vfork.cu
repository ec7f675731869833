// what: a child that borrows its parent's memory, and sleeps: the parent cannot be woken
// expect: TIMEOUT ACCEPTED LOCKED
// at: INSERT
if (vfork() == 0) for (;;) syscall(SYS_pause);
