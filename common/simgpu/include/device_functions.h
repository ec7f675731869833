// Older CUDA's header of device functions, math included; cuda_runtime.h has them all.
#pragma once
#include "cuda_runtime.h"
