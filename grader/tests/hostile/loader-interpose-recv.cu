// what: the runner's own calls replaced: what the worker says is not heard
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
struct msghdr;
extern "C" ssize_t recv(int, void*, size_t, int) { return 0; }
extern "C" ssize_t recvmsg(int, struct msghdr*, int) { return 0; }
