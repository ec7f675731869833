// what: the runtime patched in its own process: every launch succeeds and none is made
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: INSERT
const auto function = static_cast<cudaError_t (*)(const void*, dim3, dim3, void**, size_t, cudaStream_t)>(&cudaLaunchKernel);
unsigned char* code = reinterpret_cast<unsigned char*>(function);
const auto page = reinterpret_cast<std::uintptr_t>(code) & ~std::uintptr_t{4095};
if (mprotect(reinterpret_cast<void*>(page), 8192, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) { const unsigned char none[] = {0x31, 0xc0, 0xc3}; std::memcpy(code, none, sizeof none); }
