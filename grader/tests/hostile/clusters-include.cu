// what: another file, included only by the second pass for clusters
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#ifdef __SIMGPU_CLUSTER_PASS
#include "@SECRET@"
#endif
__global__ void __cluster_dims__(2) odd() {}
// at: INSERT
odd<<<2, 1, 0, stream>>>();
