// what: a stack without an end
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
__attribute__((noinline, optnone)) static int down(int n) { volatile char frame[4096]; frame[n & 4095] = 1; return down(n + 1) + frame[0]; }
// at: INSERT
down(0);
