// Tensor-core instructions as a kernel of lab 5 issues them: eight accumulators, fragments that
// change.

__global__ void mma_m16n8k16(unsigned* out, int trips) {
  const unsigned lane = threadIdx.x % 32;
  float d[8][4] = {};
  unsigned a[4] = {0x3c003c00u, 0x38003c00u + lane, 0x34003c00u, 0x3c003800u};
  unsigned b[2] = {0x3c003c00u + lane, 0x2c003c00u};
  for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
          "{%8, %9}, {%0, %1, %2, %3};"
          : "+f"(d[k][0]), "+f"(d[k][1]), "+f"(d[k][2]), "+f"(d[k][3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    b[1] ^= 0x100u;
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += d[k][0] + d[k][1] + d[k][2] + d[k][3];
  out[blockIdx.x * blockDim.x + threadIdx.x] = __float_as_uint(sum);
}

// Products of a warpgroup as a kernel of stage 5.4 issues them: 64 x 64 of FP32 from FP16 tiles in
// shared memory, four for each group.
__global__ void wgmma_m64n64k16(unsigned* out, int trips) {
  __shared__ __align__(1024) unsigned tile[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = 0x3c003c00u + i % 64;
  asm volatile("fence.proxy.async;" : : : "memory");
  __syncthreads();
  // Core matrices of 8 x 16 bytes, 128 bytes apart along k and 256 along rows.
  const unsigned start = static_cast<unsigned>(__cvta_generic_to_shared(tile)) / 16;
  const unsigned long long at = start | 8ull << 16 | 16ull << 32;
  float d[32] = {};
  for (int trip = 0; trip < trips; ++trip) {
    asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
#pragma unroll
    for (int k = 0; k < 4; ++k)
      asm volatile(
          "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, "
          "%9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, "
          "%26, %27, %28, %29, %30, %31}, %32, %32, 1, 1, 1, 0, 0;"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
            "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
            "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
            "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),
            "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
          : "l"(at));
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 32; ++i) sum += d[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = __float_as_uint(sum);
}
