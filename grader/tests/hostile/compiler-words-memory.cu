// what: an error whose text says that the compiler had no memory left
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
static_assert(sizeof(int) == 5, "LLVM ERROR: out of memory: std::bad_alloc");
