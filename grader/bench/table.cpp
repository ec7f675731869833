#include "grader/bench/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "grader/messages.hpp"
#include "grader/report/text.hpp"

namespace grader::bench {
namespace {

using messages::text;

constexpr std::size_t kNameWidth = 24;

std::string right(const std::string& cell, std::size_t columns) {
  const std::size_t has = report::width(cell);
  return has < columns ? std::string(columns - has, ' ') + cell : cell;
}

std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, value >= 100 ? 0 : value >= 10 ? 1 : value >= 0.1 ? 2 : 3);
}

/// What a table says where there is no number.
std::string word(Status status) {
  switch (status) {
    case Status::wrong:
      return "wrong";
    case Status::failed:
      return "failed";
    case Status::skipped:
      return "skip";
    case Status::not_started:
      return "todo";
    default:
      return "n/a";
  }
}

std::string cell(const Record* record, bool percent) {
  if (!record) return "-";
  if (record->status != Status::measured) return word(record->status);
  if (!percent) return three_digits(record->tflops());
  const auto share = record->percent_of_cublas();
  return share ? three_digits(*share) : "-";
}

/// The column's head: "4096", and the thin extent of what is thin: "M=64" for 64x8192x8192. "deep":
/// a sum of more terms than C has rows or columns.
std::string head(const Shape& shape) {
  if (shape.square()) return shape.name();
  if (shape.k > std::max(shape.m, shape.n)) return "deep";
  const int least = std::min({shape.m, shape.n, shape.k});
  return fmt::format("{}={}", least == shape.m ? 'M' : least == shape.n ? 'N' : 'K', least);
}

/// Rungs of one type, in the order of the labs and their rungs as first seen in the plan.
std::vector<Point> rows_of(const Results& results, const std::string& math) {
  std::vector<Point> rows;
  for (const Record& record : results.records) {
    if (record.point.math() != math) continue;
    const bool known = std::any_of(rows.begin(), rows.end(), [&](const Point& row) {
      return row.lab == record.point.lab && row.rung == record.point.rung;
    });
    if (!known) rows.push_back(record.point);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Point& x, const Point& y) { return x.lab < y.lab; });
  return rows;
}

std::vector<std::string> maths(const Results& results) {
  std::vector<std::string> list;
  for (const char* math : {"float", "double", "int32", "tf32", "bfloat16", "half"})
    if (std::any_of(results.records.begin(), results.records.end(),
                    [&](const Record& r) { return r.point.math() == math; }))
      list.emplace_back(math);
  return list;
}

bool any_at(const Results& results, const std::string& math, const std::vector<Shape>& shapes) {
  return std::any_of(results.records.begin(), results.records.end(), [&](const Record& r) {
    return r.point.math() == math &&
           std::find(shapes.begin(), shapes.end(), r.point.shape) != shapes.end();
  });
}

bool has_cublas(const Results& results, const std::string& math) {
  return std::any_of(results.yardsticks.begin(), results.yardsticks.end(),
                     [&](const Yardsticks& y) { return y.math == math && y.cublas_ms; });
}

/// How one arithmetic's table is laid out.
struct Layout {
  std::string math;
  std::vector<Shape> shapes;  ///< the measured ones, a column each
  std::size_t columns;        ///< characters of a column
  bool percent;               ///< of cuBLAS; else TFLOP/s
  bool rates;                 ///< a last column: TFLOP/s at `kWhole`
};

constexpr Shape kWhole{4096, 4096, 4096};
constexpr std::size_t kRateWidth = 9;

std::string title(const Results& results, const Layout& layout) {
  const auto library = results.machine.find("cublas");
  const bool missing = library != results.machine.end() && library->second == "none";
  return text(layout.percent ? "bench.table.percent"
              : missing      ? "bench.table.alone"
                             : "bench.table.tflops",
              {{"type", layout.math == "tf32" ? "float as TF32" : layout.math}});
}

std::string rung_row(const Results& results, const Layout& layout, const Point& row) {
  std::string line =
      report::pad(report::fit(fmt::format("{} {}", row.lab, row.rung), kNameWidth - 1), kNameWidth);
  Point at = row;
  for (const Shape& shape : layout.shapes) {
    at.shape = shape;
    line += right(cell(results.find(at), layout.percent), layout.columns);
  }
  at.shape = kWhole;
  if (layout.rates) line += right(cell(results.find(at), false), kRateWidth);
  return line;
}

/// TFLOP/s of cuBLAS; of the naive kernel its share of cuBLAS where the table shows shares.
std::string yardstick_cell(const Yardsticks* y, bool cublas, bool percent) {
  if (!y) return "-";
  const auto& ms = cublas ? y->cublas_ms : y->naive_ms;
  if (!ms) return "-";
  if (cublas || !percent) return three_digits(y->tflops(ms));
  return y->cublas_ms ? three_digits(100 * *y->cublas_ms / *ms) : "-";
}

std::string yardstick_row(const Results& results, const Layout& layout, bool cublas) {
  const char* const name = !cublas          ? "  naive yardstick"
                           : layout.percent ? "  cuBLAS, TFLOP/s"
                                            : "  cuBLAS";
  std::string line = report::pad(name, kNameWidth);
  for (const Shape& shape : layout.shapes)
    line += right(yardstick_cell(results.find(layout.math, shape), cublas, layout.percent),
                  layout.columns);
  if (const Yardsticks* y = results.find(layout.math, kWhole); layout.rates && y)
    line += right(yardstick_cell(y, cublas, false), kRateWidth);
  return line;
}

void table(std::vector<std::string>& lines, const Results& results, const std::string& math,
           const std::vector<Shape>& shapes, std::size_t columns, bool with_tflops) {
  Layout layout{math, {}, columns, has_cublas(results, math), false};
  for (const Shape& shape : shapes)
    if (any_at(results, math, {shape})) layout.shapes.push_back(shape);
  if (layout.shapes.empty()) return;
  layout.rates =
      with_tflops && layout.percent &&
      std::find(layout.shapes.begin(), layout.shapes.end(), kWhole) != layout.shapes.end();

  lines.push_back(title(results, layout));
  std::string line(kNameWidth, ' ');
  for (const Shape& shape : layout.shapes) line += right(head(shape), columns);
  if (layout.rates) line += right("TFLOP/s", kRateWidth);
  lines.push_back(line);
  for (const Point& row : rows_of(results, math)) lines.push_back(rung_row(results, layout, row));
  if (layout.percent) lines.push_back(yardstick_row(results, layout, true));
  lines.push_back(yardstick_row(results, layout, false));
  lines.emplace_back();
}

/// 2 digits, at most `decimals` behind the point, and no zero before it: "16", "1.3", ".068".
std::string two_digits(double value, int decimals) {
  const int wanted = value >= 9.95 ? 0 : value >= 0.995 ? 1 : value >= 0.0995 ? 2 : 3;
  const std::string all = fmt::format("{:.{}f}", value, std::min(wanted, decimals));
  return all.rfind("0.", 0) == 0 ? all.substr(1) : all;
}

/// Eight columns at most while the worst is below 1000.
std::string error_cell(const std::optional<Error>& error) {
  return error ? two_digits(error->worst, 2) + "/" + two_digits(error->mean, 3) : "-";
}

/// cuBLAS's, at each shape over all products in which it stood beside a kernel of ours.
std::optional<Error> cublas_errors(const Results& results, const std::string& math,
                                   const Shape& shape) {
  Error all;
  double kernels = 0;
  for (const Record& r : results.records) {
    if (r.point.math() != math || !(r.point.shape == shape) || !r.cublas_errors) continue;
    all.worst = std::max(all.worst, r.cublas_errors->worst);
    all.mean += r.cublas_errors->mean;
    ++kernels;
  }
  if (kernels == 0) return {};
  all.mean /= kernels;
  return all;
}

/// Worst and mean error of every rung, in the columns of table().
void errors_table(std::vector<std::string>& lines, const Results& results, const std::string& math,
                  const std::vector<Shape>& all) {
  constexpr std::size_t columns = 9;
  std::vector<Shape> shapes;
  for (const Shape& shape : all)
    if (std::any_of(results.records.begin(), results.records.end(), [&](const Record& r) {
          return r.point.math() == math && r.point.shape == shape && r.errors;
        }))
      shapes.push_back(shape);
  if (shapes.empty()) return;
  lines.push_back(text("bench.table.errors", {{"type", math == "tf32" ? "float as TF32" : math}}));
  std::string line(kNameWidth, ' ');
  for (const Shape& shape : shapes) line += right(head(shape), columns);
  lines.push_back(line);
  for (Point row : rows_of(results, math)) {
    line = report::pad(report::fit(fmt::format("{} {}", row.lab, row.rung), kNameWidth - 1),
                       kNameWidth);
    for (const Shape& shape : shapes) {
      row.shape = shape;
      const Record* record = results.find(row);
      line += right(error_cell(record ? record->errors : std::nullopt), columns);
    }
    lines.push_back(line);
  }
  line = report::pad("  cuBLAS", kNameWidth);
  for (const Shape& shape : shapes)
    line += right(error_cell(cublas_errors(results, math, shape)), columns);
  if (has_cublas(results, math)) lines.push_back(line);
  lines.emplace_back();
}

std::string list_of(const std::vector<Step::At>& all) {
  std::string joined;
  for (const Step::At& at : all)
    joined +=
        (joined.empty() ? "" : ", ") + at.shape.name() + " (" + three_digits(at.factor) + " x)";
  return joined;
}

void add_wrapped(std::vector<std::string>& lines, const std::string& sentence) {
  for (const std::string& line : report::wrap(sentence, 80)) lines.push_back(line);
}

}  // namespace

std::vector<std::string> tables(const Results& results) {
  std::vector<std::string> lines;
  for (const std::string& math : maths(results)) {
    table(lines, results, math, even_shapes(), 7, true);
    table(lines, results, math, odd_shapes(), 7, false);
    table(lines, results, math, flat_shapes(), 7, false);
    for (const auto& shapes : {even_shapes(), odd_shapes(), flat_shapes()})
      errors_table(lines, results, math, shapes);
  }
  return lines;
}

std::vector<std::string> cpu_table(const Results& results) {
  std::vector<std::string> lines;
  if (results.cpu.empty()) return lines;
  lines.push_back(text("bench.table.cpu"));
  std::string line(kNameWidth, ' ');
  for (const Shape& shape : even_shapes()) line += right(head(shape), 8);
  lines.push_back(line);
  for (const char* what : {"triple loop", "OpenBLAS"})
    for (const char* type : {"float", "double", "int32"}) {
      bool any = false;
      line = report::pad(std::string(what) + ", " + type, kNameWidth);
      for (const Shape& shape : even_shapes()) {
        const CpuRecord* one = results.find(CpuPoint{what, type, shape});
        any = any || one;
        line += right(!one                              ? "-"
                      : one->status == Status::measured ? three_digits(one->gflops())
                                                        : word(one->status),
                      8);
      }
      if (any) lines.push_back(line);
    }
  // For which processor it has kernels matters by a factor: it names one that it takes this for.
  if (const auto blas = results.provenance.find("openblas"); blas != results.provenance.end())
    for (const std::string& part :
         report::wrap(text("bench.openblas", {{"said", blas->second}}), 80))
      lines.push_back(part);
  lines.emplace_back();
  return lines;
}

std::vector<Step> slower_steps(const Results& results, double margin) {
  std::vector<Step> steps;
  std::vector<Shape> all = even_shapes();
  for (const Shape& shape : other_shapes()) all.push_back(shape);
  for (const std::string& math : maths(results)) {
    const auto rows = rows_of(results, math);
    for (std::size_t i = 1; i < rows.size(); ++i) {
      Step step{math, rows[i - 1].rung, rows[i].rung, {}};
      for (const Shape& shape : all) {
        Point before = rows[i - 1], after = rows[i];
        before.shape = after.shape = shape;
        const Record *was = results.find(before), *is = results.find(after);
        if (!was || !is || was->status != Status::measured || is->status != Status::measured)
          continue;
        const double factor = was->over_cublas && is->over_cublas
                                  ? is->over_cublas->middle / was->over_cublas->middle
                                  : is->tflops() / was->tflops();
        if (factor < 1 - margin) step.at.push_back({shape, factor});
      }
      if (!step.at.empty()) steps.push_back(std::move(step));
    }
  }
  return steps;
}

std::vector<std::string> sentences(const Results& results) {
  std::vector<std::string> lines;
  for (const Step& step : slower_steps(results))
    add_wrapped(lines, text("bench.slower", {{"type", step.type},
                                             {"after", step.after},
                                             {"before", step.before},
                                             {"shapes", list_of(step.at)}}));
  // One sentence for all points with the same reason.
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;
  const auto note = [&](const std::string& why, const std::string& where) {
    for (auto& [known, places] : notes)
      if (known == why) {
        if (std::find(places.begin(), places.end(), where) == places.end()) places.push_back(where);
        return;
      }
    notes.push_back({why, {where}});
  };
  for (const Record& r : results.records)
    if (!r.note.empty())
      note(r.note, r.status == Status::not_started || r.status == Status::unavailable
                       ? r.point.rung
                       : r.point.entry() + " at " + r.point.shape.name());
  for (const CpuRecord& c : results.cpu)
    if (!c.note.empty())
      note(c.note, c.status == Status::unavailable
                       ? c.point.what
                       : c.point.what + " " + c.point.type + " at " + c.point.shape.name());
  for (const Yardsticks& y : results.yardsticks)
    if (!y.note.empty()) note(y.note, y.math + " at " + y.shape.name());
  for (const auto& [why, places] : notes) {
    std::string shown;
    constexpr std::size_t most = 4;
    for (std::size_t i = 0; i < places.size() && i < most; ++i)
      shown += (i ? ", " : "") + places[i];
    if (places.size() > most)
      shown += text("bench.and_more", {{"count", fmt::to_string(places.size() - most)}});
    add_wrapped(lines, shown + ": " + why);
  }
  return lines;
}

}  // namespace grader::bench
