// what: bytes that pass for another compiler's intermediate code, which nm and the linker hand to plugins
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".section .gnu.lto_.symtab.1,\"e\",@progbits\n.fill 4096,1,0xff\n.section .gnu.lto_.opts,\"e\",@progbits\n.asciz \"'-fplugin=/box/evil.so' '-o' '/out/x'\"\n.text");
#endif
