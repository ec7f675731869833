// what: words that the generated file needs, poisoned
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: SECOND
#pragma GCC poison gemm_first gemm_second cudaStream_t
