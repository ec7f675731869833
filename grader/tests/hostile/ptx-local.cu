// what: a gigabyte of local memory in each of many threads
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__global__ void odd(int i) { volatile char huge[1 << 30]; huge[i] = 1; if (huge[i / 2] == 7) huge[0] = 1; }
// at: INSERT
odd<<<1024, 1024, 0, stream>>>(5); CUDA_CHECK(cudaGetLastError());
