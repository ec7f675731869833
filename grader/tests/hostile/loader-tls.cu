// what: threads with 16 GiB of their own
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".section .tbss,\"awT\",@nobits\n.zero 0x400000000\n.text");
#endif
