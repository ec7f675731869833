// what: empty sections and groups with the names of the runtime's functions, of which a linker keeps the first it sees
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".section .gnu.linkonce.t._ZN4wire5ErrorC1EPKc,\"ax\",@progbits\nret\n.text\n"
    ".section .text._ZN4wire5Error13runtime_errorEPKc,\"axG\",@progbits,_ZN4wire7ChannelD1Ev,comdat\nret\n.text\n"
    ".section .text.hello,\"axG\",@progbits,_ZN4wire4makeIN6simgpu7runtime8protocol4KindENS3_5HelloEEENS_7MessageET_jRKT0_,comdat\n"
    ".weak _ZN4wire4makeIN6simgpu7runtime8protocol4KindENS3_5HelloEEENS_7MessageET_jRKT0_\n"
    "_ZN4wire4makeIN6simgpu7runtime8protocol4KindENS3_5HelloEEENS_7MessageET_jRKT0_:\nud2\n.text");
#endif
