// what: a thread that goes on calling when the launcher has returned
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
#include <thread>
// at: INSERT
static bool begun = false;
if (!begun) { begun = true; std::thread([] { for (;;) { void* p = nullptr; if (cudaMalloc(&p, 16) == cudaSuccess) cudaFree(p); } }).detach(); }
