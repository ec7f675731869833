// A file whose pass for the device comes in parts.
#include <algorithm>

#include "common/catch2.hpp"
#include "grader/compile/compile.hpp"
#include "grader/labs/lab.hpp"
#include "grader/os/files.hpp"
#include "grader/tests/bench.hpp"

using namespace grader;
using grader::test::fixture_source;
using grader::test::FixtureProject;

namespace {

std::vector<std::string> texts(const FixtureProject& project, unsigned parts) {
  const Workplace place{project.root(), project.root() / "build",
                        project.root() / "build/lib/libsimgpu_cudart_remote.a"};
  BuildOptions options;
  options.parts = parts;
  const Lab lab = discover_labs(place.root).front();
  const Build build = build_lab(
      place, probe_clang(), lab,
      [](const std::string& file) { return std::filesystem::path("lab6_fixture") / file; },
      options);
  REQUIRE(build.units.size() == 1);
  REQUIRE(build.units.front().built());
  return build.units.front().ptx;
}

bool has(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

/// Two launchers with a kernel each of their own beside the one that they share; `global` before all.
std::string two_kernels(const std::string& global) {
  std::string source = fixture_source("GLOBAL", global + R"(
template <typename T>
__global__ void of_first(MatrixView<T> c) { c(0, 0) = T(1); }
template <typename T>
__global__ void of_second(MatrixView<T> c) { c(0, 0) = T(2); })");
  const auto put = [&](const std::string& mark, const std::string& kernel) {
    source.replace(source.find("// " + mark), mark.size() + 3,
                   "if (c.rows && c.cols) " + kernel + "<<<1, 1, 0, stream>>>(c);");
  };
  put("INSERT", "of_first");
  put("SECOND", "of_second");
  return source;
}

/// The instructions of an entry, without labels, whose numbers depend on what stands before.
std::string body(const std::string& text, const std::string& kernel) {
  std::size_t at = text.find(".entry");
  while (at != std::string::npos && !has(text.substr(at, text.find('(', at) - at), kernel))
    at = text.find(".entry", at + 1);
  REQUIRE(at != std::string::npos);
  std::string code;
  const std::string whole = text.substr(at, text.find("\n}", at) - at);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole.compare(i, 1, "L") == 0 && i + 1 < whole.size() && std::isalpha(whole[i + 1]))
      while (i < whole.size() && (std::isalnum(whole[i]) || whole[i] == '_')) ++i;
    if (i < whole.size()) code += whole[i];
  }
  return code;
}

}  // namespace

TEST_CASE("each launcher's kernels are in one of a file's parts, as they are in the whole") {
  const FixtureProject project;
  project.write_source(two_kernels(""));
  const std::vector<std::string> whole = texts(project, 1), parts = texts(project, 2);
  REQUIRE(whole.size() == 1);
  REQUIRE(parts.size() == 2);
  CHECK(has(parts[0], "of_first"));
  CHECK_FALSE(has(parts[0], "of_second"));
  CHECK(has(parts[1], "of_second"));
  CHECK_FALSE(has(parts[1], "of_first"));
  for (const auto& [text, kernel] :
       {std::pair{parts[0], "of_first"}, std::pair{parts[0], "fixture_kernel"},
        std::pair{parts[1], "of_second"}, std::pair{parts[1], "fixture_kernel"}})
    CHECK(body(text, kernel) == body(whole[0], kernel));
  CHECK(texts(project, 8).size() == 2);  // no more than there are launchers
}

TEST_CASE("a file with variables of its own has one part: each would have others") {
  const FixtureProject project;
  for (const char* variable : {"__device__ int counter;", "static __device__ int counter;",
                               "__constant__ int counter = 3;"}) {
    INFO(variable);
    project.write_source(two_kernels(std::string(variable) + R"(
__global__ void counts(int* to) { *to = *const_cast<volatile int*>(&counter); })"));
    const std::vector<std::string> parts = texts(project, 2);
    REQUIRE(parts.size() == 1);
    CHECK(has(parts[0], "of_first"));
    CHECK(has(parts[0], "of_second"));
  }
}

TEST_CASE("strings in kernels do not keep a file from its parts") {
  const FixtureProject project;
  project.write_source(two_kernels("__global__ void says() { printf(\"%d\\n\", 1); }"));
  CHECK(texts(project, 2).size() == 2);
}
