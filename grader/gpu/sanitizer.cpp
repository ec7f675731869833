#include "grader/gpu/sanitizer.hpp"

#include <sys/wait.h>

#include <cstdlib>
#include <sstream>

#include "grader/gpu/runner.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"

namespace grader::gpu {
namespace {

using messages::text;

constexpr const char* mark = "========= ";

bool starts(const std::string& line, const std::string& with) {
  return line.compare(0, with.size(), with) == 0;
}

/// The number right behind `word`, all of it digits.
std::optional<std::uint64_t> number_after(const std::string& line, const std::string& word) {
  const auto at = line.find(word);
  if (at == std::string::npos) return {};
  const auto begin = at + word.size();
  const auto end = line.find_first_not_of("0123456789", begin);
  const auto length = (end == std::string::npos ? line.size() : end) - begin;
  if (length == 0 || length > 18) return {};
  return std::strtoull(line.c_str() + begin, nullptr, 10);
}

/// "... in lab1_naive/gemm.cu:42" or "... in gemm.cu:42:naive_kernel": file and line.
bool place_in(const std::string& line, std::string& file, unsigned& number) {
  for (auto at = line.find(" in "); at != std::string::npos; at = line.find(" in ", at + 1)) {
    const std::string rest = line.substr(at + 4);
    const auto colon = rest.find(".cu:");
    if (colon == std::string::npos || rest.find(' ') < colon) continue;
    const auto value = std::strtoul(rest.c_str() + colon + 4, nullptr, 10);
    if (value == 0 || value > 10000000) continue;
    file = rest.substr(0, colon + 3);
    number = static_cast<unsigned>(value);
    return true;
  }
  return false;
}

}  // namespace

const std::vector<std::string>& sanitizer_tools() {
  static const std::vector<std::string> tools = {"memcheck", "racecheck", "initcheck", "synccheck"};
  return tools;
}

SanitizerReport read_sanitizer_log(const std::string& tool, const std::string& log) {
  SanitizerReport report;
  unsigned summaries = 0, wide_reads = 0, others = 0;
  bool in_first = false;
  std::istringstream stream(log);
  for (std::string line; std::getline(stream, line);) {
    if (!starts(line, mark)) continue;
    const std::string said = line.substr(std::string(mark).size());
    if (starts(said, tool == "racecheck" ? "RACECHECK SUMMARY: " : "ERROR SUMMARY: ")) {
      // Said besides: "ERROR SUMMARY: 32 errors were not printed. Use --print-limit ...".
      if (said.find("not printed") != std::string::npos) continue;
      // "RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)": a warning is a hazard that
      // another order of the warps turns into a wrong result.
      const auto count = number_after(said, "SUMMARY: ");
      ++summaries;
      if (count)
        report.errors = *count;
      else
        summaries += 2;
      continue;
    }
    if (said.empty() || said[0] == ' ') {
      if (in_first && report.line == 0) place_in(line, report.file, report.line);
      continue;
    }
    if (starts(said, "COMPUTE-SANITIZER") || said.find("SUMMARY:") != std::string::npos) {
      in_first = false;
      continue;
    }
    if (said == "Invalid __global__ read of size 16 bytes")
      ++wide_reads;
    else if (!starts(said, "Program hit ") && !starts(said, "Target application returned"))
      ++others;  // those two only follow from an error before them
    in_first = report.finding.empty();
    if (in_first) {
      report.finding = printable(said).substr(0, 200);
      place_in(line, report.file, report.line);
    }
  }
  report.readable = summaries == 1;
  report.only_wide_reads = wide_reads > 0 && others == 0;
  if (!report.readable)
    report.trouble = report.finding.empty() ? text("sanitizer.no_summary") : report.finding;
  return report;
}

SanitizerReport run_sanitizer(const SanitizerRun& run, const std::vector<CallSpec>& calls) {
  const std::filesystem::path log = run.folder / (run.tool + ".log");
  RunnerSpec spec;
  spec.program = run.program;
  spec.wrapper = {run.sanitizer, "--tool",           run.tool, "--log-file",
                  log.string(),  "--print-limit",    "4",      "--error-exitcode",
                  "97",          "--show-backtrace", "no"};
  spec.patience = run.patience;
  spec.user = run.user;
  Runner runner(std::move(spec));
  std::string ended;
  for (const auto& call : calls) {
    const CallOutcome outcome = runner.call(call);
    if (outcome.end == CallEnd::returned && outcome.result.errors.empty() &&
        !outcome.run.failed_launch)
      continue;
    ended = call.entry;
    if (!outcome.message.empty()) ended += ": " + outcome.message;
    break;
  }
  const Runner::Farewell farewell = runner.finish(run.patience);
  std::error_code error;
  SanitizerReport report;
  if (std::filesystem::is_regular_file(log, error))
    report = read_sanitizer_log(run.tool, read_file(log, 4u << 20));
  else
    report.trouble = printable(farewell.errors + farewell.output).substr(0, 200);
  std::filesystem::remove(log, error);
  if (report.trouble.empty() && !report.readable) report.trouble = text("sanitizer.no_summary");
  const bool left_well = ended.empty() && farewell.left && WIFEXITED(farewell.status) &&
                         WEXITSTATUS(farewell.status) == 0;
  if (report.clean() && !left_well) {
    report.readable = false;
    report.trouble = ended.empty() ? text("sanitizer.left_badly") : ended;
  }
  return report;
}

}  // namespace grader::gpu
