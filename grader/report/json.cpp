#include <cmath>

#include <nlohmann/json.hpp>

#include "grader/report/render.hpp"

namespace grader::report {
namespace {

using nlohmann::ordered_json;

/// JSON has no NaN or infinity: null, with a flag beside it.
ordered_json finite(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json goal(const GoalResult& g) {
  return {{"key", g.key},
          {"what", g.what},
          {"type", g.type},
          {"at", {g.at.m, g.at.n, g.at.k}},
          {"measured", finite(g.measured)},
          {"bound", finite(g.bound)},
          {"finite", std::isfinite(g.measured) && std::isfinite(g.bound)},
          {"met", g.met},
          {"advice", g.advice},
          {"diagnosis", g.diagnosis}};
}

ordered_json stage(const StageResult& s) {
  ordered_json goals = ordered_json::array();
  for (const auto& g : s.goals) goals.push_back(goal(g));
  return {{"id", s.id},
          {"title", s.title},
          {"rung", s.rung},
          {"kind", s.bonus ? "bonus" : "core"},
          {"state", to_string(s.state)},
          {"verdict", s.verdict},
          {"diagnosis", s.diagnosis},
          {"headline", s.headline},
          {"details", s.details},
          {"next_step", s.next_step},
          {"shape", s.shape},
          {"type", s.type},
          {"file", s.file},
          {"line", s.line},
          {"notes", s.notes},
          {"printed", s.printed},
          {"goals", goals},
          {"assertions", s.assertions},
          {"passed_assertions", s.passed_assertions},
          {"points", finite(s.points)},
          {"earned", finite(s.earned)},
          {"seconds", finite(s.seconds)}};
}

}  // namespace

std::string json(const Report& report) {
  ordered_json labs = ordered_json::array();
  for (const auto& lab : report.labs) {
    ordered_json stages = ordered_json::array();
    for (const auto& s : lab.stages) stages.push_back(stage(s));
    labs.push_back({{"id", lab.id},
                    {"name", lab.name},
                    {"title", lab.title},
                    {"file", lab.file},
                    {"source_sha256", lab.source_sha256},
                    {"build",
                     {{"status", lab.build},
                      {"headline", lab.build_headline},
                      {"details", lab.build_details},
                      {"warnings", lab.warnings},
                      {"seconds", finite(lab.build_seconds)}}},
                    {"stages", stages},
                    {"seconds", finite(lab.seconds)}});
  }
  const Score total = score(report);
  const ordered_json document = {{"schema", Report::schema},
                                 {"device", report.device},
                                 {"device_note", report.device_note},
                                 {"compiler", report.compiler},
                                 {"protection", report.protection},
                                 {"seed", report.seed},
                                 {"labs", labs},
                                 {"score",
                                  {{"earned", total.earned},
                                   {"possible", total.possible},
                                   {"bonus_earned", total.bonus_earned},
                                   {"bonus_possible", total.bonus_possible},
                                   {"stages_passed", total.passed},
                                   {"stages", total.stages}}},
                                 {"notes", report.notes},
                                 {"exit_code", static_cast<int>(exit_code(report))},
                                 {"next", report.next}};
  // Bytes that are not UTF-8 are replaced: dump() would otherwise throw on a student's output.
  return document.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace grader::report
