// what: one code for clang's host pass and another for its device pass
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
#ifdef __CUDA_ARCH__
__global__ void two_faces(int, int) {}
#else
__global__ void two_faces(int) {}
#endif
// at: INSERT
#ifndef __CUDA_ARCH__
two_faces<<<1, 1, 0, stream>>>(1);
#endif
