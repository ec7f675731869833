// what: is a file newer than this one? the answer says whether it is there
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#pragma GCC dependency "@SECRET@" is older
