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
