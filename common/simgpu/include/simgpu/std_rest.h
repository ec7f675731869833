// The rest of cuda::std that is the host library's: what is constexpr there works in kernels, too.
#pragma once
#pragma GCC system_header

#include <bitset>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <ratio>
#if __cplusplus >= 202002L
#include <concepts>
#include <numbers>
#include <ranges>
#include <source_location>
#include <version>
#endif

namespace cuda {
namespace std {
using namespace ::std;
}  // namespace std
}  // namespace cuda
