// what: two-dimensional copies whose sizes wrap around
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
float* own = nullptr; cudaMalloc(reinterpret_cast<void**>(&own), 4096);
for (size_t pitch : {size_t{1} << 63, ~size_t{0}, (size_t{1} << 61) + 1})
  for (size_t rows : {size_t{2}, size_t{8}, ~size_t{0}})
    if (cudaMemcpy2D(own, pitch, &a(0, 0), pitch, 4, rows, cudaMemcpyDeviceToDevice) == cudaSuccess && rows > 2) hostile::escaped("a copy that wraps around");
CUDA_CHECK(cudaMemcpy2D(own, 4, &a(0, 0), ~size_t{0}, 4, ~size_t{0}, cudaMemcpyDeviceToDevice));
