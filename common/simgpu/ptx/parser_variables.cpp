// Declarations of variables and their initial values.
#include <algorithm>
#include <bit>

#include "common/simgpu/ptx/parser_state.hpp"

namespace simgpu::ptx::parsing {

Type Parser::expect_type() {
  if (peek().kind != Token::Kind::directive) unexpected("a type");
  const auto type = type_from_name(peek().text.substr(1));
  if (!type) fail("unknown type '" + printable(peek().text) + "'");
  next();
  return *type;
}

Parser::Declaration Parser::parse_declaration_head() {
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

void Parser::parse_dimensions(Declaration* d, std::uint64_t most_bytes) {
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

std::uint64_t Parser::byte_limit(Space space) const {
  switch (space) {
    case Space::shared:
      return limits_.shared_bytes;
    case Space::local:
      return limits_.local_bytes;
    default:
      return limits_.global_bytes;
  }
}

void Parser::parse_variables(Space space, bool is_extern, Body* body, Function* function) {
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
    variable.position = static_cast<std::uint32_t>(name.text.data() - module_.text.data());
    if (peek().is('=')) {
      if (space != Space::global && space != Space::constant)
        fail("only .global and .const variables can be initialised");
      next();
      parse_initialiser(&d, &variable);
    }
    if (d.is_unsized && !is_extern && variable.init.empty())
      fail_at(name.line, "array '" + printable(name.text) + "' has no size");
    variable.size = d.is_unsized && variable.init.empty() ? 0 : d.element_count * d.element_size();
    if (space == Space::global || space == Space::constant) {
      global_bytes_ += variable.size;
      if (global_bytes_ > limits_.global_bytes)
        fail_at(name.line, "more than " + std::to_string(limits_.global_bytes) +
                               " bytes of .global and .const variables");
    }
    if (space == Space::constant && !is_extern) {
      constant_bytes_ += variable.size;
      if (constant_bytes_ > limits_.constant_bytes)
        fail_at(name.line, "the file uses too much constant data: '" + variable.pretty +
                               "' makes it " + std::to_string(constant_bytes_) +
                               " bytes, and a GPU has " + std::to_string(limits_.constant_bytes));
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

void Parser::declare_module_variable(const Token& name, Variable variable) {
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
  variable.position = old.position;
  if (old.is_extern && !variable.is_extern)
    old = std::move(variable);
  else if (!old.is_extern && !variable.is_extern)
    fail_at(name.line, "'" + printable(name.text) + "' defined twice");
}

void Parser::store(std::vector<std::uint8_t>& bytes, std::uint64_t at, std::uint64_t value,
                   unsigned size) {
  for (unsigned i = 0; i < size; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

void Parser::parse_initialiser(Declaration* d, Variable* variable) {
  const std::uint32_t line = peek().line;
  const unsigned width = size_of(d->type);
  Initialiser init{d->type, d->element_count * d->vec, {}, {}, 0, 0};
  if (d->is_unsized) init.most = kMostInitialisedBytes / width;
  if (init.most > kMostInitialisedBytes / width)
    fail_at(line, "an initialised variable of more than " + std::to_string(kMostInitialisedBytes) +
                      " bytes");
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

void Parser::parse_initial_list(Initialiser* init, Variable* variable, unsigned depth) {
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

void Parser::parse_initial_element(Type type, std::uint64_t at, std::vector<std::uint8_t>* bytes,
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
      const auto function = functions_.find(name.text);
      if (function != functions_.end() && width == 8 && addend == 0) {
        store(*bytes, at, function_address(function->second), width);
        return;
      }
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

}  // namespace simgpu::ptx::parsing
