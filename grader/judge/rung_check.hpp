// One rung in one element type: its session, and everything that has been tried on it so far.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "grader/judge/cases.hpp"
#include "grader/judge/session.hpp"

namespace grader {

/// Why a case is not right. Exactly one call is the culprit.
struct Failure {
  enum class Kind {
    ended,   ///< the runner crashed, hung, left, threw
    api,     ///< a CUDA call failed or is not allowed, and the launcher gave up or C is not right
    stream,  ///< C is right, but something went to a default stream and not to the given one
    wrong,   ///< findings, a refused launch, wrong elements, a modified input: diagnose() names it
    infra,
  };
  Kind kind = Kind::wrong;
  Fill fill = Fill::integers;
  CallOutcome outcome;
  bool untouched = false;  ///< C holds exactly what it held before: nothing was written
};

struct CaseResult {
  Case shape;
  std::string type;
  std::optional<Failure> failure;
  std::vector<std::string> notes;
  std::string printed;
  std::uint64_t findings = 0;
  bool right() const { return !failure; }
};

/// What counting one call gave.
struct Measured {
  std::optional<Failure> failure;  ///< wrong code is never measured
  Observed observed;
};

class RungCheck {
 public:
  /// `session` is shared by all rungs of one type and outlives this.
  RungCheck(Caller& session, const Lab& lab, const Rung& rung, std::string type,
            const CallSeeds& seeds);

  /// Runs every data set of the case until one fails. Remembered: stages that share a rung share
  /// its results.
  const CaseResult& check(const Case& shape);

  /// Counts one call on real numbers at dense extents; the result is verified like any other.
  /// `doubled`: then once more, with tensor cores that double their products.
  const Measured& measure(const Extents& extents, bool doubled = false);

  /// Names the bug behind a failure of kind `wrong`; runs probes on the same session.
  diag::Diagnosis diagnose(const CaseResult& result);

  /// Calls the rung's launcher over device code with checks; see array_bounds.hpp. Nothing where there
  /// is no such code.
  struct BoundsRun {
    CallOutcome outcome;
    std::string source;
  };
  using BoundsCall = std::function<std::optional<BoundsRun>(const CallSpec& spec)>;
  void check_bounds_by(BoundsCall call) { bounds_call_ = std::move(call); }
  /// An index beyond the end of an array in a failing call, or in any at a shape; nothing if none is
  /// known.
  std::optional<diag::Diagnosis> array_overrun(const CaseResult& result) const;
  std::optional<diag::Diagnosis> array_overrun(const Case& shape);

  /// What to note of a grid that grows with the leading dimensions, which say nothing of how many
  /// elements there are; "": it does not.
  std::string grid_by_ld(const Extents& extents);

  /// The kernels that calls have launched which were right, by their linker's names.
  const std::set<std::string>& kernels() const { return kernels_; }

  const std::string& type() const { return type_; }
  const std::string& entry() const { return entry_; }

 private:
  /// How C of a call that returned is wrong; and whether operands in TF32 seem to be cut off, not rounded.
  std::optional<Failure::Kind> compare(const CallOutcome& outcome, Fill fill, bool* cut_off) const;
  std::optional<Failure> attempt(const Case& shape, Fill fill, Before before, bool reuse,
                                 bool checks, CaseResult* into, CallOutcome* keep);

  void note_kernels(const CallOutcome& outcome);
  std::optional<diag::Diagnosis> array_overrun(CallSpec spec) const;

  /// Calls with the data of `plain` again, and fills in what tensor cores took no part in.
  void double_products(const CallOutcome& plain, Measured& into);

  const Lab& lab_;
  const Rung& rung_;
  std::string type_, entry_;
  CallSeeds seeds_;
  Caller& session_;
  std::map<std::string, CaseResult> cases_;
  std::map<std::string, Measured> measured_;
  std::set<std::string> kernels_;
  BoundsCall bounds_call_;
};

/// Thread instructions that one call may take. At 256 x 256 x 256 (clang 14) the labs' kernels
/// execute for each multiply-add: lab 1's solution 5.7, lab 2's 1.7, lab 3's tiled one 4.3 and
/// block tile 1.6, its given slow one 5.2. Allowed are 64, with all extents one tile larger, and
/// 2^25 besides (blocks along a curve that fills a square are many for one row of C): 13 times the
/// slowest of them at the largest judged shape, more than 100 times at small ones. An endless kernel
/// uses that up within seconds.
std::uint64_t instruction_budget(const Lab& lab, const Extents& extents);

/// Adds up the launches and transfers of one call, split by buffer.
Observed observe(const CallOutcome& outcome, std::uint64_t element_bytes);

}  // namespace grader
