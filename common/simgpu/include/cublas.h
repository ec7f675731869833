// The name of cuBLAS's first interface; only the second is here.
#pragma once
#include "cublas_v2.h"
