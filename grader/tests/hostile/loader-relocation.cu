// what: relocations as no compiler makes them
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".pushsection .data\nodd: .quad 0\n.reloc odd, R_X86_64_COPY, main\n.reloc odd, R_X86_64_IRELATIVE, main\n.reloc odd+1000000, R_X86_64_64, main\n.popsection\n");
#endif
