// what: flags for the compiler, in the file
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#pragma clang __debug dump hostile
#pragma comment(linker, "-rpath=@SECRET@")
