// what: alignments and vectors that no compiler makes
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd() { asm volatile("{ .shared .align 1073741824 .b8 huge[16]; .reg .b32 %t; ld.shared.u32 %t, [huge]; }"); }
// at: INSERT
odd<<<1, 1, 0, stream>>>();
