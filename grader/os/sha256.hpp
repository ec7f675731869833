// SHA-256 (FIPS 180-4): names cache entries, submissions and accepted answers.
#pragma once

#include <string>
#include <string_view>

namespace grader {

/// 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace grader
