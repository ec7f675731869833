// what: a message of sixteen mebibytes, said again and again by the compiler, warning by warning
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#define A0 "0123456789abcdef"
#define A1 A0 A0 A0 A0 A0 A0 A0 A0 A0 A0 A0 A0 A0 A0 A0 A0
#define A2 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1
#define A3 A2 A2 A2 A2 A2 A2 A2 A2 A2 A2 A2 A2 A2 A2 A2 A2
#define A4 A3 A3 A3 A3 A3 A3 A3 A3 A3 A3 A3 A3 A3 A3 A3 A3
__attribute__((deprecated(A4 A4 A4 A4 A4 A4 A4 A4 A4 A4 A4 A4 A4 A4 A4 A4))) void old() {}
#define O1 old(); old(); old(); old(); old(); old(); old(); old(); old(); old();
#define O2 O1 O1 O1 O1 O1 O1 O1 O1 O1 O1
void all() { O2 }
