// what: a debugger's calls
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
char byte;
struct { void* base; std::size_t length; } here{&byte, 1};
if (syscall(SYS_ptrace, 0, 0, 0, 0) == 0) hostile::escaped("ptrace");
if (syscall(SYS_process_vm_readv, getpid(), &here, 1, &here, 1, 0) == 1) hostile::escaped("process_vm_readv");
if (syscall(SYS_pidfd_open, 1, 0) >= 0) hostile::escaped("pidfd_open");
