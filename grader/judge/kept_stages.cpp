#include "grader/judge/kept_stages.hpp"

#include <algorithm>
#include <string_view>

#include "common/wire/archive.hpp"
#include "grader/errors.hpp"
#include "grader/os/build_id.hpp"
#include "grader/os/files.hpp"
#include "grader/os/sha256.hpp"

namespace grader {

template <typename Visit>
void fields(Extents& x, Visit visit) {
  visit(x.m, x.n, x.k);
}

namespace report {

template <typename Visit>
void fields(GoalResult& x, Visit visit) {
  visit(x.key, x.what, x.type, x.at, x.measured, x.bound, x.met, x.advice, x.diagnosis);
}
template <typename Visit>
void fields(LineCounts::Line& x, Visit visit) {
  visit(x.number, x.instructions, x.sectors, x.ideal_sectors, x.wavefronts, x.ideal_wavefronts);
}
template <typename Visit>
void fields(LineCounts& x, Visit visit) {
  visit(x.file, x.type, x.at, x.lines);
}
/// Those that a pass has, and that lab.toml does not.
template <typename Visit>
void fields(StageResult& x, Visit visit) {
  visit(x.id, x.headline, x.notes, x.printed, x.goals, x.counted, x.assertions,
        x.passed_assertions);
}

}  // namespace report

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kVersions = 4;  // of a stage's code: an edit is often taken back
constexpr std::size_t kLongest = 16u << 20;

/// The names of a text's entries.
std::vector<std::string> kernels_in(std::string_view ptx) {
  constexpr std::string_view entry = ".entry ";
  std::vector<std::string> names;
  for (std::size_t at = ptx.find(entry); at != ptx.npos; at = ptx.find(entry, at)) {
    at += entry.size();
    names.emplace_back(ptx.substr(at, ptx.find_first_of("( \n", at) - at));
  }
  return names;
}

}  // namespace

KeptStages::KeptStages(fs::path folder, const Lab& lab, const Build& build,
                       const std::string& described, std::uint64_t seed)
    : folder_(std::move(folder)), lab_(lab) {
  const std::string program = build_id();
  if (program.empty() || build.host.empty()) return;
  inputs_ = program + '\0' + std::to_string(seed) + '\0' + described + '\0';
  for (const Stage& stage : lab_.stages) {
    const auto own = build.host_of_stage.find(stage.id);
    host_[stage.id] = own == build.host_of_stage.end() ? build.host : own->second;
  }
  for (const SourceUnit& unit : build.units)
    for (const std::string& ptx : unit.ptx) {
      const MadeOf made = made_of(ptx);
      const bool whole = made.text.empty();
      // Where two files have a kernel of one name, the first is launched.
      for (const std::string& kernel : kernels_in(ptx))
        module_of_kernel_.emplace(kernel, modules_.size());
      modules_.push_back({whole ? sha256(ptx) : made.text, made.functions, whole, false});
    }
}

fs::path KeptStages::path_of(const std::string& stage) const {
  return folder_ / (sha256(inputs_ + host_.at(stage) + '\0' + stage) + ".stage");
}

const KeptStages::Module* KeptStages::module(const std::string& made_of) const {
  const auto found = std::find_if(modules_.begin(), modules_.end(),
                                  [&](const Module& one) { return one.made_of == made_of; });
  return found == modules_.end() ? nullptr : &*found;
}

bool KeptStages::would_run(const Part& part) const {
  return module(part.made_of) != nullptr &&
         std::all_of(part.kernels.begin(), part.kernels.end(), [&](const std::string& kernel) {
           const auto of = module_of_kernel_.find(kernel);
           return of != module_of_kernel_.end() && modules_[of->second].made_of == part.made_of;
         });
}

bool KeptStages::put_lines(Record& record) const {
  std::map<unsigned, unsigned> now;  // by the line where a function began
  bool moved = false;
  for (const Part& part : record.parts) {
    const std::vector<unsigned>& functions = module(part.made_of)->functions;
    if (functions.size() != part.functions.size()) return false;
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const auto [known, added] = now.emplace(part.functions[i], functions[i]);
      if (known->second != functions[i]) return false;
      moved = moved || known->first != known->second;
    }
  }
  if (!moved) return true;
  if (!record.result.notes.empty()) return false;  // they may name lines
  for (auto& line : record.result.counted.lines) {
    auto function = now.upper_bound(line.number);
    if (function == now.begin()) return false;
    --function;
    line.number = line.number - function->first + function->second;
  }
  return true;
}

std::vector<KeptStages::Record> KeptStages::read(const std::string& stage) const {
  const fs::path path = path_of(stage);
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return {};
  fs::last_write_time(path, fs::file_time_type::clock::now(), none);  // see CompilerRuns::prune
  try {
    const std::string bytes = read_file(path, kLongest);
    const auto* const from = reinterpret_cast<const std::byte*>(bytes.data());
    return wire::decode<std::vector<Record>>(wire::Bytes(from, from + bytes.size()),
                                             "a kept stage");
  } catch (const wire::Error&) {
    return {};
  } catch (const UserError&) {
    return {};
  }
}

std::map<std::string, report::StageResult> KeptStages::find() {
  std::map<std::string, report::StageResult> found;
  if (inputs_.empty()) return found;
  for (const Stage& stage : lab_.stages) {
    std::vector<Record> records = read(stage.id);
    const auto record = std::find_if(records.begin(), records.end(), [&](Record& one) {
      return one.result.id == stage.id &&
             std::all_of(one.parts.begin(), one.parts.end(),
                         [this](const Part& part) { return would_run(part); }) &&
             put_lines(one);
    });
    if (record == records.end()) continue;
    for (const Part& part : record->parts)
      for (Module& one : modules_) one.known = one.known || one.made_of == part.made_of;
    report::StageResult result = std::move(record->result);
    result.title = stage.title;
    result.rung = stage.rung;
    result.bonus = stage.kind == Kind::bonus;
    result.points = result.earned = stage.points;
    result.state = report::State::passed;
    result.verdict = Verdict::accepted;
    result.kept = true;
    found.emplace(stage.id, std::move(result));
  }
  return found;
}

std::vector<bool> KeptStages::known() const {
  std::vector<bool> list;
  for (const Module& one : modules_) list.push_back(one.known);
  return list;
}

void KeptStages::keep(const report::StageResult& result,
                      const std::set<std::string>& kernels) const {
  if (inputs_.empty()) return;
  std::map<std::size_t, std::vector<std::string>> ran;
  for (const std::string& kernel : kernels) {
    const auto of = module_of_kernel_.find(kernel);
    if (of == module_of_kernel_.end()) return;
    ran[of->second].push_back(kernel);
  }
  // Kernels of a file that did not come apart may share variables with each other, and with the host.
  for (std::size_t i = 0; i < modules_.size(); ++i)
    if (modules_[i].whole_file) ran[i];
  Record record;
  for (const auto& [i, launched] : ran)
    record.parts.push_back({modules_[i].made_of, modules_[i].functions, launched});
  record.result = result;
  std::vector<Record> records = read(result.id);
  records.insert(records.begin(), std::move(record));
  records.resize(std::min(records.size(), kVersions));
  const wire::Bytes bytes = wire::encode(records);
  if (bytes.size() > kLongest) return;
  write_file_atomically(path_of(result.id),
                        {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace grader
