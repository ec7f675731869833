// grader unit: the translation unit of one of a lab's files or rungs, for compilers that the grader
// does not run itself: nvcc in the project's own tests, a profiler's build, `make sass`.
#include <algorithm>
#include <iostream>

#include "grader/commands/commands.hpp"
#include "grader/commands/common.hpp"
#include "grader/commands/one_rung.hpp"
#include "grader/compile/unit.hpp"
#include "grader/errors.hpp"
#include "grader/messages.hpp"

namespace grader {
namespace fs = std::filesystem;

namespace {

void print(const Lab& lab, const std::string& file, const fs::path& included,
           const InstanceFilter& wanted) {
  std::cout << translation_unit(lab, file, included.generic_string(), wanted).text;
}

}  // namespace

ExitCode print_unit(const UnitOptions& options) {
  const Workplace place = workplace(options.place);
  const std::vector<Lab> labs = load_labs(place.root, {});
  if (options.file.empty()) {
    const Lab& lab = lab_with_id(labs, options.lab);
    const Rung& rung = rung_named(lab, options.rung);
    const std::string type = options.type.empty() ? rung.main_type() : options.type;
    if (std::find(rung.types.begin(), rung.types.end(), type) == rung.types.end())
      no_such_type(rung.name, type, rung.types);
    print(lab, rung.file, fs::path(lab.folder) / (options.solution ? "solution" : "") / rung.file,
          [&](const Rung& one, const std::string& in) {
            return one.name == rung.name && in == type;
          });
    return exit_ok;
  }
  const fs::path path = fs::absolute(options.file).lexically_relative(place.root);
  const auto lab = std::find_if(labs.begin(), labs.end(), [&](const Lab& one) {
    return !path.empty() && *path.begin() == one.folder;
  });
  if (lab == labs.end())
    throw UserError(messages::text("usage.no_labs_file", {{"file", options.file.string()}}),
                    exit_usage);
  print(*lab, path.filename().string(), path, [](const Rung&, const std::string&) { return true; });
  return exit_ok;
}

}  // namespace grader
