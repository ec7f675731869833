// what: unwind tables and notes of nonsense, for the linker to make sense of
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".section .eh_frame,\"a\",@progbits\n.long 0x7fffffff\n.long 0\n.quad -1\n.text\n"
    ".section .note.gnu.property,\"a\",@note\n.long 4\n.long 0x7ffffff0\n.long 5\n.asciz \"GNU\"\n.quad -1\n.text\n"
    ".section .stab,\"\",@progbits\n.fill 12,1,255\n.text");
#endif
