// what: a kernel that the host sees and the device does not
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
#ifndef __CUDA_ARCH__
__global__ void ghost() {}
#endif
// at: INSERT
#ifndef __CUDA_ARCH__
ghost<<<1, 1, 0, stream>>>(); CUDA_CHECK(cudaGetLastError());
#endif
