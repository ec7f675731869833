// what: bulk copies and their barriers at the edge of every field: sizes, places and masks of all ones, no barrier, another block's
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__global__ void bulk(unsigned to, unsigned long long from, unsigned bytes, unsigned bar, int form) {
  __shared__ alignas(128) unsigned long long own[64];
  const unsigned at = (unsigned)__cvta_generic_to_shared(own);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nmbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(at), "r"(bytes));
  if (form == 0) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(to), "l"(from), "r"(bytes), "r"(bar + at));
  if (form == 1) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" :: "r"(to + at), "l"(from), "r"(bytes), "r"(bar + at), "h"((unsigned short)bytes));
  if (form == 2) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%1], [%0], %2;" :: "r"(to), "l"(from), "r"(bytes));
  if (form == 3) asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%1], [%0], %2;" :: "r"(to + at), "l"(from), "r"(bytes));
  if (form == 4) asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(to), "r"(at + 64), "r"(bytes), "r"(bar + at));
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;");
}
// at: INSERT
if (c.rows && c.cols)
  for (int form = 0; form < 5; ++form)
    for (unsigned bytes : {0u, 16u, 0xfffffff0u, 0x80000000u, 17u})
      for (unsigned to : {0u, 128u, 0xfffffff0u, 0x7fffff80u})
        for (unsigned long long from : {0ull, ~0ull - 15, (unsigned long long)&c(0, 0), (unsigned long long)&a(0, 0)})
          bulk<<<1, 1, 0, stream>>>(to, from, bytes, bytes == 17 ? 0xfffffff8u : 0, form), cudaGetLastError();
