// Sweeps without a GPU: what is said of recorded and of awkward curves, files, resumption, tables.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <nlohmann/json.hpp>

#include "common/catch2.hpp"
#include "grader/errors.hpp"
#include "grader/os/files.hpp"
#include "grader/os/scratch.hpp"
#include "grader/report/text.hpp"
#include "grader/sweep/record.hpp"
#include "grader/sweep/sentences.hpp"
#include "grader/sweep/table.hpp"

namespace fs = std::filesystem;
using namespace grader;
using namespace grader::sweep;

namespace {

Point point(const std::string& experiment, int n, int x, double ms) {
  Point p;
  p.experiment = experiment, p.variant = "only", p.type = "int32", p.n = n, p.x = x;
  p.id = experiment + "/only/int32/" + std::to_string(n) + "/" + std::to_string(x);
  if (ms > 0) p.ms = ms, p.low = ms * 0.99, p.high = ms * 1.01, p.samples = 5, p.launches = 2;
  p.threads = 256, p.blocks = 4096, p.registers = 40, p.resident_blocks = 4, p.occupancy = 0.5;
  return p;
}

std::vector<Point> curve(const std::string& experiment, int n, const std::vector<int>& xs,
                         const std::vector<double>& times) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < xs.size(); ++i)
    points.push_back(point(experiment, n, xs[i], times[i]));
  return points;
}

/// The register tile of the first course report (n = 1024), with resources as such a kernel has.
std::vector<Point> register_tile() {
  auto points = curve("register tile", 1024, {1, 2, 4, 8, 16, 32, 64},
                      {3.28, 2.27, 2.11, 2.08, 7.37, 25.8, 83.6});
  const int registers[] = {24, 32, 48, 128, 255, 255, 255};
  const int local[] = {0, 0, 0, 0, 640, 4096, 16384};
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].registers = registers[i], points[i].local_bytes = local[i];
    points[i].occupancy = registers[i] > 200 ? 0.125 : registers[i] > 100 ? 0.25 : 1;
  }
  return points;
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

Results sample() {
  Results r;
  r.lab = 2;
  r.multiprocessors = 132;
  r.provenance = {{"gpu", "Test GPU"}, {"driver", "1.2"}, {"cuda", "13.0"},      {"nvcc", "13.0"},
                  {"sources", "abc"},  {"arch", "sm_90"}, {"date", "2026-01-01"}};
  r.points = register_tile();
  return r;
}

std::size_t widest(const std::vector<std::string>& lines) {
  std::size_t most = 0;
  for (const auto& line : lines) most = std::max(most, report::width(line));
  return most;
}

}  // namespace

TEST_CASE("sweep: the minimum of a recorded curve, and what turns there") {
  const auto points = register_tile();
  CHECK(minimum_sentence(points) ==
        "With n = 1024 the minimum lies at TILE 4 to 8, too close to tell apart: 2.08 ms at 1024.");
  CHECK(turn_sentence(points, 132) ==
        "At n = 1024, from TILE 1 to 8 the time falls to 63 %: occupancy 100 -> 25 %; registers 24 "
        "-> 128. At n = 1024, from TILE 8 to 16 it rises to 354 %: local memory 0 -> 640 bytes per "
        "thread; occupancy 25 -> 12.5 %; registers 128 -> 255.");
}

TEST_CASE("sweep: sizes of which the same is said are named together") {
  // The naive kernel of the fifth report, n = 256, 512, 1024.
  auto points = curve("side", 256, {1, 2, 4, 8, 16, 32}, {565, 136, 54.9, 31.7, 26.7, 23.9});
  for (const Point& p : curve("side", 512, {1, 2, 4, 8, 16, 32}, {4440, 1137, 441, 235, 158, 177}))
    points.push_back(p);
  for (const Point& p :
       curve("side", 1024, {1, 2, 4, 8, 16, 32}, {35.4, 9.01, 3.43, 1.77, 1.23, 1.13}))
    points.push_back(p);
  for (Point& p : points) p.threads = p.x * p.x;
  const std::string said = minimum_sentence(points);
  has(said,
      "With n = 256, 1024 the minimum lies at side 32, the end of the sweep: 1.13 ms at 1024.");
  has(said, "With n = 512 the minimum lies at side 16: 158 ms at 512.");
  has(turn_sentence(points, 132), "lanes at work in a warp 1 -> 32");
}

TEST_CASE("sweep: awkward curves") {
  SECTION("flat") {
    const auto points = curve("carve-out", 512, {0, 25, 50}, {1.00, 1.01, 1.02});
    CHECK(minimum_sentence(points) == "With n = 512 the curve is flat: all times lie within 2 %.");
    CHECK(turn_sentence(points, 132) ==
          "Nothing turns: no choice makes a difference of more than 3 %.");
  }
  SECTION("minimum at the first point: nothing before it, the rise is explained") {
    auto points = curve("padding", 512, {0, 1, 2}, {1, 2, 4});
    points[1].wavefronts = 8, points[0].wavefronts = 1;
    has(minimum_sentence(points), "at padding 0, the end of the sweep");
    const std::string turn = turn_sentence(points, 132);
    has(turn, "from padding 0 to 1 it rises to 200 %: wavefronts per shared request 1 -> 8");
    CHECK(turn.find("falls") == std::string::npos);
  }
  SECTION("minimum at the last point: nothing beyond it") {
    const auto points = curve("side", 512, {1, 2, 4}, {4, 2, 1});
    has(minimum_sentence(points), "at side 4, the end of the sweep");
    const std::string turn = turn_sentence(points, 132);
    has(turn, "from side 1 to 4 the time falls to 25 %");
    CHECK(turn.find("rises") == std::string::npos);
  }
  SECTION("no counted resource explains it: no reason is made up") {
    auto points = curve("side", 512, {1, 2}, {2, 1});
    has(turn_sentence(points, 132),
        "registers, spills and occupancy are the same, so it is how memory is accessed");
    for (Point& p : points) p.wavefronts = 4;
    has(turn_sentence(points, 132),
        "registers, spills, occupancy and wavefronts are the same, so none of them is the reason");
  }
  SECTION("what is swept is a reason of its own") {
    has(turn_sentence(curve("stages", 512, {2, 3, 4}, {3, 2, 1}), 132),
        "from stages 2 to 4 the time falls to 33 %: tiles on their way while one is multiplied "
        "1 -> 3.");
    auto points = curve("tile shape", 4096, {0, 1}, {2, 1});
    points[0].blocks = 4096, points[1].blocks = 512;
    points[0].label = "64 x 64", points[1].label = "128 x 256";
    CHECK(turn_sentence(points, 132) ==
          "At n = 4096 128 x 256 takes 50 % of the time of 64 x 64: elements of C per block "
          "4096 -> 32768.");
  }
  SECTION("missing points are not zeros") {
    auto points = curve("side", 512, {1, 2, 4, 8}, {4, 0, 1, 2});
    points[1].error = "wrong result";
    has(minimum_sentence(points), "at side 4: 1 ms");
    has(turn_sentence(points, 132), "from side 1 to 4");
  }
  SECTION("too few points") {
    CHECK(minimum_sentence(curve("side", 512, {1, 2}, {1, 0})) ==
          "With n = 512 there are too few times for a minimum.");
    CHECK(turn_sentence(curve("side", 512, {1, 2}, {1, 0}), 132).empty());
    CHECK(minimum_sentence({}).empty());
  }
  SECTION("nothing measured: no sentences") {
    Results results = sample();
    for (Point& p : results.points) p.ms.reset(), p.error = "wrong result";
    CHECK(sentences(results).empty());
  }
  SECTION("two minima: the lower one, and its own neighbours") {
    const auto points = curve("side", 512, {1, 2, 4, 8, 16}, {2, 1, 3, 0.9, 3});
    has(minimum_sentence(points), "at side 8: 0.9 ms");
    has(turn_sentence(points, 132), "from side 4 to 8 the time falls to 30 %");
  }
  SECTION("the order of the points does not matter") {
    auto points = register_tile();
    const std::string minimum = minimum_sentence(points), turn = turn_sentence(points, 132);
    std::reverse(points.begin(), points.end());
    CHECK(minimum_sentence(points) == minimum);
    CHECK(turn_sentence(points, 132) == turn);
  }
}

TEST_CASE("sweep: choices have no end and no direction") {
  auto points = curve("packing", 1024, {0, 1, 2}, {2, 1, 3});
  points[0].label = "none", points[1].label = "A", points[2].label = "B";
  CHECK(minimum_sentence(points) == "With n = 1024 the minimum lies at packed A: 1 ms at 1024.");
  has(turn_sentence(points, 132), "At n = 1024 A takes 33 % of the time of B:");
}

TEST_CASE("sweep: which tile wins at which size") {
  Results results = sample();
  results.points.clear();
  const auto add = [&](const char* variant, int n, double ms, long long blocks) {
    Point p = point("size", n, n, ms);
    p.variant = variant, p.blocks = blocks;
    results.points.push_back(p);
  };
  add("small", 256, 1, 64), add("large", 256, 3, 4);
  add("small", 512, 5, 256), add("large", 512, 4.95, 16);  // within what is called the same
  add("small", 1024, 9, 1024), add("large", 1024, 6, 64);
  const auto said = sentences(results);
  REQUIRE(said.size() == 1);
  CHECK(said[0].minimum == "The fastest tile: small from n = 256 to 512; large at n = 1024.");
  CHECK(said[0].turn ==
        "At n = 1024, small -> large (67 % of the time): blocks 1024 -> 64 for 132 "
        "multiprocessors.");
}

TEST_CASE("sweep: results survive their file") {
  const Results before = sample();
  const std::string text = to_json_text(before);
  const Results after = results_from(text, "test");
  CHECK(after.lab == before.lab);
  CHECK(after.provenance == before.provenance);
  CHECK(after.multiprocessors == 132);
  REQUIRE(after.points.size() == before.points.size());
  for (std::size_t i = 0; i < after.points.size(); ++i) {
    CHECK(after.points[i].id == before.points[i].id);
    CHECK(after.points[i].ms == before.points[i].ms);
    CHECK(after.points[i].local_bytes == before.points[i].local_bytes);
    CHECK(after.points[i].occupancy == Approx(before.points[i].occupancy));
  }
  CHECK(to_json_text(after) == text);
  CHECK(nlohmann::json::parse(text).at("sentences").size() == 1);

  SECTION("wrong code has no time, whatever a file says") {
    nlohmann::json one = to_json(before.points[0]);
    REQUIRE(one.contains("ms"));
    one["error"] = "wrong result";
    CHECK_FALSE(point_from(one).ms);
  }
  SECTION("what is no results file is refused by name") {
    for (const char* bad : {"", "[]", "{\"schema\":2}", "{\"schema\":1,\"lab\":1}"})
      CHECK_THROWS_AS(results_from(bad, "odd.json"), UserError);
  }
  SECTION("CSV has a line per point and as many cells in each") {
    Results results = before;
    results.points[1].ms.reset(), results.points[1].error = "wrong, \"very\"";
    std::istringstream lines(to_csv(results));
    std::size_t count = 0, commas = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      std::size_t here = 0;
      bool inside = false;
      for (const char c : line) {
        if (c == '"') inside = !inside;
        if (c == ',' && !inside) ++here;
      }
      if (count == 0) commas = here;
      CHECK(here == commas);
    }
    CHECK(count == results.points.size() + 1);
  }
}

TEST_CASE("sweep: what is done is not measured again") {
  const Results before = sample();
  std::vector<Point> plan = before.points;
  for (Point& p : plan) p.ms.reset(), p.threads = 0;
  std::vector<Point> known = before.points;
  known[2].ms.reset(), known[2].error = "wrong result";    // to be tried again
  known[3].ms.reset(), known[3].skipped = "needs Hopper";  // not here
  known.erase(known.begin());                              // not reached
  const auto open = merge(plan, known);
  CHECK(open == std::vector<std::string>{before.points[0].id, before.points[2].id});
  CHECK(plan[1].ms == before.points[1].ms);
  CHECK(plan[3].skipped == "needs Hopper");
  CHECK_FALSE(plan[2].ms);

  SECTION("another GPU, driver, compiler or source is another measurement") {
    for (const char* name : {"gpu", "driver", "cuda", "nvcc", "sources", "arch"}) {
      Results other = before;
      other.provenance[name] = "another";
      CHECK(other.identity() != before.identity());
    }
    Results later = before;
    later.provenance["date"] = "2027-01-01";
    CHECK(later.identity() == before.identity());
  }
}

TEST_CASE("sweep: tables fit 80 columns, and mark each minimum") {
  Results results = sample();
  for (const int n : {2048, 4096, 8192, 16384})
    for (Point p : register_tile()) {
      p.n = n, *p.ms *= n, p.naive_ms = 123456.789, p.cublas_ms = 0.00123, p.local_bytes = 123456;
      p.variant = "only";
      results.points.push_back(p);
    }
  const auto lines = tables(results);
  CHECK(widest(lines) <= 80);
  Results modelled = results;
  for (Point& p : modelled.points) p.wavefronts = 32;
  CHECK(widest(tables(modelled)) <= 80);
  const auto starred = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.rfind("8 ", 0) == 0 && std::count(line.begin(), line.end(), '*') == 5;
  });
  CHECK(starred == 1);
  Results wrong = sample();
  wrong.points[0].ms.reset(), wrong.points[0].error = "wrong result";
  const auto shown = tables(wrong);
  CHECK(std::any_of(shown.begin(), shown.end(), [](const std::string& line) {
    return line.rfind("1 ", 0) == 0 && line.find("wrong") != std::string::npos;
  }));
}

TEST_CASE("sweep: the committed results are whole") {
  int files = 0;
  for (int lab = 1; lab <= 5; ++lab) {
    const fs::path file = "docs/results/h200/sweep-lab" + std::to_string(lab) + ".json";
    if (!fs::exists(file)) continue;
    ++files;
    INFO(file.string());
    CHECK(fs::file_size(file) < 1u << 20);
    const Results results = read_results(file);
    CHECK(results.lab == lab);
    for (const char* name : {"gpu", "driver", "cuda", "nvcc", "cublas", "sm_clock", "date",
                             "commit", "command", "sources"})
      CHECK(results.provenance.count(name) == 1);
    for (const Point& p : results.points) {
      INFO(p.id);
      CHECK(p.error.empty());
      if (!p.ms) continue;
      CHECK(*p.ms > 0);
      CHECK(p.low <= *p.ms);
      CHECK(*p.ms <= p.high);
      CHECK(p.registers > 0);
    }
    CHECK(widest(tables(results)) <= 80);
    // The sentences in the file are those of this code and these points.
    const bool same = to_json_text(results) == read_file(file);
    CHECK(same);
  }
  CHECK(files > 0);
}
