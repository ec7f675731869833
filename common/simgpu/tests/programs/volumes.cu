// Memory of three dimensions: pitches, copies of parts, fills.
#include "check.h"

__global__ void number(cudaPitchedPtr p, cudaExtent e) {
  char* const row = static_cast<char*>(p.ptr) + (blockIdx.x * e.height + threadIdx.y) * p.pitch;
  if (threadIdx.x * sizeof(float) < e.width)
    reinterpret_cast<float*>(row)[threadIdx.x] = static_cast<float>(100 * blockIdx.x + 10 * threadIdx.y + threadIdx.x);
}

int main() {
  const cudaExtent all = make_cudaExtent(6 * sizeof(float), 4, 3);
  cudaPitchedPtr volume;
  CHECK(cudaMalloc3D(&volume, all));
  std::printf("a row of %zu bytes every %zu\n", volume.xsize, volume.pitch);
  number<<<3, dim3(8, 4)>>>(volume, all);
  float host[3][4][6] = {};
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = volume;
  copy.dstPtr = make_cudaPitchedPtr(host, 6 * sizeof(float), 6 * sizeof(float), 4);
  copy.extent = all;
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  std::printf("%g %g %g\n", host[0][0][5], host[1][3][0], host[2][1][4]);

  CHECK(cudaMemset3D(volume, 0, make_cudaExtent(2 * sizeof(float), 2, 3)));
  copy.srcPos = make_cudaPos(sizeof(float), 1, 1);  // columns 1 and 2, rows 1 and 2 of slice 1
  copy.dstPos = make_cudaPos(0, 0, 2);
  copy.extent = make_cudaExtent(2 * sizeof(float), 2, 1);
  CHECK(cudaMemcpy3D(&copy));
  std::printf("%g %g %g %g %g\n", host[2][0][0], host[2][0][1], host[2][1][0], host[2][1][1], host[2][0][2]);
  copy.srcPtr.ptr = nullptr;
  std::printf("%s\n", cudaGetErrorName(cudaMemcpy3D(&copy)));
  CHECK(cudaFree(volume.ptr));
  return 0;
}
