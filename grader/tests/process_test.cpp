// Child processes and their limits; the judge's small parts.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include "common/catch2.hpp"
#include "grader/compile/compile.hpp"
#include "grader/errors.hpp"
#include "grader/judge/cases.hpp"
#include "grader/judge/judge.hpp"
#include "grader/labs/lab.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/limit.hpp"
#include "grader/os/pool.hpp"
#include "grader/os/process.hpp"
#include "grader/os/sha256.hpp"
#include "grader/tests/bench.hpp"

using namespace grader;
using std::chrono::milliseconds;

namespace {

ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", script};
  spec.environment = {"PATH=/usr/bin:/bin"};
  return spec;
}

}  // namespace

TEST_CASE("a child sees no descriptor and no variable but its own") {
  int pipes[2];
  REQUIRE(::pipe(pipes) == 0);  // without close-on-exec, as a careless library would leave them
  ProcessSpec spec = shell(
      "ls /proc/self/fd | tr '\\n' ' '; env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= -e ^OLDPWD= | tr "
      "'\\n' ' '");
  spec.descriptors = {{pipes[1], 3}};
  ::setenv("SECRET_SEED", "42", 1);
  const RunResult result = run_process(spec, milliseconds(5000));
  ::unsetenv("SECRET_SEED");
  CHECK(result.output == "0 1 2 3 4 PATH=/usr/bin:/bin ");  // 4: the folder that ls itself has open
  ::close(pipes[0]);
  ::close(pipes[1]);
}

TEST_CASE("output is capped, time is limited, groups die together") {
  ProcessSpec flood = shell("yes 0123456789 | head -c 1000000");
  flood.output_bytes = 1000;
  const RunResult capped = run_process(flood, milliseconds(10000));
  CHECK(capped.output.size() == 1000);
  CHECK(capped.capped);
  CHECK(capped.ok());

  const auto start = std::chrono::steady_clock::now();
  const RunResult late = run_process(shell("sleep 30 & sleep 30"), milliseconds(200));
  CHECK(late.timed_out);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("what a program leaves running is ended with it, while its group is surely its own") {
  Process process(shell("sleep 30 & echo $!"));
  REQUIRE(process.wait(milliseconds(5000)));
  const std::string left = process.output().substr(0, process.output().find('\n'));
  const auto state = [&] {  // 'Z': nobody has reaped it yet
    std::ifstream file("/proc/" + left + "/stat");
    std::string text;
    std::getline(file, text);
    const auto name = text.rfind(')');
    return name == std::string::npos ? 'Z' : text.at(name + 2);
  };
  for (int i = 0; i < 200 && state() != 'Z'; ++i) ::usleep(10000);
  CHECK(state() == 'Z');
}

TEST_CASE("what somebody outside kills runs again, what only says so does not") {
  const std::string killed = "clang: error: unable to execute command: Killed\\n",
                    linker =
                        "clang: error: linker command failed due to signal (use -v to see "
                        "invocation)\\n";
  const auto run = [](const std::string& script) {
    return run_to_its_own_end(shell(script), milliseconds(5000));
  };
  CHECK_THROWS_AS(run("kill -9 $$"), InfraError);
  CHECK_THROWS_AS(run("printf '" + killed + linker + "' >&2; exit 254"), InfraError);
  CHECK_THROWS_AS(run("printf '" + killed + linker + "' >&2; exit 1"), InfraError);
  // Of a source that holds these lines, more follows; a linker that fails by itself says so.
  CHECK(run("printf '" + killed + linker + "2 errors generated.\\n' >&2; exit 1").status != 0);
  CHECK(run("printf '" + killed +
            "clang: error: linker command failed with exit code 1\\n' >&2; "
            "exit 1")
            .status != 0);
  CHECK(run("printf '" + linker + "' >&2; exit 1").status != 0);
  // Nearly all of the time is used up: it was the limit, a little early by this clock.
  const auto killed_after = [](const char* seconds) {
    ProcessSpec spec =
        shell(std::string("exec python3 -c 'import os, time\nwhile time.process_time() < ") +
              seconds + ": pass\nos.kill(os.getpid(), 9)'");
    spec.limits.cpu_seconds = 1;
    return run_to_its_own_end(spec, milliseconds(60000));
  };
  CHECK(WIFSIGNALED(killed_after("0.9").status));
  CHECK_THROWS_AS(killed_after("0.2"), InfraError);
  CHECK(run("printf '" + killed + linker + "' >&2").ok());
}

TEST_CASE("limits hold and can be told apart") {
  ProcessSpec cpu = shell("while :; do :; done");
  cpu.limits.cpu_seconds = 1;
  const RunResult busy = run_process(cpu, milliseconds(20000));
  REQUIRE(WIFSIGNALED(busy.status));
  CHECK(WTERMSIG(busy.status) == SIGXCPU);

  ProcessSpec files = shell("head -c 100000 /dev/zero > \"$0\"");
  const Scratch scratch(test::build_folder() / "tmp");
  files.argv.push_back((scratch.path() / "out").string());
  files.limits.file_bytes = 4096;
  CHECK_FALSE(run_process(files, milliseconds(5000)).ok());
  CHECK(std::filesystem::file_size(scratch.path() / "out") <= 4096);

  CHECK_THROWS_AS(run_process(
                      [] {
                        ProcessSpec spec;
                        spec.argv = {"no-such-program-anywhere"};
                        return spec;
                      }(),
                      milliseconds(100)),
                  InfraError);
}

TEST_CASE("a login's lower limit stays where a child is given a higher one") {
  const auto seen_inside = [](std::uint64_t wanted) {
    ProcessSpec spec = shell("ulimit -Sn; ulimit -Hn");
    spec.limits.open_files = wanted;
    return run_process(spec, milliseconds(5000)).output;
  };
  CHECK(seen_inside(200) == "200\n200\n");
  const pid_t pid = ::fork();
  if (pid == 0)
    ::_exit(set_limit(RLIMIT_NOFILE, 150) && set_limit(RLIMIT_NOFILE, 200) &&
                    ::sysconf(_SC_OPEN_MAX) == 150
                ? 0
                : 1);
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("what a killed process leaves behind is swept, and nothing that is in use") {
  namespace fs = std::filesystem;
  const Scratch tmp(test::build_folder() / "tmp");
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const auto owner = [&] {  // holds a folder with a file in a folder
    const pid_t pid = ::fork();
    if (pid == 0) {
      const Scratch own(tmp.path());
      fs::create_directory(own.path() / "in");
      fs::copy_file("/bin/sh", own.path() / "in" / "program");
      fs::last_write_time(own.path(), fs::file_time_type::clock::now() - 2 * scratch_age);
      const std::string name = own.path().filename().string();
      if (::write(ready[1], name.data(), 6) == 6)
        for (;;) ::pause();
      ::_exit(1);
    }
    char name[6] = {};
    REQUIRE(::read(ready[0], name, 6) == 6);
    return std::pair(pid, tmp.path() / std::string(name, 6));
  };
  const auto kill_it = [](pid_t pid) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  };
  const auto killed = owner(), running = owner();
  const Scratch mine(tmp.path());
  fs::last_write_time(mine.path(), fs::file_time_type::clock::now() - 2 * scratch_age);
  fs::create_directory(tmp.path() / "new");
  fs::create_directory_symlink(mine.path(), tmp.path() / "link");
  kill_it(killed.first);
  CHECK(fs::exists(killed.second));
  sweep_scratch(tmp.path());
  CHECK_FALSE(fs::exists(killed.second));
  CHECK(fs::exists(running.second / "in" / "program"));
  CHECK(fs::exists(mine.path()));
  CHECK(fs::exists(tmp.path() /
                   "new"));  // too young to be sure: it may be of a program without locks
  CHECK(fs::exists(tmp.path() / "link"));
  kill_it(running.first);
  sweep_scratch(tmp.path());
  CHECK_FALSE(fs::exists(running.second));
  CHECK(fs::exists(mine.path()));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("a pool runs everything and passes on the first failure") {
  Pool pool(3);
  std::atomic<int> sum{0};
  std::vector<std::function<void()>> jobs;
  for (int i = 1; i <= 100; ++i) jobs.push_back([&sum, i] { sum += i; });
  pool.run(jobs);
  CHECK(sum == 5050);
  jobs[40] = [] { throw std::runtime_error("job 41"); };
  CHECK_THROWS_WITH(pool.run(jobs), "job 41");
  jobs.resize(1);
  pool.run(jobs);
  CHECK(sum == 5050 + 5050 - 41 + 1);
}

TEST_CASE("text for a terminal or a report is made harmless") {
  CHECK(printable("a\tb\nc") == "a\tb\nc");
  CHECK(printable("\x1b[31mred\x07") == "[31mred");
  CHECK(printable("131×129") == "131×129");
  CHECK(printable("\xff\xc3") == "??");
  CHECK(printable("\xc2\x9b"
                  "31m") == "??31m");         // C1 control sequence introducer
  CHECK(printable("\xed\xa0\x80") == "???");  // a surrogate
  CHECK(first_bytes("a\xc3\xa9", 2) == "a");
  CHECK(first_bytes("a\xc3\xa9z", 3) == "a\xc3\xa9");
  CHECK(escape_xml("<\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd>") == "&lt;??\xef\xbf\xbd&gt;");
  CHECK(printable("\xe0\x80\xaf") == "???");       // overlong
  CHECK(printable("\xf4\x90\x80\x80") == "????");  // above U+10FFFF
}

TEST_CASE("what clang says of fragments and of extern arrays has a hint") {
  const auto hint_of = [](const std::string& error) {
    return filter_compiler_output("g.cu:5:3: error: " + error + "\n  line\n", "g.cu").errors.back();
  };
  const std::string no_layout =
      "implicit instantiation of undefined template "
      "'nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 8, 8, 4, double>'";
  CHECK(hint_of(no_layout).find("row_major") != std::string::npos);
  CHECK(hint_of("no matching function for call to 'mma_sync'").find("accumulators") !=
        std::string::npos);
  const std::string redeclared = "redeclaration of 's' with a different type: 'float[]' vs 'int[]'";
  CHECK(filter_compiler_output("g.cu:5:3: error: " + redeclared + "\n  extern __shared__ T s[];\n",
                               "g.cu")
            .errors.back()
            .rfind("hint:", 0) == 0);
  CHECK(hint_of(redeclared) == "  line");
}

TEST_CASE("compiler output shows the student's file and nothing of ours") {
  const std::string said =
      "In file included from lab1_naive/gemm.cu:8:\n"
      "common/matrix.hpp:20:3: warning: something in a header\n"
      "  T* data;\n"
      "  ^\n"
      "lab1_naive/gemm.cu:31:9: error: use of undeclared identifier 'rwo'\n"
      "  c(rwo, col) = 0;\n"
      "    ^\n"
      "common/simgpu/include/cuda_runtime.h:99:1: note: 'row' declared here\n"
      "lab1_naive/gemm.cu:12:3: note: did you mean this\n"
      "  int row;\n"
      "  ^\n"
      "1 warning and 1 error generated when compiling for sm_80.\n";
  const CompilerOutput shown = filter_compiler_output(said, "lab1_naive/gemm.cu");
  CHECK(shown.errors == std::vector<std::string>{
                            "lab1_naive/gemm.cu:31:9: error: use of undeclared identifier 'rwo'",
                            "  c(rwo, col) = 0;", "    ^",
                            "lab1_naive/gemm.cu:12:3: note: did you mean this", "  int row;",
                            "  ^"});
  CHECK(shown.warnings.empty());

  const auto last_of = [](const std::string& error) {
    return filter_compiler_output("g.cu:5:3: error: " + error + "\n  line\n", "g.cu").errors.back();
  };
  CHECK(last_of("call to global function 'naive_kernel<int>' not configured").rfind("hint:", 0) ==
        0);
  CHECK(last_of("cannot initialize a parameter of type 'size_t' (aka 'unsigned long') with an "
                "lvalue of type 'cudaStream_t' (aka 'CUstream_st *')")
            .rfind("hint:", 0) == 0);
  CHECK(last_of("reference to __host__ function 'f' in __global__ function").rfind("hint:", 0) ==
        0);
  CHECK(last_of("non-type template argument is not a constant expression").rfind("hint:", 0) == 0);
  CHECK(last_of("use of undeclared identifier 'rwo'") == "  line");
  for (const char* error :
       {"type 'MatrixView<const float>' does not provide a subscript operator",
        "no member named 'cout' in namespace 'std'; did you mean 'col'?",
        "unexpected character <U+2212>",
        "no matching function for call to '__pipeline_memcpy_async'",
        "implicit instantiation of undefined template "
        "'nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, double>'"})
    CHECK(last_of(error).rfind("hint:", 0) == 0);
  const std::string overloaded =
      "g.cu:5:3: error: reference to overloaded function could not be "
      "resolved; did you mean to call it?\n  k<<g, b>>(a);\n  ^\n";
  CHECK(filter_compiler_output(overloaded, "g.cu").errors.back().rfind("hint:", 0) == 0);

  // One of our headers is named, one of the system's is not; a template's second type says nothing
  // new.
  CHECK(filter_compiler_output("In file included from g.cu:3:\n./common/matrix.hpp:57:1: error: "
                               "unknown type name 'garbage'\ngarbage\n^\n/usr/include/x.h:1:1: "
                               "error: no such thing\n",
                               "g.cu")
            .errors ==
        std::vector<std::string>{"common/matrix.hpp:57:1: error: unknown type name 'garbage'",
                                 "error: no such thing"});
  CHECK(filter_compiler_output("g.cu:5:3: warning: 'sum' is uninitialized\n"
                               "g.cu:9:3: note: in instantiation of 'f<float>' requested here\n"
                               "g.cu:9:3: note: in instantiation of 'f<int>' requested here\n",
                               "g.cu")
            .warnings ==
        std::vector<std::string>{"g.cu:5:3: warning: 'sum' is uninitialized",
                                 "g.cu:9:3: note: in instantiation of 'f<float>' requested here"});

  // No place: not of a line, but of the whole file.
  const CompilerOutput encoding = filter_compiler_output(
      "fatal error: UTF-16 (LE) byte order mark detected in 'g.cu', but encoding is not supported\n"
      "1 error generated when compiling for sm_80.\n",
      "g.cu");
  REQUIRE(encoding.errors.size() == 2);
  CHECK(encoding.errors[1].rfind("hint:", 0) == 0);

  std::string many;
  for (int i = 1; i <= 20; ++i) many += "g.cu:" + std::to_string(i) + ":1: error: e\n";
  CHECK(filter_compiler_output(many, "g.cu", 3).errors.size() == 4);
  const CompilerOutput missing = filter_compiler_output(
      "g.cu:5:10: fatal error: 'cub/cub.cuh' file not found\n#include <cub/cub.cuh>\n", "g.cu");
  CHECK(missing.unavailable_include == "cub/cub.cuh");
  CHECK(missing.unavailable_line == 5);
}

TEST_CASE("a call whose arguments fit nothing has a hint") {
  // What a note says of the arguments: an array of other extents, a destination that is const.
  for (const char* note : {"could not match 'T[128][PITCH]' against 'int[16][132]'",
                           "deduced conflicting types for parameter 'T' ('const int' vs. 'int')"}) {
    const std::string call =
        "g.cu:5:3: error: no matching function for call to 'f'\n  f(a);\n  ^\n"
        "g.cu:2:6: note: candidate template ignored: " +
        std::string(note) + "\n  f(T);\n  ^\n";
    CHECK(filter_compiler_output(call, "g.cu").errors.back().rfind("hint:", 0) == 0);
  }
}

TEST_CASE("a function of a header says why it does not fit, and a template what it is not told") {
  const auto shown = [](const std::string& text) {
    return filter_compiler_output(text, "g.cu").errors;
  };
  const std::string call = "g.cu:5:3: error: no matching function for call to 'f'\n  f(a);\n  ^\n";
  // Of the simulated GPU's headers nobody is shown a place; only the first one, which fits best, counts.
  const auto of_wmma =
      shown(call +
            "common/simgpu/include/mma.h:174:1: note: candidate function not viable: no known "
            "conversion from 'double' to 'const double *' for 2nd argument; take the address of "
            "the argument with &\n"
            "common/simgpu/include/mma.h:165:1: note: candidate function not viable: another\n");
  REQUIRE(of_wmma.size() == 5);
  CHECK(of_wmma[3].rfind("note: candidate function not viable: no known conversion", 0) == 0);
  CHECK(of_wmma[4].find("address") != std::string::npos);
  const auto of_ours = shown(call +
                             "./common/async_copy.cuh:49:29: note: candidate function not "
                             "viable: requires 2 arguments, but 1 was provided\n");
  CHECK(of_ours.back().rfind("common/async_copy.cuh:49:29: note: ", 0) == 0);
  // Where the student's own function was meant, a header's is beside the point.
  const auto own = shown(call +
                         "g.cu:2:6: note: candidate function not viable: requires 2 arguments, but "
                         "1 was provided\n  f(T);\n  ^\n"
                         "common/x.cuh:3:1: note: candidate function not viable: another\n");
  CHECK(own.back() == "  ^");
  // However long the way through templates was.
  std::string way;
  for (int line = 11; line < 17; ++line)
    way += "g.cu:" + std::to_string(line) + ":1: note: in instantiation of function template\n";
  const auto step = shown(call + way +
                          "g.cu:2:6: note: candidate template ignored: couldn't infer "
                          "template argument 'STEP'\n");
  CHECK(step.back().rfind("hint: the arguments of f() do not say what STEP is", 0) == 0);
  const auto asserted = shown(
      "g.cu:5:3: error: static_assert failed \"whole rows\"\n  x\n  ^\n"
      "g.cu:31:5: note: in instantiation of function template specialization 'f<1>' requested "
      "here\n");
  CHECK(asserted.back().rfind("hint: line 31 calls", 0) == 0);
}

TEST_CASE("an error is told once, and without a name that only looks like another") {
  const auto shown = filter_compiler_output(
      "g.cu:5:7: error: use of undeclared identifier 'row'; did you mean 'pow'?\n"
      "  if (row) return;\n      ^~~\n      pow\n"
      "/usr/include/math.h:3:1: note: 'pow' declared here\n"
      "g.cu:9:7: error: use of undeclared identifier 'row'\n  f(row);\n    ^\n"
      "g.cu:11:7: error: variable length array\n  T x[n][n];\n"
      "g.cu:11:4: error: variable length array\n  T x[n][n];\n",
      "g.cu");
  REQUIRE(shown.errors.size() == 6);
  CHECK(shown.errors[0] == "g.cu:5:7: error: use of undeclared identifier 'row'");
  CHECK(shown.errors[2] == "      ^~~");
  CHECK(shown.errors[3].rfind("g.cu:11:7: error", 0) == 0);
  for (const char* error :
       {"invalid operands to binary expression ('int' and 'const __cuda_builtin_blockDim_t')",
        "initialization is not supported for __shared__ variables.",
        "builtin functions must be directly called", "function definition is not allowed here",
        "invalid % escape in inline assembly string"})
    CHECK(filter_compiler_output("g.cu:5:3: error: " + std::string(error) + "\n  line\n", "g.cu")
              .errors.back()
              .rfind("hint:", 0) == 0);
}

TEST_CASE("a source line of any length makes short lines of a report") {
  const std::string said =
      "g.cu:5:3: error: " + std::string(90000, 'x') + "\n  " + std::string(90000, 'y') + "\n";
  const CompilerOutput shown = filter_compiler_output(said, "g.cu");
  REQUIRE(shown.errors.size() == 2);
  for (const std::string& line : shown.errors) CHECK(line.size() < 400);
  CHECK(filter_compiler_output(
            "g.cu:1:1: fatal error: '" + std::string(90000, 'x') + "' file not found\n", "g.cu")
            .unavailable_include.empty());
}

TEST_CASE("which clang will do") {
  std::string number;
  CHECK(reject_clang("clang++", "Debian clang version 14.0.6\nTarget: x86_64", number).empty());
  CHECK(number == "14.0.6");
  CHECK(reject_clang("clang++", "Ubuntu clang version 22.1.0-++2026", number).empty());
  CHECK(reject_clang("clang++", "clang version 13.0.1", number).find("13.0.1") !=
        std::string::npos);
  CHECK(reject_clang("clang++", "Apple clang version 15.0.0 (clang-1500)", number).find("Apple") !=
        std::string::npos);
  CHECK(reject_clang("g++", "g++ (Debian 12.2.0) 12.2.0", number).find("not clang") !=
        std::string::npos);
}

TEST_CASE("a TODO is found with its line and its text") {
  const std::string source =
      "a\nb\n  // TODO(1.1) Walk K,\n  //           then store.\n  int x;\n  // TODO(1.10) other\n";
  CHECK(find_todo(source, "1.1").line == 3);
  CHECK(find_todo(source, "1.1").text == "Walk K, then store.");
  CHECK(find_todo(source, "1.10").line == 6);
  CHECK(find_todo(source, "1.2").line == 0);
  // What stands in for code that is missing, and what is code already.
  const auto after = [](const std::string& code) {
    return find_todo("// TODO(1.1) Write this.\n" + code + "}\nint y = 1 << 30;\n", "1.1");
  };
  CHECK(after("").untouched);
  CHECK_FALSE(after("").stand_in);
  CHECK(after("int a;\nint b;\nint c;\nint d;\nreturn A + 0 * (a + b);\n").stand_in);
  CHECK(after("return unwritten<float>();\n").untouched);
  // A student's own estimate may have a 0 in it: the stand-in is nothing but constants and that.
  CHECK_FALSE(
      after("const float of_k = k * tile.full;\nreturn A + of_k + 0 * (a + b);\n").stand_in);
  CHECK_FALSE(after("float sum = A;\nsum += 2 * a;\nreturn sum + 0 * (b);\n").stand_in);
  CHECK_FALSE(after("return a * b;\n").untouched);
}

TEST_CASE("answers are compared as sets of letters") {
  CHECK(normalised_answer("h, c D") == "CDH");
  CHECK(normalised_answer("CDH") == normalised_answer("h-d-c"));
  CHECK(normalised_answer(" ").empty());
}

TEST_CASE("accepted answers are kept as hashes that are salted and slow to make") {
  // As Python's hashlib makes it.
  CHECK(answer_hash("lab7_x", "7.1", "AB") ==
        "4a4e4fcb3b700ec5edc3e24dc4b1910dc6a8a0e0fb6c651387d577c5d4051682");
  CHECK(answer_hash("lab7_x", "7.0", "AB") != answer_hash("lab7_x", "7.1", "AB"));
  CHECK(answer_hash("lab8_x", "7.1", "AB") != answer_hash("lab7_x", "7.1", "AB"));
  // No lab keeps the plain one of a few letters.
  for (const Lab& lab : discover_labs("."))
    for (const Stage& stage : lab.stages)
      for (unsigned set = 1; stage.answer && set < 1u << 10; ++set) {
        std::string letters;
        for (unsigned letter = 0; letter < 10; ++letter)
          if (set >> letter & 1) letters += static_cast<char>('A' + letter);
        const auto& kept = stage.answer->hashes;
        CHECK(std::find(kept.begin(), kept.end(), sha256(letters)) == kept.end());
      }
}

TEST_CASE("cases: smallest first, non-square before square, every class there") {
  Lab lab;
  lab.tile = {{"BM", 16}, {"BN", 32}, {"BK", 8}};
  Stage stage;
  stage.shapes = {"aligned", "ragged", "tiny", "thin", "strided", "empty", "k1"};
  const auto cases = cases_of(lab, stage);
  std::int64_t last = 0;
  bool strided = false, empty = false, over = false, under = false, k_zero = false;
  std::set<std::string> names;
  for (const auto& one : cases) {
    CHECK(names.insert(one.name()).second);
    const auto& e = one.extents;
    strided = strided || one.strided();
    k_zero = k_zero || e.k == 0;
    over = over || e.m == 17;
    under = under || e.m == 15;
    if (one.empty()) {
      empty = true;
      continue;
    }
    CHECK_FALSE(empty);  // none with elements after those without
    CHECK(e.m * e.n * e.k >= last);
    last = e.m * e.n * e.k;
  }
  CHECK((strided && empty && k_zero && over && under));
  stage.shapes = {"aligned"};
  bool anywhere = false;
  for (const auto& one : cases_of(lab, stage)) {
    CHECK((one.extents.m % 16 == 0 && one.extents.n % 32 == 0 && one.extents.k % 8 == 0));
    // No row but the first begins at 16 bytes for certain, whatever the type.
    anywhere = anywhere || (one.pad_a % 2 != 0 && one.pad_b % 2 != 0 && one.pad_c % 2 != 0);
  }
  CHECK(anywhere);
}

TEST_CASE("deep cases pass a ring of the rung's own tiles several times") {
  Lab lab;
  lab.tile = {{"BM", 16}, {"BN", 32}, {"BK", 8}};
  lab.rungs.resize(2);
  lab.rungs[0].name = "shallow";
  lab.rungs[1].name = "deep";
  lab.rungs[1].tile = {{"BK", 64}};
  Stage stage;
  stage.shapes = {"deep"};
  for (const auto& [rung, k] :
       {std::pair{"shallow", 24 * 8 + 5}, std::pair{"deep", 24 * 64 + 33}}) {
    stage.rung = rung;
    REQUIRE(cases_of(lab, stage).size() == 1);
    CHECK(cases_of(lab, stage).front().extents.k == k);
  }
}

TEST_CASE("drawn cases: another key, other extents; within what a stage is for") {
  Lab lab;
  lab.tile = {{"BM", 16}, {"BN", 32}, {"BK", 8}};
  Stage stage;
  stage.rung = "gemm";
  stage.shapes = {"aligned", "tiny"};
  CHECK(drawn_cases(lab, stage, Key{}).empty());  // it may take whole tiles alone
  stage.shapes.push_back("ragged");
  std::set<std::string> names;
  for (unsigned char first = 0; first < 50; ++first) {
    const Key key{first};
    const auto cases = drawn_cases(lab, stage, key), again = drawn_cases(lab, stage, key);
    REQUIRE(cases.size() == 2);
    REQUIRE(again.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      names.insert(cases[i].name());
      CHECK(cases[i].name() == again[i].name());
      CHECK(cases[i].precision);
      CHECK(cases[i].one_type == (i == 1));
      CHECK_FALSE(cases[i].empty());
    }
    CHECK((cases[1].extents.m > 16 && cases[1].extents.n > 32));
    CHECK((cases[1].extents.m < 48 && cases[1].extents.n < 80));
  }
  CHECK(names.size() > 90);  // of 100
}

TEST_CASE("which call is looked at closely depends on the key and on the call") {
  CallSeeds seeds(0, Key{1});
  std::set<std::size_t> picked;
  for (int call = 0; call < 50; ++call) {
    picked.insert(seeds.pick("gemm<float>", 3));
    seeds.next("gemm<float>");
  }
  CHECK(picked == std::set<std::size_t>{0, 1, 2});
  CHECK_FALSE(CallSeeds(1).keyed());
}

TEST_CASE("inputs differ from each other and are the same every time") {
  const Case shape{{17, 17, 17}, 2, 3, 4, true};
  for (const auto type :
       {diag::ElementType::int32, diag::ElementType::float32, diag::ElementType::float64}) {
    const Inputs one = make_inputs(type, Rung{}, shape, Fill::integers, Before::poison, 1);
    const Inputs two = make_inputs(type, Rung{}, shape, Fill::integers, Before::poison, 1);
    const Inputs other = make_inputs(type, Rung{}, shape, Fill::integers, Before::poison, 2);
    CHECK(one.a.storage == two.a.storage);
    CHECK(one.a.storage != other.a.storage);
    CHECK(one.a.elements() == 16 * 19 + 17);  // exact: the last row has no padding
    bool equal = true;
    for (int i = 0; i < 17; ++i)
      for (int j = 0; j < 17; ++j) equal = equal && one.a.at(i, j) == one.b.at(i, j);
    CHECK_FALSE(equal);
  }
}

TEST_CASE("secret inputs are those of a known construction, and each call has its own") {
  // RFC 4231, test case 2: shorter keys are padded with zeros, and so is this one.
  const Key jefe = {'J', 'e', 'f', 'e'};
  const Key known = hmac_sha256(jefe, "what do ya want for nothing?");
  CHECK((known[0] == 0x5b && known[1] == 0xdc && known[30] == 0x38 && known[31] == 0x43));
  // RFC 8439, A.1, test vectors 1 and 2: the first two blocks under a key of zeros.
  ChaCha20 zeros(Key{}, 0);
  CHECK(zeros() == 0x903df1a0ade0b876u);
  for (int i = 1; i < 8; ++i) zeros();
  CHECK(zeros() == 0x7a385155bee7079fu);
  // And of a plain construction, where the eighth block ends and the ninth begins.
  for (int i = 9; i < 63; ++i) zeros();
  CHECK(zeros() == 0xdb841716171df853u);
  CHECK(zeros() == 0x7deed13cd522881cu);

  const Case shape{{17, 17, 17}, 0, 0, 0, false};
  const auto draw = [&](const DataSeed& seed) {
    return make_inputs(diag::ElementType::float32, Rung{}, shape, Fill::integers, Before::garbage,
                       seed);
  };
  CallSeeds first(1, jefe), again(1, jefe), other(1, known);
  const Inputs one = draw(first.next("f<float>")), two = draw(first.next("f<float>"));
  CHECK(one.a.storage != two.a.storage);
  CHECK(one.a.storage != one.b.storage);
  CHECK(one.a.storage == draw(again.next("f<float>")).a.storage);
  CHECK(two.a.storage != draw(again.next("g<float>")).a.storage);
  CHECK(one.a.storage != draw(other.next("f<float>")).a.storage);
  CallSeeds printed(7);
  CHECK(draw(printed.next("f<float>")).a.storage == draw(7).a.storage);
  CHECK(draw(printed.next("f<float>")).a.storage == draw(7).a.storage);
}

TEST_CASE("extremes: positive, graded and infinite data, and what is right for them") {
  const Case shape{{9, 8, 61}, 1, 2, 3, true};
  const auto type = diag::ElementType::float32;
  const auto product = [](const Inputs& in, auto add) {
    diag::Matrix c = in.c;
    for (int i = 0; i < c.rows; ++i)
      for (int j = 0; j < c.cols; ++j) {
        float sum = 0;
        for (int k = 0; k < in.a.cols; ++k)
          sum = add(static_cast<float>(in.a.at(i, k)), static_cast<float>(in.b.at(k, j)), sum);
        c.set(i, j, static_cast<double>(sum));
      }
    return c;
  };
  const auto in_fp32 = [](float x, float y, float sum) { return std::fma(x, y, sum); };
  const auto skips = [](float x, float y, float sum) {
    return std::isfinite(x) && std::isfinite(y) ? std::fma(x, y, sum) : sum;
  };
  for (const Fill fill : {Fill::positive, Fill::graded, Fill::infinite}) {
    const Inputs in = make_inputs(type, Rung{}, shape, fill, Before::poison, 4);
    double least = 1, most = 0;
    int not_finite = 0, negative = 0;
    for (const diag::Matrix* const m : {&in.a, &in.b})
      for (int i = 0; i < m->rows; ++i)
        for (int j = 0; j < m->cols; ++j) {
          const double x = m->at(i, j);
          not_finite += !std::isfinite(x);
          negative += x < 0;
          if (x != 0) least = std::min(least, std::fabs(x));
          if (std::isfinite(x)) most = std::max(most, std::fabs(x));
        }
    CHECK((not_finite > 0) == (fill == Fill::infinite));
    CHECK((negative == 0) == (fill == Fill::positive));
    CHECK((fill != Fill::graded || (least < 1e-20 && most > 1e20)));
    const diag::Matrix right = product(in, in_fp32), wrong = product(in, skips);
    CHECK(verify(Operation::product, in.a, in.b, in.c, right, fill).right);
    CHECK(verify(Operation::product, in.a, in.b, in.c, wrong, fill).right ==
          (fill != Fill::infinite));
  }
}

TEST_CASE("verification: right, wrong, beyond the row, not finite") {
  const Case shape{{5, 6, 7}, 0, 0, 3, false};
  for (const auto type :
       {diag::ElementType::int32, diag::ElementType::float32, diag::ElementType::float64}) {
    const Inputs in = make_inputs(type, Rung{}, shape, Fill::integers, Before::poison, 3);
    diag::Matrix c = in.c;
    CHECK_FALSE(verify(Operation::product, in.a, in.b, in.c, c, Fill::integers).right);
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 6; ++j) {
        double sum = 0;
        for (int k = 0; k < 7; ++k) sum += in.a.at(i, k) * in.b.at(k, j);
        c.set(i, j, sum);
      }
    CHECK(verify(Operation::product, in.a, in.b, in.c, c, Fill::integers).right);
    diag::Matrix off = c;
    off.set(4, 5, off.at(4, 5) + 1);
    CHECK_FALSE(verify(Operation::product, in.a, in.b, in.c, off, Fill::integers).right);
    diag::Matrix beyond = c;
    beyond.set(beyond.index(2, 6), 0);
    const Verification touched =
        verify(Operation::product, in.a, in.b, in.c, beyond, Fill::integers);
    CHECK_FALSE(touched.right);
    CHECK(touched.padding_touched);
    if (type == diag::ElementType::int32) continue;
    diag::Matrix nan = c;
    nan.set(0, 0, std::nan(""));
    CHECK_FALSE(verify(Operation::product, in.a, in.b, in.c, nan, Fill::zero_mean).right);
  }
}
