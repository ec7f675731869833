// What to say of files that compile, but do not link.
#pragma once

#include <functional>
#include <string>

#include "grader/compile/compile.hpp"

namespace grader {

/// The units that the linker names are built no more, or all of them where it names none.
/// `said`: by the linker. `object_of`: the name of a file's object.
void explain_link(Build& build, const std::string& said,
                  const std::function<std::string(const std::string& file)>& object_of);

}  // namespace grader
