// what: namespaces of its own, to be root in
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
if (syscall(SYS_unshare, 0x10000000) == 0) hostile::escaped("unshare");
if (long child = syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0); child >= 0) { if (child == 0) _exit(0); hostile::escaped("clone"); }
std::uint64_t arguments[11] = {0x10000000, 0, 0, 0, SIGCHLD};
if (long child = syscall(435, arguments, sizeof arguments); child >= 0) { if (child == 0) _exit(0); hostile::escaped("clone3"); }
if (syscall(SYS_setns, 0, 0) == 0 || errno == EINVAL) hostile::escaped("setns");
