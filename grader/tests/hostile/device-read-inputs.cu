// what: inputs copied to the host
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
In stolen{}; CUDA_CHECK(cudaMemcpy(&stolen, &a(0, 0), sizeof stolen, cudaMemcpyDeviceToHost));
