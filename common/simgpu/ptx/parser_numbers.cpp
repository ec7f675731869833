// Numbers and constant expressions.
#include <bit>
#include <charconv>
#include <cstdlib>

#include "common/simgpu/ptx/parser_state.hpp"

namespace simgpu::ptx::parsing {

std::optional<std::uint64_t> Parser::parse_digits(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty())
    return std::nullopt;
  return value;
}

Literal Parser::parse_number() {
  const Token token = next();
  std::string_view text = token.text;
  const auto bad = [&]() { fail_at(token.line, "bad number '" + printable(text) + "'"); };
  Literal literal;
  const char second = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
  if (second == 'f' || second == 'F' || second == 'd' || second == 'D') {
    literal.is_float = true;
    literal.is_single = second == 'f' || second == 'F';
    const auto bits = parse_digits(text.substr(2), 16);
    if (!bits || text.size() != (literal.is_single ? 10u : 18u)) bad();
    literal.bits = *bits;
    return literal;
  }
  std::string_view digits = text;
  if (!digits.empty() && digits.back() == 'U') digits.remove_suffix(1);
  int base = 10;
  if (second == 'x' || second == 'X') {
    base = 16;
    digits.remove_prefix(2);
  } else if (second == 'b' || second == 'B') {
    base = 2;
    digits.remove_prefix(2);
  } else if (second >= '0' && second <= '9') {
    base = 8;
  }
  if (const auto value = parse_digits(digits, base)) {
    literal.bits = *value;
    return literal;
  }
  // Not "0x1e5", and not an integer that is merely too large.
  const bool is_decimal =
      base != 16 && base != 2 && text.find_first_of(".eE") != std::string_view::npos;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!is_decimal || error != std::errc{} || end != text.data() + text.size()) bad();
  literal.is_float = true;
  literal.bits = std::bit_cast<std::uint64_t>(value);
  return literal;
}

namespace {

/// 0: no binary operator.
int precedence_of(std::string_view op) {
  constexpr std::string_view kLevels[] = {"|", "^", "&", "+-", "*/%"};
  if (op.size() != 1) return 0;
  for (std::size_t level = 0; level < std::size(kLevels); ++level)
    if (kLevels[level].find(op[0]) != std::string_view::npos) return static_cast<int>(level) + 1;
  return 0;
}

/// Wrap-around in unsigned arithmetic is the definition; only division needs the sign. The divisor is
/// not 0.
std::uint64_t apply(char op, std::uint64_t left, std::uint64_t right) {
  const auto a = static_cast<std::int64_t>(left), b = static_cast<std::int64_t>(right);
  switch (op) {
    case '|':
      return left | right;
    case '^':
      return left ^ right;
    case '&':
      return left & right;
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return b == -1 ? 0 - left : static_cast<std::uint64_t>(a / b);
    default:
      return b == -1 ? 0 : static_cast<std::uint64_t>(a % b);
  }
}

}  // namespace

Literal Parser::parse_constant(int min_precedence, unsigned depth) {
  if (depth > limits_.nesting) fail("constant expression nested too deeply");
  Literal left = parse_constant_unary(depth + 1);
  for (;;) {
    const Token op = peek();
    const int precedence = op.kind == Token::Kind::punct ? precedence_of(op.text) : 0;
    if (precedence == 0 || precedence < min_precedence) return left;
    next();
    const Literal right = parse_constant(precedence + 1, depth + 1);
    if (left.is_float || right.is_float) fail_at(op.line, "arithmetic on floating-point literals");
    const char c = op.text[0];
    if ((c == '/' || c == '%') && right.bits == 0)
      fail_at(op.line, "division by zero in a constant expression");
    left.bits = apply(c, left.bits, right.bits);
  }
}

Literal Parser::parse_constant_unary(unsigned depth) {
  if (depth > limits_.nesting) fail("constant expression nested too deeply");
  if (accept('(')) {
    const Literal inner = parse_constant(1, depth + 1);
    expect(')');
    return inner;
  }
  if (accept('-')) {
    Literal inner = parse_constant_unary(depth + 1);
    if (inner.is_float)
      inner.bits ^= inner.is_single ? 0x80000000u : 0x8000000000000000u;
    else
      inner.bits = 0 - inner.bits;
    return inner;
  }
  if (accept('+')) return parse_constant_unary(depth + 1);
  if (peek().is('~') || peek().is('!')) {
    const bool logical = next().text[0] == '!';
    Literal inner = parse_constant_unary(depth + 1);
    if (inner.is_float) fail("'~' and '!' need an integer");
    inner.bits = logical ? inner.bits == 0 : ~inner.bits;
    return inner;
  }
  if (peek().kind == Token::Kind::identifier && peek().text == "WARP_SZ") {
    next();
    return Literal{false, false, 32};
  }
  if (peek().kind != Token::Kind::number) unexpected("a number");
  return parse_number();
}

std::int64_t Parser::parse_integer(std::string_view what) {
  const std::uint32_t line = peek().line;
  const Literal literal = parse_constant();
  if (literal.is_float) fail_at(line, std::string(what) + " must be an integer");
  return static_cast<std::int64_t>(literal.bits);
}

std::uint32_t Parser::parse_count(std::string_view what, std::uint64_t most) {
  const std::uint32_t line = peek().line;
  const auto value = static_cast<std::uint64_t>(parse_integer(what));
  if (value > most)
    fail_at(line, std::string(what) + " " + std::to_string(value) + " is over the limit of " +
                      std::to_string(most));
  return static_cast<std::uint32_t>(value);
}

std::int64_t Parser::bits_for(const Literal& literal, Type type, std::uint32_t line) {
  const bool wants_float = type == Type::f32 || type == Type::f64;
  if (!literal.is_float) {
    if (wants_float || type == Type::tf32)
      fail_at(line, "an integer literal where ." + std::string(to_string(type)) + " is needed");
    return static_cast<std::int64_t>(literal.bits);
  }
  const bool wants_double = type == Type::f64 || type == Type::b64;
  if (!wants_float && type != Type::b32 && type != Type::b64)
    fail_at(line, "a floating-point literal where ." + std::string(to_string(type)) + " is needed");
  if (wants_double) {
    if (!literal.is_single) return static_cast<std::int64_t>(literal.bits);
    return std::bit_cast<std::int64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(literal.bits))));
  }
  if (literal.is_single) return static_cast<std::int64_t>(literal.bits);
  const auto narrowed = static_cast<float>(std::bit_cast<double>(literal.bits));
  return static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(narrowed));
}

}  // namespace simgpu::ptx::parsing
