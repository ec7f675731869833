// A lab as the grader knows it: what its lab.toml says. The grader holds no list of labs; a folder
// labN_name/ with a lab.toml is one.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/goals.hpp"

namespace grader {

enum class Oracle { product, copy_a, copy_b };  ///< C = A * B, C = A, C = B
enum class Kind { core, bonus };

/// One technique: a launcher in gemm.cu and the element types it is instantiated for ("int32",
/// "float", "double").
struct Rung {
  std::string name, title;
  std::vector<std::string> types;
  Oracle oracle = Oracle::product;

  /// The type for what is too expensive to do in all: float, or the first.
  const std::string& main_type() const;
};

/// A question answered by a function without arguments in gemm.cu; only hashes of the answers are
/// kept.
struct Answer {
  std::string function;
  std::vector<std::string> sha256;
};

/// What a student completes next.
struct Stage {
  std::string id, title, rung;
  std::vector<std::string> needs;  ///< stages that must have passed first
  double points = 0;
  Kind kind = Kind::core;
  std::vector<std::string> shapes;  ///< classes: aligned ragged tiny thin strided empty k1
  std::optional<Answer> answer;
  unsigned line = 0;  ///< in lab.toml
};

/// The reference tile. BM, BN, BK shape the extents that are checked; the rest are parameters of
/// goals.
using TileSizes = std::map<std::string, int>;

struct Lab {
  int id = 0;
  std::string name, title;
  std::filesystem::path folder;  ///< relative to the root when discovered there
  TileSizes tile;
  std::vector<Rung> rungs;
  std::vector<Stage> stages;
  std::vector<Goal> goals;            ///< of goals.cpp, with the instructor's overrides applied
  std::map<std::string, double> gpu;  ///< timing goals, judged on hardware only

  const Rung& rung(const std::string& name) const;  ///< throws std::out_of_range
  const Stage* stage(const std::string& stage_id) const;
  int tile_size(const std::string& key, int fallback) const;
};

/// Reads one lab.toml. Throws UserError "labN/lab.toml:12: unknown key ..." for anything it does
/// not know.
Lab parse_lab(const std::string& text, const std::string& path_for_messages);

/// All labN_*/lab.toml below root, by id. Throws UserError for a broken one, for two with one id,
/// for none.
std::vector<Lab> discover_labs(const std::filesystem::path& root);

/// An instructor's course.toml:
///     [points]
///     "1.2" = 15
///     [goals."1.2".load_sectors_b]     # stage, key of the goal
///     slack = 1.10                     # one of its parameters
/// Applied in place. Throws UserError with file:line for unknown stages, goals, parameters and
/// keys.
void apply_course(std::vector<Lab>& labs, const std::string& text,
                  const std::string& path_for_messages);

/// "1, 2, 3": for messages about a lab that does not exist.
std::string list_of_ids(const std::vector<Lab>& labs);

}  // namespace grader
