#include "grader/judge/lab_bench.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "grader/compile/array_bounds.hpp"
#include "grader/errors.hpp"
#include "grader/judge/stage.hpp"
#include "grader/messages.hpp"

namespace grader {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Whether no more of a rung's cases are tried: as soon as one failed that can be explained, and never
/// a flood of them.
class StopRule {
 public:
  bool stop_after(const CaseResult& result) {
    if (result.right()) return false;
    const bool hopeless = result.failure->kind != Failure::Kind::wrong;
    return hopeless || telling(result.shape) || ++failed_ >= 6;
  }

 private:
  unsigned failed_ = 0;
};

}  // namespace

bool telling(const Case& shape) {
  const Extents& e = shape.extents;
  return e.m >= 5 && e.n >= 5 && (e.k >= 5 || e.k == 1) && e.m != e.n && e.m * e.n >= 64;
}

namespace {

/// Those that every type is judged at and that tell something, the smallest first.
std::vector<const Case*> by_size(const std::vector<Case>& cases) {
  std::vector<const Case*> list;
  for (const Case& one : cases)
    if (telling(one) && !one.one_type) list.push_back(&one);
  std::stable_sort(list.begin(), list.end(), [](const Case* a, const Case* b) {
    const auto size = [](const Extents& e) { return std::int64_t{1} * e.m * e.n * e.k; };
    return size(a->extents) < size(b->extents);
  });
  return list;
}

}  // namespace

const Case* largest_of(const std::vector<Case>& cases) {
  const std::vector<const Case*> list = by_size(cases);
  return list.empty() ? nullptr : list.back();
}

LabBench::LabBench(const Lab& lab, const Build& build, const JudgeOptions& options, Pool& pool)
    : lab_(lab), build_(build), options_(options), pool_(pool) {
  config_.grader_program = own_program();
  config_.user = options.user;
  config_.box = options.box;
  config_.budget = options.budget;
  one_process_per_rung_ = options.box && options.box->weakened.count("state") == 0;
  ahead_ = options.jobs > 1 && !options.key && !options.box;
  // Of a class, the students go side by side: a second thread for each launch would only cost
  // (3400 of them for five labs, 5 % of the judge's processor time).
  config_.host_threads = options.jobs > 1 || options.key ? 1 : 2;
}

LabBench::~LabBench() {
  board_.stop();
  board_.wait_for_all();
}

const SourceUnit& LabBench::unit(const std::string& rung) const {
  return build_.unit(lab_.rung(rung).file);
}

const EntryPoint* LabBench::entry(const std::string& name) const {
  for (const auto& one : build_.entries)
    if (one.name == name) return &one;
  return nullptr;
}

RungCheck* LabBench::check(const std::string& rung, const std::string& type) const {
  const auto known = checks_.find(rung + "<" + type + ">");
  return known == checks_.end() ? nullptr : known->second.get();
}

std::string LabBench::seat_name(const std::string& rung, const std::string& type) const {
  return one_process_per_rung_ ? rung + "<" + type + ">"
         : ahead_              ? type + " " + lab_.rung(rung).file
                               : type;
}

LabBench::Seat& LabBench::seat(const std::string& rung, const std::string& type) {
  return *seats_.at(seat_name(rung, type));
}

LabBench::Seat& LabBench::first_seat() {
  return seat(lab_.rungs.front().name, lab_.rungs.front().types.front());
}

SessionLock::Held LabBench::lock(const std::string& rung, const std::string& type) {
  return seat(rung, type).lock.take_for_judge();
}

void LabBench::end_stage() {
  if (!one_process_per_rung_) return;
  for (const auto& [name, seat] : seats_) seat->session.close();
}

AskOutcome LabBench::ask(const std::string& function) {
  const SessionLock::Held held = first_seat().lock.take_for_judge();
  return first_seat().session.ask(function);
}

std::vector<SourceUnit> LabBench::load(std::vector<bool> known) {
  const Rung& first = lab_.rungs.front();
  const std::string first_name = seat_name(first.name, first.types.front());
  config_.known = std::move(known);
  seats_[first_name] = std::make_unique<Seat>(build_, config_);
  std::vector<SourceUnit> units = first_seat().session.load();
  config_.known.clear();
  for (const auto& unit : units)
    config_.known.insert(config_.known.end(), unit.ptx.size(), unit.built());
  for (const Rung& rung : lab_.rungs)
    for (const auto& type : rung.types) {
      std::unique_ptr<Seat>& own = seats_[seat_name(rung.name, type)];
      if (!own) own = std::make_unique<Seat>(build_, config_);
      const std::string name = rung.name + "<" + type + ">";
      const EntryPoint* const point = entry(name);
      if (!point || !point->defined) continue;
      auto& check = checks_[name] = std::make_unique<RungCheck>(
          own->session, lab_, rung, type, CallSeeds(options_.seed, options_.key));
      check->check_bounds_by([this, &rung, &type](const CallSpec& spec) {
        return call_with_array_bounds(rung, type, spec);
      });
    }
  return units;
}

std::optional<RungCheck::BoundsRun> LabBench::call_with_array_bounds(const Rung& rung,
                                                                     const std::string& type,
                                                                     const CallSpec& spec) const {
  const SourceUnit& unit = build_.unit(rung.file);
  if (!build_.array_bounds || !may_have_arrays(unit.source)) return {};
  try {
    const std::optional<Build> checked = build_.array_bounds(rung, type);
    if (!checked) return {};
    SessionConfig config = config_;
    config.known.clear();
    Session session(*checked, config);
    return RungCheck::BoundsRun{session.call(spec), unit.source};
  } catch (const InfraError&) {  // what it could add is not worth the stage's verdict
    return {};
  }
}

std::vector<std::string> LabBench::notes_of_luck(const Stage& stage,
                                                 const std::vector<Case>& cases) {
  std::vector<std::string> notes;
  const std::vector<const Case*> by_extents = by_size(cases);
  if (by_extents.empty()) return notes;
  const std::string& type = lab_.rung(stage.rung).main_type();
  const SessionLock::Held held = lock(stage.rung, type);
  RungCheck& checked = *check(stage.rung, type);
  // Not the largest: what is compiled with checks is not optimised.
  constexpr std::int64_t kEnough = 32;
  const auto enough = std::find_if(by_extents.begin(), by_extents.end() - 1, [](const Case* one) {
    return std::min({one->extents.m, one->extents.n, one->extents.k}) >= kEnough;
  });
  if (const auto overrun = checked.array_overrun(**enough))
    notes.push_back(messages::text("note.array", {{"what", overrun->headline}}));
  if (std::string note = checked.grid_by_ld(by_extents.front()->extents); !note.empty())
    notes.push_back(std::move(note));
  return notes;
}

std::set<std::string> LabBench::kernels(const Stage& stage) const {
  std::set<std::string> all;
  const auto add = [&](const std::string& rung, const std::string& type) {
    if (const RungCheck* const checked = check(rung, type))
      all.insert(checked->kernels().begin(), checked->kernels().end());
  };
  for (const auto& type : lab_.rung(stage.rung).types) add(stage.rung, type);
  if (stage.answer && !stage.answer->measured.empty())
    add(stage.answer->rung, lab_.rung(stage.answer->rung).main_type());
  return all;
}

void LabBench::begin_ahead(StageCases stages) {
  if (!ahead_ || seats_.empty()) return;
  stages_ = std::move(stages);
  std::vector<std::string> names;
  for (const auto& [stage, cases] : stages_)
    for (const auto& type : lab_.rung(stage->rung).types) {
      const std::string name = seat_name(stage->rung, type);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  for (const std::string& name : names) {
    board_.begin();
    pool_.start([this, name] {
      work_ahead(name);
      board_.end();
    });
  }
}

void LabBench::work_ahead(const std::string& name) {
  bool going = true;
  for (const auto& [stage, cases] : stages_)
    for (const auto& type : lab_.rung(stage->rung).types) {
      if (seat_name(stage->rung, type) != name) continue;
      double seconds = 0;
      if (std::any_of(stage->needs.begin(), stage->needs.end(),
                      [this](const std::string& needed) { return board_.failed(needed); }))
        board_.fail(stage->id);
      else if (going)
        try {
          seconds = work_on(*seats_.at(name), *stage, cases, type);
        } catch (...) {
          going = false;  // the judge meets the same, and says so
        }
      board_.done(name, stage->id, seconds);
    }
}

std::vector<const CaseResult*> LabBench::try_cases(const Stage& stage,
                                                   const std::vector<Case>& cases,
                                                   const std::string& type, const Take& take) {
  RungCheck& checked = *check(stage.rung, type);
  const bool main_type = type == lab_.rung(stage.rung).main_type();
  std::vector<const CaseResult*> results;
  StopRule rule;
  for (const Case& shape : cases) {
    if (shape.one_type && !main_type) {
      results.push_back(nullptr);
      continue;
    }
    const std::optional<SessionLock::Held> held = take();
    if (!held) break;
    results.push_back(&checked.check(shape));
    if (rule.stop_after(*results.back())) break;
  }
  return results;
}

double LabBench::work_on(Seat& seat, const Stage& stage, const std::vector<Case>& cases,
                         const std::string& type) {
  RungCheck* const checked = check(stage.rung, type);
  if (!checked) {
    board_.fail(stage.id);
    return 0;
  }
  double waited = 0;
  const auto begin = Clock::now();
  const Take take = [&]() -> std::optional<SessionLock::Held> {
    if (board_.stopped()) return {};
    const auto asked = Clock::now();
    SessionLock::Held held = seat.lock.take_for_strand();
    waited += since(asked);
    return held;
  };
  for (const CaseResult* result : try_cases(stage, cases, type, take))
    if (result && !result->right()) board_.fail(stage.id);
  for (const GoalRun& goal : goals_of(stage)) {
    if (board_.failed(stage.id)) break;
    if (goal.type != type) continue;
    const std::optional<SessionLock::Held> held = take();
    if (!held) break;
    checked->measure(goal.at, goal.doubled);
  }
  return since(begin) - waited;
}

void LabBench::wait_for(const Stage& stage) {
  if (stages_.empty()) return;
  const auto begin = Clock::now();
  double longest = 0;
  for (const auto& type : lab_.rung(stage.rung).types)
    longest = std::max(longest, board_.wait(seat_name(stage.rung, type), stage.id));
  seconds_ahead_ += longest - since(begin);
}

void LabBench::run(const std::vector<std::function<void()>>& jobs) {
  if (stages_.empty()) return pool_.run(jobs);
  for (const auto& job : jobs) job();
}

std::map<std::string, std::vector<const CaseResult*>> LabBench::run_cases(
    const Stage& stage, const std::vector<Case>& cases) {
  wait_for(stage);
  std::map<std::string, std::vector<const CaseResult*>> results;
  std::vector<std::function<void()>> jobs;
  for (const auto& type : lab_.rung(stage.rung).types) {
    auto& list = results[type];
    if (!check(stage.rung, type)) continue;
    jobs.push_back([this, &stage, &type, &list, &cases] {
      list = try_cases(stage, cases, type, [&] { return std::optional(lock(stage.rung, type)); });
    });
  }
  run(jobs);
  return results;
}

std::vector<LabBench::GoalRun> LabBench::goals_of(const Stage& stage) const {
  std::vector<GoalRun> runs;
  const auto& types = lab_.rung(stage.rung).types;
  const std::string& main_type = lab_.rung(stage.rung).main_type();
  std::set<std::string> doubled;  // types in which one goal asks for it: then every call is made so
  for (const auto& goal : lab_.goals) {
    if (goal.stage != stage.id) continue;
    for (const auto& at : goal.at) {
      for (const auto& type : types) {
        // Large extents cost a tenth of a second each: there in one type, at ragged ones in all.
        const bool large = at.m * at.n * at.k > (std::int64_t{4} << 20);
        if (large && type != main_type) continue;
        runs.push_back({&goal, type, at, false, nullptr});
        if (goal.doubled) doubled.insert(type);
      }
    }
  }
  for (GoalRun& run : runs) run.doubled = doubled.count(run.type) != 0;
  return runs;
}

std::vector<LabBench::GoalRun> LabBench::run_goals(const Stage& stage) {
  std::vector<GoalRun> runs = goals_of(stage);
  std::map<std::string, std::vector<GoalRun*>> by_type;
  for (auto& run : runs) by_type[run.type].push_back(&run);
  std::vector<std::function<void()>> jobs;
  for (auto& [type, list] : by_type) {
    RungCheck* const checked = check(stage.rung, type);
    if (!checked) continue;
    jobs.push_back([this, &stage, checked, &of_type = type, &in_list = list] {
      const SessionLock::Held held = lock(stage.rung, of_type);
      for (auto* run : in_list) run->measured = &checked->measure(run->at, run->doubled);
    });
  }
  run(jobs);
  return runs;
}

std::optional<ConflictDegree> LabBench::measure_answer(const Answer& answer) {
  const std::string& type = lab_.rung(answer.rung).main_type();
  RungCheck* const checked = check(answer.rung, type);
  if (!checked) return {};
  const SessionLock::Held held = lock(answer.rung, type);
  const Extents at{2 * lab_.tile_size("BM", 16), 2 * lab_.tile_size("BN", 16),
                   2 * lab_.tile_size("BK", 16)};
  const Measured& measured = checked->measure(at);
  if (measured.failure) return {};
  ConflictDegree worst;
  double most = 0;
  for (const auto& [line, counts] : lines_of(measured.observed, unit(answer.rung).shown_path)) {
    const simgpu::SharedCounts& s =
        answer.measured == "load_wavefronts" ? counts.shared_load : counts.shared_store;
    if (s.requests == 0) continue;
    const double degree = static_cast<double>(s.wavefronts) / static_cast<double>(s.requests);
    if (degree <= most) continue;
    most = degree;
    worst = {std::lround(degree), line};
  }
  if (worst.line == 0) return {};
  return worst;
}

}  // namespace grader
