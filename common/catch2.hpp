// One include for Catch2 v2 (Debian 12) and v3 (Debian 13, Ubuntu 24.04). Tests use only what both
// have (see also common/tests/matchers.hpp): v2 has no SKIP(), for example.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#define GEMM_LAB_CATCH2_V3 1
#include <catch2/catch_all.hpp>
#else
#define GEMM_LAB_CATCH2_V3 0
#include <catch2/catch.hpp>
#endif
