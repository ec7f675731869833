// what: debug info made by hand: a file elsewhere, a line beyond all lines, a finding there
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__global__ void odd(float* p) {
#ifdef __CUDA_ARCH__
  asm volatile(".loc 99 4294967295 4294967295\n\tst.global.f32 [%0], 0f00000000;" :: "l"(p + (1l << 30)) : "memory");
#endif
}
#ifdef __CUDA_ARCH__
asm(".file 99 \"@SECRET@\"");
#endif
// at: INSERT
if (c.rows) odd<<<1, 1, 0, stream>>>(reinterpret_cast<float*>(&c(0, 0)));
