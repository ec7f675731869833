#include <iomanip>
#include <sstream>

#include "grader/os/process.hpp"
#include "grader/report/render.hpp"

namespace grader::report {
namespace {

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string seconds(double value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(3) << value;
  return out.str();
}

}  // namespace

std::string junit(const Report& report) {
  unsigned tests = 0, failures = 0, errors = 0, skipped = 0;
  double time = 0;
  std::ostringstream suites;
  for (const auto& lab : report.labs) {
    unsigned failed = 0, broken = 0, locked = 0;
    std::ostringstream cases;
    for (const auto& stage : lab.stages) {
      cases << "    <testcase name=\"" << escape(stage.id + " " + stage.title) << "\" classname=\""
            << escape(lab.name) << "\" assertions=\"" << stage.assertions << "\" time=\""
            << seconds(stage.seconds) << "\"";
      if (!stage.file.empty())
        cases << " file=\"" << escape(stage.file) << "\" line=\"" << stage.line << "\"";
      cases << ">";
      std::string body = stage.headline;
      for (const auto& line : stage.details) body += "\n" + line;
      if (!stage.next_step.empty()) body += "\n" + stage.next_step;
      const std::string attributes =
          " message=\"" + escape(stage.headline) + "\" type=\"" +
          escape(stage.diagnosis.empty() ? stage.verdict : stage.diagnosis) + "\"";
      switch (stage.state) {
        case State::passed:
          break;
        case State::locked:
        case State::skipped:
          ++locked;
          cases << "<skipped message=\"" << escape(stage.headline) << "\"/>";
          break;
        case State::infra:
          ++broken;
          cases << "<error" << attributes << ">" << escape(body) << "</error>";
          break;
        case State::failed:
        case State::not_started:
          ++failed;
          cases << "<failure" << attributes << ">" << escape(body) << "</failure>";
          break;
      }
      if (!stage.printed.empty())
        cases << "<system-out>" << escape(stage.printed) << "</system-out>";
      cases << "</testcase>\n";
    }
    std::size_t on_gpu = 0;
    for (const auto& stage : lab.stages) {
      if (!stage.gpu) continue;
      ++on_gpu;
      const HardwareResult& gpu = *stage.gpu;
      cases << "    <testcase name=\"" << escape(stage.id + " " + stage.title + " (GPU)")
            << "\" classname=\"" << escape(lab.name + ".gpu") << "\" time=\""
            << seconds(gpu.seconds) << "\">";
      std::string body = gpu.headline;
      for (const auto& line : gpu.details) body += "\n" + line;
      if (!gpu.next_step.empty()) body += "\n" + gpu.next_step;
      const std::string attributes = " message=\"" + escape(gpu.headline) + "\" type=\"" +
                                     escape(gpu.diagnosis.empty() ? gpu.verdict : gpu.diagnosis) +
                                     "\"";
      switch (gpu.state) {
        case HardwareResult::State::passed:
          // Too noisy to judge: neither a pass nor a failure.
          if (!gpu.inconclusive) break;
          ++locked;
          cases << "<skipped message=\"inconclusive\"/>";
          break;
        case HardwareResult::State::skipped:
          ++locked;
          cases << "<skipped message=\"" << escape(gpu.headline) << "\"/>";
          break;
        case HardwareResult::State::infra:
          ++broken;
          cases << "<error" << attributes << ">" << escape(body) << "</error>";
          break;
        case HardwareResult::State::failed:
          ++failed;
          cases << "<failure" << attributes << ">" << escape(body) << "</failure>";
          break;
      }
      cases << "</testcase>\n";
    }
    suites << "  <testsuite name=\"" << escape(lab.name) << "\" tests=\""
           << lab.stages.size() + on_gpu << "\" failures=\"" << failed << "\" errors=\"" << broken
           << "\" skipped=\"" << locked << "\" time=\"" << seconds(lab.seconds) << "\">\n"
           << cases.str() << "  </testsuite>\n";
    tests += static_cast<unsigned>(lab.stages.size() + on_gpu);
    failures += failed;
    errors += broken;
    skipped += locked;
    time += lab.seconds;
  }
  std::ostringstream out;
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gemm-lab\" tests=\""
      << tests << "\" failures=\"" << failures << "\" errors=\"" << errors << "\" skipped=\""
      << skipped << "\" time=\"" << seconds(time) << "\">\n"
      << suites.str() << "</testsuites>\n";
  return out.str();
}

}  // namespace grader::report
