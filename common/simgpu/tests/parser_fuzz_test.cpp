// Mutated PTX of real kernels: whatever is done to the text, the parser and the analyses on the
// module either work or throw ParseError. Deterministic; the libFuzzer target
// fuzz/parser_fuzzer.cpp goes on where this stops.
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/count/doubled_sums.hpp"
#include "common/simgpu/count/early_reads.hpp"
#include "common/simgpu/count/fused_sums.hpp"
#include "common/simgpu/count/load_merging.hpp"
#include "common/simgpu/count/local_vectors.hpp"
#include "common/simgpu/count/store_merging.hpp"
#include "common/simgpu/ptx/control_flow.hpp"
#include "common/simgpu/ptx/liveness.hpp"
#include "common/simgpu/ptx/names.hpp"
#include "common/simgpu/ptx/parser.hpp"
#include "common/simgpu/ptx/used_bytes.hpp"
#include "common/simgpu/tests/parser_forms.hpp"

namespace {

using namespace simgpu;
using Engine = std::mt19937;

std::size_t below(Engine& engine, std::size_t n) {
  return n == 0 ? 0 : engine() % n;
}

/// Something that PTX is made of: tokens that open, close, name or number.
const char* const kWords[] = {"{",
                              "}",
                              "(",
                              ")",
                              "[",
                              "]",
                              ";",
                              ",",
                              ":",
                              "@",
                              "!",
                              "|",
                              "%p1",
                              "%r1",
                              "%rd1",
                              "%f1",
                              "%tid.x",
                              "0",
                              "-1",
                              "4294967296",
                              "0f3F800000",
                              "0xFFFFFFFFFFFFFFFF",
                              ".reg .b32 %q<9>;",
                              ".v4",
                              ".f64",
                              ".pred",
                              "bra",
                              "call",
                              "ret;",
                              "mov.b64",
                              "ld.param.u64",
                              "setp.lt.s32",
                              ".branchtargets",
                              "P : .callprototype (.param .b32 _) _ (.param .b32 _);",
                              "call (%r1), %rd1, (%r1), P;",
                              ".loc 1 1 1",
                              ".shared .b8 z[4];",
                              "\"",
                              "/*",
                              "//",
                              "<",
                              ">"};

/// End of the token that begins at `at`, roughly: a run of word characters or one character.
std::size_t token_end(const std::string& text, std::size_t at) {
  const auto is_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '%' || c == '.' || c == '$';
  };
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return end == at ? std::min(at + 1, text.size()) : end;
}

void mutate(std::string& text, Engine& engine) {
  if (text.empty()) return;
  const std::size_t at = below(engine, text.size());
  const std::size_t end = token_end(text, at);
  switch (below(engine, 8)) {
    case 0:
      text[at] = static_cast<char>(engine());
      break;
    case 1:
      text[at] = static_cast<char>(text[at] ^ (1 << below(engine, 7)));
      break;
    case 2:
      text.erase(at, end - at);
      break;
    case 3:
      text.insert(at, text.substr(at, end - at));
      break;
    case 4:
      text.insert(at, kWords[below(engine, std::size(kWords))]);
      break;
    case 5:
      text.replace(at, end - at, kWords[below(engine, std::size(kWords))]);
      break;
    case 6: {
      const std::size_t from = below(engine, text.size());  // a token from elsewhere
      text.replace(at, end - at, text.substr(from, token_end(text, from) - from));
      break;
    }
    default: {
      const std::size_t line =
          text.find('\n', at);  // whole lines, which keeps the syntax more often
      const std::size_t next = line == std::string::npos ? line : text.find('\n', line + 1);
      if (next == std::string::npos) break;
      const std::string copy = text.substr(line, next - line);
      if (below(engine, 2) == 0) text.erase(line, next - line);
      text.insert(below(engine, text.size()), copy);
    }
  }
}

/// Everything that reads the module; the sums keep the work from being optimised away.
std::size_t use(const ptx::Module& module) {
  std::size_t sum = 0;
  for (const ptx::Function& function : module.functions) {
    sum += ptx::demangle(function.name).size();
    sum += ptx::build_control_flow(function).blocks.size();
    sum += ptx::estimate_registers(module, function).estimate;
    sum += count::merge_shared_loads(module, function, count::find_narrowed_loads(function)).size();
    sum += count::merge_shared_stores(module, function).size();
    sum += count::find_early_reads(module, function).size();
    const std::vector<count::Vector> vectors = count::find_local_vectors(module, function);
    sum += count::merge_local_loads(module, function, vectors).size();
    sum += count::merge_local_stores(module, function, vectors).size();
    sum += count::find_doubled_sums(function).size();
    sum += count::find_fusions(function).size();
    sum += ptx::find_moved_bytes(function).size();
    for (const ptx::Instruction& instruction : function.body) {
      sum += instruction.mod.text.size();
      ptx::for_each_register(function, instruction, [&](std::uint32_t reg, bool) {
        sum += function.registers.at(reg).name.size();
      });
    }
  }
  return sum;
}

std::vector<std::string> seeds() {
  std::vector<std::string> result;
  for (const char* name : {"forms.clang++-14.ptx", "forms.clang++-22.ptx"}) {
    std::ifstream file(std::string("common/simgpu/tests/ptx/") + name, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    result.push_back(text.str());
  }
  // One instruction of each form that clang's text does not have.
  std::string forms =
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n, "
      ".param .align 8 .b8 view[24])\n{\n.reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<40>; .reg "
      ".f32 %f<20>; .reg .b64 %rd<20>; .reg .f64 %d<8>;\n";
  for (const char* form : kForms) forms += std::string(form) + "\n";
  for (const char* form : kHopperForms) forms += std::string(form) + "\n";
  result.push_back(forms + "ret;\n}\n");
  // A small one as well: in a long text most mutations hit plain arithmetic.
  result.push_back(
      ".version 7.0\n.target sm_80\n.address_size 64\n.global .u32 x;\n.global .align 8 .u64 t[2] "
      "= "
      "{generic(x)+4, 7};\n.extern .func (.param .b32 r) f (.param .b64 a);\n"
      ".visible .entry k(.param .u64 p, .param .align 8 .b8 v[24]) .maxntid 32\n{\n.reg .pred "
      "%p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n"
      ".shared .align 16 .b8 s[64];\nld.param.u64 %rd1, [p];\nL: @%p1 bra L;\nt0: .branchtargets "
      "L, M;\nbrx.idx %r1, t0;\nM: mov.b64 {%r1, %r2}, %rd1;\n"
      "{ .param .b64 a; .param .b32 q; st.param.b64 [a], %rd1; call.uni (q), f, (a); ld.param.b32 "
      "%r3, [q]; }\n"
      "setp.lt.and.f32 %p1|%p2, %f1, 0f3F800000, !%p1;\nld.shared.v4.f32 {%f1, %f2, _, %f4}, "
      "[%rd1+-16];\nmma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};\nst.global.b32 [%rd1], "
      "(1+2)*-4;\nret;\n}\n");
  return result;
}

TEST_CASE("mutated PTX parses or is an error, nothing else", "[ptx][parser][fuzz]") {
  constexpr unsigned kRounds = 1500;
  ptx::Limits limits;
  limits.instructions = 1u << 14;
  limits.registers = limits.registers_per_function = 1u << 14;
  std::size_t parsed = 0, refused = 0, sum = 0;
  const std::vector<std::string> originals = seeds();
  for (unsigned round = 0; round < kRounds; ++round) {
    Engine engine(round);
    std::string text = originals[round % originals.size()];
    for (std::size_t n = 1 + below(engine, 4); n > 0; --n) mutate(text, engine);
    if (below(engine, 10) == 0) text.resize(below(engine, text.size()));
    try {
      sum += use(ptx::parse(text, limits));
      ++parsed;
    } catch (const ptx::ParseError& error) {
      if (error.what() == std::string()) FAIL("empty message in round " << round);
      ++refused;
    }
  }
  // Both ends must be reached often, or the mutations are too mild or too wild to test anything.
  CHECK(parsed > kRounds / 20);
  CHECK(refused > kRounds / 20);
  CHECK(sum > 0);
}

}  // namespace
