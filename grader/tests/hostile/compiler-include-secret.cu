// what: another file, included by its path: its lines would stand in the diagnostics
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#include "@SECRET@"
