// grader unit: the translation unit of one of a lab's files, for compilers that the grader does not
// run itself: nvcc in the project's own tests, a profiler's build.
#include <algorithm>
#include <iostream>

#include "grader/commands/commands.hpp"
#include "grader/commands/common.hpp"
#include "grader/compile/unit.hpp"
#include "grader/errors.hpp"
#include "grader/messages.hpp"

namespace grader {
namespace fs = std::filesystem;

ExitCode print_unit(const UnitOptions& options) {
  const Workplace place = workplace(options.place);
  const std::vector<Lab> labs = load_labs(place.root, {});
  const fs::path path = fs::absolute(options.file).lexically_relative(place.root);
  const auto lab = std::find_if(labs.begin(), labs.end(), [&](const Lab& one) {
    return !path.empty() && *path.begin() == one.folder;
  });
  if (lab == labs.end())
    throw UserError(messages::text("usage.no_labs_file", {{"file", options.file.string()}}),
                    exit_usage);
  std::cout << translation_unit(*lab, path.filename().string(), path.generic_string(),
                                [](const Rung&, const std::string&) { return true; })
                   .text;
  return exit_ok;
}

}  // namespace grader
