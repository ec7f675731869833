// <cuda_pipeline.h>: the primitives. The classes of nvcuda::experimental are not here.
#pragma once
#pragma GCC system_header

// NVIDIA's guards: programs ask for them, and a toolkit's header that is found later adds nothing.
#define _CUDA_PIPELINE_H_

#include "cuda_pipeline_primitives.h"
