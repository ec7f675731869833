// what: a name made of macros is included in place of one that a search would find
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#define NAME(x) <x>
#define PASTE(x, y) NAME(x##y)
#include PASTE(/etc/pass, wd)
