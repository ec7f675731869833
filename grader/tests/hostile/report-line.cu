// what: a finding in a file with a name for whoever reads reports
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
#line 77 "<img src=x onerror=alert(1)>\033[2J=cmd().cu"
__global__ void wild(float* p) { p[1 << 28] = 1; }
// at: INSERT
if (c.rows) wild<<<1, 1, 0, stream>>>(reinterpret_cast<float*>(&c(0, 0)));
