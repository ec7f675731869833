#include "grader/course/grade/judging.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <map>
#include <set>

#include "grader/compile/toolchain.hpp"
#include "grader/course/grade/measurements.hpp"
#include "grader/judge/session.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/sha256.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

// For the largest files that a compiler may write, of a submission per core.
constexpr std::uintmax_t least_room = 64u << 20;

std::string setting_of(const Workplace& place, const std::vector<Lab>& labs, const Course& course,
                       const Key& secret, const std::string& protection,
                       const std::string& compiler, bool on_gpu) {
  std::string all(secret.begin(), secret.end());
  const auto add = [&](const std::string& part) { all += part + '\0'; };
  add(protection);
  add(compiler);
  if (on_gpu) add("on a GPU");  // of any model: bars are shares, and each record names its GPU
  add(std::to_string(course.extra_seeds));
  add(read_file(grader_program(), 1u << 30));
  for (const auto& lab : labs) {
    add(read_file(place.root / lab.folder / "lab.toml", 1u << 20));
    for (const auto& stage : lab.stages) add(stage.id);
    for (const auto& goal : lab.goals) {
      add(goal.stage + " " + goal.key);
      for (const auto& [name, value] : goal.parameters) add(name + " " + std::to_string(value));
    }
  }
  return sha256(all);
}

}  // namespace

Judging::Judging(const Workplace& place, const std::vector<Lab>& labs, const Course& course,
                 const Records& records, JudgingOptions options)
    : place_(place),
      records_(records),
      options_(std::move(options)),
      extra_seeds_(course.extra_seeds),
      secret_(records.secret()) {
  compiler_ = probe_clang().identity;
  if (options_.unsafe) {
    protection_ = no_protection;
  } else {
    kit_.emplace(place_, grader_program().parent_path(),
                 std::set<std::string>(options_.weaken.begin(), options_.weaken.end()));
    protection_ = kit_->protection();
  }
  setting_ = setting_of(place_, labs, course, secret_, protection_, compiler_, options_.on_gpu);
}

void Judging::find_gpus() {
  if (!options_.on_gpu) return;
  gpus_.emplace();
  if (kit_)
    for (const auto& one : gpus_->devices()) kit_->try_gpu(one.uuid);
}

void Judging::need_room() const {
  for (const fs::path& folder :
       {records_.folder(), place_.build, kit_ ? kit_->folder() : place_.build}) {
    std::error_code error;
    const fs::space_info space = fs::space(folder, error);
    if (!error && space.available < least_room)
      throw UserError(messages::text("grade.room", {{"folder", folder.string()},
                                                    {"free", std::to_string(space.available >> 20)},
                                                    {"least", std::to_string(least_room >> 20)}}),
                      exit_infrastructure);
  }
}

Record Judging::judge(const std::string& key) {
  try {
    Trial trial{hmac_sha256(secret_, key), options_.stage, "", gpus_.has_value()};
    Record record = judge_once(key, trial);
    trial.on_gpu = false;
    for (unsigned i = 1; i <= extra_seeds_ && status_of(record) == GradeStatus::graded; ++i) {
      trial.inputs = hmac_sha256(secret_, key + "/" + std::to_string(i));
      take_worse(record, judge_once(key, trial));
    }
    return record;
  } catch (const std::exception& error) {
    return record_of_failure(key + ": " + error.what());
  }
}

bool Judging::measure_again(const std::string& key, const std::vector<Lab>& labs, Record& record) {
  bool any = false;
  for (const auto& open : undecided(record, labs)) {
    if (!options_.stage.empty() && options_.stage != open.stage) continue;
    try {
      const Record later =
          judge_once(key, {hmac_sha256(secret_, key), open.stage, open.uuid, true});
      take_measurement(record, later, open.stage);
      any = true;
    } catch (const std::exception&) {  // as in judge(): whatever it is, the record stays as it was
    }
  }
  return any;
}

Record Judging::judge_once(const std::string& key, const Trial& trial) {
  std::optional<Gpus::Lease> gpu;
  if (trial.on_gpu) gpu.emplace(*gpus_, trial.not_on);
  ProcessSpec spec = check_alone(place_, records_.sources(key), "-", gpu ? gpu->name() : "");
  spec.argv.emplace_back("--hostile");
  const bool printed = std::count(options_.weaken.begin(), options_.weaken.end(), "seed") != 0;
  if (!printed) spec.argv.insert(spec.argv.end(), {"--key", "3"});
  std::optional<box::Kit::Submission> box;
  if (kit_) {
    box.emplace(*kit_, key);
    spec.argv.insert(spec.argv.end(), {"--box", box->file().string()});
  }
  if (!trial.stage.empty()) spec.argv.insert(spec.argv.end(), {"--stage", trial.stage});
  if (!options_.course.empty())
    spec.argv.insert(spec.argv.end(), {"--course", fs::absolute(options_.course).string()});
  spec.output_bytes = 16u << 20;
  const UniqueFd inputs_end = piped(trial.inputs);
  spec.descriptors = {{inputs_end.get(), 3}};
  const std::chrono::minutes limit = longest_judgement(gpu.has_value());
  const RunResult ran = run_process(spec, limit);
  if (ran.timed_out)
    return record_of_failure("no result after " + std::to_string(limit.count()) + " minutes");
  if (WIFSIGNALED(ran.status))
    return record_of_failure("the judge died of " + signal_name(WTERMSIG(ran.status)));
  if (ran.capped) return record_of_failure("the result is too large");
  if (ran.output.empty())
    return record_of_failure(std::string(first_bytes(printable(ran.errors), 500)));
  Record record = Record::parse(ran.output);
  record["status"] = name_of(GradeStatus::graded);
  name_gpu(record);
  for (const Record* stage : stages_of(record))
    if (stage->at("state") == "infra") {
      record["status"] = name_of(GradeStatus::infra_error);
      record["cause"] = stage->at("headline");
    }
  return record;
}

void take_worse(Record& record, const Record& other) {
  if (status_of(other) != GradeStatus::graded) {
    record = other;
    return;
  }
  std::map<std::string, const Record*> others;
  for (const Record* stage : stages_of(other)) others[stage->at("id")] = stage;
  for (Record* stage : stages_of(record)) {
    const auto again = others.find(stage->at("id"));
    if (again == others.end() || stage->at("state") != "passed" ||
        again->second->at("state") == "passed")
      continue;
    *stage = *again->second;
    (*stage)["notes"].push_back(messages::text("grade.further_inputs"));
  }
}

}  // namespace grader
