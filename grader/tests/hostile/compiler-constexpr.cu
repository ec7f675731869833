// what: a computation that never ends, while compiling
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
constexpr int endless() { int n = 0; for (;;) n ^= 1; return n; }
constexpr int never = endless();
