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

/// Low, median, high; null without one.
ordered_json interval(const double (&values)[3]) {
  if (!std::isfinite(values[1])) return nullptr;
  return {finite(values[0]), finite(values[1]), finite(values[2])};
}

ordered_json speed(const SpeedResult& s) {
  return {{"type", s.type},
          {"at", {s.at.m, s.at.n, s.at.k}},
          {"verdict", s.verdict},
          {"reason", s.reason},
          {"by", s.by},
          {"ratio", finite(s.ratio)},
          {"bar", finite(s.bar)},
          {"over_naive", interval(s.over_naive)},
          {"over_cublas", interval(s.over_cublas)},
          {"ms", finite(s.ms)},
          {"naive_ms", finite(s.naive_ms)},
          {"cublas_ms", finite(s.cublas_ms)},
          {"events_ms", finite(s.events_ms)},
          {"tflops", finite(s.tflops)},
          {"rounds", s.rounds},
          {"dropped", s.dropped},
          {"launches", s.launches},
          {"sm_clock_mhz", {s.clock_low, s.clock_median, s.clock_high}},
          {"throttle", s.throttle},
          {"previous", s.previous},
          {"over_previous", finite(s.over_previous)},
          {"suspect", s.suspect},
          {"seconds", finite(s.seconds)}};
}

ordered_json hardware(const HardwareResult& h) {
  ordered_json sanitizer = ordered_json::array(), speeds = ordered_json::array();
  for (const auto& one : h.sanitizer)
    sanitizer.push_back({{"tool", one.tool},
                         {"clean", one.clean},
                         {"unreadable", one.unreadable},
                         {"type", one.type},
                         {"finding", one.finding},
                         {"file", one.file},
                         {"line", one.line}});
  for (const auto& one : h.speed) speeds.push_back(speed(one));
  return {{"state", to_string(h.state)},
          {"inconclusive", h.inconclusive},
          {"shapes", h.shapes},
          {"verdict", h.verdict},
          {"diagnosis", h.diagnosis},
          {"headline", h.headline},
          {"details", h.details},
          {"next_step", h.next_step},
          {"shape", h.shape},
          {"type", h.type},
          {"file", h.file},
          {"line", h.line},
          {"notes", h.notes},
          {"sanitizer", sanitizer},
          {"speed", speeds},
          {"seconds", finite(h.seconds)}};
}

ordered_json stage(const StageResult& s) {
  ordered_json goals = ordered_json::array();
  for (const auto& g : s.goals) goals.push_back(goal(g));
  ordered_json object = {{"id", s.id},
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
  if (s.gpu) object["gpu"] = hardware(*s.gpu);
  if (!s.recorded.empty()) object["recorded"] = s.recorded;
  return object;
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
  ordered_json gpu = nullptr;
  if (report.gpu)
    gpu = {{"name", report.gpu->name},       {"uuid", report.gpu->uuid},
           {"arch", report.gpu->arch},       {"driver", report.gpu->driver},
           {"toolkit", report.gpu->toolkit}, {"cublas", report.gpu->cublas},
           {"picked", report.gpu->picked}};
  const ordered_json document = {{"schema", Report::schema},
                                 {"device", report.device},
                                 {"device_note", report.device_note},
                                 {"gpu", gpu},
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
