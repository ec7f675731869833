// what: a kernel whose name is longer than any message
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
#include <utility>
template <typename> __global__ void named() {}
// at: INSERT
named<std::make_index_sequence<3000>><<<1, 1, 0, stream>>>(); CUDA_CHECK(cudaGetLastError());
