// what: a second pass for clusters that writes half a million opening braces, which nothing closes
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#define X8(s) s s s s s s s s
#ifdef __SIMGPU_CLUSTER_PASS
asm(X8(X8(X8(X8(X8(X8("{ { { ")))))));
#endif
__global__ void __cluster_dims__(2) odd() {}
// at: INSERT
odd<<<2, 1, 0, stream>>>();
