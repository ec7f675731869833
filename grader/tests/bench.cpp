#include "grader/tests/bench.hpp"

#include <cstdlib>

#include "grader/os/files.hpp"

namespace grader::test {
namespace fs = std::filesystem;

fs::path project_root() {
  return fs::current_path();
}

fs::path build_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path();
}

std::string host_compiler() {
  const char* chosen = std::getenv("CXX");
  std::string compiler = chosen ? chosen : "g++";
  compiler = compiler.substr(compiler.rfind(' ') + 1);
  return find_program(compiler).empty() ? "clang++" : compiler;
}

std::string fixture_source(const std::string& mark, const std::string& text) {
  std::string source = read_file(project_root() / "grader/tests/fixtures/lab6_fixture/gemm.cu");
  const std::string line = "// " + mark;
  source.replace(source.find(line), line.size(), text);
  return source;
}

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

FixtureProject::FixtureProject(const std::string& folder)
    : scratch_(build_folder() / "tmp"), root_(scratch_.path() / folder) {
  fs::create_directories(root_);
  fs::copy(project_root() / "grader/tests/fixtures/lab6_fixture", lab());
  fs::create_directory_symlink(project_root() / "common", root() / "common");
  fs::create_directories(root() / "build");
  fs::create_directory_symlink(build_folder() / "lib", root() / "build" / "lib");
}

void FixtureProject::write_source(const std::string& text) const {
  write_file_atomically(lab() / "gemm.cu", text);
}

RunResult FixtureProject::run(const std::string& program,
                              const std::vector<std::string>& arguments) const {
  ProcessSpec spec;
  spec.argv = {(build_folder() / "bin" / program).string(), "--root", root().string(), "--build",
               (root() / "build").string()};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.environment = minimal_environment();
  if (const char* clang = std::getenv("CLANG"))
    spec.environment.push_back(std::string("CLANG=") + clang);
  spec.output_bytes = 4u << 20;
  return run_process(spec, std::chrono::minutes(5));
}

}  // namespace grader::test
