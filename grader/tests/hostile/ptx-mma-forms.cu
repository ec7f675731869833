// what: products of 4 bits, of single bits and of sparse operands, which nobody teaches
// expect: UNSUPPORTED ACCEPTED LOCKED
// at: GLOBAL
__global__ void forms(int x) {
#ifdef __CUDA_ARCH__
  asm volatile("{ .reg .b32 a, b, c, d; mov.u32 a, %0; mov.u32 b, 0; mov.u32 c, 0; mov.u32 d, 0;"
    "mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.s4.s32 {c, d}, {a}, {b}, {c, d};"
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {c, d}, {a}, {b}, {c, d};"
    "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {c, d, c, d}, {a, a}, {b, b}, {c, d, c, d}, a, 0x7; }" :: "r"(x));
#endif
}
// at: INSERT
forms<<<1, 32, 0, stream>>>(-1);
