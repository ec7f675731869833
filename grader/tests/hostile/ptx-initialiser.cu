// what: an initialiser with the address of something else, and more elements than the array
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd() { asm volatile("ret; }\n.global .u64 far[2] = {odd_nowhere, 1, 2, 3};\n.entry more() { ret;"); }
// at: INSERT
odd<<<1, 1, 0, stream>>>();
