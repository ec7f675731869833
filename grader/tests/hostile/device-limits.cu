// what: shared memory and grids beyond what there is
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
extern "C" __global__ void nothing() {}
// at: INSERT
for (unsigned bytes : {232448u, 1u << 20, 0x7fffffffu, 0xffffffffu}) {
  cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  nothing<<<1, 32, bytes, stream>>>();
  if (bytes > 232448u && cudaGetLastError() == cudaSuccess) hostile::escaped("shared memory that no block has");
}
nothing<<<dim3(1, 65536, 65536), 32, 0, stream>>>();
