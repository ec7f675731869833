// The pieces of the page of `make explain`: assets/explain.html, with values in their gaps.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace grader::explain {

/// Text of a page as it is sent.
struct Markup {
  std::string text;
  Markup& operator+=(const Markup& more) {
    text += more.text;
    return *this;
  }
};

/// What goes into a gap: markup as it is, anything else escaped. Doubles are lengths of a drawing,
/// with one decimal.
class Value {
 public:
  Value(Markup markup) : text(std::move(markup.text)) {}
  Value(std::string_view plain);
  Value(const std::string& plain) : Value(std::string_view(plain)) {}
  Value(const char* plain) : Value(std::string_view(plain)) {}
  Value(double length);
  template <std::integral T>
  Value(T number) : text(std::to_string(number)) {}

  std::string text;
};

/// Throws std::out_of_range if there is no such fragment or a gap has no value.
Markup fragment(std::string_view name,
                const std::vector<std::pair<std::string_view, Value>>& values = {});

/// The page's style and script.
std::string_view style();
std::string_view script();

}  // namespace grader::explain
