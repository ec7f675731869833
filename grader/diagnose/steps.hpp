// How often each k was added to an element of C, and what such a list means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/diagnose/hypotheses.hpp"

namespace grader::diag {

/// By k: how often its product was added. 1 is right.
using Profile = std::vector<int>;

std::string steps(int first, int last);  ///< "k = 4..7"
/// Whether `steps`, at least one, in ascending order, leave none out.
bool contiguous(const std::vector<int>& steps);
/// Whole k-tiles of `tile` steps are missing or added too often. `shared`: blocks share a sum.
std::optional<Diagnosis> name_tiles(const Profile& p, int tile, bool shared);
/// Pieces that come a tile late, and sums that grow from tile to tile.
std::optional<Diagnosis> name_parts_of_tiles(const Profile& p, const std::vector<int>& tiles);
/// "k = 28..31, the last steps, are": the beginning of a sentence that says what is missing.
std::string missing_steps(const std::vector<int>& missing, int k);
/// Single steps are missing or added too often. `varied`: other elements have other steps.
std::optional<Diagnosis> name_steps(const Profile& p, int tile, bool varied, bool shared);
/// Tiles, or with `shared` blocks' parts of a sum, that begin too close to each other.
std::optional<Diagnosis> name_short_step(const Profile& p, const std::vector<int>& tiles,
                                         bool shared);

}  // namespace grader::diag
