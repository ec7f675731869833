// what: a child that borrows its parent's memory, and sleeps: the parent cannot be woken
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
if (vfork() == 0) for (;;) syscall(SYS_pause);
