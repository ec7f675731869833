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
__SIMGPU_ABSENT(cudaDestroySurfaceObject, __SIMGPU_NO_TEXTURES)
__SIMGPU_ABSENT(cudaDeviceGetTexture1DLinearMaxWidth, __SIMGPU_NO_TEXTURES)
__SIMGPU_ABSENT(cudaGetChannelDesc, __SIMGPU_NO_TEXTURES)
__SIMGPU_ABSENT(cudaGetSurfaceObjectResourceDesc, __SIMGPU_NO_TEXTURES)
__SIMGPU_ABSENT(cudaGetTextureObjectResourceDesc, __SIMGPU_NO_TEXTURES)
__SIMGPU_ABSENT(cudaGetTextureObjectResourceViewDesc, __SIMGPU_NO_TEXTURES)
__SIMGPU_ABSENT(cudaGetTextureObjectTextureDesc, __SIMGPU_NO_TEXTURES)
__SIMGPU_ABSENT(cudaArrayGetInfo, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaArrayGetMemoryRequirements, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaArrayGetPlane, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaArrayGetSparseProperties, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaFreeMipmappedArray, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaGetMipmappedArrayLevel, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaMallocMipmappedArray, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaMemcpy2DArrayToArray, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaMemcpy2DFromArray, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaMemcpy2DFromArrayAsync, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaMemcpy2DToArrayAsync, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaMemcpyArrayToArray, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaMemcpyFromArray, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaMemcpyFromArrayAsync, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaMemcpyToArrayAsync, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaMipmappedArrayGetMemoryRequirements, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaMipmappedArrayGetSparseProperties, __SIMGPU_NO_ARRAYS)
__SIMGPU_ABSENT(cudaGraphAddChildGraphNode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddDependencies, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddEmptyNode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddEventRecordNode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddEventWaitNode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddExternalSemaphoresSignalNode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddExternalSemaphoresWaitNode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddHostNode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddMemAllocNode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddMemFreeNode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddMemcpyNode1D, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddMemcpyNodeFromSymbol, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddMemcpyNodeToSymbol, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphAddMemsetNode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphChildGraphNodeGetGraph, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphClone, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphConditionalHandleCreate, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphDebugDotPrint, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphDestroyNode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphEventRecordNodeGetEvent, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphEventRecordNodeSetEvent, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphEventWaitNodeGetEvent, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphEventWaitNodeSetEvent, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecChildGraphNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecEventRecordNodeSetEvent, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecEventWaitNodeSetEvent, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecExternalSemaphoresSignalNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecExternalSemaphoresWaitNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecGetFlags, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecHostNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecKernelNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecMemcpyNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecMemcpyNodeSetParams1D, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecMemcpyNodeSetParamsFromSymbol, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecMemcpyNodeSetParamsToSymbol, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecMemsetNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExecUpdate, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExternalSemaphoresSignalNodeGetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExternalSemaphoresSignalNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExternalSemaphoresWaitNodeGetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphExternalSemaphoresWaitNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphGetEdges, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphGetNodes, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphGetRootNodes, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphHostNodeGetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphHostNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphInstantiateWithFlags, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphInstantiateWithParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphKernelNodeCopyAttributes, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphKernelNodeGetAttribute, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphKernelNodeGetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphKernelNodeSetAttribute, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphKernelNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphMemAllocNodeGetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphMemFreeNodeGetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphMemcpyNodeGetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphMemcpyNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphMemcpyNodeSetParams1D, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphMemcpyNodeSetParamsFromSymbol, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphMemcpyNodeSetParamsToSymbol, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphMemsetNodeGetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphMemsetNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphNodeFindInClone, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphNodeGetDependencies, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphNodeGetDependentNodes, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphNodeGetEnabled, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphNodeGetType, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphNodeSetEnabled, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphNodeSetParams, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphReleaseUserObject, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphRemoveDependencies, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphRetainUserObject, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaGraphUpload, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaStreamBeginCaptureToGraph, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaStreamGetCaptureInfo, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaStreamUpdateCaptureDependencies, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaThreadExchangeStreamCaptureMode, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaUserObjectCreate, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaUserObjectRelease, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaUserObjectRetain, __SIMGPU_NO_GRAPHS)
__SIMGPU_ABSENT(cudaIpcCloseMemHandle, "several processes on one device are not supported")
__SIMGPU_ABSENT(cudaIpcGetEventHandle, "several processes on one device are not supported")
__SIMGPU_ABSENT(cudaIpcOpenEventHandle, "several processes on one device are not supported")
__SIMGPU_ABSENT(cudaIpcOpenMemHandle, "several processes on one device are not supported")
__SIMGPU_ABSENT(cudaDestroyExternalMemory, "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(cudaDestroyExternalSemaphore, "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(cudaExternalMemoryGetMappedBuffer, "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(cudaExternalMemoryGetMappedMipmappedArray,
                "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(cudaGraphicsMapResources, "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(cudaGraphicsResourceGetMappedMipmappedArray,
                "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(cudaGraphicsResourceGetMappedPointer,
                "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(cudaGraphicsResourceSetMapFlags, "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(cudaGraphicsSubResourceGetMappedArray,
                "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(cudaGraphicsUnmapResources, "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(cudaGraphicsUnregisterResource, "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(cudaImportExternalMemory, "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(cudaImportExternalSemaphore, "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(cudaSignalExternalSemaphoresAsync, "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(cudaWaitExternalSemaphoresAsync, "sharing memory with graphics is not supported")
__SIMGPU_ABSENT(
    cudaGetFuncBySymbol,
    "code that is loaded at run time is not supported: compile the kernel with the program")
__SIMGPU_ABSENT(
    cudaGetKernel,
    "code that is loaded at run time is not supported: compile the kernel with the program")
__SIMGPU_ABSENT(
    cudaLibraryEnumerateKernels,
    "code that is loaded at run time is not supported: compile the kernel with the program")
__SIMGPU_ABSENT(
    cudaLibraryGetGlobal,
    "code that is loaded at run time is not supported: compile the kernel with the program")
__SIMGPU_ABSENT(
    cudaLibraryGetKernel,
    "code that is loaded at run time is not supported: compile the kernel with the program")
__SIMGPU_ABSENT(
    cudaLibraryGetKernelCount,
    "code that is loaded at run time is not supported: compile the kernel with the program")
__SIMGPU_ABSENT(
    cudaLibraryGetManaged,
    "code that is loaded at run time is not supported: compile the kernel with the program")
__SIMGPU_ABSENT(
    cudaLibraryGetUnifiedFunction,
    "code that is loaded at run time is not supported: compile the kernel with the program")
__SIMGPU_ABSENT(
    cudaLibraryLoadData,
    "code that is loaded at run time is not supported: compile the kernel with the program")
__SIMGPU_ABSENT(
    cudaLibraryLoadFromFile,
    "code that is loaded at run time is not supported: compile the kernel with the program")
__SIMGPU_ABSENT(
    cudaLibraryUnload,
    "code that is loaded at run time is not supported: compile the kernel with the program")

// Since compute capability 7.0 those without _sync are gone; they would not say who takes part.
#define __SIMGPU_GONE(Name) \
  __SIMGPU_ABSENT(Name, "this is gone since compute capability 7.0: use " #Name "_sync()")
__SIMGPU_GONE(__all)
__SIMGPU_GONE(__any)
__SIMGPU_GONE(__ballot)
__SIMGPU_GONE(__shfl)
__SIMGPU_GONE(__shfl_down)
__SIMGPU_GONE(__shfl_up)
__SIMGPU_GONE(__shfl_xor)
#undef __SIMGPU_GONE

#undef __SIMGPU_ABSENT
#undef __SIMGPU_NO_TEXTURES
#undef __SIMGPU_NO_GRAPHS
#undef __SIMGPU_NO_ARRAYS
