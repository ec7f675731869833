// what: a branch to a target beyond the table
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
__global__ void odd(int i) {
#ifdef __CUDA_ARCH__
  asm volatile("{ table%=: .branchtargets here%=; brx.idx %0, table%=; here%=: }" :: "r"(i));
#endif
}
// at: INSERT
odd<<<1, 32, 0, stream>>>(100000);
