// what: requests from inside a function that a stream calls on the host
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
static void asks(void* stream) { void* p = nullptr; cudaMalloc(&p, 64); cudaFree(p); (void)stream; }
// at: INSERT
cudaLaunchHostFunc(stream, asks, stream);
