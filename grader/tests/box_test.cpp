// The box around strangers' code: what it hides, how its programs' ends are told, that nothing
// outlives it, and what it costs. Needs namespaces; a machine without them fails here, and says so.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "common/catch2.hpp"
#include "grader/course/box/kit.hpp"
#include "grader/course/box/unpacker.hpp"
#include "grader/errors.hpp"
#include "grader/os/files.hpp"
#include "grader/os/zip.hpp"
#include "grader/tests/bench.hpp"

namespace fs = std::filesystem;
using namespace grader;

namespace {

struct Bench {
  Workplace place;
  box::Kit kit;
  box::Kit::Submission submission;

  explicit Bench(const std::set<std::string>& weakened = {})
      : place{test::project_root(), test::build_folder(),
              test::build_folder() / "lib/libsimgpu_cudart_remote.a"},
        kit(place, test::build_folder() / "bin", weakened),
        submission(kit, "someone") {}

  ProcessSpec shell(const std::string& script, BoxRole role = BoxRole::compiler) const {
    ProcessSpec spec;
    spec.argv = {"/bin/sh", "-c", script};
    spec.environment = {"PATH=/usr/bin:/bin:/usr/sbin"};
    return boxed(submission.settings(), {role, {}, {}, {}}, spec);
  }
  RunResult run(const std::string& script, BoxRole role = BoxRole::compiler) const {
    return run_process(shell(script, role), std::chrono::seconds(60));
  }
};

}  // namespace

TEST_CASE("how a program in a box ends is told as it was", "[box]") {
  const Bench bench;
  CHECK(WEXITSTATUS(bench.run("exit 7").status) == 7);
  const RunResult shot = bench.run("kill -SEGV $$");
  REQUIRE(WIFSIGNALED(shot.status));
  CHECK(WTERMSIG(shot.status) == SIGSEGV);
  // 139 is what a shell would have called the same.
  CHECK(WEXITSTATUS(bench.run("exit 139").status) == 139);
  CHECK(bench.run("echo out; echo err >&2").output == "out\n");
  ProcessSpec nothing;
  nothing.argv = {"/kit/nothing"};
  CHECK_THROWS_AS(
      run_process(boxed(bench.submission.settings(), {}, nothing), std::chrono::seconds(20)),
      InfraError);
}

TEST_CASE("a box that somebody outside ends is nobody's fault", "[box]") {
  const Bench bench;
  Process process(bench.shell("sleep 60"));
  const pid_t program = process.program_pid();
  REQUIRE(program > 0);
  SECTION("the whole of it") {
    REQUIRE(::kill(process.pid(), SIGKILL) == 0);
    REQUIRE(process.wait(std::chrono::seconds(10)));
    CHECK(process.vanished());
  }
  SECTION("its program") {
    REQUIRE(::kill(program, SIGKILL) == 0);
    REQUIRE(process.wait(std::chrono::seconds(10)));
    CHECK_FALSE(process.vanished());
    CHECK(WIFSIGNALED(process.status()));
  }
}

TEST_CASE("nothing outlives a box", "[box]") {
  const Bench bench;
  // As the process table knows it: neither a daemon nor its session leader is left.
  const auto alive = [](const std::string& mark) {
    unsigned count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "cmdline");
      std::string line((std::istreambuf_iterator<char>(file)), {});
      count +=
          line.find(mark) != std::string::npos && line.find("grader_tests") == std::string::npos;
    }
    return count;
  };
  SECTION("the program ends by itself") {
    bench.run("setsid sleep 12345.5 & sleep 0.1");
    CHECK(alive("12345.5") == 0);
  }
  SECTION("the program is killed") {
    Process process(bench.shell("setsid sleep 12346.5 & sleep 12346.5"));
    REQUIRE(process.program_pid() > 0);
    for (int i = 0; i < 100 && alive("12346.5") < 3; ++i) ::usleep(20000);
    CHECK(alive("12346.5") >= 2);
    process.kill();
    CHECK(alive("12346.5") == 0);
  }
}

TEST_CASE("only a compiler has more than one process", "[box]") {
  const Bench bench;
  for (const BoxRole role :
       {BoxRole::runner, BoxRole::worker, BoxRole::unpacker, BoxRole::gpu_runner}) {
    INFO(to_string(role));
    const RunResult ran = bench.run("echo begun; /bin/true; echo started", role);
    CHECK(ran.output == "begun\n");
    CHECK(ran.errors.find("fork") != std::string::npos);
  }
  CHECK(bench.run("/bin/true; echo started").output == "started\n");
}

TEST_CASE("what reads archives sees no file of the host's and starts nothing", "[box]") {
  const Bench bench;
  const RunResult ran =
      bench.run("[ -e /etc/passwd ] || echo hidden; /bin/true; echo started", BoxRole::unpacker);
  CHECK(ran.output == "hidden\n");
  CHECK(ran.errors.find("fork") != std::string::npos);
  const intake::Unpack unpack = box::unpacking(test::build_folder() / "bin", false);
  const intake::Tree tree =
      intake::tree_of_archive(zip::write({{"lab1/gemm.cu", "a file", {}}}), unpack);
  REQUIRE(tree.files.size() == 1);
  CHECK(tree.files[0].bytes == "a file");
}

TEST_CASE("a box costs at most 50 ms of processor time", "[box]") {
  const Bench bench;
  const auto used = [] {
    double sum = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage usage{};
      ::getrusage(static_cast<__rusage_who_t>(who), &usage);
      sum += static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
             1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    }
    return sum;
  };
  constexpr int rounds = 20;
  double begin = used();
  for (int i = 0; i < rounds; ++i) REQUIRE(bench.run(":").ok());
  const double with = (used() - begin) / rounds;
  ProcessSpec plain;
  plain.argv = {"/bin/sh", "-c", ":"};
  begin = used();
  for (int i = 0; i < rounds; ++i) REQUIRE(run_process(plain, std::chrono::seconds(20)).ok());
  const double without = (used() - begin) / rounds;
  WARN("a box costs " << (with - without) * 1000 << " ms");
  CHECK(with - without < 0.050);
}

TEST_CASE("without a box nobody is graded, unless it is said aloud", "[box]") {
  const test::FixtureProject project;
  const fs::path in = project.root() / "in";
  fs::create_directories(in / "ann/lab6");
  write_file_atomically(in / "ann/lab6/gemm.cu", test::fixture_source("INSERT", ""));
  const auto grade = [&](std::vector<std::string> more) {
    ProcessSpec spec;
    spec.argv = {(test::build_folder() / "bin/grade").string(),
                 "--root",
                 project.root().string(),
                 "--build",
                 (project.root() / "build").string(),
                 in.string()};
    spec.argv.insert(spec.argv.end(), more.begin(), more.end());
    // A PATH on which there is a compiler, and no bubblewrap.
    const fs::path programs = project.root() / "programs";
    fs::create_directories(programs);
    for (const char* name : {"clang++", "readelf", "ld", "git", "sh", "test"}) {
      std::error_code known;
      fs::create_symlink(find_program(name), programs / name, known);
    }
    spec.environment = {"PATH=" + programs.string()};
    return run_process(spec, std::chrono::minutes(2));
  };
  const RunResult refused = grade({});
  CHECK(WEXITSTATUS(refused.status) == exit_infrastructure);
  CHECK(refused.errors.find("make setup STAFF=1") != std::string::npos);
  CHECK_FALSE(fs::exists(project.root() / "build/grades/grades.csv"));

  const std::string result = "build/grades/grades.csv";
  if (::geteuid() == 0) {
    // The test's folder is its owner's alone: root would have to run strangers' code as root.
    const RunResult root = grade({"--unsafe"});
    CHECK(WEXITSTATUS(root.status) == exit_infrastructure);
    CHECK(read_file(project.root() / result).find("who cannot read") != std::string::npos);
    fs::permissions(project.root().parent_path(), fs::perms{0755});
  }
  const RunResult unsafe = grade({"--unsafe"});
  INFO(unsafe.errors << read_file(project.root() / result));
  CHECK(WEXITSTATUS(unsafe.status) == exit_ok);
  for (const char* file : {"grades.csv", "grades.json"})
    CHECK(read_file(project.root() / "build/grades" / file).find("UNSAFE=1") != std::string::npos);
  for (const auto& entry : fs::directory_iterator(project.root() / "build/grades/results"))
    CHECK(read_file(entry.path()).find("UNSAFE=1") != std::string::npos);
}

TEST_CASE("a program that somebody outside kills costs nobody points", "[box]") {
  const test::FixtureProject project;
  const fs::path in = project.root() / "in", out = project.root() / "out";
  fs::create_directories(in / "ann/lab6");
  // Slow enough to be met, and named so that no other test's is.
  write_file_atomically(in / "ann/lab6/gemm.cu", test::fixture_source("INSERT", "usleep(100000);"));
  ProcessSpec spec;
  spec.argv = {(test::build_folder() / "bin/grade").string(),
               "--root",
               project.root().string(),
               "--build",
               (project.root() / "build").string(),
               in.string(),
               "--out",
               out.string()};
  spec.environment = minimal_environment();
  Process grading(spec);
  // Children of children of `grade`, by the process table.
  const auto descendants = [&] {
    std::set<pid_t> family = {grading.pid()}, found;
    for (bool more = true; more;) {
      more = false;
      for (const auto& entry : fs::directory_iterator("/proc")) {
        const pid_t pid = std::atoi(entry.path().filename().c_str());
        std::ifstream stat(entry.path() / "stat");
        std::string text;
        if (pid <= 0 || family.count(pid) || !std::getline(stat, text)) continue;
        const auto end = text.rfind(')');
        int parent = 0;
        char state = 0;
        std::istringstream(text.substr(end + 1)) >> state >> parent;
        if (!family.count(parent)) continue;
        more = family.insert(pid).second;
        if (text.find("(runner)") != std::string::npos) found.insert(pid);
      }
    }
    return found;
  };
  unsigned killed = 0;
  while (!grading.wait(std::chrono::milliseconds(20))) {
    if (killed != 0) continue;
    for (const pid_t pid : descendants()) killed += ::kill(pid, SIGKILL) == 0;
  }
  CHECK(killed > 0);
  CHECK(WEXITSTATUS(grading.status()) == exit_ok);
  CHECK(read_file(out / "grades.csv").find("ann,GRADED,7,2") != std::string::npos);
}
