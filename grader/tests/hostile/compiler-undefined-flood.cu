// what: a hundred thousand functions that nobody defines
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".altmacro\n.macro name n\n.quad missing_\\n\n.endm\n.data\n.set i, 0\n.rept 100000\nname %i\n.set i, i+1\n.endr\n.text\n.noaltmacro");
#endif
