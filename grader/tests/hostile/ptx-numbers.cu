// what: numbers that no integer holds, in every place for one
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd(int* p) {
#ifdef __CUDA_ARCH__
  asm volatile("{ .reg .b32 x; ld.global.b32 x, [%0+99999999999999999999]; mov.b32 x, 0x1ffffffffffffffffffffff; bar.sync 99999999999; shl.b32 x, x, -9223372036854775808; }" :: "l"(p));
#endif
}
