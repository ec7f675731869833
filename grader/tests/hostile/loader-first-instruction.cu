// what: the first instruction of the program, its own
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#ifndef __CUDA_ARCH__
extern "C" void _start() { _exit(0); }
#endif
