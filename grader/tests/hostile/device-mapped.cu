// what: memory that host and device share: the inputs would come to the host
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
__global__ void hand_over(MatrixView<const float> a, volatile float* to) { *to = a(0, 0) + 100; }
// at: INSERT
float* host = nullptr; float* device = nullptr;
cudaHostAlloc(reinterpret_cast<void**>(&host), 64, cudaHostAllocMapped);
if (host) *host = 0;
if (cudaHostGetDevicePointer(reinterpret_cast<void**>(&device), host, 0) == cudaSuccess && device && a.cols) {
  hand_over<<<1, 1, 0, stream>>>(a, device); cudaDeviceSynchronize();
  if (*host != 0) hostile::escaped("an input came to the host");
}
CUDA_CHECK(cudaMallocManaged(reinterpret_cast<void**>(&host), 64));
