// what: prints a lot from a kernel
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
__global__ void chatty() { for (int i = 0; i < 200; ++i) printf("%s %n? </system-out> \x1b[31m %d\n", "x", i); }
// at: INSERT
chatty<<<1, 32, 0, stream>>>();
