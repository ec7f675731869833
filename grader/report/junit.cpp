#include <string>
#include <vector>

#include <fmt/core.h>

#include "grader/os/escape.hpp"
#include "grader/report/render.hpp"
#include "grader/version.hpp"

namespace grader::report {
namespace {

std::string seconds(double value) {
  return fmt::format("{:.3f}", value);
}

/// <skipped>, <error> or <failure>, with what a result says.
std::string outcome(const char* element, const std::string& headline, const std::string& type,
                    const std::vector<std::string>& details, const std::string& next_step) {
  std::string body = headline;
  for (const auto& line : details) body += "\n" + line;
  if (!next_step.empty()) body += "\n" + next_step;
  return fmt::format("<{0} message=\"{1}\" type=\"{2}\">{3}</{0}>", element, escape_xml(headline),
                     escape_xml(type), escape_xml(body));
}

std::string skipped(const std::string& why) {
  return fmt::format("<skipped message=\"{}\"/>", escape_xml(why));
}

struct Totals {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;
  Totals& operator+=(const Totals& more) {
    tests += more.tests;
    failures += more.failures;
    errors += more.errors;
    skipped += more.skipped;
    seconds += more.seconds;
    return *this;
  }
  /// The attributes of a <testsuite> or <testsuites>.
  std::string text() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                       tests, failures, errors, skipped, seconds);
  }
};

std::string test_case(const LabResult& lab, const StageResult& stage, Totals& totals) {
  ++totals.tests;
  std::string out =
      fmt::format("    <testcase name=\"{}\" classname=\"{}\" assertions=\"{}\" time=\"{}\"",
                  escape_xml(stage.id + " " + stage.title), escape_xml(lab.name), stage.assertions,
                  seconds(stage.seconds));
  if (!stage.file.empty())
    out += fmt::format(" file=\"{}\" line=\"{}\"", escape_xml(stage.file), stage.line);
  out += ">";
  const std::string type =
      stage.diagnosis.empty() ? std::string(to_string(stage.verdict)) : stage.diagnosis;
  const auto told = [&](const char* element) {
    return outcome(element, stage.headline, type, stage.details, stage.next_step);
  };
  switch (stage.state) {
    case State::passed:
      break;
    case State::locked:
    case State::skipped:
      ++totals.skipped;
      out += skipped(stage.headline);
      break;
    case State::infra:
      ++totals.errors;
      out += told("error");
      break;
    case State::failed:
    case State::not_started:
      ++totals.failures;
      out += told("failure");
      break;
  }
  if (!stage.printed.empty()) out += "<system-out>" + escape_xml(stage.printed) + "</system-out>";
  return out + "</testcase>\n";
}

std::string test_case_on_gpu(const LabResult& lab, const StageResult& stage, Totals& totals) {
  const HardwareResult& gpu = *stage.gpu;
  ++totals.tests;
  std::string out = fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"{}\">",
                                escape_xml(stage.id + " " + stage.title + " (GPU)"),
                                escape_xml(lab.name + ".gpu"), seconds(gpu.seconds));
  const std::string type =
      gpu.diagnosis.empty() ? std::string(to_string(gpu.verdict)) : gpu.diagnosis;
  const auto told = [&](const char* element) {
    return outcome(element, gpu.headline, type, gpu.details, gpu.next_step);
  };
  switch (gpu.state) {
    case HardwareResult::State::passed:
      // Too noisy to judge: neither a pass nor a failure.
      if (!gpu.inconclusive) break;
      ++totals.skipped;
      out += skipped("inconclusive");
      break;
    case HardwareResult::State::skipped:
      ++totals.skipped;
      out += skipped(gpu.headline);
      break;
    case HardwareResult::State::infra:
      ++totals.errors;
      out += told("error");
      break;
    case HardwareResult::State::failed:
      ++totals.failures;
      out += told("failure");
      break;
  }
  return out + "</testcase>\n";
}

}  // namespace

std::string junit(const Report& report) {
  Totals all;
  std::string suites;
  for (const auto& lab : report.labs) {
    Totals totals;
    totals.seconds = lab.seconds;
    std::string cases;
    for (const auto& stage : lab.stages) cases += test_case(lab, stage, totals);
    for (const auto& stage : lab.stages)
      if (stage.gpu) cases += test_case_on_gpu(lab, stage, totals);
    suites += fmt::format(
        "  <testsuite name=\"{}\" {}>\n"
        "    <properties><property name=\"version\" value=\"{}\"/></properties>\n"
        "{}  </testsuite>\n",
        escape_xml(lab.name), totals.text(), escape_xml(version()), cases);
    all += totals;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gemm-lab\" {}>\n{}"
      "</testsuites>\n",
      all.text(), suites);
}

}  // namespace grader::report
