// Wrong index formulas, recomputed and compared element by element.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "grader/diagnose/formulas.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {

std::int64_t right_index(const Matrix& m, int row, int col) {
  return static_cast<std::int64_t>(row) * m.ld + col;
}

const char* name_of(Which w) {
  return w == Which::a ? "A" : w == Which::b ? "B" : "C";
}

void set_index(Formula& f, Which w, Index index) {
  (w == Which::a ? f.a : w == Which::b ? f.b : f.c) = std::move(index);
}

const Matrix& matrix_of(Which w, const Case& c) {
  return w == Which::a ? c.run.a : w == Which::b ? c.run.b : c.run.c_after;
}

int round_up(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

namespace {

/// outside: the formula reads beyond an allocation there; unknown: two threads store to one place.
enum class Kind : std::uint8_t { outside, unknown, value, untouched };

/// What a wrong program would leave in C's storage.
struct Prediction {
  std::vector<Kind> kind;
  std::vector<double> value;
};

/// Values of an operand as the formula reads it, rows x cols dense; NaN where it reads outside.
std::vector<double> gather(const Case& c, const Matrix& m, const Index& index, int rows, int cols) {
  if (!index && rows == m.rows && cols == m.cols) return m.values();
  std::vector<double> values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
  const auto elements = static_cast<std::int64_t>(m.elements());
  std::size_t at = 0;
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col, ++at) {
      const std::int64_t place = index ? index(c, row, col) : right_index(m, row, col);
      if (place == kZero)
        values[at] = 0;
      else
        values[at] =
            place < 0 || place >= elements ? std::nan("") : m.at(static_cast<std::size_t>(place));
    }
  }
  return values;
}

/// The matrix that gives the factors of `w`, a or b.
const Matrix& read_as(Which w, const Formula& f, const Case& c) {
  return (w == Which::a) != (f.taken_for == w) ? c.run.a : c.run.b;
}

Prediction predict(const Case& c, const Formula& f) {
  const Matrix& out = c.run.c_after;
  Prediction p{std::vector<Kind>(out.elements(), Kind::untouched),
               std::vector<double>(out.elements())};
  std::vector<double> result(static_cast<std::size_t>(c.size()));
  if (!f.a && !f.b && !f.taken_for && !f.depth) {
    result = c.correct;
  } else if (c.operation == Operation::copy_a) {
    result = gather(c, c.run.a, f.a, c.m, c.n);
  } else if (c.operation == Operation::copy_b) {
    result = gather(c, c.run.b, f.b, c.m, c.n);
  } else {
    const int depth = f.depth ? f.depth(c) : c.k;
    const std::vector<double> a = gather(c, read_as(Which::a, f, c), f.a, c.m, depth);
    const std::vector<double> b = gather(c, read_as(Which::b, f, c), f.b, depth, c.n);
    const double* factor = a.data();
    for (int i = 0; i < c.m; ++i) {
      double* const row = result.data() + static_cast<std::ptrdiff_t>(i) * c.n;
      const double* of_b = b.data();
      for (int k = 0; k < depth; ++k, ++factor)
        for (int j = 0; j < c.n; ++j) row[j] += *factor * *of_b++;
    }
  }
  const auto elements = static_cast<std::int64_t>(out.elements());
  std::vector<char> stored(out.elements());
  for (int i = 0; i < round_up(c.m, f.high); ++i) {
    for (int j = 0; j < round_up(c.n, f.wide); ++j) {
      const std::int64_t place = f.c ? f.c(c, i, j) : right_index(out, i, j);
      if (place < 0 || place >= elements) continue;
      const auto at = static_cast<std::size_t>(place);
      const double value = i < c.m && j < c.n ? result[c.at(i, j)] : 0;
      // Two threads storing to one place: the later wins, and nobody knows which that is.
      p.kind[at] = stored[at] != 0      ? Kind::unknown
                   : !std::isnan(value) ? Kind::value
                   : f.leaves_tile      ? Kind::unknown
                                        : Kind::outside;
      p.value[at] = value;
      stored[at] = 1;
    }
  }
  return p;
}

/// Counts over all cases of one hypothesis.
struct Tally {
  std::int64_t explained = 0, open = 0;
};

bool agrees(const Case& c, const Prediction& p, Tally& tally) {
  const Matrix& out = c.run.c_after;
  for (std::size_t e = 0; e < out.elements(); ++e) {
    const auto col = static_cast<int>(e % static_cast<std::size_t>(out.ld));
    const auto row = static_cast<int>(e / static_cast<std::size_t>(out.ld));
    const bool body = col < c.n;
    const bool changed = !out.same_bits(c.run.c_before, e);
    const bool wrong = body ? c.state_at(row, col) != State::right : changed;
    if (p.kind[e] == Kind::outside || p.kind[e] == Kind::unknown) {
      // A formula that goes outside is no explanation for a program that did not.
      if (p.kind[e] == Kind::outside && !c.out_of_bounds) return false;
      tally.open += wrong;
      continue;
    }
    if (p.kind[e] == Kind::untouched ? changed : out.at(e) != p.value[e]) return false;
    tally.explained += wrong;
  }
  return true;
}

/// True if the hypothesis fits every case. Elements it cannot predict (it reads outside the matrix
/// there) are forgiven, but a few must be explained.
bool fits(const Cases& cases, const std::function<Prediction(const Case&)>& predicted) {
  Tally tally;
  for (const Case& c : cases)
    if (!agrees(c, predicted(c), tally)) return false;
  return tally.explained >= (tally.open > 0 ? 4 : 1);
}

/// What `predict` would find in one element: false if the formula certainly does not fit there.
bool may_fit(const Case& c, const Formula& f, int i, int j) {
  const auto value = [&c](const Matrix& m, const Index& index, int row, int col) {
    const std::int64_t place = index ? index(c, row, col) : right_index(m, row, col);
    if (place == kZero) return 0.0;
    return place < 0 || place >= static_cast<std::int64_t>(m.elements())
               ? std::nan("")
               : m.at(static_cast<std::size_t>(place));
  };
  const int depth = f.depth ? f.depth(c) : c.k;
  double sum = 0;
  const Matrix &a = read_as(Which::a, f, c), &b = read_as(Which::b, f, c);
  for (int k = 0; k < depth; ++k) sum += value(a, f.a, i, k) * value(b, f.b, k, j);
  // A formula that goes outside is no explanation for a program that did not.
  return std::isnan(sum) ? c.out_of_bounds || f.leaves_tile : sum == c.got(i, j);
}

/// Most formulas are rejected by a few elements, at the cost of a sum for each instead of M * N of
/// them: of each case by one that is wrong, and by some that are spread over C.
bool may_fit(const Cases& cases, const Formula& formula) {
  constexpr std::size_t kSpread = 8;
  for (const Case& c : cases) {
    if (formula.c || c.operation != Operation::product) continue;
    const auto fits_at = [&](std::size_t e) {
      const auto n = static_cast<std::size_t>(c.n);
      return may_fit(c, formula, static_cast<int>(e / n), static_cast<int>(e % n));
    };
    const auto wrong = std::find_if(c.state.begin(), c.state.end(),
                                    [](State state) { return state != State::right; });
    if (wrong == c.state.end()) continue;
    if (!fits_at(static_cast<std::size_t>(wrong - c.state.begin()))) return false;
    for (std::size_t at = 0; at < kSpread; ++at)
      if (!fits_at((c.state.size() - 1) * at / (kSpread - 1))) return false;
  }
  return true;
}

}  // namespace

std::optional<Diagnosis> first_fitting(const Evidence& evidence, const Cases& cases,
                                       const std::vector<Formula>& formulas) {
  for (const Formula& formula : formulas) {
    if (!may_fit(cases, formula)) continue;
    if (!fits(cases, [&](const Case& c) { return predict(c, formula); })) continue;
    const Case& c = shown(cases);
    Diagnosis d = formula.name(c);
    describe(evidence, c, d);
    return d;
  }
  return std::nullopt;
}

namespace {

struct NamedExtent {
  const char* name;
  Size size;
};

const NamedExtent kM{"M", [](const Case& c) { return c.run.a.rows; }};
const NamedExtent kN{"N", [](const Case& c) { return c.run.b.cols; }};
const NamedExtent kK{"K", [](const Case& c) { return c.run.a.cols; }};
const NamedExtent kLdA{"a.ld", [](const Case& c) { return c.run.a.ld; }};
const NamedExtent kLdB{"b.ld", [](const Case& c) { return c.run.b.ld; }};
const NamedExtent kLdC{"c.ld", [](const Case& c) { return c.run.c_after.ld; }};

Formula with_leading_dimension(Which w, const NamedExtent& other, const char* width) {
  Formula f;
  set_index(f, w, [size = other.size](const Case& c, int row, int col) {
    return static_cast<std::int64_t>(row) * size(c) + col;
  });
  f.name = [=](const Case& c) {
    const Matrix& m = matrix_of(w, c);
    const std::string letter(1, static_cast<char>(name_of(w)[0] - 'A' + 'a'));
    return say("WRONG-LD", "",
               {{"matrix", name_of(w)},
                {"name", other.name},
                {"value", other.size(c)},
                {"ld", (m.ld == m.cols ? std::string(width) : letter + ".ld") + " = " +
                           std::to_string(m.ld)}});
  };
  return f;
}

Formula transposed(Which w, const NamedExtent& other) {
  Formula f;
  set_index(f, w, [size = other.size](const Case& c, int row, int col) {
    return static_cast<std::int64_t>(col) * size(c) + row;
  });
  f.name = [w](const Case&) { return say(std::string(name_of(w)) + "-TRANSPOSED", "", {}); };
  return f;
}

Formula dense_rows(bool a, bool b, bool c) {
  Formula f;
  const auto dense = [](Which w) {
    return [w](const Case& k, int row, int col) {
      return static_cast<std::int64_t>(row) * matrix_of(w, k).cols + col;
    };
  };
  std::string names;
  const auto add = [&](bool wanted, Which w) {
    if (!wanted) return;
    set_index(f, w, dense(w));
    const bool between = a && b && c && w == Which::b;
    names += (names.empty() ? "" : between ? ", " : " and ") + std::string(name_of(w));
  };
  add(a, Which::a);
  add(b, Which::b);
  add(c, Which::c);
  f.name = [names](const Case&) { return say("WRONG-LD", "width", {{"matrices", names}}); };
  return f;
}

}  // namespace

std::optional<Diagnosis> explain_stores(const Evidence& evidence, const Cases& cases) {
  std::vector<Formula> formulas;
  for (const NamedExtent& x : {kN, kM, kK, kLdA, kLdB})
    formulas.push_back(with_leading_dimension(Which::c, x, "N"));
  formulas.push_back(dense_rows(true, false, true));
  formulas.push_back(dense_rows(false, true, true));
  formulas.push_back(dense_rows(true, true, true));
  for (const NamedExtent& x : {kLdC, kM, kN, kK}) formulas.push_back(transposed(Which::c, x));
  if (auto d = first_fitting(evidence, cases, formulas)) return d;
  return explain_extents(evidence, cases);
}

namespace {

using Formulas = std::vector<Formula>;

/// A whole operand read with another leading dimension, transposed, or (K) to another depth.
void add_strides(const Evidence& evidence, Formulas& formulas) {
  if (evidence.operation != Operation::copy_b) {
    for (const NamedExtent& x : {kK, kM, kN, kLdB, kLdC})
      formulas.push_back(with_leading_dimension(Which::a, x, "K"));
    for (const NamedExtent& x : {kLdA, kM, kK, kN}) formulas.push_back(transposed(Which::a, x));
  }
  if (evidence.operation != Operation::copy_a) {
    for (const NamedExtent& x : {kN, kK, kM, kLdA, kLdC})
      formulas.push_back(with_leading_dimension(Which::b, x, "N"));
    for (const NamedExtent& x : {kLdB, kK, kN, kM}) formulas.push_back(transposed(Which::b, x));
  }
  if (evidence.operation != Operation::product) return;
  formulas.push_back(dense_rows(true, true, false));
  for (const NamedExtent& x : {kM, kN}) {
    Formula f;
    f.depth = x.size;
    f.name = [x](const Case& c) {
      return say("SWAPPED-EXTENTS", "k", {{"name", x.name}, {"value", x.size(c)}, {"k", c.k}});
    };
    formulas.push_back(std::move(f));
  }
  for (const NamedExtent& x :
       {kM, kN}) {  // where tiles are filled with zeros, a larger one adds nothing
    Formula f;
    f.depth = [x](const Case& c) { return std::min(c.k, x.size(c)); };
    f.name = [x](const Case& c) {
      return say("SWAPPED-EXTENTS", "ends", {{"name", x.name}, {"value", x.size(c)}, {"k", c.k}});
    };
    formulas.push_back(std::move(f));
  }
}

/// An operand whose s x s tiles have rows and columns exchanged; what lies outside the matrix is
/// zero fill.
auto exchanged_tiles(Which w, int s) {
  return [w, s](const Case& c, int row, int col) -> std::int64_t {
    const int row2 = row / s * s + col % s, col2 = col / s * s + row % s;
    const Matrix& m = matrix_of(w, c);
    return row2 < m.rows && col2 < m.cols ? right_index(m, row2, col2) : kZero;
  };
}

Diagnosis say_exchanged(int s, const std::string& matrix, const Case& c) {
  const std::string size = fmt::format("{0} x {0}", s);
  Diagnosis d = say("TILE-MAP", "operand", {{"tile", size}, {"matrix", matrix}});
  if (on_tensor_cores({c})) d.next_step = messages::text("TILE-MAP.operand.fragments.next");
  return d;
}

void add_exchanged_tiles(const Evidence& evidence, Formulas& formulas) {
  const bool product = evidence.operation == Operation::product;
  for (const int s : square_tiles(evidence)) {
    for (const Which w : {Which::a, Which::b}) {
      if ((evidence.operation == Operation::copy_a && w == Which::b) ||
          (evidence.operation == Operation::copy_b && w == Which::a))
        continue;
      Formula f;
      set_index(f, w, exchanged_tiles(w, s));
      f.name = [w, s](const Case& c) { return say_exchanged(s, name_of(w), c); };
      // Zero fill belongs to whole tiles, also beyond K: the sum then has terms for every k of the
      // last tile.
      if (product) f.depth = [s](const Case& c) { return round_up(c.k, s); };
      if (product && w == Which::a)
        f.b = [](const Case& c, int row, int col) -> std::int64_t {
          return row < c.k ? right_index(c.run.b, row, col) : kZero;
        };
      if (product && w == Which::b)
        f.a = [](const Case& c, int row, int col) -> std::int64_t {
          return col < c.k ? right_index(c.run.a, row, col) : kZero;
        };
      formulas.push_back(std::move(f));
    }
  }
  if (!product) return;
  // Both operands' tiles at once: stored by rows, read by columns.
  for (const int s : square_tiles(evidence)) {
    Formula f;
    f.a = exchanged_tiles(Which::a, s);
    f.b = exchanged_tiles(Which::b, s);
    f.depth = [s](const Case& c) { return round_up(c.k, s); };
    f.name = [s](const Case& c) { return say_exchanged(s, messages::text("part.a_and_of_b"), c); };
    formulas.push_back(std::move(f));
  }
}

/// A tile is fetched at (column, row) instead of (row, column); what lies outside the matrix is
/// zero fill. `out`: rows of a tile of A, or columns of a tile of B.
Formula exchanged_origin(Which w, int out, int depth) {
  Formula f;
  set_index(f, w, [=](const Case& c, int row, int col) -> std::int64_t {
    const int k = w == Which::a ? col : row, other = w == Which::a ? row : col;
    const int k0 = k / depth * depth, origin = other / out * out;
    const int row2 = w == Which::a ? k0 + row % out : origin + row % depth;
    const int col2 = w == Which::a ? origin + col % depth : k0 + col % out;
    const Matrix& m = matrix_of(w, c);
    return row2 < m.rows && col2 < m.cols ? right_index(m, row2, col2) : kZero;
  });
  set_index(f, w == Which::a ? Which::b : Which::a,
            [w](const Case& c, int row, int col) -> std::int64_t {
              if ((w == Which::a ? row : col) >= c.k) return kZero;
              return right_index(w == Which::a ? c.run.b : c.run.a, row, col);
            });
  f.depth = [depth](const Case& c) { return round_up(c.k, depth); };
  f.name = [w](const Case&) {
    return say("TILE-MAP", "origin",
               {{"matrix", name_of(w)},
                {"row_name", w == Which::a ? "row0" : "k0"},
                {"column_name", w == Which::a ? "k0" : "col0"}});
  };
  return f;
}

void add_exchanged_origins(const Evidence& evidence, Formulas& formulas) {
  if (evidence.operation != Operation::product) return;
  const Tile& t = evidence.tile;
  for (const int depth : k_tiles(evidence)) {
    if (t.bn > 1) formulas.push_back(exchanged_origin(Which::b, t.bn, depth));
    if (t.bm > 1) formulas.push_back(exchanged_origin(Which::a, t.bm, depth));
  }
}

/// One operand's k-tile stuck at the first, or one round late.
void add_old_tiles(const Evidence& evidence, Formulas& formulas) {
  if (evidence.operation != Operation::product) return;
  for (const int s : k_tiles(evidence)) {
    for (const Which w : {Which::a, Which::b}) {
      const auto at_k = [w](auto&& choose) {
        return [w, choose](const Case& c, int row, int col) -> std::int64_t {
          return w == Which::a ? right_index(c.run.a, row, choose(col))
                               : right_index(c.run.b, choose(row), col);
        };
      };
      const std::string name = name_of(w);
      Formula stuck;
      set_index(stuck, w, at_k([s](int k) { return k % s; }));
      stuck.name = [name](const Case&) {
        return say("K-TILE-REPEATED", "",
                   {{"what", messages::text("part.first_tile", {{"matrix", name}})}});
      };
      Formula late;
      set_index(late, w, at_k([s](int k) { return k < s ? k : k - s; }));
      late.name = [name](const Case&) {
        return say("STALE-TILE", "",
                   {{"what", messages::text("part.tile_before", {{"matrix", name}})}});
      };
      formulas.push_back(std::move(stuck));
      formulas.push_back(std::move(late));
    }
  }
}

/// Both factors come from one matrix; where it has no element, zeros or what lies there.
void add_other_matrix(const Evidence& evidence, Formulas& formulas) {
  if (evidence.operation != Operation::product) return;
  for (const bool filled_up : {true, false})
    for (const Which w : {Which::a, Which::b}) {
      Formula f;
      f.taken_for = w;
      const Which other = w == Which::a ? Which::b : Which::a;
      set_index(f, w, [other, filled_up](const Case& c, int row, int col) -> std::int64_t {
        const Matrix& m = matrix_of(other, c);
        return !filled_up || (row < m.rows && col < m.cols) ? right_index(m, row, col) : kZero;
      });
      f.name = [w, other](const Case&) {
        return say("WRONG-MATRIX", "",
                   {{"taken", name_of(other)},
                    {"wanted", name_of(w)},
                    {"index", w == Which::a ? "[i][k]" : "[k][j]"}});
      };
      formulas.push_back(std::move(f));
    }
}

}  // namespace

std::optional<Diagnosis> explain_loads(const Evidence& evidence, const Cases& cases) {
  Formulas formulas;
  add_strides(evidence, formulas);
  add_exchanged_tiles(evidence, formulas);
  add_old_tiles(evidence, formulas);
  add_exchanged_origins(evidence, formulas);
  add_other_matrix(evidence, formulas);
  return first_fitting(evidence, cases, formulas);
}

Formula permuted_operand(Which w, int rows, int cols, const Exchange& exchange, int high,
                         int wide) {
  Formula f;
  set_index(f, w, [=](const Case& c, int row, int col) -> std::int64_t {
    const auto [r, q] = exchange(row % rows, col % cols);
    const int row2 = row / rows * rows + r, col2 = col / cols * cols + q;
    if ((high > 0 && row2 / high != row / high) || (wide > 0 && col2 / wide != col / wide))
      return kOutside;
    const Matrix& m = matrix_of(w, c);
    return row2 < m.rows && col2 < m.cols ? right_index(m, row2, col2) : kZero;
  });
  f.leaves_tile = high > 0 || wide > 0;
  const int step = w == Which::a ? cols : rows;
  f.depth = [step](const Case& c) { return round_up(c.k, step); };
  set_index(f, w == Which::a ? Which::b : Which::a,
            [w](const Case& c, int row, int col) -> std::int64_t {
              if ((w == Which::a ? row : col) >= c.k) return kZero;
              return right_index(w == Which::a ? c.run.b : c.run.a, row, col);
            });
  return f;
}

Formula permuted_result(int rows, int cols, const Exchange& exchange) {
  Formula f;
  f.c = [=](const Case& c, int row, int col) -> std::int64_t {
    const auto [r, q] = exchange(row % rows, col % cols);
    const int row2 = row / rows * rows + r, col2 = col / cols * cols + q;
    return row2 < c.m && col2 < c.n ? right_index(c.run.c_after, row2, col2) : -1;
  };
  return f;
}

std::optional<Diagnosis> explain_pieces(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product) return std::nullopt;
  // Along k only: rows of A or columns of B in another order are rows or columns of C in that
  // order, which explain_places knows.
  std::vector<Formula> formulas;
  for (const int count : {4, 2, 8, 16}) {
    Formula f = permuted_operand(Which::a, 1, count, [count](int r, int q) {
      return std::pair{r, count - 1 - q};
    });
    f.name = [count](const Case&) { return say("TILE-MAP", "pieces", {{"count", count}}); };
    formulas.push_back(std::move(f));
  }
  return first_fitting(evidence, cases, formulas);
}

std::optional<Diagnosis> explain_swizzles(const Evidence& evidence, const Cases& cases) {
  const Tile& t = evidence.tile;
  if (evidence.operation == Operation::copy_b || t.bk < 2 || t.bm < 2 || t.bn < 2)
    return std::nullopt;
  std::vector<Formula> formulas;
  const auto add = [&](Which w, int rows, int cols, bool by_row, int mask, int shift, int unit) {
    if (evidence.operation == Operation::copy_a && w != Which::a) return;
    // x of the tile's columns, y of its rows; As may be held transposed, then k is its row.
    if (mask * unit >= (by_row ? cols : rows) || (by_row ? rows : cols) <= 1 << shift) return;
    Formula f = permuted_operand(w, rows, cols, [=](int r, int q) {
      const int turn = ((by_row ? r : q) >> shift & mask) * unit;
      return by_row ? std::pair{r, q ^ turn} : std::pair{r ^ turn, q};
    });
    f.name = [w](const Case&) { return say("SWIZZLE-MISMATCH", "", {{"matrix", name_of(w)}}); };
    formulas.push_back(std::move(f));
  };
  // The lab's tile, and rows of 128 bytes: once around the banks.
  const int around = static_cast<int>(128 / size_of(evidence.type));
  std::vector<int> depths = {t.bk};
  if (around != t.bk) depths.push_back(around);
  for (const int depth : depths)
    for (const int unit : {4, 8, 1, 2, 16})
      for (const int mask : {7, 3, 15, 31, 1})
        for (const int shift : {0, 1, 2, 3}) {
          add(Which::b, depth, t.bn, true, mask, shift, unit);
          add(Which::a, t.bm, depth, true, mask, shift, unit);
          add(Which::a, t.bm, depth, false, mask, shift, unit);
        }
  return first_fitting(evidence, cases, formulas);
}

}  // namespace grader::diag
