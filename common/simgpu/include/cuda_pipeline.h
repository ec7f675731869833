// <cuda_pipeline.h>: the primitives. The classes of nvcuda::experimental are not here.
#pragma once
#pragma GCC system_header

#include "cuda_pipeline_primitives.h"
