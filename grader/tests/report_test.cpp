// One model, three views.
#include <cstdlib>
#include <limits>
#include <regex>
#include <sstream>

#include <nlohmann/json.hpp>

#include "common/catch2.hpp"
#include "grader/report/render.hpp"
#include "grader/report/text.hpp"
#include "grader/version.hpp"

using namespace grader::report;
using grader::BuildStatus;
using grader::Verdict;

namespace {

Report sample() {
  Report report;
  report.device = "sim";
  report.device_note = "no CUDA device";
  report.compiler = "clang 14.0.6";
  report.seed = 7;
  LabResult lab;
  lab.id = 3;
  lab.name = "lab3_shared_mem";
  lab.title = "Tiles";
  lab.file = "lab3_shared_mem/gemm.cu";
  lab.build = BuildStatus::built;
  StageResult passed;
  passed.id = "3.1", passed.title = "Fetch a tile together", passed.state = State::passed,
  passed.verdict = Verdict::accepted;
  passed.headline = "right for 24 shapes", passed.points = passed.earned = 10,
  passed.assertions = passed.passed_assertions = 72;
  StageResult failed;
  failed.id = "3.2", failed.title = "Two barriers, any K", failed.state = State::failed,
  failed.verdict = Verdict::wrong_answer;
  failed.diagnosis = "K-TILE-MISSING", failed.shape = "131×129×127", failed.type = "float",
  failed.points = 10;
  failed.headline = "k-tile 15 (k = 120..126) is missing from the sum: the last, partial one";
  failed.details = {"first wrong element: C[0][0] = 3, expected 5"};
  failed.next_step = "How many k-tiles are there? (K + BK - 1) / BK, the last one may be partial.";
  failed.file = lab.file, failed.line = 38;
  StageResult locked;
  locked.id = "3.3", locked.title = "Registers over shared memory", locked.state = State::locked,
  locked.verdict = Verdict::locked;
  locked.headline = "locked: needs 3.2", locked.points = 15;
  lab.stages = {passed, failed, locked};
  report.labs = {lab};
  report.next = next_command(report, {1, 2, 3});
  return report;
}

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) most = std::max(most, width(line));
  return most;
}

/// Sets a variable for the length of a scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, had_ = true;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() { had_ ? ::setenv(name_, old_.c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

}  // namespace

TEST_CASE("the terminal's view") {
  CHECK(human(sample(), false) ==
        "gemm-lab check · lab3_shared_mem · sim (no CUDA device) · clang 14.0.6\n"
        "\n"
        "stage                            result      detail\n"
        "3.1 Fetch a tile together        ok          right for 24 shapes\n"
        "3.2 Two barriers, any K          FAIL        K-TILE-MISSING\n"
        "3.3 Registers over shared memory locked      needs 3.2\n"
        "\n"
        "  3.2  k-tile 15 (k = 120..126) is missing from the sum: the last, partial one\n"
        "       at 131×129×127 in float, lab3_shared_mem/gemm.cu:38\n"
        "       first wrong element: C[0][0] = 3, expected 5\n"
        "       How many k-tiles are there? (K + BK - 1) / BK, the last one may be\n"
        "       partial.\n"
        "\n"
        "1 of 3 stages done · score 10/35 points\n"
        "next: make hint STAGE=3.2\n");
}

TEST_CASE("the table of goals shows those that are missed, and all if asked") {
  Report report = sample();
  auto& stage = report.labs[0].stages[1];
  stage.verdict = Verdict::goal_missed;
  stage.goals = {{"a", "met goal", "float", {1, 2, 3}, 1, 2, true, false, ""},
                 {"b", "missed goal", "float", {1, 2, 3}, 3, 2, false, false, "NO-REUSE"}};
  CHECK(human(report, false).find("missed goal") != std::string::npos);
  CHECK(human(report, false).find("met goal") == std::string::npos);
  CHECK(human(report, false, true).find("met goal") != std::string::npos);
}

TEST_CASE("what does not build has no table of stages and no score") {
  Report report = sample();
  report.labs[0].build = BuildStatus::compile_error;
  for (auto& stage : report.labs[0].stages)
    stage.state = State::failed, stage.verdict = Verdict::compile_error;
  const std::string shown = human(report, false);
  CHECK(shown.find("not graded: the code does not build") != std::string::npos);
  CHECK(shown.find("score") == std::string::npos);
  CHECK(shown.find("3.2 Two barriers") == std::string::npos);
}

TEST_CASE("colour is added to words, never instead of them") {
  std::string coloured = human(sample(), true), plain;
  CHECK(coloured.find("\x1b[") != std::string::npos);
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\x1b')
      i = coloured.find('m', i);
    else
      plain += coloured[i];
  }
  CHECK(plain == human(sample(), false));
  CHECK(human(sample(), false).find('\x1b') == std::string::npos);
}

TEST_CASE("the terminal's view keeps to 80 columns whatever it is told") {
  Report report = sample();
  auto& stage = report.labs[0].stages[1];
  stage.headline = std::string(300, 'x') + " " + std::string(100, 'y');
  stage.details.assign(3, "words " + std::string(500, 'z') + " and more words that go on");
  stage.notes = {std::string(200, 'n')};
  stage.printed = std::string(1000, 'p');
  stage.goals = {{"key",
                  std::string(90, 'w'),
                  "double",
                  {256, 256, 256},
                  1e9,
                  5e8,
                  false,
                  false,
                  "UNCOALESCED"}};
  stage.verdict = Verdict::goal_missed;
  CHECK(widest(human(report, false)) <= 80);
}

TEST_CASE("what colour depends on") {
  const Variable term("TERM", "xterm");
  {
    const Variable no("NO_COLOR", "1"), force("CLICOLOR_FORCE", "1");
    CHECK_FALSE(use_colour(1));  // NO_COLOR beats CLICOLOR_FORCE
  }
  const Variable no("NO_COLOR", nullptr);
  {
    const Variable force("CLICOLOR_FORCE", "1"), dumb("TERM", "dumb");
    CHECK(use_colour(-1));  // CLICOLOR_FORCE beats "no terminal" and TERM=dumb
  }
  const Variable force("CLICOLOR_FORCE", nullptr);
  CHECK_FALSE(use_colour(-1));
}

TEST_CASE("exit codes and the next command") {
  Report report = sample();
  CHECK(exit_code(report) == grader::exit_failed);
  CHECK(report.next == "make hint STAGE=3.2");
  auto& lab = report.labs[0];
  for (auto& stage : lab.stages) stage.state = State::passed;
  CHECK(exit_code(report) == grader::exit_ok);
  CHECK(next_command(report, {1, 2, 3}) == "make submit");
  CHECK(next_command(report, {1, 2, 3, 4}) == "make check LAB=4");
  lab.stages[2].state = State::not_started;
  lab.stages[2].bonus = true;
  CHECK(exit_code(report) == grader::exit_ok);  // a bonus that nobody has begun is no failure
  CHECK(next_command(report, {3, 4}) ==
        "make check LAB=4");  // an untouched bonus does not stand in the way
  lab.stages[2].bonus = false;
  lab.stages[2].file = "lab3_shared_mem/gemm.cu", lab.stages[2].line = 31;
  CHECK(exit_code(report) == grader::exit_failed);
  CHECK(next_command(report, {3, 4}) ==
        "write TODO(3.3) in lab3_shared_mem/gemm.cu:31, then make check LAB=3");
  lab.build = BuildStatus::compile_error;
  CHECK(exit_code(report) == grader::exit_build);
  CHECK(next_command(report, {3, 4}) == "make check LAB=3");
  lab.stages[0].state = State::infra;
  CHECK(exit_code(report) == grader::exit_infrastructure);
}

TEST_CASE("JSON can be read back, odd bytes and infinities included") {
  Report report = sample();
  auto& stage = report.labs[0].stages[1];
  stage.printed = "not UTF-8: \xff\xfe, NUL: " + std::string(1, '\0') + ", quote \"";
  stage.goals = {{"k",
                  "w",
                  "float",
                  {1, 2, 3},
                  std::numeric_limits<double>::infinity(),
                  std::nan(""),
                  false,
                  false,
                  "GOAL"}};
  stage.counted = {"lab3_shared_mem/gemm.cu", "float", {1, 2, 3}, {{31, 9, 8, 4, 2, 1}}};
  const auto document = nlohmann::json::parse(json(report));
  CHECK(document["schema"] == Report::schema);
  CHECK(document["version"] == grader::version());
  CHECK(std::regex_match(grader::version(), std::regex(R"(\d+\.\d+\.\d+)")));
  CHECK(document["exit_code"] == 1);
  CHECK(document["score"]["earned"] == 10);
  CHECK(document["score"]["possible"] == 35);
  const auto& read = document["labs"][0]["stages"][1];
  CHECK(read["diagnosis"] == "K-TILE-MISSING");
  CHECK(read["state"] == "failed");
  CHECK(read["goals"][0]["measured"].is_null());
  CHECK(read["goals"][0]["finite"] == false);
  CHECK(read["counted"]["at"] == nlohmann::json({1, 2, 3}));
  CHECK(read["counted"]["lines"] == nlohmann::json({{31, 9, 8, 4, 2, 1}}));
  CHECK(!document["labs"][0]["stages"][0].contains("counted"));
}

TEST_CASE("JUnit: wrong is a failure, our fault an error, locked is skipped") {
  Report report = sample();
  report.labs[0].stages[1].headline = "a < b && \"c\" \x1b[31m";
  report.labs[0].stages[0].state = State::infra;
  const std::string xml = junit(report);
  CHECK(xml.find("<property name=\"version\" value=\"" + grader::version() + "\"/>") !=
        std::string::npos);
  CHECK(xml.find("<testsuite name=\"lab3_shared_mem\" tests=\"3\" failures=\"1\" errors=\"1\" "
                 "skipped=\"1\"") != std::string::npos);
  CHECK(xml.find("message=\"a &lt; b &amp;&amp; &quot;c&quot; [31m\" type=\"K-TILE-MISSING\"") !=
        std::string::npos);
  CHECK(xml.find('\x1b') == std::string::npos);
  CHECK(xml.find("file=\"lab3_shared_mem/gemm.cu\" line=\"38\"") != std::string::npos);
}

TEST_CASE("text is measured and cut in characters, not bytes") {
  CHECK(width("131×129") == 7);
  CHECK(fit("131×129×127", 8) == "131×1...");
  CHECK(pad("×", 3) == "×  ");
  CHECK(wrap("goal 1 225 523 here", 10) == std::vector<std::string>{"goal", "1 225 523", "here"});
  CHECK(wrap("1 225 523", 4) == std::vector<std::string>{"1 22", "5 52", "3"});
  CHECK(wrap("lines 71 and 96", 8) == std::vector<std::string>{"lines 71", "and 96"});
  CHECK(wrap("aaa bbb ccc", 7) == std::vector<std::string>{"aaa bbb", "ccc"});
  CHECK(wrap("abcdefghij", 4) == std::vector<std::string>{"abcd", "efgh", "ij"});
  CHECK(wrap("  kept   as is", 20) == std::vector<std::string>{"  kept   as is"});
  CHECK(number(1234567) == "1 234 567");
  CHECK(number(12.5) == "12.50");
  CHECK(number(999) == "999");
  CHECK(number(-1000) == "-1 000");
}
