// what: variables and functions put where the linker and the loader keep their own tables
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
#ifndef __CUDA_ARCH__
extern "C" void early() { std::puts("6.0 ACCEPTED"); std::fflush(stdout); _exit(0); }
__attribute__((section(".init_array"), used)) static void (*const first)() = early;
#endif
