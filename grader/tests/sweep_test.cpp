// Sweeps without a GPU: what their program says, files, resumption. What is said of curves is tested
// by sweep_sentences.py.
#include <filesystem>

#include <nlohmann/json.hpp>

#include "common/catch2.hpp"
#include "grader/author/sweep/points.hpp"
#include "grader/errors.hpp"
#include "grader/os/files.hpp"

namespace fs = std::filesystem;
using namespace grader;
using namespace grader::sweep;
using bench::Record;
using bench::Results;
using bench::Status;
using nlohmann::json;

namespace {

Record point(int x, double ms) {
  const Record open = planned(2, {{"experiment", "register tile"},
                                  {"variant", "only"},
                                  {"type", "int32"},
                                  {"n", 1024},
                                  {"x", x},
                                  {"label", ""}});
  return measured(open, {{"id", id_of(open)},
                         {"status", "measured"},
                         {"ms", ms},
                         {"ms_interval", {ms * 0.99, ms * 1.01}},
                         {"rounds", 5},
                         {"launches", 2},
                         {"naive_ms", 30.0},
                         {"registers", 40},
                         {"local_bytes", 8},
                         {"threads", 256},
                         {"blocks", 4096},
                         {"resident_blocks", 4},
                         {"occupancy", 0.5}});
}

Results sample() {
  Results r;
  r.kind = "sweep";
  r.machine = {{"gpu", "Test GPU"}, {"driver", "1.2"}, {"cuda", "13.0"},
               {"nvcc", "13.0"},    {"arch", "sm_90"}, {"multiprocessors", "132"}};
  r.provenance = {{"source_sha256", "abc"}, {"date", "2026-01-01"}};
  for (const int x : {1, 2, 4, 8, 16}) r.records.push_back(point(x, 3.28 / x));
  return r;
}

}  // namespace

TEST_CASE("sweep: results survive their file") {
  const Results before = sample();
  const std::string text = to_text(before);
  const Results after = bench::from_text(text, "test", "sweep");
  CHECK(after.machine == before.machine);
  CHECK(after.provenance == before.provenance);
  REQUIRE(after.records.size() == before.records.size());
  for (std::size_t i = 0; i < after.records.size(); ++i) {
    CHECK(id_of(after.records[i]) == id_of(before.records[i]));
    CHECK(after.records[i].point.lab == 2);
    CHECK(after.records[i].ms == before.records[i].ms);
    CHECK(after.records[i].ms_interval == before.records[i].ms_interval);
    CHECK(after.records[i].swept->local_bytes == 8);
    CHECK(after.records[i].swept->occupancy == 0.5);
  }
  CHECK(to_text(after) == text);

  SECTION("TF32 is an arithmetic of float") {
    const Record tf32 = planned(5, {{"experiment", "stages"},
                                    {"variant", "v"},
                                    {"type", "tf32"},
                                    {"n", 64},
                                    {"x", 2},
                                    {"label", ""}});
    CHECK(tf32.point.type == "float");
    CHECK(tf32.point.math() == "tf32");
    CHECK(id_of(tf32) == "stages/v/tf32/64/2");
    CHECK(tf32.point.shape == bench::Shape{64, 64, 64});
  }
  SECTION("wrong code has no time, whatever a line says") {
    const Record wrong =
        measured(before.records[0], {{"ms", 1.0}, {"status", "wrong"}, {"note", "3 rows of C"}});
    CHECK(wrong.ms == 0);
    CHECK(to_json(wrong).count("ms") == 0);
    CHECK(wrong.note == "3 rows of C");
    CHECK_FALSE(done(wrong));
  }
  SECTION("points that were not reached are not in the file") {
    Results some = before;
    some.records[1].status = Status::unavailable;
    CHECK(reached(some).records.size() == before.records.size() - 1);
  }
  SECTION("what is no results file is refused by name") {
    for (const char* bad : {"", "[]", "{\"schema\":1}", "{\"schema\":2,\"kind\":\"sweep\"}"})
      CHECK_THROWS_AS(bench::from_text(bad, "odd.json", "sweep"), UserError);
    CHECK_THROWS_AS(bench::from_text(text, "odd.json", "bench"), UserError);
  }
}

TEST_CASE("sweep: what is done is not measured again") {
  const Results before = sample();
  std::vector<Record> plan = before.records;
  for (Record& p : plan) p.status = Status::unavailable;
  std::vector<Record> known = before.records;
  known[2].status = Status::failed;                                   // to be tried again
  known[3].status = Status::skipped, known[3].note = "needs Hopper";  // not here
  known.erase(known.begin());                                         // not reached
  const auto open = merge(plan, known);
  CHECK(open == std::vector<std::string>{id_of(before.records[0]), id_of(before.records[2])});
  CHECK(plan[1].ms == before.records[1].ms);
  CHECK(plan[3].note == "needs Hopper");
  CHECK(plan[2].status == Status::unavailable);

  SECTION("another GPU, driver, compiler or source is another measurement") {
    for (const char* name : {"gpu", "driver", "cuda", "nvcc", "arch"}) {
      Results other = before;
      other.machine[name] = "another";
      CHECK(identity(other) != identity(before));
    }
    Results later = before;
    later.provenance["date"] = "2027-01-01";
    CHECK(identity(later) == identity(before));
    later.provenance["source_sha256"] = "another";
    CHECK(identity(later) != identity(before));
  }
}

TEST_CASE("the committed results are whole") {
  for (const char* name : {"bench", "speed-proof", "sweep-lab1", "sweep-lab2", "sweep-lab3",
                           "sweep-lab4", "sweep-lab5"}) {
    const fs::path file = fs::path("docs/results/h200") / (std::string(name) + ".json");
    if (!fs::exists(file)) continue;  // a student's copy has what its pages need
    INFO(file.string());
    CHECK(fs::file_size(file) < 1u << 20);
    const std::string text = read_file(file), kind = std::string(name).substr(0, 5);
    const Results results = bench::from_text(text, file.string(),
                                             kind == "sweep"   ? "sweep"
                                             : kind == "speed" ? "speed-proof"
                                                               : name);
    const bool same = to_text(results) == text;  // read and written, nothing is lost
    CHECK(same);
    CHECK(results.machine.count("gpu") == 1);
    CHECK(results.provenance.count("protocol") == 1);
    REQUIRE(!results.records.empty());
    for (const Record& r : results.records) {
      if (r.status != Status::measured) continue;
      const bool right =
          r.ms > 0 &&
          (!r.ms_interval || (r.ms_interval->first <= r.ms && r.ms <= r.ms_interval->second));
      if (!right) FAIL(to_json(r).dump());
      if (r.swept && r.swept->registers <= 0) FAIL(to_json(r).dump());
    }
  }
}
