// The message catalogue: every sentence the grader says to a student, as data.
//
// A text has a key ("K-MISSING.headline") and named gaps ("{kernel}"). Keys of diagnoses are the
// diagnosis id followed by ".headline" and ".next" (and variants, "UNWRITTEN.rows.headline");
// verdicts use "verdict.".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace grader::messages {

using Gap = std::pair<std::string_view, std::string>;

/// The text of `key` with its gaps filled; values without a gap are left over, so that a headline
/// and its next step can share a list. Throws std::out_of_range naming the key or the gap if the
/// key does not exist or a gap stays open: a broken sentence must fail in tests, not reach a
/// student.
std::string text(std::string_view key, const std::vector<Gap>& gaps = {});

bool exists(std::string_view key);

/// All keys, in catalogue order.
std::vector<std::string_view> keys();

/// The text with its gaps open, as it stands in the catalogue.
std::string_view raw(std::string_view key);

}  // namespace grader::messages
