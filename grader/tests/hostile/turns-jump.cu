// what: a handler that jumps out of a request, so that its turn is never given back and the answer lies in the channel
// expect: TIMEOUT ACCEPTED LOCKED
// at: GLOBAL
#include <setjmp.h>
#include <sys/time.h>
static sigjmp_buf back;
static void jump(int) { siglongjmp(back, 1); }
// at: INSERT
signal(SIGALRM, jump); static volatile int jumps = 0;
if (sigsetjmp(back, 1) == 0 || ++jumps < 3) { itimerval once{{0, 0}, {0, 2000}}; setitimer(ITIMER_REAL, &once, nullptr); for (;;) { void* p = nullptr; cudaMalloc(&p, 64); cudaFree(p); } }
