#include "grader/sweep/table.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "grader/messages.hpp"
#include "grader/report/text.hpp"
#include "grader/sweep/sentences.hpp"

namespace grader::sweep {
namespace {

using messages::text;

constexpr std::size_t columns = 80, label_width = 16, cell_width = 9;

/// Three digits that count; small and large times in one column.
std::string cell(double value) {
  char out[32];
  if (value <= 0) return "-";
  std::snprintf(out, sizeof out, value >= 1000 ? "%.0f" : value < 0.01 ? "%.5f" : "%.3g", value);
  return out;
}

std::string right(const std::string& what, std::size_t width) {
  const std::size_t taken = report::width(what);
  return (taken < width ? std::string(width - taken, ' ') : std::string(" ")) + what;
}

std::string label(const std::string& what, std::size_t taken = label_width) {
  return report::pad(report::fit(what, taken), taken);
}

/// Points of one table: an experiment, a type, and a variant unless the variants are its columns.
struct Family {
  std::string experiment, variant, type;
  std::vector<const Point*> points;
};

std::vector<Family> families(const Results& results) {
  std::vector<Family> all;
  for (const Point& p : results.points) {
    if (!p.done() && p.error.empty()) continue;
    const std::string variant = p.experiment == "size" ? std::string() : p.variant;
    auto found = std::find_if(all.begin(), all.end(), [&](const Family& f) {
      return f.experiment == p.experiment && f.variant == variant && f.type == p.type;
    });
    if (found == all.end()) found = all.insert(all.end(), {p.experiment, variant, p.type, {}});
    found->points.push_back(&p);
  }
  return all;
}

template <typename Key>
std::vector<int> values(const std::vector<const Point*>& points, Key key) {
  std::set<int> all;
  for (const Point* p : points) all.insert(key(*p));
  return {all.begin(), all.end()};
}

const Point* at(const Family& family, int n, int x) {
  for (const Point* p : family.points)
    if (p->n == n && p->x == x) return p;
  return nullptr;
}

/// Rows x, columns n, times; registers, local memory and occupancy at the largest n.
void add_times(const Family& family, std::vector<std::string>& lines) {
  const auto sizes = values(family.points, [](const Point& p) { return p.n; });
  const auto xs = values(family.points, [](const Point& p) { return p.x; });
  lines.push_back(report::fit(
      text("sweep.table",
           {{"experiment", family.experiment}, {"variant", family.variant}, {"type", family.type}}),
      columns));
  const std::string axis_key = "sweep.axis." + family.experiment;
  const bool model = std::any_of(family.points.begin(), family.points.end(),
                                 [](const Point* p) { return p->wavefronts > 0; });
  // Five sizes and the model's column just fit.
  const bool tight = model && sizes.size() > 4;
  const std::size_t first = tight ? 13 : label_width, each = tight ? cell_width - 1 : cell_width;
  std::string head = label(messages::exists(axis_key) ? text(axis_key) : "x", first);
  for (const int n : sizes) head += right(std::to_string(n), each);
  head += " regs  local  occ";
  if (model) head += "  wavefr";
  lines.push_back(head);
  const auto best = [&](int n) {
    double least = 0;
    for (const Point* p : family.points)
      if (p->n == n && p->ms && (least == 0 || *p->ms < least)) least = *p->ms;
    return least;
  };
  for (const int x : xs) {
    const Point* last = nullptr;
    std::string line, shown;
    for (const int n : sizes) {
      const Point* p = at(family, n, x);
      if (p != nullptr && p->threads > 0) last = p;
      if (p != nullptr) shown = p->x_shown();
      const bool timed = p != nullptr && p->ms;
      line += right(timed                               ? cell(*p->ms)
                    : p != nullptr && !p->error.empty() ? "wrong"
                                                        : "-",
                    each - 1);
      line += timed && *p->ms == best(n) ? '*' : ' ';
    }
    if (last != nullptr) {
      char more[64];
      std::snprintf(more, sizeof more, " %4d %6lld %3.0f%%", last->registers, last->local_bytes,
                    100 * last->occupancy);
      line += more;
      if (last->wavefronts > 0) line += right(cell(last->wavefronts), 8);
    }
    lines.push_back(label(shown, first) + line);
  }
  // The yardsticks do not depend on x: the first point that has them.
  std::string naive = label("naive, 32 x 8", first), cublas = label("cuBLAS", first);
  bool has_naive = false, has_cublas = false;
  for (const int n : sizes) {
    double slow = 0, fast = 0;
    for (const Point* p : family.points) {
      if (p->n != n) continue;
      if (p->naive_ms > 0 && slow == 0) slow = p->naive_ms;
      if (p->cublas_ms && fast == 0) fast = *p->cublas_ms;
    }
    has_naive = has_naive || slow > 0, has_cublas = has_cublas || fast > 0;
    naive += right(cell(slow), each - 1) + ' ', cublas += right(cell(fast), each - 1) + ' ';
  }
  if (has_naive) lines.push_back(naive);
  if (has_cublas) lines.push_back(cublas);
}

/// Rows n, a column per variant, GFLOP/s: what is compared is the same work in other tiles.
void add_rates(const Family& family, std::vector<std::string>& lines) {
  lines.push_back(
      text("sweep.table.rates", {{"experiment", family.experiment}, {"type", family.type}}));
  std::vector<std::string> variants;
  for (const Point* p : family.points)
    if (std::find(variants.begin(), variants.end(), p->variant) == variants.end())
      variants.push_back(p->variant);
  if (variants.size() > 4) variants.resize(4);
  std::string head = right("n", 6);
  for (const auto& variant : variants) head += right(variant.substr(0, variant.find(',')), 13);
  head += right("naive", 10) + right("cuBLAS", 10);
  lines.push_back(head);
  for (const int n : values(family.points, [](const Point& p) { return p.n; })) {
    std::vector<double> rates(variants.size());
    double naive = 0, cublas = 0, best = 0;
    const double flop = 2.0 * n * n * n * 1e-6;
    for (const Point* p : family.points) {
      if (p->n != n) continue;
      const auto column = std::find(variants.begin(), variants.end(), p->variant);
      if (column != variants.end())
        rates[static_cast<std::size_t>(column - variants.begin())] = p->gflops();
      best = std::max(best, p->gflops());
      if (p->naive_ms > 0) naive = flop / p->naive_ms;
      if (p->cublas_ms) cublas = flop / *p->cublas_ms;
    }
    std::string line = right(std::to_string(n), 6);
    for (const double rate : rates)
      line += right(cell(rate), 12) + (rate > 0 && rate == best ? '*' : ' ');
    lines.push_back(line + right(cell(naive), 10) + right(cell(cublas), 10));
  }
}

/// How many times as fast `other` is as `base`, point by point.
void add_faster(const Family& base, const Family& other, std::vector<std::string>& lines) {
  lines.push_back("");
  lines.push_back(text("sweep.table.faster",
                       {{"other", other.variant}, {"base", base.variant}, {"type", base.type}}));
  const auto sizes = values(base.points, [](const Point& p) { return p.n; });
  std::string head = label(text("sweep.axis.side"));
  for (const int n : sizes) head += right(std::to_string(n), cell_width);
  lines.push_back(head);
  for (const int x : values(base.points, [](const Point& p) { return p.x; })) {
    std::string line = label(std::to_string(x));
    for (const int n : sizes) {
      const Point *p = at(base, n, x), *q = at(other, n, x);
      line += right(p && q && p->ms && q->ms ? cell(*p->ms / *q->ms) : "-", cell_width);
    }
    lines.push_back(line);
  }
}

}  // namespace

std::vector<std::string> tables(const Results& results) {
  std::vector<std::string> lines;
  const auto all = families(results);
  const auto said = sentences(results);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Family& family = all[i];
    if (i > 0) lines.push_back("");
    if (family.experiment == "size")
      add_rates(family, lines);
    else
      add_times(family, lines);
    if (family.experiment == "side" && family.variant == "shared")
      for (const Family& base : all)
        if (base.experiment == "side" && base.variant == "naive" && base.type == family.type)
          add_faster(base, family, lines);
    for (const Sentences& s : said) {
      if (s.experiment != family.experiment || s.variant != family.variant || s.type != family.type)
        continue;
      for (const std::string& sentence : {s.minimum, s.turn})
        for (std::string& line : report::wrap(sentence, columns - 2))
          lines.push_back("  " + std::move(line));
    }
  }
  if (!all.empty()) {
    lines.push_back("");
    for (std::string& line : report::wrap(text("sweep.table.legend"), columns))
      lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace grader::sweep
