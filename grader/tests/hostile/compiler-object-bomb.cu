// what: an object file of terabytes
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
asm(".data\n.zero 0x40000000000\n.text");
