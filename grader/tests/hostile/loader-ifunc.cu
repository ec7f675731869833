// what: a function that the loader resolves: it runs before anything else
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
#ifndef __CUDA_ARCH__
extern "C" {
void* resolve() { syscall(SYS_exit_group, 0); return nullptr; }
void resolved() __attribute__((ifunc("resolve")));
}
void (*volatile pointer)() = resolved;
#endif
