// How files of results look: JSON that a diff can show.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace grader::bench {

/// Of all files of results; grader/plots/results.py reads this one.
constexpr int kSchema = 2;

/// A member per line, of a list of objects an object per line.
std::string by_lines(const nlohmann::ordered_json& document);

}  // namespace grader::bench
