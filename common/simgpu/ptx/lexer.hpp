// PTX tokens, made on demand from a text that must outlive the lexer. ISA chapter 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace simgpu::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    identifier,  ///< foo, %r1, $L__BB0_1, _, %tid.x
    directive,   ///< .name, the dot included
    number,      ///< integer or floating-point literal as written
    string,      ///< without the quotes
    punct,       ///< one character
    bad,         ///< a character or literal PTX does not have; `text` is the offending part
  };
  Kind kind = Kind::end;
  std::string_view text;
  std::uint32_t line = 1;

  bool is(char punct) const { return kind == Kind::punct && text.size() == 1 && text[0] == punct; }
  bool is_directive(std::string_view name) const { return kind == Kind::directive && text == name; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& peek() const { return current_; }
  Token next() {
    Token token = current_;
    advance();
    return token;
  }

  /// The current token is the identifier an instruction starts with; takes the dotted suffixes that
  /// touch it as well ("ld.global.v4.f32", "ld.shared::cta.b32").
  Token next_opcode();

  /// The current token is '{': goes behind the '}' that closes it without making tokens. False,
  /// and it stays where it is, if there is none, or if one of these directives may stand inside,
  /// which mean something outside of the braces: .file, .global, .const.
  bool skip_braces();

  /// Character that follows the current token directly, 0 at the end.
  char following() const { return position_ < text_.size() ? text_[position_] : '\0'; }

 private:
  void advance();
  void skip_blanks();

  std::string_view text_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 1;
  Token current_;
};

/// `text` fit for a message: at most 80 characters, control bytes and non-ASCII replaced by '?'.
std::string printable(std::string_view text);

}  // namespace simgpu::ptx
