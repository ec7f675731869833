// what: inline assembly with an open string, an open comment and a NUL
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd() { asm volatile("/* no end"); }
// at: INSERT
odd<<<1, 1, 0, stream>>>();
