// what: data from the host in the arguments of many launches
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
struct Block { char bytes[4000]; };
__global__ void deliver(Block, float* to) { *to = 0; }
// at: INSERT
for (int i = 0; i < 40; ++i) deliver<<<1, 1>>>(Block{}, reinterpret_cast<float*>(&c(0, 0))), CUDA_CHECK(cudaGetLastError());
