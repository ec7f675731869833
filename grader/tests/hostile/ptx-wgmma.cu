// what: products of a warpgroup by fewer warps, by some lanes, from descriptors of all ones, and waits for groups that nobody began
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__global__ void products(unsigned long long a, unsigned long long b, int form) {
#ifdef __CUDA_ARCH__
  float d[4] = {};
  if (form & 1) asm volatile("wgmma.fence.sync.aligned;");
  if (!(form & 2) || threadIdx.x % 3 == 0)
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, -1, 1, 1, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
  if (form & 4) asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 7;\nwgmma.wait_group.sync.aligned 0;");
  if (d[0] == 1e30f) __trap();
#endif
}
// at: INSERT
for (unsigned threads : {1u, 96u, 128u, 1024u})
  for (unsigned long long word : {0ull, ~0ull, 0x4000004000010000ull, 0x3fffull, 0x8000000000000000ull})
    for (int form = 0; form < 8; ++form) products<<<1, threads, 0, stream>>>(word, ~word, form), cudaGetLastError();
