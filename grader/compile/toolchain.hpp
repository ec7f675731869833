// Which compilers are there, and whether they will do.
#pragma once

#include <string>

namespace grader {

struct Toolchain {
  std::string clang;          ///< path of clang++
  std::string clang_version;  ///< "14.0.6"
  std::string identity;       ///< first line of --version: part of every cache key
  std::string quick_linker;   ///< a flag for a linker that takes half as long; empty: none is there
};

/// Checks the clang named by the environment variable CLANG, else clang++, else the newest
/// clang++-NN. Throws UserError (infrastructure) with the one command that helps: no clang, older
/// than 14, or Apple's, which lacks the CUDA front end.
Toolchain probe_clang();

/// The judgement alone, for tests: `version` is the output of `clang++ --version`. Empty = usable;
/// fills `number`.
std::string reject_clang(const std::string& program, const std::string& version,
                         std::string& number);

/// The file of flags for device code, as an argument, that versions of clang spell differently.
std::string device_flags_of(const std::string& clang_version);

/// Path of nvcc ($NVCC, $CUDA_HOME/bin, PATH, /usr/local/cuda/bin); empty if there is none.
std::string find_nvcc();

/// True if the driver shows at least one GPU.
bool gpu_present();

}  // namespace grader
