// what: a call of libc made another name of a function of its own
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
#ifndef __CUDA_ARCH__
extern "C" __attribute__((used)) ssize_t never(int, void*, int) { errno = EIO; return -1; }
asm(".globl sendmsg\n.set sendmsg, never");
#endif
