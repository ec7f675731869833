// what: the only thread leaves, by unwinding
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
#include <pthread.h>
// at: INSERT
pthread_exit(nullptr);
