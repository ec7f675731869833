// what: a file that waits for somebody to type
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#include "/dev/stdin"
