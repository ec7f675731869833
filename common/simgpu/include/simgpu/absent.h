// What the simulated GPU does not have, so that a program that uses it gets one sentence and no list
// of unknown names. Part of <cuda_runtime.h>.
#pragma once
#pragma GCC system_header

#define __SIMGPU_ABSENT(Name, Why) \
  template <typename... Anything>  \
  __attribute__((host, device, unavailable("simgpu: " Why))) int Name(Anything&&...);
#define __SIMGPU_NO_TEXTURES \
  "textures and surfaces are not supported: read the array through a const pointer and __ldg()"
#define __SIMGPU_NO_GRAPHS "graphs are not supported: launch the kernels directly"
#define __SIMGPU_NO_ARRAYS "CUDA arrays are not supported: allocate with cudaMallocPitch"

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
template <class T, int Dimensions = 1, enum cudaTextureReadMode = cudaReadModeElementType>
struct texture {
  static_assert(sizeof(T) == 0, "simgpu: " __SIMGPU_NO_TEXTURES);
};

__SIMGPU_ABSENT(cudaCreateTextureObject, __SIMGPU_NO_TEXTURES)
__SIMGPU_ABSENT(cudaDestroyTextureObject, __SIMGPU_NO_TEXTURES)
__SIMGPU_ABSENT(cudaCreateSurfaceObject, __SIMGPU_NO_TEXTURES)
__SIMGPU_ABSENT(cudaBindTexture, __SIMGPU_NO_TEXTURES)
__SIMGPU_ABSENT(cudaBindTexture2D, __SIMGPU_NO_TEXTURES)
__SIMGPU_ABSENT(cudaBindTextureToArray, __SIMGPU_NO_TEXTURES)
__SIMGPU_ABSENT(cudaUnbindTexture, __SIMGPU_NO_TEXTURES)
template <class T>
__attribute__((host, device, unavailable("simgpu: " __SIMGPU_NO_TEXTURES))) T tex1Dfetch(
    cudaTextureObject_t, int);
template <class T>
__attribute__((host, device, unavailable("simgpu: " __SIMGPU_NO_TEXTURES))) T tex1D(
    cudaTextureObject_t, float);
template <class T>
__attribute__((host, device, unavailable("simgpu: " __SIMGPU_NO_TEXTURES))) T tex2D(
    cudaTextureObject_t, float, float);
template <class T>
__attribute__((host, device, unavailable("simgpu: " __SIMGPU_NO_TEXTURES))) T tex3D(
    cudaTextureObject_t, float, float, float);
__SIMGPU_ABSENT(cudaMallocArray, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaMalloc3DArray, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaFreeArray, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaMemcpyToArray, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaMemcpy2DToArray, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaGraphCreate, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddKernelNode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddMemcpyNode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddNode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaIpcGetMemHandle, "several processes on one device are not supported")
__SIMGPU_ABSENT(cudaMemcpyPeerAsync, "there is one simulated device")

#undef __SIMGPU_ABSENT
#undef __SIMGPU_NO_TEXTURES
#undef __SIMGPU_NO_GRAPHS
#undef __SIMGPU_NO_ARRAYS
