// The loop, the file and the tables of `make bench`, with a simulated GPU that has rates of our
// choice.
#include "common/catch2.hpp"
#include "common/tests/matchers.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "grader/bench/cpu.hpp"
#include "grader/bench/predictions.hpp"
#include "grader/bench/run.hpp"
#include "grader/bench/table.hpp"
#include "grader/commands/common.hpp"
#include "grader/errors.hpp"
#include "grader/os/files.hpp"
#include "grader/report/text.hpp"

namespace {

using namespace grader;
using namespace grader::bench;

struct Killed {};

/// Rates by rung; counts what is asked of it, and dies after so many points.
class FakeMeter : public Meter {
 public:
  std::map<std::string, double> tflops;
  std::map<std::string, std::string> hashes;
  std::set<std::string> wrong, missing;
  double cublas_tflops = 50, naive_tflops = 5;
  int most = -1, measured = 0, asked_yardsticks = 0;
  std::map<std::string, std::vector<double>> spreads;  ///< by rung, of the attempts to come

  std::string source_sha256(const Point& point) override {
    const auto found = hashes.find(point.lab_name);
    return found == hashes.end() ? "hash" : found->second;
  }
  std::string source(const Point& point) override { return point.lab_name + "/gemm.cu"; }
  std::optional<Record> not_measurable(const Point& point) override {
    if (!missing.count(point.rung)) return {};
    Record record;
    record.note = "needs another GPU";
    return record;
  }
  Yardsticks yardsticks(const std::string& math, const Shape& shape) override {
    ++asked_yardsticks;
    Yardsticks y;
    y.math = math;
    y.shape = shape;
    y.status = Status::measured;
    y.naive_ms = shape.flops() / naive_tflops * 1e-9;
    if (math != "int32" && cublas_tflops > 0) y.cublas_ms = shape.flops() / cublas_tflops * 1e-9;
    return y;
  }
  Record measure(const Point& point, const Yardsticks& yardsticks) override {
    if (measured == most) throw Killed();
    ++measured;
    Record record;
    if (wrong.count(point.rung)) {
      record.status = Status::wrong;
      record.note = "row 7 is wrong";
      return record;
    }
    const auto rate = tflops.find(point.rung);
    record.status = Status::measured;
    const double speed = rate == tflops.end() ? 10 : rate->second;
    record.ms = point.shape.flops() / speed * 1e-9;
    record.verified = true;
    if (yardsticks.cublas_ms) {
      const double share = speed / cublas_tflops;
      double half = 0.02;
      if (auto& next = spreads[point.rung]; !next.empty()) {
        half = next.front() / 2;
        next.erase(next.begin());
      }
      record.over_cublas = {share, {{share * (1 - half), share * (1 + half)}}};
      record.over_naive = {speed / naive_tflops, {}};
      record.cublas_errors = {{5.04, 0.281}};
    }
    if (point.type != "int32") record.errors = {{12.34, 0.0678}};
    record.mhz = 1980;
    return record;
  }
};

const std::vector<Lab>& labs() {
  static const std::vector<Lab> all = load_labs(".", {});
  return all;
}

std::size_t widest(const std::vector<std::string>& lines) {
  std::size_t most = 0;
  for (const std::string& line : lines) most = std::max(most, report::width(line));
  return most;
}

bool mentions(const std::vector<std::string>& lines, const std::string& words) {
  std::string all;
  for (const std::string& line : lines) all += line + " ";
  return all.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a bench measures every rung that computes a product, and nothing else", "[bench]") {
  const auto points = plan(labs(), false);
  std::set<std::string> rungs;
  std::set<std::string> shapes_seen;
  for (const Point& point : points) {
    rungs.insert(point.rung);
    shapes_seen.insert(point.shape.name());
  }
  REQUIRE(rungs.count("gemm_naive") == 1);
  REQUIRE(rungs.count("gemm_wgmma") == 1);
  REQUIRE(rungs.count("outer_product") == 0);  // K = 1 only
  REQUIRE(rungs.count("round_trip") == 0);     // a copy
  for (const char* shape : {"256", "512", "1024", "2048", "4096", "8192", "1023", "1025", "2047",
                            "2049", "4095", "64x8192x8192", "16x8192x8192", "8192x64x8192",
                            "8192x8192x64", "8192x8192x256", "256x256x16384"})
    REQUIRE(shapes_seen.count(shape) == 1);
  REQUIRE(points.size() == shapes(false).size() * (points.size() / shapes(false).size()));
  REQUIRE(plan(labs(), true).size() < points.size() / 4);
}

TEST_CASE("what a bench has measured survives its end, and only that is measured again",
          "[bench]") {
  const auto points = plan(labs(), true);
  FakeMeter meter;
  Results results;
  LoopOptions options;
  std::string on_disk;
  options.save = [&](const Results& now) { on_disk = to_text(now); };
  meter.most = 10;
  REQUIRE_THROWS_AS(run_points(points, meter, results, options), Killed);
  Results again = from_text(on_disk, "bench.json");
  REQUIRE(again.records.size() == 10);  // none lost: each was saved before the next began
  REQUIRE(to_text(again) == on_disk);

  FakeMeter second;
  const RunSummary summary = run_points(points, second, again, options);
  REQUIRE(summary.kept == 10);
  REQUIRE(summary.measured == points.size() - 10);
  REQUIRE(again.records.size() == points.size());
  for (const Record& record : again.records) REQUIRE(record.verified);

  SECTION("another source is measured again, and what stays knows when it was first") {
    FakeMeter third;
    third.hashes["lab1_naive"] = "changed";
    for (Record& record : again.records) record.first_measured = "2026-01-01T00:00:00Z";
    const std::size_t expected = static_cast<std::size_t>(
        std::count_if(points.begin(), points.end(), [](const Point& p) { return p.lab == 1; }));
    REQUIRE(run_points(points, third, again, options).measured == expected);
    REQUIRE(third.measured == static_cast<int>(expected));
    for (const Record& record : again.records)
      REQUIRE(record.first_measured == "2026-01-01T00:00:00Z");
  }
  SECTION("a time limit stops before a point, never within") {
    Results empty;
    FakeMeter third;
    double now = 0;
    options.clock = [&] { return now += 1; };
    options.limit_seconds = 5;
    const RunSummary limited = run_points(points, third, empty, options);
    REQUIRE(limited.left > 0);
    REQUIRE(limited.measured + limited.left == points.size());
    REQUIRE(empty.records.size() == limited.measured);
  }
}

TEST_CASE("a point whose interval is wide is measured again, and says so if it stays wide",
          "[bench]") {
  Point point;
  for (const Point& one : plan(labs(), true))
    if (one.rung == "gemm_naive" && one.type == "float" && one.shape.name() == "4096") point = one;
  REQUIRE(point.rung == "gemm_naive");
  FakeMeter meter;
  Results results;

  SECTION("until it is narrow") {
    meter.spreads["gemm_naive"] = {6, 0.04};
    run_points({point}, meter, results, {});
    REQUIRE(meter.measured == 2);
    REQUIRE(results.find(point)->attempts == 2);
    REQUIRE(results.find(point)->spread() < 0.05);
    REQUIRE(results.find(point)->note.empty());
  }
  SECTION("three times at most; the narrowest stands") {
    meter.spreads["gemm_naive"] = {6, 0.5, 0.7};
    run_points({point}, meter, results, {});
    REQUIRE(meter.measured == 3);
    REQUIRE(std::abs(results.find(point)->spread() - 0.5) < 1e-9);
    REQUIRE(mentions(sentences(results),
                     "the machine was noisy: the interval is 50 % wide, attempts: 3"));
    Results read = from_text(to_text(results), "bench.json");
    REQUIRE(read.find(point)->attempts == 3);
    REQUIRE(run_points({point}, meter, read, {}).kept == 1);
  }
  SECTION("once in a quick bench, which the next whole one does not keep") {
    meter.spreads["gemm_naive"] = {6};
    LoopOptions quick;
    quick.attempts = 1;
    run_points({point}, meter, results, quick);
    REQUIRE(meter.measured == 1);
    REQUIRE(run_points({point}, meter, results, quick).kept == 1);
    REQUIRE(run_points({point}, meter, results, {}).measured == 1);
    REQUIRE(results.find(point)->spread() < 0.05);
  }
  SECTION("a wrong result in the second attempt is not covered by the first, a hang loses none") {
    class Turns : public FakeMeter {
     public:
      Status later = Status::wrong;
      Record measure(const Point& point, const Yardsticks& yardsticks) override {
        Record record = FakeMeter::measure(point, yardsticks);
        if (measured > 1) record.status = later;
        return record;
      }
    };
    Turns turns;
    turns.spreads["gemm_naive"] = {6};
    run_points({point}, turns, results, {});
    REQUIRE(results.find(point)->status == Status::wrong);
    Turns hangs;
    hangs.later = Status::failed;
    hangs.spreads["gemm_naive"] = {6};
    Results second;
    run_points({point}, hangs, second, {});
    REQUIRE(hangs.measured == 2);
    REQUIRE(second.find(point)->status == Status::measured);
    REQUIRE(second.find(point)->spread() == Approx(6));
  }
  SECTION("by the ratio to naive where there is no cuBLAS") {
    Record record;
    record.status = Status::measured;
    record.over_naive = {2, {{1, 4}}};
    REQUIRE(record.spread() == Approx(1.5));
    REQUIRE(Record().spread() == 0);
  }
}

TEST_CASE("GPUs of one model share a bench: the newer record of a point stands", "[bench]") {
  const auto points = plan(labs(), true);
  FakeMeter meter;
  Results mine, other;
  run_points(points, meter, mine, {});
  mine.records.pop_back();
  for (Record& record : mine.records) record.date = "2026-01-02T00:00:00Z";
  for (Yardsticks& one : mine.yardsticks) one.date = "2026-01-02T00:00:00Z";
  other = mine;
  other.records.front().date = "2026-01-03T00:00:00Z";
  other.records.front().ms = 77;
  other.records.at(1).date = "2026-01-01T00:00:00Z";
  other.records.at(1).ms = 78;
  other.yardsticks.front().date = "2026-01-03T00:00:00Z";
  other.yardsticks.front().rounds = 99;
  other.records.push_back(mine.records.front());
  other.records.back().point = points.back();
  mine.provenance = {{"date", "2026-01-02T00:00:00Z"}, {"commit", "old"}};
  other.provenance = {{"date", "2026-01-03T00:00:00Z"}, {"commit", "new"}};
  other.cpu.resize(1);
  other.provenance["cpu"] = "theirs";
  Results from_nothing;
  from_nothing.take_newer(other);
  REQUIRE(to_text(from_nothing) == to_text(other));
  mine.cpu.resize(2);
  mine.provenance["cpu"] = "mine";
  mine.take_newer(other);
  REQUIRE(mine.cpu.size() == 2);
  REQUIRE(mine.provenance.at("cpu") == "mine");
  REQUIRE(mine.records.size() == points.size());
  REQUIRE(mine.records.front().ms == 77);
  REQUIRE(mine.records.at(1).ms != 78);
  REQUIRE(mine.yardsticks.front().rounds == 99);
  REQUIRE(mine.provenance.at("commit") == "new");
}

TEST_CASE("what another timing protocol measured is measured again, with its yardsticks",
          "[bench]") {
  const auto points = plan(labs(), true);
  FakeMeter meter;
  Results results;
  run_points(points, meter, results, {});
  results.records.front().protocol = 0;
  results.yardsticks.front().protocol = 0;
  const Results old = from_text(to_text(results), "bench.json");
  REQUIRE(old.records.front().protocol == 0);
  const int yardsticks = meter.asked_yardsticks;
  const RunSummary again = run_points(points, meter, results, {});
  REQUIRE(again.measured == 1);
  REQUIRE(meter.asked_yardsticks == yardsticks + 1);
  REQUIRE(results.records.front().protocol == kBenchProtocol);
  REQUIRE(results.yardsticks.front().protocol == gpu::kTimingProtocol);
}

TEST_CASE("wrong results are never timed, and stay wrong until the source changes", "[bench]") {
  const auto points = plan(labs(), true);
  FakeMeter meter;
  meter.wrong = {"gemm_tiled"};
  meter.missing = {"gemm_wgmma"};
  Results results;
  run_points(points, meter, results, {});
  for (const Record& record : results.records) {
    if (record.point.rung == "gemm_tiled") {
      REQUIRE(record.status == Status::wrong);
      REQUIRE(record.tflops() == 0);
      REQUIRE(to_json(record).count("ms") == 0);
    }
    if (record.point.rung == "gemm_wgmma") REQUIRE(record.status == Status::unavailable);
  }
  REQUIRE(mentions(tables(results), "wrong"));
  REQUIRE(mentions(sentences(results), "row 7 is wrong"));
  const int before = meter.measured;
  run_points(points, meter, results, {});
  REQUIRE(meter.measured == before);
}

TEST_CASE("errors stand beside speed, in the file and in the tables", "[bench]") {
  const auto points = plan(labs(), false);
  FakeMeter meter;
  Results results;
  run_points(points, meter, results, {});
  const Results read = from_text(to_text(results), "bench.json");
  for (const Record& record : read.records) {
    REQUIRE(record.errors.has_value() == (record.point.type != "int32"));
    if (!record.errors) continue;
    REQUIRE(record.errors->worst == 12.34);
    REQUIRE(record.errors->mean == 0.0678);
    REQUIRE(record.cublas_errors->worst == 5.04);
    REQUIRE(record.cublas_errors->mean == 0.281);
  }
  const std::vector<std::string> lines = tables(read);
  REQUIRE(widest(lines) <= 80);
  REQUIRE(mentions(lines, "float: worst/mean error in units of u(|A||B|)"));
  REQUIRE_FALSE(mentions(lines, "int32: worst/mean error"));
  REQUIRE(mentions(lines, " 12/.068"));
  REQUIRE(mentions(lines, "  cuBLAS                  5.0/.28"));
  REQUIRE(mentions(lines, "M=16   M=64   N=64   K=64  K=256   deep"));

  SECTION("small ones leave room between the columns") {
    Results small = read;
    for (Record& record : small.records) record.errors = {{0.0641, 0.00854}};
    REQUIRE(mentions(tables(small), " .06/.009 .06/.009"));
  }
  SECTION("of what is wrong there are none") {
    meter.wrong = {"gemm_naive"};
    Results wrong;
    run_points(points, meter, wrong, {});
    for (const Record& record : wrong.records)
      if (record.point.rung == "gemm_naive") REQUIRE(to_json(record).count("errors") == 0);
  }
  SECTION("a file from before there were any has no such table") {
    Results old = read;
    for (Record& record : old.records) record.errors.reset(), record.cublas_errors.reset();
    REQUIRE(to_text(old).find("errors") == std::string::npos);
    REQUIRE_FALSE(mentions(tables(old), "worst/mean error"));
  }
}

TEST_CASE("slow combinations are skipped by what is known of their rate, and said", "[bench]") {
  const auto points = plan(labs(), false);
  FakeMeter meter;
  meter.tflops["gemm_square_grid"] = 0.5;  // 2.2 s at 8192
  Results results;
  LoopOptions options;
  options.most_launch_ms = 300;
  run_points(points, meter, results, options);
  Point slow;
  for (const Point& point : points)
    if (point.rung == "gemm_square_grid" && point.type == "float" && point.shape.name() == "8192")
      slow = point;
  REQUIRE(estimate_ms(results, slow) > 2000);
  REQUIRE(results.find(slow)->status == Status::skipped);
  slow.shape = {4096, 4096, 4096};
  REQUIRE(results.find(slow)->status == Status::measured);
  REQUIRE(mentions(sentences(results), "300 ms: skipped"));
}

TEST_CASE("without cuBLAS a bench's tables blame no type for it", "[bench]") {
  FakeMeter meter;
  Results results;
  results.machine["cublas"] = "13.1.0";
  run_points(plan(labs(), true), meter, results, {});
  REQUIRE(mentions(tables(results), "int32: 1e12 operations per second (cuBLAS has no such"));
  REQUIRE(mentions(tables(results), "double: per cent of cuBLAS"));
  meter.cublas_tflops = 0;
  Results alone;
  alone.machine["cublas"] = "none";
  run_points(plan(labs(), true), meter, alone, {});
  REQUIRE(mentions(tables(alone), "double: 1e12 operations per second"));
  REQUIRE_FALSE(mentions(tables(alone), "no such product"));
}

TEST_CASE("a bench's tables fit 80 columns and name the steps that go down", "[bench]") {
  const auto points = plan(labs(), false);
  FakeMeter meter;
  meter.cublas_tflops = 1234.5;
  meter.tflops["gemm_clamped_tile"] = 21.25;
  meter.tflops["gemm_interleaved_tile"] = 17;
  Results results;
  run_points(points, meter, results, {});
  CpuMeter cpu;
  for (const CpuPoint& point : cpu_plan(false))
    if (point.shape.flops() < 1e8) results.put(cpu.measure(point, 0, 1e9));
  REQUIRE(widest(tables(results)) <= 80);
  results.provenance["openblas"] =
      "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Prescott MAX_THREADS=64";
  REQUIRE(mentions(cpu_table(results), "Prescott"));
  REQUIRE(widest(cpu_table(results)) <= 80);
  REQUIRE(widest(sentences(results)) <= 80);
  REQUIRE(mentions(sentences(results), "gemm_interleaved_tile is slower than gemm_clamped_tile"));
  REQUIRE_FALSE(mentions(sentences(results), "gemm_clamped_tile is slower than"));
  const auto steps = slower_steps(results);
  const auto found = std::find_if(steps.begin(), steps.end(), [](const Step& step) {
    return step.after == "gemm_interleaved_tile" && step.type == "float";
  });
  REQUIRE(found != steps.end());
  REQUIRE(std::abs(found->at.front().factor - 17 / 21.25) < 1e-9);
}

TEST_CASE("a file that is no bench is refused by name", "[bench]") {
  for (const char* text :
       {"", "[]", "{}", "{\"schema\": 1}", "{\"schema\": 2, \"kind\": \"sweep\"}",
        "{\"schema\":2,\"kind\":\"bench\",\"machine\":{},\"provenance\":{},"
        "\"records\":[{\"lab\":\"one\"}],\"yardsticks\":[],\"cpu\":[],"
        "\"predictions\":[]}"}) {
    try {
      from_text(text, "some/bench.json");
      FAIL("accepted: " << text);
    } catch (const UserError& error) {
      REQUIRE(std::string(error.what()).find("some/bench.json") != std::string::npos);
    }
  }
}

TEST_CASE("the CPU's baselines are right where they are timed", "[bench]") {
  const CpuMeter meter;
  for (const char* type : {"float", "double", "int32"}) {
    const CpuRecord record = meter.measure({"triple loop", type, {64, 48, 80}}, 0, 1000);
    REQUIRE(record.status == Status::measured);
    REQUIRE(std::abs(record.gflops() * record.ms - 2e-6 * 64 * 48 * 80) < 1e-9);
  }
  REQUIRE(meter.measure({"triple loop", "float", {64, 64, 64}}, 5000, 1000).status ==
          Status::skipped);
  const CpuRecord blas = meter.measure({"OpenBLAS", "double", {64, 48, 80}}, 0, 1000);
  REQUIRE((blas.status == Status::measured || !meter.openblas_trouble().empty()));
}

TEST_CASE("predictions are read, refused by line, and keep the moment they were first seen",
          "[bench]") {
  namespace fs = std::filesystem;
  const fs::path file = fs::path("build") / "predictions-test" / "predictions.toml";
  fs::remove_all(file.parent_path());
  make_folder(file.parent_path());
  REQUIRE(read_predictions(file, labs()).empty());
  REQUIRE(write_predictions_form(file, labs()));
  REQUIRE_FALSE(write_predictions_form(file, labs()));
  REQUIRE(read_predictions(file, labs()).empty());  // the form is blank
  const std::string form = read_file(file);
  REQUIRE(form.find("gemm_naive, float") != std::string::npos);
  REQUIRE(form.find("outer_product") == std::string::npos);

  std::ofstream(file) << "[percent_of_cublas]\n\"1.2\" = 12\n\"3.3\" = 50.5\n";
  auto first = read_predictions(file, labs());
  REQUIRE(first.size() == 2);
  for (Prediction& one : first) one.seen = "2026-01-01T00:00:00Z";
  std::ofstream(file) << "[percent_of_cublas]\n\"1.2\" = 12\n\"3.3\" = 60\n";
  const auto merged = merge_predictions(first, read_predictions(file, labs()));
  for (const Prediction& one : merged) {
    INFO(one.key);
    REQUIRE((one.seen == "2026-01-01T00:00:00Z") == (one.key == "1.2"));
  }
  for (const char* bad : {"\"1.2\" = 5\n", "[percent_of_cublas]\n\"9.9\" = 5\n",
                          "[percent_of_cublas]\n\"1.2\" = -5\n",
                          "[percent_of_cublas]\n\"1.2\" = \"fast\"\n", "[percent_of_cublas\n"}) {
    std::ofstream(file) << bad;
    INFO(bad);
    try {
      read_predictions(file, labs());
      FAIL("accepted");
    } catch (const UserError& error) {
      REQUIRE(std::string(error.what()).find("predictions.toml:") != std::string::npos);
    }
  }
  fs::remove_all(file.parent_path());
}
