// The clock of all deadlines, and units of time.
//
// <mutex> instead of <chrono>: students' compilers read this, and clang 14 and 15 refuse the C++20
// part of <chrono> in libstdc++ 13 and later ("call to consteval function ... is not a constant
// expression"). Ubuntu 24.04 has both. <mutex> declares the clocks and none of that.
#pragma once

#include <mutex>

namespace wire {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;
constexpr Deadline kForever = Deadline::max();

}  // namespace wire
