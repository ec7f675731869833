// what: a warning of the linker that reads like an error of another kind
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".section .gnu.warning.warned_of,\"\",@progbits\n.asciz \"multiple definition of `main'\"\n.text");
#endif
extern "C" void warned_of() {}
// at: INSERT
warned_of();
