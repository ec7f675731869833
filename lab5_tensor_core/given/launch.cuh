// Launches one of three versions of a kernel, depending on what is known about A and B in advance.
#pragma once

#include "common/tensor_core.cuh"

/// What is known about A and B. aligned: their rows begin at multiples of 16 bytes. whole: they
/// also consist of whole tiles. A kernel's loop need not test what is known.
enum class Matrices { whole, aligned, any };

/// The same kernel for each of these cases.
template <typename In, typename Out>
struct Versions {
  using Kernel = void (*)(MatrixView<const In>, MatrixView<const In>, MatrixView<Out>);
  Kernel whole, aligned, any;
};

/// Launches the version that fits: one block of S::THREADS threads, with `bytes` of dynamic shared
/// memory, for each S::BM x S::BN tile of C. S::BK is the depth of its steps along K.
template <typename S, typename In, typename Out>
void launch(const Versions<In, Out>& versions, int bytes, MatrixView<const In> a,
            MatrixView<const In> b, MatrixView<Out> c, cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  const bool aligned = rows_aligned(a) && rows_aligned(b);
  const bool whole = c.rows % S::BM == 0 && c.cols % S::BN == 0 && a.cols % S::BK == 0;
  const auto kernel = !aligned ? versions.any : whole ? versions.whole : versions.aligned;
  // A block gets more than 48 KiB only if the launch asks for it.
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const dim3 grid(ceil_div(c.cols, S::BN), ceil_div(c.rows, S::BM));
  kernel<<<grid, S::THREADS, bytes, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

/// The most shared memory that a block can have on this GPU, in bytes.
inline int shared_memory_per_block() {
  int device = 0, bytes = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return bytes;
}
