// build/bin/unpack in a box of its own for each archive, by a user of its own where this process is
// root: what an archive does to its reader reaches nothing and nobody.
#pragma once

#include "grader/course/intake/tree.hpp"

namespace grader::box {

/// What boxes are made from is made with the first archive: many classes have none. Throws as Kit
/// does then. `unsafe`: as it is, without a box.
intake::Unpack unpacking(const std::filesystem::path& programs, bool unsafe);

}  // namespace grader::box
