// what: a load from parameters beyond what the kernel has, by a computed address
// expect: UNSUPPORTED ACCEPTED LOCKED
// at: GLOBAL
__global__ void reach(int offset, MatrixView<float> c) {
  float v = 1;
  asm volatile("{.reg .u64 a; .reg .u64 o; mov.u64 a, %1; cvta.param.u64 a, a; ld.f32 %0, [a];}" : "=f"(v) : "l"((unsigned long long)offset));
  if (c.rows && c.cols) c(0, 0) = v;
}
// at: INSERT
for (int o : {64, 4096, 1 << 20, -8}) reach<<<1, 1, 0, stream>>>(o, c);
return;
