// For programs that include it by name; cuda_runtime.h has what is in it.
#pragma once
#include "cuda_runtime.h"
