#include "grader/author/skeleton/skeleton.hpp"

#include <cctype>
#include <optional>

namespace grader {
namespace {

struct Line {
  std::string_view text;  // without its end
  std::string_view whole;
};

std::vector<Line> split(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
    const std::string_view whole = text.substr(0, size);
    std::string_view content = whole;
    while (!content.empty() && (content.back() == '\n' || content.back() == '\r')) {
      content.remove_suffix(1);
    }
    lines.push_back({content, whole});
    text.remove_prefix(size);
  }
  return lines;
}

constexpr std::string_view kBlanks = " \t\v\f";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

enum class Marker { none, begin_solution, end_solution, begin_skeleton, end_skeleton };

Marker marker(std::string_view line) {
  const std::string_view text = trim(line);
  if (text == "// >>> solution") return Marker::begin_solution;
  if (text == "// <<< solution") return Marker::end_solution;
  if (text == "// >>> skeleton") return Marker::begin_skeleton;
  if (text == "// <<< skeleton") return Marker::end_skeleton;
  return Marker::none;
}

/// Start of the line's `//` comment, or npos. A string or character literal is no comment.
std::size_t comment_start(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote != 0) {
      if (line[i] == '\\') {
        ++i;
      } else if (line[i] == quote) {
        quote = 0;
      }
    } else if (line[i] == '"') {
      quote = line[i];
    } else if (line[i] == '\'' &&
               (i == 0 || !std::isalnum(static_cast<unsigned char>(line[i - 1])))) {
      quote = line[i];  // behind a digit it separates digits: 100'000
    } else if (line.substr(i, 2) == "//") {
      return i;
    }
  }
  return std::string_view::npos;
}

/// True for what was surely meant as a marker: a comment with >>> or <<< and a word that begins
/// like ours. A comment about a launch, `// <<<grid, block>>>`, is not one.
bool looks_like_marker(std::string_view line) {
  const std::size_t start = comment_start(line);
  if (start == std::string_view::npos) return false;
  const std::string_view comment = line.substr(start);
  for (const std::string_view arrows : {">>", "<<"}) {
    const std::size_t at = comment.find(arrows);
    if (at == std::string_view::npos) continue;
    std::string word;
    for (const char c : comment.substr(at)) {
      const unsigned char byte = static_cast<unsigned char>(c);
      if (std::isalpha(byte)) {
        word += static_cast<char>(std::tolower(byte));
      } else if (!word.empty() ||
                 (kBlanks.find(c) == std::string_view::npos && c != '<' && c != '>')) {
        break;
      }
    }
    if (word.starts_with("solu") || word.starts_with("skel")) return true;
  }
  return false;
}

/// The stage id of the nearest TODO(id) in the comment lines directly above `line` (an index).
std::optional<std::string> todo_above(const std::vector<Line>& lines, std::size_t line) {
  while (line > 0) {
    const std::string_view text = trim(lines[--line].text);
    if (!text.starts_with("//")) return std::nullopt;
    const std::size_t open = text.find("TODO(");
    if (open == std::string_view::npos) continue;
    const std::size_t close = text.find(')', open);
    if (close == std::string_view::npos) return std::nullopt;
    return std::string(text.substr(open + 5, close - open - 5));
  }
  return std::nullopt;
}

/// "  // x = 1;" -> "  x = 1;"
std::string uncommented(const Line& line, std::size_t number) {
  const std::size_t first = line.text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  std::string_view rest = line.text.substr(first);
  if (!rest.starts_with("//")) {
    throw SkeletonError(number, "a line of a skeleton block is not commented out");
  }
  rest.remove_prefix(2);
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  if (trim(rest).empty()) return {};
  return std::string(line.text.substr(0, first)) + std::string(rest);
}

/// `open`: the only stage whose regions are taken out of the skeleton; none: all are.
Skeleton read(std::string_view master, std::optional<std::string_view> open) {
  const std::vector<Line> lines = split(master);
  Skeleton result;
  enum class State { given, skeleton, between, solution } state = State::given;
  std::size_t opened = 0;  // line number of the marker that is open
  SolutionRegion region;
  std::string replacement, solution;

  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const std::size_t number = i + 1;
    const Marker found = marker(line.text);
    if (found == Marker::none && looks_like_marker(line.text)) {
      throw SkeletonError(
          number,
          "looks like a marker but is none: the line must be exactly '// >>> solution', "
          "'// <<< solution', '// >>> skeleton' or '// <<< skeleton'");
    }
    switch (state) {
      case State::given:
      case State::between:
        if (found == Marker::end_solution || found == Marker::end_skeleton) {
          throw SkeletonError(number, "a marker closes what was never opened");
        }
        if (state == State::between && found != Marker::begin_solution) {
          throw SkeletonError(number, "a skeleton block must stand directly before its solution");
        }
        if (found == Marker::none) {
          result.skeleton += line.whole;
          result.solved += line.whole;
          break;
        }
        if (state == State::given) {
          const std::optional<std::string> stage = todo_above(lines, i);
          if (!stage) throw SkeletonError(number, "no comment with TODO(stage) directly above");
          region = {*stage, 0, {}, {}};
        }
        opened = number;
        state = found == Marker::begin_solution ? State::solution : State::skeleton;
        if (state == State::solution) region.first_line = number;
        break;
      case State::skeleton:
        if (found == Marker::end_skeleton) {
          state = State::between;
        } else if (found != Marker::none) {
          throw SkeletonError(
              number, "a marker inside the skeleton block of line " + std::to_string(opened));
        } else {
          region.replacement.push_back(uncommented(line, number));
          replacement += region.replacement.back();
          replacement += line.whole.substr(line.text.size());
        }
        break;
      case State::solution:
        if (found == Marker::end_solution) {
          result.skeleton += !open || region.stage == *open ? replacement : solution;
          replacement.clear();
          solution.clear();
          result.regions.push_back(std::move(region));
          state = State::given;
        } else if (found != Marker::none) {
          throw SkeletonError(number,
                              "a marker inside the solution of line " + std::to_string(opened));
        } else {
          region.lines.emplace_back(line.text);
          solution += line.whole;
          result.solved += line.whole;
        }
        break;
    }
  }
  if (state == State::between) {
    throw SkeletonError(opened, "a skeleton block must stand directly before its solution");
  }
  if (state != State::given) throw SkeletonError(opened, "this marker is never closed");
  return result;
}

}  // namespace

Skeleton make_skeleton(std::string_view master) {
  return read(master, std::nullopt);
}

std::string with_open_stage(std::string_view master, std::string_view stage) {
  return read(master, stage).skeleton;
}

}  // namespace grader
