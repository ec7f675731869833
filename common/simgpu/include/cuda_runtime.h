// CUDA C++ for clang without NVIDIA's toolkit: the header that every .cu file includes.
//
// Only what CUDA has, spelled as in CUDA. What the simulated GPU does not provide is absent (a
// compile error that names it) or returns cudaErrorNotSupported. The same source includes NVIDIA's
// header of this name when nvcc compiles it.
#pragma once
#pragma GCC system_header

// NVIDIA's guards: programs ask for them, and a toolkit's header that is found later adds nothing.
#define __CUDA_RUNTIME_H__
#define __DEVICE_FUNCTIONS_H__
#define __MATH_FUNCTIONS_H__
#define __COMMON_FUNCTIONS_H__
#define __DEVICE_ATOMIC_FUNCTIONS_H__

// What later versions of clang put into libstdc++'s first header, for preconditions that a kernel violates, ends
// with abort(), which device code does not have.
#if defined(__CUDA__) && __has_include(<bits/c++config.h>)
#define __builtin_abort __builtin_trap
#include <bits/c++config.h>
#undef __builtin_abort
#endif

// NVIDIA's headers bring these along one way or another: programs rely on it.
#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdint.h>

#include "simgpu/attributes.h"

// Before anything that may include <cmath>: see math_functions.h.
#if defined(__CUDA__)
#include "simgpu/math_functions.h"
#endif

#include "cuda_runtime_api.h"
#include "device_launch_parameters.h"
#include "driver_types.h"
#include "vector_functions.h"
#include "vector_types.h"

#include "simgpu/absent.h"
#include "simgpu/host_templates.h"

#if defined(__CUDA__)
#include "simgpu/atomics.h"
#include "simgpu/cluster.h"
#include "simgpu/dpx.h"
#include "simgpu/heap.h"
#include "simgpu/intrinsics.h"
#include "simgpu/launch.h"
#include "simgpu/packed.h"
#include "simgpu/sync.h"
#include "simgpu/warp.h"
#endif
