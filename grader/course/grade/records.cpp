#include "grader/course/grade/records.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/version.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

fs::path file_of(const fs::path& folder, const std::string& key) {
  return folder / "results" / (key + ".json");
}

void sweep_folder(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().front() == '.' && entry.is_regular_file())
      fs::remove(entry.path());
}

Record blank(GradeStatus status) {
  return {{"schema", 1},
          {"version", version()},
          {"status", name_of(status)},
          {"labs", Record::array()}};
}

}  // namespace

std::string dump(const Record& document) {
  return document.dump(1, ' ', false, Record::error_handler_t::replace) + "\n";
}

GradeStatus status_of(const Record& record) {
  return grade_status(record.value("status", std::string()));
}

std::vector<Record*> stages_of(Record& record) {
  std::vector<Record*> all;
  for (auto& lab : record.at("labs"))
    for (auto& stage : lab.at("stages")) all.push_back(&stage);
  return all;
}

std::vector<const Record*> stages_of(const Record& record) {
  std::vector<const Record*> all;
  for (const auto& lab : record.at("labs"))
    for (const auto& stage : lab.at("stages")) all.push_back(&stage);
  return all;
}

Submitted submitted(const intake::Collected& collected) {
  Submitted files{collected.sha256, collected.remarks};
  for (const auto& [file, why] : collected.uncounted)
    files.uncounted.push_back({{"file", file}, {"why", why}});
  return files;
}

Submitted submitted_in(const Record& record) {
  return {record.at("submission_sha256"), record.at("remarks"),
          record.value("uncounted", Record::array())};
}

void sign(Record& record, const std::string& student, const Submitted& files,
          const std::string& setting, const std::string& protection) {
  record["student"] = student;
  record["submission_sha256"] = files.sha256;
  record["setting"] = setting;
  record["protection"] = protection;
  record["remarks"] = files.remarks;
  record["uncounted"] = files.uncounted;
}

bool fits(const Record& record, const Submitted& files, const std::string& setting) {
  return !record.is_null() && record.value("submission_sha256", Record()) == files.sha256 &&
         record.value("setting", Record()) == setting && record.at("remarks") == files.remarks &&
         record.value("uncounted", Record::array()) == files.uncounted;
}

bool still_holds(const Record& record, const Submitted& files, const std::string& setting) {
  return fits(record, files, setting) && status_of(record) != GradeStatus::infra_error;
}

Record record_of_nothing() {
  return blank(GradeStatus::no_submission);
}

Record record_of_failure(const std::string& why) {
  Record record = blank(GradeStatus::infra_error);
  record["cause"] = why;
  return record;
}

namespace {

UserError not_writable(const fs::path& out, int why) {
  return UserError(
      messages::text("grade.folder", {{"out", out.string()}, {"why", std::strerror(why)}}),
      exit_infrastructure);
}

}  // namespace

fs::path folder_of_results(const fs::path& out, const fs::path& submissions) {
  std::error_code error;
  const fs::path here = fs::weakly_canonical(out, error),
                 there = fs::weakly_canonical(submissions, error);
  const auto [end, rest] = std::mismatch(there.begin(), there.end(), here.begin(), here.end());
  // It would be one of the class in the next run.
  if (end == there.end() && fs::is_directory(there, error))
    throw UserError(messages::text("grade.inside", {{"out", out.string()}}), exit_usage);
  // Names, grades and sources of a whole class; who shares the folder makes it, as they like it.
  if (fs::create_directories(out, error)) fs::permissions(out, fs::perms::owner_all, error);
  int why = 0;
  if (!fs::is_directory(out))
    why = error ? error.value() : ENOTDIR;
  else if (::access(out.c_str(), W_OK | X_OK) != 0)
    why = errno;
  if (why != 0) throw not_writable(out, why);
  return out;
}

void empty_folder(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (error)
    throw UserError(
        messages::text("grade.not_ours", {{"folder", folder.string()}, {"why", error.message()}}),
        exit_infrastructure);
}

Records::Records(fs::path folder) : folder_(std::move(folder)) {
  make_folder(folder_ / "results");
}

UniqueFd Records::lock(std::chrono::seconds patience) const {
  UniqueFd lock(::open((folder_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock)
    throw UserError(
        messages::text("grade.folder", {{"out", folder_.string()}, {"why", std::strerror(errno)}}),
        exit_infrastructure);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() >= end)
      throw UserError(messages::text("grade.busy", {{"folder", folder_.string()}}), exit_usage);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return lock;
}

void Records::sweep() const {
  sweep_folder(folder_);
  sweep_folder(folder_ / "results");
}

Key Records::secret() const {
  const fs::path file = folder_ / "secret";
  Key secret{};
  if (!fs::exists(file)) {
    const UniqueFd random(::open("/dev/urandom", O_RDONLY | O_CLOEXEC));
    if (!random || ::read(random.get(), secret.data(), secret.size()) != ssize_t{secret.size()})
      throw InfraError("cannot read /dev/urandom");
    const fs::path partial = folder_ / ".secret";
    fs::remove(partial);
    const UniqueFd fd(::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd || ::write(fd.get(), secret.data(), secret.size()) != ssize_t{secret.size()} ||
        ::fsync(fd.get()) != 0)
      throw not_writable(folder_, errno);
    fs::rename(partial, file);
  }
  const std::string bytes = read_file(file, 64);
  if (bytes.size() != secret.size())
    throw UserError(messages::text("grade.secret", {{"file", file.string()}}), exit_usage);
  std::copy(bytes.begin(), bytes.end(), secret.begin());
  return secret;
}

void write_sources(const fs::path& folder, const intake::Collected& collected) {
  empty_folder(folder);
  for (const auto& [lab, files] : collected.sources) {
    make_folder(folder / lab);
    for (const auto& [file, bytes] : files) write_file_atomically(folder / lab / file, bytes);
  }
}

Record Records::stored(const std::string& key) const {
  const fs::path file = file_of(folder_, key);
  if (!fs::exists(file)) return nullptr;
  Record old = Record::parse(read_file(file, 64u << 20), nullptr, false);
  const bool whole = old.is_object() && old.contains("status") && old.contains("labs") &&
                     old.at("labs").is_array() && old.contains("remarks");
  return whole ? old : Record(nullptr);
}

void Records::store(const std::string& key, const Record& record) const {
  write_file_atomically(file_of(folder_, key), dump(record));
}

UniqueFd piped(const Key& key) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw InfraError("cannot make a pipe");
  UniqueFd out(ends[0]);
  const UniqueFd in(ends[1]);
  if (::write(in.get(), key.data(), key.size()) != static_cast<ssize_t>(key.size()))
    throw InfraError("cannot write to a pipe");
  return out;
}

}  // namespace grader
