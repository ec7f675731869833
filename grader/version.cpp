#include "grader/version.hpp"

#include "grader/os/embed.hpp"

namespace grader {

GRADER_EMBED(version_file, "VERSION")

std::string version() {
  const std::string_view content = version_file();
  return std::string(content.substr(0, content.find('\n')));
}

}  // namespace grader
