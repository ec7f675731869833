// One include for Catch2 v2 (Debian 12) and v3 (Debian 13, Ubuntu 24.04). Tests use only what both
// have, under v3's names; v2 has no SKIP(), for example.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#define GEMM_LAB_CATCH2_V3 1
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as v2 does itself
#else
#define GEMM_LAB_CATCH2_V3 0
#include <catch2/catch.hpp>
namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& text) {
  return Contains(text);
}
}  // namespace Catch::Matchers
#endif
