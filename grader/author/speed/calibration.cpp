#include "grader/author/speed/calibration.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "grader/gpu/speed.hpp"

namespace grader::gpu {
namespace {

/// Two digits that count, cut off: a bar is never above what was computed.
double two_digits(double value) {
  const double scale = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::floor(value / scale + 1e-9) * scale;
}

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  std::string plain = text.data();
  if (plain.find('.') == std::string::npos && plain.find('e') == std::string::npos) plain += ".0";
  return plain;
}

bool begins_with_key(const std::string& line, const std::string& key) {
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string::npos || line.compare(first, key.size(), key) != 0) return false;
  const auto after = line.find_first_not_of(" \t", first + key.size());
  return after != std::string::npos && line[after] == '=';
}

bool is_table(const std::string& line) {
  const auto first = line.find_first_not_of(" \t");
  return first != std::string::npos && line[first] == '[';
}

bool is_table(const std::string& line, const std::string& header) {
  const auto first = line.find_first_not_of(" \t");
  return first != std::string::npos && line.compare(first, header.size(), header) == 0;
}

using Lines = std::vector<std::string>;

/// Sets or inserts `key = value` in the table whose header is line `header`.
void set(Lines& lines, std::size_t header, const std::string& key,
         const std::optional<double>& value) {
  if (!value) return;
  std::size_t last = header;
  for (std::size_t i = header + 1; i < lines.size() && !is_table(lines[i]); ++i) {
    if (begins_with_key(lines[i], key)) {
      const auto comment = lines[i].find('#');
      lines[i] = key + " = " + number(*value) +
                 (comment == std::string::npos ? "" : "   " + lines[i].substr(comment));
      return;
    }
    if (lines[i].find_first_not_of(" \t") != std::string::npos) last = i;
  }
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(last) + 1, key + " = " + number(*value));
}

}  // namespace

bool holds(double bar, double solution_worst, double previous_best, double grace) {
  return bar <= kBelowSolution * solution_worst * (1 + 1e-9) &&
         bar * (1 - grace) >= kAbovePrevious * previous_best;
}

Placed place_bar(double solution_worst, double previous_best, double grace) {
  if (!(solution_worst > 0 && previous_best > 0)) return {{}, "calibrate.unmeasured"};
  const double middle = std::sqrt(solution_worst * previous_best);
  const double bar = two_digits(std::min(middle, kBelowSolution * solution_worst));
  if (!holds(bar, solution_worst, previous_best, grace)) return {{}, "calibrate.no_gap"};
  return {bar, {}};
}

std::string with_bars(const std::string& toml, const SpeedGoal& goal, const std::string& arch,
                      const SpeedBars& bars) {
  Lines lines;
  std::istringstream stream(toml);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  if (goal.line < 1 || goal.line > lines.size())
    throw std::invalid_argument("the goal is not of this file");
  std::size_t header = goal.line - 1;
  if (!is_table(lines[header], "[[speed]]"))
    throw std::invalid_argument("line " + std::to_string(goal.line) + " is no [[speed]]");
  if (!arch.empty()) {
    const std::string wanted = "[speed.arch." + arch + "]";
    std::size_t end = header + 1, found = 0;
    for (; end < lines.size() && (!is_table(lines[end]) || is_table(lines[end], "[speed.")); ++end)
      if (is_table(lines[end], wanted)) found = end;
    if (found == 0) {
      std::size_t last = end;
      while (last > header + 1 && lines[last - 1].find_first_not_of(" \t") == std::string::npos)
        --last;
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(last), wanted);
      found = last;
    }
    header = found;
  }
  set(lines, header, "naive", bars.naive);
  set(lines, header, "cublas", bars.cublas);
  std::string text;
  for (const auto& line : lines) text += line + '\n';

  const Lab lab = parse_lab(text, "lab.toml");
  for (const auto& one : lab.speed) {
    if (one.stage != goal.stage || one.type != goal.type || one.m != goal.m || one.n != goal.n ||
        one.k != goal.k)
      continue;
    const SpeedBars seen = arch.empty() ? one.bars : bars_on(one, arch);
    const auto same = [](const std::optional<double>& x, const std::optional<double>& y) {
      return !x || (y && std::abs(*x - *y) <= 1e-6 * *x);
    };
    if (same(bars.naive, seen.naive) && same(bars.cublas, seen.cublas)) return text;
  }
  throw std::invalid_argument("the bars do not read back");
}

}  // namespace grader::gpu
