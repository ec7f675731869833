#include <utility>

#include "common/simgpu/ptx/parser_state.hpp"
#include "common/simgpu/ptx/unrolling.hpp"

namespace simgpu::ptx {

ParseError::ParseError(std::string message, unsigned ptx_line_, std::string source_file_,
                       unsigned source_line_, bool is_unsupported)
    : std::runtime_error(std::move(message)),
      ptx_line(ptx_line_),
      source_file(std::move(source_file_)),
      source_line(source_line_),
      unsupported(is_unsupported) {}

}  // namespace simgpu::ptx

namespace simgpu::ptx::parsing {

void Parser::parse() {
  std::string_view text = module_.text;
  if (const std::size_t end = text.find(kClusters); end != std::string_view::npos) {
    clusters_ = read_clusters(text.substr(end + kClusters.size()));
    text = text.substr(0, end);
  }
  lexer_.emplace(text);
  parse_header();
  while (peek().kind != Token::Kind::end) parse_module_item();
  for (std::uint32_t i = 0; i < module_.functions.size(); ++i)
    module_.function_index[module_.functions[i].name] = i;
  for (std::uint32_t i = 0; i < module_.functions.size(); ++i)
    if (!postponed_.contains(i)) {
      resolve_locations(i);
      expand_pointer_calls(i);
      unroll_loops(module_.functions[i]);
    }
}

void Parser::complete(std::uint32_t function) {
  std::vector<std::uint32_t> wanted{function};
  while (!wanted.empty()) {
    const std::uint32_t index = wanted.back();
    wanted.pop_back();
    auto body = postponed_.extract(index);
    if (!body) continue;
    Postponed& postponed = body.mapped();
    lexer_ = postponed.lexer;
    known_variables_ = postponed.variables;
    known_functions_ = postponed.functions;
    parse_body(std::move(postponed.head), index);
    resolve_locations(index);
    expand_pointer_calls(index);
    unroll_loops(module_.functions[index]);
    const auto want = [&](const std::vector<Operand>& operands) {
      for (const Operand& operand : operands)
        if (operand.kind == Kind::function) wanted.push_back(operand.index);
    };
    want(module_.functions[index].vector_operands);
    for (const Instruction& instruction : module_.functions[index].body) want(instruction.operands);
  }
}

void Parser::fail_at(std::uint32_t line, const std::string& message, bool unsupported) {
  const Location where = author_location(location_);
  std::string text = "PTX line " + std::to_string(line);
  const std::string& file = module_.files[where.file].path;
  if (where.line != 0) text += " (" + printable(file) + ":" + std::to_string(where.line) + ")";
  throw ParseError(text + ": " + message, line, where.line != 0 ? file : std::string(), where.line,
                   unsupported);
}

Location Parser::author_location(const RawLocation& raw) const {
  const auto place = [&](std::uint32_t file, std::uint32_t line, std::uint32_t column) -> Location {
    const auto it = file_index_.find(file);
    if (it == file_index_.end() || module_.files[it->second].is_builtin || line == 0) return {};
    return {it->second, line, column};
  };
  const Location own = place(raw.file, raw.line, raw.column);
  return own.line != 0 ? own : place(raw.inlined_file, raw.inlined_line, raw.inlined_column);
}

void Parser::parse_file() {
  const std::uint32_t line = peek().line;
  const std::uint32_t number = parse_count("file number");
  if (peek().kind != Token::Kind::string) unexpected("a file name");
  const std::string path(next().text);
  while (accept(',')) parse_integer("file time or size");
  if (module_.files.size() > limits_.files) fail_at(line, "too many .file directives");
  file_index_[number] = static_cast<std::uint32_t>(module_.files.size());
  module_.files.push_back(SourceFile{path, is_builtin_path(path)});
}

void Parser::parse_loc() {
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

std::uint32_t Parser::current_location() {
  if (location_pending_) {
    locations_.push_back(location_);
    location_pending_ = false;
  }
  return static_cast<std::uint32_t>(locations_.size() - 1);
}

void Parser::resolve_locations(std::uint32_t index) {
  Function& function = module_.functions[index];
  const FunctionLocations& raw = function_locations_[index];
  if (raw.first != kNone) function.where = author_location(locations_[raw.first]);
  for (const std::uint32_t location : raw.instructions) {
    if (function.where.line != 0) break;
    function.where = author_location(locations_[location]);
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

void Parser::parse_header() {
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

void Parser::parse_module_item() {
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

void Parser::unknown_directive(const Token& what) {
  fail_at(what.line, "unknown directive '" + printable(what.text) + "'");
}

Space Parser::space_of(const Token& directive) {
  if (directive.text == ".global") return Space::global;
  if (directive.text == ".const") return Space::constant;
  if (directive.text == ".shared") return Space::shared;
  return Space::local;
}

void Parser::skip_section() {
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

std::string_view Parser::skip_pragma() {
  std::string_view last;
  do {
    if (peek().kind != Token::Kind::string) unexpected("a string");
    last = next().text;
  } while (accept(','));
  expect(';');
  return last;
}

void Parser::parse_parameters(std::vector<Parameter>* params, std::vector<std::string_view>* views,
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

void Parser::parse_extent(std::uint32_t (&extent)[3]) {
  extent[0] = parse_count("block extent");
  extent[1] = accept(',') ? parse_count("block extent") : 1;
  extent[2] = accept(',') ? parse_count("block extent") : 1;
}

void Parser::parse_function_directives(Function* function) {
  const std::uint32_t line = peek().line;
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
    } else if (d.text == ".reqnctapercluster") {
      parse_extent(function->req_cluster);
    } else if (d.text == ".maxclusterrank") {
      parse_count("blocks of a cluster");
    } else if (d.text == ".explicitcluster") {
      // A cluster's size is always given, or 1.
    } else if (d.text == ".blocksareclusters") {
      function->grid_in_clusters = true;
    } else {
      unknown_directive(d);
    }
  }
  // PTX ISA 11.7.2
  if (function->grid_in_clusters && (function->req_cluster[0] == 0 || function->req_ntid[0] == 0))
    fail_at(line, "'.blocksareclusters' needs .reqntid and .reqnctapercluster");
}

/// What our headers make of __cluster_dims__.
void Parser::find_clusters(Function* function) const {
  if (!has_clusters(function->name) || function->req_cluster[0] != 0) return;
  const auto known = clusters_.find(function->name);
  if (known == clusters_.end())
    function->unsupported =
        "this code was compiled without the pass that says how large clusters are: compile it by simcc";
  else
    std::copy(known->second.begin(), known->second.end(), function->req_cluster);
}

void Parser::parse_function(bool is_entry, std::uint32_t line) {
  Head head;
  Function& function = head.function;
  function.is_entry = is_entry;
  if (!is_entry && peek().is('('))
    parse_parameters(&function.results, &head.results, &function.unsupported);
  const Token name = expect_identifier("a function name");
  function.name = std::string(name.text);
  if (peek().is('(')) parse_parameters(&function.params, &head.params, &function.unsupported);
  parse_function_directives(&function);
  if (is_entry) find_clusters(&function);
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
    if ((!old.is_declaration || postponed_.contains(index)) && !function.is_declaration)
      fail_at(line, "'" + printable(name.text) + "' defined twice");
  }
  if (function.is_declaration) return;
  if (bodies_ == Bodies::on_demand) {
    const Lexer here = *lexer_;
    if (lexer_->skip_braces()) {
      postponed_.emplace(index, Postponed{std::move(head), here,
                                          static_cast<std::uint32_t>(module_.variables.size()),
                                          static_cast<std::uint32_t>(module_.functions.size())});
      return;
    }
  }
  parse_body(std::move(head), index);
}

void Parser::parse_body(Head head, std::uint32_t index) {
  location_ = {};
  location_pending_ = true;
  parse_statements(&head.function, index, head.params, head.results);
  module_.functions[index] = std::move(head.function);
}

}  // namespace simgpu::ptx::parsing

namespace simgpu::ptx {

Module parse(std::string text, const Limits& limits) {
  parsing::Parser parser(std::move(text), Bodies::now, limits);
  parser.parse();
  return std::move(parser.module());
}

Source::Source(std::string text, Bodies bodies, const Limits& limits)
    : parser_(std::make_unique<parsing::Parser>(std::move(text), bodies, limits)) {
  parser_->parse();
}
Source::~Source() = default;

const Module& Source::module() const {
  return parser_->module();
}

void Source::complete(std::uint32_t function) {
  parser_->complete(function);
}

}  // namespace simgpu::ptx
