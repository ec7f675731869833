// The runner's main, for the generated table of entries:
//
//     #include "grader/gpu/runner_main.hpp"
//     ... declarations of the student's launchers ...
//     static const simgpu::runtime::Entry entries[] = {
//         simgpu::runtime::launcher<&gemm_naive<float, float>>("gemm_naive<float>")};
//     int main(int argc, char** argv) {
//       return grader::gpu::runner_main(argc, argv, entries, 1);
//     }
//
// The table is the simulated GPU's, so that one generator serves both. Link with the student's
// object, this file's grader/gpu/runner_main.cu compiled by nvcc, and cudart (static).
#pragma once

#include <cstddef>

#include "common/simgpu/runtime/remote/runner_loop.hpp"

namespace grader::gpu {

/// Serves descriptor 3 until it is closed. argv[1] = "wrapped" keeps other descriptors open, which
/// compute-sanitizer needs. Returns the exit status: 0 after the judge closed the socket, 2 if
/// there is none, 3 if the judge broke the protocol, 4 if an error of the device ended the context.
int runner_main(int argc, char** argv, const simgpu::runtime::Entry* entries, std::size_t count);

}  // namespace grader::gpu
