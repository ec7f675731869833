#include "common/simgpu/ptx/lexer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace simgpu::ptx {
namespace {

// Not <cctype>: its answers depend on the locale and are undefined for negative chars.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}
constexpr bool is_exponent(char c) {
  return c == 'e' || c == 'E';
}
/// '\0' behind the end.
constexpr char char_at(std::string_view text, std::size_t i) {
  return i < text.size() ? text[i] : '\0';
}

struct Scanned {
  Token::Kind kind;
  std::size_t end;  ///< behind it
};

/// "name", "%r1", "%tid.x"
Scanned scan_name(std::string_view text, std::size_t begin) {
  const auto at = [text](std::size_t i) { return char_at(text, i); };
  std::size_t end = begin + 1;
  while (is_word(at(end))) ++end;
  // %tid.x and its kind are one name.
  if (at(begin) == '%' && at(end) == '.' && at(end + 1) >= 'w' && at(end + 1) <= 'z' &&
      !is_word(at(end + 2)))
    end += 2;
  return {Token::Kind::identifier, end};
}
/// ".reg", ".shared::cta"
Scanned scan_directive(std::string_view text, std::size_t begin) {
  const auto at = [text](std::size_t i) { return char_at(text, i); };
  std::size_t end = begin + 1;
  while (is_word(at(end)) || (at(end) == ':' && at(end + 1) == ':')) end += at(end) == ':' ? 2 : 1;
  return {Token::Kind::directive, end};
}
/// "12", "0x1F", "0f3F800000", "1.5e-3"
Scanned scan_number(std::string_view text, std::size_t begin) {
  const auto at = [text](std::size_t i) { return char_at(text, i); };
  const bool prefixed = at(begin) == '0' && is_letter(at(begin + 1)) && !is_exponent(at(begin + 1));
  const auto goes_on = [&](std::size_t i) {
    if (is_word(at(i))) return true;
    if (prefixed || !is_digit(at(i + 1))) return false;
    return at(i) == '.' || ((at(i) == '+' || at(i) == '-') && is_exponent(at(i - 1)));
  };
  std::size_t end = begin + 1;
  while (goes_on(end)) ++end;
  return {Token::Kind::number, end};
}
/// With both quotes; bad if the second is not on the same line.
Scanned scan_string(std::string_view text, std::size_t begin) {
  const auto at = [text](std::size_t i) { return char_at(text, i); };
  std::size_t end = begin + 1;
  while (end < text.size() && text[end] != '"' && text[end] != '\n')
    end += text[end] == '\\' && end + 1 < text.size() && text[end + 1] != '\n' ? 2 : 1;
  if (at(end) != '"') return {Token::Kind::bad, end};
  return {Token::Kind::string, end + 1};
}

/// The token that begins at `begin`.
Scanned scan(std::string_view text, std::size_t begin) {
  if (begin == text.size()) return {Token::Kind::end, begin};
  const char c = text[begin], next = char_at(text, begin + 1);
  if (is_letter(c) || c == '_' || c == '$' || (c == '%' && is_word(next)))
    return scan_name(text, begin);
  if (c == '.' && (is_letter(next) || next == '_')) return scan_directive(text, begin);
  if (is_digit(c)) return scan_number(text, begin);
  if (c == '"') return scan_string(text, begin);
  const bool known = std::string_view(",;:{}()[]<>=|&^~!@+-*/%?").find(c) != std::string_view::npos;
  return {known ? Token::Kind::punct : Token::Kind::bad, begin + 1};
}

/// Characters at which skip_braces() has to stop and look.
constexpr std::array<bool, 256> kTelling = [] {
  std::array<bool, 256> telling{};
  for (const char c : {'{', '}', '.', '/', '"'}) telling[static_cast<unsigned char>(c)] = true;
  return telling;
}();

/// A directive that means something outside of the braces it stands in.
bool reaches_out(std::string_view text, std::size_t dot) {
  if (dot > 0 && is_word(text[dot - 1])) return false;  // the suffix of an opcode
  if (text.substr(dot, 4) == ".loc") return false;      // most of the others
  return std::ranges::any_of(std::array{".file", ".global", ".const"}, [&](std::string_view name) {
    return text.substr(dot, name.size()) == name;
  });
}

/// Behind the comment that begins here; where there is none, here.
std::size_t behind_comment(std::string_view text, std::size_t begin) {
  const bool line = text.substr(begin, 2) == "//", block = text.substr(begin, 2) == "/*";
  if (!line && !block) return begin;
  const std::size_t end = line ? text.find('\n', begin) : text.find("*/", begin + 2);
  return end == std::string_view::npos ? text.size() : line ? end : end + 2;
}

}  // namespace

bool Lexer::skip_braces() {
  std::size_t depth = 1, at = position_;
  while (depth > 0) {
    // Each worker of a class comes through all text of a lab, 4 MB for lab 5: 1.7 ns a character
    // with the switch alone, 0.8 with this and the short ways for .loc and lines.
    while (at < text_.size() && !kTelling[static_cast<unsigned char>(text_[at])]) ++at;
    if (at >= text_.size()) return false;
    switch (text_[at]) {
      case '{':
        ++depth;
        break;
      case '}':
        --depth;
        break;
      case '.':
        if (reaches_out(text_, at)) return false;
        break;
      case '/':
        at = std::max(at + 1, behind_comment(text_, at));
        continue;
      case '"': {
        const Scanned string = scan_string(text_, at);
        if (string.kind == Token::Kind::bad) return false;
        at = string.end;
        continue;
      }
      default:
        break;
    }
    ++at;
  }
  const std::string_view skipped = std::string_view(text_).substr(position_, at - position_);
  for (auto end = skipped.find('\n'); end != skipped.npos; end = skipped.find('\n', end + 1))
    ++line_;
  position_ = at;
  advance();
  return true;
}

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      ++line_;
      ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      const std::size_t end = text_.find('\n', position_);
      position_ = end == std::string_view::npos ? text_.size() : end;
    } else if (text_.substr(position_, 2) == "/*") {
      std::size_t end = text_.find("*/", position_ + 2);
      end = end == std::string_view::npos ? text_.size() : end + 2;
      for (; position_ < end; ++position_) line_ += text_[position_] == '\n';
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  skip_blanks();
  const Scanned token = scan(text_, position_);
  const bool quoted = token.kind == Token::Kind::string;
  current_ =
      Token{token.kind, text_.substr(position_ + quoted, token.end - position_ - (quoted ? 2 : 0)),
            line_};
  position_ = token.end;
}

Token Lexer::next_opcode() {
  Token token = current_;
  const auto at = [&](std::size_t i) { return i < text_.size() ? text_[i] : '\0'; };
  std::size_t end = position_;
  while ((at(end) == '.' && is_word(at(end + 1))) || (at(end) == ':' && at(end + 1) == ':')) {
    end += at(end) == '.' ? 1 : 2;
    while (is_word(at(end))) ++end;
  }
  const std::size_t begin = static_cast<std::size_t>(token.text.data() - text_.data());
  token.text = text_.substr(begin, end - begin);
  position_ = end;
  advance();
  return token;
}

std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 80;
  std::string result;
  for (const char c : text.substr(0, kMost)) result += c >= ' ' && c <= '~' ? c : '?';
  if (text.size() > kMost) result += "...";
  return result;
}

}  // namespace simgpu::ptx
