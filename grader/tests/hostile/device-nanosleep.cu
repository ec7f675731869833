// what: a kernel that sleeps instead of computing
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
__global__ void sleep_long() { for (int i = 0; i < 1000; ++i) asm volatile("nanosleep.u32 1000000;"); }
// at: INSERT
sleep_long<<<1, 1, 0, stream>>>();
