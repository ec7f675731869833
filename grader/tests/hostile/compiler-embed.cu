// what: a file taken in by #embed, or what the compiler says where it does not know it
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
static const unsigned char bytes[] = {
#embed "@SECRET@"
};
