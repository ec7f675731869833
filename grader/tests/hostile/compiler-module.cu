// what: modules: files that the compiler would look for, build and keep
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#pragma clang module build hostile
module hostile { header "@SECRET@" export * }
#pragma clang module contents
#pragma clang module begin hostile
int hidden;
#pragma clang module end
#pragma clang module endbuild
#pragma clang module import hostile
