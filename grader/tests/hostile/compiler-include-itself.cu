// what: a file that includes itself for ever
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#include __FILE__
