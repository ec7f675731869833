// what: a file taken in by the assembler as its own lines, of which it quotes what it does not understand
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".include \"@SECRET@\"\n");
#endif
