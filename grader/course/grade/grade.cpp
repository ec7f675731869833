// A class at a time. Every student is graded by a process of their own, so that
// nothing one of them does can reach the table or the next student; each result is on disk before
// the next begins.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "grader/commands/common.hpp"
#include "grader/course/box/kit.hpp"
#include "grader/course/grade/grade.hpp"
#include "grader/course/grade/status.hpp"
#include "grader/course/intake/intake.hpp"
#include "grader/judge/seeds.hpp"
#include "grader/judge/session.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/pool.hpp"
#include "grader/os/process.hpp"
#include "grader/os/sha256.hpp"
#include "grader/report/text.hpp"
#include "grader/version.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;

// Compiling and checking every lab takes seconds; an endless kernel in each stage, minutes.
constexpr std::chrono::minutes student_limit{20};
// For the largest files that a compiler may write, of a submission per core.
constexpr std::uintmax_t least_room = 64u << 20;

std::string dump(const ordered_json& document) {
  return document.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

/// What students cannot know, kept with the results so that a restart uses the same inputs. All
/// inputs come from it (judge/seeds.hpp), so nobody but the grading user may read the file.
Key class_secret(const fs::path& out) {
  const fs::path file = out / "secret";
  Key secret{};
  if (!fs::exists(file)) {
    const UniqueFd random(::open("/dev/urandom", O_RDONLY | O_CLOEXEC));
    if (!random || ::read(random.get(), secret.data(), secret.size()) != ssize_t{secret.size()})
      throw InfraError("cannot read /dev/urandom");
    const fs::path partial = out / ".secret";
    fs::remove(partial);
    const UniqueFd fd(::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd || ::write(fd.get(), secret.data(), secret.size()) != ssize_t{secret.size()} ||
        ::fsync(fd.get()) != 0)
      throw InfraError("cannot write " + partial.string());
    fs::rename(partial, file);
  }
  const std::string bytes = read_file(file, 64);
  if (bytes.size() != secret.size())
    throw UserError(messages::text("grade.secret", {{"file", file.string()}}), exit_usage);
  std::copy(bytes.begin(), bytes.end(), secret.begin());
  return secret;
}

/// Everything but the submission that decides a result: another value means grading again.
std::string setting(const Workplace& place, const std::vector<Lab>& labs, const fs::path& goals,
                    const Key& secret, const std::string& protection) {
  std::string all(secret.begin(), secret.end());
  all += protection + '\0';
  all += read_file(grader_program(), 1u << 30);
  for (const auto& lab : labs) all += read_file(place.root / lab.folder / "lab.toml", 1u << 20);
  if (!goals.empty()) all += read_file(goals, 1u << 20);
  return sha256(all);
}

/// Two at a time would write each other's files.
UniqueFd locked(const fs::path& out) {
  UniqueFd lock(::open((out / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) throw UserError("cannot write to the folder " + out.string(), exit_infrastructure);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    throw UserError(messages::text("grade.busy", {{"folder", out.string()}}), exit_usage);
  return lock;
}

/// What a run that was ended in the middle of a file left of it.
void sweep(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().front() == '.' && entry.is_regular_file())
      fs::remove(entry.path());
}

/// How far it is: on a terminal one line that rewrites itself, else a line per student.
class Progress {
 public:
  Progress() : terminal_(::isatty(2) == 1) {}

  void done(std::size_t count, std::size_t all, const std::string& id, const std::string& status,
            bool kept, bool failed) {
    if (!kept) ++graded_;
    const std::string who = report::fit(printable(id), 40) + ": " + status;
    if (!terminal_ || failed) {
      clear();
      std::cerr << "[" << count << "/" << all << "] " << who << (kept ? " (kept from before)" : "")
                << '\n';
    }
    if (!terminal_) return;
    const auto spent = std::chrono::steady_clock::now() - begin_;
    const auto left = spent * static_cast<long>(all - count) /
                      static_cast<long>(std::max<std::size_t>(graded_, 1));
    const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(left).count();
    const std::size_t full = 20 * count / std::max<std::size_t>(all, 1);
    std::string line = "[" + std::string(full, '#') + std::string(20 - full, '.') + "] " +
                       std::to_string(count) + "/" + std::to_string(all);
    if (graded_ > 0 && count < all)
      line += minutes > 0 ? ", about " + std::to_string(minutes) + " min left" : ", < 1 min left";
    std::cerr << "\r\x1b[K" << report::fit(line + "  " + who, 78) << std::flush;
  }
  void clear() const {
    if (terminal_) std::cerr << "\r\x1b[K" << std::flush;
  }

 private:
  bool terminal_;
  std::size_t graded_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class Class {
 public:
  Class(const GradeOptions& options)
      : options_(options),
        place_(workplace(options.place)),
        labs_(load_labs(place_.root, options.goals)),
        out_(options.out.empty() ? place_.build / "grades" : fs::absolute(options.out)),
        intake_(options.submissions, options.roster, place_.build / "repositories") {
    make_folder(out_ / "results");
    lock_ = locked(out_);
    sweep(out_);
    sweep(out_ / "results");
    secret_ = class_secret(out_);
    probe_clang();  // one clear error now instead of one per student
    if (options.unsafe) {
      protection_ = no_protection;
    } else {
      kit_.emplace(place_, grader_program().parent_path(),
                   std::set<std::string>(options.weaken.begin(), options.weaken.end()));
      protection_ = kit_->protection();
    }
    setting_ = setting(place_, labs_, options.goals, secret_, protection_);
    if (!options.regrade.empty()) {
      if (std::none_of(intake_.students().begin(), intake_.students().end(),
                       [&](const auto& one) { return one.id == options.regrade; }))
        throw UserError(messages::text("grade.nobody", {{"student", printable(options.regrade)}}),
                        exit_usage);
      if (!options.stage.empty())
        lab_of_stage(labs_, options.stage);  // or an error that lists them
    }
    remember();
  }

  ExitCode run() {
    std::cerr << "protection: " << protection_ << '\n';
    std::vector<std::function<void()>> jobs;
    results_.resize(intake_.students().size());
    for (std::size_t i = 0; i < intake_.students().size(); ++i)
      jobs.push_back([this, i] { grade(i); });
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    Pool pool(std::min<unsigned>(options_.jobs ? options_.jobs : cores,
                                 static_cast<unsigned>(jobs.size())));
    pool.run(jobs);
    if (!stopped_.empty()) throw UserError(stopped_, exit_infrastructure);
    progress_.clear();
    write_tables();
    if (options_.regrade.empty())
      print_table();
    else
      std::cout << changes_ << "written: " << (out_ / "grades.csv").string() << '\n';
    return infra_ > 0 ? exit_infrastructure : exit_ok;
  }

 private:
  fs::path result_path(const intake::Submission& student) const {
    return out_ / "results" / (student.key + ".json");
  }

  /// One after the other fails where the disk is full: the first ends the run.
  void grade(std::size_t index) {
    try {
      {
        const std::lock_guard lock(guard_);
        if (!stopped_.empty()) return;
      }
      need_room();
      grade_one(index);
    } catch (const UserError& error) {
      const std::lock_guard lock(guard_);
      if (stopped_.empty()) stopped_ = error.what();
    }
  }

  /// A compiler that finds no room says so in words of its own, and nobody must be judged by them.
  void need_room() const {
    for (const fs::path& folder : {out_, place_.build, kit_ ? kit_->folder() : place_.build}) {
      std::error_code error;
      const fs::space_info space = fs::space(folder, error);
      if (!error && space.available < least_room)
        throw UserError(
            messages::text("grade.room", {{"folder", folder.string()},
                                          {"free", std::to_string(space.available >> 20)},
                                          {"least", std::to_string(least_room >> 20)}}),
            exit_infrastructure);
    }
  }

  void grade_one(std::size_t index) {
    const intake::Submission& student = intake_.students()[index];
    intake::Collected collected;
    try {
      collected = intake_.collect(student, labs_);
    } catch (const InfraError& error) {
      collected.unreachable = error.what();
    }
    const bool again = student.id == options_.regrade;
    const ordered_json before = stored(student);
    ordered_json result;
    bool kept = true;
    if (!options_.regrade.empty() && !again) {
      result = before;
    } else if (!again && still_holds(before, collected)) {
      result = before;
    } else {
      kept = false;
      result = !collected.unreachable.empty() ? failed(collected.unreachable)
               : collected.sources.empty()    ? nothing()
                                              : judged(student, collected);
      need_room();  // now as well: what was judged without is not kept
      result["student"] = student.id;
      result["submission_sha256"] = collected.sha256;
      result["setting"] = setting_;
      result["protection"] = protection_;
      result["remarks"] = collected.remarks;
      if (again) compare(before, result);
      write_file_atomically(result_path(student), dump(result));
    }
    const std::lock_guard lock(guard_);
    results_[index] = std::move(result);
    ++done_;
    const bool failed =
        !results_[index].is_null() && status_of(results_[index]) == GradeStatus::infra_error;
    if (failed) ++infra_;
    if (!results_[index].is_null())
      progress_.done(done_, results_.size(), student.id,
                     results_[index].at("status").get<std::string>(), kept, failed);
    write_tables();
  }

  /// The result of an earlier run; null if there is none.
  ordered_json stored(const intake::Submission& student) const {
    if (!fs::exists(result_path(student))) return nullptr;
    ordered_json old =
        ordered_json::parse(read_file(result_path(student), 64u << 20), nullptr, false);
    const bool whole = old.is_object() && old.contains("status") && old.contains("labs") &&
                       old.at("labs").is_array() && old.contains("remarks");
    return whole ? old : ordered_json(nullptr);
  }

  /// Whether nothing that decides it has changed and the grader was not at fault.
  bool still_holds(const ordered_json& old, const intake::Collected& collected) const {
    return !old.is_null() && old.value("submission_sha256", ordered_json()) == collected.sha256 &&
           old.value("setting", ordered_json()) == setting_ &&
           status_of(old) != GradeStatus::infra_error &&
           old.at("remarks") == ordered_json(collected.remarks);
  }

  /// Where the submissions are, for a regrade.
  void remember() const {
    const auto absolute = [](const fs::path& path) {
      return path.empty() ? std::string() : fs::absolute(path).string();
    };
    write_file_atomically(out_ / "class.json",
                          dump({{"submissions", absolute(options_.submissions)},
                                {"roster", absolute(options_.roster)},
                                {"goals", absolute(options_.goals)}}));
  }

  /// A stage alone takes its place among the others. Of which submission they are stays as it was:
  /// if that has changed, the next run grades all of it. What changes is told, and kept.
  void compare(const ordered_json& before, ordered_json& result) {
    if (before.is_null()) return;
    if (!options_.stage.empty() && status_of(result) == GradeStatus::graded &&
        status_of(before) == GradeStatus::graded) {
      ordered_json whole = before;
      for (auto& stage : stages_of(whole))
        for (const auto& anew : stages_of(result))
          if (anew->at("id") == options_.stage && stage->at("id") == options_.stage) *stage = *anew;
      result = std::move(whole);
    }
    ordered_json old = {{"status", before.at("status")},
                        {"version", before.value("version", "")},
                        {"submission_sha256", before.value("submission_sha256", "")},
                        {"stages", ordered_json::array()}};
    ordered_json copy = before;
    for (const auto& was : stages_of(copy)) {
      ordered_json one;
      for (const char* key : {"id", "state", "verdict", "diagnosis", "headline", "earned"})
        one[key] = was->at(key);
      for (const auto& is : stages_of(result))
        if (is->at("id") == one.at("id") &&
            (is->at("state") != one.at("state") || is->at("earned") != one.at("earned")))
          changes_ +=
              one.at("id").get<std::string>() + ": " + told(one) + " -> " + told(*is) + "\n";
      old["stages"].push_back(std::move(one));
    }
    result["previous"] = before.value("previous", ordered_json::array());
    result["previous"].push_back(std::move(old));
    if (changes_.empty()) changes_ = "the same verdicts as before\n";
  }

  static std::vector<ordered_json*> stages_of(ordered_json& result) {
    std::vector<ordered_json*> all;
    for (auto& lab : result.at("labs"))
      for (auto& stage : lab.at("stages")) all.push_back(&stage);
    return all;
  }
  static std::string told(const ordered_json& stage) {
    const ordered_json& earned = stage.at("earned");
    return stage.at("state").get<std::string>() + " (" +
           plain(earned.is_number() ? earned.get<double>() : 0) + ")";
  }

  static GradeStatus status_of(const ordered_json& result) {
    return grade_status(result.value("status", std::string()));
  }

  static ordered_json nothing() {
    return {{"schema", 1},
            {"version", version()},
            {"status", name_of(GradeStatus::no_submission)},
            {"labs", ordered_json::array()}};
  }

  static ordered_json failed(const std::string& why) {
    return {{"schema", 1},
            {"version", version()},
            {"status", name_of(GradeStatus::infra_error)},
            {"cause", why},
            {"labs", ordered_json::array()}};
  }

  ordered_json judged(const intake::Submission& student, const intake::Collected& collected) {
    try {
      const fs::path sources = out_ / "sources" / student.key;
      fs::remove_all(sources);
      for (const auto& [lab, files] : collected.sources) {
        make_folder(sources / lab);
        for (const auto& [file, bytes] : files) write_file_atomically(sources / lab / file, bytes);
      }
      ProcessSpec spec;
      spec.argv = {grader_program().string(),
                   "--root",
                   place_.root.string(),
                   "--build",
                   place_.build.string(),
                   "check",
                   "--hostile",
                   "--jobs",
                   "1",
                   "--device",
                   "sim",
                   "--json",
                   "-",
                   "--sources",
                   sources.string()};
      const bool printed = std::count(options_.weaken.begin(), options_.weaken.end(), "seed") != 0;
      if (!printed) spec.argv.insert(spec.argv.end(), {"--key", "3"});
      std::optional<box::Kit::Submission> box;
      if (kit_) {
        box.emplace(*kit_, student.key);
        spec.argv.insert(spec.argv.end(), {"--box", box->file().string()});
      }
      if (!options_.stage.empty()) spec.argv.insert(spec.argv.end(), {"--stage", options_.stage});
      if (!options_.goals.empty())
        spec.argv.insert(spec.argv.end(), {"--goals", fs::absolute(options_.goals).string()});
      spec.environment = minimal_environment();
      if (const char* clang = std::getenv("CLANG"))
        spec.environment.push_back(std::string("CLANG=") + clang);
      spec.output_bytes = 16u << 20;
      // By a pipe: a command line and an environment can be read by others.
      const Key key = hmac_sha256(secret_, student.key);
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0) throw InfraError("cannot make a pipe");
      const UniqueFd key_out(ends[0]);
      UniqueFd key_in(ends[1]);
      if (::write(key_in.get(), key.data(), key.size()) != ssize_t{key.size()})
        throw InfraError("cannot write to a pipe");
      key_in.reset();
      spec.descriptors = {{key_out.get(), 3}};
      const RunResult ran = run_process(spec, student_limit);
      if (ran.timed_out)
        return failed("no result after " + std::to_string(student_limit.count()) + " minutes");
      if (WIFSIGNALED(ran.status))
        return failed("the judge died of " + signal_name(WTERMSIG(ran.status)));
      if (ran.capped) return failed("the result is too large");
      if (ran.output.empty()) return failed(printable(ran.errors).substr(0, 500));
      ordered_json result = ordered_json::parse(ran.output);
      result["status"] = name_of(GradeStatus::graded);
      for (const auto& lab : result.at("labs"))
        for (const auto& stage : lab.at("stages"))
          if (stage.at("state") == "infra") {
            result["status"] = name_of(GradeStatus::infra_error);
            result["cause"] = stage.at("headline");
          }
      return result;
    } catch (const std::exception& error) {
      return failed(student.key + ": " + error.what());
    }
  }

  struct Row {
    std::string student, remarks;
    GradeStatus status = GradeStatus::pending;
    double earned = 0, bonus = 0;
    std::map<std::string, std::string> points;  ///< stage -> earned points, "" = not graded
  };

  Row row_of(std::size_t index) const {
    const ordered_json& result = results_[index];
    Row row;
    row.student = intake_.students()[index].id;
    if (result.is_null()) return row;
    row.status = status_of(result);
    for (const auto& remark : result.at("remarks"))
      row.remarks += (row.remarks.empty() ? "" : "; ") + remark.get<std::string>();
    if (result.contains("cause"))
      row.remarks += (row.remarks.empty() ? "" : "; ") + result.at("cause").get<std::string>();
    for (const auto& lab : result.at("labs")) {
      if (lab.at("build").at("status") != "ok" && lab.at("build").at("status") != "missing")
        row.remarks +=
            (row.remarks.empty() ? "" : "; ") + lab.at("build").at("headline").get<std::string>();
      for (const auto& stage : lab.at("stages")) {
        const double earned = stage.at("earned").is_number() ? stage.at("earned").get<double>() : 0;
        (stage.at("kind") == "bonus" ? row.bonus : row.earned) += earned;
        row.points[stage.at("id").get<std::string>()] =
            stage.at("state") == "infra" ? "" : plain(earned);
      }
    }
    return row;
  }

  static std::string plain(double value) {
    std::ostringstream out;
    out << value;
    return out.str();
  }

  /// Callers hold the lock, or nobody else is left.
  void write_tables() const {
    std::string csv = "student,status,score,bonus";
    double possible = 0, bonus = 0;
    for (const auto& lab : labs_)
      for (const auto& stage : lab.stages) {
        csv += "," + csv_cell(stage.id);
        (stage.kind == Kind::bonus ? bonus : possible) += stage.points;
      }
    csv += ",late,name,section,remarks,protection\n";
    ordered_json students = ordered_json::array();
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const Row row = row_of(i);
      const bool graded = has_score(row.status);
      csv += csv_cell(row.student) + "," + name_of(row.status) + "," +
             (graded ? plain(row.earned) : "") + "," + (graded ? plain(row.bonus) : "");
      ordered_json points = ordered_json::object();
      for (const auto& lab : labs_)
        for (const auto& stage : lab.stages) {
          const auto found = row.points.find(stage.id);
          const std::string value = found != row.points.end()                  ? found->second
                                    : row.status == GradeStatus::no_submission ? "0"
                                                                               : "";
          csv += "," + value;
          if (!value.empty()) points[stage.id] = std::strtod(value.c_str(), nullptr);
        }
      const intake::Submission& student = intake_.students()[i];
      csv += std::string(student.late ? ",late," : ",,") + csv_cell(student.name) + "," +
             csv_cell(student.section) + "," + csv_cell(row.remarks) + "," + csv_cell(protection_) +
             "\n";
      ordered_json entry = {{"student", row.student}, {"status", name_of(row.status)}};
      if (!student.name.empty()) entry["name"] = student.name;
      if (!student.section.empty()) entry["section"] = student.section;
      if (student.late) entry["late"] = true;
      if (!student.roster.empty()) entry["roster"] = student.roster;
      if (graded) entry["score"] = row.earned, entry["bonus"] = row.bonus;
      entry["stages"] = points;
      entry["remarks"] = row.remarks;
      entry["result"] = "results/" + intake_.students()[i].key + ".json";
      students.push_back(std::move(entry));
    }
    const ordered_json document = {{"schema", 1},
                                   {"version", version()},
                                   {"protection", protection_},
                                   {"device", "sim"},
                                   {"setting", setting_},
                                   {"possible", possible},
                                   {"bonus_possible", bonus},
                                   {"students", students},
                                   {"source", intake_.kind()},
                                   {"unknown", intake_.unknown()},
                                   {"missing", intake_.missing()},
                                   {"ignored", intake_.ignored()}};
    write_file_atomically(out_ / "grades.csv", csv);
    write_file_atomically(out_ / "grades.json", dump(document));
  }

  void print_table() const {
    double possible = 0;
    for (const auto& lab : labs_)
      for (const auto& stage : lab.stages) possible += stage.kind == Kind::core ? stage.points : 0;
    std::cout << report::pad("student", 28) << report::pad("score", 12) << report::pad("bonus", 8)
              << "status\n";
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const Row row = row_of(i);
      const bool graded = has_score(row.status);
      std::string name = printable(row.student);
      std::replace(name.begin(), name.end(), '\n', ' ');
      std::cout << report::pad(report::fit(name, 27), 28)
                << report::pad(graded ? plain(row.earned) + "/" + plain(possible) : "-", 12)
                << report::pad(graded ? plain(row.bonus) : "-", 8) << name_of(row.status) << '\n';
      if (!row.remarks.empty())
        for (const auto& line : report::wrap(printable(row.remarks), 76))
          std::cout << "    " << line << '\n';
    }
    for (const auto& id : intake_.unknown())
      std::cout << "not in the roster: " << intake::shown(id) << '\n';
    for (const auto& id : intake_.missing())
      std::cout << "handed nothing in: " << intake::shown(id) << '\n';
    for (const auto& line : intake_.ignored()) std::cout << "ignored: " << line << '\n';
    if (infra_ > 0)
      std::cout << infra_
                << " not graded because of the machine: run the same command again, it does only "
                   "these.\n";
    std::cout << "protection: " << protection_ << "\nwritten: " << (out_ / "grades.csv").string()
              << '\n';
  }

  const GradeOptions& options_;
  UniqueFd lock_;
  std::string protection_;
  Progress progress_;
  std::string changes_;  ///< by a regrade, a line per stage
  std::string stopped_;  ///< why nobody else is graded; "" = nothing did
  std::optional<box::Kit> kit_;
  Workplace place_;
  std::vector<Lab> labs_;
  fs::path out_;
  intake::Intake intake_;
  Key secret_{};
  std::string setting_;
  std::vector<ordered_json> results_;
  std::mutex guard_;
  std::size_t done_ = 0;
  unsigned infra_ = 0;
};

}  // namespace

ExitCode grade(GradeOptions options) {
  if (!options.regrade.empty()) {
    const fs::path out =
        options.out.empty() ? workplace(options.place).build / "grades" : fs::absolute(options.out);
    const auto known =
        fs::exists(out / "class.json")
            ? ordered_json::parse(read_file(out / "class.json", 1u << 20), nullptr, false)
            : ordered_json();
    if (!known.is_object())
      throw UserError(messages::text("grade.no_class", {{"folder", out.string()}}), exit_usage);
    const auto recall = [&](fs::path& option, const char* key) {
      if (option.empty()) option = known.value(key, std::string());
    };
    recall(options.submissions, "submissions");
    recall(options.roster, "roster");
    recall(options.goals, "goals");
  }
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write, with its words
  return Class(options).run();
}

}  // namespace grader
