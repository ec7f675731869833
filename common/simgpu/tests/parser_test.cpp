// The PTX parser: what it must take, what it must refuse, and hostile texts.
#include "common/simgpu/ptx/parser.hpp"

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include "common/catch2.hpp"
#include "common/simgpu/ptx/names.hpp"
#include "common/simgpu/tests/parser_forms.hpp"

namespace {

using namespace simgpu::ptx;
using Kind = Operand::Kind;

const std::string kHeader = ".version 7.0\n.target sm_80\n.address_size 64\n";

Module parse_body(const std::string& body, const std::string& module_scope = {}) {
  return parse(kHeader + module_scope +
               ".visible .entry k(.param .u64 p, .param .u32 n, .param .align 8 .b8 view[24])\n{\n"
               ".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<40>; .reg .f32 %f<20>; .reg .b64 "
               "%rd<20>; .reg .f64 %d<8>;\n" +
               body + "\n}\n");
}

Instruction one(const std::string& text, const std::string& module_scope = {}) {
  Module module = parse_body(text + "\nret;", module_scope);
  INFO(text);
  REQUIRE(module.functions.back().unsupported == "");
  REQUIRE(module.functions.back().body.size() == 2);
  Instruction instruction = module.functions.back().body[0];
  instruction.mod.text = {};  // pointed into the module
  return instruction;
}

std::string error_of(const std::string& text, const Limits& limits = {}) {
  try {
    parse(text, limits);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}
std::string body_error(const std::string& body) {
  try {
    parse_body(body);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}
std::string unsupported_of(const std::string& body) {
  return parse_body(body + "\nret;").functions.back().unsupported;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string read_fixture(const std::string& name) {
  std::ifstream file("common/simgpu/tests/ptx/" + name, std::ios::binary);
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE("every form of the tables parses", "[ptx][parser]") {
  for (const char* form : kForms) CHECK(one(form).ptx_line > 0);
  for (const char* form : kHopperForms) CHECK(one(form).ptx_line > 0);
}

TEST_CASE("modifiers, types and operands arrive where they belong", "[ptx][parser]") {
  Instruction i = one("setp.lt.and.f32 %p1|%p2, %f1, 0f40000000, !%p3;");
  CHECK(i.op == Opcode::setp);
  CHECK(i.mod.compare == Compare::lt);
  CHECK(i.mod.combine == BoolOp::and_);
  CHECK(i.mod.type == Type::f32);
  CHECK(i.operands.size() == 4);
  CHECK(i.operands[0].index2 == i.operands[0].index + 1);
  CHECK(i.operands[2].bits == 0x40000000);
  CHECK(i.operands[3].negated);

  i = one("@!%p1 cvt.rni.sat.s32.f64 %r1, %d1;");
  CHECK(i.guard_negated);
  CHECK(i.guard != UINT32_MAX);
  CHECK(i.mod.type == Type::s32);
  CHECK(i.mod.type2 == Type::f64);
  CHECK(i.mod.rounding == Rounding::rni);
  CHECK(i.mod.sat);

  i = one("ld.global.nc.v4.f32 {%f1, _, %f3, %f4}, [%rd3+-16];");
  CHECK(i.mod.space == Space::global);
  CHECK(i.mod.non_coherent);
  CHECK(i.mod.vec == 4);
  CHECK(i.operands[0].kind == Kind::vector);
  CHECK(i.operands[0].count == 4);
  CHECK(i.operands[1].kind == Kind::address);
  CHECK(i.operands[1].bits == -16);

  CHECK(one("ld.f32 %f1, [%rd1];").mod.space == Space::generic);
  CHECK(one("st.shared.u32 [%r1], %r2;").mod.space == Space::shared);
  CHECK(one("mov.f64 %d1, 0dBFF0000000000000;").operands[1].bits ==
        static_cast<std::int64_t>(0xBFF0000000000000));
  CHECK(one("mov.f32 %f1, 1.0;").operands[1].bits == 0x3F800000);
  CHECK(one("mov.s32 %r1, -7;").operands[1].bits == -7);
  CHECK(one("mov.u32 %r1, ~0x0F & 255;").operands[1].bits == 0xF0);
  CHECK_FALSE(one("barrier.sync 0;").mod.aligned);
  CHECK(one("bar.sync 0;").mod.aligned);
  i =
      one("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, "
          "{%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};");
  CHECK(i.mod.m == 16);
  CHECK(i.mod.n == 8);
  CHECK(i.mod.k == 8);
  CHECK(i.mod.type2 == Type::tf32);
  CHECK(i.mod.row_a);
  CHECK_FALSE(i.mod.row_b);
  i = one("mov.u64 %rd1, s+4;", ".shared .align 4 .b8 s[64];");
  CHECK(i.operands[1].kind == Kind::symbol);
  CHECK(i.operands[1].bits == 4);
  i = one("ld.param.f32 %f1, [view+12];");
  CHECK(i.operands[1].kind == Kind::param);
  CHECK(i.operands[1].index == 2);
  CHECK(i.operands[1].bits == 12);
  CHECK(i.operands[1].is_memory);
}

TEST_CASE("scopes, labels and branch tables", "[ptx][parser]") {
  const Module m = parse_body(
      "bra.uni END;\n"
      "{ .reg .pred p; .reg .b32 t, u<3>; setp.ne.s32 p, %r1, 0; @!p bra DONE; mov.b32 u2, 5; "
      "mov.b32 t, u2; DONE: }\n"
      "{ .reg .f32 t; @%p1 bra DONE; mov.f32 t, %f1; DONE: }\n"
      "ts: .branchtargets A, END, A;\n"
      "A: brx.idx %r1, ts;\n"
      "END:\n");
  const Function& f = m.functions.back();
  REQUIRE(f.body.size() == 9);
  CHECK(f.body[0].operands[0].index == 8);  // a label at the end: the ret added there
  CHECK(f.body[2].operands[0].index == 5);
  CHECK(f.body[5].operands[0].index == 7);
  CHECK(f.body[8].op == Opcode::ret);
  REQUIRE(f.body[7].op == Opcode::brx_idx);
  const Operand& table = f.body[7].operands[1];
  REQUIRE(table.count == 3);
  CHECK(f.vector_operands[table.index].index == 7);
  CHECK(f.vector_operands[table.index + 1].index == 8);
}

TEST_CASE("functions, calls and the parameters of a call", "[ptx][parser]") {
  const Module m =
      parse(kHeader +
            ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b) ;\n"
            ".extern .func __assertfail (.param .b64 a) .noreturn;\n"
            ".func (.param .f32 r) twice (.param .f32 x)\n{ .reg .f32 %f<3>; ld.param.f32 %f1, "
            "[x]; add.f32 %f2, %f1, %f1;\n"
            "st.param.f32 [r+0], %f2; ret; }\n"
            ".visible .entry k() .reqntid 32, 2 .minnctapersm 3 .maxnreg 64 { .reg .f32 %f<3>; "
            ".reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
            "{ .param .b32 param0; st.param.f32 [param0+0], %f1; .param .b32 retval0;\n"
            "call.uni (retval0), twice, (param0); ld.param.f32 %f2, [retval0+0]; }\n"
            "{ .param .b64 param0; .param .b64 param1; .param .b32 retval0; call.uni (retval0), "
            "vprintf, (param0, param1); }\n ret; }\n");
  const Function& k = m.functions[m.function_index.at("k")];
  CHECK(m.functions[m.function_index.at("vprintf")].is_declaration);
  CHECK(k.req_ntid[0] == 32);
  CHECK(k.req_ntid[1] == 2);
  CHECK(k.min_nctapersm == 3);
  CHECK(k.max_nreg == 64);
  CHECK(k.call_params.size() == 5);
  REQUIRE(k.body[1].op == Opcode::call);
  CHECK(k.body[1].operands[0].index == m.function_index.at("twice"));
  CHECK(k.body[1].operands[1].count == 1);
  CHECK(k.vector_operands[k.body[1].operands[1].index].index == 1);  // retval0
  CHECK(k.vector_operands[k.body[1].operands[2].index].index == 0);  // param0
  const Function& twice = m.functions[m.function_index.at("twice")];
  CHECK(twice.body[2].operands[0].index == 1);  // the result follows the parameters
}

TEST_CASE("variables and initialisers", "[ptx][parser]") {
  const Module m =
      parse(kHeader +
            ".visible .const .align 4 .b8 c[8] = {0, 0, 128, 63};\n"
            ".global .f32 pi = 0f40490FDB;\n"
            ".global .align 4 .u32 grid[2][3] = {{1}, {2, 3}};\n"
            ".global .u64 table[3] = {generic(c)+4, 7, pi};\n"
            ".global .s16 open[] = {-1, 2, 3};\n"
            ".extern .shared .align 16 .b8 dyn[];\n"
            ".weak .shared .align 4 .b8 _ZZ5tiledIfLi16EEv4ViewIKT_ES3_S0_IS1_EE2As[1024];\n"
            ".visible .entry k() { .local .align 8 .b8 depot[24]; .shared .f32 body[2][2]; .reg "
            ".b64 %rd<2>; mov.u64 %rd1, dyn; ret; }\n");
  const auto var = [&](const char* name) -> const Variable& {
    return m.variables[m.variable_index.at(name)];
  };
  CHECK(var("c").init == std::vector<std::uint8_t>{0, 0, 128, 63, 0, 0, 0, 0});
  CHECK(var("pi").init == std::vector<std::uint8_t>{0xDB, 0x0F, 0x49, 0x40});
  REQUIRE(var("grid").init.size() == 24);
  CHECK(var("grid").init[0] == 1);
  CHECK(var("grid").init[12] == 2);
  CHECK(var("grid").init[16] == 3);
  REQUIRE(var("table").relocations.size() == 2);
  CHECK(var("table").relocations[0].addend == 4);
  CHECK(var("table").relocations[1].offset == 16);
  CHECK(var("table").init[8] == 7);
  CHECK(var("open").size == 6);
  CHECK(var("dyn").size == 0);
  CHECK(m.variables[m.variable_index.at("_ZZ5tiledIfLi16EEv4ViewIKT_ES3_S0_IS1_EE2As")].pretty ==
        "As");
  CHECK(m.functions[0].variables.size() == 3);  // depot, body and dyn
  CHECK(m.variables.back().size == 16);
}

TEST_CASE("parameters are laid out naturally", "[ptx][parser]") {
  const Module m = parse(kHeader +
                         ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b, "
                         ".param .align 4 .b8 c[5], .param .f32 d, .param .align 16 .b8 e[32])"
                         ".maxntid 256, 1, 1 { ret; }");
  const Function& f = m.functions[0];
  REQUIRE(f.params.size() == 5);
  CHECK(f.params[1].offset == 8);
  CHECK(f.params[2].offset == 16);
  CHECK(f.params[3].offset == 24);
  CHECK(f.params[4].offset == 32);
  CHECK(f.max_ntid[0] == 256);
}

TEST_CASE("lines are the author's", "[ptx][parser]") {
  const Module m = parse_body(
      ".loc 1 7 0\n mov.u32 %r1, 1;\n .loc 2 53 3\n mov.u32 %r2, %tid.x;\n .loc 1 9 22\n mov.u32 "
      "%r3, 3;\n .loc 1 0 3\n mov.u32 %r4, 4;\n"
      ".loc 3 5 1, function_name L, inlined_at 1 12 4\n mov.u32 %r5, 5;\n L: .loc 9 1 1\n mov.u32 "
      "%r6, 6;\n .loc 1 4000000000 1\n ret;",
      ".file 1 \"gemm.cu\"\n.file 2 "
      "\"/usr/lib/clang/14/include/__clang_cuda_builtin_vars.h\"\n.file 3 "
      "\"/x/common/simgpu/include/vector_types.h\", 0, 12\n");
  const Function& f = m.functions[0];
  std::vector<unsigned> lines;
  for (const Instruction& i : f.body) lines.push_back(i.where.line);
  CHECK(lines == std::vector<unsigned>{7, 7, 9, 9, 12, 12, 10'000'000});
  CHECK(m.files[f.body[0].where.file].path == "gemm.cu");
  CHECK(f.where.line == 7);
  // Files may come last, and an error names the line it was at.
  CHECK(
      contains(error_of(kHeader +
                        ".file 1 \"gemm.cu\"\n.entry k() {\n.loc 1 31 4\nadd.s32 %r1, %r2, %r3; }"),
               "gemm.cu:31"));
}

TEST_CASE("what only hardware runs makes one function unsupported", "[ptx][parser]") {
  CHECK(contains(unsupported_of("tcgen05.alloc.cta_group::1.sync.aligned.b32 [%r1], 32;"),
                 "needs a GPU"));
  CHECK(contains(unsupported_of("multimem.red.add.f32 [%rd1], %f1;"), "needs a GPU"));
  CHECK(contains(unsupported_of("tensormap.replace.tile.rank.shared::cta.b1024.b64 [%rd1], 3;"),
                 ".b64"));
  CHECK(unsupported_of("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd1], 2;").empty());
  CHECK(
      contains(unsupported_of("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %rd1;"),
               "needs a GPU"));
  CHECK(contains(unsupported_of("frobnicate.f32 %f1, %f2;"), "not an instruction"));
  CHECK(contains(unsupported_of("add.f32x2 %rd1, %rd2, %rd3;"), ".f32x2"));
  CHECK(contains(unsupported_of("add.b32 %r1, %r2, %r3;"), ".b32"));
  CHECK(contains(unsupported_of("mov.u32 %r1, %pm0;"), "pm0"));
  CHECK(contains(unsupported_of("call (%r1), %rd1, (%r2), proto;"), "calls"));
  CHECK(contains(unsupported_of("mul.s32 %r1, %r2, %r3;"), ".lo"));
  const Module m = parse_body(".loc 1 40 1\ngriddepcontrol.none;\nbra L;\nL: @%p1 bra L;",
                              ".file 1 \"gemm.cu\"\n");
  CHECK(m.functions[0].unsupported_where.line == 40);
  CHECK(m.functions[0].body.empty());
}

TEST_CASE("mistakes are errors with their line", "[ptx][parser]") {
  const auto check = [](const std::string& body, const std::string& what) {
    INFO(body);
    const std::string error = body_error(body);
    INFO(error);
    CHECK(contains(error, what));
  };
  check("add.s32 %r1, %r2;", "3 operands");
  check("add.s32 %r1, %r2, %r3, %r4;", "3 operands");
  check("add.s32 %r1, %rd2, %r3;", "64 bits");
  check("add.s32 %r1, %p1, %r3;", "is a predicate");
  check("and.pred %p1, %r1, %p2;", "not a predicate");
  check("add.s32 5, %r1, %r2;", "operand 1");
  check("add.f32 %f1, %f2, 1;", "integer literal");
  check("add.s32 %r1, %r2, 0f3F800000;", "floating-point literal");
  check("add.s32 %r1, %r2, !%p1;", "predicate");
  check("add.s32 %r1|%p1, %r2, %r3;", "one destination");
  check("ld.global.v4.f32 {%f1, %f2}, [%rd1];", "4 elements");
  check("ld.global.f32 {%f1}, [%rd1];", ".v2");
  check("ld.global.f32 %f1, %rd1;", "operand 2");
  check("ld.global.f32 %f1, [%h1];", "cannot hold an address");
  check("st.global.f64 [%rd1], %f1;", "32 bits");
  check("mov.b64 %rd1, {%r1};", "split");
  check("mov.b64 {%r1, %rd2}, %rd1;", "64 bits");
  check("mov.u32 %r1, %r99;", "unknown name '%r99'");
  check("mov.u32 %r1, %r01;", "unknown name");
  check("mov.u32 %r1, nowhere;", "unknown name");
  check("bra NOWHERE;", "unknown label");
  check("brx.idx %r1, t;", "unknown branch table");
  check("@%r1 bra L; L:", "is not a predicate");
  check("L: L: ret;", "defined twice");
  check("{ L: ret; } bra L;", "unknown label");
  check(".reg .b32 %r5, %r5;", "declared twice");
  check("atom.add.u32 %r1, [%rd1], %r2, %r3;", "cas");
  check("mov.u32 %r1, 0xZ;", "bad number");
  check("mov.u32 %r1, 99999999999999999999999;", "bad number");
  check("mov.f32 %f1, 0f3F8000;", "bad number");
  check("mov.u32 %r1, 1/0;", "division by zero");
  check("mov.u32 %r1, 5", "';'");
  check(".incbin \"/etc/passwd\";", "unknown directive '.incbin'");
  check(".reg .b32 %huge<1000000000>;", "over the limit");
  check(".shared .b8 s[1073741824];", "more than");
  check(".local .b8 s[600000];", "more than");
  check(".local .b8 a[500000]; .local .b8 b[500000];", "local memory");
  check(".shared .b8 s[-1];", "negative");
  check(".shared .f32 s = 1;", "initialised");
  check("ret; } .visible .entry k() { ret;", "two different ways");
  check("ret; } .visible .entry k(.param .u64 a, .param .u32 b, .param .b64 c) { ret;",
        "defined twice");
  check("} ret;", "expected a directive");
  CHECK(contains(error_of(""), ".version"));
  CHECK(contains(error_of("hello"), ".version"));
  CHECK(contains(error_of(kHeader + ".include \"/etc/passwd\""), "unknown directive"));
  CHECK(contains(error_of(kHeader + ".section .text { .b8 1 }"), ".debug_"));
  CHECK(contains(error_of(kHeader + ".global .u64 x = nothing;"), "unknown symbol"));
  CHECK(contains(error_of(kHeader + ".global .u8 x[2] = {1, 2, 3};"), "more initialisers"));
  CHECK(contains(error_of(kHeader + ".global .u8 x[300000000];"), "more than"));
  CHECK(contains(error_of(kHeader + ".entry k(.param .b8 p[40000]) { ret; }"), "more than"));
  CHECK(contains(error_of(kHeader + ".entry k(.param .ptr p) { ret; }"), "expected a type"));
  CHECK(contains(error_of(".version 7.0 .target sm_80 .address_size 32"), "64-bit"));
  CHECK(contains(error_of(kHeader + ".entry k() { mov.u32 \x01, 5; }"), "?"));
}

TEST_CASE("a file has as much constant data as a GPU", "[ptx][parser][hostile]") {
  const auto constants = [](const std::string& more) {
    return error_of(kHeader +
                    ".extern .const .b8 later[65000]; .const .align 4 .b8 most[65532];\n" + more);
  };
  CHECK(contains(constants(".const .b32 last; .global .b8 big[1048576];"), "no error"));
  CHECK(contains(constants(".const .b32 last;\n.const .b8 one;"),
                 "'one' makes it 65537 bytes, and a GPU has 65536"));
  CHECK(contains(error_of(kHeader + ".const .b8 table[2097152];"), "constant data"));
}

TEST_CASE("hostile texts end quickly in one error", "[ptx][parser][hostile]") {
  const auto repeat = [](const std::string& part, std::size_t count) {
    std::string text;
    text.reserve(part.size() * count);
    for (std::size_t i = 0; i < count; ++i) text += part;
    return text;
  };
  Limits limits;
  limits.instructions = 100'000;
  limits.registers = 200'000;
  const auto start = std::chrono::steady_clock::now();
  const auto body = [&](const std::string& text) {
    return error_of(kHeader + ".entry k() {" + text + "}", limits);
  };
  CHECK(contains(body(repeat("{", 100000)), "nested"));
  CHECK(contains(body(repeat("{}", 200000)), "more than"));
  CHECK(contains(body("mov.u32 %r1, " + repeat("(", 100000)), "unknown name"));
  CHECK(contains(body(".reg .b32 r; mov.u32 r, " + repeat("(", 100000)), "nested"));
  CHECK(contains(body(".reg .b32 r; mov.u32 r, " + repeat("-", 100000) + "1;"), "nested"));
  CHECK(contains(body(repeat(".reg .b32 %r<100000>; {", 10)), "registers"));
  CHECK(contains(body(repeat("ret;", 200000)), "more than"));
  CHECK(contains(body(".reg .b32 " + repeat("x", 1000000) + "<100000>;"), "too long"));
  CHECK(contains(body(repeat("L: {", 30) + repeat("}", 30) + repeat("L1: ", 2)), "twice"));
  CHECK(contains(body(repeat("bra L;", 50000)), "unknown label"));
  CHECK(contains(body(".reg .b64 a; st.b32 [a], {" + repeat("a,", 100000)), "too long"));
  CHECK(contains(error_of(kHeader + repeat(".extern .func f(); ", 1000) + repeat("(", 10)),
                 "directive"));
  CHECK(contains(error_of(kHeader + ".global .b8 x" + repeat("[1]", 100000)), "dimensions"));
  CHECK(contains(error_of(kHeader + ".global .b8 x[5] = " + repeat("{", 100000)), "nested"));
  CHECK(contains(error_of(kHeader + ".global .b8 " + repeat("x", 1000000)), "';'"));
  CHECK(contains(error_of(kHeader + "/* " + repeat("*", 1000000)), "no error"));
  CHECK(contains(error_of(kHeader + ".file 1 \"" + repeat("\\", 1000001)), "file name"));
  CHECK(contains(error_of(std::string(100, '\0')), ".version"));
  limits.text_bytes = 1000;
  CHECK(contains(error_of(repeat(" ", 2000), limits), "limit"));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  CHECK(taken.count() < 30);  // seconds, also under a sanitizer; each takes milliseconds
}

TEST_CASE("the compilers' output parses, every memory access on the author's line",
          "[ptx][parser]") {
  for (const char* name : {"forms.clang++-14.ptx", "forms.clang++-22.ptx"}) {
    INFO(name);
    const Module m = parse(read_fixture(name));
    CHECK(m.version == "7.0");
    CHECK(m.target == "sm_80");
    unsigned kernels = 0;
    for (const Function& f : m.functions) {
      if (!f.is_entry) continue;
      ++kernels;
      CHECK(f.unsupported == "");
      CHECK_FALSE(f.body.empty());
      for (const Instruction& i : f.body) {
        CHECK(i.where.line > 0);
        CHECK(m.files[i.where.file].path == "common/simgpu/tests/ptx/forms.cu");
      }
    }
    CHECK(kernels == 4);
    const Function& misc = m.functions[m.function_index.at("_Z4miscPfiP6float4")];
    CHECK(misc.params.size() == 3);
    CHECK(m.variables[m.variable_index.at("names")].relocations.size() == 2);
    bool has_dynamic = false, has_plain = false;
    for (const std::uint32_t v : misc.variables) {
      has_dynamic |= m.variables[v].pretty == "dyn" && m.variables[v].is_extern;
      has_plain |= m.variables[v].pretty == "plain" && m.variables[v].size == 132;
    }
    CHECK(has_dynamic);
    CHECK(has_plain);
  }
}

namespace {

/// What of a function does not depend on when it was read: variables by name, not by number.
std::string described(const Module& m, const Function& f) {
  std::ostringstream out;
  out << f.name << ' ' << f.registers.size() << ' ' << f.unsupported << ' ' << f.where.line << ' '
      << f.unsupported_where.line << '\n';
  for (const std::uint32_t v : f.variables)
    out << m.variables[v].name << '@' << m.variables[v].position << ' ';
  const auto list = [&](const std::vector<Operand>& operands) {
    for (const Operand& o : operands) {
      out << static_cast<int>(o.kind) << ' ' << o.count << ' ' << o.bits << ' ';
      if (o.kind == Kind::symbol)
        out << m.variables[o.index].name << ' ';
      else
        out << o.index << ' ';
    }
  };
  for (const Instruction& i : f.body) {
    out << '\n'
        << i.mod.text << ' ' << i.ptx_line << ' ' << i.where.file << ':' << i.where.line << ' ';
    list(i.operands);
  }
  list(f.vector_operands);
  return out.str();
}

/// True if every function is the same, read on demand in either order, as read at once.
bool alike_on_demand(const std::string& text) {
  const Module now = parse(text);
  for (const bool backwards : {false, true}) {
    Source later(text, Bodies::on_demand);
    const auto count = static_cast<std::uint32_t>(now.functions.size());
    for (std::uint32_t i = 0; i < count; ++i) later.complete(backwards ? count - 1 - i : i);
    const Module& read = later.module();
    if (read.functions.size() != count || read.variables.size() != now.variables.size())
      return false;
    for (std::uint32_t i = 0; i < count; ++i)
      if (described(now, now.functions[i]) != described(read, read.functions[i])) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a body that is read on demand is the same", "[ptx][parser]") {
  for (const char* name : {"forms.clang++-14.ptx", "forms.clang++-22.ptx"})
    CHECK(alike_on_demand(read_fixture(name)));
  const std::string reg = ".reg .b32 %r<4>; .reg .b64 %rd<4>; ";
  // What could be taken for the end of a body, arrays of two bodies, and calls.
  const std::string text =
      kHeader +
      ".file 1 \"a{.cu\"\n.extern .shared .b8 dyn[];\n"
      ".func (.param .b32 out) twice(.param .b32 in) { // } \"\n" +
      reg +
      "/* } */ .shared .b32 inner[4]; .loc 1 7 1\n ld.param.u32 %r0, [in]; { .reg .b32 %q; }\n"
      "st.shared.u32 [inner], %r0; st.param.b32 [out], %r0; ret; }\n"
      ".visible .entry one() {" +
      reg +
      ".shared .b32 own[8]; .loc 1 9 2\n mov.u32 %r0, 4/2; ld.shared.u32 %r1, [own];\n"
      "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call.uni (q), twice, (p); }\n"
      ".pragma \"no } here {\"; L: bra L; }\n"
      ".visible .entry two() {" +
      reg + "mov.u32 %r1, %clusterid.x; ret; }\n";
  CHECK(alike_on_demand(text));
  // What means something outside: read at once.
  const std::string reaches =
      kHeader + ".visible .entry one() {" + reg + ".file 2 \"b.cu\"\n .global .b32 state; " +
      ".loc 2 5 1\n st.global.u32 [state], 1; ret; }\n.visible .entry two() {" + reg +
      ".loc 2 6 1\n ret; }\n";
  CHECK(alike_on_demand(reaches));
  Source early(reaches, Bodies::on_demand);
  CHECK_FALSE(early.module().functions[0].is_declaration);
  CHECK(early.module().functions[1].is_declaration);
  // A name that is declared behind a body means nothing in it.
  Source behind(kHeader + ".visible .entry one() {" + reg +
                    "ld.global.u32 %r0, [later]; ret; }\n.global .b32 later;\n",
                Bodies::on_demand);
  CHECK_THROWS_AS(behind.complete(0), ParseError);
  // Defined twice, or never closed: wrong at once.
  CHECK_THROWS_AS(Source(kHeader + ".visible .entry one() { ret; }\n.visible .entry one() { ret; }",
                         Bodies::on_demand),
                  ParseError);
  CHECK_THROWS_AS(Source(kHeader + ".visible .entry one() { ret;", Bodies::on_demand), ParseError);
}

TEST_CASE("names are made readable, also hostile ones", "[ptx][names]") {
  CHECK(demangle("_Z17gemm_tiled_kernelIfLi16EEv10MatrixViewIKT_ES3_S0_IS1_E") ==
        "gemm_tiled_kernel<float, 16>");
  CHECK(demangle("_Z4miscPfiP6float4") == "misc");
  CHECK(demangle("_ZN3lab4kernIdLb1EEEvPT_") == "lab::kern<double, true>");
  CHECK(demangle("plain_c") == "plain_c");
  // A lambda within a lambda's arguments, which the library does not read.
  CHECK(
      demangle(
          "_ZN6thrust6detail11thrust_eachIZNS0_5aloneIZNS0_4keptINS_23device_execution_policyENS_10device_"
          "ptrIiEES6_S6_3OddEET2_T_T0_mT1_S8_T3_bEUlvE_EElS4_S9_EUlmE0_EEvmS9_") == "thrust_each");
  CHECK(pretty_variable_name("_ZZZ4mainENKUliE1_clEiE4tile_0") == "tile");
  for (const std::string cut : {"_ZZ1fU", "_ZZ1fUl", "_ZN1fIZ1gvEUl", "_ZN1fIUt", "_ZN1fI__"})
    CHECK(demangle(cut) == cut);
  CHECK(demangle("_Z") == "_Z");
  CHECK(demangle("_Z999999999x") == "_Z999999999x");
  CHECK(pretty_variable_name("_ZZ1kIfLi8EEvPfE1s") == "s");
  CHECK(pretty_variable_name(
            "_ZZ17gemm_tiled_kernelIfLi16EEv10MatrixViewIKT_ES3_S0_IS1_EE6a_tile") == "a_tile");
  CHECK(pretty_variable_name("_ZZN3lab4kernIdLb1EEEvPT_E5cache_0") == "cache");
  CHECK(pretty_variable_name("_ZN3lab5coeffE") == "coeff");
  CHECK(pretty_variable_name("_ZL5coeff") == "coeff");
  CHECK(pretty_variable_name("coeff") == "coeff");
  CHECK(pretty_variable_name("_ZZ") == "_ZZ");
  CHECK(pretty_variable_name("_ZZ4kernILN2ns1EE2EEvvE1s") == "s");
  // Every substitution doubles the text: 2^60 characters if taken literally.
  std::string bomb = "_Z1fI4pairIiiE";
  for (int i = 0; i < 60; ++i)
    bomb += "4pairIS" + std::string(1, static_cast<char>('0' + i % 10)) + "_S_E";
  CHECK(demangle(bomb + "EEvv").size() < 10000);
  // The same, and each of them is the text before it twice: that library would write 2^34 characters.
  std::string doubles = "_Z1fI4pairIiiE";
  for (const char c : std::string("123456789ABCDEFGHIJKLMNOPQRSTUV"))
    doubles += std::string("S0_IS") + c + "_S" + c + "_E";
  CHECK(demangle(doubles + "EEvPf").size() < 10000);
  CHECK(demangle(doubles + "EvPf").size() < 10000);
  CHECK(written_out(doubles + "EvPf") == std::nullopt);
  CHECK(written_out("_Z1fI4pairIiiES0_IS1_S1_EEvPf") ==
        "void f<pair<int, int>, pair<pair<int, int>, pair<int, int> > >(float*)");
  CHECK(written_out("plain_c") == std::nullopt);
  CHECK(is_builtin_path("/usr/lib/clang/14/include/__clang_cuda_builtin_vars.h"));
  CHECK_FALSE(is_builtin_path("lab1_naive/gemm.cu"));
}

}  // namespace
