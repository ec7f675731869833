// what: clusters of no block, of too many, of sizes that wrap, and of less than none
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
__global__ void __cluster_dims__(255, 255, 255) most() {}
__global__ void __cluster_dims__(256) wraps() {}
__global__ void __cluster_dims__(16, 2) many() {}
// at: INSERT
most<<<1, 1, 0, stream>>>(); wraps<<<1, 1, 0, stream>>>(); many<<<32, 1, 0, stream>>>();
