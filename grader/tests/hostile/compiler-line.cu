// what: debug info that names another file
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#line 4000000 "@SECRET@"
__device__ int far_away;
