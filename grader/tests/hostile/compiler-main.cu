// what: a main of one's own
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
int main() { hostile::escaped("main"); }
