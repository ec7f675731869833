// Text that others wrote (a student's source, names and output, what a tool said), made harmless for
// where it will stand. The one place that reads UTF-8; JSON is nlohmann's.
#pragma once

#include <string>
#include <string_view>

namespace grader {

/// True for the second to last bytes of a UTF-8 character.
constexpr bool inside_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// The first bytes of a text, at most so many, without half a character at the end.
constexpr std::string_view first_bytes(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && inside_character(text[most])) --most;
  return text.substr(0, most);
}

bool is_utf8(std::string_view text);

/// For a terminal or a report: control characters (terminal escapes) but \n and \t are removed, so
/// are those that change the direction of text, and bytes that are not UTF-8 become '?'.
std::string printable(std::string_view text);

/// Lower case, for finding names that differ in case only. Bytes that are not UTF-8 stay.
std::string folded(std::string_view text);

/// For a terminal, showing what is there: control characters, invalid UTF-8, and characters that are
/// invisible or reorder text become visible escapes such as \x1b and \u202e.
std::string visible(std::string_view text);

/// visible(), for HTML text and attribute values.
std::string escape_html(std::string_view text);

/// printable(), for XML text and attribute values; line breaks survive in both.
std::string escape_xml(std::string_view text);

/// printable(), for a cell of a table that a spreadsheet opens: one line, and never a formula.
std::string csv_cell(std::string_view text);

}  // namespace grader
