// Names that Catch2 v2 and v3 do not share.
#pragma once

#include <string>

#include "common/catch2.hpp"

#if GEMM_LAB_CATCH2_V3
using Catch::Approx;  // as v2 does itself
#else
namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& text) {
  return Contains(text);
}
}  // namespace Catch::Matchers
#endif
