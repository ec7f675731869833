// Lab 4's kernels are templates over what the sweep varies. They come from the solution, so that
// the sweep cannot lag behind it; through this header, because a source file may not be read twice.
#pragma once

#include "lab4_bank_conflict/solution/gemm.cu"
