// what: options for the linker in sections that some linkers obey
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".section .linker-options,\"e\",@0x6fff4c01\n.asciz \"--dynamic-linker\"\n.asciz \"/evil\"\n.text\n"
    ".section .drectve,\"\"\n.ascii \" -entry:evil INPUT(@SECRET@) \"\n.text\n"
    ".section .note.package,\"\"\n.asciz \"INSERT AFTER .text; INPUT(@SECRET@)\"\n.text");
#endif
