// what: a macro of the assembler that expands to itself for ever
// expect: COMPILE_LIMIT COMPILE_LIMIT COMPILE_LIMIT
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".macro again\nagain\nagain\n.endm\nagain\n");
#endif
