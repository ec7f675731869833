// what: two megabytes of constant memory, where the inputs could be kept and read for nothing
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__constant__ float table[1 << 19];
__global__ void odd(float* p, int i) { *p = table[i]; }
// at: INSERT
odd<<<1, 1, 0, stream>>>(c.data, 5); CUDA_CHECK(cudaGetLastError());
