// what: a symbol that ends the string it is written into: code of its own in the generated table
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#ifndef __CUDA_ARCH__
extern "C" void forged() __asm__("_Z10gemm_firstI13a\");static_assEv10MatrixViewIKfES3_S1_IfEP11CUstream_st");
extern "C" void forged() {}
#endif
