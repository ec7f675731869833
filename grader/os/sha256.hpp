// SHA-256 (FIPS 180-4): names cache entries, submissions and accepted answers.
#pragma once

#include <string>
#include <string_view>

namespace grader {

/// 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);
/// The same without what only some processors have: so that both ways can be tested on one.
std::string sha256_of_any_processor(std::string_view bytes);

/// Of a C++ or CUDA source, without its blank lines and those that are nothing but a // comment:
/// what was measured of a kernel stays true when its comments change. (docs/_ext/measured.py reads
/// these hashes too, and computes them alike.)
std::string code_sha256(std::string_view source);

}  // namespace grader
