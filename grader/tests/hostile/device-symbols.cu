// what: a variable written beyond its end, with data of the host, next to which others lie
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
__device__ float small[4], next[1024]; __global__ void use(int i) { small[i & 3] = next[i]; }
// at: INSERT
use<<<1, 1, 0, stream>>>(3);
static const char data[1024] = {};
if (cudaMemcpyToSymbol(small, data, 1024, 0) == cudaSuccess || cudaMemcpyToSymbol(small, data, 4, size_t{0} - 64) == cudaSuccess) hostile::escaped("beyond a variable");
CUDA_CHECK(cudaMemcpyToSymbol(small, data, 4, 1 << 20));
