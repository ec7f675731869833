// what: the matrices of an earlier call, which are gone
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
__global__ void read_old(const float* old, float* to) { *to = *old; }
// at: INSERT
static const In* old = nullptr;
if (old && c.rows) read_old<<<1, 1, 0, stream>>>(reinterpret_cast<const float*>(old), reinterpret_cast<float*>(&c(0, 0)));
old = &a(0, 0);
