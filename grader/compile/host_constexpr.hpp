// Kernels that call a constexpr function of the host. clang lets them, as if each constexpr function had
// __host__ __device__ before it; nvcc does not, not even where the value is a constant.
#pragma once

#include <string>
#include <vector>

namespace grader {

/// Whether a source has something that looks like a constexpr function without __device__, or names std::min()
/// or its like. Where it has not, nobody needs to ask the compiler.
bool may_have_host_constexpr(const std::string& source);

/// The flags for that question, behind those of a pass for the device.
std::vector<std::string> host_constexpr_flags();

/// What to say of each such call, in lines as a compiler's, from what clang said with these flags about
/// code that it takes without them. Of functions of our headers or the system's only std::min(), std::max() and
/// std::clamp() count: nvcc has its own headers. `student_file`: the path under which clang knows it; `source`: its text.
std::vector<std::string> host_constexpr_calls(const std::string& said,
                                              const std::string& student_file,
                                              const std::string& source, std::size_t most = 5);

}  // namespace grader
