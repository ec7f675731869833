// Elements of C that hold the sums of others as well, read off by probes.
//
// With column 0 of A alone, and powers of 16 down that column, the base-16 digits of C[i][j] say how often
// each row's products were added there; powers of 16 along row 0 of B say it of columns.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

using List = std::vector<int>;  ///< rows, or columns: each as often as it was added

/// By element of C; empty if a probe fails or tells no such numbers.
std::optional<std::vector<List>> added_to(const Evidence& evidence, const Case& c, bool rows) {
  constexpr int kBits = 4;
  const int significant = significant_bits(result_type(evidence.type)) / kBits;
  const int digits = evidence.type == ElementType::float16 ? std::min(significant, 4) : significant;
  const Matrix &a = c.run.a, &b = c.run.b;
  const int extent = rows ? c.m : c.n;
  std::vector<List> lists(c.correct.size());
  for (int first = 0; first < extent; first += digits) {
    const auto code = [&](int x) {
      return x >= first && x < first + digits ? std::ldexp(1.0, kBits * (x - first)) : 0.0;
    };
    const std::optional<Run> run =
        probe(evidence,
              filled(a.type, a.rows, a.cols, a.ld - a.cols,
                     [&](int i, int k) { return k > 0  ? 0.0
                                                : rows ? code(i)
                                                       : 1.0; }),
              filled(b.type, b.rows, b.cols, b.ld - b.cols, [&](int k, int j) {
                return k > 0 ? 0.0 : rows ? 1.0 : code(j);
              }));
    if (!run) return std::nullopt;
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const double value = run->c_after.at(i, j);
        if (!(value >= 0 && value < std::ldexp(1.0, kBits * digits)) || value != std::floor(value))
          return std::nullopt;
        auto rest = static_cast<std::uint64_t>(value);
        for (int d = 0; rest != 0; ++d, rest >>= kBits) {
          if (first + d >= extent) return std::nullopt;
          List& list = lists[c.at(i, j)];
          list.insert(list.end(), rest % (1u << kBits), first + d);
        }
      }
  }
  return lists;
}

using Elements = std::vector<std::pair<int, int>>;

/// Which elements' sums are in C[i][j]: of one row or of one column. Of others it is not known which row
/// goes with which column.
std::optional<Elements> elements_of(const List& rows, const List& cols) {
  if (rows.size() != cols.size()) return std::nullopt;
  const auto alike = [](const List& list) {
    return std::all_of(list.begin(), list.end(), [&list](int x) { return x == list.front(); });
  };
  if (!alike(rows) && !alike(cols)) return std::nullopt;
  Elements elements;
  for (std::size_t e = 0; e < rows.size(); ++e) elements.emplace_back(rows[e], cols[e]);
  return elements;
}

std::string listed(const Elements& elements) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t e = 0; e < std::min(kMost, elements.size()); ++e)
    text += fmt::format("{}[{}][{}]",
                        e == 0                                                 ? ""
                        : e + 1 == elements.size() && elements.size() <= kMost ? " and "
                                                                               : ", ",
                        elements[e].first, elements[e].second);
  return elements.size() > kMost ? text + " ..." : text;
}

std::optional<Diagnosis> name_mixed(const Evidence& evidence, const Case& c) {
  const auto rows = added_to(evidence, c, true), cols = added_to(evidence, c, false);
  if (!rows || !cols) return std::nullopt;
  std::optional<std::pair<int, int>> first;
  Elements of_first;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      const auto elements = elements_of((*rows)[c.at(i, j)], (*cols)[c.at(i, j)]);
      if (!elements) return std::nullopt;
      double sum = 0;
      for (const auto& [row, col] : *elements) sum += c.correct[c.at(row, col)];
      if (sum != c.got(i, j)) return std::nullopt;
      // One element added several times is no mixture.
      const auto other = [&](const auto& element) { return element != elements->front(); };
      if (first || std::none_of(elements->begin(), elements->end(), other)) continue;
      first = {i, j};
      of_first = *elements;
    }
  if (!first) return std::nullopt;
  Diagnosis d = say("SUMS-MIXED", "",
                    {{"i", first->first},
                     {"j", first->second},
                     {"count", of_first.size()},
                     {"list", listed(of_first)}});
  describe(evidence, c, d);
  return d;
}

/// What a fragment begins each step with: the sums of the first one in its row of fragments, in its column,
/// or of all.
struct Origin {
  bool row = false, col = false;  ///< is that of the first fragment
  const char* text;
};

/// C is what mma(acc[i][j], a[i], b[j], acc[i][0]) leaves: the sums of fragment (i, 0), and the products of
/// (i, j) in the last step alone.
bool begins_with(const Case& c, const Tile& t, int rows, int cols, int step, const Origin& from) {
  bool any = false;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      const int row = from.row ? i / t.wm * t.wm + i % rows : i,
                col = from.col ? j / t.wn * t.wn + j % cols : j;
      double sum = c.correct[c.at(row, col)];
      for (int k = c.k - step; (row != i || col != j) && k < c.k; ++k)
        sum += c.run.a.at(i, k) * c.run.b.at(k, j);
      if (sum != c.got(i, j)) return false;
      any |= row != i || col != j;
    }
  return any;
}

/// One element of C for each, or {-1, -1}: what C holds of one part of K is that element's.
using Origins = std::vector<std::pair<int, int>>;

/// Of steps first ... end - 1 alone: with a row's, or a column's, number in each of its elements there.
std::optional<Origins> origins_of(const Evidence& evidence, const Case& c, int first, int end) {
  const Matrix &a = c.run.a, &b = c.run.b;
  Origins origins(c.correct.size(), {-1, -1});
  for (const bool rows : {true, false}) {
    const auto code = [&](int k, int line, bool coded) {
      return k < first || k >= end ? 0.0 : coded ? line + 1.0 : 1.0;
    };
    const auto run = probe(evidence,
                           filled(a.type, a.rows, a.cols, a.ld - a.cols,
                                  [&](int i, int k) { return code(k, i, rows); }),
                           filled(b.type, b.rows, b.cols, b.ld - b.cols,
                                  [&](int k, int j) { return code(k, j, !rows); }));
    if (!run) return std::nullopt;
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const double line = run->c_after.at(i, j) / (end - first);
        if (!(line >= 0 && line <= (rows ? c.m : c.n)) || line != std::floor(line))
          return std::nullopt;
        auto& origin = origins[c.at(i, j)];
        (rows ? origin.first : origin.second) = static_cast<int>(line) - 1;
      }
  }
  return origins;
}

/// Blocks that share a tile's sum hand over their parts, and some parts of it are another tile's.
std::optional<Diagnosis> name_exchanged_parts(const Evidence& evidence, const Case& c) {
  constexpr int kParts = 8;
  std::vector<double> sums(c.correct.size());
  std::vector<messages::Gap> gaps;
  for (int part = 0; part < kParts; ++part) {
    const int first = c.k * part / kParts, end = c.k * (part + 1) / kParts;
    if (first == end) continue;
    const auto origins = origins_of(evidence, c, first, end);
    if (!origins) return std::nullopt;
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const auto [row, col] = (*origins)[c.at(i, j)];
        if (row < 0 || col < 0) continue;  // missing
        for (int k = first; k < end; ++k)
          sums[c.at(i, j)] += c.run.a.at(row, k) * c.run.b.at(k, col);
        if (gaps.empty() && (row != i || col != j))
          gaps = {{"i", i},          {"j", j},    {"first", first},
                  {"last", end - 1}, {"i2", row}, {"j2", col}};
      }
  }
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (sums[c.at(i, j)] != c.got(i, j)) return std::nullopt;
  if (gaps.empty()) return std::nullopt;
  Diagnosis d = say("SUMS-MIXED", "parts", gaps);
  describe(evidence, c, d);
  return d;
}

}  // namespace

std::optional<Diagnosis> explain_accumulators(const Evidence& evidence, const Cases& cases) {
  const Tile& t = evidence.tile;
  if (evidence.operation != Operation::product || !on_tensor_cores(cases) || t.wm < 2 || t.wn < 2 ||
      t.bm < t.wm || t.bn < t.wn || t.bk < 4)
    return std::nullopt;
  const auto whole = probe_case(evidence, {t.bm, t.bn, 2 * t.bk, 0, 0, 0}, 59);
  if (!whole || whole->wrong == 0 || whole->untouched > 0) return std::nullopt;
  for (const Origin& from : {Origin{false, true, "acc[i][0]"}, Origin{true, false, "acc[0][j]"},
                             Origin{true, true, "acc[0][0]"}})
    for (const auto& [rows, cols] : {std::pair{16, 16}, std::pair{16, 8}, std::pair{8, 8}})
      for (const int step : {16, 8, 4}) {
        if (step > t.bk || !begins_with(*whole, t, rows, cols, step, from)) continue;
        Diagnosis d = say("SUMS-MIXED", "fragments",
                          {{"tile", fmt::format("{} x {}", rows, cols)}, {"from", from.text}});
        describe(evidence, *whole, d);
        return d;
      }
  return std::nullopt;
}

std::optional<Diagnosis> explain_mixed(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product || !evidence.run_probe) return std::nullopt;
  constexpr std::int64_t kMost = 1 << 14;  // elements: a dozen runs of them are quick
  const Case* chosen = nullptr;
  for (const Case& c : cases) {
    if (c.wrong == 0 || c.untouched > 0 || c.k < 1 || c.size() > kMost) continue;
    if (chosen == nullptr || c.size() < chosen->size()) chosen = &c;
  }
  if (chosen == nullptr) return std::nullopt;
  if (auto d = name_mixed(evidence, *chosen)) return d;
  return stores_scratch(*chosen) ? name_exchanged_parts(evidence, *chosen) : std::nullopt;
}

}  // namespace grader::diag
