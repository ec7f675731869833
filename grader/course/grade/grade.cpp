// A class at a time. Each record is on disk before the next begins, and what is graded stays.
#include "grader/course/grade/grade.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "grader/commands/common.hpp"
#include "grader/course/box/unpacker.hpp"
#include "grader/course/grade/cluster.hpp"
#include "grader/course/grade/judging.hpp"
#include "grader/course/grade/progress.hpp"
#include "grader/course/grade/regrade.hpp"
#include "grader/course/grade/slurm.hpp"
#include "grader/course/grade/tables.hpp"
#include "grader/course/intake/intake.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/pool.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

// All students' rows are written again with each table: not after each of hundreds.
constexpr std::chrono::seconds between_tables{1};
// Where tasks end, the collector and whoever waits make the same tables, one after the other.
constexpr std::chrono::seconds others_tables{120};
// What was too noisy on a GPU, in one run; another run measures it again.
constexpr int further_measurements = 2;

fs::path grades_folder(const GradeOptions& options) {
  return options.out.empty() ? workplace(options.place).build / "grades"
                             : fs::absolute(options.out);
}

class Class {
 public:
  explicit Class(const GradeOptions& options)
      : options_(options),
        place_(workplace(options.place)),
        labs_(discover_labs(place_.root)),
        course_(options.course.empty() ? Course{}
                                       : apply_course(labs_, read_file(options.course, 1u << 20),
                                                      options.course.string())),
        intake_(options.submissions, options.roster, place_.build / "repositories",
                box::unpacking(grader_program().parent_path(), options.unsafe)),
        records_(folder_of_results(grades_folder(options), options.submissions)),
        lock_(records_.lock(options.collector ? others_tables : std::chrono::seconds())),
        cluster_(options, place_, records_),
        table_{intake_, labs_, course_, {}, {}, options.device == "gpu", {}} {
    waiting_.resize(intake_.students().size());
    table_.entries.resize(intake_.students().size());
    if (!options.regrade.empty()) {
      if (std::none_of(intake_.students().begin(), intake_.students().end(),
                       [&](const auto& one) { return one.id == options.regrade; }))
        throw UserError(messages::text("grade.nobody", {{"student", printable(options.regrade)}}),
                        exit_usage);
      if (!options.stage.empty())
        lab_of_stage(labs_, options.stage);  // or an error that lists them
    }
  }

  ExitCode run() {
    if (options_.collector) {
      take_from_cluster(cluster_.plan());
    } else if (options_.engine == "slurm") {
      grade_on_cluster();
    } else {
      if (cluster_at_work())
        throw UserError(messages::text("grade.at_work", {{"folder", records_.folder().string()}}),
                        exit_usage);
      begin();
      judging_->find_gpus();
      if (judging_->gpus())
        std::cerr << messages::text("grade.gpus", {{"count", judging_->gpus()->devices().size()},
                                                   {"about", judging_->gpus()->about()}})
                  << '\n';
      each([this](std::size_t i) { grade(i); });
      for (int i = 0; i < further_measurements && judging_->gpus(); ++i)
        if (!measure_again()) break;
    }
    return conclude();
  }

 private:
  void begin() {
    records_.sweep();
    judging_.emplace(place_, labs_, course_, records_,
                     JudgingOptions{options_.course, options_.stage, options_.unsafe,
                                    table_.measured, options_.weaken});
    table_.protection = judging_->protection();
    table_.setting = judging_->setting();
    remember();
    std::cerr << "protection: " << table_.protection << '\n';
    if (!course_.speed_points.empty() && !table_.measured)
      std::cerr << messages::text("grade.no_speed") << '\n';
  }

  /// Several at a time. One after the other fails where the disk is full: the first ends the run.
  void each(const std::function<void(std::size_t)>& step) {
    std::vector<std::function<void()>> jobs;
    for (std::size_t i = 0; i < intake_.students().size(); ++i)
      jobs.push_back([this, &step, i] {
        try {
          {
            const std::lock_guard lock(guard_);
            if (!stopped_.empty()) return;
          }
          judging_->need_room();
          step(i);
        } catch (const UserError& error) {
          const std::lock_guard lock(guard_);
          if (stopped_.empty()) stopped_ = error.what();
        }
      });
    Pool pool(std::min<unsigned>(options_.jobs ? options_.jobs : jobs_here(),
                                 static_cast<unsigned>(jobs.size())));
    pool.run(jobs);
    if (!stopped_.empty()) throw UserError(stopped_, exit_infrastructure);
  }

  /// A core each. Where a GPU measures, half of them stay free for the processes that are timed.
  unsigned jobs_here() const {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    if (!judging_->gpus()) return cores;
    return std::max<unsigned>(cores / 2, static_cast<unsigned>(judging_->gpus()->devices().size()));
  }

  /// Those whom this run is about.
  bool concerned(std::size_t index) const {
    return options_.regrade.empty() || intake_.students()[index].id == options_.regrade;
  }

  /// When all have had their turn. False: nothing is left to measure.
  bool measure_again() {
    std::vector<bool> open(table_.entries.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
      open[i] = concerned(i) && !table_.entries[i].undecided.empty();
      count += open[i] ? 1 : 0;
    }
    if (count == 0) return false;
    progress_.clear();
    std::cerr << messages::text("grade.measure_again", {{"count", count}}) << '\n';
    each([&](std::size_t i) {
      if (!open[i]) return;
      Waiting& waiting = waiting_[i];
      waiting = Waiting();
      waiting.before = waiting.record = records_.stored(intake_.students()[i].key);
      if (waiting.before.is_null()) return;
      waiting.files = submitted_in(waiting.before);
      waiting.measured_again = true;
      const std::string& key = intake_.students()[i].key;
      try {
        const intake::Collected collected = intake_.collect(intake_.students()[i], labs_);
        if (collected.sha256 != waiting.files.sha256) return;
        write_sources(records_.sources(key), collected);
      } catch (const InfraError&) {  // a repository that cannot be reached now
        return;
      }
      if (judging_->measure_again(key, labs_, waiting.record)) settle(i);
    });
    return true;
  }

  ExitCode conclude() {
    progress_.clear();
    for (const Graded& entry : table_.entries) infra_ += entry.status == GradeStatus::pending;
    table_.write(records_.folder());
    if (options_.regrade.empty()) {
      table_.print();
      if (infra_ > 0)
        std::cout << infra_
                  << " not graded because of the machine: run the same command again, it does "
                     "only these.\n";
      std::cout << "protection: " << table_.protection << '\n';
    } else {
      std::cout << changes_;
    }
    std::cout << "written: " << (records_.folder() / "grades.csv").string() << '\n';
    return infra_ > 0 ? exit_infrastructure : exit_ok;
  }

  void grade(std::size_t index) {
    prepare(index);
    Waiting& student = waiting_[index];
    if (student.to_judge) {
      student.record = judging_->judge(intake_.students()[index].key);
      judging_->need_room();  // now as well: what was judged without is not kept
    }
    settle(index);
  }

  /// What is known of a submission before anybody judges it.
  struct Waiting {
    Record before, record;  ///< of an earlier run, and of this one
    Submitted files;
    bool kept = false, to_judge = false;
    bool measured_again = false;  ///< the rest of its record stands already
  };

  void prepare(std::size_t index) {
    const intake::Submission& student = intake_.students()[index];
    Waiting& waiting = waiting_[index];
    intake::Collected collected;
    try {
      collected = intake_.collect(student, labs_);
    } catch (const InfraError& error) {
      collected.unreachable = error.what();
    } catch (const UserError&) {  // about the class: it ends the run
      throw;
    } catch (const std::exception& error) {  // a defect of ours: it must not end everybody's run
      collected.unreachable = std::string("the submission could not be read: ") + error.what();
    }
    waiting.files = submitted(collected);
    waiting.before = records_.stored(student.key);
    const bool again = student.id == options_.regrade;
    waiting.kept = !again && (!options_.regrade.empty() ||
                              still_holds(waiting.before, waiting.files, judging_->setting()));
    if (waiting.kept) {
      waiting.record = waiting.before;
    } else if (!collected.unreachable.empty()) {
      waiting.record = record_of_failure(collected.unreachable);
    } else if (collected.sources.empty()) {
      waiting.record = record_of_nothing();
    } else {
      write_sources(records_.sources(student.key), collected);
      waiting.to_judge = true;
    }
  }

  void settle(std::size_t index) {
    const intake::Submission& student = intake_.students()[index];
    Waiting waiting = std::move(waiting_[index]);
    Record& record = waiting.record;
    if (!record.is_null() && !waiting.kept)
      sign(record, student.id, waiting.files, table_.setting, table_.protection);
    Standing standing;
    std::string changes;
    if (!record.is_null()) {
      const Lateness late = lateness_of(student, course_);
      standing = give_points(record, labs_, course_, late, table_.measured);
      if (student.id == options_.regrade && !waiting.measured_again) {
        changes = keep_beside(waiting.before, options_.stage, record);
        standing = give_points(record, labs_, course_, late, table_.measured);
      }
      if (record != waiting.before) records_.store(student.key, record);
    }
    const std::lock_guard lock(guard_);
    changes_ += changes;
    if (!record.is_null()) {
      if (status_of(record) == GradeStatus::infra_error) ++infra_;
      show(student.id, record, waiting.kept);
      table_.entries[index] = Graded(record, labs_, std::move(standing));
    }
    if (std::chrono::steady_clock::now() - written_ < between_tables) return;
    table_.write(records_.folder());
    written_ = std::chrono::steady_clock::now();
  }

  /// Callers hold the lock, or nobody else is left.
  void show(const std::string& id, const Record& record, bool kept) {
    if (!shown_.insert(id).second) return;
    progress_.done(shown_.size(), table_.entries.size(), id, record.at("status").get<std::string>(),
                   kept, status_of(record) == GradeStatus::infra_error);
  }

  bool cluster_at_work() const {
    try {
      return cluster_.at_work();
    } catch (const InfraError&) {  // a Slurm that does not answer
      return false;
    }
  }

  void grade_on_cluster() {
    Plan plan;
    if (cluster_.at_work()) {
      std::cerr << messages::text("slurm.attached") << '\n';
      plan = cluster_.plan();
    } else {
      slurm::check_partition(options_.partition);
      begin();
      each([this](std::size_t i) {
        prepare(i);
        if (!waiting_[i].to_judge) settle(i);
      });
      plan.setting = table_.setting;
      plan.protection = table_.protection;
      plan.compiler = judging_->compiler();
      plan.course = options_.course.empty() ? "" : fs::absolute(options_.course).string();
      plan.unsafe = options_.unsafe;
      plan.on_gpu = table_.measured;
      for (std::size_t i = 0; i < waiting_.size(); ++i)
        if (waiting_[i].to_judge)
          plan.students.push_back(
              {intake_.students()[i].key, intake_.students()[i].id, waiting_[i].files});
      if (plan.students.empty()) return;
      judging_.reset();
      cluster_.submit(plan);
    }
    lock_.reset();  // for the collector
    cluster_.wait(plan, [this](const Planned& student) {
      if (const Record record = records_.stored(student.key); !record.is_null())
        show(student.id, record, false);
    });
    lock_ = records_.lock(others_tables);
    take_from_cluster(cluster_.plan());
  }

  /// What the tasks have left. Who has nothing that fits is not graded, and loses nothing by it.
  void take_from_cluster(const Plan& plan) {
    records_.sweep();
    table_.setting = plan.setting;
    table_.protection = plan.protection;
    infra_ = 0;
    std::map<std::string, const Planned*> planned;
    for (const auto& student : plan.students) planned[student.key] = &student;
    for (std::size_t i = 0; i < intake_.students().size(); ++i) {
      Waiting& waiting = waiting_[i];
      waiting = Waiting();
      waiting.before = waiting.record = records_.stored(intake_.students()[i].key);
      const auto one = planned.find(intake_.students()[i].key);
      waiting.kept = one == planned.end() || fits(waiting.before, one->second->files, plan.setting);
      if (!waiting.kept) {
        waiting.files = one->second->files;
        waiting.record = record_of_failure(
            messages::text("slurm.lost", {{"folder", (records_.folder() / "slurm").string()}}));
      }
      settle(i);
    }
  }

  /// Where the submissions are, for a regrade.
  void remember() const {
    const auto absolute = [](const fs::path& path) {
      return path.empty() ? std::string() : fs::absolute(path).string();
    };
    write_file_atomically(records_.folder() / "class.json",
                          dump({{"submissions", absolute(options_.submissions)},
                                {"roster", absolute(options_.roster)},
                                {"course", absolute(options_.course)},
                                {"device", options_.device}}));
  }

  const GradeOptions& options_;
  Workplace place_;
  std::vector<Lab> labs_;
  Course course_;
  intake::Intake intake_;
  Records records_;
  UniqueFd lock_;
  Cluster cluster_;
  ClassTable table_;
  std::optional<Judging> judging_;  ///< none where tasks have judged
  std::vector<Waiting> waiting_;
  Progress progress_;
  std::string changes_;  ///< by a regrade, a line per stage
  std::string stopped_;  ///< why nobody else is graded; "" = nothing did
  std::mutex guard_;
  std::set<std::string> shown_;
  std::chrono::steady_clock::time_point written_{};
  unsigned infra_ = 0;
};

}  // namespace

ExitCode grade(GradeOptions options) {
  if (!options.regrade.empty()) {
    const fs::path out = grades_folder(options);
    const auto known = fs::exists(out / "class.json")
                           ? Record::parse(read_file(out / "class.json", 1u << 20), nullptr, false)
                           : Record();
    if (!known.is_object())
      throw UserError(messages::text("grade.no_class", {{"folder", out.string()}}), exit_usage);
    const auto recall = [&](fs::path& option, const char* key) {
      if (option.empty()) option = known.value(key, std::string());
    };
    recall(options.submissions, "submissions");
    recall(options.roster, "roster");
    recall(options.course, "course");
    if (options.device.empty()) options.device = known.value("device", std::string());
  }
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write, with its words
  return Class(options).run();
}

}  // namespace grader
