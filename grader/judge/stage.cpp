#include "grader/judge/stage.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

#include "grader/diagnose/wording.hpp"
#include "grader/explain/explain.hpp"
#include "grader/messages.hpp"
#include "grader/report/text.hpp"

namespace grader {
namespace {

using messages::text;
using report::StageResult;
using simgpu::FindingKind;

/// A finding may be in a header that is given.
std::string file_of(const simgpu::SourceLine& where, const std::string& own) {
  const std::string header = diag::header_of(where);
  return header.empty() ? own : header;
}

/// A copy that given code has started. As long as nothing writes C, the code that waits for it is missing.
bool waits_for_missing_code(const simgpu::Finding& finding) {
  return finding.kind == FindingKind::async_not_waited &&
         !diag::header_of(finding.at.where).empty();
}

std::string first_finding_place(const CallOutcome& outcome, const std::string& file,
                                unsigned& line) {
  if (const simgpu::Finding* finding = diag::worst_finding(outcome.run.launches);
      finding && finding->at.where.line != 0) {
    line = finding->at.where.line;
    return file_of(finding->at.where, file);
  }
  return {};
}

}  // namespace

void FailurePick::see(const CaseResult& seen) {
  if (seen.right()) return;
  if (!smallest_) smallest_ = &seen;
  const Failure& failure = *seen.failure;
  if (!seen.shape.empty()) {
    any_elements_ = true;
    untouched_ = untouched_ && failure.untouched && failure.outcome.end == CallEnd::returned &&
                 failure.kind == Failure::Kind::wrong;
  }
  bool unfilled = false;
  for (const auto& launch : failure.outcome.run.launches)
    for (const simgpu::Finding& finding : launch.findings) {
      if (is_estimate(finding.kind) || (failure.untouched && waits_for_missing_code(finding)))
        continue;
      untouched_ = false;
      unfilled = unfilled || finding.kind == simgpu::FindingKind::uninitialised_read;
    }
  unfilled_ = unfilled_ && unfilled;
  const bool better =
      !chosen_ || (!telling(chosen_->shape) && chosen_->failure->kind == Failure::Kind::wrong &&
                   telling(seen.shape));
  if (better) chosen_ = &seen;
}

namespace {

/// A CUDA call was refused or failed.
void describe_api(StageResult& stage, const std::string& entry,
                  const simgpu::runtime::CallResult& result) {
  stage.verdict = Verdict::runtime_error;
  if (!result.refused.empty()) {
    const auto& refusal = result.refused.front();
    stage.diagnosis = refusal.unsupported ? "UNSUPPORTED-CALL" : "REFUSED-CALL";
    stage.headline = text(refusal.unsupported ? "verdict.unsupported" : "verdict.refused",
                          {{"entry", entry}, {"call", refusal.call}});
    stage.details = {refusal.reason};
    stage.next_step =
        text(refusal.unsupported ? "verdict.unsupported.next" : "verdict.refused.next");
    return;
  }
  const auto& error = result.errors.front();
  stage.line = 0, stage.file.clear();  // it was no kernel
  stage.diagnosis = "CUDA-ERROR";
  stage.headline =
      text("CUDA-ERROR.headline", {{"entry", entry}, {"call", error.call}, {"error", error.name}});
  if (!error.message.empty()) stage.details = {error.message};
  const bool other_side = error.cause == simgpu::runtime::ErrorCause::device_as_host;
  stage.next_step = text(other_side ? "CUDA-ERROR.device.next" : "CUDA-ERROR.next");
}

/// C is right, on a device that does everything in the order in which it is asked.
void describe_stream(StageResult& stage, const std::string& entry,
                     const simgpu::runtime::CallResult& result) {
  stage.verdict = Verdict::wrong_answer;
  const bool in_default = !result.default_stream.empty();
  const std::string& work = in_default ? result.default_stream.front() : result.unordered.front();
  stage.diagnosis = in_default ? "DEFAULT-STREAM" : "OTHER-STREAM";
  const std::string key = stage.diagnosis + (in_default && work.starts_with("cuda") ? ".call" : "");
  stage.headline = text(key + ".headline", {{"entry", entry}, {"work", diag::kernel_name(work)}});
  stage.next_step = text(key + ".next");
}

/// What a way to end means. Its texts have the diagnosis for their name, like all others.
struct EndWords {
  Verdict verdict;
  const char* diagnosis;
};
EndWords words_of(CallEnd end) {
  switch (end) {
    case CallEnd::crashed:
      return {Verdict::runtime_error, "CRASH"};
    case CallEnd::exited:
      return {Verdict::runtime_error, "EXIT"};
    case CallEnd::threw:
      return {Verdict::runtime_error, "EXCEPTION"};
    case CallEnd::hung:
      return {Verdict::timeout, "HANG"};
    case CallEnd::memory:
      return {Verdict::memory_limit, "MEMORY"};
    case CallEnd::protocol:
      return {Verdict::runtime_error, "PROTOCOL"};
    case CallEnd::returned:
    case CallEnd::infra:
      break;
  }
  throw std::logic_error("a call that did not end by itself has no words");
}

/// The texts about a tensor map that was refused.
const char* of_map(simgpu::MapRule rule) {
  using simgpu::MapRule;
  switch (rule) {
    case MapRule::none:
      return "";
    case MapRule::address:
      return ".map.address";
    case MapRule::pitch:
      return ".map.pitch";
    case MapRule::extent:
      return ".map.extent";
    case MapRule::box:
      return ".map.box";
    case MapRule::row:
      return ".map.row";
    case MapRule::swizzle:
      return ".map.swizzle";
    case MapRule::other:
      break;
  }
  return ".map";
}

/// The runner crashed, hung, left, or threw.
void describe_end(StageResult& stage, const std::string& entry, const CallOutcome& outcome) {
  const EndWords words = words_of(outcome.end);
  stage.verdict = words.verdict;
  stage.diagnosis = words.diagnosis;
  const simgpu::BrokenRule broken =
      outcome.end == CallEnd::threw ? outcome.result.refused_map : simgpu::BrokenRule{};
  const bool map = broken.rule != simgpu::MapRule::none;
  const std::string key = stage.diagnosis + of_map(broken.rule);
  stage.headline = text(key + ".headline", {{"entry", entry},
                                            {"signal", signal_name(outcome.signal)},
                                            {"status", outcome.exit_status},
                                            {"value", broken.value}});
  if (!map && (outcome.end == CallEnd::threw || outcome.end == CallEnd::protocol))
    stage.details = {outcome.message};
  stage.next_step = text(key + ".next");
}

bool names_no_cause(const diag::Diagnosis& named) {
  return named.id == "UNEXPLAINED" || named.id == "WRONG-PART";
}

/// Whether an index beyond the end of an array may be behind what was seen. The compiler takes it that
/// there is none: sums that never begin, threads that meet. Of a loop that
/// never ends it is a consequence.
bool may_be_overrun(const CallOutcome& outcome) {
  if (outcome.run.failed_launch) return false;
  const simgpu::Finding* const finding = diag::worst_finding(outcome.run.launches);
  if (finding == nullptr) return true;
  switch (finding->kind) {
    case FindingKind::uninitialised_read:
    case FindingKind::global_race:
    case FindingKind::will_spill:
      return true;
    case FindingKind::out_of_bounds:  // of shared memory the threads' own accesses tell more
      return finding->at.space != simgpu::MemorySpace::shared;
    default:
      return false;
  }
}

std::optional<diag::Diagnosis> overrun_in(RungCheck& check, const CaseResult& chosen,
                                          const Case* largest) {
  auto found = check.array_overrun(chosen);
  if (found || telling(chosen.shape) || !largest) return found;
  found = check.array_overrun(*largest);
  if (found) {
    const Extents& e = largest->extents;
    found->seen = diag::Seen{static_cast<int>(e.m), static_cast<int>(e.n), static_cast<int>(e.k),
                             largest->strided()};
  }
  return found;
}

double products(std::int64_t m, std::int64_t n, std::int64_t k) {
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

}  // namespace

void describe_failure(StageResult& stage, const std::string& file, RungCheck& check,
                      const CaseResult& smallest, const CaseResult& chosen, const Case* largest) {
  const Failure& failure = *chosen.failure;
  const CallOutcome& outcome = failure.outcome;
  stage.state = report::State::failed;
  stage.shape = chosen.shape.name();
  stage.type = chosen.type;
  stage.file = first_finding_place(outcome, file, stage.line);
  stage.printed = chosen.printed;
  Observed seen = observe(outcome, diag::size_of(element_type(chosen.type)));
  seen.extents = chosen.shape.extents;
  stage.counted = counted_lines(seen, file, chosen.type);
  switch (failure.kind) {
    case Failure::Kind::infra:
      return describe_infra(stage, outcome.message);
    case Failure::Kind::api:
      return describe_api(stage, check.entry(), outcome.result);
    case Failure::Kind::stream:
      return describe_stream(stage, check.entry(), outcome.result);
    case Failure::Kind::ended:
      return describe_end(stage, check.entry(), outcome);
    case Failure::Kind::wrong:
      break;
  }
  const std::optional<diag::Diagnosis> overrun =
      may_be_overrun(outcome) ? overrun_in(check, chosen, largest) : std::nullopt;
  diag::Diagnosis named = overrun ? *overrun : check.diagnose(chosen);
  // The shape that tells most may be the one that shows no cause: then the first that failed is asked.
  if (names_no_cause(named) && &smallest != &chosen && smallest.type == chosen.type &&
      smallest.failure->kind == Failure::Kind::wrong) {
    diag::Diagnosis other = check.diagnose(smallest);
    if (!names_no_cause(other)) {
      named = std::move(other);
      stage.shape = smallest.shape.name();
    }
  }
  stage.verdict = named.verdict;
  stage.diagnosis = named.id;
  stage.headline = named.headline;
  stage.details = named.details;
  stage.next_step = named.next_step;
  stage.line = named.place.line;
  stage.file = stage.line != 0 ? file_of(named.place, file) : "";
  // The numbers may be of a run that the diagnosis made: then that shape is named.
  if (named.seen) {
    const diag::Seen& s = *named.seen;
    stage.shape = Case{{s.m, s.n, s.k}, s.strided, 0, 0}.name();
  }
  if (smallest.shape.name() == stage.shape) return;
  // The diagnosis may have found a smaller one, which no check has.
  const Extents& e = smallest.shape.extents;
  const bool larger =
      named.seen && products(e.m, e.n, e.k) > products(named.seen->m, named.seen->n, named.seen->k);
  stage.details.push_back(
      text(larger ? "detail.larger" : "detail.smallest", {{"shape", smallest.shape.name()}}));
}

report::GoalResult goal_result(const LabBench::GoalRun& run) {
  report::GoalResult result;
  result.key = run.goal->key;
  result.what = run.goal->what;
  result.type = run.type;
  result.at = run.at;
  result.advice = run.goal->advice;
  const Observed& seen = run.measured->observed;
  result.measured = run.goal->measure(seen);
  result.bound = run.goal->bound(run.at, run.goal->parameters, seen.element_bytes);
  result.met = result.measured <= result.bound;  // false for NaN
  if (!result.met) result.diagnosis = run.goal->diagnosis;
  return result;
}

std::map<unsigned, simgpu::Counts> lines_of(const Observed& seen, const std::string& file) {
  const auto last_name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  std::map<unsigned, simgpu::Counts> lines;
  for (const auto& launch : seen.launches)
    for (const auto& one : launch.lines)
      if (one.where.line != 0 && last_name(one.where.file) == last_name(file))
        lines[one.where.line] += one.counts;
  return lines;
}

report::LineCounts counted_lines(const Observed& seen, const std::string& file,
                                 const std::string& type) {
  report::LineCounts counted{file, type, seen.extents, {}};
  for (const auto& [number, counts] : lines_of(seen, file)) {
    const explain::Columns c = explain::columns(counts, type);
    counted.lines.push_back(
        {number, c.instructions, c.sectors, c.ideal_sectors, c.wavefronts, c.ideal_wavefronts});
  }
  return counted;
}

namespace {

/// One kind of access in one line: `cost` against what it could be.
struct LineCost {
  unsigned line = 0;
  std::string what;  ///< "shared loads"
  std::uint64_t requests = 0, cost = 0, ideal = 0, bytes = 0;
  std::uint64_t excess() const { return cost > ideal ? cost - ideal : 0; }
};

std::vector<LineCost> shared_costs(const std::map<unsigned, simgpu::Counts>& lines) {
  std::vector<LineCost> list;
  for (const auto& [line, c] : lines)
    for (const auto& [what, s] : {std::pair{"shared loads", &c.shared_load},
                                  {"shared stores", &c.shared_store},
                                  {"asynchronous copies", &c.async_store}})
      if (s->requests)
        list.push_back({line, what, s->requests, s->wavefronts, s->ideal_wavefronts, s->bytes});
  return list;
}

std::vector<LineCost> global_costs(const std::map<unsigned, simgpu::Counts>& lines, bool loads,
                                   bool stores) {
  std::vector<LineCost> list;
  for (const auto& [line, c] : lines) {
    if (const auto& g = c.global_load; g.requests && loads)
      list.push_back({line, "global loads", g.requests, g.sectors, g.ideal_sectors, g.bytes});
    if (const auto& g = c.global_store; g.requests && stores)
      list.push_back({line, "global stores", g.requests, g.sectors, g.ideal_sectors, g.bytes});
  }
  return list;
}

template <typename Key>
const LineCost* largest(const std::vector<LineCost>& list, Key key) {
  const LineCost* found = nullptr;
  for (const auto& one : list)
    if (key(one) > 0 && (!found || key(one) > key(*found))) found = &one;
  return found;
}

std::string ratio(std::uint64_t part, std::uint64_t whole) {
  const double value = static_cast<double>(part) / static_cast<double>(whole);
  return report::number(std::round(value * 10) / 10);
}

WorstLine per_request(const std::vector<LineCost>& list, const char* unit) {
  const LineCost* worst = largest(list, [](const LineCost& c) { return c.excess(); });
  if (!worst) return {};
  return {worst->line,
          text("goal.line.per_request", {{"line", worst->line},
                                         {"got", ratio(worst->cost, worst->requests)},
                                         {"unit", unit},
                                         {"ideal", ratio(worst->ideal, worst->requests)},
                                         {"what", worst->what}})};
}

WorstLine share(const std::vector<LineCost>& list, const char* unit) {
  const LineCost* worst = largest(list, [](const LineCost& c) { return c.cost; });
  if (!worst) return {};
  std::uint64_t total = 0;
  for (const auto& one : list) total += one.cost;
  const char* key = worst->cost == total ? "goal.line.all" : "goal.line.share";
  return {worst->line, text(key, {{"line", worst->line},
                                  {"part", report::number(static_cast<double>(worst->cost))},
                                  {"total", report::number(static_cast<double>(total))},
                                  {"unit", unit}})};
}

/// The wait at which most copies arrived before their turn.
WorstLine early_wait(const std::map<unsigned, simgpu::Counts>& lines) {
  unsigned worst = 0;
  simgpu::EarlyWait early;
  for (const auto& [line, c] : lines)
    if (c.async_early.bytes > early.bytes) worst = line, early = c.async_early;
  if (worst == 0) return {};
  const auto steps = (early.under_way + early.bytes / 2) / early.bytes;
  return {worst, text(steps == 1 ? "goal.line.early" : "goal.line.early.steps",
                      {{"line", worst},
                       {"steps", steps},
                       {"stages", (early.stages + early.bytes / 2) / early.bytes}})};
}

/// Of what the line with most sectors reads, most comes for lanes that touch sectors of their own.
bool scattered(const std::map<unsigned, simgpu::Counts>& lines) {
  const auto costs = global_costs(lines, true, false);
  const LineCost* worst = largest(costs, [](const LineCost& c) { return c.cost; });
  return worst && worst->excess() > worst->cost / 2;
}

/// Requests are as many wherever the lanes of one go.
bool counts_requests(const Goal& goal) {
  const auto* const measure = goal.measure.target<double (*)(const Observed&)>();
  return measure != nullptr && *measure == load_requests;
}

std::uint32_t threads_of_block(const simgpu::LaunchReport& launch) {
  return launch.block.x * launch.block.y * launch.block.z;
}

/// A launch whose blocks are no whole number of warps.
const simgpu::LaunchReport* odd_launch(const Observed& seen) {
  for (const auto& launch : seen.launches)
    if (threads_of_block(launch) % 32 != 0) return &launch;
  return nullptr;
}

/// The same kernel over the same grid more than once, and one of these would do.
std::optional<diag::Diagnosis> launched_again(const Observed& seen, double measured, double bound) {
  std::map<std::string, std::vector<const simgpu::LaunchReport*>> by_kernel;
  for (const auto& launch : seen.launches) by_kernel[launch.kernel].push_back(&launch);
  if (by_kernel.size() != 1) return {};
  const std::string& kernel = by_kernel.begin()->first;
  const auto& launches = by_kernel.begin()->second;
  const auto count = launches.size();
  const bool alike = std::all_of(launches.begin(), launches.end(), [&](const auto* one) {
    return one->grid == launches.front()->grid && one->block == launches.front()->block;
  });
  if (count < 2 || !alike || measured / static_cast<double>(count) > bound) return {};
  diag::Diagnosis d =
      diag::say("LAUNCHED-AGAIN", "", {{"kernel", diag::kernel_name(kernel)}, {"count", count}});
  d.verdict = Verdict::partial;
  return d;
}

}  // namespace

WorstLine worst_line(const std::string& diagnosis, const std::map<unsigned, simgpu::Counts>& lines,
                     const std::string& key) {
  if (diagnosis == "BANK-CONFLICT") {
    const auto list = shared_costs(lines);
    const WorstLine conflict = per_request(list, "wavefronts");
    return conflict.line ? conflict : share(list, "wavefronts");
  }
  if (diagnosis == "UNCOALESCED") {
    const auto costs = global_costs(lines, !key.starts_with("store"), !key.starts_with("load"));
    const WorstLine line = per_request(costs, "sectors");
    return line.line ? line : share(costs, "sectors");
  }
  if (diagnosis == "ASYNC-EARLY") return early_wait(lines);
  if (diagnosis == "IDLE-LANES") {
    auto list = global_costs(lines, !key.starts_with("store"), !key.starts_with("load"));
    for (auto& one : list) one.cost = one.requests;
    return share(list, "requests");
  }
  const auto counted = [&](auto count, const char* unit) {
    std::vector<LineCost> list;
    for (const auto& [line, c] : lines) list.push_back({line, "", 0, count(c), 0, 0});
    return share(list, unit);
  };
  if (diagnosis == "NO-REUSE" && key == "shared_bytes")
    return counted([](const simgpu::Counts& c) { return c.shared_load.bytes; }, "bytes");
  if (diagnosis == "NO-REUSE" || diagnosis == "NO-SHARED")
    return share(global_costs(lines, true, false), "sectors read");
  if (diagnosis == "STORES") {
    std::vector<LineCost> list;
    for (const auto& [line, c] : lines)
      list.push_back({line, "", 0, c.global_store.sectors + c.global_atomic.sectors, 0, 0});
    return share(list, "sectors written");
  }
  if (diagnosis == "NOT-VECTORISED") {
    // Narrow accesses only: the line with most requests of less than 16 bytes per lane.
    auto list = shared_costs(lines);
    const auto global = global_costs(lines, true, true);
    list.insert(list.end(), global.begin(), global.end());
    const LineCost* worst = largest(
        list, [](const LineCost& c) { return c.bytes < c.requests * 512 ? c.requests : 0; });
    if (!worst) return {};
    return {worst->line, text("goal.line.width",
                              {{"line", worst->line},
                               {"got", ratio(worst->bytes, worst->requests)},
                               {"requests", report::number(static_cast<double>(worst->requests))},
                               {"what", worst->what}})};
  }
  if (diagnosis == "NO-TENSOR")
    return counted([](const simgpu::Counts& c) { return c.fma_f32 + c.fma_f64 + c.mad_int; },
                   "multiply-adds outside the tensor cores");
  if (diagnosis == "LOCAL-MEMORY")
    return counted(
        [](const simgpu::Counts& c) {
          return c.local_load_requests + c.local_store_requests - c.printed_store_requests;
        },
        "local memory requests");
  if (diagnosis == "BARRIERS")
    return counted([](const simgpu::Counts& c) { return c.barriers; }, "warps' barriers");
  return {};
}

std::string advice_of(const LabBench::GoalRun& run, const std::string& file) {
  const Goal& goal = *run.goal;
  if (goal.diagnosis != "ASYNC-EARLY") return goal.missed;
  const WorstLine where = worst_line(goal.diagnosis, lines_of(run.measured->observed, file));
  return where.line != 0 ? where.text + ". " + goal.missed : goal.missed;
}

void describe_missed(StageResult& stage, const std::vector<LabBench::GoalRun>& runs,
                     const std::string& file, LaunchBy launch) {
  // The goal that is furthest off says most; aligned extents come first in each goal and win ties.
  const LabBench::GoalRun* worst = nullptr;
  report::GoalResult shown;
  double furthest = 0;
  for (const auto& run : runs) {
    const report::GoalResult result = goal_result(run);
    if (result.met || result.advice) continue;
    const double times = result.measured / result.bound;
    const double off = result.bound > 0 && !std::isnan(times) ? times : 1e30;
    if (!worst || off > furthest * 1.001) {
      worst = &run;
      shown = result;
      furthest = off;
    }
  }
  if (!worst) return;
  // What should hardly be there at all is far off at once: a bound on the whole says more.
  if (worst->goal->key.starts_with("excess"))
    for (const auto& run : runs) {
      if (run.goal->diagnosis != worst->goal->diagnosis || run.goal->advice) continue;
      const report::GoalResult result = goal_result(run);
      if (result.met) continue;
      worst = &run;
      shown = result;
      break;
    }
  const std::string sentence = text("goal.sentence", {{"what", shown.what},
                                                      {"measured", report::number(shown.measured)},
                                                      {"bound", report::number(shown.bound)},
                                                      {"shape", shape_name(shown.at)},
                                                      {"type", shown.type}});
  const Observed& seen = worst->measured->observed;
  const auto by_line = lines_of(seen, file);
  std::string id = worst->goal->diagnosis, missed = worst->goal->missed;
  // Too many sectors, for loads that are scattered each: that is no lack of reuse.
  if ((id == "NO-REUSE" || id == "NO-SHARED") && !counts_requests(*worst->goal) &&
      scattered(by_line))
    id = "UNCOALESCED", missed.clear();
  const diag::Diagnosis named =
      launched_again(seen, shown.measured, shown.bound).value_or(diag::explain_goal(id, sentence));
  if (named.id == "LAUNCHED-AGAIN") missed = sentence;
  stage.state = report::State::failed;
  stage.verdict = Verdict::goal_missed;
  stage.diagnosis = named.id;
  stage.headline = named.headline;
  const WorstLine where = worst_line(named.id, by_line, worst->goal->key);
  if (where.line != 0) {
    stage.file = file;
    stage.line = where.line;
    stage.details.push_back(where.text);
  }
  if (!missed.empty()) stage.details.push_back(missed);
  stage.next_step = named.next_step;
  if (const simgpu::LaunchReport* odd = odd_launch(seen)) {
    stage.details.push_back(text("detail.launch", {{"grid", diag::dims(odd->grid)},
                                                   {"block", diag::dims(odd->block)},
                                                   {"m", shown.at.m},
                                                   {"n", shown.at.n}}));
    auto next = diag::NextStep::of("GOAL.odd.next",
                                   {{"threads", diag::counted(threads_of_block(*odd), "thread")}});
    if (launch == LaunchBy::lab) next.word_for_given_launch();
    stage.next_step = next;
  }
  stage.details.insert(stage.details.end(), named.details.begin(), named.details.end());
  stage.shape = shape_name(shown.at);
  stage.type = shown.type;
}

std::vector<std::string> one_of_each(const std::set<std::string>& notes) {
  std::map<std::string, std::string> chosen;  // by what stands between the numbers
  for (const std::string& note : notes) {
    std::string words;
    std::copy_if(note.begin(), note.end(), std::back_inserter(words),
                 [](unsigned char c) { return std::isdigit(c) == 0; });
    std::string& best = chosen[words];
    if (std::pair(note.size(), note) > std::pair(best.size(), best)) best = note;
  }
  std::vector<std::string> list;
  for (const auto& [words, note] : chosen) list.push_back(note);
  return list;
}

}  // namespace grader
