// What a lab's rung computes: shared by lab.toml, judge and diagnosis.
#pragma once

#include <cstdint>

namespace grader {

/// What a rung must compute: C = A * B, or (rungs that only move tiles) C = A or C = B.
enum class Operation : std::uint8_t { product, copy_a, copy_b };

/// Whose its launch is: a student can be asked about what is theirs alone.
enum class LaunchBy : std::uint8_t { lab, student };

}  // namespace grader
