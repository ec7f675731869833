// Takes the place of a header of the same name in a toolkit on the include path, which would not fit ours.
#pragma once
#error "simgpu: cublasLt is not supported: call cublasGemmEx() of cublas_v2.h"
