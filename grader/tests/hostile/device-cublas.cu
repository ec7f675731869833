// what: a product by a library that computes on the host
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
#include <cublas_v2.h>
// at: INSERT
cublasHandle_t handle;
const float one = 1, zero = 0;
cublasCreate(&handle);
if (c.rows && c.cols) cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, c.cols, c.rows, a.cols, &one, (const float*)b.data, b.ld, (const float*)a.data, a.ld, &zero, (float*)c.data, c.ld);
return;
