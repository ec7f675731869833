#include "grader/course/intake/canonical.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

namespace grader::intake {
namespace {

std::string mapped(const std::string& text, int options) {
  utf8proc_uint8_t* bytes = nullptr;
  const utf8proc_ssize_t length = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &bytes, static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(bytes, &std::free);
  return length < 0
             ? text
             : std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

/// To Unicode, these are letters of their own.
constexpr std::pair<std::string_view, char> kStrokes[] = {
    {"\u00f8", 'o'}, {"\u0111", 'd'}, {"\u0142", 'l'}};

}  // namespace

std::string canonical(const std::string& name) {
  return mapped(name, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
}

std::string without_accents(const std::string& name) {
  // Only marks of Latin, Greek and Cyrillic letters, U+0300 to U+036F: in other scripts a mark may be a vowel.
  const std::string apart = mapped(canonical(name), UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
  std::string out;
  for (std::size_t i = 0; i < apart.size(); ++i) {
    const auto at = [&](std::size_t k) {
      return k < apart.size() ? static_cast<unsigned char>(apart[k]) : 0u;
    };
    const unsigned two = at(i) << 8 | at(i + 1);
    if (two >= 0xcc80 && two <= 0xcdaf) {  // U+0300 to U+036F in UTF-8
      ++i;
      continue;
    }
    const auto* stroke = std::find_if(
        std::begin(kStrokes), std::end(kStrokes),
        [&](const auto& one) { return apart.compare(i, one.first.size(), one.first) == 0; });
    if (stroke == std::end(kStrokes)) {
      out += apart[i];
    } else {
      out += stroke->second;
      ++i;
    }
  }
  return out;
}

}  // namespace grader::intake
