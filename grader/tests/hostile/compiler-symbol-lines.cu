// what: a symbol whose name is the lines that nm would print for launchers
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".globl \"x\\n0000000000000000 T main\\n0000000000000000 T _Z10gemm_first\"\n\"x\\n0000000000000000 T main\\n0000000000000000 T _Z10gemm_first\":\n");
#endif
