// what: requests from destructors of a thread's own variables, after the launcher's last word
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
struct Late { ~Late() { void* p = nullptr; cudaMalloc(&p, 64); cudaFree(p); } int used = 0; };
static thread_local Late late;
// at: INSERT
late.used = 1;
