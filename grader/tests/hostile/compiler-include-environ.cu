// what: the environment of the compiler
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#include "/proc/self/environ"
