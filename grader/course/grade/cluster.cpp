#include "grader/course/grade/cluster.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <set>
#include <thread>

#include "grader/course/grade/judging.hpp"
#include "grader/course/grade/slurm.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/sha256.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using messages::text;

// A task must be worth its start, and Slurm's arrays have 1001 places unless somebody changed that.
constexpr std::size_t least_per_task = 3, most_tasks = 500;
constexpr std::chrono::minutes around_a_judgement{1}, around_a_task{5};

std::string quoted(const fs::path& path) {
  std::string text = "'";
  for (const char c : path.string()) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

fs::path plan_in(const fs::path& out) {
  return out / "slurm" / "plan.json";
}

Plan read_plan(const fs::path& out) {
  const Record document = Record::parse(read_file(plan_in(out), 64u << 20));
  Plan plan;
  plan.per_task = document.at("per_task");
  plan.setting = document.at("setting");
  plan.protection = document.at("protection");
  plan.compiler = document.at("compiler");
  plan.course = document.at("course");
  plan.stage = document.at("stage");
  plan.unsafe = document.at("unsafe");
  plan.on_gpu = document.at("on_gpu");
  for (const auto& one : document.at("students"))
    plan.students.push_back({one.at("key"), one.at("student"), submitted_in(one)});
  return plan;
}

void write_plan(const fs::path& out, const Plan& plan) {
  Record students = Record::array();
  for (const auto& one : plan.students)
    students.push_back({{"key", one.key},
                        {"student", one.id},
                        {"submission_sha256", one.files.sha256},
                        {"remarks", one.files.remarks},
                        {"uncounted", one.files.uncounted}});
  write_file_atomically(plan_in(out), dump({{"schema", 1},
                                            {"per_task", plan.per_task},
                                            {"setting", plan.setting},
                                            {"protection", plan.protection},
                                            {"compiler", plan.compiler},
                                            {"course", plan.course},
                                            {"stage", plan.stage},
                                            {"unsafe", plan.unsafe},
                                            {"on_gpu", plan.on_gpu},
                                            {"students", students}}));
}

/// Why this node cannot grade what was planned elsewhere; "" = it can.
std::string differs(const Judging& here, const Plan& plan) {
  if (here.setting() == plan.setting) return {};
  if (here.protection() != plan.protection)
    return text("slurm.node_protection",
                {{"here", here.protection()}, {"planned", plan.protection}});
  if (here.compiler() != plan.compiler)
    return text("slurm.node_compiler", {{"here", here.compiler()}, {"planned", plan.compiler}});
  return text("slurm.node_setting");
}

}  // namespace

Cluster::Cluster(const GradeOptions& options, const Workplace& place, const Records& records)
    : options_(options),
      place_(place),
      folder_(records.folder() / "slurm"),
      out_(records.folder()),
      name_("gemm-lab-" + sha256(records.folder().string()).substr(0, 12)) {}

bool Cluster::at_work() const {
  return fs::exists(plan_in(out_)) && slurm::installed() && !slurm::waiting(name_).empty();
}

Plan Cluster::plan() const {
  return read_plan(out_);
}

void Cluster::submit(const Plan& given) const {
  Plan plan = given;
  plan.per_task = std::max(least_per_task, (plan.students.size() + most_tasks - 1) / most_tasks);
  make_folder(folder_);
  write_plan(out_, plan);
  slurm::Submission job;
  job.name = name_;
  job.partition = options_.partition;
  job.gres = options_.gres;
  job.folder = folder_;
  job.tasks = plan.tasks();
  const std::chrono::minutes each = longest_judgement(plan.on_gpu) + around_a_judgement;
  job.minutes = static_cast<unsigned>((around_a_task + each * plan.per_task).count());
  // The submitting machine's TMPDIR need not be there on a node.
  const std::string head = "[ -d \"${TMPDIR:-/}\" ] || unset TMPDIR\n";
  const std::string program = quoted(grader_program().parent_path() / "grade") + " --root " +
                              quoted(place_.root) + " --build " + quoted(place_.build);
  job.task = head + "exec " + program + " --task --out " + quoted(out_) + "\n";
  std::string again =
      program + " " + quoted(fs::absolute(options_.submissions)) + " --out " + quoted(out_);
  if (!options_.roster.empty()) again += " --roster " + quoted(fs::absolute(options_.roster));
  if (!options_.course.empty()) again += " --course " + quoted(fs::absolute(options_.course));
  if (options_.unsafe) again += " --unsafe";
  if (plan.on_gpu) again += " --device gpu";
  job.collector = head + again + " --collector\n\"${PYTHON:-python3}\" " +
                  quoted(place_.root / "grader/course/report/report.py") + " " + quoted(out_) +
                  "\n";
  const std::string id = slurm::submit(job);
  std::cerr << text("slurm.submitted", {{"job", id},
                                        {"tasks", std::to_string(plan.tasks())},
                                        {"students", std::to_string(plan.students.size())},
                                        {"partition", printable(options_.partition)}})
            << '\n';
}

void Cluster::wait(const Plan& plan, const std::function<void(const Planned&)>& seen) const {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  std::set<std::string> come, reasons;
  bool silent = false;
  for (;;) {
    bool over = false;
    try {
      const auto tasks = slurm::waiting(name_);
      over = tasks.empty();
      silent = false;
      // What keeps tasks from starting is worth a line when it is new.
      for (const auto& task : tasks)
        if (task.state == "PENDING" && task.reason != "None" && task.reason != "Priority" &&
            task.reason != "Resources" && task.reason != "Dependency" &&
            reasons.insert(task.reason).second)
          std::cerr << text("slurm.waits",
                            {{"task", printable(task.id)}, {"reason", printable(task.reason)}})
                    << '\n';
    } catch (const InfraError& error) {
      // A controller that starts anew: the tasks go on meanwhile.
      if (!silent) std::cerr << text("slurm.silent", {{"why", error.what()}}) << '\n';
      silent = true;
    }
    for (const auto& student : plan.students) {
      if (come.count(student.key)) continue;
      const fs::path file = out_ / "results" / (student.key + ".json");
      std::error_code none;
      if (fs::last_write_time(file, none) < fs::last_write_time(plan_in(out_), none) || none)
        continue;
      come.insert(student.key);
      seen(student);
    }
    if (over) return;
    const bool young = Clock::now() - begin < std::chrono::seconds(60);
    std::this_thread::sleep_for(std::chrono::seconds(young ? 1 : 5));
  }
}

ExitCode run_task(const GradeOptions& options) {
  const char* number = std::getenv("SLURM_ARRAY_TASK_ID");
  if (!number) throw UserError("--task is for a task of an array job", exit_usage);
  const Workplace place = workplace(options.place);
  const Records records(fs::absolute(options.out));
  const Plan plan = read_plan(records.folder());
  const std::size_t first = std::strtoul(number, nullptr, 10) * plan.per_task;
  const std::size_t last = std::min(first + plan.per_task, plan.students.size());
  const auto store = [&](const Planned& student, Record record) {
    sign(record, student.id, student.files, plan.setting, plan.protection);
    records.store(student.key, record);
    std::cout << student.key << ": " << record.at("status").get<std::string>() << std::endl;
  };
  std::string unfit;
  std::vector<Lab> labs = discover_labs(place.root);
  Course course;
  std::optional<Judging> judging;
  try {
    if (!plan.course.empty())
      course = apply_course(labs, read_file(plan.course, 1u << 20), plan.course);
    judging.emplace(place, labs, course, records,
                    JudgingOptions{plan.course, plan.stage, plan.unsafe, plan.on_gpu, {}});
    unfit = differs(*judging, plan);
    judging->find_gpus();
  } catch (const UserError& error) {
    unfit = error.what();
  }
  const char* node = std::getenv("SLURMD_NODENAME");
  if (!unfit.empty() && node) unfit = std::string(node) + ": " + unfit;
  bool failed = false;
  for (std::size_t i = first; i < last; ++i) {
    const Planned& student = plan.students[i];
    const Record before = records.stored(student.key);
    // Of the same task before its node failed.
    if (still_holds(before, student.files, plan.setting)) continue;
    Record record = record_of_failure(unfit);
    if (unfit.empty()) {
      judging->need_room();
      record = judging->judge(student.key);
      if (plan.on_gpu) judging->measure_again(student.key, labs, record);
      judging->need_room();
    }
    failed = failed || status_of(record) == GradeStatus::infra_error;
    store(student, std::move(record));
  }
  return failed ? exit_infrastructure : exit_ok;
}

}  // namespace grader
