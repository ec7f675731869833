// Bodies of functions: scopes, registers, labels, and the statements that are no instructions.
#include <algorithm>
#include <charconv>

#include "common/simgpu/ptx/parser_state.hpp"

namespace simgpu::ptx::parsing {

void Parser::use_variable(Function& function, std::uint32_t index) {
  if (variable_user_.size() <= index) variable_user_.resize(index + 1, kNone);
  if (variable_user_[index] == function_number_) return;
  variable_user_[index] = function_number_;
  function.variables.push_back(index);
}

void Parser::declare(Body& body, const Token& name, Named named) {
  Scope& scope = body.scopes.back();
  if (!scope.names.emplace(name.text, named).second)
    fail_at(name.line, "'" + printable(name.text) + "' declared twice in one scope");
  charge();
}

void Parser::open_scope(Body& body) {
  if (body.scopes.size() > limits_.nesting) fail("braces nested too deeply");
  charge();
  const auto id = static_cast<std::uint32_t>(body.scope_parents.size());
  body.scope_parents.push_back(body.scopes.empty() ? id : body.scopes.back().id);
  body.scopes.emplace_back().id = id;
}

void Parser::parse_statements(Function* function, std::uint32_t index,
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
    if (!body.pointer_calls.empty()) pointer_calls_[index] = std::move(body.pointer_calls);
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

bool Parser::ends_flow(const Instruction& instruction) {
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

void Parser::parse_statement(Function& function, Body& body) {
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

bool Parser::is_label() const {
  Lexer ahead = *lexer_;
  ahead.next();
  return ahead.peek().is(':');
}

void Parser::parse_label(Body& body, Function& function) {
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
  if (accept_directive(".callprototype")) {
    parse_prototype(body, key, name.line);
    return;
  }
  if (peek().is_directive(".calltargets")) {
    // A call that names it has no prototype, and reports that.
    skip_to_semicolon();
    return;
  }
  if (!body.labels.emplace(key, static_cast<std::uint32_t>(function.body.size())).second)
    fail_at(name.line, "label '" + printable(name.text) + "' defined twice");
  body.label_at_end = true;
}

void Parser::skip_to_semicolon() {
  while (!peek().is(';')) {
    if (peek().kind == Token::Kind::end || peek().kind == Token::Kind::bad) unexpected("';'");
    next();
  }
  next();
}

void Parser::parse_body_directive(Function& function, Body& body, const Token& directive) {
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
    stays_rolled_ = skip_pragma().find("nounroll") != std::string_view::npos;
  } else if (text == ".file") {
    parse_file();
  } else {
    unknown_directive(directive);
  }
}

void Parser::add_register(Function& function, std::string name, Type type) {
  if (function.registers.size() >= limits_.registers_per_function)
    fail("more than " + std::to_string(limits_.registers_per_function) +
         " registers in a function");
  if (++registers_ > limits_.registers)
    fail("more than " + std::to_string(limits_.registers) + " registers in a module");
  function.registers.push_back(Register{std::move(name), type});
}

void Parser::parse_registers(Function& function, Body& body) {
  if (peek().is_directive(".v2") || peek().is_directive(".v4"))
    fail_at(peek().line, "vector registers are not supported", true);
  const Type type = expect_type();
  if (type == Type::b128) fail_at(peek().line, "128-bit registers are not supported", true);
  if (type != Type::pred && size_of(type) == 0) fail("a register cannot have this type");
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

void Parser::parse_call_parameter(Function& function, Body& body) {
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
    const auto base = static_cast<std::uint32_t>(function.params.size() + function.results.size());
    declare(body, name,
            Named{Kind::param, base + static_cast<std::uint32_t>(function.call_params.size())});
    function.call_params.push_back(std::move(p));
  } while (accept(','));
  expect(';');
}

std::optional<Named> Parser::find_name(const Body& body, std::string_view name) const {
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
  if (const auto it = module_.variable_index.find(name);
      it != module_.variable_index.end() && it->second < known_variables_)
    return Named{Kind::symbol, it->second};
  if (const auto it = functions_.find(name);
      it != functions_.end() && it->second < known_functions_)
    return Named{Kind::function, it->second};
  return std::nullopt;
}

Named Parser::expect_name(const Body& body, const Token& token) {
  if (const auto named = find_name(body, token.text)) return *named;
  if (is_unsupported_special(token.text))
    throw_unsupported("special register '" + printable(token.text) + "' is not supported");
  fail_at(token.line, "unknown name '" + printable(token.text) + "'");
}

void Parser::resolve_labels(Function& function, Body& body) {
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

}  // namespace simgpu::ptx::parsing
