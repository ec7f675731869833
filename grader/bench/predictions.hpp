// predictions.toml in the project's root: what a student expects of each rung before measuring it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/bench/record.hpp"
#include "grader/labs/lab.hpp"

namespace grader::bench {

/// The form: one line per stage with a rung that a bench measures, all of them blank.
std::string predictions_form(const std::vector<Lab>& labs);

/// Writes the form if there is no such file. True if it did.
bool write_predictions_form(const std::filesystem::path& file, const std::vector<Lab>& labs);

/// What is filled in, `seen` = now. A missing file is an empty list. Throws UserError "file:line"
/// for what cannot be read, for an unknown stage and for a number outside 0 ... 1000.
std::vector<Prediction> read_predictions(const std::filesystem::path& file,
                                         const std::vector<Lab>& labs);

/// Predictions as they stood first: one that has not changed keeps the moment it was first seen.
std::vector<Prediction> merge_predictions(const std::vector<Prediction>& before,
                                          const std::vector<Prediction>& now);

}  // namespace grader::bench
