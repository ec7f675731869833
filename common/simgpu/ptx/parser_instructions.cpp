// Instructions: opcodes, operands, and whether the two fit together.
#include <algorithm>
#include <utility>

#include "common/simgpu/ptx/parser_state.hpp"

namespace simgpu::ptx::parsing {

void Parser::throw_unsupported(std::string message) {
  throw Unsupported{std::move(message)};
}

const DecodedOpcode& Parser::decode(std::string_view text) {
  const auto it = opcode_cache_.find(text);
  if (it != opcode_cache_.end()) return it->second;
  constexpr std::size_t kMostCached = 4096;
  if (opcode_cache_.size() >= kMostCached) opcode_cache_.clear();
  return opcode_cache_.emplace(text, decode_opcode(text)).first->second;
}

void Parser::parse_instruction(Function& function, Body& body) {
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
  instruction.stays_rolled = std::exchange(stays_rolled_, false);
  body.locations.push_back(current_location());
  function.body.push_back(std::move(instruction));
}

Named Parser::expect_name_or_fail(const Body& body, const Token& token) {
  if (const auto named = find_name(body, token.text)) return *named;
  fail_at(token.line, "unknown name '" + printable(token.text) + "'");
}

Operand Parser::named_operand(Function& function, const Named& named) {
  Operand operand;
  operand.kind = named.kind;
  operand.index = named.index;
  if (named.kind == Kind::symbol) use_variable(function, named.index);
  return operand;
}

std::int64_t Parser::parse_offset() {
  // "+4", "-4" and clang's "+-4": the sign belongs to the number.
  return peek().is('+') || peek().is('-') ? parse_integer("offset") : 0;
}

Parser::Parsed Parser::parse_operand(Function& function, Body& body, bool in_vector) {
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
    if (accept(',')) parse_coordinates(function, body, &parsed);
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
    if (operand.kind == Kind::symbol || operand.kind == Kind::param) operand.bits = parse_offset();
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

/// Of a bulk tensor copy: "[map, {x, y}]".
void Parser::parse_coordinates(Function& function, Body& body, Parsed* parsed) {
  constexpr std::size_t kMostCoordinates = 5;
  if (!accept('{')) throw_unsupported("this addressing form needs a GPU: simgpu does not run it");
  do {
    if (parsed->elements.size() == kMostCoordinates) fail("a tensor has at most 5 coordinates");
    charge();
    parsed->elements.push_back(parse_operand(function, body, true));
  } while (accept(','));
  expect('}');
}

void Parser::parse_address(Function& function, Body& body, Operand* operand) {
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
    return;
  }
  operand->kind = Kind::imm;
  operand->bits = parse_integer("address");
}

Parser::Place Parser::place_of(const DecodedOpcode& decoded, char kind, char width) {
  const Modifiers& mod = decoded.mod;
  Place place;
  place.kind = kind;
  place.width = width;
  place.is_pred = width == '1' || ((width == 'T' || width == 'G') && mod.type == Type::pred) ||
                  (width == 'U' && mod.type2 == Type::pred);
  place.type = mod.type;
  const unsigned type_size = size_of(mod.type), type2_size = size_of(mod.type2);
  switch (width) {
    case 'T':
      place.exact = type_size;
      break;
    case 'U':
      place.exact = type2_size;
      place.type = mod.type2;
      break;
    case 'W':
      place.exact = mod.mul == MulMode::wide ? 2 * type_size : type_size;
      break;
    case 'G':
      place.least = type_size;
      break;
    case 'H':
      place.least = type2_size;
      place.type = mod.type2;
      break;
    case '3':
      place.exact = 4;
      place.type = Type::b32;
      break;
    case '6':
      place.exact = 8;
      place.type = Type::b64;
      break;
    default:
      place.type = Type::none;
      break;
  }
  return place;
}

std::string Parser::register_misfit(const Function& function, const Place& place,
                                    std::uint32_t index) {
  const Register& reg = function.registers[index];
  const std::string name = "'" + printable(reg.name);
  if (place.is_pred != (reg.type == Type::pred))
    return name + (place.is_pred ? "' is not a predicate" : "' is a predicate");
  const unsigned size = size_of(reg.type);
  if ((place.exact != 0 && size != place.exact) || size < place.least)
    return name + "' has " + std::to_string(8 * size) + " bits, not " +
           std::to_string(8 * (place.exact != 0 ? place.exact : place.least));
  if (place.width == 'a' && size != 4 && size != 8) return name + "' cannot hold an address";
  return {};
}

std::string Parser::number_misfit(const Place& place, Parsed* parsed) {
  Operand& operand = parsed->operand;
  if (operand.is_memory)
    return place.kind == 'm' || place.kind == 'M' ? std::string()
                                                  : "an address in [ ] does not fit here";
  if (std::string_view("dDPmMlt").find(place.kind) != std::string_view::npos)
    return "a number does not fit here";
  if (!place.is_pred) {
    const Type type = place.type == Type::none ? Type::b64 : place.type;
    operand.bits = bits_for(*parsed->literal, type, parsed->line);
    return {};
  }
  if (parsed->literal->is_float) return "a floating-point number is no predicate";
  operand.bits = parsed->literal->bits != 0;
  return {};
}

namespace {

/// What a count of elements does not fit; empty if it does.
std::string count_misfit(const DecodedOpcode& decoded, unsigned count) {
  const Modifiers& mod = decoded.mod;
  const unsigned needed = mod.vec > 1 ? mod.vec : mod.num;
  if (needed != 0 && count != needed) return "needs " + std::to_string(needed) + " elements";
  const bool is_ld_st =
      decoded.op == Opcode::ld || decoded.op == Opcode::ldu || decoded.op == Opcode::st;
  return is_ld_st && mod.vec == 1 ? "needs .v2 or .v4" : "";
}

Type bits_type(unsigned bytes) {
  return bytes == 1 ? Type::b8 : bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64;
}

}  // namespace

std::string Parser::vector_misfit(const Function& function, const DecodedOpcode& decoded,
                                  Place place, Parsed* parsed) {
  const bool is_one_atomic =
      (decoded.op == Opcode::atom || decoded.op == Opcode::red) && decoded.mod.vec == 1;
  if ((place.kind != 'D' && place.kind != 'S') || is_one_atomic)
    return "a vector does not fit here";
  const auto count = static_cast<unsigned>(parsed->elements.size());
  if (decoded.op == Opcode::mov) {
    // Packing: the elements share the bits of the other operand.
    const unsigned type_size = size_of(decoded.mod.type);
    if (place.is_pred || type_size % count != 0 || count < 2) return "cannot be split this way";
    place.exact = type_size / count;
    place.type = bits_type(place.exact);
  } else if (std::string why = count_misfit(decoded, count); !why.empty()) {
    return why;
  }
  for (Parsed& element : parsed->elements)
    if (std::string why = element_misfit(function, place, &element); !why.empty()) return why;
  return {};
}

std::string Parser::element_misfit(const Function& function, const Place& place, Parsed* element) {
  Operand& e = element->operand;
  if (e.kind == Kind::reg) {
    if (element->has_second || e.negated) return "'|' and '!' do not fit in a vector";
    return register_misfit(function, place, e.index);
  }
  if (e.kind == Kind::imm && place.kind == 'S' && !e.is_memory) {
    const Type type = place.type == Type::none ? Type::b64 : place.type;
    e.bits = bits_for(*element->literal, type, element->line);
    return {};
  }
  const bool is_unwanted = e.kind == Kind::sink && place.kind == 'D';
  return is_unwanted ? "" : "this element does not fit in a vector";
}

std::string Parser::special_misfit(const Place& place, Special special) {
  if (place.kind != 's' && place.kind != 'S') return "a special register does not fit here";
  const unsigned bits = 8 * std::max(place.exact, place.least);
  if (is_unset(special) && !place.is_pred) return {};  // of any width
  if (special == Special::is_explicit_cluster)
    return place.is_pred ? "" : "the special register is a predicate";
  if (place.is_pred || (bits_of(special) > bits && special != Special::gridid && bits != 0))
    return "the special register has " + std::to_string(bits_of(special)) + " bits";
  return {};
}

std::string Parser::address_misfit(const Place& place, const Operand& operand) {
  if (operand.is_memory || operand.kind == Kind::address)
    return place.kind == 'm' || place.kind == 'M' ? "" : "an address in [ ] does not fit here";
  const bool holds_address = (place.kind == 's' || place.kind == 'S') && !place.is_pred &&
                             (place.exact == 0 || place.exact >= 4);
  return holds_address ? "" : "the address of a variable does not fit here";
}

std::string Parser::coordinates_misfit(const Function& function, Place place, Parsed* parsed) {
  const bool wanted = place.kind == 'M';
  if (wanted != (parsed->operand.is_memory && !parsed->elements.empty()))
    return wanted ? "needs a tensor map and coordinates" : "coordinates do not fit here";
  place.kind = 'S';
  std::string why;
  for (std::size_t i = 0; wanted && why.empty() && i < parsed->elements.size(); ++i)
    why = element_misfit(function, place, &parsed->elements[i]);
  return why;
}

std::string Parser::misfit(const Function& function, const DecodedOpcode& decoded, char kind,
                           char width, Parsed* parsed) {
  const Operand& operand = parsed->operand;
  if (kind != 'n' && operand.negated) return "'!' needs a predicate source";
  if (kind != 'P' && parsed->has_second) return "takes one destination only";
  const Place place = place_of(decoded, kind, width);
  if (std::string why = coordinates_misfit(function, place, parsed); !why.empty()) return why;
  switch (operand.kind) {
    case Kind::reg:
      if (std::string_view("mMilt").find(kind) != std::string_view::npos)
        return "a register does not fit here";
      return register_misfit(function, place, operand.index);
    case Kind::sink:
      return kind == 'D' || kind == 'P' ? std::string() : "'_' does not fit here";
    case Kind::imm:
      return number_misfit(place, parsed);
    case Kind::special:
      return special_misfit(place, static_cast<Special>(operand.index));
    case Kind::symbol:
    case Kind::param:
    case Kind::address:
      return address_misfit(place, operand);
    case Kind::function:
      if (decoded.op != Opcode::mov || kind != 'S' || place.exact != 8)
        throw_unsupported("the address of a function can be moved to a 64-bit register only");
      parsed->operand.bits = static_cast<std::int64_t>(function_address(operand.index));
      parsed->operand.kind = Kind::imm;
      parsed->literal = Literal{false, false, function_address(operand.index)};
      return {};
    case Kind::vector:
      return vector_misfit(function, decoded, place, parsed);
    case Kind::none:
    case Kind::label:
      break;
  }
  return "this operand does not fit here";
}

void Parser::parse_operands(Function& function, Body& body, const DecodedOpcode& decoded,
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
  const auto push_elements = [&](const Parsed& p) {
    Operand vector;
    vector.kind = Kind::vector;
    vector.index = static_cast<std::uint32_t>(function.vector_operands.size());
    vector.count = static_cast<std::uint32_t>(p.elements.size());
    for (const Parsed& element : p.elements) function.vector_operands.push_back(element.operand);
    instruction->operands.push_back(vector);
  };
  for (const Parsed& p : parsed) {
    if (p.operand.kind != Kind::vector) instruction->operands.push_back(p.operand);
    if (!p.elements.empty()) push_elements(p);
  }
}

void Parser::match_operands(const Function& function, const DecodedOpcode& decoded,
                            std::uint32_t line, std::vector<Parsed>* parsed) {
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
  const bool has_hint =
      current_opcode_text(decoded).find(".L2::cache_hint") != std::string_view::npos;
  if (decoded.op == Opcode::atom && (parsed->size() - (has_hint ? 1 : 0) == 4) != is_cas)
    fail_at(line, "'atom' takes a second value with .cas only");
}

std::string_view Parser::current_opcode_text(const DecodedOpcode& decoded) const {
  for (const auto& [text, entry] : opcode_cache_)
    if (&entry == &decoded) return text;
  return "instruction";
}

}  // namespace simgpu::ptx::parsing
