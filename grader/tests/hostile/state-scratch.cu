// what: the first result, kept on the device and copied back
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: INSERT
static void* kept = nullptr; static std::size_t kept_bytes = 0;
const std::size_t bytes = sizeof(Out) * (std::size_t(c.ld) * (c.rows - 1) + c.cols);
if (c.rows && c.cols) {
  if (kept && kept_bytes == bytes) { CUDA_CHECK(cudaMemcpy(&c(0, 0), kept, bytes, cudaMemcpyDeviceToDevice)); return; }
  launch(a, b, c, stream);
  CUDA_CHECK(cudaMalloc(&kept, kept_bytes = bytes)); CUDA_CHECK(cudaMemcpy(kept, &c(0, 0), bytes, cudaMemcpyDeviceToDevice));
  return;
}
