// what: a gigabyte of shared memory
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd(int i) { __shared__ volatile char huge[1 << 30]; huge[i] = 1; }
// at: INSERT
odd<<<1, 1, 0, stream>>>(5); CUDA_CHECK(cudaGetLastError());
