#include "grader/commands/one_rung.hpp"

#include "grader/compile/unit.hpp"
#include "grader/diagnose/diagnose.hpp"
#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/process.hpp"

namespace grader {

using messages::text;

const Rung& rung_named(const Lab& lab, const std::string& name) {
  std::string all;
  for (const auto& one : lab.rungs) {
    if (one.name == name) return one;
    all += (all.empty() ? "" : ", ") + one.name;
  }
  throw UserError(
      text("usage.no_rung", {{"lab", lab.name}, {"rung", printable(name)}, {"rungs", all}}),
      exit_usage);
}

std::int64_t k_for(const Lab& lab, const Rung& rung, std::optional<std::int64_t> asked,
                   std::int64_t usual) {
  if (!lab.only_one_term(rung)) return asked.value_or(usual);
  if (asked.value_or(1) != 1)
    throw UserError(
        text("usage.only_one_term", {{"rung", rung.name}, {"k", std::to_string(*asked)}}),
        exit_usage);
  return 1;
}

void no_such_type(const std::string& what, const std::string& type,
                  const std::vector<std::string>& types) {
  std::string all;
  for (const auto& one : types) all += (all.empty() ? "" : ", ") + one;
  throw UserError(
      text("usage.no_type", {{"what", what}, {"type", printable(type)}, {"types", all}}),
      exit_usage);
}

std::vector<std::string> undefined(const Build& build, const Rung& rung, const std::string& type) {
  for (const auto& one : build.entries) {
    if (one.defined || one.name != rung.name + "<" + type + ">") continue;
    std::vector<std::string> lines = {
        text("stage.signature", {{"function", one.function}}),
        text("stage.signature.wanted", {{"signature", signature(rung.name, type)}})};
    if (!one.found.empty())
      lines.push_back(text("stage.signature.found", {{"signature", one.found}}));
    return lines;
  }
  return {};
}

std::string not_returned(const CallOutcome& outcome, const std::string& entry) {
  switch (outcome.end) {
    case CallEnd::crashed:
      return text("CRASH.headline", {{"entry", entry}, {"signal", signal_name(outcome.signal)}});
    case CallEnd::exited:
      return text("EXIT.headline",
                  {{"entry", entry}, {"status", std::to_string(outcome.exit_status)}});
    case CallEnd::threw:
      return text("EXCEPTION.headline", {{"entry", entry}}) + ": " + outcome.message;
    case CallEnd::hung:
      return text("HANG.headline", {{"entry", entry}});
    case CallEnd::memory:
      return text("MEMORY.headline", {{"entry", entry}});
    case CallEnd::protocol:
      return text("PROTOCOL.headline", {{"entry", entry}});
    case CallEnd::infra:
      throw InfraError(outcome.message);
    case CallEnd::returned:
      break;
  }
  return {};
}

bool without_findings(const std::vector<simgpu::LaunchReport>& launches) {
  return diag::worst_finding(launches) == nullptr;
}

}  // namespace grader
