// what: a handler that asks for the device while its thread has its turn there
// expect: TIMEOUT ACCEPTED LOCKED
// at: GLOBAL
#include <sys/time.h>
static void ask(int) { void* p = nullptr; cudaMalloc(&p, 64); cudaFree(p); }
// at: INSERT
signal(SIGALRM, ask); itimerval often{{0, 300}, {0, 300}}; setitimer(ITIMER_REAL, &often, nullptr);
for (int i = 0; i < 200000; ++i) { void* p = nullptr; cudaMalloc(&p, 64); cudaFree(p); }
