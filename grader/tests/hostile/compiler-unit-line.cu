// what: errors that seem to stand in the generated file, so that a stage is left out of it in every round
// expect: COMPILE_ERROR COMPILE_ERROR COMPILE_ERROR
// at: GLOBAL
#line 4 "/box/gemm.unit.cu"
static_assert(false, "explicit instantiation of");
