// what: a function that calls itself for ever
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__device__ __noinline__ int deeper(volatile int* p, int n) { return n < 0 ? n : deeper(p, n + 1) + p[0] + deeper(p, n + 2); }
__global__ void odd(int* p) { *p = deeper(p, *p & 1); }
// at: INSERT
if (c.rows) odd<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(&c(0, 0)));
