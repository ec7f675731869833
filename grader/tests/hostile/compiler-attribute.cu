// what: an attribute pushed on all that follows, the generated lines included
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#pragma clang attribute push(__attribute__((annotate("mine"))), apply_to = function)
