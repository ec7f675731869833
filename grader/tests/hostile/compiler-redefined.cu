// what: a word of the generated file redefined behind the last function: no launcher is instantiated
// expect: COMPILE_ERROR COMPILE_ERROR LOCKED
// at: SECOND
#define template extern template
