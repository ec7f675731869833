// what: a barrier of a number and for a count of threads that there cannot be, known only when it runs
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__global__ void odd(int number, int threads) {
#ifdef __CUDA_ARCH__
  asm volatile("barrier.sync %0, %1;" :: "r"(number), "r"(threads));
#endif
}
// at: INSERT
odd<<<1, 32, 0, stream>>>(-1, -32);
