#include "grader/compile/host_part.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <vector>

namespace grader {
namespace {

using Text = std::string_view;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Behind a literal that begins at `quote`; npos if it does not end on its line.
std::size_t literal_end(Text text, std::size_t quote) {
  for (std::size_t i = quote + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == text[quote])
      return i + 1;
  }
  return Text::npos;
}

/// The same code with one blank where there were several, or a comment, and one line end where lines
/// were empty. Nothing if it has literals that this does not read.
std::optional<std::string> without_comments(Text source) {
  std::string code;
  const auto blank = [&code](char c) {
    if (!code.empty() && code.back() == ' ') code.pop_back();
    if (!code.empty() && code.back() != '\n') code += c;
  };
  for (std::size_t at = 0; at < source.size();) {
    const char c = source[at];
    const Text rest = source.substr(at);
    if (rest.starts_with("//")) {
      const std::size_t end = source.find('\n', at);
      if (source.substr(at, end - at).find('\\') != Text::npos) return {};  // may go on
      at = std::min(end, source.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = source.find("*/", at + 2);
      if (end == Text::npos) return {};
      blank(' ');
      at = end + 2;
    } else if (c == '"' || c == '\'') {
      // R"(...)", and 1'000.
      if (!code.empty() && (c == '"' ? code.back() == 'R' : is_word(code.back()))) return {};
      const std::size_t end = literal_end(source, at);
      if (end == Text::npos) return {};
      code += source.substr(at, end - at);
      at = end;
    } else {
      if (std::isspace(static_cast<unsigned char>(c)) != 0)
        blank(c == '\n' ? '\n' : ' ');
      else
        code += c;
      ++at;
    }
  }
  while (!code.empty() && (code.back() == ' ' || code.back() == '\n')) code.pop_back();
  return code;
}

/// Whether a word stands in a text, and not as a part of another.
bool has_word(Text text, Text word) {
  for (std::size_t at = text.find(word); at != Text::npos; at = text.find(word, at + 1))
    if ((at == 0 || !is_word(text[at - 1])) &&
        (at + word.size() == text.size() || !is_word(text[at + word.size()])))
      return true;
  return false;
}

/// A # line inside of a body. False: it may be about more than what stands between it and its #endif.
/// `open`: the depths of braces where conditions began; each branch must close what it opens.
bool stays_inside(Text line, int depth, std::vector<int>& open) {
  line.remove_prefix(std::min(line.find_first_not_of("# "), line.size()));
  const Text word = line.substr(0, line.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
  if (word == "pragma") return line.starts_with("pragma unroll");
  if (word == "if" || word == "ifdef" || word == "ifndef") {
    open.push_back(depth);
    return true;
  }
  if (open.empty() || open.back() != depth) return false;
  if (word == "endif") open.pop_back();
  return word == "endif" || word == "else" || word == "elif";
}

/// Behind the brace that closes the one at `open`. npos: that cannot be told.
std::size_t body_end(Text code, std::size_t open) {
  int depth = 0;
  std::vector<int> conditions;
  for (std::size_t i = open; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '"' || c == '\'') i = literal_end(code, i) - 1;
    if (c == '#') {
      const std::size_t end = std::min(code.find('\n', i), code.size());
      if (!stays_inside(code.substr(i, end - i), depth, conditions)) return Text::npos;
      i = end;
    }
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return conditions.empty() ? i + 1 : Text::npos;
  }
  return Text::npos;
}

/// Whether a declaration may be a lambda's: a [ that stands behind no name and no closing bracket, as
/// that of an array does, T (&tile)[ROWS][COLS].
bool may_capture(Text declared) {
  for (std::size_t at = declared.find('['); at != Text::npos; at = declared.find('[', at + 1)) {
    const char before = at == 0 ? ' ' : declared[at - 1];
    if (!is_word(before) && before != ')' && before != ']') return true;
  }
  return has_word(declared, "return");
}

struct Body {
  enum class Kind { none, found, unclear } kind = Kind::none;
  std::size_t begin = 0, end = 0;  ///< with its braces
};

/// The body of the function that is declared around `at`, where the word stands that makes it the
/// device's.
Body body_of_declaration(Text code, std::size_t at) {
  const std::size_t before = code.find_last_of(";{}", at);
  const std::size_t begin = before == Text::npos ? 0 : before + 1;
  int depth = 0;
  bool parameters = false;
  for (std::size_t i = at; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '"' || c == '\'') i = literal_end(code, i) - 1;
    if (c == '#') return {Body::Kind::unclear, 0, 0};
    if (c == '(') ++depth, parameters = true;
    if (c == ')') --depth;
    if (depth > 0) continue;
    if (c == ';' || c == '=') return {};
    if (c != '{') continue;
    const Text declared = code.substr(begin, i - begin);
    // What the host evaluates, and what a lambda captures, follows from the body.
    constexpr std::array words = {Text("__host__"), Text("constexpr"), Text("consteval"),
                                  Text("auto"), Text("decltype")};
    const bool host = std::any_of(words.begin(), words.end(),
                                  [&](Text word) { return has_word(declared, word); });
    if (!parameters || host || may_capture(declared)) return {};
    const std::size_t end = body_end(code, i);
    if (end == Text::npos) return {Body::Kind::unclear, 0, 0};
    return {Body::Kind::found, i, end};
  }
  return {};
}

/// The line around `at`.
Text line_around(Text code, std::size_t at) {
  const std::size_t before = code.rfind('\n', at);
  const std::size_t begin = before == Text::npos ? 0 : before + 1;
  return code.substr(begin, code.find('\n', at) - begin);
}

}  // namespace

std::string host_part(const std::string& source) {
  for (const char* word :
       {"__LINE__", "__COUNTER__", "__builtin_LINE", "source_location", "__TIME"})
    if (source.find(word) != source.npos) return source;
  if (source.find("\\\n") != source.npos) return source;  // a macro may go on, and hold anything
  const std::optional<std::string> plain = without_comments(source);
  if (!plain) return source;
  const Text code = *plain;
  std::string part;
  std::size_t copied = 0;
  for (std::size_t at = code.find("__"); at != Text::npos; at = code.find("__", at)) {
    if (at > 0 && is_word(code[at - 1])) {
      at += 2;
      continue;
    }
    std::size_t end = at;
    while (end < code.size() && is_word(code[end])) ++end;
    const Text word = code.substr(at, end - at);
    at = end;
    if (word != "__global__" && word != "__device__") continue;
    if (line_around(code, end - 1).front() == '#') return source;  // a macro, for who knows what
    const Body body = body_of_declaration(code, end - word.size());
    if (body.kind == Body::Kind::unclear) return source;
    if (body.kind == Body::Kind::none) continue;
    part += code.substr(copied, body.begin - copied);
    part += "{}";
    copied = at = body.end;
  }
  part += code.substr(copied);
  return part;
}

}  // namespace grader
