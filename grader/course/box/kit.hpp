// What all boxes of one `make grade` share, made once: a folder outside of the project that another
// user can read, with copies of the headers, the library, the worker's program, process 1 and the
// system call filters. A clone in a folder of mode 700 is no obstacle then, and no box is ever
// shown a folder of the project.
#pragma once

#include <atomic>
#include <filesystem>
#include <set>
#include <string>

#include "common/wire/unique_fd.hpp"
#include "grader/compile/compile.hpp"
#include "grader/os/box.hpp"

namespace grader::box {

class Kit {
 public:
  /// Makes the folder (below TMPDIR, or /var/tmp) and tries a box of each kind. `programs` holds
  /// grader and box_init. Throws UserError with what to install or to allow if one does not hold.
  Kit(const Workplace& place, const std::filesystem::path& programs,
      const std::set<std::string>& weakened = {});
  /// One that holds what unpacking archives needs and nothing else.
  explicit Kit(const std::filesystem::path& programs);
  ~Kit();
  Kit(const Kit&) = delete;
  Kit& operator=(const Kit&) = delete;

  /// Throws UserError if no program in a box could use the GPU with this UUID.
  void try_gpu(const std::string& uuid) const;

  /// In words, for reports.
  const std::string& protection() const { return settings_.protection; }

  /// Where all that boxes write goes.
  const std::filesystem::path& folder() const { return folder_; }

  /// A box's settings for one submission, with a user of its own where this process is root; the
  /// file that says so to the judge. The folder is gone with this object.
  class Submission {
   public:
    Submission(Kit& kit, const std::string& key);
    ~Submission();
    Submission(const Submission&) = delete;
    Submission& operator=(const Submission&) = delete;
    const std::filesystem::path& file() const { return file_; }
    const BoxSettings& settings() const { return settings_; }

   private:
    std::filesystem::path folder_, file_;
    BoxSettings settings_;
  };

 private:
  /// `place`: null where no submission is to be judged.
  void make(const Workplace* place, const std::filesystem::path& programs);
  void copy_parts(const Workplace* place, const std::filesystem::path& programs);
  void copy_headers(const Workplace& place);
  void try_boxes(bool worker) const;
  std::pair<unsigned, unsigned> next_user();

  std::filesystem::path folder_;
  UniqueFd lock_;  ///< held while the folder is used: others sweep away what nobody holds
  BoxSettings settings_;
  bool own_users_ = false;
  std::atomic<unsigned> users_{0};
};

}  // namespace grader::box
