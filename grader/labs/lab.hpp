// A lab as the grader knows it: what its lab.toml says. The grader holds no list of labs; a folder
// labN_name/ with a lab.toml is one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/goals.hpp"
#include "grader/operation.hpp"

namespace grader {

enum class Kind { core, bonus };

/// What a rung's products are computed in, where the element type alone does not say it.
enum class Precision { own, tf32 };

/// The reference tile. BM, BN, BK shape the extents that are checked; the rest are parameters of
/// goals.
using TileSizes = std::map<std::string, int>;

/// One technique: a launcher and the element types it is instantiated for.
///
///     [[rung]]
///     name = "gemm_wmma"              # the launcher's name
///     title = "..."                   # as tables show it; default: the name
///     types = ["half", "bfloat16"]    # of A and B: int32, float, double, half, bfloat16
///     operation = "product"              # or copy_a, copy_b
///     tile = { BM = 32, WM = 8 }      # sizes that differ from the lab's, for goals and diagnoses
///     tile_of = { double = { BN = 64 } }  # where a type's tile is another one
///     # float operands that are rounded to TF32; types is ["float"]
///     precision = "tf32"
///     launch = "open"                 # the student writes it; default: "given", by the lab
///     file = "wmma.cu"                # where its launcher is; default: gemm.cu
///     # the only real GPUs that run it; the same for all rungs of a file
///     needs_arch = "sm_90a"
///     from_arch = "sm_80"             # oldest real GPU that runs it; default: sm_75. By type:
///                                     # { half = "sm_75", bfloat16 = "sm_80" }
///
/// C has the operands' type, but float for half and bfloat16 (In = __half, Out = float). Which
/// limit of precision applies follows from the types: half, bfloat16 and TF32 rungs are tensor
/// rungs (128 u of FP32 instead of 32 u, inputs taken as they are rounded); double on tensor cores
/// rounds like double anywhere, so that nothing need be said about it.
struct Rung {
  std::string name, title;
  std::vector<std::string> types;
  Operation operation = Operation::product;
  Precision precision = Precision::own;
  LaunchBy launch = LaunchBy::lab;
  TileSizes tile;                            ///< where it is not the lab's
  std::map<std::string, TileSizes> tile_of;  ///< by type: where it is not `tile`
  std::string file = "gemm.cu";
  std::string needs_arch;                  ///< "" = every real GPU runs it, else "sm_90a"
  std::map<std::string, int> oldest_arch;  ///< by type; what is not there: 75

  /// The oldest architecture of a real GPU that runs this rung in `type`: 80 for sm_80.
  int from_arch(const std::string& type) const;

  /// FP32 sums of products of a smaller type: the wider limit of tensor cores.
  bool tensor(const std::string& type) const;

  /// Used where trying all types would take too long: float, or the first.
  const std::string& main_type() const;
};

/// A question answered by a function without arguments in the file of the stage's rung.
///
/// Either `const char* f()`, compared with hashes (nothing but hashes of the answers is kept):
///
///     [stage.answer]
///     function = "suspects"
///     hashes = ["..."]                # answer_hash() of normalised_answer()
///
/// or `int f()`, a prediction that is compared with what the simulated GPU counts (0 = no answer
/// yet):
///
///     [stage.answer]
///     function = "prediction"
///     measured = "load_wavefronts"    # or store_wavefronts: wavefronts per request of the shared
///                                     # loads (stores) of the worst source line, rounded
///     rung = "gemm_given"             # the kernel that is measured, in its main type, at 2 x 2
///                                     # blocks of the lab's tile and two k-tiles
struct Answer {
  std::string function;
  std::vector<std::string> hashes;  ///< empty for a prediction
  std::string measured, rung;       ///< empty for hashes
};

/// What a student completes next.
struct Stage {
  std::string id, title, rung;
  std::vector<std::string> needs;  ///< stages that must have passed first
  double points = 0;
  Kind kind = Kind::core;
  std::vector<std::string> shapes;  ///< classes of shapes and data, see cases_of()
  std::optional<Answer> answer;
  /// The diagnosis of the stage as it is handed out, where the given code is right and only slow;
  /// "" = it is "not started" like any other.
  std::string untouched;
  unsigned line = 0;  ///< in lab.toml
};

/// Fractions of a yardstick's speed: t_yardstick / t_candidate must reach these.
struct SpeedBars {
  std::optional<double> naive, cublas;
};

/// What a stage's rung must reach on a real GPU, see grader/gpu/speed.hpp.
struct SpeedGoal {
  std::string stage, type;
  int m = 0, n = 0, k = 0;
  SpeedBars bars;                         ///< where no architecture says otherwise
  std::map<std::string, SpeedBars> arch;  ///< "sm_75": only what differs
  std::string previous;  ///< the technique that must miss it, see Technique; "" = the naive one
  unsigned line = 0;     ///< in lab.toml
};

/// Where a technique is found: "lab2_register_tile:gemm_register_tile" is a rung of that lab's
/// solution, "lab1_naive:gemm_naive@L1-01-x-along-rows" that rung with that file of mutants/
/// applied.
struct Technique {
  std::string lab, rung, mutant;
};
std::optional<Technique> parse_technique(const std::string& text);

struct Lab {
  int id = 0;
  std::string name, title;
  std::filesystem::path folder;  ///< relative to the root when discovered there
  TileSizes tile;
  std::vector<Rung> rungs;
  std::vector<Stage> stages;
  std::vector<Goal> goals;       ///< of goals.cpp, with the instructor's overrides applied
  std::vector<SpeedGoal> speed;  ///< judged on hardware only

  const Rung& rung(const std::string& name) const;  ///< throws std::out_of_range
  const Stage* stage(const std::string& stage_id) const;
  /// Whether the rung is judged at K = 1 only, since it is not right for any other K.
  bool only_one_term(const Rung& rung) const;
  /// What students edit and submit: the files of the rungs, in their order.
  std::vector<std::string> files() const;
  int tile_size(const std::string& key, int fallback) const;
  /// The rung's own, else the lab's.
  int tile_size(const Rung& rung, const std::string& key, int fallback) const;
  /// The rung's in this type, else as above.
  int tile_size(const Rung& rung, const std::string& type, const std::string& key,
                int fallback) const;
};

/// Reads one lab.toml. Throws UserError "labN/lab.toml:12: unknown key ..." for anything it does
/// not know.
Lab parse_lab(const std::string& text, const std::string& path_for_messages);

/// All labN_*/lab.toml below root, by id. Throws UserError for a broken one, for two with one id,
/// for none.
std::vector<Lab> discover_labs(const std::filesystem::path& root);

/// What it is worth to meet a speed goal on a real GPU.
enum class SpeedCounts { points, bonus, shown };

/// What an instructor's course.toml says of points; grader/course/course.toml shows all of it.
struct Course {
  SpeedCounts speed = SpeedCounts::shown;
  std::map<std::string, double> speed_points;  ///< stage -> for all its goals of speed together
  unsigned extra_seeds = 0;                    ///< further sets of inputs; all must pass
  std::optional<std::int64_t> due;             ///< seconds since 1970
  double free_days = 0, cost_percent = 0;      ///< a day after the free ones costs so much
  std::optional<double> most_days;             ///< later than that earns nothing
};

/// Reads a course.toml. Changes points, parameters of goals and stages of `labs` in place: a dropped
/// stage is removed, and whatever needed it then needs what the stage itself needed. Throws UserError
/// with file:line for unknown stages, goals, parameters and keys, and for values out of range.
Course apply_course(std::vector<Lab>& labs, const std::string& text,
                    const std::string& path_for_messages);

/// "1, 2, 3": for messages about a lab that does not exist.
std::string list_of_ids(const std::vector<Lab>& labs);

}  // namespace grader
