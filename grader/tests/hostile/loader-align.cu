// what: a byte that must lie at a multiple of a gibibyte, in every section: a program of gibibytes, nearly all of it holes
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
asm(".data\n.balign 0x40000000\n.byte 1\n.bss\n.balign 0x40000000\n.zero 8\n.text\n.balign 0x40000000\nnop");
