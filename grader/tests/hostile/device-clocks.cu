// what: clocks, numbers of multiprocessors and timers: anything that differs from run to run
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
__device__ unsigned long long seen[4];
__global__ void look() { unsigned sm; unsigned long long t; asm volatile("mov.u32 %0, %%smid;" : "=r"(sm)); asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); seen[0] = sm; seen[1] = t; seen[2] = clock64(); }
// at: INSERT
look<<<1, 1, 0, stream>>>();
