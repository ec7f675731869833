// What a class that is graded keeps in its folder: the secret that all inputs come from, a lock, and a record per student,
// results/<key>.json, that is whole or not there.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/course/grade/status.hpp"
#include "grader/course/intake/submission.hpp"
#include "grader/judge/seeds.hpp"
#include "grader/os/process.hpp"

namespace grader {

using Record = nlohmann::ordered_json;

/// What a record says of the files it is about, apart from verdicts.
struct Submitted {
  std::string sha256;                  ///< of the files that count
  Record remarks;                      ///< a list of sentences
  Record uncounted = Record::array();  ///< [{"file": ..., "why": ...}], see intake::Uncounted
};
Submitted submitted(const intake::Collected& collected);
Submitted submitted_in(const Record& record);

std::string dump(const Record& document);
GradeStatus status_of(const Record& record);
/// The stages of all its labs, in order.
std::vector<Record*> stages_of(Record& record);
std::vector<const Record*> stages_of(const Record& record);

/// Completes a record of verdicts: whose it is, of which files, and how they were judged.
/// `setting` and `protection`: Judging's.
void sign(Record& record, const std::string& student, const Submitted& files,
          const std::string& setting, const std::string& protection);

/// Whether it is of these files, graded under this setting.
bool fits(const Record& record, const Submitted& files, const std::string& setting);
/// Whether it fits and the machine was not at fault: nobody needs to grade this again.
bool still_holds(const Record& record, const Submitted& files, const std::string& setting);

/// For a student none of whose files count, and for one who could not be graded.
Record record_of_nothing();
Record record_of_failure(const std::string& why);

/// `out`, which is made if it is not there. Throws UserError where nothing can be written to it, and
/// where it lies in the folder of submissions.
std::filesystem::path folder_of_results(const std::filesystem::path& out,
                                        const std::filesystem::path& submissions);

/// Throws UserError if it cannot: what another user wrote.
void empty_folder(const std::filesystem::path& folder);
/// One student's files that count, a folder per lab, in place of what is in `folder`.
void write_sources(const std::filesystem::path& folder, const intake::Collected& collected);

class Records {
 public:
  explicit Records(std::filesystem::path folder);

  /// Only one run at a time may write here. Throws UserError if another holds the lock for longer than
  /// `patience`.
  UniqueFd lock(std::chrono::seconds patience = {}) const;
  /// Removes the partial files of a run that was killed. Call it with the lock held.
  void sweep() const;
  /// The class's secret, which all inputs are derived from; kept with the results so that a restart
  /// uses the same inputs. Only the grading user may read it.
  Key secret() const;

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path sources(const std::string& key) const { return folder_ / "sources" / key; }

  /// Null if there is no complete one.
  Record stored(const std::string& key) const;
  void store(const std::string& key, const Record& record) const;

 private:
  std::filesystem::path folder_;
};

/// The reading end of a pipe that holds the key: command lines and environments can be read by others.
UniqueFd piped(const Key& key);

}  // namespace grader
