// what: code in .preinit_array
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
#ifndef __CUDA_ARCH__  // PTX has no such table
static void before(int, char**, char**) { _exit(0); }
__attribute__((section(".preinit_array"), used)) static void (*const pre)(int, char**, char**) = before;
#endif
