// what: before all other constructors: the connection is closed and a file opened in its place
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
__attribute__((constructor(101))) static void first() { close(3); open("/dev/null", O_RDWR); }
