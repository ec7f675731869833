// what: a terabyte of global memory
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__device__ char huge[1ull << 40]; __global__ void odd(long i) { huge[i] = 1; }
