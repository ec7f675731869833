// Asynchronous copies to shared memory, and ldmatrix: one PTX instruction per function, or none on
// GPUs that have no asynchronous copies.
#pragma once

#include "common/tensor_core.cuh"

/// The address of p within shared memory, 32 bits, as PTX instructions take it.
GEMM_LAB_DEVICE inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

/// Starts copying 16 bytes from global to shared memory: the first `bytes` come from `from`, the
/// rest become zero. If bytes is 0, nothing is read, wherever `from` points.
GEMM_LAB_DEVICE inline void copy16_async(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
}

/// Like copy16_async, for one element of 4 or 8 bytes: copied if it exists, otherwise set to zero.
template <typename T>
GEMM_LAB_DEVICE void copy_element_async(T* to, const T* from, bool exists) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
               :
               : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "n"(sizeof(T)),
                 "r"(exists ? static_cast<int>(sizeof(T)) : 0)
               : "memory");
}

/// Closes a group: all copies that this thread has started since its last group.
GEMM_LAB_DEVICE inline void commit_copies() {
#if GEMM_LAB_TENSOR_CORES
  asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

/// Waits until all of this thread's groups have arrived, except the GROUPS most recent ones.
template <int GROUPS>
GEMM_LAB_DEVICE void wait_for_copies() {
#if GEMM_LAB_TENSOR_CORES
  asm volatile("cp.async.wait_group %0;" : : "n"(GROUPS) : "memory");
#endif
}

/// Loads four 8 x 8 matrices of 16-bit elements, a register each. Lane l passes the address of 16
/// bytes: row l % 8 of matrix l / 8. It gets elements (l / 4, l % 4 * 2) and (l / 4, l % 4 * 2 + 1)
/// of each matrix. If rows hold four floats instead, that is float l % 4 of row l / 4.
GEMM_LAB_DEVICE inline void ldmatrix(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}

/// The same, each matrix transposed: lane l gets (l % 4 * 2, l / 4) and (l % 4 * 2 + 1, l / 4).
GEMM_LAB_DEVICE inline void ldmatrix_transposed(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}
