// Kernels that call constexpr functions of the host: nvcc refuses them, so the grader does.
#include "grader/compile/host_constexpr.hpp"

#include <regex>
#include <set>

#include "common/catch2.hpp"
#include "grader/compile/compile.hpp"
#include "grader/labs/lab.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/os/scratch.hpp"
#include "grader/tests/bench.hpp"

using namespace grader;

namespace {

// Lines that end with "REFUSED" call one. Of "REFUSED late", nvcc says so only where it finds no others.
const char* const kProgram = R"(
#include <cuda_runtime.h>
#include <algorithm>
#include <limits>
constexpr int f(int x) { return x + 1; }
template <class T>
constexpr T twice(T x) { return x + x; }
template <int N> constexpr int number() { return N; }
__host__ __device__ constexpr int both(int x) { return x; }
__device__ constexpr int device_only(int x) { return x; }
constexpr int kFour = f(3);
static constexpr int kTable[2] = {f(1), f(2)};
__device__ int numbers[f(2)];
struct Value { int x; constexpr Value(int a) : x(a) {} };
struct Part { int x = 3; constexpr int get() const { return x; } };
template <class T> struct Traits {
  static constexpr int size() { return sizeof(T); }
  static constexpr int kWidth = f(sizeof(T));
};
template <int N, int M = f(N)> __device__ int by_default() { return M; }
template <int N> __device__ int of_template(int n) { return f(n) + N; }  // REFUSED
template <int N> __device__ int nobody_calls(int n) { return f(n) + N; }
__host__ __device__ int on_both(int n) { return f(n); }  // nvcc warns
__device__ int helper(int n) { return n + f(2); }  // REFUSED
constexpr int of_host(int n) { return f(n) + twice(n); }

__global__ void constants(int* p) {
  constexpr int a = f(1);  // REFUSED
  const int b = f(1);  // REFUSED
  int c[f(4)];  // REFUSED
  static_assert(f(1) == 2, "");  // REFUSED
  if constexpr (f(1) == 2) p[0] = a + b;  // REFUSED
  p[1] = by_default<f(2)>();  // REFUSED
  c[p[0]] = 1; p[2] = c[0];
  switch (p[3]) { case f(1): p[4] = 0; }  // REFUSED
}
__global__ void values(int* p, int n) {
  p[0] = kFour + kTable[n] + numbers[n] + both(n) + device_only(n);
  p[1] = f(n);  // REFUSED
  p[2] = ::f(3);  // REFUSED
  p[3] = twice(n);  // REFUSED
  p[4] = number<4>();  // REFUSED
  for (int i = 0; i < f(2); ++i) p[i] = 0;  // REFUSED
  Part part; p[5] = part.x;
  p[6] = part.get();  // REFUSED
  Value v(n); p[7] = v.x;  // REFUSED late
  p[8] = Traits<float>::size();  // REFUSED
  p[9] = Traits<float>::kWidth + by_default<3>() + of_template<3>(n) + on_both(n) + helper(n);
  p[10] = sizeof(f(n)) + sizeof(f((n)));
  decltype(f(3)) z = 4; p[11] = z;
  p[12] = std::min(n, 3);  // REFUSED
  p[13] = 1 + std::max(n, p[12]);  // REFUSED
  p[14] = std::clamp(n, 1, 2);  // REFUSED
  p[15] = min(n, max(n, 3));
}
template <class T> __global__ void of_types(T* p, int n) {
  p[0] = f(n);  // REFUSED
  constexpr int a = f(sizeof(T));  // REFUSED
  p[1] = a;
}
template <class T> __global__ void nobody_launches(T* p, int n) { p[0] = f(n); }
int host(int* p, float* q) {
  of_types<<<1, 1>>>(p, 3); of_types<<<1, 1>>>(q, 3);
  return f(2) + of_host(kFour) + std::min(3, 4) + Value(3).x + Part().get();
}
)";

std::set<unsigned> lines_with(const std::string& text, const std::regex& what) {
  std::set<unsigned> numbers;
  unsigned number = 0;
  std::istringstream lines(text);
  for (std::string line; ++number, std::getline(lines, line);)
    if (std::regex_search(line, what)) numbers.insert(number);
  return numbers;
}

/// The numbers that `where` captures, over all of a text.
std::set<unsigned> captured(const std::string& text, const std::regex& where) {
  std::set<unsigned> numbers;
  for (std::sregex_iterator at(text.begin(), text.end(), where), end; at != end; ++at)
    numbers.insert(static_cast<unsigned>(std::stoul((*at)[1])));
  return numbers;
}

std::string said_by(std::vector<std::string> argv) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.environment = minimal_environment();
  spec.output_bytes = 1u << 20;
  const RunResult run = run_to_its_own_end(std::move(spec), std::chrono::minutes(2));
  return run.errors + run.output;
}

}  // namespace

TEST_CASE("clang is asked about constexpr functions only where a file seems to have one") {
  for (const char* source :
       {"constexpr int f(int x) { return x; }", "template <class T>\nconstexpr T\nf(T x);",
        "static inline constexpr auto f() -> int { return 3; }",
        "struct S { constexpr S(int a) : x(a) {} };", "__host__ constexpr int f();",
        "x = std::min(a, b);"})
    CHECK(may_have_host_constexpr(source));
  for (const char* source :
       {"constexpr int kTile = 32;", "constexpr int a[] = {1, 2};", "constexpr int b{f(3)};",
        "if constexpr (sizeof(T) == 4) f();", "__device__ constexpr int f(int x) { return x; }",
        "template <class T>\n__host__ __device__\nconstexpr T f(T x);",
        "constexpr __host__ __device__ int f();", "int not_constexpr(int);", "// constexpr"})
    CHECK_FALSE(may_have_host_constexpr(source));
}

TEST_CASE("what nvcc refuses of constexpr functions is refused, and nothing else") {
  const Scratch scratch(test::build_folder() / "tmp");
  const std::filesystem::path file = scratch.path() / "program.cu";
  write_file_atomically(file, kProgram);
  const std::set<unsigned> all = lines_with(kProgram, std::regex("// REFUSED"));
  REQUIRE(all.size() == 22);
  for (const char* name : {"clang++", "clang++-14", "clang++-22"}) {
    const std::string clang = find_program(name);
    if (clang.empty()) continue;
    INFO(clang);
    std::vector<std::string> argv = {clang, "@common/simgpu/flags/device.rsp", "-I.",
                                     "-ferror-limit=0"};
    for (const std::string& flag : host_constexpr_flags()) argv.push_back(flag);
    argv.push_back(file);
    std::string told;
    for (const std::string& line : host_constexpr_calls(said_by(argv), file, kProgram, 100))
      told += line + '\n';
    CHECK(captured(told, std::regex(":(\\d+):\\d+: error: ")) == all);
    CHECK(told.find(":28:21: error: 'f' is a host function") != std::string::npos);
    CHECK(told.find("  constexpr int a = f(1);  // REFUSED\n                    ^\n") !=
          std::string::npos);
    CHECK(told.find("error: 'min' is a host function") != std::string::npos);
    // Where the function stands.
    CHECK(captured(told, std::regex("declared in line (\\d+)")) ==
          std::set<unsigned>{5, 7, 8, 14, 15, 17});
  }
  if (const std::string nvcc = find_program("nvcc"); !nvcc.empty()) {
    const std::string said = said_by(
        {nvcc, "-std=c++17", "-arch=sm_90", "-ptx", file, "-o", scratch.path() / "program.ptx"});
    CHECK(captured(said, std::regex("\\((\\d+)\\): error: ")) ==
          lines_with(kProgram, std::regex("// REFUSED$")));
  }
}

TEST_CASE("functions of headers are nvcc's affair") {
  const std::string said =
      "lab1/gemm.cu:9:3: error: reference to __host__ function 'min' in __global__ function\n"
      "/usr/include/c++/12/bits/stl_algobase.h:230:5: note: 'min' declared here\n"
      "lab1/gemm.cu:10:3: error: no matching function for call to 'f'\n"
      "./common/matrix.hpp:5:15: note: candidate function not viable: call to __host__ function "
      "from __global__ function\n";
  CHECK(host_constexpr_calls(said, "lab1/gemm.cu", "").empty());
}

TEST_CASE("a lab with such a call does not compile, from the cache as well") {
  const test::FixtureProject project;
  const Workplace place{project.root(), project.root() / "build",
                        project.root() / "build/lib/libsimgpu_cudart_remote.a"};
  const Lab lab = discover_labs(place.root).front();
  const auto built = [&](const std::string& declared) {
    project.write_source(
        test::fixture_source("GLOBAL", declared + " int f(int x) { return x + 1; }\n"
                                                  "__global__ void calls(int* p) { *p = f(*p); }"));
    return build_lab(
               place, probe_clang(), lab,
               [](const std::string& file) { return std::filesystem::path("lab6_fixture") / file; })
        .units.front();
  };
  CHECK(built("__host__ __device__ constexpr").built());
  for (int i = 0; i < 2; ++i) {
    const SourceUnit unit = built("constexpr");
    CHECK(unit.status == BuildStatus::compile_error);
    CHECK(unit.headline == "lab6_fixture/gemm.cu does not compile");
    REQUIRE(unit.details.size() == 4);
    CHECK(unit.details[1] == "__global__ void calls(int* p) { *p = f(*p); }");
  }
}
