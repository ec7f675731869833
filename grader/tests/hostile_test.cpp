// Student code that crashes, hangs, leaves, shouts, closes what is not its own: each gets its
// verdict for its own stage, and the other stages are graded as if nothing had happened.
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "common/catch2.hpp"
#include "grader/errors.hpp"
#include "grader/tests/bench.hpp"

using grader::test::fixture_source;
using grader::test::FixtureProject;

namespace {

struct Verdicts {
  int exit_code = -1;
  nlohmann::json stages;  ///< by id
  std::string text;
};

Verdicts judge(const FixtureProject& project, const std::string& source) {
  project.write_source(source);
  const auto result = project.grader({"check", "--lab", "6", "--device", "sim", "--json", "-"});
  INFO(result.errors);
  REQUIRE_FALSE(result.timed_out);
  REQUIRE(WIFEXITED(result.status));
  Verdicts verdicts;
  verdicts.exit_code = WEXITSTATUS(result.status);
  verdicts.text = result.output;
  const auto document = nlohmann::json::parse(result.output);
  for (const auto& stage : document.at("labs").at(0).at("stages"))
    verdicts.stages[stage.at("id").get<std::string>()] = stage;
  return verdicts;
}

}  // namespace

TEST_CASE("a lab that is nothing but its folder is graded") {
  const FixtureProject project;
  const Verdicts right = judge(project, fixture_source("INSERT", ""));
  CHECK(right.exit_code == grader::exit_ok);
  for (const char* id : {"6.0", "6.1", "6.2"}) CHECK(right.stages[id]["verdict"] == "ACCEPTED");
}

TEST_CASE("make finds a new lab's goals without being told") {
  const FixtureProject project;
  namespace fs = std::filesystem;
  for (const char* name : {"Makefile", "VERSION", "mk", "grader"})
    fs::create_symlink(grader::test::project_root() / name, project.root() / name);
  grader::ProcessSpec spec;
  spec.argv = {"make", "-n", "BUILD=other", "other/bin/grader"};
  spec.environment = grader::minimal_environment();
  spec.folder = project.root().string();
  spec.output_bytes = 1u << 20;
  const auto plan = grader::run_process(spec, std::chrono::seconds(60));
  INFO(plan.errors);
  CHECK(plan.ok());
  CHECK(plan.output.find("-c lab6_fixture/goals.cpp") != std::string::npos);
  const auto link = plan.output.find("-o other/bin/grader");
  REQUIRE(link != std::string::npos);
  CHECK(plan.output.rfind("other/obj/lab6_fixture/goals.o", link) != std::string::npos);
}

TEST_CASE("hostile host code gets its verdict and spoils no other stage") {
  struct Row {
    const char* name;
    const char* code;
    const char* verdict;
    const char* diagnosis;
  };
  const Row rows[] = {
      {"null pointer", "*reinterpret_cast<volatile int*>(16) = 1;", "RUNTIME_ERROR", "CRASH"},
      {"abort", "std::abort();", "RUNTIME_ERROR", "CRASH"},
      {"stack overflow",
       "struct Deep { static int go(volatile char* p) { volatile char here[65536]; here[0] = *p; "
       "return here[0] + go(here); } };"
       " volatile char start = 0; Deep::go(&start);",
       "RUNTIME_ERROR", "CRASH"},
      {"exit(0)", "std::exit(0);", "RUNTIME_ERROR", "EXIT"},
      {"_exit(0) after a forged verdict",
       "std::puts(\"{\\\"verdict\\\": \\\"ACCEPTED\\\"}\"); std::fflush(stdout); _exit(0);",
       "RUNTIME_ERROR", "EXIT"},
      {"exception", "throw std::runtime_error(\"no luck\");", "RUNTIME_ERROR", "EXCEPTION"},
      {"endless loop", "for (volatile int i = 0; i >= 0;) i = 0;", "TIMEOUT", "HANG"},
      {"waits for ever", "pause();", "TIMEOUT", "HANG"},
      {"1 TB with new", "volatile char* p = new char[std::size_t{1} << 40]; p[0] = 1;", "MEM_LIMIT",
       "MEMORY"},
      {"1 TB with malloc, unchecked",
       "*static_cast<volatile char*>(std::malloc(std::size_t{1} << 40)) = 1;", "RUNTIME_ERROR",
       "CRASH"},
  };
  const FixtureProject project;
  for (const Row& row : rows) {
    DYNAMIC_SECTION(row.name) {
      const Verdicts verdicts = judge(project, fixture_source("INSERT", row.code));
      INFO(verdicts.text);
      CHECK(verdicts.exit_code == grader::exit_failed);
      CHECK(verdicts.stages["6.0"]["verdict"] == row.verdict);
      CHECK(verdicts.stages["6.0"]["diagnosis"] == row.diagnosis);
      CHECK(verdicts.stages["6.0"]["earned"] == 0);
      CHECK(verdicts.stages["6.1"]["verdict"] == "ACCEPTED");
      CHECK(verdicts.stages["6.2"]["verdict"] == "LOCKED");
    }
  }
}

TEST_CASE("closed descriptors are the runner's own loss") {
  const FixtureProject project;
  const Verdicts verdicts =
      judge(project, fixture_source("INSERT", "for (int fd = 0; fd < 256; ++fd) close(fd);"));
  CHECK(verdicts.stages["6.0"]["verdict"] == "RUNTIME_ERROR");
  CHECK(verdicts.stages["6.0"]["state"] == "failed");
  CHECK(verdicts.stages["6.1"]["verdict"] == "ACCEPTED");
}

TEST_CASE("what is printed counts for nothing, and is shown") {
  const FixtureProject project;
  SECTION("right and loud") {
    const Verdicts loud =
        judge(project, fixture_source("INSERT", "std::puts(\"FAIL FAIL\"); std::fflush(stdout);"));
    CHECK(loud.exit_code == grader::exit_ok);
    CHECK(loud.stages["6.0"]["printed"].get<std::string>().find("FAIL FAIL") != std::string::npos);
  }
  SECTION("a flood does not block anybody") {
    const Verdicts flood = judge(
        project,
        fixture_source("INSERT", "for (int i = 0; i < 100000; ++i) std::puts(\"0123456789\");"));
    CHECK(flood.exit_code == grader::exit_ok);
    CHECK(flood.stages["6.0"]["printed"].get<std::string>().size() <= 40000);
  }
  SECTION("wrong and boasting") {
    const Verdicts boast =
        judge(project, fixture_source("INSERT", "std::puts(\"VERDICT: PASS\"); return;"));
    CHECK(boast.stages["6.0"]["verdict"] == "WRONG_ANSWER");
    CHECK(boast.stages["6.0"]["diagnosis"] == "UNWRITTEN");
    CHECK(boast.stages["6.1"]["verdict"] == "ACCEPTED");
  }
}

TEST_CASE("a forked child changes nothing and does not stay") {
  const FixtureProject project;
  const Verdicts verdicts =
      judge(project, fixture_source("INSERT", "if (fork() == 0) for (;;) pause();"));
  CHECK(verdicts.stages["6.0"]["state"] != "infra");
  CHECK(verdicts.stages["6.1"]["verdict"] == "ACCEPTED");
  const auto left = grader::run_process(
      [&] {
        grader::ProcessSpec spec;
        spec.argv = {"sh", "-c", "ls -l /proc/[0-9]*/exe 2>/dev/null | grep -c \"$1\" || true",
                     "sh", project.root().string()};
        spec.environment = grader::minimal_environment();
        return spec;
      }(),
      std::chrono::seconds(20));
  CHECK(left.output == "0\n");
}

TEST_CASE("code that runs before main cannot hide the other stages' owner") {
  const FixtureProject project;
  const Verdicts verdicts =
      judge(project, fixture_source("GLOBAL",
                                    "struct Early { Early() { std::puts(\"PASS\"); "
                                    "std::fflush(stdout); _exit(0); } } early;"));
  for (const char* id : {"6.0", "6.1"}) {
    CHECK(verdicts.stages[id]["verdict"] == "RUNTIME_ERROR");
    CHECK(verdicts.stages[id]["diagnosis"] == "EXIT");
  }
}

namespace {

/// What `check` says of the fixture's file when it is `source`.
auto checked(const FixtureProject& project, const std::string& source) {
  project.write_source(source);
  return project.grader({"check", "--lab", "6", "--device", "sim"});
}

}  // namespace

TEST_CASE("what does not build is one clear error") {
  const FixtureProject project;
  const auto lines = [&](const std::string& source) { return checked(project, source); };
  SECTION("compile error: the student's line, nothing of our headers") {
    const auto result = lines(fixture_source("GLOBAL", "int broken = undefined_name;"));
    CHECK(WEXITSTATUS(result.status) == grader::exit_build);
    CHECK(result.output.find(
              "lab6_fixture/gemm.cu:12:14: error: use of undeclared identifier 'undefined_name'") !=
          std::string::npos);
    CHECK(result.output.find("common/") == std::string::npos);
  }
  SECTION("a header that sim does not have") {
    const auto result = lines(fixture_source("GLOBAL", "#include <cutlass/cutlass.h>"));
    CHECK(WEXITSTATUS(result.status) == grader::exit_build);
    CHECK(result.output.find("lab6_fixture/gemm.cu:12 includes cutlass/cutlass.h") !=
          std::string::npos);
  }
  SECTION("empty") {
    const auto result = lines(" \n\t\n");
    CHECK(WEXITSTATUS(result.status) == grader::exit_build);
    CHECK(result.output.find("lab6_fixture/gemm.cu is empty") != std::string::npos);
  }
  SECTION("missing") {
    std::filesystem::remove(project.lab() / "gemm.cu");
    const auto result = project.grader({"check", "--lab", "6", "--device", "sim"});
    CHECK(WEXITSTATUS(result.status) == grader::exit_build);
    CHECK(result.output.find("lab6_fixture/gemm.cu is missing") != std::string::npos);
  }
  SECTION("a main of their own") {
    const auto result = lines(fixture_source("GLOBAL", "int main() {}"));
    CHECK(WEXITSTATUS(result.status) == grader::exit_build);
    CHECK(result.output.find("defines main()") != std::string::npos);
  }
  SECTION("a brace that is not closed is the file's error") {
    std::string source = fixture_source("INSERT", "");
    source.erase(source.find_last_of('}'));
    const auto result = lines(source);
    CHECK(WEXITSTATUS(result.status) == grader::exit_build);
    CHECK(result.output.find("error: expected '}'") != std::string::npos);
    CHECK(result.output.find("lab6_fixture/gemm.cu:") != std::string::npos);
    CHECK(result.output.find("unit.cu") == std::string::npos);
  }
  SECTION("letters that PTX does not have in names, and the line of the first one") {
    const auto result = lines(fixture_source(
        "GLOBAL",
        "/* \xc3\xa4 */ const char* text = \"\xc3\xa4\\\"\";  // \xc3\xa4\n"
        "__device__ int z\xc3\xa4hler; __global__ void count() { z\xc3\xa4hler = 1; }"));
    CHECK(WEXITSTATUS(result.status) == grader::exit_build);
    INFO(result.output);
    CHECK(result.output.find("lab6_fixture/gemm.cu:13: the name of a kernel") != std::string::npos);
  }
  SECTION("a source that speaks of memory has an ordinary error") {
    const auto result = lines(fixture_source(
        "GLOBAL", "static_assert(sizeof(int) == 5, \"out of memory: std::bad_alloc\");"));
    INFO(result.output);
    CHECK(result.output.find("lab6_fixture/gemm.cu does not compile") != std::string::npos);
    CHECK(result.output.find("gemm.cu:12:") != std::string::npos);
  }
  SECTION("inline assembly that is no PTX") {
    const auto result = lines(fixture_source(
        "GLOBAL", "__global__ void odd() { asm volatile(\".incbin \\\"/etc/hostname\\\"\"); }"));
    CHECK(WEXITSTATUS(result.status) == grader::exit_build);
    CHECK(result.output.find("incbin") != std::string::npos);
  }
}

TEST_CASE("a launcher's signature") {
  const FixtureProject project;
  const auto lines = [&](const std::string& source) { return checked(project, source); };
  SECTION("wrong signature: this stage only") {
    const std::string name =
        "void gemm_first(MatrixView<const In> a, MatrixView<const In> b, "
        "MatrixView<Out> c, cudaStream_t stream)";
    const auto with = [&](const std::string& other) {
      std::string source = fixture_source("INSERT", "");
      source.replace(source.find(name), name.size(), other);
      const auto result = lines(source);
      CHECK(WEXITSTATUS(result.status) == grader::exit_failed);
      CHECK(result.output.find("gemm_first<float> is not defined with the signature") !=
            std::string::npos);
      CHECK(result.output.find(
                "wanted: void gemm_first(MatrixView<const T> a, MatrixView<const T> b,") !=
            std::string::npos);
      CHECK(result.output.find("6.1 Second                      ok") != std::string::npos);
      return result.output;
    };
    CHECK(with("void gemm_fist(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c, "
               "cudaStream_t stream)")
              .find("found:") == std::string::npos);
    CHECK(with("void gemm_first(MatrixView<const In> a,\n  MatrixView<const In> b, "
               "MatrixView<Out> c, int, cudaStream_t stream)")
              .find("found:  void gemm_first(MatrixView<const In> a, MatrixView<const In> b,") !=
          std::string::npos);
    // Declared only.
    CHECK(with("void gemm_first(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c, "
               "cudaStream_t stream);\ntemplate <typename In, typename Out>\n"
               "void other(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c, "
               "cudaStream_t stream)")
              .find("found:") != std::string::npos);
  }
  SECTION("a launcher with one type for all, or with a size of its own") {
    std::string source = fixture_source("INSERT", "");
    const std::string from =
        "template <typename In, typename Out>\nvoid gemm_first("
        "MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,";
    source.replace(source.find(from), from.size(),
                   "template <typename T, int = 3>\nvoid gemm_first(MatrixView<const T> a, "
                   "MatrixView<const T> b, MatrixView<T> c,");
    CHECK(WEXITSTATUS(lines(source).status) == grader::exit_ok);
  }
}

TEST_CASE("usage errors name what there is") {
  const FixtureProject project;
  const auto lab = project.grader({"check", "--lab", "9"});
  CHECK(WEXITSTATUS(lab.status) == grader::exit_usage);
  CHECK(lab.errors.find("there is no lab 9; there are: 6") != std::string::npos);
  const auto stage = project.grader({"check", "--stage", "6.9"});
  CHECK(WEXITSTATUS(stage.status) == grader::exit_usage);
  CHECK(stage.errors.find("6.0, 6.1, 6.2") != std::string::npos);
  const auto hint = project.grader({"hint", "--stage", "6.0"});
  CHECK(WEXITSTATUS(hint.status) == grader::exit_usage);
}

TEST_CASE("a project in a folder with blanks and quotes in its name is graded") {
  const FixtureProject project("it's a \"lab\" $(false)");
  const Verdicts right = judge(project, fixture_source("INSERT", ""));
  CHECK(right.exit_code == grader::exit_ok);
}

TEST_CASE("a build folder that cannot be written to is one clear error") {
  const FixtureProject project;
  grader::ProcessSpec spec;
  spec.argv = {(grader::test::build_folder() / "bin/grader").string(),
               "--root",
               project.root().string(),
               "--build",
               "/proc/nowhere",
               "check",
               "--lab",
               "6"};
  spec.environment = grader::minimal_environment();
  const auto result = grader::run_process(spec, std::chrono::seconds(60));
  CHECK(WEXITSTATUS(result.status) == grader::exit_infrastructure);
  CHECK(result.errors.find("cannot create the folder /proc/nowhere") != std::string::npos);
  CHECK(result.output.empty());
}
