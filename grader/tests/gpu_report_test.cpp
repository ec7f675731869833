// What becomes of a GPU's results without a GPU: logs of compute-sanitizer, exit codes, the three
// views of a report.
#include <sys/stat.h>

#include <cmath>
#include <sstream>

#include "common/catch2.hpp"
#include "grader/gpu/hardware.hpp"
#include "grader/gpu/sanitizer.hpp"
#include "grader/gpu/session.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/os/scratch.hpp"
#include "grader/report/render.hpp"
#include "grader/report/text.hpp"
#include "grader/tests/bench.hpp"

using namespace grader;
using namespace grader::gpu;
using report::HardwareResult;
using State = HardwareResult::State;

namespace {

const std::string out_of_bounds =
    "========= COMPUTE-SANITIZER\n"
    "========= Invalid __global__ read of size 4 bytes\n"
    "=========     at void naive_kernel<float, float>(MatrixView<const T1>, MatrixView<const T1>, "
    "MatrixView<T2>)+0x1b0 in lab1_naive/gemm.cu:58\n"
    "=========     by thread (17,0,0) in block (0,0,0)\n"
    "=========     Access at 0x7f4b9ec00244 is out of bounds\n"
    "=========     and is 5 bytes after the nearest allocation at 0x7f4b9ec00000 of size 576 "
    "bytes\n"
    "========= \n"
    "========= Invalid __global__ read of size 4 bytes\n"
    "=========     at other_kernel()+0x10 in lab1_naive/gemm.cu:99\n"
    "========= Program hit cudaErrorLaunchFailure (error 719) due to \"unspecified launch "
    "failure\" "
    "on CUDA API call to cudaDeviceSynchronize.\n"
    "========= ERROR SUMMARY: 3 errors\n";

const std::string race =
    "========= COMPUTE-SANITIZER\n"
    "========= Error: Race reported between Write access at tiled_kernel(int*)+0x90 in gemm.cu:41\n"
    "=========     and Read access at tiled_kernel(int*)+0xc0 in gemm.cu:44 [4096 hazards]\n"
    "=========\n"
    "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n";

report::Report one_stage(State state) {
  report::Report report;
  report.device = "sim";
  report.compiler = "clang 14.0.6";
  report.gpu = report::GpuUsed{"NVIDIA H200",      "GPU-1", "sm_90", "580.95.05", "13.0", "13.0",
                               "the only one here"};
  report::LabResult lab;
  lab.id = 1;
  lab.name = "lab1_naive";
  lab.build = BuildStatus::built;
  report::StageResult stage;
  stage.id = "1.2";
  stage.title = "Lay out the threads";
  stage.rung = "gemm_naive";
  stage.state = report::State::passed;
  stage.points = stage.earned = 10;
  stage.gpu.emplace();
  stage.gpu->state = state;
  stage.gpu->shapes = 43;
  lab.stages.push_back(stage);
  report.labs.push_back(lab);
  return report;
}

report::SpeedResult speed(SpeedVerdict verdict) {
  report::SpeedResult result;
  result.type = "float";
  result.at = {4096, 4096, 4096};
  result.verdict = verdict;
  result.reason = verdict == SpeedVerdict::inconclusive ? "others used the GPU" : "";
  result.by = "cublas";
  result.ratio = 0.127;
  result.bar = 0.1;
  for (int i = 0; i < 3; ++i) {
    result.over_naive[i] = 1.0 + 0.01 * i;
    result.over_cublas[i] = std::nan("");
  }
  result.ms = 21.5;
  result.tflops = 6.39;
  result.previous = "gemm_square_grid";
  result.over_previous = 7.5;
  return result;
}

}  // namespace

TEST_CASE("sanitizer logs: the summary counts, the first finding is told with its line") {
  const SanitizerReport stray = read_sanitizer_log("memcheck", out_of_bounds);
  CHECK(stray.readable);
  CHECK_FALSE(stray.clean());
  CHECK(stray.errors == 3);
  CHECK(stray.finding == "Invalid __global__ read of size 4 bytes");
  CHECK(stray.file == "lab1_naive/gemm.cu");
  CHECK(stray.line == 58);

  const SanitizerReport raced = read_sanitizer_log("racecheck", race);
  CHECK(raced.readable);
  CHECK(raced.errors == 1);
  CHECK(raced.file == "gemm.cu");
  CHECK(raced.line == 41);

  for (const char* tool : {"memcheck", "initcheck", "synccheck"})
    CHECK(
        read_sanitizer_log(tool, "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n")
            .clean());
  CHECK(read_sanitizer_log("racecheck",
                           "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards "
                           "displayed (0 errors, 0 warnings)\n")
            .clean());
}

TEST_CASE("sanitizer logs: what was not printed is no second summary; wide reads are told apart") {
  const std::string wide =
      "========= COMPUTE-SANITIZER\n"
      "========= Invalid __global__ read of size 16 bytes\n"
      "=========     at mma_kernel()+0x10 in gemm.cu:273\n"
      "========= Program hit cudaErrorLaunchFailure (error 719) on CUDA API call to x.\n";
  const std::string end =
      "========= ERROR SUMMARY: 36 errors\n"
      "========= ERROR SUMMARY: 32 errors were not printed. Use --print-limit option to adjust\n";
  const SanitizerReport report = read_sanitizer_log("memcheck", wide + end);
  CHECK(report.readable);
  CHECK(report.errors == 36);
  CHECK(report.only_wide_reads);
  CHECK_FALSE(report.clean());
  CHECK_FALSE(read_sanitizer_log("memcheck", wide +
                                                 "========= Invalid __global__ write of size 16 "
                                                 "bytes\n" +
                                                 end)
                  .only_wide_reads);
  CHECK_FALSE(read_sanitizer_log("memcheck", out_of_bounds).only_wide_reads);
}

TEST_CASE("a log that cannot be read is never a pass") {
  const std::string clean = "========= ERROR SUMMARY: 0 errors\n";
  const std::pair<const char*, std::string> logs[] = {
      {"memcheck", ""},
      {"memcheck", "========= COMPUTE-SANITIZER\n"},
      {"memcheck", "0 errors\n"},
      {"memcheck", "ERROR SUMMARY: 0 errors\n"},  // a student's print has no mark in front
      {"memcheck", "========= ERROR SUMMARY: no errors\n"},
      {"memcheck", "========= ERROR SUMMARY: -1 errors\n"},
      {"memcheck", "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"},
      {"racecheck", clean},
      {"memcheck", clean + clean},
      {"memcheck", "========= Internal Sanitizer Error: Device not supported\n"},
      {"memcheck", out_of_bounds.substr(0, out_of_bounds.find("========= ERROR SUMMARY"))},
  };
  for (const auto& [tool, log] : logs) {
    INFO(tool << ": " << log);
    const SanitizerReport report = read_sanitizer_log(tool, log);
    CHECK_FALSE(report.readable);
    CHECK_FALSE(report.clean());
    CHECK_FALSE(report.trouble.empty());
  }
}

TEST_CASE("a tool that starts nothing, or writes a clean log by itself, is no pass") {
  const Scratch scratch(test::build_folder() / "tmp");
  CallSpec call;
  call.entry = "gemm<float>";
  call.a = diag::Matrix(diag::ElementType::float32, 1, 1, 1);
  call.b = call.c = call.a;
  SanitizerRun run;
  run.tool = "memcheck";
  run.program = "/bin/true";
  run.folder = scratch.path();
  run.patience = std::chrono::milliseconds(2000);
  for (const std::string& script :
       {std::string("exit 0\n"), std::string("exit 1\n"),
        std::string("while [ \"$1\" != --log-file ]; do shift; done\n"
                    "echo '========= ERROR SUMMARY: 0 errors' >\"$2\"\nexit 0\n")}) {
    INFO(script);
    const auto tool = scratch.path() / "compute-sanitizer";
    write_file_atomically(tool, "#!/bin/sh\n" + script);
    ::chmod(tool.c_str(), 0755);
    run.sanitizer = tool.string();
    const SanitizerReport report = run_sanitizer(run, {call});
    CHECK_FALSE(report.clean());
    CHECK_FALSE(report.readable);
    CHECK_FALSE(report.trouble.empty());
  }
}

TEST_CASE("every message of the sanitizer's tools exists") {
  for (const auto& tool : sanitizer_tools())
    CHECK(messages::exists("sanitizer.found." + tool + ".next"));
  CHECK(sanitizer_tools().size() == 4);
}

TEST_CASE("large shapes: odd extents, one term where the stage says so, none for copies") {
  for (const auto& lab : discover_labs(test::project_root())) {
    for (const auto& stage : lab.stages) {
      const auto shapes = large_cases(lab, stage, false);
      INFO(stage.id);
      CHECK(shapes.empty() == (lab.rung(stage.rung).operation != Operation::product));
      for (const auto& one : shapes) {
        CHECK(one.extents.m % 2 == 1);
        CHECK(one.extents.m * one.extents.n > 1000000);
        CHECK((one.extents.k == 1) == (stage.shapes.front() == "k1"));
      }
      CHECK(large_cases(lab, stage, true).size() <= 1);
    }
  }
}

namespace {

/// Multiplies on the CPU; `spoil` changes the result.
struct OnCpu : Caller {
  std::function<void(CallOutcome&)> spoil;
  CallOutcome call(const CallSpec& spec) override {
    CallOutcome outcome;
    outcome.run.a = spec.a;
    outcome.run.b = spec.b;
    outcome.run.c_before = outcome.run.c_after = spec.c;
    outcome.run.a_after = spec.a;
    outcome.run.b_after = spec.b;
    const auto* a = reinterpret_cast<const float*>(spec.a.storage.data());
    const auto* b = reinterpret_cast<const float*>(spec.b.storage.data());
    auto* c = reinterpret_cast<float*>(outcome.run.c_after.storage.data());
    std::vector<float> row(static_cast<std::size_t>(spec.c.cols));
    for (int i = 0; i < spec.c.rows; ++i) {
      std::fill(row.begin(), row.end(), 0.0f);
      for (int k = 0; k < spec.a.cols; ++k)
        for (int j = 0; j < spec.c.cols; ++j)
          row[static_cast<std::size_t>(j)] += a[i * spec.a.ld + k] * b[k * spec.b.ld + j];
      std::copy(row.begin(), row.end(), c + i * spec.c.ld);
    }
    if (spoil) spoil(outcome);
    return outcome;
  }
};

}  // namespace

TEST_CASE("the probabilistic check of large shapes: right passes, one wrong element does not") {
  Rung rung;
  rung.name = "gemm";
  rung.types = {"float"};
  Case shape;
  shape.extents = {127, 129, 65};
  OnCpu device;
  CHECK_FALSE(check_large(device, rung, "float", shape, 1).failure);

  device.spoil = [](CallOutcome& outcome) {
    const std::size_t at = outcome.run.c_after.index(57, 3);
    outcome.run.c_after.set(at, outcome.run.c_after.at(at) + 0.05);
  };
  const LargeResult off = check_large(device, rung, "float", shape, 1);
  REQUIRE(off.failure);
  CHECK(off.row == 57);

  device.spoil = [](CallOutcome& outcome) { outcome.run.c_after = outcome.run.c_before; };
  const LargeResult untouched = check_large(device, rung, "float", shape, 1);
  REQUIRE(untouched.failure);
  CHECK(untouched.failure->untouched);

  device.spoil = [](CallOutcome& outcome) { outcome.run.a_after->set(5, 0.25); };
  CHECK(check_large(device, rung, "float", shape, 1).failure);

  device.spoil = [](CallOutcome& outcome) {
    outcome.end = CallEnd::threw;
    simgpu::runtime::ApiError error;
    error.name = "cudaErrorIllegalAddress";
    outcome.result.errors.push_back(error);
  };
  const LargeResult illegal = check_large(device, rung, "float", shape, 1);
  REQUIRE(illegal.failure);
  CHECK(illegal.failure->kind == Failure::Kind::api);
  CHECK(device_error(illegal.failure->outcome) == "cudaErrorIllegalAddress");

  device.spoil = [](CallOutcome& outcome) {
    outcome.end = CallEnd::infra;
    simgpu::runtime::ApiError error;
    error.name = "cudaErrorMemoryAllocation";
    outcome.result.errors.push_back(error);
  };
  const LargeResult short_of_memory = check_large(device, rung, "float", shape, 1);
  CHECK(short_of_memory.no_memory);
  CHECK_FALSE(short_of_memory.failure);
}

TEST_CASE("a GPU's verdicts decide the exit status, and take no points") {
  CHECK(exit_code(one_stage(State::passed)) == exit_ok);
  CHECK(exit_code(one_stage(State::skipped)) == exit_ok);
  CHECK(exit_code(one_stage(State::failed)) == exit_failed);
  CHECK(exit_code(one_stage(State::infra)) == exit_infrastructure);
  report::Report noisy = one_stage(State::passed);
  noisy.labs[0].stages[0].gpu->inconclusive = true;
  CHECK(exit_code(noisy) == exit_inconclusive);
  noisy.labs[0].stages.push_back(one_stage(State::failed).labs[0].stages[0]);
  CHECK(exit_code(noisy) == exit_failed);
  CHECK(score(one_stage(State::failed)).earned == 10);
}

TEST_CASE("the report names the GPU, why it was picked, and fits 80 columns") {
  report::Report report = one_stage(State::passed);
  auto& gpu = *report.labs[0].stages[0].gpu;
  for (const auto& tool : sanitizer_tools()) {
    gpu.sanitizer.push_back({});
    gpu.sanitizer.back().tool = tool;
    gpu.sanitizer.back().clean = true;
  }
  gpu.speed = {speed(SpeedVerdict::pass), speed(SpeedVerdict::inconclusive),
               speed(SpeedVerdict::fail)};
  gpu.inconclusive = true;
  report.labs[0].stages[0].recorded = messages::text("gpu.recorded", {{"rung", "gemm_naive"},
                                                                      {"tflops", "6.4"},
                                                                      {"gpu", "H200"},
                                                                      {"percent", "13 %"},
                                                                      {"type", "float"},
                                                                      {"shape", "4096×4096×4096"}});
  report.next = "make submit";
  for (const bool verbose : {false, true}) {
    const std::string page = report::human(report, false, verbose);
    INFO(page);
    for (const char* part :
         {"NVIDIA H200 (sm_90), the only one here", "clean", "0.13 of cuBLAS (asked 0.10)",
          "6.4 TFLOP/s", "float 4096³; 7.50x your gemm_square_grid", "noisy", "others used the GPU",
          "recorded, not yours", "1 inconclusive"})
      CHECK(page.find(part) != std::string::npos);
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) CHECK(report::width(line) <= 80);
  }
  gpu.speed[0].bar = 0.022;
  gpu.speed[0].ratio = 0.0793;
  CHECK(report::human(report, false, false).find("0.079 of cuBLAS (asked 0.022)") !=
        std::string::npos);
  const std::string json = report::json(report);
  for (const char* part : {"\"uuid\": \"GPU-1\"", "\"verdict\": \"inconclusive\"",
                           "\"over_cublas\": null", "\"tool\": \"racecheck\""})
    CHECK(json.find(part) != std::string::npos);
  const std::string junit = report::junit(report);
  CHECK(junit.find("classname=\"lab1_naive.gpu\"") != std::string::npos);
  CHECK(junit.find("tests=\"2\"") != std::string::npos);

  report::Report failed = one_stage(State::failed);
  auto& stage = failed.labs[0].stages[0];
  stage.gpu->verdict = Verdict::sanitizer;
  stage.gpu->diagnosis = "RACECHECK";
  stage.gpu->headline = "compute-sanitizer, racecheck: Race reported between <a> & <b>";
  stage.gpu->sanitizer.push_back({});
  stage.gpu->file = "lab1_naive/gemm.cu";
  stage.gpu->line = 41;
  const std::string page = report::human(failed, false, false);
  INFO(page);
  CHECK(page.find("lab1_naive/gemm.cu:41") != std::string::npos);
  CHECK(report::junit(failed).find("<failure message=\"compute-sanitizer, racecheck: Race reported "
                                   "between &lt;a&gt; &amp; &lt;b&gt;\" type=\"RACECHECK\">") !=
        std::string::npos);
  CHECK(report::next_command(failed, {1}) == "make hint STAGE=1.2");
}

TEST_CASE("what the course measured is told from its file; other files are left out") {
  const std::vector<Lab> labs = discover_labs(test::project_root());
  const Lab& lab = labs.front();
  report::LabResult result;
  for (const auto& stage : lab.stages) {
    report::StageResult one;
    one.id = stage.id;
    one.state = report::State::passed;
    result.stages.push_back(one);
  }
  const std::string record =
      R"({"lab": 1, "rung": "gemm_naive", "type": "float", "m": 4096, "n": 4096, "k": 4096,
          "ms": 21.508, "over_cublas": [0.125, 0.126, 0.127]})";
  for (const std::string& text :
       {std::string("no json"), std::string("{}"), std::string(R"({"records": [1, null]})"),
        std::string(R"({"records": [{"rung": 7}]})")}) {
    INFO(text);
    add_recorded(text, lab, result);
    for (const auto& stage : result.stages) CHECK(stage.recorded.empty());
  }
  add_recorded(R"({"records": [)" + record + "]}", lab, result);
  unsigned told = 0;
  for (const auto& stage : result.stages) told += !stage.recorded.empty();
  CHECK(told == 1);
  CHECK(result.stages.back().recorded.find("6.4 TFLOP/s on an H200, 13 % of cuBLAS") !=
        std::string::npos);
}
