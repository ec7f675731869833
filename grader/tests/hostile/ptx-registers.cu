// what: a thousand million registers
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd() { asm volatile("{ .reg .b32 %%huge<1000000000>; mov.b32 %%huge999999999, 1; }"); }
