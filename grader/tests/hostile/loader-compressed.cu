// what: a compressed section of debug information that says it holds an exbibyte
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".section .debug_str,\"C\",@progbits\n.quad 1\n.quad 0x1000000000000000\n.quad 1\n.quad 0x0102030405060708\n.text\n"
    ".section .zdebug_info,\"\",@progbits\n.ascii \"ZLIB\"\n.quad 0xffffffffffffff10\n.quad 0x1122334455667788\n.text");
#endif
