// The clock of all deadlines, and units of time.
//
// Not by <chrono>: a student's clang compiles what includes this, and clang 14 and 15 do not take the
// C++20 part of <chrono> in libstdc++ 13 and later ("call to consteval function ... is not a constant
// expression"). Ubuntu 24.04 has both. <mutex> brings the clocks, and of the rest nothing.
#pragma once

#include <mutex>

namespace wire {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;
constexpr Deadline kForever = Deadline::max();

}  // namespace wire
