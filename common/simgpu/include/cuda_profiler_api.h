// cudaProfilerStart and cudaProfilerStop: they do nothing here.
#pragma once
#define __CUDA_PROFILER_API_H__
#include "cuda_runtime_api.h"
