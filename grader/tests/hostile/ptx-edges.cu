// what: instructions at the edge of what they take: shifts, divisions, fields, permutations, conversions, barriers of no threads
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__global__ void edges(int i, long long l, float f) {
#ifdef __CUDA_ARCH__
  asm volatile("{ .reg .b32 x; .reg .b64 y; .reg .f32 z; .reg .f64 d; .reg .pred p;"
    "div.s32 x, %0, 0; div.s32 x, -2147483648, -1; rem.s32 x, -2147483648, -1; div.s64 y, %1, 0; rem.s64 y, 0x8000000000000000, -1;"
    "shl.b32 x, x, 4000000000; bfe.s32 x, %0, 4000000000, 4000000000; bfi.b32 x, x, %0, 255, 255; prmt.b32 x, x, %0, 0xffffffff;"
    "cvt.rzi.s32.f32 x, %2; cvt.rn.f32.f64 z, 0d7ff0000000000000; cvt.rzi.s64.f64 y, 0dfff8000000000000; shf.l.wrap.b32 x, x, %0, 4000000000;"
    "bar.sync 15, 0; }" :: "r"(i), "l"(l), "f"(f));
#endif
}
// at: INSERT
edges<<<1, 32, 0, stream>>>(-2147483647 - 1, -9223372036854775807LL - 1, 1e38f);
