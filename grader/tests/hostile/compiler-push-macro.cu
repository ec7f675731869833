// what: a word of the generated lines taken away by push_macro and pop_macro
// expect: COMPILE_ERROR ACCEPTED LOCKED
// at: GLOBAL
#define gemm_first gemm_other
#pragma push_macro("gemm_first")
#undef gemm_first
// at: SECOND
  launch(a, b, c, stream);
}
#pragma pop_macro("gemm_first")
template <typename In, typename Out>
void gemm_unused(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c, cudaStream_t stream) {
