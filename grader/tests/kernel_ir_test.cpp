// A file whose kernels are compiled one by one, and kept.
#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <regex>
#include <set>

#include "common/catch2.hpp"
#include "common/simgpu/ptx/names.hpp"
#include "common/simgpu/ptx/parser.hpp"
#include "grader/compile/compile.hpp"
#include "grader/compile/kernel_ir.hpp"
#include "grader/labs/lab.hpp"
#include "grader/os/files.hpp"
#include "grader/tests/bench.hpp"

using namespace grader;
using grader::test::FixtureProject;
using grader::test::two_kernels;

namespace {

SourceUnit unit_of(const FixtureProject& project, unsigned optimisers) {
  const Workplace place{project.root(), project.root() / "build",
                        project.root() / "build/lib/libsimgpu_cudart_remote.a"};
  BuildOptions options;
  options.optimisers = optimisers;
  const Lab lab = discover_labs(place.root).front();
  const Build build = build_lab(
      place, probe_clang(), lab,
      [](const std::string& file) { return std::filesystem::path("lab6_fixture") / file; },
      options);
  REQUIRE(build.units.size() == 1);
  return build.units.front();
}

std::vector<std::string> texts(const FixtureProject& project, unsigned optimisers) {
  const SourceUnit unit = unit_of(project, optimisers);
  REQUIRE(unit.built());
  return unit.ptx;
}

bool has(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

/// The instructions of an entry with their lines, without labels, whose numbers depend on what stands before.
std::string body(const std::string& text, const std::string& kernel) {
  std::size_t at = text.find(".entry");
  while (at != std::string::npos && !has(text.substr(at, text.find('(', at) - at), kernel))
    at = text.find(".entry", at + 1);
  REQUIRE(at != std::string::npos);
  std::string code;
  // What comments and blank lines there are depends on the version of clang, and on how much else is in the module.
  const std::string plain = std::regex_replace(
      std::regex_replace(text.substr(at, text.find("\n}", at) - at), std::regex("//.*"), ""),
      std::regex("\\s*\n\\s*"), "\n");
  // Numbered through a module: strings, local memory.
  const std::string whole =
      std::regex_replace(plain, std::regex("_\\$_str\\S*|__local_depot\\d+"), "numbered");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole.compare(i, 1, "L") == 0 && i + 1 < whole.size() &&
        (std::isalpha(whole[i + 1]) || whole[i + 1] == '_'))
      while (i < whole.size() && (std::isalnum(whole[i]) || whole[i] == '_')) ++i;
    if (i < whole.size()) code += whole[i];
  }
  return code;
}

/// What the cache holds: the modules of kernels, or something else.
std::set<std::string> kept(const FixtureProject& project, const std::string& what = ".kernel.ptx") {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(project.root() / "build/cache"))
    if (has(entry.path().filename().string(), what)) names.insert(entry.path().filename());
  return names;
}

const std::string& module_of(const std::vector<std::string>& modules, std::string_view kernel) {
  const auto found = std::find_if(modules.begin(), modules.end(), [&](const std::string& text) {
    return std::regex_search(text, std::regex("\\.entry \\w*" + std::string(kernel)));
  });
  REQUIRE(found != modules.end());
  return *found;
}

// What a text of LLVM's may hold: helpers, some of a header, a macro, a lambda, an array in shared
// memory, a string, assembly, a loop with advice, a name that is not ASCII's.
constexpr const char* kRich = R"(
#define TWICE(x) ((x) + (x))
__device__ int helper(int a) {
  auto square = [](int b) { return b * b; };
  return TWICE(square(a)) + __shfl_xor_sync(~0u, a, 1);
}
__global__ void rich(int* to) {
  __shared__ int tile[64];
  tile[threadIdx.x] = helper(to[threadIdx.x]);
  __syncthreads();
  int lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  if (lane < 0) printf("\"%d\" { } ; @ %% # !\n", lane);
#pragma unroll 2
  for (int i = 0; i < to[64]; ++i) tile[lane] += tile[i & 63];
  to[threadIdx.x] = tile[63 - threadIdx.x];
})";

}  // namespace

TEST_CASE("each kernel has a module of its own, and is in it what it is in the whole") {
  const FixtureProject project;
  project.write_source(two_kernels(kRich));
  const std::vector<std::string> whole = texts(project, 0), apart = texts(project, 2);
  REQUIRE(whole.size() == 1);
  CHECK(apart.size() >= 4);
  for (const char* kernel : {"of_first", "of_second", "fixture_kernel", "rich"}) {
    INFO(kernel);
    const std::string& own = module_of(apart, kernel);
    CHECK(body(own, kernel) == body(whole[0], kernel));
    CHECK(std::count_if(apart.begin(), apart.end(), [&](const std::string& text) {
            return std::regex_search(text, std::regex("\\.entry \\w*" + std::string(kernel)));
          }) <= 3);
  }
  CHECK(texts(project, 8) == apart);
}

TEST_CASE("kernels come apart in a folder of any name") {
  for (const char* name : {"jürgen", "gemm (1), copy"}) {
    INFO(name);
    const FixtureProject project(name);
    project.write_source(two_kernels(kRich));
    CHECK(texts(project, 2).size() >= 4);
  }
}

TEST_CASE("a union with float4 in it can be copied, whether or not kernels come apart") {
  const FixtureProject project;
  project.write_source(two_kernels(R"(
union Four { float4 all; float one[4]; };
__global__ void unions(float4* p) {
  Four x = {p[threadIdx.x]};
  const Four y = x;
  x.one[0] = y.one[3];
  p[threadIdx.x] = x.all;
})"));
  for (const unsigned optimisers : {0u, 2u})
    CHECK(has(module_of(texts(project, optimisers), "unions"), "st.global"));
}

TEST_CASE("clusters may be as large as any constant says, whether or not kernels come apart") {
  const FixtureProject project;
  project.write_source(two_kernels(R"(
constexpr int M = 2, N = 2;
__global__ void __cluster_dims__(M * N, 1, 1) __launch_bounds__(64) named(float* p) { p[threadIdx.x] = 1; }
template <int C>
__global__ void __cluster_dims__(1, C) templated(float* p) { p[threadIdx.x] = C; }
template __global__ void templated<2>(float*);
template __global__ void templated<8>(float*);)"));
  for (const unsigned optimisers : {0u, 2u}) {
    std::map<std::string, std::array<std::uint32_t, 3>> found;
    for (const std::string& text : texts(project, optimisers))
      for (const auto& function : simgpu::ptx::parse(text).functions)
        if (function.is_entry && function.req_cluster[0] != 0) {
          CHECK(function.unsupported.empty());
          found[simgpu::ptx::demangle(function.name)] = {
              function.req_cluster[0], function.req_cluster[1], function.req_cluster[2]};
        }
    CHECK(found ==
          std::map<std::string, std::array<std::uint32_t, 3>>{
              {"named", {4, 1, 1}}, {"templated<2>", {1, 2, 1}}, {"templated<8>", {1, 8, 1}}});
  }
}

TEST_CASE("what stands around a kernel does not make it another one, but moves its lines") {
  const FixtureProject project;
  const std::string source = two_kernels(kRich);
  project.write_source(source);
  const std::vector<std::string> before = texts(project, 2);
  const auto known = kept(project);
  // Lines above all, another kernel with types and strings of its own, and a helper that nobody calls.
  std::string moved = source;
  moved.insert(moved.find("#define TWICE"), R"(
struct Other { int a, b; };
__device__ int unused(Other o) { return o.a; }
__global__ void newcomer(Other o) { if (o.b) printf("new %d\n", o.a); }

)");
  project.write_source(moved);
  const std::vector<std::string> after = texts(project, 2), whole = texts(project, 0);
  CHECK(after.size() == before.size() + 1);
  CHECK(kept(project).size() == known.size() + 1);
  for (const char* kernel : {"of_first", "of_second", "fixture_kernel", "rich"}) {
    INFO(kernel);
    CHECK(body(module_of(after, kernel), kernel) == body(whole[0], kernel));
  }
  CHECK(body(module_of(after, "rich"), "rich") != body(module_of(before, "rich"), "rich"));
}

TEST_CASE("a change of a kernel, or of what it calls, is one of its module alone") {
  const FixtureProject project;
  const std::string source = two_kernels(kRich);
  const auto after = [&](const std::string& from, const std::string& to) {
    project.write_source(source);
    texts(project, 2);
    const auto known = kept(project);
    std::string edited = source;
    edited.replace(edited.find(from), from.size(), to);
    project.write_source(edited);
    const std::vector<std::string> apart = texts(project, 2), whole = texts(project, 0);
    CHECK(body(module_of(apart, "rich"), "rich") == body(whole[0], "rich"));
    return kept(project).size() - known.size();
  };
  CHECK(after("b * b", "b * b * b") == 1);
  CHECK(after("63 - threadIdx", "62 - threadIdx") == 1);
  CHECK(after("int lane;", "int lane = 0;") <= 1);
  CHECK(after("tile[threadIdx.x] = helper", "tile[threadIdx.x]  = helper") ==
        1);  // columns are told
}

TEST_CASE("the host's object is made again if its part has changed, or kernels may differ for it") {
  const FixtureProject project;
  const auto objects = [&](std::string text, const std::string& what, const std::string& instead,
                           unsigned optimisers = 2) {
    text.replace(text.find(what), what.size(), instead);
    project.write_source(text);
    texts(project, optimisers);
    return kept(project, ".host.o").size();
  };
  const std::string source = two_kernels("");
  CHECK(objects(source, "T(1)", "T(1)") == 1);
  CHECK(objects(source, "T(1)", "T(3)") == 1);
  CHECK(objects(source, "T(2)", "\n // lower down\n T(2)") == 1);
  CHECK(objects(source, "if (c.rows && c.cols) of_first", "if (c.rows) of_first") == 2);
  CHECK(objects(source, "T(1)", "T(4)", 0) == 3);  // as a stranger's
  const std::string two =
      source.substr(0, source.find("c(0, 0) = T(1);")) +
      "\n#ifdef __CUDA_ARCH__\nc(0, 0) = T(1);\n#else\nc(0, 0) = T(2);\n#endif\n" +
      source.substr(source.find("c(0, 0) = T(1);") + 15);
  CHECK(objects(two, "T(1)", "T(1)") == 4);
  CHECK(objects(two, "T(1)", "T(3)") == 5);
  std::string wrong = two;
  wrong.replace(wrong.rfind("T(2);\n#endif"), 5, "T(unknown);");
  project.write_source(wrong);
  CHECK(unit_of(project, 2).status == BuildStatus::compile_error);
}

TEST_CASE("kernels that share a variable are one module: of two, each would have its own") {
  const FixtureProject project;
  for (const char* variable : {"__device__ int counter;", "static __device__ int counter;",
                               "__constant__ int counter = 3;"}) {
    INFO(variable);
    project.write_source(two_kernels(std::string(variable) + R"(
__global__ void counts(int* to) { *to = *const_cast<volatile int*>(&counter); })"));
    const std::vector<std::string> modules = texts(project, 2);
    REQUIRE(modules.size() == 1);
    CHECK(has(modules[0], "of_first"));
    CHECK(has(modules[0], "of_second"));
  }
}

namespace {

// Two kernels as clang writes them, shortened.
constexpr const char* kIr = R"(; ModuleID = 'gemm.cu'
source_filename = "gemm.cu"
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.View.7 = type { float*, %union.anon }
%union.anon = type { i32 }

$_Z3onev = comdat any

@tile = internal addrspace(3) global [4 x float] undef, align 4
@.str.3 = private unnamed_addr constant [6 x i8] c"} @x\0A\00", align 1

; Function Attrs: convergent
define dso_local void @_Z3onev(%struct.View.7* %0) #0 comdat !dbg !6 {
  %2 = call i32 asm sideeffect "mov.u32 $0, %laneid;", "=r"() #1, !dbg !8, !srcloc !9
  store float 0.0, float* addrspacecast ([4 x float] addrspace(3)* @tile to float*)
  ret void, !dbg !10
}

define dso_local void @_Z3twov() #0 !dbg !11 {
  ret void, !dbg !12
}

attributes #0 = { convergent }
attributes #1 = { nounwind }

!llvm.dbg.cu = !{!0}
!nvvm.annotations = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, emissionKind: NoDebug)
!1 = !DIFile(filename: "gemm.cu", directory: "/home/somebody")
!2 = !{void (%struct.View.7*)* @_Z3onev, !"kernel", i32 1}
!3 = !{void ()* @_Z3twov, !"kernel", i32 1}
!4 = !{}
!5 = !DISubroutineType(types: !4)
!6 = distinct !DISubprogram(name: "one", scope: !1, file: !1, line: 30, type: !5, scopeLine: 31, unit: !0)
!7 = distinct !DILexicalBlock(scope: !6, file: !1, line: 32, column: 3)
!8 = !DILocation(line: 33, column: 5, scope: !7)
!9 = !{i64 1234}
!10 = !DILocation(line: 34, column: 1, scope: !6)
!11 = distinct !DISubprogram(name: "two", scope: !1, file: !1, line: 40, type: !5, scopeLine: 40, unit: !0)
!12 = !DILocation(line: 41, column: 1, scope: !11)
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

TEST_CASE(
    "a kernel's text has what it reaches, under names that the rest of the file does not change") {
  const auto split = split_kernels(kIr);
  REQUIRE(split);
  REQUIRE(split->size() == 2);
  const KernelIr &one = split->at(0), &two = split->at(1);
  CHECK(one.name == "_Z3one");
  CHECK(has(one.text, "@tile"));
  CHECK_FALSE(has(one.text, "@_Z3twov"));
  CHECK_FALSE(has(one.text, ".str"));
  CHECK_FALSE(has(one.text, "1234"));
  CHECK_FALSE(has(one.text, "somebody"));
  CHECK_FALSE(has(two.text, "@tile"));
  CHECK_FALSE(has(two.text, "%t0"));
  CHECK(one.places.files == std::vector<std::string>{"/home/somebody/gemm.cu"});

  const auto elsewhere =
      split_kernels(with(kIr, "/home/somebody", "/home/j\\C3\\BCrgen (1), \\22x"));
  REQUIRE(elsewhere);
  CHECK(elsewhere->front().text == one.text);
  CHECK(elsewhere->front().places.files ==
        std::vector<std::string>{"/home/jürgen (1), \"x/gemm.cu"});
  // Two kernels must not have a variable each, whatever it holds at the beginning.
  CHECK_FALSE(
      split_kernels(with(kIr, "@tile = internal addrspace(3) global [4 x float] undef",
                         "@tile = internal addrspace(1) global [4 x i8] c\" constant private \"")));

  std::string moved = with(kIr, "View.7", "View");
  for (const auto& [from, to] : {std::pair{"line: 30", "line: 130"},
                                 {"scopeLine: 31", "scopeLine: 131"},
                                 {"line: 32", "line: 132"},
                                 {"line: 33", "line: 133"},
                                 {"line: 34", "line: 134"},
                                 {"i64 1234", "i64 99"},
                                 {"somebody", "somebody/else"},
                                 {"!12", "!112"},
                                 {"#1", "#17"}})
    moved = with(moved, from, to);
  const auto again = split_kernels(moved);
  REQUIRE(again);
  CHECK(again->at(0).text == one.text);
  CHECK(again->at(1).text == two.text);
  // What was made of the text names the places of either file.
  const std::string ptx =
      "\t.loc\t1 " + std::to_string(4096 + 3) +
      " 5, function_name $L__info_string0, inlined_at 1 4097 2\n\t.file\t1 \"/0\"\n";
  CHECK(*placed(ptx, one.places) ==
        "\t.loc\t1 33 5, function_name $L__info_string0, inlined_at 1 31 2\n"
        "\t.file\t1 \"/home/somebody/gemm.cu\"\n");
  CHECK(has(*placed(ptx, again->at(0).places), "1 133 5"));
  CHECK_FALSE(placed("\t.loc\t1 9999999 5\n", one.places));
  CHECK_FALSE(placed("\t.file\t1 \"/7\"\n", one.places));
}

TEST_CASE("text of LLVM's that is not understood is compiled as a whole") {
  CHECK_FALSE(split_kernels(with(kIr, "internal addrspace(3)", "internal addrspace(1)")));
  CHECK_FALSE(split_kernels(with(kIr, "@.str.3 = private", "@.str.3 = externally_initialized")));
  CHECK_FALSE(split_kernels(std::string(kIr) + "module asm \"nop\"\n"));
  CHECK_FALSE(split_kernels(std::string(kIr) + "uselistorder i32 0, { 1, 0 }\n"));
  CHECK_FALSE(split_kernels(with(kIr, "@tile =", "@bucket =")));  // undefined
  CHECK_FALSE(split_kernels(with(kIr, "!6 = distinct", "!66 = distinct")));
  CHECK_FALSE(split_kernels(with(kIr, "attributes #1", "attributes #5")));
  CHECK_FALSE(split_kernels(with(kIr, "line: 34", "line: 300000")));
  CHECK_FALSE(split_kernels(with(kIr, "\"=r\"", "\"=r")));
  CHECK(split_kernels("")->empty());
  // Whatever is done to it, the answer is modules or none.
  std::mt19937 random(1);
  const std::string whole = kIr;
  for (int i = 0; i < 4000; ++i) {
    std::string damaged = whole;
    for (unsigned changes = random() % 4 + 1; changes > 0; --changes) {
      const std::size_t at = random() % damaged.size();
      switch (random() % 3) {
        case 0:
          damaged[at] = "!@%#$\"={},:0a\n"[random() % 14];
          break;
        case 1:
          damaged.erase(at, random() % 40);
          break;
        default:
          damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 40));
      }
    }
    (void)split_kernels(damaged);
  }
}
