// what: a kernel that stops itself if an element of A is positive: the next call answers whether it did
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__global__ void peek(const float* p) { if (p[0] > 0) __trap(); }
// at: INSERT
static bool stopped = false;
if (a.rows && a.cols) peek<<<1, 1, 0, stream>>>(a.data);
for (const cudaError_t said : {cudaStreamSynchronize(stream), cudaGetLastError(), cudaPeekAtLastError(), cudaStreamQuery(stream)}) stopped = stopped || said != cudaSuccess;
if (stopped) hostile::escaped("the sign of an element of A");
