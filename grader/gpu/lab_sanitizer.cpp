#include <algorithm>
#include <cctype>
#include <chrono>
#include <exception>
#include <functional>

#include <fmt/core.h>

#include "grader/gpu/lab_run.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/stage.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"

namespace grader::gpu {

using messages::text;
using report::HardwareResult;
using report::SanitizerResult;
using report::StageResult;

namespace {

std::string read_source(const LabRun& on, const std::string& file) {
  try {
    return read_file(on.options.root / on.build.unit(file).shown_path, 1u << 20);
  } catch (const std::exception&) {
    return {};
  }
}

/// Two of the stage's shapes: ragged, with more than one tile if that is small; and with rows
/// that are further apart than they are wide.
std::vector<CallSpec> sanitizer_calls(const LabRun& on, const Stage& stage,
                                      const std::string& type) {
  const Rung& rung = on.lab.rung(stage.rung);
  std::vector<CallSpec> calls;
  bool dense = false, strided = false;
  for (const auto& shape : cases_of(on.lab, stage)) {
    bool& done = shape.strided() ? strided : dense;
    if (done || !telling(shape) || shape.extents.m * shape.extents.n > 300 * 300) continue;
    done = true;
    calls.push_back(on.small_call(rung, type, shape));
  }
  return calls;
}

void note(const LabRun& on, StageResult& stage, const std::string& tool, const std::string& type,
          const SanitizerReport& report) {
  HardwareResult& gpu = *stage.gpu;
  auto known = std::find_if(gpu.sanitizer.begin(), gpu.sanitizer.end(),
                            [&](const SanitizerResult& one) { return one.tool == tool; });
  if (known == gpu.sanitizer.end()) {
    gpu.sanitizer.push_back({});
    known = gpu.sanitizer.end() - 1;
    known->tool = tool;
    known->clean = true;
  }
  if (report.clean()) return;
  // The simulated GPU counts the bytes that an asynchronous copy really reads, and found nothing
  // at these shapes; memcheck counts all that it fills. Told, but no failure.
  if (tool == "memcheck" && report.readable && report.only_wide_reads &&
      read_source(on, on.lab.rung(stage.rung).file).find("async") != std::string::npos) {
    const std::string told = text("sanitizer.async", {{"type", type}});
    if (std::find(gpu.notes.begin(), gpu.notes.end(), told) == gpu.notes.end())
      gpu.notes.push_back(told);
    return;
  }
  known->clean = false;
  known->type = type;
  known->unreadable = !report.readable;
  known->finding = report.readable ? report.finding : report.trouble;
  known->file = report.file;
  known->line = report.line;
  gpu.type = type;
  if (!report.readable) {
    gpu.state = HardwareResult::State::infra;
    gpu.verdict = Verdict::infra_error;
    gpu.headline = text("sanitizer.unreadable", {{"tool", tool}, {"why", report.trouble}});
    gpu.next_step = text("verdict.infra.next");
    return;
  }
  gpu.state = HardwareResult::State::failed;
  gpu.verdict = Verdict::sanitizer;
  gpu.diagnosis = tool;
  std::transform(gpu.diagnosis.begin(), gpu.diagnosis.end(), gpu.diagnosis.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  gpu.headline = text("sanitizer.found", {{"tool", tool}, {"finding", report.finding}});
  gpu.next_step = text("sanitizer.found." + tool + ".next");
  gpu.line = report.line;
  const std::string own = gpu.file.substr(gpu.file.rfind('/') + 1);
  if (!report.file.empty() && report.file.substr(report.file.rfind('/') + 1) != own) {
    gpu.line = 0;  // in a header: named in words
    gpu.details.push_back(fmt::format("{}:{}", report.file, report.line));
  }
}

}  // namespace

SanitizerRun LabRun::sanitizer_run(const std::string& tool) const {
  SanitizerRun run;
  run.sanitizer = hardware.tools.sanitizer;
  run.tool = tool;
  run.program = build.runner.path.string();
  run.folder = options.scratch;
  run.user = options.user;
  return run;
}

CallSpec LabRun::small_call(const Rung& rung, const std::string& type, const Case& shape) const {
  const Inputs inputs =
      make_inputs(element_type(type), rung, shape, Fill::integers, Before::poison, options.seed);
  CallSpec spec;
  spec.entry = entry_of(rung, type);
  spec.a = inputs.a;
  spec.b = inputs.b;
  spec.c = inputs.c;
  return spec;
}

void sanitize(LabRun& on) {
  struct Part {
    StageResult* stage;
    std::string type;
    std::vector<CallSpec> calls;
  };
  std::vector<Part> parts;
  std::vector<CallSpec> all;
  std::set<std::string> taken;
  for (auto& stage : on.result.stages) {
    if (!stage.gpu || stage.gpu->state != HardwareResult::State::passed) continue;
    const Stage& known = *on.lab.stage(stage.id);
    for (const auto& type : on.types_here(on.lab.rung(known.rung))) {
      // Stages that share a rung share its findings: the first of them shows them.
      if (!taken.insert(known.rung + "<" + type + ">").second) continue;
      parts.push_back({&stage, type, sanitizer_calls(on, known, type)});
      all.insert(all.end(), parts.back().calls.begin(), parts.back().calls.end());
    }
  }
  if (all.empty()) return;
  on.progress("compute-sanitizer over " + on.lab.name);
  const auto start = std::chrono::steady_clock::now();
  const auto& tools = sanitizer_tools();
  // Everything in one process per tool. Only if that is not clean, each launcher by itself.
  std::vector<SanitizerReport> reports(tools.size());
  std::vector<std::function<void()>> jobs;
  for (std::size_t i = 0; i < tools.size(); ++i)
    jobs.push_back([&, i] { reports[i] = run_sanitizer(on.sanitizer_run(tools[i]), all); });
  on.pool.run(jobs);
  for (std::size_t i = 0; i < tools.size(); ++i) {
    for (const auto& part : parts) {
      if (part.stage->gpu->state != HardwareResult::State::passed) continue;
      const SanitizerReport report =
          reports[i].clean() ? reports[i] : run_sanitizer(on.sanitizer_run(tools[i]), part.calls);
      note(on, *part.stage, tools[i], part.type, report);
    }
  }
  const double each = seconds_since(start) / static_cast<double>(parts.size());
  for (const auto& part : parts) part.stage->gpu->seconds += each;
}

}  // namespace grader::gpu
