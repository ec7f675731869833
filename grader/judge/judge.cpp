#include "grader/judge/judge.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <ostream>
#include <set>
#include <sstream>

#define CATCH_CONFIG_EXTERNAL_INTERFACES  // v2: the listener's base class
#include "common/catch2.hpp"
#include "grader/compile/unit.hpp"
#include "grader/errors.hpp"
#include "grader/judge/kept_stages.hpp"
#include "grader/judge/owner.hpp"
#include "grader/judge/stage.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/sha256.hpp"

namespace grader {
namespace {

using messages::text;
using report::LabResult;
using report::StageResult;
using report::State;

/// What Catch2 shows of a case if it ever prints one: never the matrices.
struct Seen {
  const CaseResult* result;
  friend std::ostream& operator<<(std::ostream& out, const Seen& seen) {
    return out << seen.result->shape.name() << " in " << seen.result->type;
  }
};

template <typename T>
#if GEMM_LAB_CATCH2_V3
using MatcherBase = Catch::Matchers::MatcherBase<T>;
#else
using MatcherBase = Catch::MatcherBase<T>;
#endif

struct IsRight : MatcherBase<Seen> {
  bool match(const Seen& seen) const override { return seen.result->right(); }
  std::string describe() const override { return "is right in every data set, without findings"; }
};

struct MeetsBound : MatcherBase<report::GoalResult> {
  bool match(const report::GoalResult& goal) const override { return goal.met; }
  std::string describe() const override { return "is within its goal"; }
};

/// What the listener hears. Catch2 creates the listener itself, so the two meet through this.
struct Heard {
  unsigned passed = 0, failed = 0;
  std::string unexpected;  ///< an exception that reached Catch2
};
Heard* heard = nullptr;

#if GEMM_LAB_CATCH2_V3
struct Listener : Catch::EventListenerBase {
  explicit Listener(const Catch::IConfig* config) : EventListenerBase(config) {
    m_preferences.shouldReportAllAssertions = true;  // else late v3 tells of failures only
  }
  void assertionEnded(const Catch::AssertionStats& stats) override { hear(stats.assertionResult); }
#else
struct Listener : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  bool assertionEnded(const Catch::AssertionStats& stats) override {
    hear(stats.assertionResult);
    return true;
  }
#endif
  static void hear(const Catch::AssertionResult& result) {
    if (!heard) return;  // another program's tests
    ++(result.isOk() ? heard->passed : heard->failed);
    if (result.getResultType() == Catch::ResultWas::ThrewException)
      heard->unexpected = std::string(result.getMessage());
  }
};

/// The work at hand while Catch2 runs.
struct Docket {
  struct Item {
    const Lab* lab;
    const Stage* stage;
    std::size_t lab_index;
    BuildStatus built;  ///< of the stage's file
    std::string file;
    std::optional<StageResult> kept;  ///< what an earlier check found, and still holds
  };
  std::vector<Item> items;
  std::size_t next = 0;
  std::vector<std::unique_ptr<LabBench>> benches;
  std::vector<std::optional<KeptStages>> kept;  ///< by lab
  std::vector<LabResult>* results = nullptr;
  const JudgeOptions* options = nullptr;
};
Docket* docket = nullptr;
CatchSession catch_session = nullptr;

StageResult blank(const Stage& stage) {
  StageResult result;
  result.id = stage.id;
  result.title = stage.title;
  result.rung = stage.rung;
  result.bonus = stage.kind == Kind::bonus;
  result.points = stage.points;
  return result;
}

/// The first needed stage that has not passed; "" = none.
std::string missing_need(const LabResult& lab, const Stage& stage) {
  for (const auto& needed : stage.needs)
    for (const auto& other : lab.stages)
      if (other.id == needed && other.state != State::passed && other.state != State::skipped)
        return needed;
  return {};
}

/// A stage whose file was not built, or whose session could not be started.
StageResult unbuilt(const Docket::Item& item, const LabResult& lab) {
  const bool infra = lab.build == BuildStatus::infra;
  StageResult failed = blank(*item.stage);
  failed.state = infra ? State::infra : State::failed;
  failed.verdict = infra                                      ? Verdict::infra_error
                   : item.built == BuildStatus::compile_limit ? Verdict::compile_limit
                                                              : Verdict::compile_error;
  failed.headline = infra ? lab.build_headline : text("stage.unbuilt");
  failed.file = item.file;
  return failed;
}

void not_started(const Stage& stage, StageResult& result, const LabBench& bench, const Todo& todo) {
  const State state = State::not_started;
  StageResult fresh;
  fresh.id = result.id, fresh.title = result.title, fresh.rung = result.rung;
  fresh.bonus = result.bonus, fresh.points = result.points, fresh.seconds = result.seconds;
  fresh.assertions = result.assertions, fresh.passed_assertions = result.passed_assertions;
  fresh.state = state;
  fresh.verdict = Verdict::not_started;
  fresh.file = bench.unit(stage.rung).shown_path;
  fresh.line = todo.line;
  fresh.headline =
      text("stage.not_started", {{"id", result.id}, {"file", fresh.file}, {"line", todo.line}});
  if (!todo.text.empty()) fresh.details = {todo.text};
  result = std::move(fresh);
}

/// The launcher of every type must exist with the right signature. True if all do.
bool launchers_defined(const Stage& stage, LabBench& bench, StageResult& result) {
  std::vector<std::pair<std::string, std::string>> wanted;  // entry, signature
  for (const auto& type : bench.lab().rung(stage.rung).types)
    wanted.emplace_back(stage.rung + "<" + type + ">", signature(stage.rung, type));
  if (stage.answer)
    wanted.emplace_back(
        stage.answer->function,
        (stage.answer->measured.empty() ? "const char* " : "int ") + stage.answer->function + "()");
  for (const auto& [name, form] : wanted) {
    const EntryPoint* entry = bench.entry(name);
    CHECK((entry && entry->defined));
    if (entry && entry->defined) continue;
    result.verdict = Verdict::compile_error;
    result.diagnosis = "SIGNATURE";
    result.file = bench.unit(stage.rung).shown_path;
    result.headline = text("stage.signature", {{"function", entry ? entry->function : name}});
    result.details = {text("stage.signature.wanted", {{"signature", form}})};
    if (entry && !entry->found.empty())
      result.details.push_back(text("stage.signature.found", {{"signature", entry->found}}));
    result.next_step = text("stage.signature.next");
    return false;
  }
  return true;
}

/// True if right. An empty answer is no attempt.
bool answer_right(const Stage& stage, LabBench& bench, StageResult& result, bool& attempted) {
  const AskOutcome outcome = bench.ask(stage.answer->function);
  attempted = true;
  if (outcome.end == CallEnd::infra) {
    describe_infra(result, outcome.message);
    return false;
  }
  const bool prediction = !stage.answer->measured.empty();
  const std::string answer = prediction ? outcome.answer : normalised_answer(outcome.answer);
  const auto& accepted = stage.answer->hashes;
  bool right = !prediction && outcome.end == CallEnd::returned && outcome.answered &&
               !answer.empty() &&
               std::find(accepted.begin(), accepted.end(),
                         answer_hash(bench.lab().name, stage.id, answer)) != accepted.end();
  unsigned line = 0;
  if (prediction && outcome.end == CallEnd::returned && !answer.empty()) {
    const std::optional<ConflictDegree> seen = bench.measure_answer(*stage.answer);
    if (!seen) {
      CHECK(false);
      result.verdict = Verdict::wrong_answer;
      result.diagnosis = "ANSWER";
      result.file = bench.unit(stage.rung).shown_path;
      result.headline = text("ANSWER.unmeasured", {{"rung", stage.answer->rung}});
      result.next_step = text("ANSWER.unmeasured.next");
      return false;
    }
    right = answer == fmt::format("{}", seen->wavefronts);
    line = seen->line;
  }
  CHECK(right);
  if (right) return true;
  attempted = !answer.empty();
  result.verdict = outcome.end == CallEnd::returned ? Verdict::wrong_answer
                   : outcome.end == CallEnd::hung   ? Verdict::timeout
                                                    : Verdict::runtime_error;
  result.diagnosis = "ANSWER";
  result.file = bench.unit(stage.rung).shown_path;
  const std::string shortened(first_bytes(answer, 40));
  result.headline =
      outcome.end != CallEnd::returned ? text("ANSWER.died", {{"function", stage.answer->function}})
      : answer.empty() ? text("ANSWER.empty", {{"function", stage.answer->function}})
      : prediction
          ? text("ANSWER.prediction.wrong", {{"function", stage.answer->function},
                                             {"answer", shortened},
                                             {"line", line},
                                             {"rung", stage.answer->rung}})
          : text("ANSWER.wrong", {{"function", stage.answer->function}, {"answer", shortened}});
  result.line = line;
  result.next_step = text(prediction ? "ANSWER.prediction.next" : "ANSWER.next");
  return false;
}

/// Every case of a stage in every type. The failure to be shown, if there is one.
FailurePick judge_cases(const Stage& stage, const std::vector<Case>& cases, LabBench& bench,
                        StageResult& result) {
  const auto by_type = bench.run_cases(stage, cases);
  FailurePick pick;
  std::set<std::string> notes;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const auto& type : bench.lab().rung(stage.rung).types) {
      const auto& list = by_type.at(type);
      if (i >= list.size() || !list[i]) continue;
      const CaseResult& seen = *list[i];
      CHECK_THAT(Seen{&seen}, IsRight());
      notes.insert(seen.notes.begin(), seen.notes.end());
      if (result.printed.empty()) result.printed = seen.printed;
      pick.see(seen);
    }
  }
  result.notes = one_of_each(notes);
  return pick;
}

/// True if all of a stage's goals are met; else the result says what is missed.
bool judge_goals(const Stage& stage, LabBench& bench, StageResult& result) {
  const auto runs = bench.run_goals(stage);
  bool met = true;
  const Observed* largest = nullptr;
  for (const auto& run : runs) {
    if (!run.measured) continue;
    const CaseResult counted{
        Case{run.at, 0, 0, 0, false}, run.type, run.measured->failure, {}, {}, 0};
    CHECK_THAT(Seen{&counted}, IsRight());
    if (run.measured->failure) {
      const SessionLock::Held held = bench.lock(stage.rung, run.type);
      describe_failure(result, bench.unit(stage.rung).shown_path,
                       *bench.check(stage.rung, run.type), counted, counted);
      return false;
    }
    const Observed& seen = run.measured->observed;
    if (run.type == bench.lab().rung(stage.rung).main_type() &&
        (!largest || seen.extents.m * seen.extents.n * seen.extents.k >
                         largest->extents.m * largest->extents.n * largest->extents.k))
      largest = &seen;
    const report::GoalResult goal = goal_result(run);
    result.goals.push_back(goal);
    if (goal.advice) {
      if (!goal.met) result.notes.push_back(advice_of(run, bench.unit(stage.rung).shown_path));
      continue;
    }
    CHECK_THAT(goal, MeetsBound());
    met = met && goal.met;
  }
  std::sort(result.notes.begin(), result.notes.end());
  result.notes.erase(std::unique(result.notes.begin(), result.notes.end()), result.notes.end());
  const std::string& file = bench.unit(stage.rung).shown_path;
  if (largest)
    result.counted = counted_lines(*largest, file, bench.lab().rung(stage.rung).main_type());
  if (!met) describe_missed(result, runs, file, bench.lab().rung(stage.rung).launch);
  return met;
}

std::string passed_headline(const StageResult& result, std::size_t shapes) {
  std::set<std::string> goals;
  for (const auto& goal : result.goals)
    if (!goal.advice) goals.insert(goal.key);
  const char* const key = goals.empty()       ? "stage.passed"
                          : goals.size() == 1 ? "stage.passed.goal"
                                              : "stage.passed.goals";
  return text(key, {{"shapes", shapes}, {"goals", goals.size()}});
}

/// What these diagnoses blame is when something happens, not which element it touches.
constexpr const char* kOfOrder[] = {"RACE-RAW", "RACE-WAR", "ASYNC-",
                                    "BARRIER",  "DEADLOCK", "PROXY"};

/// The lines that call a function in what a stage asks for; if there are none, those in what that calls.
std::vector<unsigned> calls_for_stage(const std::string& source, const std::string& function,
                                      const std::string& stage) {
  const std::vector<unsigned> everywhere = calls_of(source, function, "");
  std::vector<unsigned> direct, reached;
  for (const unsigned line : everywhere)
    if (owner_of(source, line).stage == stage) direct.push_back(line);
  if (!direct.empty()) return direct;
  for (const unsigned line : everywhere)
    if (reached_from(source, line, stage)) reached.push_back(line);
  return reached;
}

/// The line that a message names may stand in code of another stage, or in a function that others
/// call: it may be wrong there, or be handed what is wrong.
void tell_owner(const Stage& stage, const LabBench& bench, StageResult& result) {
  const SourceUnit& unit = bench.unit(stage.rung);
  if (result.state != State::failed || result.line == 0 || result.file != unit.shown_path) return;
  if (const Overrun at = overrun_at(unit.source, result.line, result.headline); !at.met.empty()) {
    const std::vector<messages::Gap> gaps = {
        {"line", result.line}, {"meant", at.meant}, {"met", at.met}};
    const std::string beyond = result.diagnosis + ".beyond";
    if (messages::exists(beyond + ".headline")) {
      result.headline = text(beyond + ".headline", gaps);
      result.next_step = text(beyond + ".next", gaps);
    } else {
      result.details.push_back(text("detail.overrun", gaps));
    }
  }
  const Owner owner = owner_of(unit.source, result.line);
  if (owner.kernel || owner.function.empty() || owner.stage == stage.id) return;
  const bool known = bench.lab().stage(owner.stage) != nullptr;
  if (!known && result.verdict == Verdict::goal_missed) return;
  // Who comes too early, or does not wait, is not wrong at that line.
  const bool order =
      std::any_of(std::begin(kOfOrder), std::end(kOfOrder),
                  [&result](const char* id) { return result.diagnosis.rfind(id, 0) == 0; });
  result.details.push_back(text(order   ? "detail.owner.order"
                                : known ? "detail.owner.stage"
                                        : "detail.owner",
                                {{"line", result.line},
                                 {"function", owner.function},
                                 {"stage", owner.stage},
                                 {"id", stage.id}}));
  if (!known && !order)
    for (const Member& member : members_called_by(unit.source, result.line))
      result.details.push_back(text(
          "detail.owner.member",
          {{"function", owner.function}, {"member", member.function}, {"stage", member.stage}}));
  constexpr std::size_t kMostCalls = 4;  // of more, none is singled out
  // Where the stage has none, those that name the array.
  std::vector<unsigned> calls = calls_for_stage(unit.source, owner.function, stage.id);
  if (calls.empty()) calls = calls_of(unit.source, owner.function, result.headline);
  if (calls.empty() || calls.size() > kMostCalls) return;
  std::string lines;
  for (std::size_t i = 0; i < calls.size(); ++i)
    lines += (i == 0 ? "" : i + 1 < calls.size() ? ", " : " and ") + std::to_string(calls[i]);
  result.details.push_back(text(calls.size() == 1 ? "detail.owner.call" : "detail.owner.calls",
                                {{"function", owner.function}, {"lines", lines}}));
}

/// Runs one stage inside a Catch2 section: every fact that decides is an assertion.
void run_stage(const Stage& stage, LabBench& bench, StageResult& result) {
  const Todo todo = find_todo(bench.unit(stage.rung).source, stage.id);
  if (!launchers_defined(stage, bench, result)) return;

  bool answered = true, attempted = true;
  if (stage.answer) answered = answer_right(stage, bench, result, attempted);
  if (result.state == State::infra) return;

  std::vector<Case> cases = cases_of(bench.lab(), stage);
  if (const auto& key = docket->options->key)
    for (const Case& one : drawn_cases(bench.lab(), stage, *key)) cases.push_back(one);
  const FailurePick pick = judge_cases(stage, cases, bench, result);
  if (const CaseResult* chosen = pick.chosen()) {
    // Code that stands elsewhere, above the comment, has done something: then what was found is told.
    if (todo.untouched && (pick.untouched() || pick.unfilled()) &&
        chosen->failure->kind == Failure::Kind::wrong) {
      not_started(stage, result, bench, todo);
      return;
    }
    const SessionLock::Held held = bench.lock(stage.rung, chosen->type);
    describe_failure(result, bench.unit(stage.rung).shown_path,
                     *bench.check(stage.rung, chosen->type), *pick.smallest(), *chosen,
                     largest_of(cases));
    if (stage.answer && answered)
      result.details.push_back(text("detail.answer.right", {{"function", stage.answer->function}}));
    return;
  }
  if (!answered) {
    if (!attempted && todo.line != 0) not_started(stage, result, bench, todo);
    return;
  }
  if (!judge_goals(stage, bench, result)) {
    // What stands in for an estimate is right, if slow.
    if (todo.stand_in && result.verdict == Verdict::goal_missed)
      not_started(stage, result, bench, todo);
    return;
  }
  if (!docket->options->key)
    for (std::string& note : bench.notes_of_luck(stage, cases))
      result.notes.push_back(std::move(note));
  result.state = State::passed;
  result.verdict = Verdict::accepted;
  result.headline = passed_headline(result, cases.size());
}

void run_item(const Docket::Item& item) {
  LabResult& lab = (*docket->results)[item.lab_index];
  if (lab.build == BuildStatus::infra || item.built != BuildStatus::built) {
    lab.stages.push_back(unbuilt(item, lab));
    return;
  }
  StageResult result = blank(*item.stage);
  const auto start = std::chrono::steady_clock::now();
  const std::string missing = missing_need(lab, *item.stage);
  double ahead = 0;
  Heard section;
  if (!missing.empty()) {
    result.state = State::locked;
    result.verdict = Verdict::locked;
    result.headline = text("stage.locked", {{"needs", missing}});
  } else if (item.kept) {
    result = *item.kept;
  } else {
    if (docket->options->progress)
      docket->options->progress(item.stage->id + " " + item.stage->title);
    heard = &section;
    try {
      run_stage(*item.stage, *docket->benches[item.lab_index], result);
      tell_owner(*item.stage, *docket->benches[item.lab_index], result);
    } catch (const std::exception& error) {
      describe_infra(result, error.what());
    }
    heard = nullptr;
    LabBench& bench = *docket->benches[item.lab_index];
    bench.end_stage();
    ahead = bench.seconds_ahead();
    result.assertions = section.passed + section.failed;
    result.passed_assertions = section.passed;
    // The listener has the last word: a pass needs assertions, and all of them right.
    if (result.state == State::passed && (section.failed != 0 || section.passed == 0)) {
      result.state = State::infra;
      result.verdict = Verdict::infra_error;
      result.headline = text(
          "verdict.infra", {{"what", "the stage reports a pass that its assertions do not show"}});
    }
    if (result.state == State::passed) {
      result.earned = result.points;
      if (const auto& kept = docket->kept[item.lab_index])
        kept->keep(result, bench.kernels(*item.stage));
    }
  }
  if (result.state != State::passed) docket->benches[item.lab_index]->failed(*item.stage);
  result.seconds =
      ahead + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  lab.seconds += result.seconds;
  lab.stages.push_back(std::move(result));
}

CATCH_REGISTER_LISTENER(Listener)

TEST_CASE("stages of the labs under test", "[.judge]") {
  if (!docket) return;
  // A section per stage: Catch2 comes back here once for each, in order.
  for (std::size_t i = 0; i < docket->items.size(); ++i) {
    const auto& item = docket->items[i];
    DYNAMIC_SECTION(item.lab->name << " " << item.stage->id) {
      docket->next = i + 1;
      run_item(item);
    }
  }
}

/// Fills in what became of a lab's files, and returns them as the worker found them. It parses the
/// PTX before anything else is asked: text that it refuses is a compile error of the file.
std::vector<SourceUnit> describe_build(const Build& build, LabBench& bench, std::vector<bool> known,
                                       LabResult& result) {
  std::vector<SourceUnit> units = build.units;
  result.build = BuildStatus::built;
  result.build_seconds = build.seconds;
  if (!build.runner.empty()) {
    try {
      units = bench.load(std::move(known));
    } catch (const InfraError& error) {
      result.build = BuildStatus::infra;
      result.build_headline = text("verdict.infra", {{"what", error.what()}});
    }
  }
  std::string sources;
  for (const auto& unit : units) {
    if (result.file.empty()) result.file = unit.shown_path;
    sources += unit.source;
    result.warnings.insert(result.warnings.end(), unit.warnings.begin(), unit.warnings.end());
    if (unit.built() || result.build == BuildStatus::infra) continue;
    if (result.build == BuildStatus::built) {
      result.build = unit.status;
      result.file = unit.shown_path;
      result.build_headline = unit.headline;
    } else {
      result.build_details.push_back(unit.headline);
    }
    result.build_details.insert(result.build_details.end(), unit.details.begin(),
                                unit.details.end());
  }
  if (!sources.empty()) result.source_sha256 = sha256(sources);
  return units;
}

}  // namespace

void use_catch_session(CatchSession session) {
  catch_session = session;
}

namespace {

/// The lines of code after that of `begin`, at most six of them and none after the end of a block.
std::vector<std::string> first_code_lines(const std::string& source, std::size_t begin) {
  std::istringstream lines(source.substr(std::min(source.find('\n', begin), source.size())));
  std::vector<std::string> code;
  for (std::string line; code.size() < 6 && std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line.compare(first, 2, "//") == 0) continue;
    if (line[first] == '}') break;
    code.push_back(line.substr(first));
  }
  return code;
}

/// One form in which skeletons leave a TODO: nothing at all up to the end of the function, or up to the
/// check of the launch that is missing.
bool is_empty(const std::vector<std::string>& code) {
  return code.empty() || code.front().rfind("CUDA_CHECK_LAUNCH", 0) == 0 ||
         code.front().rfind("(void)", 0) == 0;
}

/// "return LAUNCH + BLOCK + 0 * (m + n);": nothing but constants, and what is named so that it counts as used.
bool returns_constants(const std::string& line) {
  const std::string begin = "return ";
  const std::size_t zero = line.find(" + 0 * (");
  return line.rfind(begin, 0) == 0 && zero != std::string::npos &&
         line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_ +", begin.size()) >= zero;
}

/// The other form, a stand-in: one that writes nothing, or an estimate that is the same for all there is to choose from.
bool has_stand_in(const std::vector<std::string>& code) {
  return std::any_of(code.begin(), code.end(), [](const std::string& line) {
    for (const char* stand_in : {"unwritten<", "1 << 30", "WRITTEN = false"})
      if (line.find(stand_in) != std::string::npos) return true;
    return returns_constants(line);
  });
}

}  // namespace

Todo find_todo(const std::string& source, const std::string& id) {
  const std::string marker = "TODO(" + id + ")";
  Todo todo;
  const auto at = source.find(marker);
  if (at == std::string::npos) return todo;
  todo.line = static_cast<unsigned>(std::count(
                  source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
              1;
  // The comment may go on over following lines that hold nothing but a comment.
  std::size_t begin = at + marker.size();
  for (int lines = 0; lines < 4; ++lines) {
    const std::size_t end = std::min(source.find('\n', begin), source.size());
    std::string part = source.substr(begin, end - begin);
    part.erase(0, std::min(part.find_first_not_of(" \t"), part.size()));
    while (!part.empty() && std::isspace(static_cast<unsigned char>(part.back()))) part.pop_back();
    if (!part.empty()) todo.text += (todo.text.empty() ? "" : " ") + part;
    const std::size_t next = source.find_first_not_of(" \t", std::min(end + 1, source.size()));
    if (next == std::string::npos || source.compare(next, 2, "//") != 0 ||
        source.compare(next, 3, "///") == 0 || source.compare(next, 6, "// >>>") == 0 ||
        source.find("TODO(", next) < std::min(source.find('\n', next), source.size()))
      break;
    begin = next + 2;
  }
  const std::vector<std::string> code = first_code_lines(source, begin);
  todo.stand_in = has_stand_in(code);
  todo.untouched = todo.stand_in || is_empty(code);
  return todo;
}

std::string normalised_answer(const std::string& answer) {
  std::string letters;
  for (const char c : answer)
    if (std::isalnum(static_cast<unsigned char>(c)))
      letters += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::sort(letters.begin(), letters.end());
  return letters;
}

std::string answer_hash(const std::string& lab, const std::string& stage,
                        const std::string& answer) {
  constexpr int kRounds = 1 << 16;
  std::string hash = sha256(lab + ' ' + stage + ' ' + answer);
  for (int round = 0; round < kRounds; ++round) hash = sha256(hash);
  return hash;
}

namespace {

/// The stages that are judged: all, or the one that was asked for with what it needs, for it counts
/// only if those have passed.
std::set<std::string> wanted_stages(const Lab& lab, const JudgeOptions& options) {
  std::set<std::string> wanted;
  if (!options.stage) {
    for (const auto& stage : lab.stages) wanted.insert(stage.id);
    return wanted;
  }
  std::vector<std::string> open = {*options.stage};
  while (!open.empty()) {
    const std::string id = open.back();
    open.pop_back();
    const Stage* stage = lab.stage(id);
    if (!stage || !wanted.insert(id).second) continue;
    if (!options.alone) open.insert(open.end(), stage->needs.begin(), stage->needs.end());
  }
  return wanted;
}

/// Has Catch2 call run_item for each item of the docket.
void run_docket(Docket& work) {
  docket = &work;
  // Catch2 prints to a file that keeps nothing. A hidden case runs when it is named.
  const char* arguments[] = {"judge", "stages of the labs under test", "-o", "/dev/null",
                             "--allow-running-no-tests"};
  if (!catch_session) throw InfraError("the judge was built without a Catch2 session");
  catch_session(GEMM_LAB_CATCH2_V3 ? 5 : 4, arguments);  // its exit code is not looked at
  docket = nullptr;
  for (const auto& item : work.items) {
    const LabResult& lab = (*work.results)[item.lab_index];
    const bool done = std::any_of(lab.stages.begin(), lab.stages.end(),
                                  [&](const StageResult& s) { return s.id == item.stage->id; });
    if (!done) throw InfraError("stage " + item.stage->id + " of " + lab.name + " was never run");
  }
}

}  // namespace

std::vector<LabResult> judge(const std::vector<Assignment>& assignments,
                             const JudgeOptions& options) {
  std::vector<LabResult> results;
  Pool pool(options.jobs);  // before the benches: their sessions' processes die with its threads
  Docket work;
  work.results = &results;
  work.options = &options;
  for (const auto& [lab, build, described] : assignments) {
    LabResult result;
    result.id = lab->id;
    result.name = lab->name;
    result.title = lab->title;
    work.benches.push_back(std::make_unique<LabBench>(*lab, *build, options, pool));
    std::optional<KeptStages>& kept = work.kept.emplace_back();
    if (options.kept) kept.emplace(*options.kept, *lab, *build, described, options.seed);
    std::map<std::string, StageResult> found;
    if (kept) found = kept->find();
    const std::vector<SourceUnit> units = describe_build(
        *build, *work.benches.back(), kept ? kept->known() : std::vector<bool>(), result);
    const std::set<std::string> wanted = wanted_stages(*lab, options);
    LabBench::StageCases built;
    for (const auto& stage : lab->stages) {
      if (!wanted.count(stage.id)) continue;
      const std::string& file = lab->rung(stage.rung).file;
      const auto unit = std::find_if(units.begin(), units.end(),
                                     [&](const SourceUnit& one) { return one.file == file; });
      work.items.push_back({lab,
                            &stage,
                            results.size(),
                            unit == units.end() ? BuildStatus::built : unit->status,
                            unit == units.end() ? "" : unit->shown_path,
                            {}});
      if (const auto known = found.find(stage.id); known != found.end())
        work.items.back().kept = std::move(known->second);
      else if (result.build != BuildStatus::infra && work.items.back().built == BuildStatus::built)
        built.emplace_back(&stage, cases_of(*lab, stage));
    }
    work.benches.back()->begin_ahead(std::move(built));
    results.push_back(std::move(result));
  }
  if (!work.items.empty()) run_docket(work);
  for (const auto& bench : work.benches) bench->stop_ahead();
  work.benches.clear();
  return results;
}

}  // namespace grader
