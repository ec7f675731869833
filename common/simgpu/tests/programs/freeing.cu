// What each way of giving memory back says about memory of another kind, and whether the right one works afterwards: as on an
// H200 (CUDA 13.0).
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

static void say(const char* what, cudaError_t status) {
  const cudaError_t last = cudaGetLastError();
  std::printf("%s: %s%s\n", what, cudaGetErrorName(status), last == status ? "" : " (last error: another)");
}

int main() {
  void *pinned, *device, *mapped, *there, *managed, *pooled;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMallocHost(&pinned, 1 << 20);
  cudaHostAlloc(&mapped, 1 << 20, cudaHostAllocMapped);
  cudaHostGetDevicePointer(&there, mapped, 0);
  cudaMalloc(&device, 1 << 20);
  cudaMallocManaged(&managed, 1 << 20);
  cudaMallocAsync(&pooled, 1 << 20, stream);
  void* const plain = std::malloc(1 << 20);
  void* registered = nullptr;
  if (posix_memalign(&registered, 4096, 1 << 20)) return 1;
  say("setting up", cudaHostRegister(registered, 1 << 20, cudaHostRegisterDefault));

  say("cudaFree of page-locked memory", cudaFree(pinned));
  say("cudaFree of mapped memory", cudaFree(mapped));
  say("cudaFree of its address on the device", cudaFree(there));
  say("cudaFree of registered memory", cudaFree(registered));
  say("cudaFree of the host's memory", cudaFree(plain));
  say("cudaFree inside a block", cudaFree(static_cast<char*>(device) + 256));
  say("cudaFreeAsync of page-locked memory", cudaFreeAsync(pinned, stream));
  say("cudaFreeAsync of the host's memory", cudaFreeAsync(plain, stream));
  say("cudaFreeHost of the device's memory", cudaFreeHost(device));
  say("cudaFreeHost of managed memory", cudaFreeHost(managed));
  say("cudaFreeHost of registered memory", cudaFreeHost(registered));
  say("cudaFreeHost of the host's memory", cudaFreeHost(plain));
  say("cudaFreeHost inside a block", cudaFreeHost(static_cast<char*>(pinned) + 256));
  say("cudaHostUnregister of page-locked memory", cudaHostUnregister(pinned));
  say("cudaHostUnregister of the host's memory", cudaHostUnregister(plain));

  say("afterwards, cudaMemset of page-locked memory", cudaMemset(pinned, 0, 16));
  say("cudaFreeHost of page-locked memory", cudaFreeHost(pinned));
  say("cudaFreeHost of mapped memory", cudaFreeHost(mapped));
  say("cudaHostUnregister of registered memory", cudaHostUnregister(registered));
  say("cudaHostUnregister again", cudaHostUnregister(registered));
  say("cudaFree of the device's memory", cudaFree(device));
  say("cudaFree of managed memory", cudaFree(managed));
  say("cudaFree of memory from cudaMallocAsync", cudaFree(pooled));
  say("cudaFree again", cudaFree(device));
  say("cudaFreeHost again", cudaFreeHost(pinned));
  say("cudaFree of nothing", cudaFree(nullptr));
  say("cudaFreeHost of nothing", cudaFreeHost(nullptr));
  say("cudaFreeAsync of nothing", cudaFreeAsync(nullptr, stream));
  std::free(plain);
  std::free(registered);
}
