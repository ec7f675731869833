// The PTX parser: what it must take, what it must refuse, and hostile texts.
#include "common/simgpu/ptx/parser.hpp"

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include "common/catch2.hpp"
#include "common/simgpu/ptx/names.hpp"

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

// Forms as clang writes them or inline PTX may.
constexpr const char* kForms[] = {
    "add.f32 %f1, %f2, 0f3F800000;",
    "add.rn.ftz.sat.f32 %f1, %f2, %f3;",
    "add.s16 %h1, %h2, 4;",
    "add.s32 %r1, %r2, -4;",
    "add.u64 %rd1, %rd2, %rd3;",
    "add.cc.u32 %r1, %r2, %r3;",
    "addc.cc.u32 %r1, %r2, %r3;",
    "sub.f64 %d1, %d2, %d3;",
    "subc.u32 %r1, %r2, %r3;",
    "add.f16 %h1, %h2, %h3;",
    "add.f16x2 %r1, %r2, %r3;",
    "mul.lo.s32 %r1, %r2, 12;",
    "mul.hi.u32 %r1, %r2, %r3;",
    "mul.wide.s16 %r1, %h1, %h2;",
    "mul.wide.u32 %rd1, %r1, 4;",
    "mul.f32 %f1, %f2, %f3;",
    "mul.rn.f64 %d1, %d2, 0d3FF0000000000000;",
    "mad.lo.s32 %r1, %r2, %r3, %r4;",
    "mad.wide.u32 %rd1, %r1, 8, %rd2;",
    "mad.lo.cc.u32 %r1, %r2, %r3, %r4;",
    "madc.hi.u32 %r1, %r2, %r3, %r4;",
    "mul24.lo.u32 %r1, %r2, %r3;",
    "mad24.lo.s32 %r1, %r2, %r3, %r4;",
    "fma.rn.f32 %f1, %f2, %f3, %f1;",
    "fma.rn.f32 %r1, %r2, %r3, %r1;",
    "fma.rn.f64 %d1, %d2, %d3, %d1;",
    "fma.rn.f16 %h1, %h2, %h3, %h4;",
    "fma.rn.bf16x2 %r1, %r2, %r3, %r4;",
    "div.rn.f32 %f1, %f2, %f3;",
    "div.full.f32 %f1, %f2, %f3;",
    "div.u32 %r1, %r2, 3;",
    "div.s64 %rd1, %rd2, %rd3;",
    "rem.u32 %r1, %r2, %r3;",
    "abs.f32 %f1, %f2;",
    "abs.s32 %r1, %r2;",
    "neg.f64 %d1, %d2;",
    "neg.s32 %r1, %r2;",
    "min.s32 %r1, %r2, %r3;",
    "max.NaN.f32 %f1, %f2, %f3;",
    "min.u64 %rd1, %rd2, %rd3;",
    "sad.u32 %r1, %r2, %r3, %r4;",
    "dp4a.s32.u32 %r1, %r2, %r3, %r4;",
    "dp2a.lo.u32.u32 %r1, %r2, %r3, %r4;",
    "sqrt.rn.f32 %f1, %f2;",
    "rsqrt.approx.ftz.f32 %f1, %f2;",
    "rcp.rn.f64 %d1, %d2;",
    "sin.approx.f32 %f1, %f2;",
    "ex2.approx.ftz.f32 %f1, %f2;",
    "lg2.approx.f32 %f1, %f2;",
    "tanh.approx.f32 %f1, %f2;",
    "copysign.f32 %f1, %f2, %f3;",
    "testp.finite.f32 %p1, %f1;",
    "and.b32 %r1, %r2, 0xFF;",
    "and.pred %p1, %p2, %p3;",
    "or.b64 %rd1, %rd2, %rd3;",
    "xor.b16 %h1, %h2, %h3;",
    "not.b32 %r1, %r2;",
    "not.pred %p1, %p2;",
    "cnot.b32 %r1, %r2;",
    "lop3.b32 %r1, %r2, %r3, %r4, 0x96;",
    "shl.b64 %rd1, %rd2, 3;",
    "shl.b32 %r1, %r2, %r3;",
    "shr.s32 %r1, %r2, 31;",
    "shr.u64 %rd1, %rd2, %r1;",
    "shf.l.wrap.b32 %r1, %r2, %r3, 5;",
    "shf.r.clamp.b32 %r1, %r2, %r3, %r4;",
    "bfe.u32 %r1, %r2, 4, 8;",
    "bfe.s64 %rd1, %rd2, %r1, %r2;",
    "bfi.b32 %r1, %r2, %r3, 4, 8;",
    "bfind.u32 %r1, %r2;",
    "brev.b32 %r1, %r2;",
    "clz.b64 %r1, %rd2;",
    "popc.b32 %r1, %r2;",
    "prmt.b32 %r1, %r2, %r3, 0x3210;",
    "fns.b32 %r1, %r2, %r3, %r4;",
    "szext.wrap.s32 %r1, %r2, %r3;",
    "set.lt.u32.f32 %r1, %f1, %f2;",
    "set.ge.and.f32.s32 %f1, %r1, %r2, !%p1;",
    "setp.lt.s32 %p1, %r1, %r2;",
    "setp.eq.and.f32 %p1|%p2, %f1, %f2, !%p3;",
    "setp.ltu.f64 %p1, %d1, %d2;",
    "setp.hi.u32 %p1, %r1, 4;",
    "setp.ne.b64 %p1, %rd1, 0;",
    "selp.b32 %r1, %r2, 7, %p1;",
    "selp.f32 %f1, %f2, 0f00000000, %p1;",
    "slct.s32.f32 %r1, %r2, %r3, %f1;",
    "mov.u32 %r1, %tid.x;",
    "mov.u32 %r1, %laneid;",
    "mov.u64 %rd1, %clock64;",
    "mov.f32 %f1, 0f7F800000;",
    "mov.pred %p1, -1;",
    "mov.b64 %rd1, {%r1, %r2};",
    "mov.b64 {%r1, %r2}, %rd1;",
    "mov.b64 {%r1, _}, %rd1;",
    "mov.b32 %r1, {%h1, %h2};",
    "mov.b64 %rd1, {%h1, %h2, %h3, %h4};",
    "mov.b64 %rd1, view;",
    "mov.u32 %r1, WARP_SZ;",
    "mov.b32 %r1, 0f3F800000;",
    "cvt.s64.s32 %rd1, %r1;",
    "cvt.u32.u64 %r1, %rd1;",
    "cvt.rn.f32.s32 %f1, %r1;",
    "cvt.rzi.s32.f32 %r1, %f1;",
    "cvt.rn.f32.f64 %f1, %d1;",
    "cvt.f64.f32 %d1, %f1;",
    "cvt.rni.ftz.f32.f32 %f1, %f2;",
    "cvt.sat.u8.s32 %h1, %r1;",
    "cvt.s32.s8 %r1, %r2;",
    "cvt.f32.f16 %f1, %h1;",
    "cvt.rn.f16.f32 %h1, %f1;",
    "cvt.rn.f16x2.f32 %r1, %f1, %f2;",
    "cvt.rn.bf16x2.f32 %r1, %f1, %f2;",
    "cvt.rn.relu.bf16.f32 %h1, %f1;",
    "cvt.rna.tf32.f32 %r1, %f1;",
    "cvta.to.global.u64 %rd1, %rd2;",
    "cvta.shared.u64 %rd1, %rd2;",
    "isspacep.shared %p1, %rd1;",
    "ld.global.f32 %f1, [%rd1];",
    "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];",
    "ld.param.v2.b64 {%rd1, %rd2}, [view+8];",
    "ld.param.u32 %r1, [n];",
    "ld.shared.v2.f64 {%d1, %d2}, [%r1+-8];",
    "ld.volatile.shared.u32 %r1, [%r2];",
    "ld.relaxed.gpu.global.u32 %r1, [%rd1];",
    "ld.global.L1::no_allocate.L2::128B.u32 %r1, [%rd1];",
    "ld.local.u8 %h1, [%rd1];",
    "ld.u8 %r1, [%rd1];",
    "ld.const.s16 %r1, [%rd1];",
    "ldu.global.f32 %f1, [%rd1];",
    "st.global.v2.f32 [%rd1], {%f1, %f2};",
    "st.shared.b32 [%r1], 1065353216;",
    "st.release.sys.global.u32 [%rd1], %r1;",
    "st.global.v4.b32 [%rd1], {%r1, 0, %r2, 5};",
    "st.global.wt.u32 [%rd1], %r1;",
    "st.f64 [%rd1], 0d0000000000000000;",
    "prefetch.global.L2 [%rd1];",
    "atom.global.add.f32 %f1, [%rd1], %f2;",
    "atom.shared.cas.b32 %r1, [%r2], %r3, %r4;",
    "atom.add.noftz.f16x2 %r1, [%rd1], %r2;",
    "atom.acq_rel.gpu.global.exch.b64 %rd1, [%rd2], %rd3;",
    "atom.inc.u32 %r1, [%rd1], 31;",
    "red.global.add.f64 [%rd1], %d1;",
    "red.shared.max.s32 [%r1], %r2;",
    "bar.sync 0;",
    "bar.sync 1, 128;",
    "barrier.sync.aligned 0;",
    "barrier.sync %r1;",
    "barrier.cta.sync.aligned 0;",
    "bar.arrive 1, 64;",
    "bar.red.popc.u32 %r1, 0, %p1;",
    "bar.red.and.pred %p1, 0, 128, !%p2;",
    "bar.warp.sync -1;",
    "membar.gl;",
    "fence.acq_rel.gpu;",
    "fence.sc.cta;",
    "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;",
    "shfl.sync.down.b32 %f1, %f2, %r1, 0x1f, %r2;",
    "vote.sync.ballot.b32 %r1, %p1, -1;",
    "vote.sync.any.pred %p1, !%p2, %r1;",
    "match.any.sync.b32 %r1, %r2, -1;",
    "match.all.sync.b64 %r1|%p1, %rd1, -1;",
    "activemask.b32 %r1;",
    "redux.sync.add.s32 %r1, %r2, -1;",
    "elect.sync _|%p1, -1;",
    "nanosleep.u32 100;",
    "cp.async.ca.shared.global [%r1], [%rd1], 4;",
    "cp.async.cg.shared.global [%r1], [%rd1], 16, %r2;",
    "cp.async.cg.shared.global.L2::128B [%rd1], [%rd2], 16, !%p1;",
    "cp.async.commit_group;",
    "cp.async.wait_group 1;",
    "cp.async.wait_all;",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];",
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1, %r2}, [%rd5];",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r1};",
    "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, "
    "%r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1, %d2}, {%d3}, {%d4}, {%d1, %d2};",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, "
    "[%rd1], 16;",
    "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], "
    "{%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, %r1;",
    "@%p1 add.s32 %r1, %r2, 1;",
    "@!%p1 st.global.u32 [%rd1], %r1;",
    "trap;",
    "exit;",
    "brkpt;",
    "mov.u32 %r1, 0b1010;",
    "mov.u32 %r1, 0777;",
    "mov.u32 %r1, 4294967295U;",
    "mov.u32 %r1, (1+2)*4;",
    "mov.f32 %f1, 1.5e-3;",
    "fma.rn.f32 %f1, %f2, -1.0, %f3;",
};

TEST_CASE("every form of the tables parses", "[ptx][parser]") {
  for (const char* form : kForms) {
    const Instruction instruction = one(form);
    CHECK(instruction.ptx_line > 0);
  }
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
  CHECK(contains(unsupported_of("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group "
                                "[%rd1, {%r2}], [%r1];"),
                 "needs a GPU"));
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
  CHECK(is_builtin_path("/usr/lib/clang/14/include/__clang_cuda_builtin_vars.h"));
  CHECK_FALSE(is_builtin_path("lab1_naive/gemm.cu"));
}

}  // namespace
