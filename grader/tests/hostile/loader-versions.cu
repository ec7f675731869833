// what: versions of symbols made by hand: a receive of its own as libc's default, and calls of versions that libc has not
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
#ifndef __CUDA_ARCH__
extern "C" __attribute__((used)) ssize_t my_recvmsg(int, void*, int) { errno = EIO; return -1; }
asm(".symver my_recvmsg, recvmsg@@GLIBC_2.2.5\n.symver my_recvmsg, recv@@@GLIBC_99.0");
#endif
