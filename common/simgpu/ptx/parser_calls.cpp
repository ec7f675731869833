// Calls, direct and through pointers.
//
// A call through a pointer becomes, when all functions of the module are known, a comparison of the
// pointer with the address of each function of the prototype's shape, and a direct call of that one:
//
//     call (r), %rd1, (a), prototype_0;      setp.eq.u64 %found, %rd1, ADDRESS_OF_F;
//                                            @%found call (r), f, (a);
//                                            setp.eq.u64 %is, %rd1, ADDRESS_OF_G;
//                                            or.pred %found, %found, %is;
//                                            @%is call (r), g, (a);
//                                            @!%found trap;
//
// So lanes that call the same function run together, as on hardware, and whatever a pointer holds,
// nothing but a function of this shape is ever called.
#include "common/simgpu/ptx/parser_state.hpp"

namespace simgpu::ptx::parsing {

void Parser::parse_prototype(Body& body, const ScopedName& key, std::uint32_t line) {
  Prototype prototype;
  std::vector<Parameter> results, params;
  std::vector<std::string_view> views;
  std::string unsupported;
  if (peek().is('(')) parse_parameters(&results, &views, &unsupported);
  expect_identifier("'_'");
  if (peek().is('(')) parse_parameters(&params, &views, &unsupported);
  accept_directive(".noreturn");
  expect(';');
  if (unsupported.empty()) {
    prototype.shape = shape_of(results, params);
    prototype.results = static_cast<std::uint32_t>(results.size());
    prototype.params = static_cast<std::uint32_t>(params.size());
  }
  if (!body.prototypes.emplace(key, std::move(prototype)).second)
    fail_at(line, "'" + printable(key.second) + "' defined twice");
}

Parser::Shape Parser::shape_of(const std::vector<Parameter>& results,
                               const std::vector<Parameter>& params) {
  Shape shape{static_cast<std::uint32_t>(results.size())};
  for (const Parameter& p : results) shape.push_back(p.size);
  for (const Parameter& p : params) shape.push_back(p.size);
  return shape;
}

Operand Parser::parse_call_list(Function& function, Body& body) {
  std::vector<Operand> elements;
  Operand list;
  list.kind = Kind::vector;
  if (accept('(')) {
    if (!peek().is(')')) {
      do {
        charge();
        Parsed p = parse_operand(function, body);
        if (p.literal) p.operand.bits = static_cast<std::int64_t>(p.literal->bits);
        const bool fits =
            p.operand.kind == Kind::param || (p.operand.kind == Kind::imm && !p.operand.is_memory);
        if (!fits || p.operand.is_memory)
          throw_unsupported("calls pass arguments in .param variables only");
        elements.push_back(p.operand);
      } while (accept(','));
    }
    expect(')');
  }
  list.index = static_cast<std::uint32_t>(function.vector_operands.size());
  list.count = static_cast<std::uint32_t>(elements.size());
  function.vector_operands.insert(function.vector_operands.end(), elements.begin(), elements.end());
  return list;
}

void Parser::parse_call(Function& function, Body& body, Instruction* instruction) {
  const bool has_results = peek().is('(');
  const Operand results = parse_call_list(function, body);
  if (has_results) expect(',');
  const Token name = expect_identifier("a function name");
  const Named named = expect_name(body, name);
  const bool through_pointer = named.kind == Kind::reg;
  if (!through_pointer && named.kind != Kind::function)
    fail_at(name.line, "'" + printable(name.text) + "' is not a function");
  Operand callee;
  callee.kind = named.kind;
  callee.index = named.index;
  const bool has_arguments = accept(',');
  if (has_arguments && !peek().is('('))
    throw_unsupported("a call through a pointer needs its arguments in parentheses");
  const Operand arguments = parse_call_list(function, body);
  instruction->operands = {callee, results, arguments};
  const auto check_counts = [&](std::size_t params, std::size_t values) {
    if (arguments.count != params || results.count != values)
      fail_at(name.line, "call of '" + printable(name.text) + "' with " +
                             std::to_string(arguments.count) + " arguments and " +
                             std::to_string(results.count) + " results, which takes " +
                             std::to_string(params) + " and has " + std::to_string(values));
  };
  if (!through_pointer) {
    const Function& target = module_.functions[named.index];
    if (target.is_entry)
      fail_at(name.line, "'" + printable(name.text) + "' is a kernel and cannot be called");
    check_counts(target.params.size(), target.results.size());
    return;
  }
  if (size_of(function.registers[named.index].type) != 8)
    fail_at(name.line, "'" + printable(name.text) + "' cannot hold the address of a function");
  if (instruction->guard != kNone) throw_unsupported("a guarded call through a pointer");
  if (!accept(',')) throw_unsupported("a call through a pointer without a prototype");
  const Token label = expect_identifier("a prototype");
  const Prototype* const prototype =
      find_scoped(body.prototypes, body, body.scopes.back().id, label.text);
  if (prototype == nullptr || prototype->shape.empty())
    throw_unsupported("a call through a pointer needs a .callprototype before it");
  check_counts(prototype->params, prototype->results);
  body.pointer_calls.push_back(
      {static_cast<std::uint32_t>(function.body.size()), prototype->shape});
}

const std::vector<std::uint32_t>& Parser::functions_of(const Shape& shape) {
  if (!shapes_known_) {
    shapes_known_ = true;
    for (std::uint32_t i = 0; i < module_.functions.size(); ++i) {
      const Function& f = module_.functions[i];
      // What is read on demand looks like a declaration before that.
      if (!f.is_entry && (!f.is_declaration || postponed_.contains(i)))
        shapes_[shape_of(f.results, f.params)].push_back(i);
    }
  }
  return shapes_[shape];
}

void Parser::expand_pointer_calls(std::uint32_t index) {
  const auto calls = pointer_calls_.extract(index);
  Function& function = module_.functions[index];
  if (!calls || !function.unsupported.empty()) return;
  const auto predicate = [&](const char* name) {
    function.registers.push_back({name, Type::pred});
    return static_cast<std::uint32_t>(function.registers.size() - 1);
  };
  const std::uint32_t found = predicate("%call_found"), is = predicate("%call_is");
  const auto reg = [](std::uint32_t number) {
    Operand o;
    o.kind = Kind::reg;
    o.index = number;
    return o;
  };
  std::vector<Instruction> body;
  std::vector<std::uint32_t> moved_to;  // by number in the old body
  auto call = calls.mapped().begin();
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    moved_to.push_back(static_cast<std::uint32_t>(body.size()));
    Instruction& old = function.body[i];
    if (call == calls.mapped().end() || call->slot != i) {
      body.push_back(std::move(old));
      continue;
    }
    const auto add = [&](std::string_view opcode, std::vector<Operand> operands) -> Instruction& {
      Instruction made;
      const DecodedOpcode& decoded = decode(opcode);
      made.op = decoded.op;
      made.mod = decoded.mod;
      made.mod.text = opcode;
      made.operands = std::move(operands);
      made.where = old.where;
      made.ptx_line = old.ptx_line;
      body.push_back(std::move(made));
      return body.back();
    };
    const std::vector<std::uint32_t>& targets = functions_of(call->shape);
    charge(4 * targets.size() + 1);
    for (const std::uint32_t target : targets) {
      const bool first = target == targets.front();
      Operand address, callee;
      address.kind = Kind::imm;
      address.bits = static_cast<std::int64_t>(function_address(target));
      callee.kind = Kind::function;
      callee.index = target;
      add("setp.eq.u64", {reg(first ? found : is), old.operands[0], address});
      if (!first) add("or.pred", {reg(found), reg(found), reg(is)});
      add("call", {callee, old.operands[1], old.operands[2]}).guard = first ? found : is;
    }
    Instruction& trap = add("trap", {});
    trap.mod.text = kPointerCall;
    trap.guard = targets.empty() ? kNone : found;
    trap.guard_negated = true;
    ++call;
  }
  function.body = std::move(body);
  const auto move_label = [&](Operand& o) {
    if (o.kind == Kind::label && o.index < moved_to.size()) o.index = moved_to[o.index];
  };
  for (Operand& o : function.vector_operands) move_label(o);
  for (Instruction& instruction : function.body)
    for (Operand& o : instruction.operands) move_label(o);
}

}  // namespace simgpu::ptx::parsing
