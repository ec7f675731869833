// what: a kernel that never ends
// expect: TIMEOUT ACCEPTED LOCKED
// at: GLOBAL
__global__ void endless(volatile float* p) { for (;;) *p = *p + 1; }
// at: INSERT
if (c.rows) { endless<<<1, 1>>>(reinterpret_cast<float*>(&c(0, 0))); return; }
