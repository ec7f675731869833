// what: all the memory that there is, never given back
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
void* p = nullptr;
for (int i = 0; i < 300 && cudaMalloc(&p, 1 << 10) == cudaSuccess; ++i) {}
if (cudaMalloc(&p, std::size_t{1} << 60) == cudaSuccess) hostile::escaped("more memory than there is");
cudaGetLastError();
