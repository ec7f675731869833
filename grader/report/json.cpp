// Both reports as JSON, in one file: the library takes seconds to compile.
#include <cmath>

#include <nlohmann/json.hpp>

#include "grader/explain/explain.hpp"
#include "grader/report/render.hpp"
#include "grader/version.hpp"

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

/// A line: number, warp instructions, sectors and ideal ones, wavefronts and ideal ones.
ordered_json line_counts(const LineCounts& counted) {
  ordered_json lines = ordered_json::array();
  for (const auto& one : counted.lines)
    lines.push_back({one.number, one.instructions, one.sectors, one.ideal_sectors, one.wavefronts,
                     one.ideal_wavefronts});
  return {{"file", counted.file},
          {"type", counted.type},
          {"at", {counted.at.m, counted.at.n, counted.at.k}},
          {"lines", lines}};
}

/// Low, median, high; null without one.
ordered_json interval(const double (&values)[3]) {
  if (!std::isfinite(values[1])) return nullptr;
  return {finite(values[0]), finite(values[1]), finite(values[2])};
}

ordered_json speed(const SpeedResult& s) {
  return {{"type", s.type},
          {"at", {s.at.m, s.at.n, s.at.k}},
          {"verdict", to_string(s.verdict)},
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
          {"verdict", to_string(h.verdict)},
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
                         {"verdict", to_string(s.verdict)},
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
                         {"seconds", finite(s.seconds)},
                         {"kept", s.kept}};
  if (!s.counted.lines.empty()) object["counted"] = line_counts(s.counted);
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
                     {{"status", to_string(lab.build)},
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
  const ordered_json document = {
      {"schema", Report::schema},
      {"version", version()},
      {"device", report.device},
      {"device_note", report.device_note},
      {"gpu", gpu},
      {"compiler", report.compiler},
      {"protection", report.protection},
      {"seed", report.seed ? ordered_json(*report.seed) : ordered_json(nullptr)},
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

namespace grader::explain {
namespace {

using nlohmann::ordered_json;

ordered_json counts(const Columns& c) {
  return {{"instructions", c.instructions},       {"multiply_adds", c.multiply_adds},
          {"global_requests", c.global_requests}, {"sectors", c.sectors},
          {"ideal_sectors", c.ideal_sectors},     {"shared_requests", c.shared_requests},
          {"wavefronts", c.wavefronts},           {"ideal_wavefronts", c.ideal_wavefronts},
          {"local_requests", c.local_requests},   {"barriers", c.barriers}};
}

ordered_json one_site(const Site& site) {
  const auto& s = site.worst;
  const bool shared = s.space == simgpu::MemorySpace::shared;
  ordered_json lanes = ordered_json::array();
  for (unsigned i = 0; i < 32; ++i)
    if ((s.mask >> i) & 1u)
      lanes.push_back(
          {{"lane", i}, {"offset", static_cast<std::int64_t>(s.address[i] - s.object_address)}});
  return {{"line", site.line},
          {"space", shared ? "shared" : "global"},
          {"access", s.type == simgpu::AccessType::load    ? "load"
                     : s.type == simgpu::AccessType::store ? "store"
                                                           : "atomic"},
          {"matrix", s.matrix},
          {"object", s.object},
          {"bytes", s.bytes},
          {"requests", site.requests},
          {shared ? "wavefronts" : "sectors", site.cost},
          {"ideal", site.ideal},
          {"worst",
           {{"block", {s.block.x, s.block.y, s.block.z}},
            {"warp", s.warp},
            {shared ? "wavefronts" : "sectors", s.cost},
            {"ideal", s.ideal},
            {"lanes", lanes}}}};
}

}  // namespace

std::string json(const Document& document) {
  ordered_json rungs = ordered_json::array();
  for (const auto& r : document.rungs) {
    ordered_json launches = ordered_json::array(), lines = ordered_json::array(),
                 sites = ordered_json::array(), buffers = ordered_json::array();
    for (const auto& l : r.launches) {
      ordered_json findings = ordered_json::array();
      for (const auto& f : l.findings)
        findings.push_back({{"kind", std::string(simgpu::to_string(f.kind))},
                            {"line", f.at.where.line},
                            {"detail", f.detail},
                            {"occurrences", f.occurrences}});
      launches.push_back(
          {{"kernel", l.kernel},
           {"grid", {l.grid.x, l.grid.y, l.grid.z}},
           {"block", {l.block.x, l.block.y, l.block.z}},
           {"shared_bytes", std::uint64_t{l.static_shared_bytes} + l.dynamic_shared_bytes},
           {"live_registers", l.registers.live_registers},
           {"occupancy", l.registers.occupancy},
           {"limiter", l.registers.limiter},
           {"completed", l.completed},
           {"findings", findings}});
    }
    for (const auto& line : r.lines) {
      ordered_json one = {{"line", line.number}};
      one.update(counts(columns(line.counts, r.type)));
      lines.push_back(one);
    }
    for (const auto& site : r.sites) sites.push_back(one_site(site));
    for (const auto& b : r.buffers)
      buffers.push_back({{"label", b.label},
                         {"bytes", b.bytes},
                         {"load_sectors", b.load.sectors},
                         {"store_sectors", b.store.sectors},
                         {"atomic_sectors", b.atomic.sectors}});
    rungs.push_back({{"name", r.name},
                     {"title", r.title},
                     {"type", r.type},
                     {"shape", {r.shape.m, r.shape.n, r.shape.k}},
                     {"state", std::string(to_string(r.state))},
                     {"headline", r.headline},
                     {"details", r.details},
                     {"summary", r.summary},
                     {"total", counts(columns(r.total, r.type))},
                     {"launches", launches},
                     {"buffers", buffers},
                     {"lines", lines},
                     {"sites", sites}});
  }
  const ordered_json all = {{"schema", Document::schema},
                            {"version", version()},
                            {"lab", document.lab},
                            {"title", document.title},
                            {"file", document.file},
                            {"compiler", document.compiler},
                            {"build",
                             {{"ok", document.build_headline.empty()},
                              {"headline", document.build_headline},
                              {"details", document.build_details},
                              {"warnings", document.warnings}}},
                            {"rungs", rungs}};
  return all.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace grader::explain
