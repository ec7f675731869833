// what: what clang says of a linker that somebody killed, in a source that does not compile
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
clang: error: unable to execute command: Killed
clang: error: linker command failed due to signal (use -v to see invocation)
#error clang: error: unable to execute command: Killed
