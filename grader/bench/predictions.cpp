#include "grader/bench/predictions.hpp"

#include <fmt/core.h>

#include <algorithm>

#include <toml++/toml.h>

#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"

namespace grader::bench {
namespace fs = std::filesystem;
using messages::text;

std::string predictions_form(const std::vector<Lab>& labs) {
  std::string form = text("predictions.head");
  for (const Lab& lab : labs) {
    std::string lines;
    for (const Stage& stage : lab.stages) {
      const Rung& rung = lab.rung(stage.rung);
      if (!is_benched(lab, rung)) continue;
      // One line per rung: its last stage.
      const auto last = std::find_if(lab.stages.rbegin(), lab.stages.rend(),
                                     [&](const Stage& s) { return s.rung == rung.name; });
      if (last->id != stage.id) continue;
      const std::string math = rung.precision == Precision::tf32 ? "TF32" : rung.main_type();
      lines += fmt::format("# {:<8}      # {}, {}\n", '"' + stage.id + "\" =", rung.name, math);
    }
    if (!lines.empty()) form += fmt::format("\n# {}\n{}", lab.title, lines);
  }
  return form;
}

bool write_predictions_form(const fs::path& file, const std::vector<Lab>& labs) {
  if (fs::exists(file)) return false;
  write_file_atomically(file, predictions_form(labs));
  return true;
}

std::vector<Prediction> read_predictions(const fs::path& file, const std::vector<Lab>& labs) {
  std::vector<Prediction> all;
  if (!fs::exists(file)) return all;
  const std::string name = file.filename().string(), now = utc_now();
  const auto bad = [&](const toml::source_region& where, const std::string& what) {
    return UserError(fmt::format("{}:{}: {}", name, where.begin.line, what), exit_usage);
  };
  toml::table table;
  try {
    table = toml::parse(read_file(file, 1u << 20), name);
  } catch (const toml::parse_error& error) {
    throw bad(error.source(), std::string(error.description()));
  }
  for (const auto& [key, node] : table) {
    if (key.str() != "percent_of_cublas" || !node.as_table())
      throw bad(node.source(), text("predictions.unknown", {{"key", std::string(key.str())}}));
    for (const auto& [stage, value] : *node.as_table()) {
      const std::string id(stage.str());
      const bool known = std::any_of(labs.begin(), labs.end(),
                                     [&](const Lab& lab) { return lab.stage(id) != nullptr; });
      if (!known) throw bad(value.source(), text("predictions.stage", {{"stage", id}}));
      const auto percent = value.value<double>();
      if (!percent || !(*percent >= 0 && *percent <= 1000))
        throw bad(value.source(), text("predictions.number", {{"stage", id}}));
      all.push_back({id, *percent, now});
    }
  }
  return all;
}

std::vector<Prediction> merge_predictions(const std::vector<Prediction>& before,
                                          const std::vector<Prediction>& now) {
  std::vector<Prediction> merged = now;
  for (Prediction& one : merged)
    for (const Prediction& old : before)
      if (old.key == one.key && old.percent == one.percent) one.seen = old.seen;
  return merged;
}

}  // namespace grader::bench
