#include "grader/report/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>

#include <fmt/args.h>

#include "grader/os/escape.hpp"

namespace grader::report {
namespace {

/// Byte length of the first `columns` code points.
std::size_t bytes_of(const std::string& text, std::size_t columns) {
  std::size_t i = 0;
  for (std::size_t seen = 0; i < text.size(); ++i)
    if (!inside_character(text[i]) && seen++ == columns) break;
  return i;
}

/// A blank within a number whose digits are grouped, as in 1 225 523: no line ends there.
bool inside_number(const std::string& text, std::size_t blank) {
  const auto digit = [&text](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  return blank > 0 && digit(blank - 1) && digit(blank + 1) && digit(blank + 2) &&
         digit(blank + 3) && !digit(blank + 4);
}

/// The last blank before `end` where a line may end; npos if there is none.
std::size_t last_blank(const std::string& text, std::size_t end) {
  std::size_t blank = text.rfind(' ', end);
  while (blank != std::string::npos && blank > 0 && inside_number(text, blank))
    blank = text.rfind(' ', blank - 1);
  return blank;
}

}  // namespace

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !inside_character(c); }));
}

std::string fit(const std::string& text, std::size_t columns) {
  if (width(text) <= columns) return text;
  if (columns <= 3) return text.substr(0, bytes_of(text, columns));
  return text.substr(0, bytes_of(text, columns - 3)) + "...";
}

std::string pad(const std::string& text, std::size_t columns) {
  const std::size_t now = width(text);
  return now < columns ? text + std::string(columns - now, ' ') : text;
}

std::vector<std::string> wrap(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  do {
    std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string rest = text.substr(begin, end - begin);
    begin = end + 1;
    if (!rest.empty() && rest.front() == ' ') {
      lines.push_back(fit(rest, columns));
      continue;
    }
    while (width(rest) > columns) {
      std::size_t cut = bytes_of(rest, columns + 1);
      const std::size_t blank = last_blank(rest, cut > 0 ? cut - 1 : 0);
      if (blank != std::string::npos && blank > 0) {
        lines.push_back(rest.substr(0, blank));
        rest.erase(0, blank + 1);
      } else {
        cut = bytes_of(rest, columns);
        lines.push_back(rest.substr(0, cut));
        rest.erase(0, cut);
      }
    }
    lines.push_back(rest);
  } while (begin <= text.size());
  return lines;
}

bool use_colour(int fd) {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value && *value ? value : nullptr;
  };
  if (set("NO_COLOR")) return false;
  if (const char* force = set("CLICOLOR_FORCE"); force && std::strcmp(force, "0") != 0) return true;
  if (const char* wanted = set("CLICOLOR"); wanted && std::strcmp(wanted, "0") == 0) return false;
  if (const char* terminal = set("TERM"); terminal && std::strcmp(terminal, "dumb") == 0)
    return false;
  return ::isatty(fd) == 1;
}

std::string styled(const std::string& text, Style style, bool colour) {
  if (!colour || style == Style::plain || text.empty()) return text;
  const char* code = style == Style::good   ? "32"
                     : style == Style::bad  ? "31;1"
                     : style == Style::warn ? "33"
                     : style == Style::dim  ? "2"
                                            : "1";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string fill(std::string_view pattern,
                 const std::vector<std::pair<std::string_view, std::string>>& values) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const auto& [name, value] : values)
    store.push_back(fmt::arg(std::string(name).c_str(), std::cref(value)));
  try {
    return fmt::vformat(pattern, store);
  } catch (const std::runtime_error& error) {  // fmt::format_error
    throw std::out_of_range(error.what());
  }
}

std::string number(double value) {
  if (!std::isfinite(value)) return value != value ? "nan" : "inf";
  const bool whole =
      (value == std::floor(value) && std::fabs(value) < 1e15) || std::fabs(value) >= 1000;
  std::string digits = fmt::format("{:.{}f}", value, whole ? 0 : 2);
  const std::size_t end = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t at = end; at > first + 3;) {
    at -= 3;
    digits.insert(at, " ");
  }
  return digits;
}

}  // namespace grader::report
