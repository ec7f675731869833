// Readable names from what the compiler made of them. All of it works on hostile names: time and
// output are bounded.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace simgpu::ptx {

/// The author's name of a variable: "_ZZ1kIfLi8EEvPfE1s" -> "s", "_ZN3lab5coeffE" -> "coeff"; any
/// other name comes back as it is.
std::string pretty_variable_name(std::string_view mangled);

/// A mangled name as its author wrote it, with types and parameters. Nothing where it is none, or where so short a name
/// could stand for a text that fills the memory. No name of a stranger's may go to abi::__cxa_demangle() itself.
std::optional<std::string> written_out(std::string_view mangled);

/// Short name of a kernel or function, without parameters and return type:
/// "_Z17gemm_tiled_kernelIfLi16EEv10MatrixViewIKT_ES3_S0_IS1_E" -> "gemm_tiled_kernel<float, 16>".
/// What cannot be demangled comes back as it is.
std::string demangle(std::string_view mangled);

/// Whether a .file path belongs to the compiler's or simgpu's own headers.
bool is_builtin_path(std::string_view path);

}  // namespace simgpu::ptx
