// what: sixty threads that ask at once, and are joined
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
#include <thread>
// at: INSERT
std::vector<std::thread> all; for (int i = 0; i < 60; ++i) all.emplace_back([stream] { for (int k = 0; k < 20; ++k) { void* p = nullptr; cudaMalloc(&p, 64); cudaMemsetAsync(p, 0, 64, stream); cudaFree(p); } }); for (auto& t : all) t.join();
