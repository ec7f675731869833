// The CUDA keywords as clang attributes. Part of every header here; programs include
// <cuda_runtime.h>.
#pragma once
#pragma GCC system_header

#if defined(__CUDA__)  // clang, -x cuda
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
// In an unnamed namespace, older versions of clang take a variable for a constant 0 that the host
// cannot reach, unless it is `used`; newer ones see that the host writes it, but not if it is
// `used`.
#if __clang_major__ < 17
#define __constant__ __attribute__((constant, used))
#else
#define __constant__ __attribute__((constant))
#endif
// A variable of the device whose place on the host is the program's own to use: the runtime knows it
// by the section, and copies its bytes around each launch.
#define __managed__ __attribute__((device, section("simgpu_managed")))
// nvcc takes `__shared__ alignas(128) float tile[64]`, which the programming guide writes; for clang,
// alignas must come first. Its own attribute may stand anywhere, but takes no types: as a parameter
// of unsigned(...), a type makes a type, and a value a value.
namespace __simgpu {
template <class Types>
struct alignment_of;
template <>
struct alignment_of<unsigned()> {
  static constexpr unsigned value = 1;
};
template <class First, class... Others>
struct alignment_of<unsigned(First, Others...)> {
  static constexpr unsigned value = alignof(First) > alignment_of<unsigned(Others...)>::value
                                        ? alignof(First)
                                        : alignment_of<unsigned(Others...)>::value;
};
template <class Types>
constexpr unsigned alignment() {
  return alignment_of<Types>::value;
}
template <unsigned Value>
constexpr unsigned alignment() {
  return Value == 0 ? 1 : Value;
}
}  // namespace __simgpu
#define alignas(...) __attribute__((aligned(::__simgpu::alignment<unsigned(__VA_ARGS__)>())))
// clang has no attribute for clusters: the kernel's name says that it has some. How large they are, which
// may be any constant, a template's too, is asked in a pass of its own (ptx/clusters.hpp), by the one
// attribute that carries a number into PTX.
#define __SIMGPU_HAS_CLUSTERS abi_tag("cluster_dims")
namespace __simgpu {
constexpr unsigned cluster_extent(unsigned blocks) {
  return blocks < 255 ? blocks : 255;
}
constexpr unsigned cluster_dims(unsigned x, unsigned y = 1, unsigned z = 1) {
  return cluster_extent(x) + (cluster_extent(y) << 8) + (cluster_extent(z) << 16);
}
constexpr unsigned any_cluster(unsigned, unsigned = 1, unsigned = 1) {
  return 16;
}
}  // namespace __simgpu
#ifdef __SIMGPU_CLUSTER_PASS
#define __cluster_dims__(...) \
  __attribute__((__SIMGPU_HAS_CLUSTERS, launch_bounds(::__simgpu::cluster_dims(__VA_ARGS__))))
#define __launch_bounds__(...)
#else
// Here the extents mean nothing, and are used.
#define __cluster_dims__(...) \
  __attribute__((__SIMGPU_HAS_CLUSTERS, aligned(::__simgpu::any_cluster(__VA_ARGS__))))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#endif
// A plain parameter, which clang may copy to local memory; the engine does not count that copy of a
// tensor map.
#define __grid_constant__
#else  // an ordinary C++ compiler: the host API and the vector types only
#define __host__
#define __device__
#endif

#define __forceinline__ __inline__ __attribute__((always_inline))
// libstdc++ writes __attribute__((__noinline__)), which a macro of that name would break. From
// clang 15 on
// __noinline__ is a keyword in CUDA; for clang 14 it means nothing, which changes no result.
#if defined(__CUDA__) && __clang_major__ < 15
#define __noinline__
#endif
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define CUDARTAPI
#define CUDART_CB

// Functions of these headers carry no debug information, so that a memory instruction inside one
// belongs to the line that called it, and are always inlined, so that the compiler sees which
// memory a pointer means.
#if defined(__CUDA__)
#define __SIMGPU_DEVICE static __inline__ __attribute__((device, nodebug, always_inline))
#define __SIMGPU_BOTH static __inline__ __attribute__((host, device, nodebug, always_inline))
#define __SIMGPU_EVERYWHERE __attribute__((host, device, nodebug, always_inline))
#else
#define __SIMGPU_BOTH static inline
#define __SIMGPU_EVERYWHERE
#endif
