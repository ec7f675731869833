// what: launchers that no other file can see
// expect: COMPILE_ERROR ACCEPTED LOCKED
// at: GLOBAL
template <typename In, typename Out> static void gemm_first(MatrixView<const In>, MatrixView<const In>, MatrixView<Out>, cudaStream_t);
