// what: clusters of another size, another kernel and an error in the second pass than in the first
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#ifdef __SIMGPU_CLUSTER_PASS
__global__ void __cluster_dims__(16) odd(int) {}
#error </pre><script>only the second pass says this</script>
#else
__global__ void __cluster_dims__(2) odd() {}
#endif
// at: INSERT
odd<<<2, 1, 0, stream>>>();
