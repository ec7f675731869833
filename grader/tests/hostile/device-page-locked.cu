// what: the same through page-locked memory with an address on the device
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
__global__ void peek(const float* p, float* q) { q[0] = p[0]; }
// at: INSERT
float *q = nullptr, *there = nullptr;
if (cudaHostAlloc(&q, 64, cudaHostAllocMapped) == cudaSuccess && cudaHostGetDevicePointer(&there, q, 0) == cudaSuccess) {
  q[0] = 0;
  if (a.rows && a.cols) peek<<<1, 1, 0, stream>>>(a.data, there);
  cudaStreamSynchronize(stream);
  if (q[0] != 0) hostile::escaped("an element of A");
}
