// what: variables of the device called as the matrices and as words of the messages, missed by far
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
extern "C" { __device__ float A[3], B, C[1]; __device__ int scratch[5]; __device__ float ACCEPTED[2]; __device__ short of; }
__global__ void misses(int far) { C[far] = A[far] + B + scratch[far] + ACCEPTED[far]; of = 1; ((float*)&of)[-far] = A[0]; }
// at: INSERT
misses<<<1, 32, 0, stream>>>(c.rows + 77), cudaGetLastError(); misses<<<1, 32, 0, stream>>>(1 << 29);
