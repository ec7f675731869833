// what: a file taken into the program by the assembler, to be printed when it runs
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
asm(".data\n.global stolen\nstolen: .incbin \"@SECRET@\"\n.byte 0\n.text");
