// what: inputs made to fit: all zero, and C too
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
CUDA_CHECK(cudaMemset(const_cast<In*>(&a(0, 0)), 0, sizeof(In))); CUDA_CHECK(cudaMemset(&c(0, 0), 0, sizeof(Out))); return;
