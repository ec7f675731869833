// measure mutants: is the grader itself any good? Every wrong kernel must be rejected with the
// diagnosis that names its bug, every other right one accepted, and a stage that nobody has begun
// told as such beside solved ones. Each is graded by a process of its own, as a student's would be.
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "grader/author/measure.hpp"
#include "grader/author/mutants/mutant.hpp"
#include "grader/author/skeleton/skeleton.hpp"
#include "grader/commands/common.hpp"
#include "grader/judge/session.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/os/scratch.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

enum class TaskKind { mutant, alternative, untouched };
constexpr const char* kNotStarted = "not started";

struct Task {
  const Lab* lab = nullptr;
  fs::path file;  ///< .mutant, .alternative or .cu; of an untouched stage the master
  TaskKind kind = TaskKind::mutant;
  std::string id;
  std::vector<std::string> stages;  ///< empty = all
  std::vector<std::string> expect;
  std::vector<std::string> advice;  ///< all that is advised where nothing is expected
  std::string says;                 ///< words that the message must have
  // What came of it:
  bool good = false;
  std::string got;  ///< diagnosis, "passed", or what went wrong
  std::string headline;
  double seconds = 0;
  double processor = 0;  ///< seconds of a processor: the grader's and its children's

  bool must_pass() const { return kind == TaskKind::alternative; }
};

std::string joined(const std::vector<std::string>& list, const char* between) {
  std::string text;
  for (const auto& one : list) text += (text.empty() ? "" : between) + one;
  return text;
}

Task new_task(const Lab& lab, const fs::path& file, TaskKind kind, const std::string& id) {
  Task task;
  task.lab = &lab;
  task.file = file;
  task.kind = kind;
  task.id = id;
  return task;
}

/// The mutants or alternatives of `lab`, by name.
std::vector<Task> written(const fs::path& root, const Lab& lab, TaskKind kind) {
  const bool right = kind == TaskKind::alternative;
  const fs::path folder = root / lab.folder / (right ? "alternatives" : "mutants");
  std::vector<Task> tasks;
  if (!fs::is_directory(folder)) return tasks;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (right ? extension == ".cu" || extension == ".alternative" : extension == ".mutant")
      tasks.push_back(new_task(lab, entry.path(), kind, entry.path().stem().string()));
  }
  std::sort(tasks.begin(), tasks.end(),
            [](const Task& x, const Task& y) { return x.file < y.file; });
  return tasks;
}

/// Each stage of `lab` that has something to fill in, opened by itself in the solution.
std::vector<Task> untouched(const fs::path& root, const Lab& lab) {
  std::vector<Task> tasks;
  for (const std::string& name : lab.files()) {
    const fs::path file = root / lab.folder / "solution" / name;
    std::set<std::string> stages;
    for (const auto& region : make_skeleton(read_file(file, 1u << 20)).regions)
      stages.insert(region.stage);
    for (const std::string& id : stages) {
      const Stage* const stage = lab.stage(id);
      if (!stage) throw UserError(file.string() + ": no stage has the id " + id, exit_usage);
      tasks.push_back(new_task(lab, file, TaskKind::untouched, "untouched-" + id));
      tasks.back().stages = {id};
      tasks.back().expect = {stage->untouched.empty() ? kNotStarted : stage->untouched};
    }
  }
  return tasks;
}

std::vector<Task> find_tasks(const fs::path& root, const std::vector<Lab>& labs,
                             const MutantOptions& options) {
  std::vector<Task> tasks;
  for (const Lab& lab : labs) {
    if (!options.labs.empty() &&
        std::find(options.labs.begin(), options.labs.end(), lab.id) == options.labs.end())
      continue;
    for (auto& list : {written(root, lab, TaskKind::mutant),
                       written(root, lab, TaskKind::alternative), untouched(root, lab)})
      for (const Task& task : list)
        if ((task.file.string() + " " + task.id).find(options.only) != std::string::npos)
          tasks.push_back(task);
  }
  return tasks;
}

/// Which of `tasks` show that each diagnosis is still given and each lab still takes another way of
/// writing it: one mutant per diagnosis, one that allows no other where there is one, and one
/// alternative per lab; and all of the labs `entire`. What cannot be read stays, so that it is told
/// so.
std::vector<Task> sample(std::vector<Task> tasks, const std::vector<int>& entire) {
  std::set<std::string> seen;
  std::vector<bool> chosen(tasks.size(), false);
  for (std::size_t i = 0; i < tasks.size(); ++i)
    chosen[i] = std::find(entire.begin(), entire.end(), tasks[i].lab->id) != entire.end();
  for (const bool certain : {true, false}) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].kind != TaskKind::mutant) {
        chosen[i] = chosen[i] || (tasks[i].must_pass() && seen.insert(tasks[i].lab->name).second);
        continue;
      }
      try {
        const auto mutant = staff::parse_mutant(read_file(tasks[i].file, 1u << 20), false);
        const auto& expect = mutant.expect.empty() ? mutant.advice : mutant.expect;
        if (certain == (expect.size() == 1) && seen.insert(expect.front()).second) chosen[i] = true;
      } catch (const std::exception&) {
        chosen[i] = true;
      }
    }
  }
  std::vector<Task> kept;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (chosen[i]) kept.push_back(std::move(tasks[i]));
  return kept;
}

/// The rungs that `task` is about: graded, or needed for an answer. Empty: all.
std::set<std::string> rungs_of(const Task& task) {
  std::set<std::string> rungs;
  std::vector<std::string> open = task.stages;
  while (!open.empty()) {
    const Stage* stage = task.lab->stage(open.back());
    open.pop_back();
    if (!stage) continue;
    rungs.insert(stage->rung);
    if (stage->answer) rungs.insert(stage->answer->rung);
    if (task.stages.size() > 1) open.insert(open.end(), stage->needs.begin(), stage->needs.end());
  }
  return rungs;
}

/// The stages whose rungs are in `file`. What the solution's other files do is not the task's
/// question: they are compiled apart, and make check SOLUTION=1 judges them.
std::vector<std::string> stages_in(const Lab& lab, const std::string& file) {
  std::vector<std::string> stages;
  for (const Stage& stage : lab.stages)
    if (lab.rung(stage.rung).file == file) stages.push_back(stage.id);
  return stages;
}

std::string read_solution(const Workplace& place, const Lab& lab, const std::string& file) {
  return read_file(place.root / lab.folder / "solution" / file, 1u << 20);
}

/// The type that shows most mistakes first: the judge prefers it where several fail alike. "": it
/// needs all, since what is counted may be counted in another, or there is no other.
std::string telling_type(const Task& task) {
  if (task.kind != TaskKind::mutant || task.expect.empty() || task.stages.size() != 1) return {};
  const Stage* stage = task.lab->stage(task.stages.front());
  if (!stage || stage->answer) return {};
  for (const Goal& goal : task.lab->goals)
    if (goal.stage == stage->id &&
        std::find(task.expect.begin(), task.expect.end(), goal.diagnosis) != task.expect.end())
      return {};
  const auto& types = task.lab->rung(stage->rung).types;
  return types.size() > 1 ? types.front() : "";
}

/// How the grader is called on `sources`. Where one stage is named it alone is compiled and judged:
/// half of the time of all mutants was the solution's other stages.
ProcessSpec grading(const Task& task, const std::string& type, const fs::path& sources,
                    const fs::path& result, const Workplace& place) {
  ProcessSpec spec = check_alone(place, sources, result.string());
  spec.argv.insert(spec.argv.end(), {"--lab", std::to_string(task.lab->id)});
  if (const std::set<std::string> rungs = rungs_of(task); !rungs.empty())
    spec.argv.insert(spec.argv.end(), {"--rungs", joined({rungs.begin(), rungs.end()}, ",")});
  if (task.stages.size() == 1)
    spec.argv.insert(spec.argv.end(), {"--stage", task.stages.front(), "--alone"});
  if (!type.empty()) spec.argv.insert(spec.argv.end(), {"--types", type});
  spec.folder = place.root.string();
  return spec;
}

/// What came of the task's stages: "passed", or the diagnosis of the first that did not pass.
void take_verdict(Task& task, const nlohmann::json& stages) {
  const auto asked = [&](const std::string& id) {
    return task.stages.empty() ||
           std::find(task.stages.begin(), task.stages.end(), id) != task.stages.end();
  };
  task.got = "there is no such stage";
  std::set<std::string> advised;
  for (const auto& stage : stages) {
    const std::string id = stage.at("id"), state = stage.at("state"),
                      diagnosis = stage.at("diagnosis");
    if (!asked(id)) continue;
    task.got = "passed";
    for (const auto& goal : stage.at("goals"))
      if (goal.at("advice") && !goal.at("met")) advised.insert(goal.at("diagnosis"));
    // "OOB (a warning): ..."
    for (const std::string note : stage.at("notes"))
      if (const auto end = note.find(" (a warning): "); end != std::string::npos)
        advised.insert(note.substr(0, end));
    if (state == "passed" || state == "skipped") continue;
    task.got = state == "failed" ? diagnosis : state == "not_started" ? kNotStarted : state;
    if (task.must_pass()) task.got = id + " " + task.got;
    task.headline = stage.at("headline");
    std::string message = task.headline + '\n' + stage.at("next_step").get<std::string>();
    for (const auto& line : stage.at("details")) message += '\n' + line.get<std::string>();
    if (message.find(task.says) == std::string::npos) {
      task.got += " in other words";
      task.headline = message;
    }
    return;
  }
  if (task.got == "passed" && !advised.empty())
    task.got = "note " + joined({advised.begin(), advised.end()}, "|");
}

std::string without_failure(const Task& task) {
  return task.advice.empty() ? "passed" : "note " + joined(task.advice, "|");
}

bool as_expected(const Task& task, int status) {
  if (!WIFEXITED(status)) return false;
  if (task.expect.empty())
    return task.got == without_failure(task) && (WEXITSTATUS(status) == 0 || !task.stages.empty());
  // Nobody has to begin a bonus stage.
  const bool optional =
      task.kind == TaskKind::untouched && task.lab->stage(task.stages.front())->kind == Kind::bonus;
  return WEXITSTATUS(status) == (optional ? exit_ok : exit_failed) &&
         std::find(task.expect.begin(), task.expect.end(), task.got) != task.expect.end();
}

/// Where a thread has its tasks graded, one after the other: what is compiled names its file, so in a
/// folder of their own none would find the host's part that another has compiled and linked.
struct Desk {
  const Workplace& place;
  Scratch scratch;
  explicit Desk(const Workplace& at) : place(at), scratch(at.build / "tmp") {}
};

/// Grades the solution with `source` in the place of `file` in a child, in one type or in all ("")
/// and fills in what came of it.
void grade_one(Task& task, const std::string& type, const std::string& file,
               const std::string& source, const Desk& desk) {
  const Workplace& place = desk.place;
  const fs::path folder = desk.scratch.path() / task.lab->name, result = folder / "result.json";
  fs::remove_all(folder);
  make_folder(folder);
  for (const auto& name : task.lab->files())
    write_file_atomically(folder / name,
                          name == file ? source : read_solution(place, *task.lab, name));
  const RunResult run = run_process(grading(task, type, desk.scratch.path(), result, place),
                                    std::chrono::seconds(900));
  task.processor += run.cpu_seconds;
  if (run.timed_out) {
    task.got = "no answer in 900 s";
    return;
  }
  if (!fs::exists(result)) {
    task.got = "the grader gave no result";
    task.headline = run.errors.substr(0, 300);
    return;
  }
  const auto document = nlohmann::json::parse(read_file(result));
  const auto& lab = document.at("labs").at(0);
  if (const std::string built = lab.at("build").at("status"); built != "built" && built != "ok") {
    task.got = built;
    task.headline = lab.at("build").at("headline").get<std::string>() + "\n";
    for (const auto& line : lab.at("build").at("details"))
      task.headline += line.get<std::string>() + "\n";
    return;
  }
  take_verdict(task, lab.at("stages"));
  task.good = as_expected(task, run.status);
}

/// What stands in the place of the solution's `file`; reads what the task's own file says of it.
std::string source_of(Task& task, std::string& file, const Workplace& place) {
  const std::string text = read_file(task.file, 1u << 20);
  file = task.lab->files().front();
  if (task.kind == TaskKind::untouched) {
    file = task.file.filename().string();
    return with_open_stage(text, task.stages.front());
  }
  if (task.file.extension() == ".cu") {
    task.stages = staff::stages_of_alternative(text);
    return text;
  }
  const staff::Mutant mutant = staff::parse_mutant(text, task.must_pass());
  task.id = mutant.id;
  task.stages = mutant.stages;
  task.expect = mutant.expect;
  task.advice = mutant.advice;
  task.says = mutant.says;
  if (!mutant.file.empty()) file = mutant.file;
  return staff::applied(mutant, read_solution(place, *task.lab, file));
}

void handle(Task& task, const Desk& desk, bool all_types) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    std::string file;
    const std::string source = source_of(task, file, desk.place);
    if (task.stages.empty() && task.lab->files().size() > 1)
      task.stages = stages_in(*task.lab, file);
    if (const std::string type = telling_type(task); !type.empty() && !all_types)
      grade_one(task, type, file, source, desk);
    if (!task.good) {
      task.headline.clear();
      grade_one(task, "", file, source, desk);
    }
    if (task.got == "infra") {  // the machine failed, not the file
      std::cerr << task.id << " once more: " << task.headline;
      task.headline.clear();
      grade_one(task, "", file, source, desk);
    }
  } catch (const std::exception& error) {
    task.good = false;
    task.got = "error";
    task.headline = error.what();
  }
  task.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string column(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : text + std::string(width - text.size(), ' ');
}

void print(const Task& task, bool verbose) {
  char seconds[48];
  std::snprintf(seconds, sizeof seconds, "%5.1f s (%.2f s of a processor)", task.seconds,
                task.processor);
  const std::string wanted = task.expect.empty() ? without_failure(task) : joined(task.expect, "|");
  std::cout << (task.good ? "ok      " : "FAILED  ") << column(task.id, 26) << ' '
            << column(task.stages.empty() ? "all" : joined(task.stages, " "), 5) << ' '
            << column(task.got, 20) << ' ' << seconds;
  if (!task.good) std::cout << "  expected: " << wanted << "\n        " << task.file.string();
  std::cout << '\n';
  if ((verbose || !task.good) && !task.headline.empty())
    std::cout << "        " << task.headline << '\n';
  std::cout << std::flush;
}

}  // namespace

ExitCode mutants(const MutantOptions& options) {
  const Workplace place = workplace(options.place);
  const std::vector<Lab> labs = load_labs(place.root, {});
  std::vector<Task> tasks = find_tasks(place.root, labs, options);
  const std::size_t all = tasks.size();
  if (options.sample) tasks = sample(std::move(tasks), options.entire);
  const unsigned jobs =
      options.jobs ? options.jobs : std::clamp(std::thread::hardware_concurrency(), 1u, 8u);

  std::atomic<std::size_t> next{0};
  std::mutex printing;
  const auto work = [&] {
    const Desk desk(place);
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      handle(tasks[i], desk, options.all_types);
      const std::lock_guard<std::mutex> lock(printing);
      print(tasks[i], options.verbose);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::min<std::size_t>(jobs, tasks.size()); ++i)
    threads.emplace_back(work);
  for (auto& thread : threads) thread.join();

  // Two mutants under one id would hide one of them in reports.
  std::vector<std::string> ids;
  for (const auto& task : tasks) ids.push_back(task.lab->name + " " + task.id);
  std::sort(ids.begin(), ids.end());
  std::size_t failed = static_cast<std::size_t>(
      std::count_if(tasks.begin(), tasks.end(), [](const Task& t) { return !t.good; }));
  for (std::size_t i = 1; i < ids.size(); ++i) {
    if (ids[i] != ids[i - 1]) continue;
    std::cout << "FAILED  two mutants have the id " << ids[i] << '\n';
    ++failed;
  }
  const auto number = [&](TaskKind kind) {
    return std::count_if(tasks.begin(), tasks.end(), [&](const Task& t) { return t.kind == kind; });
  };
  std::cout << number(TaskKind::mutant) << " mutants, " << number(TaskKind::alternative)
            << " alternatives, " << number(TaskKind::untouched) << " untouched stages";
  if (options.sample) std::cout << ": one per diagnosis and lab, of " << all;
  std::cout << '\n';
  if (tasks.empty()) failed = 1;
  std::cout << (tasks.size() > failed ? tasks.size() - failed : 0) << " passed, " << failed
            << " failed\n";
  return failed == 0 ? exit_ok : exit_failed;
}

}  // namespace grader
