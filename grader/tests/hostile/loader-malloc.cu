// what: malloc and free of its own, which give everybody the same few bytes
// expect: RUNTIME_ERROR RUNTIME_ERROR LOCKED
// at: GLOBAL
#ifndef __CUDA_ARCH__
extern "C" {
alignas(64) char one_page[1 << 16];
void* malloc(std::size_t) noexcept { return one_page; }
void free(void*) noexcept {}
void* calloc(std::size_t, std::size_t) noexcept { return one_page; }
void* realloc(void*, std::size_t) noexcept { return one_page; }
}
#endif
