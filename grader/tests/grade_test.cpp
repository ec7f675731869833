// make grade: a small class, killed and started again, with neighbours of every kind.
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "common/catch2.hpp"
#include "grader/errors.hpp"
#include "grader/os/files.hpp"
#include "grader/os/zip.hpp"
#include "grader/tests/bench.hpp"
#include "grader/version.hpp"

namespace fs = std::filesystem;
using grader::test::fixture_source;

namespace {

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// student -> line of grades.csv
std::map<std::string, std::string> rows(const fs::path& csv) {
  std::map<std::string, std::string> result;
  std::istringstream stream(grader::read_file(csv));
  for (std::string line; std::getline(stream, line);) result[line.substr(0, line.find(','))] = line;
  return result;
}

/// Results that are there in full, with their times.
std::map<fs::path, fs::file_time_type> finished(const fs::path& out) {
  std::map<fs::path, fs::file_time_type> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(out / "results", none))
    if (entry.path().extension() == ".json") found[entry.path()] = entry.last_write_time();
  return found;
}

void hand_in(const fs::path& in) {
  put(in / "ann/lab6/gemm.cu", fixture_source("INSERT", ""));
  put(in / "bob.zip",
      grader::zip::write({{"lab6_fixture/gemm.cu", fixture_source("INSERT", "return;")}}));
  put(in / "cleo/lab6/gemm.cu", fixture_source("INSERT", "std::abort();"));
  put(in / "dan/essay.txt", "no code");
  put(in / "eve/lab6/gemm.cu", fixture_source("GLOBAL", "this is no C++"));
  put(in / "=1+1/lab6/gemm.cu", fixture_source("INSERT", ""));
  put(in / "notes.txt", "");
}

}  // namespace

TEST_CASE("where results may go") {
  const grader::test::FixtureProject project;
  const fs::path in = project.root() / "in", out = project.root() / "out";
  put(in / "ann/lab6/gemm.cu", fixture_source("INSERT", ""));
  const auto collected = [&](const fs::path& folder) {
    return project.grade({in.string(), "--collect", "--out", folder.string()});
  };
  const auto refused = [&](const fs::path& folder, const std::string& words) {
    const grader::RunResult ran = collected(folder);
    INFO(ran.errors);
    return WEXITSTATUS(ran.status) != 0 && ran.errors.find(words) != std::string::npos;
  };
  CHECK(refused(in, "lies in the folder of submissions"));
  CHECK(refused(in / "new/grades", "lies in the folder of submissions"));
  CHECK_FALSE(fs::exists(in / "new"));
  put(project.root() / "file", "");
  CHECK(refused(project.root() / "file", "file: Not a directory. Make that possible"));
  CHECK(refused("/proc/nowhere", "cannot write to OUT=/proc/nowhere: "));
  fs::create_directories(project.root() / "input");  // begins alike, and is another
  CHECK(WEXITSTATUS(collected(project.root() / "input").status) == 0);
  // A new folder is nobody else's business, an older one is left as it is.
  CHECK(WEXITSTATUS(collected(out).status) == 0);
  CHECK(fs::status(out).permissions() == fs::perms::owner_all);
  fs::permissions(out, fs::perms(0750));
  CHECK(WEXITSTATUS(collected(out).status) == 0);
  CHECK(fs::status(out).permissions() == fs::perms(0750));
}

TEST_CASE("a class is graded, and a restart repeats nothing") {
  const grader::test::FixtureProject project;
  const fs::path in = project.root() / "in", out = project.root() / "out";
  hand_in(in);

  {
    // Killed as soon as there is one result.
    grader::ProcessSpec spec;
    spec.argv = {(grader::test::build_folder() / "bin/grade").string(),
                 "--root",
                 project.root().string(),
                 "--build",
                 (project.root() / "build").string(),
                 in.string(),
                 "--out",
                 out.string(),
                 "--jobs",
                 "1"};
    spec.environment = grader::minimal_environment();
    grader::Process first(spec);
    for (int i = 0; i < 1200 && finished(out).empty(); ++i)
      first.wait(std::chrono::milliseconds(50));
    first.kill();
  }
  const auto before = finished(out);
  REQUIRE_FALSE(before.empty());
  REQUIRE(before.size() < 6);

  const auto again = project.grade({in.string(), "--out", out.string(), "--jobs", "2"});
  INFO(again.output << again.errors);
  REQUIRE(WIFEXITED(again.status));
  CHECK(WEXITSTATUS(again.status) == grader::exit_ok);
  for (const auto& [path, time] : before) CHECK(fs::last_write_time(path) == time);
  CHECK(again.output.find("protection: boxed") != std::string::npos);
  CHECK(again.output.find("ignored: notes.txt") != std::string::npos);

  const auto table = rows(out / "grades.csv");
  CHECK(table.at("ann").rfind("ann,GRADED,7,2,3,4,2,", 0) == 0);
  CHECK(table.at("bob").rfind("bob,GRADED,4,0,0,4,0,", 0) == 0);
  CHECK(table.at("cleo").rfind("cleo,GRADED,4,0,0,4,0,", 0) == 0);
  CHECK(table.at("dan").rfind("dan,NO_SUBMISSION,0,0,0,0,0,", 0) == 0);
  CHECK(table.at("eve").rfind("eve,GRADED,0,0,0,0,0,", 0) == 0);
  CHECK(table.at("eve").find("does not compile") != std::string::npos);
  CHECK(table.at("\"'=1+1\"").find("GRADED,7,2") != std::string::npos);

  const auto document = nlohmann::json::parse(grader::read_file(out / "grades.json"));
  CHECK(document.at("schema") == 1);
  CHECK(document.at("version") == grader::version());
  CHECK(document.at("protection").get<std::string>().rfind("boxed", 0) == 0);
  CHECK(document.at("possible") == 7);
  REQUIRE(document.at("students").size() == 6);
  // Nobody else may read what the inputs come from, and no report holds it.
  CHECK((fs::status(out / "secret").permissions() & fs::perms(0077)) == fs::perms::none);
  for (const auto& [path, time] : finished(out))
    CHECK(nlohmann::json::parse(grader::read_file(path)).value("seed", nlohmann::json()).is_null());
  for (const auto& student : document.at("students"))
    CHECK(fs::exists(out / student.at("result").get<std::string>()));

  SECTION("a changed submission is graded again, the others are not") {
    put(in / "bob/unused", "");
    fs::remove_all(in / "bob");
    fs::remove(in / "bob.zip");
    put(in / "bob/lab6/gemm.cu", fixture_source("INSERT", ""));
    const auto third = project.grade({in.string(), "--out", out.string()});
    CHECK(WEXITSTATUS(third.status) == grader::exit_ok);
    CHECK(rows(out / "grades.csv").at("bob").rfind("bob,GRADED,7,2,", 0) == 0);
    std::size_t kept = 0;
    for (std::size_t at = third.errors.find("kept from before"); at != std::string::npos;
         at = third.errors.find("kept from before", at + 1))
      ++kept;
    CHECK(kept == 5);
  }
}

TEST_CASE("an unusable folder of submissions is one clear error") {
  const grader::test::FixtureProject project;
  const auto missing = project.grade({(project.root() / "nothing").string()});
  CHECK(WEXITSTATUS(missing.status) == grader::exit_usage);
  CHECK(missing.errors.find("no such folder") != std::string::npos);
  fs::create_directories(project.root() / "empty");
  const auto empty = project.grade({(project.root() / "empty").string()});
  CHECK(WEXITSTATUS(empty.status) == grader::exit_usage);
}
