// what: the rest of the file declared a system header, so that nothing is said of it
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#pragma GCC system_header
#pragma clang diagnostic ignored "-Weverything"
static_assert(sizeof(int) == 5, "hidden");
