// what: the same in PTX
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd() { asm volatile(".incbin \"@SECRET@\";"); }
