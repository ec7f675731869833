// Thrust's exception for an error of CUDA.
#pragma once
#pragma GCC system_header

#include "../simgpu/thrust_more.h"

namespace thrust {
struct error_category {};
inline const error_category& cuda_category() {
  static const error_category category;
  return category;
}
class system_error : public std::runtime_error {
 public:
  system_error(int error, const error_category&, const std::string& what = {})
      : std::runtime_error((what.empty() ? what : what + ": ") +
                           cudaGetErrorString(static_cast<cudaError_t>(error))) {}
};
namespace system {
using thrust::error_category;
using thrust::system_error;
}  // namespace system
}  // namespace thrust
