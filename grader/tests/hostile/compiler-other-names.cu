// what: main and memcpy given other names, by pragmas that only the linker would notice
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#pragma redefine_extname memcpy my_memcpy
#pragma weak main
#pragma redefine_extname main other_main
