// what: names that look as if they had clusters, and two that become one without that mark
// expect: UNSUPPORTED ACCEPTED LOCKED
// at: GLOBAL
__global__ void oddB12cluster_dims() {}
template <int N> __global__ void __attribute__((abi_tag("cluster_dims"))) same() {}
namespace other { template <int N> __global__ void same() {} }
__global__ void first() asm("_Z5againB12cluster_dimsv");
__global__ void first() {}
__global__ void again() {}
// at: INSERT
oddB12cluster_dims<<<1, 1, 0, stream>>>(); same<1><<<1, 1, 0, stream>>>(); other::same<1><<<1, 1, 0, stream>>>(); first<<<1, 1, 0, stream>>>(); again<<<1, 1, 0, stream>>>();
