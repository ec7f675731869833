// what: instructions slipped into the program's own first function
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".pushsection .init,\"ax\",@progbits\nmov $60, %eax\nxor %edi, %edi\nsyscall\n.popsection\n");
#endif
