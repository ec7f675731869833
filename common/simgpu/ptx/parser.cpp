#include "common/simgpu/ptx/parser.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "common/simgpu/ptx/lexer.hpp"
#include "common/simgpu/ptx/names.hpp"
#include "common/simgpu/ptx/opcodes.hpp"

namespace simgpu::ptx {

ParseError::ParseError(std::string message, unsigned ptx_line_, std::string source_file_,
                       unsigned source_line_, bool is_unsupported)
    : std::runtime_error(std::move(message)),
      ptx_line(ptx_line_),
      source_file(std::move(source_file_)),
      source_line(source_line_),
      unsupported(is_unsupported) {}

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr std::uint32_t kMostLine = 10'000'000;  // #line may claim anything
constexpr std::uint32_t kMostColumn = 65'535;
constexpr std::size_t kMostRegisterName = 64;
constexpr std::size_t kMostVectorElements = 64;  // the longest real one, wmma's, has 16
constexpr std::uint64_t kMostInitialisedBytes = 16u << 20;

using Kind = Operand::Kind;

/// A .loc as written; files may be declared after their use, so it is resolved at the very end.
struct RawLocation {
  std::uint32_t file = 0, line = 0, column = 0;
  std::uint32_t inlined_file = 0, inlined_line = 0, inlined_column = 0;
};

/// What a name in a body or in a parameter list stands for.
struct Named {
  Kind kind = Kind::none;  ///< reg, param or symbol
  std::uint32_t index = 0;
};

/// Names of one brace scope. `ranges` are .reg declarations "%r<100>".
struct Scope {
  std::uint32_t id = 0;
  std::map<std::string_view, Named> names;
  struct Range {
    std::uint32_t first, count;
  };
  std::map<std::string_view, Range> ranges;
};

struct LabelUse {
  std::uint32_t slot;  ///< instruction
  std::uint32_t scope;
  std::string_view name;
  std::uint32_t line;
};

struct BranchTable {
  std::vector<std::pair<std::string_view, std::uint32_t>> targets;  ///< label, line
};

struct TableUse {
  std::uint32_t instruction;
  std::uint32_t scope;
  std::string_view name;
  std::uint32_t line;
};

using ScopedName = std::pair<std::uint32_t, std::string_view>;

/// State of the body being parsed.
struct Body {
  std::vector<Scope> scopes;                 ///< innermost last
  std::vector<std::uint32_t> scope_parents;  ///< by scope id; the outermost is its own parent
  std::map<ScopedName, std::uint32_t> labels;
  std::map<ScopedName, BranchTable> tables;
  std::vector<LabelUse> label_uses;
  std::vector<TableUse> table_uses;
  std::vector<std::uint32_t> locations;  ///< by instruction: index into Parser::locations_
  std::uint64_t local_bytes = 0;
  bool label_at_end = false;
};

struct Literal {
  bool is_float = false;
  bool is_single = false;  ///< written as 0f...
  std::uint64_t bits =
      0;  ///< integers: two's complement; floats: the double's pattern (single: the float's)
};

class Parser {
 public:
  Parser(std::string text, const Limits& limits) : limits_(limits) {
    if (text.size() > limits.text_bytes)
      throw ParseError("PTX text of " + std::to_string(text.size()) + " bytes: the limit is " +
                           std::to_string(limits.text_bytes),
                       0, {}, 0, false);
    module_.text = std::move(text);
    module_.files.emplace_back();
    locations_.emplace_back();
  }

  Module parse() {
    lexer_.emplace(module_.text);
    parse_header();
    while (peek().kind != Token::Kind::end) parse_module_item();
    resolve_locations();
    for (const Function& function : module_.functions)
      module_.function_index.emplace(function.name, 0);
    for (std::uint32_t i = 0; i < module_.functions.size(); ++i)
      module_.function_index[module_.functions[i].name] = i;
    return std::move(module_);
  }

 private:
  // ---- errors and small helpers -----------------------------------------------------------------

  [[noreturn]] void fail_at(std::uint32_t line, const std::string& message,
                            bool unsupported = false) {
    const Location where = author_location(location_);
    std::string text = "PTX line " + std::to_string(line);
    const std::string& file = module_.files[where.file].path;
    if (where.line != 0) text += " (" + printable(file) + ":" + std::to_string(where.line) + ")";
    throw ParseError(text + ": " + message, line, where.line != 0 ? file : std::string(),
                     where.line, unsupported);
  }
  [[noreturn]] void fail(const std::string& message) { fail_at(peek().line, message); }
  [[noreturn]] void unexpected(std::string_view wanted) {
    const Token& t = peek();
    const std::string got =
        t.kind == Token::Kind::end ? "the end of the text" : "'" + printable(t.text) + "'";
    fail("expected " + std::string(wanted) + ", found " + got);
  }

  const Token& peek() const { return lexer_->peek(); }
  Token next() { return lexer_->next(); }
  bool accept(char c) {
    if (!peek().is(c)) return false;
    next();
    return true;
  }
  bool accept_directive(std::string_view name) {
    if (!peek().is_directive(name)) return false;
    next();
    return true;
  }
  void expect(char c) {
    if (!accept(c)) unexpected(std::string("'") + c + "'");
  }
  Token expect_identifier(std::string_view what) {
    if (peek().kind != Token::Kind::identifier) unexpected(what);
    return next();
  }

  /// Counts anything that costs memory against one budget.
  void charge(std::size_t amount = 1) {
    work_ += amount;
    if (work_ > limits_.instructions)
      fail("more than " + std::to_string(limits_.instructions) +
           " instructions, labels and operands");
  }

  // ---- numbers ----------------------------------------------------------------------------------

  std::optional<std::uint64_t> parse_digits(std::string_view digits, int base) {
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty())
      return std::nullopt;
    return value;
  }

  Literal parse_number() {
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

  /// A constant expression (ISA 4.5): integers with C's operators; a lone float literal.
  Literal parse_constant(int min_precedence = 1, unsigned depth = 0) {
    if (depth > limits_.nesting) fail("constant expression nested too deeply");
    Literal left = parse_constant_unary(depth + 1);
    for (;;) {
      const Token& op = peek();
      if (op.kind != Token::Kind::punct || op.text.size() != 1) return left;
      const char c = op.text[0];
      const int precedence = c == '|'                           ? 1
                             : c == '^'                         ? 2
                             : c == '&'                         ? 3
                             : c == '+' || c == '-'             ? 4
                             : c == '*' || c == '/' || c == '%' ? 5
                                                                : 0;
      if (precedence == 0 || precedence < min_precedence) return left;
      const std::uint32_t line = next().line;
      const Literal right = parse_constant(precedence + 1, depth + 1);
      if (left.is_float || right.is_float) fail_at(line, "arithmetic on floating-point literals");
      // Wrap-around in unsigned arithmetic is the definition; only division needs the sign.
      const auto a = static_cast<std::int64_t>(left.bits),
                 b = static_cast<std::int64_t>(right.bits);
      switch (c) {
        case '|':
          left.bits |= right.bits;
          break;
        case '^':
          left.bits ^= right.bits;
          break;
        case '&':
          left.bits &= right.bits;
          break;
        case '+':
          left.bits += right.bits;
          break;
        case '-':
          left.bits -= right.bits;
          break;
        case '*':
          left.bits *= right.bits;
          break;
        default:
          if (b == 0) fail_at(line, "division by zero in a constant expression");
          if (b == -1)
            left.bits = c == '/' ? 0 - left.bits : 0;
          else
            left.bits = static_cast<std::uint64_t>(c == '/' ? a / b : a % b);
      }
    }
  }

  Literal parse_constant_unary(unsigned depth) {
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

  std::int64_t parse_integer(std::string_view what) {
    const std::uint32_t line = peek().line;
    const Literal literal = parse_constant();
    if (literal.is_float) fail_at(line, std::string(what) + " must be an integer");
    return static_cast<std::int64_t>(literal.bits);
  }

  /// Small non-negative integer of a directive.
  std::uint32_t parse_count(std::string_view what, std::uint64_t most = UINT32_MAX) {
    const std::uint32_t line = peek().line;
    const auto value = static_cast<std::uint64_t>(parse_integer(what));
    if (value > most)
      fail_at(line, std::string(what) + " " + std::to_string(value) + " is over the limit of " +
                        std::to_string(most));
    return static_cast<std::uint32_t>(value);
  }

  /// The literal as a bit pattern of `type`, sign-extended for integers.
  std::int64_t bits_for(const Literal& literal, Type type, std::uint32_t line) {
    const bool wants_float = type == Type::f32 || type == Type::f64;
    if (!literal.is_float) {
      if (wants_float || type == Type::tf32)
        fail_at(line, "an integer literal where ." + std::string(to_string(type)) + " is needed");
      return static_cast<std::int64_t>(literal.bits);
    }
    const bool wants_double = type == Type::f64 || type == Type::b64;
    if (!wants_float && type != Type::b32 && type != Type::b64)
      fail_at(line,
              "a floating-point literal where ." + std::string(to_string(type)) + " is needed");
    if (wants_double) {
      if (!literal.is_single) return static_cast<std::int64_t>(literal.bits);
      return std::bit_cast<std::int64_t>(
          static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(literal.bits))));
    }
    if (literal.is_single) return static_cast<std::int64_t>(literal.bits);
    const auto narrowed = static_cast<float>(std::bit_cast<double>(literal.bits));
    return static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(narrowed));
  }

  // ---- source locations -------------------------------------------------------------------------

  const SourceFile* file_of(std::uint32_t number) const {
    const auto it = file_index_.find(number);
    return it == file_index_.end() ? nullptr : &module_.files[it->second];
  }

  /// The author's place a .loc names, or {0,0,0} if it has none of its own.
  Location author_location(const RawLocation& raw) const {
    const auto place = [&](std::uint32_t file, std::uint32_t line,
                           std::uint32_t column) -> Location {
      const auto it = file_index_.find(file);
      if (it == file_index_.end() || module_.files[it->second].is_builtin || line == 0) return {};
      return {it->second, line, column};
    };
    const Location own = place(raw.file, raw.line, raw.column);
    return own.line != 0 ? own : place(raw.inlined_file, raw.inlined_line, raw.inlined_column);
  }

  void parse_file() {
    const std::uint32_t line = peek().line;
    const std::uint32_t number = parse_count("file number");
    if (peek().kind != Token::Kind::string) unexpected("a file name");
    const std::string path(next().text);
    while (accept(',')) parse_integer("file time or size");
    if (module_.files.size() > limits_.files) fail_at(line, "too many .file directives");
    file_index_[number] = static_cast<std::uint32_t>(module_.files.size());
    module_.files.push_back(SourceFile{path, is_builtin_path(path)});
  }

  void parse_loc() {
    RawLocation raw;
    const auto clamped = [&](std::string_view what, std::uint32_t most) {
      const std::int64_t value = parse_integer(what);
      return value < 0 ? 0u : static_cast<std::uint32_t>(std::min<std::int64_t>(value, most));
    };
    raw.file = clamped("file number", UINT32_MAX);
    raw.line = clamped("line", kMostLine);
    raw.column = clamped("column", kMostColumn);
    while (accept(',')) {
      const Token key = expect_identifier("function_name or inlined_at");
      if (key.text == "function_name") {
        expect_identifier("a label");
        if (accept('+')) parse_integer("offset");
      } else if (key.text == "inlined_at") {
        raw.inlined_file = clamped("file number", UINT32_MAX);
        raw.inlined_line = clamped("line", kMostLine);
        raw.inlined_column = clamped("column", kMostColumn);
      } else {
        fail_at(key.line, "unknown .loc attribute '" + printable(key.text) + "'");
      }
    }
    location_ = raw;
    location_pending_ = true;
  }

  /// Index of the current .loc in locations_; stored only when an instruction uses it.
  std::uint32_t current_location() {
    if (location_pending_) {
      locations_.push_back(location_);
      location_pending_ = false;
    }
    return static_cast<std::uint32_t>(locations_.size() - 1);
  }

  void resolve_locations() {
    for (std::size_t f = 0; f < module_.functions.size(); ++f) {
      Function& function = module_.functions[f];
      const FunctionLocations& raw = function_locations_[f];
      if (raw.first != kNone) function.where = author_location(locations_[raw.first]);
      for (const std::uint32_t index : raw.instructions) {
        if (function.where.line != 0) break;
        function.where = author_location(locations_[index]);
      }
      Location last = function.where;
      for (std::size_t i = 0; i < function.body.size(); ++i) {
        const Location own = author_location(locations_[raw.instructions[i]]);
        if (own.line != 0) last = own;
        function.body[i].where = last;
      }
      if (!function.unsupported.empty()) {
        const Location own = author_location(locations_[raw.unsupported]);
        function.unsupported_where = own.line != 0 ? own : function.where;
      }
    }
  }

  // ---- module scope -----------------------------------------------------------------------------

  void parse_header() {
    if (!accept_directive(".version")) unexpected(".version");
    if (peek().kind != Token::Kind::number) unexpected("a version number");
    module_.version = std::string(next().text);
    if (!accept_directive(".target")) unexpected(".target");
    module_.target = std::string(expect_identifier("a target").text);
    while (accept(',')) expect_identifier("a target option");
    if (accept_directive(".address_size")) {
      if (parse_count("address size") != 64) fail("only 64-bit addresses are supported");
    }
  }

  void parse_module_item() {
    const Token token = peek();
    if (token.kind != Token::Kind::directive) unexpected("a directive");
    bool is_extern = false;
    while (peek().kind == Token::Kind::directive) {
      const std::string_view text = peek().text;
      if (text != ".visible" && text != ".extern" && text != ".weak" && text != ".common") break;
      is_extern |= text == ".extern";
      next();
    }
    const Token what = peek();
    if (what.kind != Token::Kind::directive) unexpected("a directive");
    next();
    if (what.text == ".entry" || what.text == ".func") {
      parse_function(what.text == ".entry", what.line);
    } else if (what.text == ".global" || what.text == ".const" || what.text == ".shared" ||
               what.text == ".local") {
      parse_variables(space_of(what), is_extern);
    } else if (what.text == ".file") {
      parse_file();
    } else if (what.text == ".section") {
      skip_section();
    } else if (what.text == ".pragma") {
      skip_pragma();
    } else if (what.text == ".loc") {
      parse_loc();
    } else {
      unknown_directive(what);
    }
  }

  [[noreturn]] void unknown_directive(const Token& what) {
    fail_at(what.line, "unknown directive '" + printable(what.text) + "'");
  }

  Space space_of(const Token& directive) {
    if (directive.text == ".global") return Space::global;
    if (directive.text == ".const") return Space::constant;
    if (directive.text == ".shared") return Space::shared;
    return Space::local;
  }

  /// Debug sections hold nothing simgpu uses.
  void skip_section() {
    if (peek().kind != Token::Kind::directive || peek().text.substr(0, 7) != ".debug_")
      unexpected("a .debug_ section");
    next();
    expect('{');
    while (!peek().is('}')) {
      if (peek().kind == Token::Kind::end || peek().kind == Token::Kind::bad) unexpected("'}'");
      next();
    }
    next();
  }

  void skip_pragma() {
    do {
      if (peek().kind != Token::Kind::string) unexpected("a string");
      next();
    } while (accept(','));
    expect(';');
  }

  // ---- variables --------------------------------------------------------------------------------

  Type expect_type() {
    if (peek().kind != Token::Kind::directive) unexpected("a type");
    const auto type = type_from_name(peek().text.substr(1));
    if (!type) fail("unknown type '" + printable(peek().text) + "'");
    next();
    return *type;
  }

  struct Declaration {
    Type type = Type::none;
    std::uint32_t align = 0;
    std::uint32_t vec = 1;
    std::uint64_t element_count = 1;
    std::vector<std::uint64_t> dimensions;
    bool is_unsized = false;
    std::uint64_t element_size() const { return std::uint64_t{size_of(type)} * vec; }
  };

  /// ".align 8 .v4 .f32": everything before the name.
  Declaration parse_declaration_head() {
    Declaration d;
    for (;;) {
      if (accept_directive(".align")) {
        d.align = parse_count("alignment", 1u << 16);
        if (!std::has_single_bit(d.align)) fail("an alignment must be a power of two");
      } else if (accept_directive(".v2")) {
        d.vec = 2;
      } else if (accept_directive(".v4")) {
        d.vec = 4;
      } else if (accept_directive(".ptr")) {
        // Hints on what a pointer parameter points to: .ptr .global .align 16
        if (peek().is_directive(".global") || peek().is_directive(".shared") ||
            peek().is_directive(".const") || peek().is_directive(".local"))
          next();
        if (accept_directive(".align")) parse_count("alignment", 1u << 16);
        break;
      } else if (peek().is_directive(".attribute")) {
        fail_at(peek().line, "'.attribute' (managed or unified memory) is not supported", true);
      } else if (d.type == Type::none) {
        d.type = expect_type();
        if (d.type == Type::pred || size_of(d.type) == 0) fail("a variable cannot have this type");
      } else {
        break;
      }
    }
    if (d.type == Type::none) unexpected("a type");
    if (d.align == 0) d.align = static_cast<std::uint32_t>(d.element_size());
    return d;
  }

  /// "[16][32]" behind the name.
  void parse_dimensions(Declaration* d, std::uint64_t most_bytes) {
    for (bool first = true; accept('['); first = false) {
      if (d->dimensions.size() == limits_.nesting) fail("too many dimensions");
      if (first && accept(']')) {
        d->is_unsized = true;
        d->dimensions.push_back(1);
        continue;
      }
      const std::uint32_t line = peek().line;
      const std::int64_t extent = parse_integer("array size");
      expect(']');
      if (extent < 0) fail_at(line, "negative array size");
      const auto n = static_cast<std::uint64_t>(extent);
      const std::uint64_t most = most_bytes / std::max<std::uint64_t>(1, d->element_size());
      if (n != 0 && d->element_count > most / n)
        fail_at(line, "array of more than " + std::to_string(most_bytes) + " bytes");
      d->element_count *= n;
      d->dimensions.push_back(n);
    }
  }

  std::uint64_t byte_limit(Space space) const {
    switch (space) {
      case Space::shared:
        return limits_.shared_bytes;
      case Space::local:
        return limits_.local_bytes;
      default:
        return limits_.global_bytes;
    }
  }

  /// One declaration, perhaps of several names. `body` is null at module scope.
  void parse_variables(Space space, bool is_extern, Body* body = nullptr,
                       Function* function = nullptr) {
    const Declaration head = parse_declaration_head();
    do {
      const Token name = expect_identifier("a variable name");
      Declaration d = head;
      parse_dimensions(&d, byte_limit(space));
      Variable variable;
      variable.name = std::string(name.text);
      variable.pretty = pretty_variable_name(name.text);
      variable.space = space;
      variable.type = d.type;
      variable.align = d.align;
      variable.is_extern = is_extern;
      if (peek().is('=')) {
        if (space != Space::global && space != Space::constant)
          fail("only .global and .const variables can be initialised");
        next();
        parse_initialiser(&d, &variable);
      }
      if (d.is_unsized && !is_extern && variable.init.empty())
        fail_at(name.line, "array '" + printable(name.text) + "' has no size");
      variable.size =
          d.is_unsized && variable.init.empty() ? 0 : d.element_count * d.element_size();
      if (space == Space::global || space == Space::constant) {
        global_bytes_ += variable.size;
        if (global_bytes_ > limits_.global_bytes)
          fail_at(name.line, "more than " + std::to_string(limits_.global_bytes) +
                                 " bytes of .global and .const variables");
      }
      if (body != nullptr && space == Space::local) {
        body->local_bytes += variable.size;
        if (body->local_bytes > limits_.local_bytes)
          fail_at(name.line, "more than " + std::to_string(limits_.local_bytes) +
                                 " bytes of local memory per thread");
      }
      if (module_.variables.size() >= limits_.variables) fail_at(name.line, "too many variables");
      const auto index = static_cast<std::uint32_t>(module_.variables.size());
      if (body != nullptr) {
        declare(*body, name, Named{Kind::symbol, index});
        use_variable(*function, index);
        module_.variables.push_back(std::move(variable));
      } else {
        declare_module_variable(name, std::move(variable));
      }
    } while (accept(','));
    expect(';');
  }

  void declare_module_variable(const Token& name, Variable variable) {
    const auto it = module_.variable_index.find(name.text);
    if (it == module_.variable_index.end()) {
      module_.variable_index.emplace(variable.name,
                                     static_cast<std::uint32_t>(module_.variables.size()));
      module_.variables.push_back(std::move(variable));
      return;
    }
    // An .extern declaration may come before or after the definition.
    Variable& old = module_.variables[it->second];
    if (old.space != variable.space)
      fail_at(name.line, "'" + printable(name.text) + "' declared in two spaces");
    if (old.is_extern && !variable.is_extern)
      old = std::move(variable);
    else if (!old.is_extern && !variable.is_extern)
      fail_at(name.line, "'" + printable(name.text) + "' defined twice");
  }

  void store(std::vector<std::uint8_t>& bytes, std::uint64_t at, std::uint64_t value,
             unsigned size) {
    for (unsigned i = 0; i < size; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }

  /// Position in an initialiser: elements are counted flat, a brace starts at the next row.
  struct Initialiser {
    Type type;
    std::uint64_t most;               ///< elements
    std::vector<std::uint64_t> rows;  ///< elements one brace covers, by depth
    std::vector<std::uint8_t> bytes;
    std::uint64_t cursor = 0, end = 0;  ///< next element, and one past the last written
  };

  void parse_initialiser(Declaration* d, Variable* variable) {
    const std::uint32_t line = peek().line;
    const unsigned width = size_of(d->type);
    Initialiser init{d->type, d->element_count * d->vec, {}, {}, 0, 0};
    if (d->is_unsized) init.most = kMostInitialisedBytes / width;
    if (init.most > kMostInitialisedBytes / width)
      fail_at(line, "an initialised variable of more than " +
                        std::to_string(kMostInitialisedBytes) + " bytes");
    std::uint64_t row = d->vec;
    init.rows.push_back(1);
    if (d->vec > 1) init.rows.push_back(row);
    for (auto n = d->dimensions.rbegin(); n != d->dimensions.rend(); ++n) {
      init.rows.push_back(std::max<std::uint64_t>(1, row));
      row *= *n;
    }
    if (init.rows.size() > 1) init.rows.erase(init.rows.begin());  // a brace covers >= 1 element
    std::reverse(init.rows.begin(), init.rows.end());
    parse_initial_list(&init, variable, 0);
    if (d->is_unsized) {
      const std::uint64_t per_row = std::max<std::uint64_t>(1, d->element_count * d->vec);
      d->element_count *= (init.end + per_row - 1) / per_row;
      d->is_unsized = false;
    }
    init.bytes.resize(d->element_count * d->vec * width);
    variable->init = std::move(init.bytes);
  }

  void parse_initial_list(Initialiser* init, Variable* variable, unsigned depth) {
    if (!accept('{')) {
      const std::uint64_t width = size_of(init->type);
      if (init->cursor >= init->most) fail("more initialisers than elements");
      if ((init->cursor + 1) * width > init->bytes.size())
        init->bytes.resize((init->cursor + 1) * width);
      parse_initial_element(init->type, init->cursor * width, &init->bytes, variable);
      init->end = std::max(init->end, ++init->cursor);
      return;
    }
    if (depth > limits_.nesting) fail("initialiser nested too deeply");
    if (accept('}')) return;
    // A braced row inside this list starts where its row starts and fills all of it.
    const std::uint64_t row = depth < init->rows.size() ? init->rows[depth] : 1;
    do {
      const bool is_row = peek().is('{');
      const std::uint64_t begin = init->cursor;
      parse_initial_list(init, variable, depth + 1);
      if (is_row) init->cursor = std::max(init->cursor, std::min(begin + row, init->most));
    } while (accept(','));
    expect('}');
  }

  void parse_initial_element(Type type, std::uint64_t at, std::vector<std::uint8_t>* bytes,
                             Variable* variable) {
    const unsigned width = size_of(type);
    const std::uint32_t line = peek().line;
    if (peek().kind == Token::Kind::identifier && peek().text != "WARP_SZ") {
      const bool is_generic = peek().text == "generic" && lexer_->following() == '(';
      if (is_generic) {
        next();
        expect('(');
      }
      const Token name = expect_identifier("a symbol");
      std::int64_t addend = 0;
      const auto take_addend = [&] {
        if (peek().is('+') || peek().is('-')) addend += parse_integer("offset");
      };
      take_addend();
      if (is_generic) {
        expect(')');
        take_addend();
      }
      const auto it = module_.variable_index.find(name.text);
      if (it == module_.variable_index.end()) {
        if (functions_.contains(name.text))
          fail_at(line, "function pointers are not supported", true);
        fail_at(line, "unknown symbol '" + printable(name.text) + "'");
      }
      if (width != 8) fail_at(line, "an address in a narrow initialiser is not supported", true);
      variable->relocations.push_back({static_cast<std::uint32_t>(at), it->second, addend});
      return;
    }
    const Literal literal = parse_constant();
    if (peek().is('(')) fail_at(line, "masked addresses in initialisers are not supported", true);
    if (literal.is_float || type == Type::f32 || type == Type::f64) {
      if (!literal.is_float && literal.bits == 0) return;
      store(*bytes, at, static_cast<std::uint64_t>(bits_for(literal, type, line)), width);
    } else {
      store(*bytes, at, literal.bits, std::min(width, 8u));
    }
  }

  // ---- functions --------------------------------------------------------------------------------

  struct FunctionLocations {
    std::uint32_t first = kNone, unsupported = 0;
    std::vector<std::uint32_t> instructions;
  };

  /// "(.param .b64 a, .param .align 8 .b8 b[24])", the parentheses included. `views` gets the names
  /// as they stand in the text, which outlives the function's own strings.
  void parse_parameters(std::vector<Parameter>* params, std::vector<std::string_view>* views,
                        std::string* unsupported) {
    expect('(');
    std::uint64_t offset = 0;
    if (accept(')')) return;
    do {
      if (accept_directive(".reg")) {
        if (unsupported->empty()) *unsupported = "register parameters are not supported";
      } else if (!accept_directive(".param")) {
        unexpected(".param");
      }
      Declaration d = parse_declaration_head();
      const Token name = expect_identifier("a parameter name");
      parse_dimensions(&d, limits_.parameter_bytes);
      Parameter p;
      p.name = std::string(name.text);
      p.type = d.type;
      p.align = d.align;
      p.size = d.is_unsized ? 0 : static_cast<std::uint32_t>(d.element_count * d.element_size());
      offset = (offset + p.align - 1) / p.align * p.align;
      p.offset = static_cast<std::uint32_t>(offset);
      offset += p.size;
      if (offset > limits_.parameter_bytes)
        fail_at(name.line,
                "more than " + std::to_string(limits_.parameter_bytes) + " bytes of parameters");
      charge();
      params->push_back(std::move(p));
      views->push_back(name.text);
    } while (accept(','));
    expect(')');
  }

  void parse_extent(std::uint32_t (&extent)[3]) {
    extent[0] = parse_count("block extent");
    extent[1] = accept(',') ? parse_count("block extent") : 1;
    extent[2] = accept(',') ? parse_count("block extent") : 1;
  }

  void parse_function_directives(Function* function) {
    while (peek().kind == Token::Kind::directive) {
      const Token d = next();
      if (d.text == ".maxntid") {
        parse_extent(function->max_ntid);
      } else if (d.text == ".reqntid") {
        parse_extent(function->req_ntid);
      } else if (d.text == ".minnctapersm" || d.text == ".maxnctapersm") {
        const std::uint32_t n = parse_count("blocks per multiprocessor");
        if (d.text == ".minnctapersm") function->min_nctapersm = n;
      } else if (d.text == ".maxnreg") {
        function->max_nreg = parse_count("register count");
      } else if (d.text == ".noreturn") {
        // Only a promise to ptxas.
      } else if (d.text == ".pragma") {
        skip_pragma();
      } else if (d.text == ".blocksareclusters" || d.text == ".explicitcluster" ||
                 d.text == ".reqnctapercluster" || d.text == ".maxclusterrank") {
        if (peek().kind == Token::Kind::number) {
          std::uint32_t ignored[3];
          parse_extent(ignored);
        }
        if (function->unsupported.empty()) {
          function->unsupported =
              "clusters ('" + printable(d.text) + "') need a GPU: simgpu does not run them";
        }
      } else {
        unknown_directive(d);
      }
    }
  }

  void parse_function(bool is_entry, std::uint32_t line) {
    Function function;
    function.is_entry = is_entry;
    location_ = {};
    location_pending_ = true;
    std::vector<std::string_view> param_names, result_names;
    if (!is_entry && peek().is('('))
      parse_parameters(&function.results, &result_names, &function.unsupported);
    const Token name = expect_identifier("a function name");
    function.name = std::string(name.text);
    if (peek().is('(')) parse_parameters(&function.params, &param_names, &function.unsupported);
    parse_function_directives(&function);
    function.is_declaration = accept(';');
    if (!function.is_declaration && !peek().is('{')) unexpected("'{' or ';'");

    const auto known = functions_.find(name.text);
    std::uint32_t index;
    if (known == functions_.end()) {
      if (module_.functions.size() >= limits_.functions) fail_at(line, "too many functions");
      index = static_cast<std::uint32_t>(module_.functions.size());
      functions_.emplace(name.text, index);
      // The declaration is visible inside the body: recursion.
      Function declaration;
      declaration.name = function.name;
      declaration.is_entry = is_entry;
      declaration.is_declaration = true;
      declaration.params = function.params;
      declaration.results = function.results;
      module_.functions.push_back(std::move(declaration));
      function_locations_.emplace_back();
    } else {
      index = known->second;
      const Function& old = module_.functions[index];
      if (old.is_entry != is_entry || old.params.size() != function.params.size() ||
          old.results.size() != function.results.size())
        fail_at(line, "'" + printable(name.text) + "' declared in two different ways");
      if (!old.is_declaration && !function.is_declaration)
        fail_at(line, "'" + printable(name.text) + "' defined twice");
    }
    if (function.is_declaration) return;
    parse_body(&function, index, param_names, result_names);
    module_.functions[index] = std::move(function);
  }

  // ---- bodies -----------------------------------------------------------------------------------

  void use_variable(Function& function, std::uint32_t index) {
    if (variable_user_.size() <= index) variable_user_.resize(index + 1, kNone);
    if (variable_user_[index] == function_number_) return;
    variable_user_[index] = function_number_;
    function.variables.push_back(index);
  }

  void declare(Body& body, const Token& name, Named named) {
    Scope& scope = body.scopes.back();
    if (!scope.names.emplace(name.text, named).second)
      fail_at(name.line, "'" + printable(name.text) + "' declared twice in one scope");
    charge();
  }

  void open_scope(Body& body) {
    if (body.scopes.size() > limits_.nesting) fail("braces nested too deeply");
    charge();
    const auto id = static_cast<std::uint32_t>(body.scope_parents.size());
    body.scope_parents.push_back(body.scopes.empty() ? id : body.scopes.back().id);
    body.scopes.emplace_back().id = id;
  }

  void parse_body(Function* function, std::uint32_t index,
                  const std::vector<std::string_view>& params,
                  const std::vector<std::string_view>& results) {
    Body body;
    ++function_number_;
    expect('{');
    open_scope(body);
    std::uint32_t param = 0;
    for (const auto* names : {&params, &results}) {
      for (const std::string_view name : *names) {
        Token token = peek();
        token.text = name;
        declare(body, token, Named{Kind::param, param++});
      }
    }
    while (!body.scopes.empty()) parse_statement(*function, body);
    resolve_labels(*function, body);

    FunctionLocations& where = function_locations_[index];
    if (function->unsupported.empty()) {
      where.instructions = std::move(body.locations);
      // Running off the end is an exit; so is a branch to a label behind the last instruction.
      const bool open_end =
          function->body.empty() || body.label_at_end || !ends_flow(function->body.back());
      if (open_end) {
        Instruction ret;
        ret.op = Opcode::ret;
        ret.mod.text = "ret";
        ret.ptx_line = peek().line;
        function->body.push_back(std::move(ret));
        where.instructions.push_back(current_location());
      }
      function->body.shrink_to_fit();
    } else {
      where.unsupported = unsupported_location_;
      function->body.clear();
      function->vector_operands.clear();
      function->registers.clear();
      function->call_params.clear();
    }
    where.first = first_location_;
    first_location_ = kNone;
    unsupported_location_ = 0;
  }

  static bool ends_flow(const Instruction& instruction) {
    if (instruction.guard != kNone) return false;
    switch (instruction.op) {
      case Opcode::ret:
      case Opcode::exit:
      case Opcode::trap:
      case Opcode::bra:
      case Opcode::brx_idx:
        return true;
      default:
        return false;
    }
  }

  void parse_statement(Function& function, Body& body) {
    const Token token = peek();
    switch (token.kind) {
      case Token::Kind::punct:
        if (token.is('{')) {
          next();
          open_scope(body);
        } else if (token.is('}')) {
          next();
          body.scopes.pop_back();
        } else if (token.is('@')) {
          parse_instruction(function, body);
        } else if (token.is(';')) {
          next();
        } else {
          unexpected("a statement");
        }
        return;
      case Token::Kind::directive:
        next();
        parse_body_directive(function, body, token);
        return;
      case Token::Kind::identifier:
        // An opcode's suffix touches it; a label's colon may stand apart.
        if (lexer_->following() != '.' && is_label()) {
          parse_label(body, function);
        } else {
          parse_instruction(function, body);
        }
        return;
      default:
        unexpected("a statement");
    }
  }

  /// Looks one token past the current identifier.
  bool is_label() const {
    Lexer ahead = *lexer_;
    ahead.next();
    return ahead.peek().is(':');
  }

  void parse_label(Body& body, Function& function) {
    const Token name = next();
    expect(':');
    charge();
    const ScopedName key{body.scopes.back().id, name.text};
    if (accept_directive(".branchtargets")) {
      BranchTable table;
      do {
        const Token target = expect_identifier("a label");
        charge();
        table.targets.emplace_back(target.text, target.line);
      } while (accept(','));
      expect(';');
      if (!body.tables.emplace(key, std::move(table)).second)
        fail_at(name.line, "'" + printable(name.text) + "' defined twice");
      return;
    }
    if (peek().is_directive(".callprototype")) {
      // Only indirect calls use one; the call itself reports that.
      skip_to_semicolon();
      return;
    }
    if (peek().is_directive(".calltargets")) {
      skip_to_semicolon();
      return;
    }
    if (!body.labels.emplace(key, static_cast<std::uint32_t>(function.body.size())).second)
      fail_at(name.line, "label '" + printable(name.text) + "' defined twice");
    body.label_at_end = true;
  }

  void skip_to_semicolon() {
    while (!peek().is(';')) {
      if (peek().kind == Token::Kind::end || peek().kind == Token::Kind::bad) unexpected("';'");
      next();
    }
    next();
  }

  void parse_body_directive(Function& function, Body& body, const Token& directive) {
    const std::string_view text = directive.text;
    if (text == ".reg") {
      parse_registers(function, body);
    } else if (text == ".loc") {
      parse_loc();
      if (first_location_ == kNone) first_location_ = current_location();
    } else if (text == ".param") {
      parse_call_parameter(function, body);
    } else if (text == ".shared" || text == ".local" || text == ".global" || text == ".const") {
      parse_variables(space_of(directive), false, &body, &function);
    } else if (text == ".pragma") {
      skip_pragma();
    } else if (text == ".file") {
      parse_file();
    } else {
      unknown_directive(directive);
    }
  }

  void add_register(Function& function, std::string name, Type type) {
    if (function.registers.size() >= limits_.registers_per_function)
      fail("more than " + std::to_string(limits_.registers_per_function) +
           " registers in a function");
    if (++registers_ > limits_.registers)
      fail("more than " + std::to_string(limits_.registers) + " registers in a module");
    function.registers.push_back(Register{std::move(name), type});
  }

  void parse_registers(Function& function, Body& body) {
    if (peek().is_directive(".v2") || peek().is_directive(".v4"))
      fail_at(peek().line, "vector registers are not supported", true);
    const Type type = expect_type();
    if (type == Type::b128) fail_at(peek().line, "128-bit registers are not supported", true);
    do {
      const Token name = expect_identifier("a register name");
      // Each register of a range keeps a copy of its name.
      if (name.text.size() > kMostRegisterName) fail_at(name.line, "register name too long");
      const auto first = static_cast<std::uint32_t>(function.registers.size());
      if (!accept('<')) {
        declare(body, name, Named{Kind::reg, first});
        add_register(function, std::string(name.text), type);
        continue;
      }
      const std::uint32_t count = parse_count("register count", limits_.registers_per_function);
      expect('>');
      for (std::uint32_t i = 0; i < count; ++i)
        add_register(function, std::string(name.text) + std::to_string(i), type);
      if (name.text.back() >= '0' && name.text.back() <= '9')
        fail_at(name.line, "a register range whose name ends in a digit is not supported", true);
      if (!body.scopes.back().ranges.emplace(name.text, Scope::Range{first, count}).second)
        fail_at(name.line, "'" + printable(name.text) + "' declared twice in one scope");
    } while (accept(','));
    expect(';');
  }

  void parse_call_parameter(Function& function, Body& body) {
    Declaration d = parse_declaration_head();
    do {
      const Token name = expect_identifier("a parameter name");
      Declaration one = d;
      parse_dimensions(&one, limits_.parameter_bytes);
      Parameter p;
      p.name = std::string(name.text);
      p.type = one.type;
      p.align = one.align;
      p.size =
          one.is_unsized ? 0 : static_cast<std::uint32_t>(one.element_count * one.element_size());
      std::uint64_t offset = 0;
      if (!function.call_params.empty())
        offset = function.call_params.back().offset + function.call_params.back().size;
      offset = (offset + p.align - 1) / p.align * p.align;
      if (offset + p.size > limits_.local_bytes)
        fail_at(name.line, "too much parameter space for calls");
      p.offset = static_cast<std::uint32_t>(offset);
      const auto base =
          static_cast<std::uint32_t>(function.params.size() + function.results.size());
      declare(body, name,
              Named{Kind::param, base + static_cast<std::uint32_t>(function.call_params.size())});
      function.call_params.push_back(std::move(p));
    } while (accept(','));
    expect(';');
  }

  // ---- names ------------------------------------------------------------------------------------

  std::optional<Named> find_name(const Body& body, std::string_view name) const {
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    const std::string_view prefix = name.substr(0, digits), suffix = name.substr(digits);
    std::uint32_t number = 0;
    const bool has_number =
        !suffix.empty() && suffix.size() <= 9 && (suffix.size() == 1 || suffix[0] != '0');
    if (has_number) std::from_chars(suffix.data(), suffix.data() + suffix.size(), number);
    for (auto scope = body.scopes.rbegin(); scope != body.scopes.rend(); ++scope) {
      if (const auto it = scope->names.find(name); it != scope->names.end()) return it->second;
      if (!has_number) continue;
      if (const auto it = scope->ranges.find(prefix);
          it != scope->ranges.end() && number < it->second.count)
        return Named{Kind::reg, it->second.first + number};
    }
    if (const auto it = module_.variable_index.find(name); it != module_.variable_index.end())
      return Named{Kind::symbol, it->second};
    if (const auto it = functions_.find(name); it != functions_.end())
      return Named{Kind::function, it->second};
    return std::nullopt;
  }

  Named expect_name(const Body& body, const Token& token) {
    if (const auto named = find_name(body, token.text)) return *named;
    if (is_unsupported_special(token.text))
      throw_unsupported("special register '" + printable(token.text) + "' is not supported");
    fail_at(token.line, "unknown name '" + printable(token.text) + "'");
  }

  // ---- instructions -----------------------------------------------------------------------------

  /// Makes the function unsupported instead of the module invalid; caught in parse_instruction.
  struct Unsupported {
    std::string message;
  };
  [[noreturn]] static void throw_unsupported(std::string message) {
    throw Unsupported{std::move(message)};
  }

  const DecodedOpcode& decode(std::string_view text) {
    const auto it = opcode_cache_.find(text);
    if (it != opcode_cache_.end()) return it->second;
    constexpr std::size_t kMostCached = 4096;
    if (opcode_cache_.size() >= kMostCached) opcode_cache_.clear();
    return opcode_cache_.emplace(text, decode_opcode(text)).first->second;
  }

  void parse_instruction(Function& function, Body& body) {
    Instruction instruction;
    if (accept('@')) {
      instruction.guard_negated = accept('!');
      const Token name = expect_identifier("a predicate");
      const Named named = expect_name_or_fail(body, name);
      if (named.kind != Kind::reg || function.registers[named.index].type != Type::pred)
        fail_at(name.line, "'" + printable(name.text) + "' is not a predicate");
      instruction.guard = named.index;
    }
    if (peek().kind != Token::Kind::identifier) unexpected("an instruction");
    const Token opcode = lexer_->next_opcode();
    instruction.ptx_line = opcode.line;
    const DecodedOpcode& decoded = decode(opcode.text);
    charge();
    try {
      if (!decoded.problem.empty()) throw_unsupported(decoded.problem);
      instruction.op = decoded.op;
      instruction.mod = decoded.mod;
      instruction.mod.text = opcode.text;
      if (decoded.op == Opcode::call) {
        parse_call(function, body, &instruction);
      } else {
        parse_operands(function, body, decoded, &instruction);
      }
    } catch (const Unsupported& why) {
      // The text may be anything at all from here to the semicolon: operand forms we do not know.
      skip_to_semicolon();
      if (function.unsupported.empty()) {
        function.unsupported = why.message;
        unsupported_location_ = current_location();
      }
      return;
    }
    expect(';');
    body.label_at_end = false;
    body.locations.push_back(current_location());
    function.body.push_back(std::move(instruction));
  }

  Named expect_name_or_fail(const Body& body, const Token& token) {
    if (const auto named = find_name(body, token.text)) return *named;
    fail_at(token.line, "unknown name '" + printable(token.text) + "'");
  }

  /// A parsed operand, and what is needed to judge whether it fits.
  struct Parsed {
    Operand operand;
    std::optional<Literal> literal;
    std::uint32_t line = 0;
    bool has_second = false;       ///< "p|q"
    std::vector<Parsed> elements;  ///< of a vector
  };

  Operand named_operand(Function& function, const Named& named) {
    Operand operand;
    operand.kind = named.kind;
    operand.index = named.index;
    if (named.kind == Kind::symbol) use_variable(function, named.index);
    return operand;
  }

  std::int64_t parse_offset() {
    // "+4", "-4" and clang's "+-4": the sign belongs to the number.
    return peek().is('+') || peek().is('-') ? parse_integer("offset") : 0;
  }

  Parsed parse_operand(Function& function, Body& body, bool in_vector = false) {
    Parsed parsed;
    const Token token = peek();
    parsed.line = token.line;
    Operand& operand = parsed.operand;
    if (token.is('{') && !in_vector) {
      next();
      operand.kind = Kind::vector;
      do {
        if (parsed.elements.size() == kMostVectorElements) fail("vector operand too long");
        charge();
        parsed.elements.push_back(parse_operand(function, body, true));
      } while (accept(','));
      expect('}');
      return parsed;
    }
    if (token.is('[')) {
      next();
      parse_address(function, body, &operand);
      expect(']');
      return parsed;
    }
    if (token.is('!')) {
      // "!%p1"; "!0" would be a constant, but no instruction has a use for it.
      next();
      const Token name = expect_identifier("a predicate");
      operand = named_operand(function, expect_name(body, name));
      operand.negated = true;
      return parsed;
    }
    if (token.kind == Token::Kind::identifier) {
      next();
      if (token.text == "_") {
        operand.kind = Kind::sink;
      } else if (const auto named = find_name(body, token.text)) {
        operand = named_operand(function, *named);
      } else if (const auto special = special_from_name(token.text)) {
        operand.kind = Kind::special;
        operand.index = static_cast<std::uint32_t>(*special);
        return parsed;
      } else {
        expect_name(body, token);
      }
      if (operand.kind == Kind::symbol || operand.kind == Kind::param)
        operand.bits = parse_offset();
      if (accept('|')) {
        parsed.has_second = true;
        const Token second = expect_identifier("a predicate");
        const Named named = second.text == "_" ? Named{Kind::sink, 0} : expect_name(body, second);
        if (named.kind == Kind::reg) {
          if (function.registers[named.index].type != Type::pred)
            fail_at(second.line, "'" + printable(second.text) + "' is not a predicate");
          operand.index2 = named.index;
        } else if (named.kind != Kind::sink) {
          fail_at(second.line, "'" + printable(second.text) + "' is not a predicate");
        }
      }
      return parsed;
    }
    parsed.literal = parse_constant();
    operand.kind = Kind::imm;
    return parsed;
  }

  void parse_address(Function& function, Body& body, Operand* operand) {
    operand->is_memory = true;
    if (peek().kind == Token::Kind::identifier && peek().text != "WARP_SZ") {
      const Token name = next();
      const Named named = expect_name(body, name);
      *operand = named_operand(function, named);
      operand->is_memory = true;
      if (named.kind == Kind::reg) {
        const unsigned size = size_of(function.registers[named.index].type);
        if (size != 4 && size != 8)
          fail_at(name.line, "'" + printable(name.text) + "' cannot hold an address");
        operand->kind = Kind::address;
      } else if (named.kind == Kind::function) {
        throw_unsupported("the address of a function is not supported");
      }
      operand->bits = parse_offset();
      if (peek().is(','))
        throw_unsupported("this addressing form needs a GPU: simgpu does not run it");
      return;
    }
    operand->kind = Kind::imm;
    operand->bits = parse_integer("address");
  }

  // Why an operand does not fit its place, empty if it does. Immediates get their bits here.
  std::string misfit(const Function& function, const DecodedOpcode& decoded, char kind, char width,
                     Parsed* parsed) {
    Operand& operand = parsed->operand;
    const Modifiers& mod = decoded.mod;
    if (kind != 'n' && operand.negated) return "'!' needs a predicate source";
    if (kind != 'P' && parsed->has_second) return "takes one destination only";
    const unsigned type_size = size_of(mod.type), type2_size = size_of(mod.type2);
    const bool is_pred = width == '1' ||
                         ((width == 'T' || width == 'G') && mod.type == Type::pred) ||
                         (width == 'U' && mod.type2 == Type::pred);
    Type type = mod.type;
    unsigned exact = 0, least = 0;
    switch (width) {
      case 'T':
        exact = type_size;
        break;
      case 'U':
        exact = type2_size;
        type = mod.type2;
        break;
      case 'W':
        exact = mod.mul == MulMode::wide ? 2 * type_size : type_size;
        break;
      case 'G':
        least = type_size;
        break;
      case 'H':
        least = type2_size;
        type = mod.type2;
        break;
      case '3':
        exact = 4;
        type = Type::b32;
        break;
      case '6':
        exact = 8;
        type = Type::b64;
        break;
      default:
        type = Type::none;
        break;
    }
    const auto check_register = [&](std::uint32_t index, unsigned want) -> std::string {
      const Register& reg = function.registers[index];
      if (is_pred != (reg.type == Type::pred))
        return "'" + printable(reg.name) + (is_pred ? "' is not a predicate" : "' is a predicate");
      const unsigned size = size_of(reg.type);
      if ((want != 0 && size != want) || size < least)
        return "'" + printable(reg.name) + "' has " + std::to_string(8 * size) + " bits, not " +
               std::to_string(8 * (want != 0 ? want : least));
      if (width == 'a' && size != 4 && size != 8)
        return "'" + printable(reg.name) + "' cannot hold an address";
      return {};
    };
    const bool is_destination = kind == 'd' || kind == 'D' || kind == 'P';
    switch (operand.kind) {
      case Kind::reg:
        if (kind == 'm' || kind == 'i' || kind == 'l' || kind == 't')
          return "a register does not fit here";
        return check_register(operand.index, exact);
      case Kind::sink:
        return kind == 'D' || kind == 'P' ? std::string() : "'_' does not fit here";
      case Kind::imm:
        if (operand.is_memory)
          return kind == 'm' ? std::string() : "an address in [ ] does not fit here";
        if (is_destination || kind == 'm' || kind == 'n' || kind == 'l' || kind == 't')
          return "a number does not fit here";
        if (is_pred) {
          if (parsed->literal->is_float) return "a floating-point number is no predicate";
          operand.bits = parsed->literal->bits != 0;
        } else {
          operand.bits =
              bits_for(*parsed->literal, type == Type::none ? Type::b64 : type, parsed->line);
        }
        return {};
      case Kind::special: {
        if (kind != 's' && kind != 'S') return "a special register does not fit here";
        const auto special = static_cast<Special>(operand.index);
        const unsigned bits = 8 * std::max(exact, least);
        if (is_pred || (bits_of(special) > bits && special != Special::gridid && bits != 0))
          return "the special register has " + std::to_string(bits_of(special)) + " bits";
        return {};
      }
      case Kind::symbol:
      case Kind::param:
        if (operand.is_memory)
          return kind == 'm' ? std::string() : "an address in [ ] does not fit here";
        if ((kind != 's' && kind != 'S') || is_pred || (exact != 0 && exact < 4))
          return "the address of a variable does not fit here";
        return {};
      case Kind::address:
        return kind == 'm' ? std::string() : "an address in [ ] does not fit here";
      case Kind::function:
        throw_unsupported("function pointers are not supported");
      case Kind::vector: {
        if ((kind != 'D' && kind != 'S') || decoded.op == Opcode::atom)
          return "a vector does not fit here";
        const auto count = static_cast<unsigned>(parsed->elements.size());
        if (decoded.op == Opcode::mov) {
          // Packing: the elements share the bits of the other operand.
          if (is_pred || type_size % count != 0 || count < 2) return "cannot be split this way";
          exact = type_size / count;
          type = exact == 4   ? Type::b32
                 : exact == 2 ? Type::b16
                 : exact == 1 ? Type::b8
                              : Type::b64;
        } else if (mod.vec > 1 && count != mod.vec) {
          return "needs " + std::to_string(mod.vec) + " elements";
        } else if (mod.num != 0 && count != mod.num) {
          return "needs " + std::to_string(mod.num) + " elements";
        }
        const bool is_ld_st =
            decoded.op == Opcode::ld || decoded.op == Opcode::ldu || decoded.op == Opcode::st;
        if (is_ld_st && mod.vec == 1) return "needs .v2 or .v4";
        for (Parsed& element : parsed->elements) {
          const Operand& e = element.operand;
          if (e.kind == Kind::reg) {
            if (element.has_second || e.negated) return "'|' and '!' do not fit in a vector";
            if (std::string why = check_register(e.index, exact); !why.empty()) return why;
          } else if (e.kind == Kind::imm && kind == 'S' && !e.is_memory) {
            element.operand.bits =
                bits_for(*element.literal, type == Type::none ? Type::b64 : type, element.line);
          } else if (e.kind == Kind::sink && kind == 'D') {
            // nobody wants this element
          } else {
            return "this element does not fit in a vector";
          }
        }
        return {};
      }
      case Kind::none:
      case Kind::label:
        break;
    }
    return "this operand does not fit here";
  }

  void parse_operands(Function& function, Body& body, const DecodedOpcode& decoded,
                      Instruction* instruction) {
    const std::uint32_t line = instruction->ptx_line;
    const auto scope = body.scopes.back().id;
    const auto slot = static_cast<std::uint32_t>(function.body.size());
    if (decoded.op == Opcode::bra) {
      const Token label = expect_identifier("a label");
      body.label_uses.push_back({slot, scope, label.text, label.line});
      Operand operand;
      operand.kind = Kind::label;
      instruction->operands.push_back(operand);
      return;
    }
    std::vector<Parsed> parsed;
    const bool is_table_branch = decoded.op == Opcode::brx_idx;
    if (!peek().is(';')) {
      do {
        constexpr std::size_t kMostOperands = 8;
        if (parsed.size() == kMostOperands)
          fail("too many operands for '" + printable(instruction->mod.text) + "'");
        if (is_table_branch && parsed.size() == 1) {
          const Token table = expect_identifier("a branch table");
          body.table_uses.push_back({slot, scope, table.text, table.line});
          Parsed operand;
          operand.operand.kind = Kind::label;
          parsed.push_back(std::move(operand));
        } else {
          parsed.push_back(parse_operand(function, body));
        }
      } while (accept(','));
    }
    match_operands(function, decoded, line, &parsed);
    instruction->operands.reserve(parsed.size());
    for (Parsed& p : parsed) {
      if (p.operand.kind == Kind::vector) {
        p.operand.index = static_cast<std::uint32_t>(function.vector_operands.size());
        p.operand.count = static_cast<std::uint32_t>(p.elements.size());
        for (const Parsed& element : p.elements)
          function.vector_operands.push_back(element.operand);
      }
      instruction->operands.push_back(p.operand);
    }
  }

  /// Tries the opcode's alternatives in order; the first whose operands all fit wins.
  void match_operands(const Function& function, const DecodedOpcode& decoded, std::uint32_t line,
                      std::vector<Parsed>* parsed) {
    std::string why;
    std::string_view rest = decoded.operands;
    for (;;) {
      const std::size_t bar = rest.find('|');
      std::string_view form = rest.substr(0, bar);
      std::size_t least = 0, most = 0;
      std::string_view places[8];
      while (!form.empty()) {
        const std::size_t blank = std::min(form.find(' '), form.size());
        places[most++] = form.substr(0, blank);
        if (places[most - 1].back() != '?') least = most;
        form.remove_prefix(std::min(blank + 1, form.size()));
      }
      if (parsed->size() < least || parsed->size() > most) {
        if (why.empty())
          why = "takes " + std::to_string(least) +
                (most > least ? " to " + std::to_string(most) : std::string()) + " operands, not " +
                std::to_string(parsed->size());
      } else {
        std::string misfits;
        for (std::size_t i = 0; i < parsed->size() && misfits.empty(); ++i) {
          if (places[i][0] == 't') continue;  // resolved by name
          misfits = misfit(function, decoded, places[i][0], places[i][1], &(*parsed)[i]);
          if (!misfits.empty()) misfits = "operand " + std::to_string(i + 1) + ": " + misfits;
        }
        if (misfits.empty()) break;
        why = misfits;
      }
      if (bar == std::string_view::npos)
        fail_at(line, "'" + printable(current_opcode_text(decoded)) + "' " + why);
      rest.remove_prefix(bar + 1);
    }
    const bool is_cas = decoded.mod.atom == AtomOp::cas;
    if (decoded.op == Opcode::atom && (parsed->size() == 4) != is_cas)
      fail_at(line, "'atom' takes a second value with .cas only");
  }

  std::string_view current_opcode_text(const DecodedOpcode& decoded) const {
    for (const auto& [text, entry] : opcode_cache_)
      if (&entry == &decoded) return text;
    return "instruction";
  }

  /// "call.uni (ret), func, (a, b);", also without results or arguments.
  void parse_call(Function& function, Body& body, Instruction* instruction) {
    const auto parse_list = [&](Operand* list) {
      std::vector<Operand> elements;
      list->kind = Kind::vector;
      if (accept('(')) {
        if (!peek().is(')')) {
          do {
            charge();
            Parsed p = parse_operand(function, body);
            if (p.literal) p.operand.bits = static_cast<std::int64_t>(p.literal->bits);
            const bool fits = p.operand.kind == Kind::param ||
                              (p.operand.kind == Kind::imm && !p.operand.is_memory);
            if (!fits || p.operand.is_memory)
              throw_unsupported("calls pass arguments in .param variables only");
            elements.push_back(p.operand);
          } while (accept(','));
        }
        expect(')');
      }
      list->index = static_cast<std::uint32_t>(function.vector_operands.size());
      list->count = static_cast<std::uint32_t>(elements.size());
      function.vector_operands.insert(function.vector_operands.end(), elements.begin(),
                                      elements.end());
    };
    Operand callee, results, arguments;
    const bool has_results = peek().is('(');
    parse_list(&results);
    if (has_results) expect(',');
    const Token name = expect_identifier("a function name");
    const Named named = expect_name(body, name);
    if (named.kind == Kind::reg) throw_unsupported("indirect calls are not supported");
    if (named.kind != Kind::function)
      fail_at(name.line, "'" + printable(name.text) + "' is not a function");
    callee.kind = Kind::function;
    callee.index = named.index;
    const bool has_arguments = accept(',');
    if (has_arguments && !peek().is('(')) throw_unsupported("indirect calls are not supported");
    parse_list(&arguments);
    const Function& target = module_.functions[named.index];
    if (target.is_entry)
      fail_at(name.line, "'" + printable(name.text) + "' is a kernel and cannot be called");
    if (arguments.count != target.params.size() || results.count != target.results.size())
      fail_at(name.line, "call of '" + printable(name.text) + "' with " +
                             std::to_string(arguments.count) + " arguments and " +
                             std::to_string(results.count) + " results, which takes " +
                             std::to_string(target.params.size()) + " and has " +
                             std::to_string(target.results.size()));
    instruction->operands = {callee, results, arguments};
  }

  // ---- labels -----------------------------------------------------------------------------------

  template <typename T>
  const T* find_scoped(const std::map<ScopedName, T>& map, const Body& body, std::uint32_t scope,
                       std::string_view name) const {
    for (;;) {
      const auto it = map.find({scope, name});
      if (it != map.end()) return &it->second;
      if (body.scope_parents[scope] == scope) return nullptr;
      scope = body.scope_parents[scope];
    }
  }

  void resolve_labels(Function& function, Body& body) {
    // An unsupported function's body has holes, so nothing in it may be patched: labels are checked
    // only.
    const bool patch = function.unsupported.empty();
    const auto target = [&](std::uint32_t scope, std::string_view name, std::uint32_t line) {
      const std::uint32_t* index = find_scoped(body.labels, body, scope, name);
      if (index == nullptr) fail_at(line, "unknown label '" + printable(name) + "'");
      return *index;
    };
    for (const LabelUse& use : body.label_uses) {
      const std::uint32_t index = target(use.scope, use.name, use.line);
      if (patch) function.body[use.slot].operands[0].index = index;
    }
    for (const TableUse& use : body.table_uses) {
      const BranchTable* table = find_scoped(body.tables, body, use.scope, use.name);
      if (table == nullptr) fail_at(use.line, "unknown branch table '" + printable(use.name) + "'");
      Operand list;
      list.kind = Kind::vector;
      list.index = static_cast<std::uint32_t>(function.vector_operands.size());
      list.count = static_cast<std::uint32_t>(table->targets.size());
      for (const auto& [name, line] : table->targets) {
        charge();
        Operand label;
        label.kind = Kind::label;
        label.index = target(use.scope, name, line);
        function.vector_operands.push_back(label);
      }
      if (patch) function.body[use.instruction].operands[1] = list;
    }
  }

  const Limits limits_;
  Module module_;
  std::optional<Lexer> lexer_;
  std::map<std::string_view, std::uint32_t> functions_;
  std::map<std::uint32_t, std::uint32_t> file_index_;  ///< .file number -> index in Module::files
  std::vector<RawLocation> locations_;
  RawLocation location_;
  bool location_pending_ = false;
  std::uint32_t first_location_ = kNone, unsupported_location_ = 0;
  std::vector<FunctionLocations> function_locations_;  ///< parallel to Module::functions
  std::vector<std::uint32_t> variable_user_;           ///< last function that used a variable
  std::uint32_t function_number_ = 0;
  std::map<std::string_view, DecodedOpcode> opcode_cache_;
  std::size_t work_ = 0, registers_ = 0;
  std::uint64_t global_bytes_ = 0;
};

}  // namespace

Module parse(std::string text, const Limits& limits) {
  return Parser(std::move(text), limits).parse();
}

}  // namespace simgpu::ptx
