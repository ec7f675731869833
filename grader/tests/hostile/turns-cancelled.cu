// what: a thread that is cancelled in the middle of a request
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
#include <pthread.h>
static void* asks(void*) { pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr); for (;;) { void* p = nullptr; cudaMalloc(&p, 64); cudaFree(p); } return nullptr; }
// at: INSERT
for (int i = 0; i < 20; ++i) { pthread_t t; pthread_create(&t, nullptr, asks, nullptr); usleep(500 + i * 37); pthread_cancel(t); pthread_join(t, nullptr); }
