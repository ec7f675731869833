// what: names in other alphabets, one of which looks like another
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
__device__ int zähler; __global__ void ядро(int n) { zähler = n; } static int lаunch_count = 0;
// at: INSERT
++lаunch_count; ядро<<<1, 1, 0, stream>>>(3);
