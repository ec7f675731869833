// Wrong indices as formulas, worked out from what the kernel multiplies instead of looked up.
//
// With row k of B all ones and the rest 0, C[i][j] is the element of A that meets B[k][j]; if A holds
// its own row numbers, and then its column numbers, C tells which one that is. The same for B with a
// column of A. Each coordinate is then written as a sum of what i, j and k contribute by themselves,
// and that, if it can be, in divisions and remainders: "i / 32 * 32 + j % 32". A formula counts only
// if it reproduces all of C on other numbers, at every shape.
#include "grader/diagnose/indices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "grader/diagnose/diagnose.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

/// Of a part of the numbers that could not be seen: a 0 that was filled in, for example.
constexpr int kUnseen = -1;

int one_step_ahead(const std::vector<int>& values, int at, int base) {
  const auto next = static_cast<std::size_t>(at);
  if (next >= values.size() || values[next] == kUnseen || values[0] == kUnseen) return 0;
  return values[next] - base;
}

/// The parts of x that are not the same where `values` was seen: bases to divide by.
std::optional<Contribution> fitted(const std::vector<int>& values, int first,
                                   const std::vector<int>& bases) {
  const auto agrees = [&](const Contribution& c) {
    for (std::size_t x = 0; x < values.size(); ++x)
      if (values[x] != kUnseen && c.of(static_cast<int>(x)) != values[x] - first) return false;
    return true;
  };
  const int unit = one_step_ahead(values, 1, first);
  if (const Contribution plain{{{unit, 1, 0}}}; agrees(plain)) return plain;
  for (const int b : bases) {
    const int outer = one_step_ahead(values, b, first);
    if (const Contribution two{{{outer, b, 0}, {unit, 1, b}}}; agrees(two)) return two;
  }
  for (const int low : bases)
    for (const int high : bases) {
      if (high <= low || high % low != 0) continue;
      const int outer = one_step_ahead(values, high, first),
                middle = one_step_ahead(values, low, first);
      const Contribution three{{{outer, high, 0}, {middle, low, high}, {unit, 1, low}}};
      if (agrees(three)) return three;
    }
  return std::nullopt;
}

/// "i / 32 * 32", "i % 8", "4 * (i % 32 / 8)"; "" for a part that contributes nothing.
std::string text_of(const Part& p, char variable) {
  if (p.times == 0) return "";
  const std::string x(1, variable);
  const std::string rest = p.modulo > 0 ? fmt::format("{} % {}", x, p.modulo) : x;
  const std::string digit = p.divisor > 1 ? fmt::format("{} / {}", rest, p.divisor) : rest;
  if (p.times == 1) return digit;
  if (p.times == p.divisor && p.divisor > 1) return fmt::format("{} * {}", digit, p.times);
  return digit == x ? fmt::format("{} * {}", p.times, x) : fmt::format("{} * ({})", p.times, digit);
}

}  // namespace

int Contribution::of(int x) const {
  int sum = 0;
  for (const Part& p : parts) sum += p.times * ((p.modulo > 0 ? x % p.modulo : x) / p.divisor);
  return sum;
}

int IndexFormula::of(int i, int j, int k) const {
  return constant + by[0].of(i) + by[1].of(j) + by[2].of(k);
}

std::string IndexFormula::text() const {
  std::string said;
  for (std::size_t v = 0; v < by.size(); ++v)
    for (const Part& p : by[v].parts) {
      std::string part = text_of(p, "ijk"[v]);
      if (part.empty()) continue;
      const bool negative = p.times < 0;
      if (negative) part = text_of({-p.times, p.divisor, p.modulo}, "ijk"[v]);
      said += said.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
      said += part;
    }
  if (said.empty()) return std::to_string(constant);
  if (constant != 0) said += fmt::format(" {} {}", constant < 0 ? "-" : "+", std::abs(constant));
  return said;
}

std::optional<IndexFormula> fit_index(const SeenIndices& seen, const std::vector<int>& bases) {
  // Where a coordinate is seen in all three directions: what one variable contributes is read there.
  const auto at = [&seen](int i, int j, std::size_t s) {
    return seen.values[(s * static_cast<std::size_t>(seen.m) + static_cast<std::size_t>(i)) *
                           static_cast<std::size_t>(seen.n) +
                       static_cast<std::size_t>(j)];
  };
  if (seen.steps.empty() || seen.steps.front() != 0 || at(0, 0, 0) == kUnseen) return std::nullopt;
  const int first = at(0, 0, 0);
  std::vector<int> rows(static_cast<std::size_t>(seen.m)), cols(static_cast<std::size_t>(seen.n)),
      steps(static_cast<std::size_t>(seen.steps.back()) + 1, kUnseen);
  for (int i = 0; i < seen.m; ++i) rows[static_cast<std::size_t>(i)] = at(i, 0, 0);
  for (int j = 0; j < seen.n; ++j) cols[static_cast<std::size_t>(j)] = at(0, j, 0);
  for (std::size_t s = 0; s < seen.steps.size(); ++s)
    steps[static_cast<std::size_t>(seen.steps[s])] = at(0, 0, s);
  IndexFormula f;
  f.constant = first;
  const std::array<const std::vector<int>*, 3> along = {&rows, &cols, &steps};
  for (std::size_t v = 0; v < along.size(); ++v) {
    const std::optional<Contribution> c = fitted(*along[v], first, bases);
    if (!c) return std::nullopt;
    f.by[v] = *c;
  }
  for (std::size_t s = 0; s < seen.steps.size(); ++s)
    for (int i = 0; i < seen.m; ++i)
      for (int j = 0; j < seen.n; ++j)
        if (const int value = at(i, j, s); value != kUnseen && value != f.of(i, j, seen.steps[s]))
          return std::nullopt;
  return f;
}

std::vector<int> index_bases(const Evidence& evidence) {
  std::set<int> bases = {2, 4, 8, 16, 32, 64, 128};
  const Tile& t = evidence.tile;
  for (const int b : {t.bm, t.bn, t.bk, t.tm, t.tn, t.wm, t.wn})
    if (b > 1) bases.insert(b);
  return {bases.begin(), bases.end()};
}

namespace {

/// Row and column of the factor that comes from one operand.
struct Factor {
  IndexFormula row, col;
};

const Factor kRightA{{0, {{{{{1, 1, 0}}}, {}, {}}}}, {0, {{{}, {}, {{{1, 1, 0}}}}}}};
const Factor kRightB{{0, {{{}, {}, {{{1, 1, 0}}}}}}, {0, {{{}, {{{1, 1, 0}}}, {}}}}};

/// The steps that are looked at: around the ends of tiles, and the last one.
std::vector<int> steps_to_see(int depth, int tile) {
  std::set<int> steps = {0, 1, 2, depth - 1};
  for (const int b : {4, 8, tile})
    if (b > 1)
      for (const int k : {b - 1, b, b + 1, 2 * b}) steps.insert(k);
  std::vector<int> list;
  for (const int k : steps)
    if (k >= 0 && k < depth) list.push_back(k);
  return list;
}

/// How many steps one run shows: its operand's numbers are digits of C's elements.
struct Digits {
  int bits = 0, count = 0;
};

Digits digits_for(ElementType type, int extent) {
  Digits d;
  while (1 << d.bits <= extent) ++d.bits;
  if (d.bits > significant_bits(type)) return {};
  d.count = significant_bits(result_type(type)) / d.bits;
  if (type == ElementType::float16) d.count = std::min(d.count, 15 / d.bits + 1);
  return d;
}

/// One coordinate of the factor that meets step k of the other operand, for some k.
std::optional<SeenIndices> coordinate_seen(const Evidence& evidence, const Case& c, bool of_a,
                                           bool row, const std::vector<int>& steps) {
  const Matrix &coded = of_a ? c.run.a : c.run.b, &other = of_a ? c.run.b : c.run.a;
  const Digits digits = digits_for(evidence.type, std::max(coded.rows, coded.cols));
  if (digits.count < 1) return std::nullopt;
  const std::size_t size = c.correct.size();
  SeenIndices seen{c.m, c.n, steps, std::vector<int>(size * steps.size(), kUnseen)};
  const Matrix code = filled(evidence.type, coded.rows, coded.cols, coded.ld - coded.cols,
                             [row](int r, int q) { return (row ? r : q) + 1.0; });
  const auto at_once = static_cast<std::size_t>(digits.count);
  for (std::size_t from = 0; from < steps.size(); from += at_once) {
    const std::size_t until = std::min(steps.size(), from + at_once);
    const Matrix weights =
        filled(evidence.type, other.rows, other.cols, other.ld - other.cols, [&](int r, int q) {
          const int k = of_a ? r : q;
          for (std::size_t s = from; s < until; ++s)
            if (steps[s] == k) return std::ldexp(1.0, digits.bits * static_cast<int>(s - from));
          return 0.0;
        });
    const std::optional<Run> run =
        of_a ? probe(evidence, code, weights) : probe(evidence, weights, code);
    if (!run) return std::nullopt;
    for (std::size_t e = 0; e < size; ++e) {
      const int i = static_cast<int>(e) / c.n, j = static_cast<int>(e) % c.n;
      if (c.state_at(i, j) == State::untouched) continue;
      const double value = run->c_after.at(i, j);
      const double most = std::ldexp(1.0, digits.bits * digits.count);
      if (!(value >= 0 && value < most) || value != std::floor(value)) return std::nullopt;
      auto rest = static_cast<std::uint64_t>(value);
      for (std::size_t s = from; s < until; ++s, rest >>= digits.bits) {
        const auto digit = static_cast<int>(rest % (std::uint64_t{1} << digits.bits));
        if (digit > (row ? coded.rows : coded.cols)) return std::nullopt;
        seen.values[s * size + e] = digit - 1;  // 0: kUnseen
      }
      if (rest != 0) return std::nullopt;
    }
  }
  return seen;
}

std::optional<Factor> factor_seen(const Evidence& evidence, const Case& c, bool of_a) {
  const std::vector<int> steps = steps_to_see(c.k, evidence.tile.bk), bases = index_bases(evidence);
  const auto row = coordinate_seen(evidence, c, of_a, true, steps);
  if (!row) return std::nullopt;
  const auto col = coordinate_seen(evidence, c, of_a, false, steps);
  if (!col) return std::nullopt;
  const std::optional<IndexFormula> r = fit_index(*row, bases), q = fit_index(*col, bases);
  if (!r || !q) return std::nullopt;
  return Factor{*r, *q};
}

/// The element, or the 0 that a tile is filled with where there is none.
double value_at(const Matrix& m, int row, int col) {
  return row >= 0 && col >= 0 && row < m.rows && col < m.cols ? m.at(row, col) : 0;
}

/// What lies there in memory, as far as there is any: beyond the end of a row begins the next one.
double stored_at(const Matrix& m, int row, int col) {
  const std::int64_t at = std::int64_t{row} * m.ld + col;
  if (at < 0 || at >= static_cast<std::int64_t>(m.elements())) return 0;
  return m.at(static_cast<std::size_t>(at));
}

/// B * A: where a call hands the operands over in the wrong order.
const Factor kExchangedA{{0, {{{}, {}, {{{1, 1, 0}}}}}}, {0, {{{}, {{{1, 1, 0}}}, {}}}}};
const Factor kExchangedB{{0, {{{{{1, 1, 0}}}, {}, {}}}}, {0, {{{}, {}, {{{1, 1, 0}}}}}}};

bool reproduces(const Case& c, const Factor& a, const Factor& b,
                double (*value)(const Matrix&, int, int) = value_at) {
  bool any = false;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      if (c.state_at(i, j) == State::untouched) continue;
      double sum = 0;
      for (int k = 0; k < c.k; ++k)
        sum += value(c.run.a, a.row.of(i, j, k), a.col.of(i, j, k)) *
               value(c.run.b, b.row.of(i, j, k), b.col.of(i, j, k));
      if (sum != c.got(i, j)) return false;
      any |= c.state_at(i, j) == State::wrong;
    }
  return any;
}

/// What of the four coordinates is wrong, for the second line.
std::string wrong_ones(const Factor& a, const Factor& b) {
  std::string list;
  const auto compare = [&list](const IndexFormula& f, const char* right, std::string_view what) {
    if (f.text() == right) return;
    list += (list.empty() ? "" : ". ") +
            messages::text("WRONG-INDEX.one",
                           {{"what", messages::text(what)}, {"right", right}, {"got", f.text()}});
  };
  compare(a.row, "i", "part.of.a.row");
  compare(a.col, "k", "part.of.a.column");
  compare(b.row, "k", "part.of.b.row");
  compare(b.col, "j", "part.of.b.column");
  return list;
}

/// The rows of A, or the columns of B, in another order and all of them: C's may have been stored so.
bool only_places(const IndexFormula& f, bool of_a, const Case& c, const Factor& factor) {
  const bool depth_right = of_a ? factor.col.text() == "k" : factor.row.text() == "k";
  std::set<int> places;
  const int extent = of_a ? c.m : c.n;
  for (int x = 0; x < extent; ++x) places.insert(of_a ? f.of(x, 0, 0) : f.of(0, x, 0));
  const auto independent_of = [&f](std::size_t v) {
    return std::all_of(f.by[v].parts.begin(), f.by[v].parts.end(),
                       [](const Part& p) { return p.times == 0; });
  };
  return depth_right && independent_of(2) && independent_of(of_a ? 1 : 0) &&
         static_cast<int>(places.size()) == extent;
}

/// One operand is taken a step too early or too late, as when the next one is loaded over the one
/// that is still to be multiplied. At the end the last one is taken again, or zeros.
std::optional<Diagnosis> name_ahead(const Evidence& evidence, const Cases& cases,
                                    const Case& probed) {
  const auto holds = [](const Case& c, bool of_a, int ahead, bool again) {
    bool any = false;
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        double sum = 0;
        for (int k = 0; k < c.k; ++k) {
          const int other = again ? std::clamp(k + ahead, 0, c.k - 1) : k + ahead;
          sum += value_at(c.run.a, i, of_a ? other : k) * value_at(c.run.b, of_a ? k : other, j);
        }
        if (c.state_at(i, j) == State::untouched || sum != c.got(i, j)) return false;
        any |= c.state_at(i, j) == State::wrong;
      }
    return any;
  };
  for (const bool of_a : {true, false})
    for (const int ahead : {1, -1})
      for (const bool again : {true, false}) {
        const auto shown_wrong = [&](const Case& c) {
          return c.out_of_bounds || c.wrong == 0 || holds(c, of_a, ahead, again);
        };
        if (!holds(probed, of_a, ahead, again) ||
            !std::all_of(cases.begin(), cases.end(), shown_wrong))
          continue;
        const std::string step = ahead > 0 ? "k + 1" : "k - 1";
        Diagnosis d = say("WRONG-INDEX", ahead > 0 ? "ahead" : "behind",
                          {{"matrix", of_a ? "A" : "B"},
                           {"other", of_a ? "B" : "A"},
                           {"ca", of_a ? step : "k"},
                           {"rb", of_a ? "k" : step}});
        describe(evidence, probed, d);
        return d;
      }
  return std::nullopt;
}

IndexFormula letter(std::size_t variable) {
  IndexFormula f;
  f.by[variable].parts = {{{1, 1, 0}}};
  return f;
}

/// Every row and column is i, j or k by itself, of both operands, but not as they belong: there is
/// no need to see them one by one.
std::optional<std::pair<Factor, Factor>> other_letters(const Cases& cases, const Case& probed) {
  constexpr std::size_t kLetters = 3;
  for (std::size_t code = 0; code < kLetters * kLetters * kLetters * kLetters; ++code) {
    const Factor a{letter(code % kLetters), letter(code / kLetters % kLetters)},
        b{letter(code / kLetters / kLetters % kLetters),
          letter(code / kLetters / kLetters / kLetters)};
    const auto shown_wrong = [&](const Case& c) {
      return c.out_of_bounds || c.wrong == 0 || reproduces(c, a, b) ||
             reproduces(c, a, b, stored_at);
    };
    if (reproduces(probed, a, b) && std::all_of(cases.begin(), cases.end(), shown_wrong))
      return std::pair{a, b};
  }
  return std::nullopt;
}

/// A's k, or B's, comes in another order, and each of them once. The other one in the opposite order
/// would give the same sums.
bool only_order_of_k(const Factor& a, const Factor& b, int depth) {
  if (a.row.text() != "i" || b.col.text() != "j") return false;
  const auto order = [depth](const IndexFormula& f) {
    std::set<int> met;
    for (int k = 0; k < depth; ++k) met.insert(f.of(0, 0, k));
    const auto other = [&](std::size_t v) {
      return std::any_of(f.by[v].parts.begin(), f.by[v].parts.end(),
                         [](const Part& p) { return p.times != 0; });
    };
    return !other(0) && !other(1) && static_cast<int>(met.size()) == depth && *met.begin() == 0 &&
           *met.rbegin() == depth - 1;
  };
  return order(a.col) && order(b.row);
}

/// The same where the sum ends with a k-tile: where it does not, the last steps multiply zeros that were
/// filled in, and a sum that goes astray there looks like a wrong index.
bool holds_in_whole_tiles(const Evidence& evidence, const Case& like, const Factor& a,
                          const Factor& b) {
  const int bk = evidence.tile.bk;
  if (bk < 2 || like.k % bk == 0) return true;
  const auto whole = probe_case(evidence, {like.m, like.n, 2 * bk, 0, 0, 0}, 61);
  return !whole || whole->out_of_bounds || (whole->wrong > 0 && reproduces(*whole, a, b));
}

/// A thread's rows, or columns, lie as far apart in C as a register tile's do, and by another step where A, or B,
/// is read: the question to ask. Empty otherwise.
std::string ask_of_stride(const Evidence& evidence, const IndexFormula& f, bool of_a,
                          const Case& c) {
  const Tile& t = evidence.tile;
  const int count = of_a ? t.tm : t.tn, tile = of_a ? t.bm : t.bn, extent = of_a ? c.m : c.n;
  if (count < 2 || t.wm > 0 || tile <= count) return "";
  const auto taken = [&](int x, int other) {
    return of_a ? f.of(x, other, other) : f.of(other, x, other);
  };
  for (const int apart : {tile / count, 1}) {
    const int read = taken(apart, 0) - taken(0, 0);
    const auto fits = [&](int x) {
      const int element = apart == 1 ? x % count : x % tile / apart;
      return taken(x, 0) == x + element * (read - apart) && taken(x, 1) == taken(x, 0);
    };
    bool all = read != apart && extent > apart;
    for (int x = 0; all && x < extent; ++x) all = fits(x);
    if (all)
      return messages::text("WRONG-INDEX.stride.next", {{"count", count},
                                                        {"what", of_a ? "rows" : "columns"},
                                                        {"apart", apart},
                                                        {"read", read},
                                                        {"matrix", of_a ? "A" : "B"}});
  }
  return "";
}

constexpr std::size_t kI = 0, kJ = 1, kK = 2;  // in IndexFormula::by

/// An index that follows its variable inside of each group of so many, and goes on from group to group by another
/// number: the question to ask. Empty otherwise. `of`: the variable.
std::string ask_of_groups(const IndexFormula& f, std::size_t of, bool of_a) {
  const std::vector<Part>& parts = f.by[of].parts;
  for (std::size_t v = 0; v < f.by.size(); ++v)
    for (const Part& p : f.by[v].parts)
      if (v != of && p.times != 0) return "";
  if (f.constant != 0 || parts.size() < 2 || parts.back().times != 1 || parts.back().divisor != 1)
    return "";
  const Part& group = parts[parts.size() - 2];
  const bool whole = parts.size() == 2 || parts.front().times == parts.front().divisor;
  if (!whole || group.divisor != parts.back().modulo || group.times == group.divisor ||
      group.times < 0)
    return "";
  const bool rows = of == (of_a ? kI : kK);
  return messages::text(group.times == 0 ? "WRONG-INDEX.again.next" : "WRONG-INDEX.groups.next",
                        {{"matrix", of_a ? "A" : "B"},
                         {"count", group.divisor},
                         {"by", group.times},
                         {"what", rows ? "rows" : "columns"}});
}

/// The last digit of an index is another variable's: "i % 4 + k / 4 * 4" where k belongs. The question to ask.
std::string ask_of_digit(const IndexFormula& f, std::size_t of, bool of_a, bool row) {
  const Part* digit = nullptr;
  std::size_t from = of;
  for (std::size_t v = 0; v < f.by.size(); ++v)
    for (const Part& p : f.by[v].parts) {
      if (v == of || p.times == 0) continue;
      if (digit != nullptr || p.times != 1 || p.modulo < 2 || p.divisor != 1) return "";
      digit = &p;
      from = v;
    }
  if (digit == nullptr || f.constant != 0) return "";
  for (int x = 0; x < 4 * digit->modulo; ++x)
    if (f.by[of].of(x) != x / digit->modulo * digit->modulo) return "";
  constexpr const char* kNames = "ijk";
  return messages::text("WRONG-INDEX.digit.next", {{"matrix", of_a ? "A" : "B"},
                                                   {"what", row ? "row" : "column"},
                                                   {"count", digit->modulo},
                                                   {"right", std::string(1, kNames[of])},
                                                   {"got", std::string(1, kNames[from])}});
}

/// A tile of so many rows and columns whose elements are stored row by row and read column by column, or the other
/// way round. What of its rows is C's (A's i, B's j) or k does not matter here.
struct Reshaped {
  int rows = 0, cols = 0;
  bool stored_by_rows = false;
};

/// As the two formulas of the factor say, for A's row or B's column x and for k.
bool is_reshaped(const Factor& f, bool of_a, const Reshaped& tile, int x, int k) {
  const int r = of_a ? x : k, q = of_a ? k : x, in_row = r % tile.rows, in_col = q % tile.cols;
  const int at = tile.stored_by_rows ? in_col * tile.rows + in_row : in_row * tile.cols + in_col;
  const int row = r - in_row + (tile.stored_by_rows ? at / tile.cols : at % tile.rows),
            col = q - in_col + (tile.stored_by_rows ? at % tile.cols : at / tile.rows);
  for (const int other : {0, 1}) {
    const int i = of_a ? x : other, j = of_a ? other : x;
    if (f.row.of(i, j, k) != row || f.col.of(i, j, k) != col) return false;
  }
  return true;
}

/// At all places of the probed call.
std::optional<Reshaped> reshaped(const Factor& f, bool of_a, const Tile& t, const Case& c) {
  const int extent = of_a ? c.m : c.n;
  const auto everywhere = [&](const Reshaped& tile) {
    for (int x = 0; x < extent; ++x)
      for (int k = 0; k < c.k; ++k)
        if (!is_reshaped(f, of_a, tile, x, k)) return false;
    return extent > 1 && c.k > 1;
  };
  for (const int outer : {of_a ? t.bm : t.bn, 16, 32, 64, 128, 256})
    for (const int depth : {t.bk, 4, 8, 16, 32, 64})
      for (const bool by_rows : {true, false}) {
        if (outer < 2 || depth < 2 || outer == depth) continue;
        const Reshaped tile{of_a ? outer : depth, of_a ? depth : outer, by_rows};
        if (everywhere(tile)) return tile;
      }
  return std::nullopt;
}

/// Adds nothing if there is no such tile.
void name_reshaped(const Evidence& evidence, const Case& probed, const Factor& a, const Factor& b,
                   Diagnosis& d) {
  for (const bool of_a : {true, false}) {
    const auto tile = reshaped(of_a ? a : b, of_a, evidence.tile, probed);
    if (!tile) continue;
    const Diagnosis named =
        say("WRONG-INDEX", "reshaped",
            {{"matrix", of_a ? "A" : "B"},
             {"rows", tile->rows},
             {"cols", tile->cols},
             {"stored", messages::text(tile->stored_by_rows ? "part.by_rows" : "part.by_columns")},
             {"read", messages::text(tile->stored_by_rows ? "part.by_columns" : "part.by_rows")}});
    d.details.push_back(d.headline);
    d.headline = named.headline;
    d.next_step = named.next_step;
    return;
  }
}

Diagnosis with_formulas(const Evidence& evidence, const Case& probed, const Factor& a,
                        const Factor& b) {
  Diagnosis d = say("WRONG-INDEX", only_order_of_k(a, b, probed.k) ? "order" : "",
                    {{"ra", a.row.text()},
                     {"ca", a.col.text()},
                     {"rb", b.row.text()},
                     {"cb", b.col.text()},
                     {"wrong", wrong_ones(a, b)}});
  std::string asked = ask_of_stride(evidence, a.row, true, probed);
  if (asked.empty()) asked = ask_of_stride(evidence, b.col, false, probed);
  if (asked.empty()) asked = ask_of_groups(a.row, kI, true);
  if (asked.empty()) asked = ask_of_groups(b.col, kJ, false);
  if (asked.empty()) asked = ask_of_groups(a.col, kK, true);
  if (asked.empty()) asked = ask_of_groups(b.row, kK, false);
  if (asked.empty()) asked = ask_of_digit(a.row, kI, true, true);
  if (asked.empty()) asked = ask_of_digit(a.col, kK, true, false);
  if (asked.empty()) asked = ask_of_digit(b.row, kK, false, true);
  if (asked.empty()) asked = ask_of_digit(b.col, kJ, false, false);
  if (!asked.empty()) d.next_step = std::move(asked);
  name_reshaped(evidence, probed, a, b, d);
  describe(evidence, probed, d);
  return d;
}

std::optional<Diagnosis> name_formula(const Evidence& evidence, const Cases& cases,
                                      const Case& probed) {
  if (reproduces(probed, kExchangedA, kExchangedB)) {
    Diagnosis d = say("WRONG-INDEX", "exchanged", {});
    describe(evidence, probed, d);
    return d;
  }
  if (auto d = name_ahead(evidence, cases, probed)) return d;
  for (const bool of_a : {true, false}) {
    const std::optional<Factor> seen = factor_seen(evidence, probed, of_a);
    if (!seen) continue;
    const Factor &a = of_a ? *seen : kRightA, &b = of_a ? kRightB : *seen;
    const std::string wrong = wrong_ones(a, b);
    if (wrong.empty() || only_places(of_a ? a.row : b.col, of_a, probed, *seen) ||
        !reproduces(probed, a, b))
      continue;
    const auto shown_wrong = [&](const Case& c) {
      return c.out_of_bounds || c.wrong == 0 || reproduces(c, a, b);
    };
    if (!std::all_of(cases.begin(), cases.end(), shown_wrong) ||
        !holds_in_whole_tiles(evidence, probed, a, b))
      continue;
    return with_formulas(evidence, probed, a, b);
  }
  if (const auto both = other_letters(cases, probed))
    return with_formulas(evidence, probed, both->first, both->second);
  return std::nullopt;
}

bool clean(const Case& c) {
  return worst_finding(c.run.launches) == nullptr;
}

constexpr std::int64_t kMostProducts = 1 << 21;  ///< of a probe: it takes a dozen runs

}  // namespace

std::optional<Diagnosis> explain_indices(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product || !evidence.run_probe) return std::nullopt;
  const Case* chosen = nullptr;  // the largest that a dozen runs of are quick
  for (const Case& c : cases) {
    if (c.wrong == 0 || c.k < 2 || !clean(c) || c.size() * c.k > kMostProducts) continue;
    if (chosen == nullptr || c.size() * c.k > chosen->size() * chosen->k) chosen = &c;
  }
  if (chosen == nullptr) return std::nullopt;
  if (auto d = name_formula(evidence, cases, *chosen)) return d;
  // One k-tile, or a part of one, does not show what an index does from tile to tile.
  constexpr int kSide = 96;
  const int depth = 2 * evidence.tile.bk, m = std::min(chosen->m, kSide),
            n = std::min(chosen->n, kSide);
  if (depth < 4 || chosen->k >= depth || std::int64_t{m} * n * depth > kMostProducts)
    return std::nullopt;
  const auto deep = probe_case(evidence, {m, n, depth, 0, 0, 0}, 61);
  if (!deep || deep->wrong == 0 || !clean(*deep)) return std::nullopt;
  return name_formula(evidence, cases, *deep);
}

std::optional<Diagnosis> explain_indices_inside(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product || !evidence.run_probe) return std::nullopt;
  const int side = std::clamp(2 * std::max(evidence.tile.bm, evidence.tile.bn), 32, 128);
  const std::optional<Case> cube = probe_case(evidence, {side, side, side, 0, 0, 0}, 29);
  if (!cube || cube->wrong == 0 || !clean(*cube)) return std::nullopt;
  return name_formula(evidence, cases, *cube);
}

}  // namespace grader::diag
