#include "common/simgpu/ptx/names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "common/simgpu/ptx/clusters.hpp"
#include "common/simgpu/ptx/lexer.hpp"

namespace simgpu::ptx {
namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// <source-name> ::= <length> <identifier>, at `at`; moves `at` behind it.
std::optional<std::string_view> source_name(std::string_view text, std::size_t* at) {
  std::size_t length = 0, i = *at;
  for (std::size_t digits = 0; i < text.size() && is_digit(text[i]) && digits < 6; ++i, ++digits)
    length = length * 10 + static_cast<std::size_t>(text[i] - '0');
  if (i == *at || length == 0 || length > text.size() - i) return std::nullopt;
  *at = i + length;
  return text.substr(i, length);
}

/// Finds the 'E' that closes a construct. Not a full grammar: names are skipped by their length, and
/// of what remains only what opens or closes nests.
class Nesting {
 public:
  /// Just behind the letter `opener`.
  Nesting(std::string_view text, std::size_t at, char opener)
      : text_(text), at_(at), open_(1, opener) {}

  std::optional<std::size_t> closing_e() {
    while (at_ < text_.size()) {
      if (text_[at_] == 'E') {
        const char closed = open_.back();
        open_.pop_back();
        if (open_.empty()) return at_;
        ++at_;
        if (closed == 'U') skip_number();
      } else if (!skip()) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_digits() {
    while (is_digit(peek())) ++at_;
  }

  /// A lambda's or an unnamed type's, [<number>] _.
  void skip_number() {
    skip_digits();
    ++at_;
  }

  /// False if what stands here is no name.
  bool skip() {
    const char c = text_[at_];
    if (is_digit(c)) {
      if (open_.back() != 'L') return source_name(text_, &at_).has_value();
      skip_digits();  // a literal's value, not a length
    } else if (c == 'S' || c == 'T') {
      // St, Sa, Ss are two characters; S_, S0_, T_, T0_ end in '_'.
      ++at_;
      while (is_digit(peek()) || (peek() >= 'A' && peek() <= 'Z')) ++at_;
      ++at_;
    } else if (c == 'D') {
      skip_type();
    } else if (c == 'U') {
      // Ul <parameters> E [<number>] _, Ut [<number>] _
      const char second = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      at_ += 2;
      if (second == 'l') open_ += 'U';
      if (second == 't') skip_number();
    } else if (c == '_') {
      ++at_;  // and which one of several it is
      if (peek() == '_') ++at_;
      skip_digits();
    } else if (c == 'L' && open_.back() != 'N' && open_.back() != 'Z') {
      return skip_literal();
    } else {
      if (std::string_view("IJNXFZ").find(c) != std::string_view::npos) open_ += c;
      ++at_;
    }
    return true;
  }
  /// Two-character types; DF16_ and Dv4_ go on, DT and Dt hold an expression.
  void skip_type() {
    ++at_;
    const char second = peek();
    ++at_;
    if (second == 'T' || second == 't') open_ += 'X';
    if (second != 'F' && second != 'v') return;
    skip_digits();
    ++at_;
  }
  bool skip_literal() {
    ++at_;
    if (text_.substr(at_, 2) == "_Z") {
      open_ += 'Z';
      at_ += 2;
      return true;
    }
    open_ += 'L';
    return !is_digit(peek()) || source_name(text_, &at_);
  }

  std::string_view text_;
  std::size_t at_;
  /// A stack: I and J arguments, N nested, X expression, F function, Z local, L literal, U
  /// lambda.
  std::string open_;
};

/// Last component of "N...E" with `at` just behind the N.
std::optional<std::string_view> last_nested(std::string_view text, std::size_t at) {
  std::optional<std::string_view> last;
  while (at < text.size() && text[at] != 'E') {
    if (is_digit(text[at])) {
      last = source_name(text, &at);
      if (!last) return std::nullopt;
    } else if (text[at] == 'I') {
      const auto end = Nesting(text, at + 1, 'I').closing_e();
      if (!end) return std::nullopt;
      at = *end + 1;
    } else {
      ++at;
    }
  }
  return last;
}

/// Name of an entity at `at`: "1s", "L1s", "N3lab1sE".
std::optional<std::string_view> entity(std::string_view text, std::size_t at) {
  if (at < text.size() && text[at] == 'L') ++at;
  if (at < text.size() && text[at] == 'N') return last_nested(text, at + 1);
  return source_name(text, &at);
}

/// `_Z` name cut behind the name and template arguments of the function: "_Z4kernIfLi8EE".
std::string_view without_parameters(std::string_view mangled) {
  std::size_t at = 2;
  if (at < mangled.size() && mangled[at] == 'L') ++at;
  if (at < mangled.size() && mangled[at] == 'N') {
    const auto end = Nesting(mangled, at + 1, 'N').closing_e();
    return end ? mangled.substr(0, *end + 1) : mangled;
  }
  if (!source_name(mangled, &at)) return mangled;
  if (at < mangled.size() && mangled[at] == 'I') {
    const auto end = Nesting(mangled, at + 1, 'I').closing_e();
    return end ? mangled.substr(0, *end + 1) : mangled;
  }
  return mangled.substr(0, at);
}

/// Every substitution may repeat all that came before it, so a short name can stand for a text of
/// exponential length. This many can at most double it this often.
bool is_harmless(std::string_view mangled) {
  constexpr std::size_t kMostBytes = 1024, kMostReferences = 12;
  if (mangled.size() > kMostBytes) return false;
  std::size_t references = 0;
  for (std::size_t i = 0; i + 1 < mangled.size(); ++i) {
    const char c = mangled[i + 1];
    const bool follows = c == '_' || is_digit(c) || (c >= 'A' && c <= 'Z');
    if ((mangled[i] == 'S' || mangled[i] == 'T') && follows) ++references;
  }
  return references <= kMostReferences;
}

}  // namespace

std::optional<std::string> written_out(std::string_view mangled) {
  if (!is_harmless(mangled)) return {};
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || text == nullptr) return {};
  return text.get();
}

std::string pretty_variable_name(std::string_view mangled) {
  std::optional<std::string_view> name;
  if (mangled.substr(0, 3) == "_ZZ") {
    if (const auto end = Nesting(mangled, 3, 'Z').closing_e()) name = entity(mangled, *end + 1);
  } else if (mangled.substr(0, 2) == "_Z") {
    name = entity(mangled, 2);
  }
  return std::string(name.value_or(mangled));
}

std::string demangle(std::string_view mangled) {
  if (mangled.substr(0, 2) != "_Z") return std::string(mangled);
  const std::string untagged = without_cluster_tag(std::string(mangled));
  if (auto text = written_out(without_parameters(untagged))) return std::move(*text);
  const auto name = entity(mangled, 2);
  return std::string(name.value_or(mangled));
}

bool is_builtin_path(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  const std::string_view base = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return base.substr(0, 8) == "__clang_" ||
         path.find("simgpu/include/") != std::string_view::npos ||
         path.find("/lib/clang/") != std::string_view::npos;
}

}  // namespace simgpu::ptx
