// build/bin/unpack in a box of its own for each archive, by a user of its own where this process is
// root: what an archive does to its reader reaches nothing and nobody.
#pragma once

#include "grader/course/intake/tree.hpp"

namespace grader::box {

/// Makes the kit for the boxes when the first archive comes, since many classes have none, and throws
/// then as Kit does. `unsafe`: without boxes.
intake::Unpack unpacking(const std::filesystem::path& programs, bool unsafe);

}  // namespace grader::box
