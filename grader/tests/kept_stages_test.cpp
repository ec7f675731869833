// Stages that passed and need not be run again: that what is told is what would be found, and that
// whatever they depend on has them run.
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/catch2.hpp"
#include "grader/compile/host_part.hpp"
#include "grader/compile/kernel_ir.hpp"
#include "grader/os/files.hpp"
#include "grader/tests/bench.hpp"

using namespace grader;
using grader::test::FixtureProject;
using grader::test::two_kernels;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), instead);
}

/// Two launchers, each with a kernel of its own; the first kernel calls a helper.
std::string source_with_helper() {
  const std::string source =
      two_kernels("template <typename T>\n__device__ T one() { return T(1); }");
  return with(source, "c(0, 0) = T(1);", "c(0, 0) = one<T>();");
}

json check(const FixtureProject& project, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"check", "--device", "sim", "--json", "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const RunResult run = project.grader(arguments);
  INFO(run.errors);
  REQUIRE(!run.timed_out);
  return json::parse(run.output).at("labs").at(0).at("stages");
}

/// The ids of stages that were not run.
std::vector<std::string> kept(const json& stages) {
  std::vector<std::string> ids;
  for (const auto& stage : stages)
    if (stage.at("kept").get<bool>()) ids.push_back(stage.at("id"));
  return ids;
}

/// All that is told but when, and from where.
json told(json stages) {
  for (auto& stage : stages) stage.erase("seconds"), stage.erase("kept");
  return stages;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("a stage is run again if its kernels have changed, its host code, or what judges it",
          "[grade]") {
  const FixtureProject project;
  const std::string source = source_with_helper();
  project.write_source(source);
  const json first = check(project);
  CHECK(kept(first).empty());
  Ids all, of_first, of_second;
  for (const auto& stage : first) {
    CHECK(stage.at("state") == "passed");
    all.push_back(stage.at("id"));
    (stage.at("rung") == "gemm_first" ? of_first : of_second).push_back(stage.at("id"));
  }
  REQUIRE(!of_first.empty());
  REQUIRE(!of_second.empty());

  const auto now = [&](const std::string& what, const std::string& text, const Ids& expected) {
    INFO(what);
    project.write_source(text);
    const json stages = check(project);
    CHECK(kept(stages) == expected);
    CHECK(told(stages) == told(check(project, {"--again"})));
  };
  now("nothing", source, all);
  now("comments and blank lines", with(source, "// A right", "\n\n// Another\n// right"), all);
  now("a line above the first kernel",
      with(source, "template <typename T>\n__device__",
           "// one\n// two\ntemplate <typename T>\n__device__"),
      all);
  now("one kernel", with(source, "T(2);", "T(3);"), of_first);
  now("a helper of the other", with(source, "return T(1);", "return T(4);"), of_second);
  now("lines in one kernel", with(source, "{ c(0, 0) = T(2);", "{  // more\n\n  c(0, 0) = T(2);"),
      of_first);
  now("both kernels' one", with(source, "Out sum = 0;", "Out sum = Out(0) + 0 * a.cols;"), Ids());
  now("both launchers' one", with(source, "dim3(8, 8), 0", "dim3(8, 8), 16"), Ids());
  now("a launcher", with(source, "of_second<<<1, 1, 0", "of_second<<<1, 1, 16"), of_first);
  now("the other", with(source, "of_first<<<1, 1, 0", "of_first<<<1, 1, 16"), of_second);
  now("a launcher that sets what stays",
      with(source, "of_first<<<1, 1",
           "cudaFuncSetAttribute(of_first<Out>, cudaFuncAttributeMaxDynamicSharedMemorySize, 64);\n"
           "  if (c.rows) of_first<<<1, 1"),
      Ids());
  now("a variable beside the launchers",
      with(source, "template <typename In, typename Out>\nvoid gemm_first",
           "int calls = 0;\ntemplate <typename In, typename Out>\nvoid gemm_first"),
      Ids());
  now("as it was", source, all);

  CHECK(kept(check(project, {"--again"})).empty());
  CHECK(kept(check(project, {"--seed", "5"})).empty());
  const std::string toml = read_file(project.lab() / "lab.toml");
  write_file_atomically(project.lab() / "lab.toml", toml + "\n# another\n");
  CHECK(kept(check(project)).empty());
  write_file_atomically(project.lab() / "lab.toml", toml);
  CHECK(kept(check(project)) == all);

  // The same text elsewhere: results name the file.
  fs::create_directory(project.lab() / "solution");
  write_file_atomically(project.lab() / "solution/gemm.cu", source);
  const json solved = check(project, {"--solution"});
  CHECK(solved.size() == all.size());
  CHECK(kept(solved).empty());
}

TEST_CASE("failures are not kept, and neither is what was damaged", "[grade]") {
  const FixtureProject project;
  const std::string source = source_with_helper();
  project.write_source(with(source, "  launch(a, b, c, stream);\n}\n\ntemplate",
                            "  if (c.rows != 4) launch(a, b, c, stream);\n}\n\ntemplate"));
  const json once = check(project), twice = check(project);
  CHECK(told(once) == told(twice));
  for (const auto& stage : twice) {
    INFO(stage.at("id"));
    CHECK(stage.at("kept") == (stage.at("state") == "passed"));
  }

  project.write_source(source);
  const json whole = check(project);
  REQUIRE(!kept(check(project)).empty());
  unsigned records = 0;
  for (const auto& entry : fs::directory_iterator(project.root() / "build/cache")) {
    if (entry.path().extension() != ".stage") continue;
    const std::string bytes = read_file(entry.path());
    // Cut off, empty, longer, and a byte that is another one.
    const std::string damaged[] = {bytes.substr(0, bytes.size() / 2), "", bytes + "x",
                                   '\xff' + bytes.substr(1)};
    write_file_atomically(entry.path(), damaged[records++ % 4]);
  }
  CHECK(records >= 4);
  const json after = check(project);
  CHECK(kept(after).empty());
  CHECK(told(after) == told(whole));
}

TEST_CASE("kernels that share a variable are all run again when one has changed", "[grade]") {
  const FixtureProject project;
  const std::string shared = with(source_with_helper(), "template <typename T>\n__device__ T one()",
                                  "__device__ int count = 0;\n"
                                  "template <typename T>\n__device__ T one()");
  const std::string source = with(shared, "c(0, 0) = T(2);", "c(0, 0) = T(2 + count);");
  project.write_source(source);
  const json first = check(project);
  CHECK(kept(check(project)).size() == first.size());
  project.write_source(with(source, "return T(1);", "return T(count++);"));
  CHECK(kept(check(project)).empty());
}

TEST_CASE("a launcher that asks what a kernel takes is run again when any kernel has changed",
          "[grade]") {
  const FixtureProject project;
  const std::string asking =
      with(source_with_helper(), "if (c.rows && c.cols) of_first",
           "cudaFuncAttributes takes;\n  cudaFuncGetAttributes(&takes, of_second<Out>);\n"
           "  if (c.rows && c.cols && takes.numRegs > 0) of_first");
  project.write_source(asking);
  const json first = check(project);
  CHECK(first.at(0).at("state") == "passed");
  CHECK(kept(check(project)).size() == first.size());
  project.write_source(with(asking, "T(2);", "T(3);"));
  CHECK(kept(check(project)).empty());
}

namespace {

void same(const std::string& one, const std::string& other) {
  INFO(one << "\n-- and\n" << other);
  CHECK(host_part(one) == host_part(other));
}
void differ(const std::string& one, const std::string& other) {
  INFO(one << "\n-- and\n" << other);
  CHECK(host_part(one) != host_part(other));
}

}  // namespace

TEST_CASE("the host's part of a source is without what the device alone has") {
  CHECK(host_part("__global__ void k(int* p) { *p = 1; } // one\nvoid f() { k<<<1, 1>>>(0); }\n") ==
        "__global__ void k(int* p) {}\nvoid f() { k<<<1, 1>>>(0); }");
  const std::string host = "\nvoid f() { g(); }\n";
  same("__global__ void k() {\n#pragma unroll\n  for (;;) {}\n}" + host,
       "__global__ void k() { if (1) { h('}', \"}\"); } }" + host);
  same("__device__ int d(int x) { return x; }" + host,
       "__device__ int d(int x) { /* } */ return 2 * x; // }\n}" + host);
  same(
      "__global__ void __launch_bounds__(N > 1 ? 64 : 32) k() {\n#if A\n x{};\n#else\n y();\n#endif\n}",
      "__global__ void __launch_bounds__(N > 1 ? 64 : 32) k() {}");
  same("template <int N> __device__ void d(int (&t)[N][N + 1], int to[]) { to[0] = t[0][1]; }" +
           host,
       "template <int N> __device__ void d(int (&t)[N][N + 1], int to[]) { to[0] = t[1][0]; }" +
           host);
  same("template <int N> __global__ void k(); int a = 1;",
       "template <int N> __global__ void k(); int a = 1; // b");

  differ("void f() { g(1); }", "void f() { g(2); }");
  differ("__global__ void k(int) {}" + host, "__global__ void k(long) {}" + host);
  // The host has these too, or sees them.
  differ("__host__ __device__ int d() { return 1; }", "__host__ __device__ int d() { return 2; }");
  differ("__device__ constexpr int d() { return 1; }",
         "__device__ constexpr int d() { return 2; }");
  differ("__device__ auto d() { return 1; }", "__device__ auto d() { return 1L; }");
  differ("__device__ const int n = {1};", "__device__ const int n = {2};");
  differ("__device__ const int n{1};", "__device__ const int n{2};");
  differ("auto l = [=] __device__ (int i) { return i + a; };",
         "auto l = [=] __device__ (int i) { return i + b; };");
  differ("void h() { f(1, [=] __device__ (int i) { return i + a; }); }",
         "void h() { f(1, [=] __device__ (int i) { return i + b; }); }");
  differ("void h() { return [=] __device__ (int i) { return i + a; }; }",
         "void h() { return [=] __device__ (int i) { return i + b; }; }");
  differ("struct S { __device__ void d() {} int a; };",
         "struct S { __device__ void d() {} long a; };");
  // Where lines matter, or where a body ends cannot be told.
  differ("__global__ void k() { a(); }\nint l = __LINE__;",
         "__global__ void k() { b(); }\nint l = __LINE__;");
  differ("__global__ void k() { a();\n#define N 1\n}",
         "__global__ void k() { a();\n#define N 2\n}");
  differ(
      "__global__ void k() {\n#if A\n  if (x) {\n#else\n  if (y) {\n#endif\n  } }\nvoid f() { g(1); }",
      "__global__ void k() {\n#if A\n  if (x) {\n#else\n  if (y) {\n#endif\n  } }\nvoid f() { g(2); }");
  differ("#define KERNEL __global__ void\nvoid f() { g(1); }",
         "#define KERNEL __global__ void\nvoid f() { g(2); }");
  differ("__global__ void k() { p(R\"(})\"); }\nvoid f() { g(1); }",
         "__global__ void k() { p(R\"(})\"); }\nvoid f() { g(2); }");
  differ("__global__ void k() { int i = 1'000; }\nvoid f() { g(1); }",
         "__global__ void k() { int i = 1'000; }\nvoid f() { g(2); }");
  differ("__global__ void k() { a(); \nvoid f() { g(1); }",
         "__global__ void k() { a(); \nvoid f() { g(2); }");
  differ("#define DEVICE \\\n__device__\nvoid f() { g(1); }",
         "#define DEVICE \\\n__device__\nvoid f() { g(2); }");
  differ("int x__global__; void f() { g(1); }", "int x__global__; void f() { g(2); }");
}

TEST_CASE("a module says in its first line what it was made of") {
  Places places;
  places.functions = {{10, "/lab/gemm.cu"}, {70, "/lab/given/tile.cuh"}, {30, "/lab/gemm.cu"}};
  const std::string line = made_of_line("abc", places, "lab/gemm.cu");
  const MadeOf made = made_of(line + ".version 7.0\n");
  CHECK(made.text == "abc");
  REQUIRE(made.functions.size() == 2);
  CHECK(made.functions[1] - made.functions[0] == 20);
  CHECK(made_of(".version 7.0\n").text.empty());
  CHECK(made_of("// Made of ").text.empty());
  CHECK(made_of("").text.empty());
}

TEST_CASE("a launcher's part of a source is without functions that it does not reach") {
  const auto part = [](const std::string& source, const std::set<std::string>& names = {"f"}) {
    const HostCode code({source});
    return code.came_apart() ? code.part_of(names) : "all";
  };
  const std::string two = "void f() { g<1>(); }\nvoid other() { h(); }";
  CHECK(part(two) == "void f() { g<1>(); }\nvoid other() {}" + std::string(1, '\0'));
  CHECK(part(two, {"other"}) == "void f() {}\nvoid other() { h(); }" + std::string(1, '\0'));
  CHECK(part(two, {"f", "other"}) == two + '\0');
  const auto same = [&](const std::string& one, const std::string& other) {
    INFO(one << "\n-- and\n" << other);
    CHECK(part(one) == part(other));
    CHECK(part(one) != "all");
  };
  const auto differ = [&](const std::string& one, const std::string& other) {
    INFO(one << "\n-- and\n" << other);
    CHECK((part(one) != part(other) || part(one) == "all"));
  };
  // What f cannot reach.
  const std::string f = "void f() { g(); }\n";
  same(f + "template <typename T, int N = 2>\nvoid h(T t) { i(1); }",
       f + "template <typename T, int N = 2>\nvoid h(T t) { if (t) { i(2); } }");
  same(f + "namespace a {\nvoid h() { i(1); }\n}", f + "namespace a {\nvoid h() { i(2); }\n}");
  same("void h();\n" + f + "void h() { i(1); }", "void h();\n" + f + "void h() { i(2); }");
  same("#if A\n#include <b>\n#endif\n" + f + "void h() { i(1); }",
       "#if A\n#include <b>\n#endif\n" + f + "void h() { i(2); }");
  same("struct S { static constexpr int N = 1; __device__ static int n(); };\n" + f +
           "void h() { i(1); }",
       "struct S { static constexpr int N = 1; __device__ static int n(); };\n" + f +
           "void h() { i(2); }");
  // What it can, by itself or in two steps; by a type, a constant, a macro, a default.
  differ(f + "void g() { i(1); }", f + "void g() { i(2); }");
  differ(f + "void g() { h(); }\nvoid h() { i(1); }", f + "void g() { h(); }\nvoid h() { i(2); }");
  differ(f + "struct S { S() { h(); } };\nvoid h() { i(1); }",
         f + "struct S { S() { h(); } };\nvoid h() { i(2); }");
  differ(f + "S::S() { i(1); }", f + "S::S() { i(2); }");
  differ(f + "S::~S() { i(1); }", f + "S::~S() { i(2); }");
  differ(f + "constexpr int n = h();\nconstexpr int h() { return 1; }",
         f + "constexpr int n = h();\nconstexpr int h() { return 2; }");
  differ("#define g() h()\n" + f + "void h() { i(1); }",
         "#define g() h()\n" + f + "void h() { i(2); }");
  differ("void g(int n = h());\n" + f + "int h() { return 1; }",
         "void g(int n = h());\n" + f + "int h() { return 2; }");
  differ("void f(int n = h()) {}\nint h() { return 1; }",
         "void f(int n = h()) {}\nint h() { return 2; }");
  differ(f + "S operator+(S a, S b) { return i(1); }",
         f + "S operator+(S a, S b) { return i(2); }");
  differ(f + "int* begin(S& s) { return i(1); }", f + "int* begin(S& s) { return i(2); }");
  differ(f + "template <> void g<1>() { i(1); }", f + "template <> void g<1>() { i(2); }");
  differ(f + "DEFINE(g) { i(1); }", f + "DEFINE(g) { i(2); }");
  differ(f + "[[gnu::constructor]] __attribute__((used)) void h() { i(1); }",
         f + "[[gnu::constructor]] __attribute__((used)) void h() { i(2); }");
  // What outlasts a call, and variables that functions share.
  differ(f + "void h() { cudaFuncSetAttribute(k, a, 1); }",
         f + "void h() { cudaFuncSetAttribute(k, a, 2); }");
  differ(f + "int h() { static int n = 1; return n; }",
         f + "int h() { static int n = 2; return n; }");
  for (const std::string& variable :
       {"int n = 1;", "static int n;", "int n{1};", "int* const n = m();",
        "auto l = [] { return 1; };", "struct { int a; } n;", "struct S { static int n; };",
        "template <typename T> T n = 1;", "extern int n;", "__device__ int n;",
        "extern \"C\" int n;"}) {
    INFO(variable);
    CHECK(part(std::string(variable) + "\n" + f) == "all");
  }
  // Names that come from nowhere, and what cannot be read.
  same("namespace n = a::b;\n" + f + "void h() { i(1); }",
       "namespace n = a::b;\n" + f + "void h() { i(2); }");
  CHECK(part("#define M(x) g##x()\n" + f) == "all");
  CHECK(part(f + "int l = __LINE__;") == "all");
  CHECK(part("void f() { g();") == "all");
  CHECK(part("void f() { g(); } }") == "all");
}

TEST_CASE("the host's part of a source: what is written otherwise than most people write it") {
  const std::string host = "\nvoid f() { g(); }\n";
  // Braces that are a variable's value, behind parentheses that are no parameters.
  differ("__device__ __attribute__((aligned(8))) const int n{1};" + host,
         "__device__ __attribute__((aligned(8))) const int n{2};" + host);
  differ("__device__ const int m(1), n{1};" + host, "__device__ const int m(1), n{2};" + host);
  differ("__device__ alignas(16) const int n{1};" + host,
         "__device__ alignas(16) const int n{2};" + host);
  same("struct S { __device__ void d() const noexcept { a(); } };",
       "struct S { __device__ void d() const noexcept { b(); } };");
  // Other spellings of # and of braces, pragmas inside of a body, and macros that go on behind blanks.
  differ("__global__ void k() { a();\n%:define N 1\n}",
         "__global__ void k() { a();\n%:define N 2\n}");
  differ("__global__ void k() <% a(); %>\nvoid f() <% g(1); %>",
         "__global__ void k() <% a(); %>\nvoid f() <% g(2); %>");
  differ("__global__ void k() { _Pragma(\"redefine_extname g h\") a(); }" + host,
         "__global__ void k() { a(); }" + host);
  for (const std::string& end : {" \n", "\r\n", "\t \n"}) {
    INFO("a line that goes on behind " << json(end));
    differ("#define K \\" + end + "__global__ void k() { a(); } int n = 1;\nK" + host,
           "#define K \\" + end + "__global__ void k() { a(); } int n = 2;\nK" + host);
    CHECK(host_part("#define K \\" + end + " __global__ void k() { a(); }\nK" + host).find("a()") !=
          std::string::npos);
  }
}

TEST_CASE("a launcher's part of a source: what is called by other names than its own") {
  const auto part = [](const std::string& source) {
    const HostCode code({source});
    return code.came_apart() ? code.part_of({"f"}) : "all";
  };
  const auto same = [&](const std::string& one, const std::string& other) {
    INFO(one << "\n-- and\n" << other);
    CHECK(part(one) == part(other));
    CHECK(part(one) != "all");
  };
  const auto differ = [&](const std::string& one, const std::string& other) {
    INFO(one << "\n-- and\n" << other);
    CHECK((part(one) != part(other) || part(one) == "all"));
  };
  const std::string f = "void f() { g(); }\n";
  for (const std::string& variable :
       {"int n(1);", "Counter n(1, 2);", "std::atomic<int> n(m);", "Counter n(int(1));"}) {
    INFO(variable);
    CHECK(part(variable + "\n" + f) == "all");
  }
  same("int h(int);\nvoid h2(const S& s, int n);\n" + f + "void h3() { i(1); }",
       "int h(int);\nvoid h2(const S& s, int n);\n" + f + "void h3() { i(2); }");
  // Functions that are called by other names than their own, or by nobody who names them.
  for (const std::string& other :
       {"void g() asm(\"_Z1hv\");", "void g() __attribute__((alias(\"_Z1hv\")));",
        "void g() __attribute__((ifunc(\"_Z1hv\")));", "#pragma redefine_extname g _Z1hv",
        "#pragma weak g = _Z1hv", "asm(\".globl _Z1gv\\n.set _Z1gv, _Z1hv\");",
        "void h() __attribute__((constructor));"}) {
    INFO(other);
    CHECK(part(other + "\n" + f + "void h() { i(1); }") == "all");
  }
  // Braces in macros: then code is other than it looks.
  differ("#define BEGIN {\n#define END }\nvoid f() BEGIN h(); else while (a) { i(1); } END",
         "#define BEGIN {\n#define END }\nvoid f() BEGIN h(); else while (a) { i(2); } END");
  differ("%:define g() h()\n" + f + "void h() { i(1); }",
         "%:define g() h()\n" + f + "void h() { i(2); }");
  differ("%:define g() h()\nvoid f() { g(1); }\nvoid h() {}",
         "%:define g() h()\nvoid f() { g(2); }\nvoid h() {}");
  differ("#define g() \\ \n int h()\nvoid f() { i(1); }",
         "#define g() \\ \n int h()\nvoid f() { i(2); }");
}
