// Sessions that work ahead of the judge: what they find, and who goes first.
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/catch2.hpp"
#include "grader/judge/ahead.hpp"
#include "grader/os/files.hpp"
#include "grader/tests/bench.hpp"

using namespace grader;
using grader::test::fixture_source;
using grader::test::FixtureProject;
using grader::test::project_root;

namespace {

/// All that is reported but how long it took.
nlohmann::json timeless(nlohmann::json node) {
  if (node.is_object()) {
    for (const char* key : {"seconds", "build_seconds", "date"}) node.erase(key);
    for (auto& [key, value] : node.items()) value = timeless(value);
  } else if (node.is_array()) {
    for (auto& value : node) value = timeless(value);
  }
  return node;
}

nlohmann::json report(const FixtureProject& project, const std::string& jobs) {
  const RunResult run =
      project.grader({"check", "--device", "sim", "--again", "--json", "-", "--jobs", jobs});
  INFO(run.errors);
  REQUIRE(!run.timed_out);
  return timeless(nlohmann::json::parse(run.output));
}

}  // namespace

TEST_CASE("what is found ahead is what is found stage by stage", "[grade]") {
  const FixtureProject project;
  std::string toml = read_file(project.lab() / "lab.toml");
  const std::string one = "types = [\"float\"]";
  for (std::size_t at = toml.find(one); at != toml.npos; at = toml.find(one, at + 1))
    toml.replace(at, one.size(), "types = [\"float\", \"int32\", \"double\"]");
  write_file_atomically(project.lab() / "lab.toml", toml);
  const auto same = [&](const std::string& what, const std::string& source) {
    INFO(what);
    project.write_source(source);
    const nlohmann::json by_stage = report(project, "1");
    CHECK(report(project, "4") == by_stage);
    CHECK(report(project, "2") == by_stage);
    return by_stage.at("labs").at(0).at("stages");
  };
  CHECK(same("right", fixture_source("GLOBAL", ""))[0].at("state") == "passed");
  CHECK(same("wrong in one launcher", fixture_source("SECOND", "if (c.rows > 4) return;"))
            .back()
            .at("state") != "passed");
  CHECK(same("the first crashes", fixture_source("INSERT", "std::abort();"))[0].at("state") ==
        "failed");
  CHECK(same("the first leaves in one type",
             fixture_source("INSERT", "if (sizeof(In) == 8) std::exit(0);"))[0]
            .at("state") == "failed");
  CHECK(same("the first throws at a large shape",
             fixture_source("INSERT", "if (c.rows > 30) throw std::runtime_error(\"no\");"))[0]
            .at("state") == "failed");
  CHECK(same("does not compile", fixture_source("GLOBAL", "int x = ;")).size() > 0);
}

TEST_CASE("the judge gets a session before what works ahead takes it again") {
  SessionLock lock;
  std::atomic<bool> over = false;
  std::atomic<int> taken = 0;
  std::thread ahead([&] {
    while (!over) {
      const SessionLock::Held held = lock.take_for_strand();
      ++taken;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  for (int i = 0; i < 20; ++i) {
    const int before = taken;
    const SessionLock::Held held = lock.take_for_judge();
    CHECK(taken - before <= 2);  // the one that was held, and one that had begun to take it
    const int during = taken;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(taken == during);
  }
  over = true;
  ahead.join();
  CHECK(taken > 0);
}

TEST_CASE("a stage that failed is known to all, and stopping waits for what has begun") {
  StageBoard board;
  board.begin();
  std::thread strand([&] {
    board.done("float", "1.0", 2.5);
    while (!board.stopped()) std::this_thread::yield();
    board.fail("1.1");
    board.done("float", "1.1", 0);
    board.end();
  });
  CHECK(board.wait("float", "1.0") == 2.5);
  CHECK_FALSE(board.failed("1.0"));
  board.stop();
  board.wait_for_all();
  CHECK(board.failed("1.1"));
  CHECK(board.wait("float", "1.1") == 0);
  strand.join();
}
