// what: operator new that has nothing to give
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
static bool greedy = false;
void* operator new(std::size_t bytes) { return greedy ? nullptr : std::malloc(bytes); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
// at: INSERT
greedy = true;
