// what: waits for a barrier that nobody completes, with the longest time that one may suggest
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__global__ void odd() { __shared__ unsigned long long bar; const unsigned at = (unsigned)__cvta_generic_to_shared(&bar); asm volatile("{ .reg .pred p; mbarrier.init.shared.b64 [%0], 1; again: mbarrier.test_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }" :: "r"(at)); }
// at: INSERT
odd<<<1, 1, 0, stream>>>();
