// what: more messages than anybody reads
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#define E1 undefined_name;
#define E10 E1 E1 E1 E1 E1 E1 E1 E1 E1 E1
#define E100 E10 E10 E10 E10 E10 E10 E10 E10 E10 E10
#define E1000 E100 E100 E100 E100 E100 E100 E100 E100 E100 E100
void flood() { E1000 E1000 E1000 }
