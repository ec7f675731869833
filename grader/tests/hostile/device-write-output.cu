// what: a result from the host
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
Out forged = 1; if (c.rows) CUDA_CHECK(cudaMemcpy(&c(0, 0), &forged, sizeof forged, cudaMemcpyHostToDevice));
