// The message catalogue: every sentence the grader says to a student, as data. The texts stand in
// grader/messages.toml, which is part of the program.
//
// A text has a key ("K-MISSING.headline") and named gaps ("{kernel}"), filled by {fmt}.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace grader::messages {

/// A gap's name, and what fills it.
struct Gap {
  std::string_view name;
  std::string value;

  Gap(std::string_view name_, std::string value_) : name(name_), value(std::move(value_)) {}
  Gap(std::string_view name_, std::integral auto value_)
      : name(name_), value(std::to_string(value_)) {}
};

/// The text of `key` with its gaps filled; values without a gap are left over, so that a headline
/// and its next step can share a list. Throws std::out_of_range naming the key if it does not exist
/// or a gap stays open: a broken sentence must fail in tests, not reach a student.
std::string text(std::string_view key, const std::vector<Gap>& gaps = {});

bool exists(std::string_view key);

/// A catalogue that a program has besides the students': a constant of the file that embeds it. Throws std::logic_error if
/// the file is not of the form of messages.toml.
class Addition {
 public:
  explicit Addition(std::string_view file);
};

/// All keys, in catalogue order.
std::vector<std::string_view> keys();

/// The text with its gaps open, as it stands in the catalogue.
std::string_view raw(std::string_view key);

}  // namespace grader::messages
