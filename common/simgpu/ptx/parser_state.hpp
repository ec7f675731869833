// The parser's state and its parts, each in a file of its own: parser.cpp (module scope, functions,
// source locations), parser_numbers.cpp, parser_variables.cpp, parser_bodies.cpp,
// parser_instructions.cpp. For these files only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/simgpu/ptx/clusters.hpp"
#include "common/simgpu/ptx/lexer.hpp"
#include "common/simgpu/ptx/names.hpp"
#include "common/simgpu/ptx/opcodes.hpp"
#include "common/simgpu/ptx/parser.hpp"

namespace simgpu::ptx::parsing {

inline constexpr std::uint32_t kNone = UINT32_MAX;
inline constexpr std::uint32_t kMostLine = 10'000'000;  // #line may claim anything
inline constexpr std::uint32_t kMostColumn = 65'535;
inline constexpr std::size_t kMostRegisterName = 64;
inline constexpr std::size_t kMostVectorElements = 128;  // wgmma's accumulators
inline constexpr std::uint64_t kMostInitialisedBytes = 16u << 20;

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

/// What functions that one pointer may name have in common: how many results, and the bytes of each
/// result and parameter.
using FunctionShape = std::vector<std::uint32_t>;

struct Prototype {
  FunctionShape shape;  ///< empty: of a kind that is not supported
  std::uint32_t results = 0, params = 0;
};

struct PointerCall {
  std::uint32_t slot;  ///< instruction
  FunctionShape shape;
};

/// State of the body being parsed.
struct Body {
  std::vector<Scope> scopes;                 ///< innermost last
  std::vector<std::uint32_t> scope_parents;  ///< by scope id; the outermost is its own parent
  std::map<ScopedName, std::uint32_t> labels;
  std::map<ScopedName, BranchTable> tables;
  std::vector<LabelUse> label_uses;
  std::vector<TableUse> table_uses;
  std::map<ScopedName, Prototype> prototypes;
  std::vector<PointerCall> pointer_calls;
  std::vector<std::uint32_t> locations;  ///< by instruction: index into Parser::locations_
  std::uint64_t local_bytes = 0;
  bool label_at_end = false;
};

struct Literal {
  bool is_float = false;
  bool is_single = false;  ///< written as 0f...
  /// integers: two's complement; floats: the double's pattern (single: the float's)
  std::uint64_t bits = 0;
};

class Parser {
 public:
  Parser(std::string text, Bodies bodies, const Limits& limits) : limits_(limits), bodies_(bodies) {
    if (text.size() > limits.text_bytes)
      throw ParseError("PTX text of " + std::to_string(text.size()) + " bytes: the limit is " +
                           std::to_string(limits.text_bytes),
                       0, {}, 0, false);
    module_.text = std::move(text);
    module_.files.emplace_back();
    locations_.emplace_back();
  }

  void parse();
  void complete(std::uint32_t function);  ///< see Source
  Module& module() { return module_; }

 private:
  // ---- errors and small helpers
  [[noreturn]] void fail_at(std::uint32_t line, const std::string& message,
                            bool unsupported = false);
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

  // ---- numbers
  std::optional<std::uint64_t> parse_digits(std::string_view digits, int base);

  Literal parse_number();

  /// A constant expression (ISA 4.5): integers with C's operators; a lone float literal.
  Literal parse_constant(int min_precedence = 1, unsigned depth = 0);

  Literal parse_constant_unary(unsigned depth);

  std::int64_t parse_integer(std::string_view what);

  /// Small non-negative integer of a directive.
  std::uint32_t parse_count(std::string_view what, std::uint64_t most = UINT32_MAX);

  /// The literal as a bit pattern of `type`, sign-extended for integers.
  std::int64_t bits_for(const Literal& literal, Type type, std::uint32_t line);

  // ---- source locations
  /// The author's place a .loc names, or {0,0,0} if it has none of its own.
  Location author_location(const RawLocation& raw) const;

  void parse_file();

  void parse_loc();

  /// Index of the current .loc in locations_; stored only when an instruction uses it.
  std::uint32_t current_location();

  void resolve_locations(std::uint32_t function);

  // ---- module scope

  void parse_header();

  void parse_module_item();

  [[noreturn]] void unknown_directive(const Token& what);

  Space space_of(const Token& directive);

  /// Debug sections hold nothing simgpu uses.
  void skip_section();

  /// Its last string.
  std::string_view skip_pragma();

  // ---- variables
  Type expect_type();

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
  Declaration parse_declaration_head();

  /// "[16][32]" behind the name.
  void parse_dimensions(Declaration* d, std::uint64_t most_bytes);

  std::uint64_t byte_limit(Space space) const;

  /// One declaration, perhaps of several names. `body` is null at module scope.
  void parse_variables(Space space, bool is_extern, Body* body = nullptr,
                       Function* function = nullptr);

  void declare_module_variable(const Token& name, Variable variable);

  void store(std::vector<std::uint8_t>& bytes, std::uint64_t at, std::uint64_t value,
             unsigned size);

  /// Position in an initialiser: elements are counted flat, a brace starts at the next row.
  struct Initialiser {
    Type type;
    std::uint64_t most;               ///< elements
    std::vector<std::uint64_t> rows;  ///< elements one brace covers, by depth
    std::vector<std::uint8_t> bytes;
    std::uint64_t cursor = 0, end = 0;  ///< next element, and one past the last written
  };

  void parse_initialiser(Declaration* d, Variable* variable);

  void parse_initial_list(Initialiser* init, Variable* variable, unsigned depth);

  void parse_initial_element(Type type, std::uint64_t at, std::vector<std::uint8_t>* bytes,
                             Variable* variable);

  // ---- functions
  struct FunctionLocations {
    std::uint32_t first = kNone, unsupported = 0;
    std::vector<std::uint32_t> instructions;
  };

  /// "(.param .b64 a, .param .align 8 .b8 b[24])", the parentheses included. `views` gets the names
  /// as they stand in the text, which outlives the function's own strings.
  void parse_parameters(std::vector<Parameter>* params, std::vector<std::string_view>* views,
                        std::string* unsupported);

  void parse_extent(std::uint32_t (&extent)[3]);

  void parse_function_directives(Function* function);
  void find_clusters(Function* function) const;

  void parse_function(bool is_entry, std::uint32_t line);

  /// A function up to its body.
  struct Head {
    Function function;
    std::vector<std::string_view> params, results;
  };
  /// A body to be read later, and what was known where it stands: a name that is declared behind it
  /// means nothing in it.
  struct Postponed {
    Head head;
    Lexer lexer;
    std::uint32_t variables = 0, functions = 0;
  };
  void parse_body(Head head, std::uint32_t index);

  // ---- bodies
  void use_variable(Function& function, std::uint32_t index);

  void declare(Body& body, const Token& name, Named named);

  void open_scope(Body& body);

  void parse_statements(Function* function, std::uint32_t index,
                        const std::vector<std::string_view>& params,
                        const std::vector<std::string_view>& results);

  static bool ends_flow(const Instruction& instruction);

  void parse_statement(Function& function, Body& body);

  /// Looks one token past the current identifier.
  bool is_label() const;

  void parse_label(Body& body, Function& function);

  void skip_to_semicolon();

  void parse_body_directive(Function& function, Body& body, const Token& directive);

  void add_register(Function& function, std::string name, Type type);

  void parse_registers(Function& function, Body& body);

  void parse_call_parameter(Function& function, Body& body);

  // ---- names
  std::optional<Named> find_name(const Body& body, std::string_view name) const;

  Named expect_name(const Body& body, const Token& token);

  // ---- instructions
  /// Makes the function unsupported instead of the module invalid; caught in parse_instruction.
  struct Unsupported {
    std::string message;
  };
  [[noreturn]] static void throw_unsupported(std::string message);

  const DecodedOpcode& decode(std::string_view text);

  void parse_instruction(Function& function, Body& body);

  Named expect_name_or_fail(const Body& body, const Token& token);

  /// A parsed operand, and what is needed to judge whether it fits.
  struct Parsed {
    Operand operand;
    std::optional<Literal> literal;
    std::uint32_t line = 0;
    bool has_second = false;       ///< "p|q"
    std::vector<Parsed> elements;  ///< of a vector
  };

  Operand named_operand(Function& function, const Named& named);

  std::int64_t parse_offset();

  Parsed parse_operand(Function& function, Body& body, bool in_vector = false);
  void parse_coordinates(Function& function, Body& body, Parsed* parsed);

  void parse_address(Function& function, Body& body, Operand* operand);

  /// What an opcode takes in one place, from the two letters of the notation in instructions.inc.
  struct Place {
    char kind = 0, width = 0;
    bool is_pred = false;
    Type type = Type::none;         ///< of a number that stands there
    unsigned exact = 0, least = 0;  ///< bytes of a register, 0 = any
  };
  static Place place_of(const DecodedOpcode& decoded, char kind, char width);

  // Why an operand does not fit its place, empty if it does. Immediates get their bits here.
  std::string misfit(const Function& function, const DecodedOpcode& decoded, char kind, char width,
                     Parsed* parsed);
  static std::string register_misfit(const Function& function, const Place& place,
                                     std::uint32_t index);
  static std::string special_misfit(const Place& place, Special special);
  std::string number_misfit(const Place& place, Parsed* parsed);
  std::string coordinates_misfit(const Function& function, Place place, Parsed* parsed);
  std::string element_misfit(const Function& function, const Place& place, Parsed* element);
  static std::string address_misfit(const Place& place, const Operand& operand);
  std::string vector_misfit(const Function& function, const DecodedOpcode& decoded, Place place,
                            Parsed* parsed);

  void parse_operands(Function& function, Body& body, const DecodedOpcode& decoded,
                      Instruction* instruction);

  /// Tries the opcode's alternatives in order; the first whose operands all fit wins.
  void match_operands(const Function& function, const DecodedOpcode& decoded, std::uint32_t line,
                      std::vector<Parsed>* parsed);

  std::string_view current_opcode_text(const DecodedOpcode& decoded) const;

  // ---- calls
  using Shape = FunctionShape;
  static Shape shape_of(const std::vector<Parameter>& results,
                        const std::vector<Parameter>& params);

  /// "(.param .b32 _) _ (.param .b64 _);" behind ".callprototype".
  void parse_prototype(Body& body, const ScopedName& key, std::uint32_t line);

  Operand parse_call_list(Function& function, Body& body);

  /// "call.uni (ret), func, (a, b);", also without results or arguments, or with a register and a
  /// prototype.
  void parse_call(Function& function, Body& body, Instruction* instruction);

  /// Functions with a body, by number.
  const std::vector<std::uint32_t>& functions_of(const Shape& shape);

  /// Calls through pointers become calls of functions. Once all heads of functions are known.
  void expand_pointer_calls(std::uint32_t function);

  // ---- labels
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

  void resolve_labels(Function& function, Body& body);

  Clusters clusters_;
  const Limits limits_;
  const Bodies bodies_;
  Module module_;
  std::optional<Lexer> lexer_;
  std::map<std::string_view, std::uint32_t> functions_;
  std::map<std::uint32_t, Postponed> postponed_;
  std::map<std::uint32_t, std::vector<PointerCall>> pointer_calls_;  ///< by function
  std::map<Shape, std::vector<std::uint32_t>> shapes_;
  bool shapes_known_ = false;
  std::uint32_t known_variables_ = kNone, known_functions_ = kNone;  ///< in the body being read
  std::map<std::uint32_t, std::uint32_t> file_index_;  ///< .file number -> index in Module::files
  std::vector<RawLocation> locations_;
  RawLocation location_;
  bool location_pending_ = false;
  std::uint32_t first_location_ = kNone, unsupported_location_ = 0;
  bool stays_rolled_ = false;                          ///< a pragma says so of the next instruction
  std::vector<FunctionLocations> function_locations_;  ///< parallel to Module::functions
  std::vector<std::uint32_t> variable_user_;           ///< last function that used a variable
  std::uint32_t function_number_ = 0;
  std::map<std::string_view, DecodedOpcode> opcode_cache_;
  std::size_t work_ = 0, registers_ = 0;
  std::uint64_t global_bytes_ = 0, constant_bytes_ = 0;
};

}  // namespace simgpu::ptx::parsing
