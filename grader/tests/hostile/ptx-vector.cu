// what: vectors that are wider, narrower and of other types than the instruction
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd(float* at) {
#ifdef __CUDA_ARCH__
  asm volatile("{ .reg .f32 x<9>; ld.global.v8.f32 {x0, x1, x2}, [%0]; st.global.v4.b8 [%0], {x0, x0, x0, x0, x0}; }" :: "l"(at));
#endif
}
