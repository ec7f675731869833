// A project of one fixture lab in a scratch folder, graded by the real program.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "grader/os/process.hpp"
#include "grader/os/scratch.hpp"

namespace grader::test {

/// The project's own folder (tests run there), its build folder, and the grader in it.
std::filesystem::path project_root();
std::filesystem::path build_folder();

/// A C++ compiler for this machine: CXX's without what stands before it ("ccache g++"), or clang++.
std::string host_compiler();

/// The fixture's gemm.cu with `text` in the place of the line "// MARK".
std::string fixture_source(const std::string& mark, const std::string& text);

/// The fixture with two launchers that launch a kernel each of their own, of_first and of_second, beside
/// the one that they share; `global` stands before these.
std::string two_kernels(const std::string& global);

class FixtureProject {
 public:
  /// `folder` is the project's own name below the scratch folder.
  explicit FixtureProject(const std::string& folder = "project");
  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path lab() const { return root() / "lab6_fixture"; }
  void write_source(const std::string& text) const;
  /// `grader <arguments>` in this project; its build products are kept apart from the project's
  /// own.
  RunResult grader(std::vector<std::string> arguments) const { return run("grader", arguments); }
  /// The same of `grade`.
  RunResult grade(std::vector<std::string> arguments) const { return run("grade", arguments); }

 private:
  RunResult run(const std::string& program, const std::vector<std::string>& arguments) const;

  Scratch scratch_;
  std::filesystem::path root_;
};

}  // namespace grader::test
