#include "grader/compile/link_errors.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "grader/messages.hpp"

namespace grader {

using messages::text;

void explain_link(Build& build, const std::string& said,
                  const std::function<std::string(const std::string& file)>& object_of) {
  const bool main = said.find("multiple definition of `main'") != std::string::npos ||
                    said.find("duplicate symbol: main") != std::string::npos;
  std::vector<std::string> details;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line) && !main && details.size() < 5;) {
    // ".../gemm.o: in function `f()': gemm.cu:(.text+0x12): undefined reference to `g()'"
    const auto at =
        std::min(line.find("undefined reference to"), line.find("multiple definition of"));
    if (at != std::string::npos) details.push_back(line.substr(at));
  }
  // The linker names objects; where it names none of ours, all take part.
  const auto named = [&](const SourceUnit& unit) {
    return unit.built() && said.find("/" + object_of(unit.file)) != std::string::npos;
  };
  const bool any = std::any_of(build.units.begin(), build.units.end(), named);
  for (SourceUnit& unit : build.units) {
    if (!unit.built() || (any && !named(unit))) continue;
    unit.status = BuildStatus::link_error;
    unit.headline = text(main ? "build.main" : "build.link", {{"file", unit.shown_path}});
    unit.details = details;
  }
}

}  // namespace grader
