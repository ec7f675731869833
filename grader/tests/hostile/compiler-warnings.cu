// what: more warnings than anybody reads, in a file that compiles
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#define W1 _Pragma("message(\"<script>alert(1)</script> 0123456789012345678901234567890123456789\")")
#define W10 W1 W1 W1 W1 W1 W1 W1 W1 W1 W1
#define W100 W10 W10 W10 W10 W10 W10 W10 W10 W10 W10
W100 W100 W100 W100 W100 W100 W100 W100 W100 W100
