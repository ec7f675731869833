// grader hint: a ladder of three steps per stage, one more each time it is asked for. Free, and
// remembered in build/hints/.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "grader/commands/commands.hpp"
#include "grader/commands/common.hpp"
#include "grader/commands/hints.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/report/text.hpp"

namespace grader {
namespace fs = std::filesystem;
using messages::text;

std::vector<std::string> hints_of(const std::string& markdown, const std::string& stage) {
  std::vector<std::string> levels;
  bool mine = false;
  std::istringstream stream(markdown);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.rfind("## ", 0) == 0) {
      std::istringstream heading(line.substr(3));
      std::string id;
      heading >> id;
      mine = id == stage;
    } else if (mine && line.rfind("### ", 0) == 0) {
      levels.emplace_back();
    } else if (mine && !levels.empty()) {
      levels.back() += line + "\n";
    }
  }
  for (auto& level : levels) {
    while (!level.empty() && (level.back() == '\n' || level.back() == ' ')) level.pop_back();
    level.erase(0, std::min(level.find_first_not_of('\n'), level.size()));
  }
  return levels;
}

ExitCode hint(const HintOptions& options) {
  const Workplace place = workplace(options.place);
  const std::vector<Lab> labs = load_labs(place.root, {});
  const Lab& lab = lab_of_stage(labs, options.stage);
  const fs::path source = place.root / lab.folder / "hints.md";
  const std::vector<std::string> levels = fs::exists(source)
                                              ? hints_of(read_file(source, 1u << 20), options.stage)
                                              : std::vector<std::string>{};
  if (levels.empty()) throw UserError(text("hint.none", {{"stage", options.stage}}), exit_usage);
  const fs::path memory = place.build / "hints" / options.stage;
  make_folder(memory.parent_path());
  std::size_t seen = 0;
  if (fs::exists(memory)) seen = std::strtoul(read_file(memory, 64).c_str(), nullptr, 10);
  const std::size_t level = std::min(seen + 1, levels.size());
  write_file_atomically(memory, std::to_string(level) + "\n");

  std::cout << text("hint.level", {{"level", std::to_string(level)},
                                   {"levels", std::to_string(levels.size())},
                                   {"stage", options.stage},
                                   {"title", lab.stage(options.stage)->title}})
            << "\n\n";
  // Paragraphs are wrapped as a whole; indented lines are code and stay as they are.
  std::string paragraph;
  const auto flush = [&] {
    if (paragraph.empty()) return;
    for (const auto& line : report::wrap(paragraph, 78)) std::cout << "  " << line << '\n';
    paragraph.clear();
  };
  std::istringstream stream(levels[level - 1]);
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line[0] == ' ') {
      flush();
      std::cout << (line.empty() ? "" : "  " + line) << '\n';
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + line;
    }
  }
  flush();
  std::cout << '\n';
  if (level == levels.size()) std::cout << text("hint.last", {{"stage", options.stage}}) << '\n';
  std::cout << "next: make check LAB=" << lab.id
            << (level < levels.size() ? "   or: make hint STAGE=" + options.stage : "") << '\n';
  return exit_ok;
}

}  // namespace grader
