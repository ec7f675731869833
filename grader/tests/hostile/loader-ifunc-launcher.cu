// what: a launcher that the loader must resolve: a call of it runs code before anybody called
// expect: COMPILE_ERROR ACCEPTED LOCKED
// at: GLOBAL
#ifndef __CUDA_ARCH__
asm(".type _Z10gemm_firstIffEv10MatrixViewIKT_ES3_S0_IT0_EP11CUstream_st, @gnu_indirect_function\n.globl _Z10gemm_firstIffEv10MatrixViewIKT_ES3_S0_IT0_EP11CUstream_st");
#endif
