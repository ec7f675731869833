// what: a program with a loader of its own choice
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".section .interp,\"a\",@progbits\n.asciz \"/box/none\"\n.text");
#endif
