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

// Products of a warpgroup as a kernel of stage 5.4 issues them: 64 x 256 of FP32 from FP16 tiles in
// shared memory, four for each group. The sums are registers s0 to s127.
#define TEN(d)                                                                                     \
  "s" #d "0, s" #d "1, s" #d "2, s" #d "3, s" #d "4, s" #d "5, s" #d "6, s" #d "7, s" #d "8, s" #d \
  "9, "
__global__ void wgmma_m64n256k16(unsigned* out, int trips) {
  __shared__ __align__(1024) unsigned tile[2048];
  for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x) tile[i] = 0x3c003c00u + i % 64;
  asm volatile("fence.proxy.async;" : : : "memory");
  __syncthreads();
  // Core matrices of 8 x 16 bytes, 128 bytes apart along k and 256 along rows.
  const unsigned start = static_cast<unsigned>(__cvta_generic_to_shared(tile)) / 16;
  const unsigned long long at = start | 8ull << 16 | 16ull << 32;
  asm volatile(".reg .f32 s<128>;\n\t.reg .pred is_later;");
  for (int trip = 0; trip < trips; ++trip) {
    asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
#pragma unroll
    for (int k = 0; k < 4; ++k)
      asm volatile(
          "setp.ne.s32 is_later, %1, 0;\n\t"
          "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" TEN() TEN(1) TEN(2) TEN(3) TEN(4)
              TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10)
                  TEN(11) "s120, s121, s122, s123, s124, s125, s126, s127}, %0, %0, is_later, 1, "
                          "1, 0, 0;"
          :
          : "l"(at), "r"(trip + k));
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
  }
  float sum;
  asm volatile("mov.f32 %0, s127;" : "=f"(sum));
  out[blockIdx.x * blockDim.x + threadIdx.x] = __float_as_uint(sum);
}
