#include "common/simgpu/ptx/lexer.hpp"

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

}  // namespace

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
  current_ = Token{Token::Kind::end, {}, line_};
  const std::size_t begin = position_;
  const std::size_t size = text_.size();
  if (begin == size) return;
  const char c = text_[begin];
  const auto at = [&](std::size_t i) { return i < size ? text_[i] : '\0'; };
  std::size_t end = begin + 1;
  Token::Kind kind = Token::Kind::punct;

  if (is_letter(c) || c == '_' || c == '$' || (c == '%' && is_word(at(begin + 1)))) {
    kind = Token::Kind::identifier;
    while (is_word(at(end))) ++end;
    // %tid.x and its kind are one name.
    if (c == '%' && at(end) == '.' && at(end + 1) >= 'w' && at(end + 1) <= 'z' &&
        !is_word(at(end + 2))) {
      end += 2;
    }
  } else if (c == '.' && (is_letter(at(begin + 1)) || at(begin + 1) == '_')) {
    kind = Token::Kind::directive;
    while (is_word(at(end)) || (at(end) == ':' && at(end + 1) == ':')) {
      end += at(end) == ':' ? 2 : 1;
    }
  } else if (is_digit(c)) {
    kind = Token::Kind::number;
    const bool prefixed =
        c == '0' && is_letter(at(begin + 1)) && at(begin + 1) != 'e' && at(begin + 1) != 'E';
    while (is_word(at(end)) || (!prefixed && at(end) == '.' && is_digit(at(end + 1))) ||
           (!prefixed && (at(end) == '+' || at(end) == '-') && is_digit(at(end + 1)) &&
            (text_[end - 1] == 'e' || text_[end - 1] == 'E'))) {
      ++end;
    }
  } else if (c == '"') {
    kind = Token::Kind::string;
    while (end < size && text_[end] != '"' && text_[end] != '\n') {
      end += text_[end] == '\\' && end + 1 < size && text_[end + 1] != '\n' ? 2 : 1;
    }
    if (at(end) != '"') {
      current_ = Token{Token::Kind::bad, text_.substr(begin, end - begin), line_};
      position_ = end;
      return;
    }
    current_ = Token{kind, text_.substr(begin + 1, end - begin - 1), line_};
    position_ = end + 1;
    return;
  } else if (std::string_view(",;:{}()[]<>=|&^~!@+-*/%?").find(c) == std::string_view::npos) {
    kind = Token::Kind::bad;
  }
  current_ = Token{kind, text_.substr(begin, end - begin), line_};
  position_ = end;
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
