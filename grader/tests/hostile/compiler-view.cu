// what: MatrixView renamed behind the last function: the generated lines name another type
// expect: COMPILE_ERROR COMPILE_ERROR LOCKED
// at: GLOBAL
template <typename T> struct Mine {};
// at: SECOND
#define MatrixView Mine
