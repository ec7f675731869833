// what: a child of a fork, where there is one, that asks for the device by its parent's channel
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
if (fork() == 0) { for (int i = 0; i < 1000; ++i) { void* p = nullptr; cudaMalloc(&p, 64); cudaFree(p); } _exit(0); }
for (int i = 0; i < 1000; ++i) { void* p = nullptr; cudaMalloc(&p, 64); cudaFree(p); }
