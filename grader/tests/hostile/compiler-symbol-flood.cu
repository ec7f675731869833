// what: an object with a million global names, for whoever lists them
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".altmacro\n.macro name n\n.globl flood_\\n\nflood_\\n:\n.endm\n.set i, 0\n.rept 300000\nname %i\n.set i, i+1\n.endr\n.noaltmacro");
#endif
