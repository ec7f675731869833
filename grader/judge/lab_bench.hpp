// All rungs of one lab under test: which session serves which rung, and which calls a stage makes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grader/judge/ahead.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/rung_check.hpp"
#include "grader/os/pool.hpp"

namespace grader {

/// The shared access with the most wavefronts per request.
struct ConflictDegree {
  long wavefronts = 0;  ///< per request, rounded
  unsigned line = 0;
};

/// All rungs of one lab under test, kept for later stages.
class LabBench {
 public:
  /// `pool` starts the sessions, so it must outlive this.
  LabBench(const Lab& lab, const Build& build, const JudgeOptions& options, Pool& pool);
  ~LabBench();
  LabBench(const LabBench&) = delete;
  LabBench& operator=(const LabBench&) = delete;

  /// Call this first: load() of the first session. PTX that its worker accepts, and what is `known`, need
  /// not be parsed in full again.
  std::vector<SourceUnit> load(std::vector<bool> known);
  /// Lets the pool work through these stages and their cases ahead of whoever asks for results
  /// (grader/judge/ahead.hpp). Does nothing with one core, or in `make grade`, where students are graded
  /// side by side and processes end with each stage.
  using StageCases = std::vector<std::pair<const Stage*, std::vector<Case>>>;
  void begin_ahead(StageCases stages);
  void stop_ahead() { board_.stop(); }
  /// The stage did not pass: those that need it are not worked on ahead.
  void failed(const Stage& stage) { board_.fail(stage.id); }
  /// Seconds of work that was done ahead, without the judge waiting, since the last call of this.
  double seconds_ahead() { return std::exchange(seconds_ahead_, 0); }

  /// The check of one rung in one type; null if the launcher is not defined.
  RungCheck* check(const std::string& rung, const std::string& type) const;
  const EntryPoint* entry(const std::string& name) const;
  /// Hold this while using a check or its session, which another thread may be using to work ahead; but
  /// not while waiting for that thread.
  SessionLock::Held lock(const std::string& rung, const std::string& type);
  AskOutcome ask(const std::string& function);
  /// Ends a stranger's processes, so that one stage cannot leave anything for the next.
  void end_stage();

  /// Results by type, one per case in order, each type in its own session and types side by side.
  /// A type stops at the first failure that can be explained; null stands for a case that is judged
  /// in another type only.
  std::map<std::string, std::vector<const CaseResult*>> run_cases(const Stage& stage,
                                                                  const std::vector<Case>& cases);
  /// Counts for every (type, extents) of the stage's goals.
  struct GoalRun {
    const Goal* goal = nullptr;
    std::string type;
    Extents at;
    bool doubled = false;  ///< also with tensor cores that double their products
    const Measured* measured = nullptr;
  };
  std::vector<GoalRun> run_goals(const Stage& stage);

  /// What to note of a stage that passes: an index beyond the end of an array may leave C as it should
  /// be, with this compiler, and so do blocks that have nothing to do.
  std::vector<std::string> notes_of_luck(const Stage& stage, const std::vector<Case>& cases);

  /// What a prediction is compared with; empty if the kernel cannot be measured.
  std::optional<ConflictDegree> measure_answer(const Answer& answer);

  /// The kernels that a stage has launched so far.
  std::set<std::string> kernels(const Stage& stage) const;

  const Lab& lab() const { return lab_; }
  /// The file that a rung's launcher is in.
  const SourceUnit& unit(const std::string& rung) const;

 private:
  /// A session and its lock. One serves all rungs of a type; when working ahead, those of a type in one
  /// file; if boxed, a single entry.
  struct Seat {
    Seat(const Build& build, const SessionConfig& config) : session(build, config) {}
    Session session;
    SessionLock lock;
  };
  std::string seat_name(const std::string& rung, const std::string& type) const;
  Seat& seat(const std::string& rung, const std::string& type);
  Seat& first_seat();
  /// A call of its own, in processes of its own, over device code that checks indices into arrays.
  std::optional<RungCheck::BoundsRun> call_with_array_bounds(const Rung& rung,
                                                             const std::string& type,
                                                             const CallSpec& spec) const;
  /// Tries the cases of a stage in one type until one fails that can be explained; null stands for a
  /// case that is judged in another type only. `take` locks the session for each case; no lock means
  /// stop.
  using Take = std::function<std::optional<SessionLock::Held>()>;
  std::vector<const CaseResult*> try_cases(const Stage& stage, const std::vector<Case>& cases,
                                           const std::string& type, const Take& take);
  /// Works on all stages that a seat serves; on one of them, returning the seconds it took.
  void work_ahead(const std::string& name);
  double work_on(Seat& seat, const Stage& stage, const std::vector<Case>& cases,
                 const std::string& type);
  /// Waits until the stage has been worked on ahead.
  void wait_for(const Stage& stage);
  /// Runs the jobs side by side, or one after the other if their results are there already.
  void run(const std::vector<std::function<void()>>& jobs);
  std::vector<GoalRun> goals_of(const Stage& stage) const;

  const Lab& lab_;
  const Build& build_;
  const JudgeOptions& options_;
  Pool& pool_;
  SessionConfig config_;
  bool one_process_per_rung_ = false;  ///< and for one stage: a stranger's code
  bool ahead_ = false;
  StageCases stages_;  ///< to be worked on ahead
  StageBoard board_;
  double seconds_ahead_ = 0;
  /// By seat_name() and by entry. Complete after load(), since several threads look them up then.
  std::map<std::string, std::unique_ptr<Seat>> seats_;
  std::map<std::string, std::unique_ptr<RungCheck>> checks_;
};

/// A failure large enough that its diagnosis says more than "everything is wrong".
bool telling(const Case& shape);
/// The largest case that every type is judged at and that tells something; null: there is none.
const Case* largest_of(const std::vector<Case>& cases);

}  // namespace grader
