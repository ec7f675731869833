// what: a program of 64 GiB: nobody can load it
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".section .far_bss,\"aw\",@nobits\n.zero 0x1000000000\n.text");
#endif
