// One wrong case in words: how much of C is wrong, where first, and what it looks like.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{:.7g}", value);
}

Seen seen_in(const Run& run) {
  return {run.a.rows, run.b.cols, run.a.cols,
          run.a.ld > run.a.cols || run.b.ld > run.b.cols || run.c_before.ld > run.c_before.cols};
}

namespace {

unsigned ceil_of(int extent, unsigned block) {
  return (static_cast<unsigned>(extent) + block - 1) / block;
}

/// "; 16 x 16 tile (0, 1), inside it (3, 5)", and the thread where the launch is the reference's.
std::string tile_of(const Evidence& evidence, const Case& c, int i, int j) {
  const Tile& t = evidence.tile;
  if (t.bm <= 0 || t.bn <= 0 || evidence.operation != Operation::product) return "";
  std::string text = messages::text("detail.tile", {{"size", fmt::format("{} x {}", t.bm, t.bn)},
                                                    {"ti", i / t.bm},
                                                    {"tj", j / t.bn},
                                                    {"ii", i % t.bm},
                                                    {"jj", j % t.bn}});
  const int tm = std::max(1, t.tm), tn = std::max(1, t.tn);
  if (c.run.launches.size() != 1) return text;
  const simgpu::LaunchReport& launch = c.run.launches.front();
  const auto as_unsigned = [](int x) { return static_cast<unsigned>(x); };
  const bool as_reference = launch.block.x == as_unsigned(t.bn / tn) &&
                            launch.block.y == as_unsigned(t.bm / tm) &&
                            launch.grid.x == as_unsigned(tiles_of(c.n, t.bn)) &&
                            launch.grid.y == as_unsigned(tiles_of(c.m, t.bm)) && tm == 1 && tn == 1;
  if (as_reference)
    text += messages::text(
        "detail.thread", {{"bx", j / t.bn}, {"by", i / t.bm}, {"tx", j % t.bn}, {"ty", i % t.bm}});
  return text;
}

std::string cell(const Case& c, int i, int j) {
  return c.state_at(i, j) == State::untouched ? "-" : number(c.got(i, j));
}

constexpr int most_lines = 16;  // of a map

/// A picture of which tiles are wrong, or of one tile's elements; none if it would fill the screen,
/// or if nothing in it is right.
void print_map(const Evidence& evidence, const Case& c, Diagnosis& d) {
  const int bm = evidence.tile.bm > 0 ? evidence.tile.bm : 16,
            bn = evidence.tile.bn > 0 ? evidence.tile.bn : 16;
  const int down = tiles_of(c.m, bm), across = tiles_of(c.n, bn);
  // One tile says nothing as a map of tiles: then a map of its elements.
  const bool elements = down * across <= 4;
  int rows = elements ? c.m : down;
  const int cols = elements ? c.n : across;
  if (rows > 2 * most_lines || cols > 64) return;
  int rm = elements ? 1 : bm;
  const int cn = elements ? 1 : bn;
  if (rows > most_lines) {  // a line for every two
    rm *= 2;
    rows = tiles_of(c.m, rm);
  }
  std::vector<std::string> lines;
  for (int r = 0; r < rows; ++r) {
    std::string line = "  ";
    for (int q = 0; q < cols; ++q) {
      bool wrong = false;
      for (int i = r * rm; i < std::min(c.m, (r + 1) * rm) && !wrong; ++i)
        for (int j = q * cn; j < std::min(c.n, (q + 1) * cn) && !wrong; ++j)
          wrong = c.state_at(i, j) != State::right;
      line += wrong ? 'x' : '.';
    }
    lines.push_back(line);
  }
  const bool any_right = std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find('.') != std::string::npos;
  });
  if (!any_right) return;
  d.details.push_back(messages::text("detail.map", {{"bm", rm}, {"bn", cn}}));
  d.details.insert(d.details.end(), lines.begin(), lines.end());
}

std::optional<std::pair<int, int>> first_wrong(const Case& c) {
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (c.state_at(i, j) != State::right) return std::pair{i, j};
  return std::nullopt;
}

}  // namespace

std::string launched(const Evidence& evidence, const Case& c) {
  if (evidence.operation != Operation::product || c.run.launches.empty()) return "";
  const simgpu::LaunchReport& launch = c.run.launches.front();
  const bool alike = std::all_of(c.run.launches.begin(), c.run.launches.end(),
                                 [&launch](const simgpu::LaunchReport& other) {
                                   return other.kernel == launch.kernel &&
                                          other.grid == launch.grid && other.block == launch.block;
                                 });
  if (!alike) return "";
  const Tile& t = evidence.tile;
  if (launch.grid.z != 1 || launch.block.z != 1) return "";
  const std::vector<messages::Gap> gaps = {{"count", c.run.launches.size()},
                                           {"grid", dims(launch.grid)},
                                           {"block", dims(launch.block)},
                                           {"m", c.m},
                                           {"n", c.n},
                                           {"across", ceil_of(c.n, launch.block.x)},
                                           {"down", ceil_of(c.m, launch.block.y)}};
  if (c.run.launches.size() > 1) return messages::text("detail.launch.many", gaps);
  // How many blocks it takes is known only where a thread has one element.
  const bool single = !several_each(t) && c.m > 0 && c.n > 0 && launch.total.tensor_ops.empty();
  return messages::text(single ? "detail.launch.single" : "detail.launch", gaps);
}

std::vector<std::string> matrix_lines(const Case& c, Layout layout) {
  constexpr int most_extent = 8;
  constexpr std::size_t most_columns = 72;
  if (c.wrong == 0 || c.m > most_extent || c.n > most_extent) return {};
  std::size_t width = 1;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      width = std::max({width, cell(c, i, j).size() + 1, number(c.correct[c.at(i, j)]).size()});
  const std::size_t columns = (width + 1) * static_cast<std::size_t>(c.n);
  const bool beside = width * static_cast<std::size_t>(2 * c.n) <= most_columns;
  if (!beside && (layout == Layout::beside || columns > most_columns)) return {};
  const auto padded = [&](const std::string& text) {
    return std::string(width + 1 - text.size(), ' ') + text;
  };
  std::vector<std::string> computed, expected;
  for (int i = 0; i < c.m; ++i) {
    computed.emplace_back(" ");
    expected.emplace_back(beside ? "  |" : " ");
    for (int j = 0; j < c.n; ++j) {
      computed.back() += padded(cell(c, i, j) + (c.state_at(i, j) == State::right ? " " : "*"));
      expected.back() += padded(number(c.correct[c.at(i, j)]));
    }
  }
  std::vector<std::string> lines{messages::text("detail.matrix")};
  for (std::size_t i = 0; i < computed.size(); ++i)
    lines.push_back(beside ? computed[i] + expected[i] : computed[i]);
  if (beside) return lines;
  lines.front() = messages::text("detail.matrix.computed");
  lines.push_back(messages::text("detail.matrix.expected"));
  lines.insert(lines.end(), expected.begin(), expected.end());
  return lines;
}

void describe(const Evidence& evidence, const Case& c, Diagnosis& d) {
  d.seen = seen_in(c.run);
  if (c.wrong == 0) return;
  d.details.push_back(messages::text(
      "detail.count",
      {{"wrong", c.wrong}, {"total", c.size()}, {"m", c.m}, {"n", c.n}, {"k", c.k}}));
  const auto [i, j] = *first_wrong(c);
  d.details.push_back(messages::text(
      "detail.first",
      {{"i", i},
       {"j", j},
       {"got", c.state_at(i, j) == State::untouched ? messages::text("part.held_before")
                                                    : number(c.got(i, j))},
       {"expected", number(c.correct[c.at(i, j)])},
       {"tile", tile_of(evidence, c, i, j)}}));
  const auto lines = matrix_lines(c, Layout::beside);
  d.details.insert(d.details.end(), lines.begin(), lines.end());
}

Diagnosis unexplained(const Evidence& evidence, const Case& c) {
  const auto [i, j] = first_wrong(c).value_or(std::pair{0, 0});
  Diagnosis d = say("UNEXPLAINED", "",
                    {{"count", c.wrong}, {"total", c.size()}, {"place", element("C", i, j)}});
  describe(evidence, c, d);
  std::int64_t not_finite = 0;
  for (int r = 0; r < c.m; ++r)
    for (int q = 0; q < c.n; ++q)
      not_finite += c.state_at(r, q) == State::wrong && !std::isfinite(c.got(r, q));
  if (not_finite > 0) d.details.push_back(messages::text("detail.nan", {{"count", not_finite}}));
  print_map(evidence, c, d);
  return d;
}

}  // namespace grader::diag
