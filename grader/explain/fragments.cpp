#include "grader/explain/fragments.hpp"

#include <map>
#include <stdexcept>

#include <fmt/core.h>

#include "grader/os/embed.hpp"
#include "grader/os/escape.hpp"
#include "grader/report/text.hpp"

namespace grader::explain {
namespace {

GRADER_EMBED(html_file, "grader/explain/assets/explain.html")
GRADER_EMBED(css_file, "grader/explain/assets/explain.css")
GRADER_EMBED(js_file, "grader/explain/assets/explain.js")

using Fragments = std::map<std::string_view, std::string_view>;

/// A fragment ends before the line break in front of the next one.
Fragments read_fragments(std::string_view file) {
  constexpr std::string_view begin = "<!-- fragment ", end = " -->\n";
  Fragments all;
  for (std::size_t at = file.find(begin); at != file.npos;) {
    const std::size_t name = at + begin.size(), name_end = file.find(end, name),
                      text = name_end + end.size();
    const std::size_t next = file.find(begin, text);
    all[file.substr(name, name_end - name)] =
        file.substr(text, (next == file.npos ? file.size() : next) - text - 1);
    at = next;
  }
  return all;
}

}  // namespace

Value::Value(std::string_view plain) : text(escape_html(plain)) {}

Value::Value(double length) : text(fmt::format("{:.1f}", length)) {}

Markup fragment(std::string_view name,
                const std::vector<std::pair<std::string_view, Value>>& values) {
  static const Fragments all = read_fragments(html_file());
  const auto found = all.find(name);
  if (found == all.end()) throw std::out_of_range("no fragment " + std::string(name));
  std::vector<std::pair<std::string_view, std::string>> texts;
  for (const auto& [gap, value] : values) texts.emplace_back(gap, value.text);
  return {report::fill(found->second, texts)};
}

std::string_view style() {
  return css_file();
}

std::string_view script() {
  return js_file();
}

}  // namespace grader::explain
