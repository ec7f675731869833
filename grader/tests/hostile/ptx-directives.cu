// what: directives of whole modules inside a kernel
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd() {
#ifdef __CUDA_ARCH__
  asm volatile(".version 9.9");
  asm volatile(".target sm_999, debug");
  asm volatile(".section .debug_info { .b8 1 }");
  asm volatile(".alias a, b;");
#endif
}
