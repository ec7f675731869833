// The parts of CUB that kernels use: reductions and scans of warps and blocks, loads and stores of
// blocks, shuffles of any type. Written for the simulated GPU after CUB's documentation; counts are
// those of this code. Device-wide: reductions, scans, sorts and selections. Not here: the other device-wide functions,
// sorts and exchanges of blocks (util/absent.cuh).
#pragma once
#pragma GCC system_header

#include "block/block_load.cuh"
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "block/block_store.cuh"
#include "device/device_wide.cuh"
#include "thread/thread_operators.cuh"
#include "util/absent.cuh"
#include "util/util_ptx.cuh"
#include "util_allocator.cuh"
#include "warp/warp_reduce.cuh"
#include "warp/warp_scan.cuh"
