// what: the assembler told to repeat itself: a few bytes that become gigabytes before anything is written
// expect: COMPILE_LIMIT COMPILE_LIMIT COMPILE_LIMIT
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".rept 100000\n.rept 100000\nnop\n.endr\n.endr\n");
#endif
