// what: what the CUDA calls answer after a kernel that died: nothing that depends on data
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__global__ void trap() { __trap(); }
// at: INSERT
size_t before = 0, after = 0, all = 0;
cudaMemGetInfo(&before, &all);
trap<<<1, 1, 0, stream>>>();
void* p = nullptr;
const bool told = cudaGetLastError() || cudaDeviceSynchronize() || cudaStreamQuery(stream) || cudaMalloc(&p, 64) || cudaMemset(p, 0, 64) || cudaFree(p) || cudaPeekAtLastError();
cudaMemGetInfo(&after, &all);
if (told || before != after) hostile::escaped("a reply depends on what the kernel did");
