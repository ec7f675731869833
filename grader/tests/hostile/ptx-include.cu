// what: the same in PTX, by every word that an assembler might have for it
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd() {
#ifdef __CUDA_ARCH__
  asm volatile(".include \"@SECRET@\"\n#include \"@SECRET@\"\n");
#endif
}
