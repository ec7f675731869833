// what: a compiler that crashes
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#pragma clang __debug crash
