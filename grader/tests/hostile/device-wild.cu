// what: a pointer made up
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__global__ void wild(float* p) { for (long i = 1; i < 1L << 40; i *= 2) p[i] = 1; }
// at: INSERT
if (c.rows) wild<<<1, 1>>>(reinterpret_cast<float*>(&c(0, 0)));
