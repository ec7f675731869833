#include "grader/os/escape.hpp"

#include <array>
#include <clocale>
#include <cwctype>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/core.h>

namespace grader {
namespace {

/// Length of the valid UTF-8 sequence at `at`, and its code point; 0 if there is none.
std::size_t decode(std::string_view text, std::size_t at, std::uint32_t& code) {
  const auto byte = [&](std::size_t k) -> std::uint32_t {
    return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : 0u;
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) {
    code = lead;
    return 1;
  }
  const std::size_t length = lead >= 0xf0 && lead < 0xf8   ? 4
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                                                           : 0;
  if (length == 0) return 0;
  code = lead & (0xffu >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return 0;
    code = (code << 6) | (byte(k) & 0x3f);
  }
  const std::uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
  return length;
}

/// Characters that one cannot see or that move others, first and last: as numbers instead.
struct Range {
  std::uint32_t first, last;
};
constexpr Range kTreacherous[] = {
    {0x00, 0x08},     {0x0b, 0x1f},     {0x7f, 0x9f},      {0xad, 0xad},     {0x61c, 0x61c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},  {0x200b, 0x200f}, {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfdd0, 0xfdef},  {0xfe00, 0xfe0f}, {0xfeff, 0xfeff},
    {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff}};

bool treacherous(std::uint32_t c) {
  return (c & 0xfffe) == 0xfffe ||
         std::any_of(std::begin(kTreacherous), std::end(kTreacherous),
                     [c](const Range& range) { return c >= range.first && c <= range.last; });
}

/// Marks, embeddings, overrides and isolates of right-to-left text.
constexpr bool turns_text(std::uint32_t c) {
  return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

/// Appends a code point below 0x110000 as UTF-8.
void encode(std::uint32_t code, std::string& out) {
  const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr std::uint32_t lead[] = {0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(lead[more] | code >> (6 * more));
  for (int k = more - 1; k >= 0; --k) out += static_cast<char>(0x80 | (code >> (6 * k) & 0x3f));
}

const char* entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return nullptr;
  }
}

}  // namespace

bool is_utf8(std::string_view text) {
  std::uint32_t code = 0;
  for (std::size_t at = 0, length = 0; at < text.size(); at += length)
    if ((length = decode(text, at, code)) == 0) return false;
  return true;
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::uint32_t code = 0;
    const std::size_t length = decode(text, at, code);
    if (length == 0 || (code >= 0x80 && code < 0xa0)) {  // no UTF-8, or a C1 control
      out += '?';
      ++at;
      continue;
    }
    const bool control = code < 0x20 ? code != '\n' && code != '\t' : code == 0x7f;
    if (!control && !turns_text(code)) out += text.substr(at, length);
    at += length;
  }
  return out;
}

std::string folded(std::string_view text) {
  // Glibc's, whatever the caller's language is; without it only ASCII is folded.
  static const locale_t unicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::uint32_t code = 0;
    const std::size_t length = decode(text, at, code);
    if (length <= 1)
      out +=
          text[at] >= 'A' && text[at] <= 'Z' ? static_cast<char>(text[at] - 'A' + 'a') : text[at];
    else
      encode(unicode ? ::towlower_l(code, unicode) : code, out);
    at += length == 0 ? 1 : length;
  }
  return out;
}

std::string visible(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::uint32_t code = 0;
    const std::size_t length = decode(text, at, code);
    if (length == 0)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
    else if (!treacherous(code))
      out += text.substr(at, length);
    else
      out += code < 0x80     ? fmt::format("\\x{:02x}", code)
             : code > 0xffff ? fmt::format("\\U{:08x}", code)
                             : fmt::format("\\u{:04x}", code);
    at += length == 0 ? 1 : length;
  }
  return out;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : visible(text))
    if (const char* const named = entity(c))
      out += named;
    else
      out += c;
  return out;
}

std::string escape_xml(std::string_view text) {
  std::string out;
  std::string clean = printable(text);
  for (const char* const none : {"\xef\xbf\xbe", "\xef\xbf\xbf"})  // U+FFFE and U+FFFF
    for (std::size_t at; (at = clean.find(none)) != clean.npos;) clean.replace(at, 3, "?");
  for (const char c : clean)
    if (const char* const named = c == '\n' ? "&#10;" : entity(c))
      out += named;
    else
      out += c;
  return out;
}

namespace {
/// Whether a spreadsheet may take it for a formula: by its first sign, which may be as wide as a
/// letter of Chinese, behind what an import may leave out.
bool is_formula(std::string_view cell) {
  constexpr std::array<std::string_view, 7> left_out{
      " ", "\xc2\x85", "\xc2\xa0", "\xe2\x80\x8b", "\xe2\x80\xa8", "\xe3\x80\x80", "\xef\xbb\xbf"};
  constexpr std::array<std::string_view, 8> signs{
      "=", "+", "-", "@", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};
  const auto begins = [&](std::string_view one) { return cell.starts_with(one); };
  for (;;) {
    const auto blank = std::find_if(left_out.begin(), left_out.end(), begins);
    if (blank == left_out.end()) return std::any_of(signs.begin(), signs.end(), begins);
    cell.remove_prefix(blank->size());
  }
}
}  // namespace

std::string csv_cell(std::string_view text) {
  std::string clean;
  for (const char c : printable(text)) clean += c == '\n' || c == '\t' ? ' ' : c;
  if (is_formula(clean)) clean.insert(0, 1, '\'');
  if (clean.find_first_of(",;\"'") == std::string::npos) return clean;
  std::string quoted = "\"";
  for (const char c : clean) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace grader
