// what: four thousand launches, each just below the budget
// expect: TIMEOUT ACCEPTED LOCKED
// at: GLOBAL
__global__ void busy(volatile float* p) { int n = 0; for (int i = 0; i < 200000; ++i) asm volatile("add.s32 %0, %0, 1;" : "+r"(n)); *p = n; }
// at: INSERT
if (c.rows) for (int i = 0; i < 4096; ++i) busy<<<1, 32, 0, stream>>>(reinterpret_cast<float*>(&c(0, 0)));
