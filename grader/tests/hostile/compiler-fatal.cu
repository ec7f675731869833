// what: the compiler told to end itself, by words that it has for its own tests
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#pragma clang __debug llvm_fatal_error
