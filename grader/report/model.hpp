// The one result of a check. The terminal, JSON and JUnit are views of it; nothing is decided while
// rendering.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "grader/errors.hpp"
#include "grader/goals.hpp"
#include "grader/verdict.hpp"

namespace grader::report {

enum class State {
  passed,
  failed,
  not_started,  ///< fails, wrote nothing, and its TODO is still in the file
  locked,       ///< a stage it needs has not passed
  infra,        ///< the grader or the machine failed: no points are lost
  skipped,  ///< needs a device that is not here; locks nothing, costs nothing, counts for nothing
};
/// "passed", "failed", "not_started", "locked", "infra", "skipped"
std::string_view to_string(State state);

struct GoalResult {
  std::string key, what, type;
  Extents at;
  double measured = 0, bound = 0;
  bool met = false, advice = false;
  std::string diagnosis;  ///< id if missed
};

/// What the lines of the student's file did in one call on the simulated GPU.
struct LineCounts {
  struct Line {
    unsigned number = 0;
    std::uint64_t instructions = 0;  ///< of warps
    std::uint64_t sectors = 0, ideal_sectors = 0, wavefronts = 0, ideal_wavefronts = 0;
  };
  std::string file, type;  ///< file: as messages name it
  Extents at;
  std::vector<Line> lines;  ///< by number; empty = nothing was counted
};

/// One tool of compute-sanitizer over one rung, in all its types at small shapes.
struct SanitizerResult {
  std::string tool;  ///< "memcheck", "racecheck", "initcheck", "synccheck"
  bool clean = false;
  bool unreadable = false;  ///< it gave no summary that can be trusted: never a pass
  std::string type;         ///< in which something was found
  std::string finding;      ///< "Invalid __global__ read of size 4 bytes", one line
  std::string file;         ///< "" = no place is known
  unsigned line = 0;
};

/// One [[speed]] goal of lab.toml, measured on this GPU.
struct SpeedResult {
  std::string type;
  Extents at;  ///< as measured; smaller than asked for if memory was short
  SpeedVerdict verdict = SpeedVerdict::not_measured;
  std::string reason;         ///< a sentence, for the last two
  std::string by;             ///< the yardstick that decided: "naive" or "cublas"
  double ratio = 0, bar = 0;  ///< t_yardstick / t_yours against that one, and what is asked for
  /// Medians and 95 % intervals of the paired ratios (low, median, high); NaN where there is none.
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double over_naive[3] = {kNone, kNone, kNone}, over_cublas[3] = {kNone, kNone, kNone};
  double ms = 0, naive_ms = 0, cublas_ms = 0, events_ms = 0, tflops = 0;
  unsigned rounds = 0, launches = 0;
  unsigned clock_low = 0, clock_median = 0, clock_high = 0;  ///< MHz; 0 = not known
  std::string throttle;                                      ///< reasons seen, "" = none
  /// The student's own rung before this one at the same type and shape: shown, never judged.
  std::string previous;
  double over_previous = 0;
  std::vector<std::string> suspect;  ///< cross-checks that did not hold
  double seconds = 0;
};

/// What a real GPU said about a stage that is right on the simulated one. Takes no points and gives
/// none, but for stages that no simulated GPU can run.
struct HardwareResult {
  /// passed, failed, skipped (this GPU cannot run it) or infra. Speed included.
  enum class State { passed, failed, skipped, infra } state = State::passed;
  bool inconclusive = false;  ///< right, but the machine was too noisy to judge its speed
  unsigned shapes = 0;        ///< checked per type, large ones included
  Verdict verdict = Verdict::none;
  std::string diagnosis, headline, next_step, shape, type, file;
  unsigned line = 0;
  std::vector<std::string> details, notes;
  std::vector<SanitizerResult> sanitizer;  ///< empty: not installed, or the code is not right
  std::vector<SpeedResult> speed;
  double seconds = 0;
};

std::string_view to_string(HardwareResult::State state);

struct StageResult {
  std::string id, title, rung;
  bool bonus = false;
  State state = State::failed;
  Verdict verdict = Verdict::none;
  std::string diagnosis;             ///< "K-TILE-MISSING", "" = none
  std::string headline;              ///< one line: the cause
  std::vector<std::string> details;  ///< places, numbers, a small matrix; one line each
  std::string next_step;
  std::string shape, type;  ///< where it was seen: "131×129×127", "float"
  std::string file;         ///< "" = no place is known
  unsigned line = 0;
  std::vector<std::string> notes;  ///< never change the verdict
  std::string printed;             ///< what the student's code wrote to stdout and stderr, capped
  std::vector<GoalResult> goals;
  LineCounts counted;  ///< of the largest call that its goals counted, or of the one that failed
  unsigned assertions = 0, passed_assertions = 0;
  double points = 0, earned = 0;
  double seconds = 0;
  std::optional<HardwareResult> gpu;  ///< empty: not tried there
  bool kept =
      false;  ///< of an earlier check: nothing that it ran has changed (judge/kept_stages.hpp)
  std::string recorded;  ///< what the technique reaches on the GPU that the course was measured on
};

struct LabResult {
  int id = 0;
  std::string name, title, file;
  BuildStatus build = BuildStatus::built;
  std::string build_headline;
  std::vector<std::string> build_details, warnings;
  std::string source_sha256;
  std::vector<StageResult> stages;
  double build_seconds = 0, seconds = 0;
};

/// The GPU that a check used.
struct GpuUsed {
  std::string name, uuid, arch, driver, toolkit, cublas;  ///< cublas: "" = not found
  std::string picked;                                     ///< why this one
};

struct Report {
  static constexpr int schema = 1;
  std::string device;       ///< "sim"
  std::string device_note;  ///< "no CUDA device", "the GPU is not used"
  std::string compiler;     ///< "clang 14.0.6"
  std::string protection;   ///< "" on a student's own machine
  std::optional<GpuUsed> gpu;
  std::optional<std::uint64_t> seed;  ///< none where the inputs are secret
  std::vector<LabResult> labs;
  std::string next;  ///< the command to type next
  std::vector<std::string> notes;
};

/// Skipped stages are in none of these.
struct Score {
  double earned = 0, possible = 0;  ///< core stages
  double bonus_earned = 0, bonus_possible = 0;
  unsigned passed = 0, stages = 0;
};
Score score(const Report& report);
Score score(const LabResult& lab);

/// 0 only if every stage passed or was skipped, on the GPU too if there is one; a grader's fault
/// (3) beats a build error (2) beats failures (1) beats timings that were too noisy to judge (5).
ExitCode exit_code(const Report& report);

/// The line "next: ..." without its prefix: the first thing not done, else the next lab, else
/// submitting. `all_labs`: every lab there is, by id.
std::string next_command(const Report& report, const std::vector<int>& all_labs);

}  // namespace grader::report
