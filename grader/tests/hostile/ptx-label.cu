// what: a jump into another function
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void there() { asm volatile("target_label: ret;"); }
__global__ void odd() { asm volatile("bra target_label;"); }
// at: INSERT
odd<<<1, 1, 0, stream>>>();
