// Wrong index formulas, recomputed and compared element by element.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

constexpr std::int64_t kZero =
    -1;  ///< index of a tile element that zero fill provides; -2 and less are outside

/// Storage index for (row, column) of a matrix.
using Index = std::function<std::int64_t(const Case&, int, int)>;
/// A number known by name in the student's code: M, a.ld ...
using Size = std::function<int(const Case&)>;

enum class Which : std::uint8_t { a, b, c };

struct Formula {
  Index a, b, c;                   ///< empty: the right one
  std::optional<Which> taken_for;  ///< of a and b: the other matrix is read in its place
  Size depth;                      ///< number of terms; empty: K
  std::function<Diagnosis(const Case&)> name;
};

/// outside: the formula reads beyond an allocation there; unknown: two threads store to one place.
enum class Kind : std::uint8_t { outside, unknown, value, untouched };

/// What a wrong program would leave in C's storage.
struct Prediction {
  std::vector<Kind> kind;
  std::vector<double> value;
};

std::int64_t right_index(const Matrix& m, int row, int col) {
  return static_cast<std::int64_t>(row) * m.ld + col;
}

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
  for (int i = 0; i < c.m; ++i) {
    for (int j = 0; j < c.n; ++j) {
      const std::int64_t place = f.c ? f.c(c, i, j) : right_index(out, i, j);
      if (place < 0 || place >= elements) continue;
      const auto at = static_cast<std::size_t>(place);
      const double value = result[c.at(i, j)];
      // Two threads storing to one place: the later wins, and nobody knows which that is.
      p.kind[at] = stored[at] != 0     ? Kind::unknown
                   : std::isnan(value) ? Kind::outside
                                       : Kind::value;
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
  return std::isnan(sum) ? c.out_of_bounds : sum == c.got(i, j);
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

const char* name_of(Which w) {
  return w == Which::a ? "A" : w == Which::b ? "B" : "C";
}

void set_index(Formula& f, Which w, Index index) {
  (w == Which::a ? f.a : w == Which::b ? f.b : f.c) = std::move(index);
}

const Matrix& matrix_of(Which w, const Case& c) {
  return w == Which::a ? c.run.a : w == Which::b ? c.run.b : c.run.c_after;
}

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
  f.name = [=](const Case& c) {
    if (c.operation != Operation::product && w != Which::c)
      return say(std::string(name_of(w)) + "-TRANSPOSED", "", {});
    return say(std::string(name_of(w)) + "-TRANSPOSED", "", {});
  };
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
    names += (names.empty() ? "" : " and ") + std::string(name_of(w));
  };
  add(a, Which::a);
  add(b, Which::b);
  add(c, Which::c);
  f.name = [names](const Case&) { return say("WRONG-LD", "width", {{"matrices", names}}); };
  return f;
}

int round_up(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
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

Diagnosis say_exchanged(int s, const std::string& matrix) {
  const std::string size = fmt::format("{0} x {0}", s);
  return say("TILE-MAP", "operand", {{"tile", size}, {"matrix", matrix}});
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
      f.name = [w, s](const Case&) { return say_exchanged(s, name_of(w)); };
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
    f.name = [s](const Case&) { return say_exchanged(s, "A and of B"); };
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
                   {{"what", "k-tile 0 of " + name +
                                 " is used in every round, with the right tile of the other "
                                 "operand"}});
      };
      Formula late;
      set_index(late, w, at_k([s](int k) { return k < s ? k : k - s; }));
      late.name = [name](const Case&) {
        return say("STALE-TILE", "",
                   {{"what", "each k-tile is multiplied with the tile of " + name +
                                 " from the round before"}});
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

namespace {

/// A place inside a tile, and what is found there instead.
using Exchange = std::function<std::pair<int, int>(int row, int col)>;

/// An operand's tiles of rows x cols elements, permuted inside; what lies outside the matrix is
/// zero fill, and the sum has terms for every k of the last tile.
Formula permuted_operand(Which w, int rows, int cols, const Exchange& exchange) {
  Formula f;
  set_index(f, w, [=](const Case& c, int row, int col) -> std::int64_t {
    const auto [r, q] = exchange(row % rows, col % cols);
    const int row2 = row / rows * rows + r, col2 = col / cols * cols + q;
    const Matrix& m = matrix_of(w, c);
    return row2 < m.rows && col2 < m.cols ? right_index(m, row2, col2) : kZero;
  });
  const int step = w == Which::a ? cols : rows;
  f.depth = [step](const Case& c) { return round_up(c.k, step); };
  set_index(f, w == Which::a ? Which::b : Which::a,
            [w](const Case& c, int row, int col) -> std::int64_t {
              if ((w == Which::a ? row : col) >= c.k) return kZero;
              return right_index(w == Which::a ? c.run.b : c.run.a, row, col);
            });
  return f;
}

/// The same for C: element (row, col) of a tile is stored at another place, if C has that.
Formula permuted_result(int rows, int cols, const Exchange& exchange) {
  Formula f;
  f.c = [=](const Case& c, int row, int col) -> std::int64_t {
    const auto [r, q] = exchange(row % rows, col % cols);
    const int row2 = row / rows * rows + r, col2 = col / cols * cols + q;
    return row2 < c.m && col2 < c.n ? right_index(c.run.c_after, row2, col2) : -1;
  };
  return f;
}

}  // namespace

namespace {

/// What a lane may name to ldmatrix instead of row lane % 16 and piece lane / 16.
struct LaneRule {
  const char* text;
  int (*of)(int lane);
};
constexpr LaneRule kLaneRows[] = {
    {"lane % 16", [](int lane) { return lane % 16; }},
    {"lane / 2", [](int lane) { return lane / 2; }},
    {"lane % 8", [](int lane) { return lane % 8; }},
    {"lane / 4", [](int lane) { return lane / 4; }},
    {"lane % 8 + lane / 16 * 8", [](int lane) { return lane % 8 + lane / 16 * 8; }},
};
constexpr LaneRule kLanePieces[] = {
    {"lane / 16", [](int lane) { return lane / 16; }},
    {"lane % 2", [](int lane) { return lane % 2; }},
    {"lane / 8 % 2", [](int lane) { return lane / 8 % 2; }},
    {"lane / 8", [](int lane) { return lane / 8; }},
    {"0", [](int) { return 0; }},
};

/// ldmatrix of a 16 x 32-byte part: matrix m of 8 x 16 bytes has its rows from lanes 8 m ... 8 m + 7.
void add_wrong_lanes(const Evidence& evidence, Which w, Formulas& formulas) {
  const int piece = static_cast<int>(16 / size_of(evidence.type));
  if (w == Which::b && piece != 8) return;  // transposed by ldmatrix: 16-bit elements only
  for (const LaneRule& rows : kLaneRows)
    for (const LaneRule& pieces : kLanePieces) {
      if (&rows == kLaneRows && &pieces == kLanePieces) continue;  // the right ones
      Formula f = permuted_operand(w, 16, 2 * piece, [=](int r, int q) {
        const int lane = (r / 8 + q / piece * 2) * 8 + r % 8;
        return std::pair{rows.of(lane), pieces.of(lane) * piece + q % piece};
      });
      f.name = [=, &rows, &pieces](const Case&) {
        return say("FRAGMENT-MAP", "lanes",
                   {{"matrix", name_of(w)}, {"row", rows.text}, {"piece", pieces.text}});
      };
      formulas.push_back(std::move(f));
    }
}

/// Lanes that read their elements one by one, and the same ones for two registers: half of a
/// fragment is there twice, the other half not at all.
void add_halves_twice(Formulas& formulas) {
  const auto add = [&formulas](Which w, int rows, int cols, bool by_row) {
    Formula f = permuted_operand(w, rows, cols, [=](int r, int q) {
      return by_row ? std::pair{r % (rows / 2), q} : std::pair{r, q % (cols / 2)};
    });
    const int size = by_row ? rows : cols;
    const std::string what = by_row != (w == Which::a) ? "k" : by_row ? "rows" : "columns";
    f.name = [=](const Case&) {
      return say("FRAGMENT-MAP", "twice",
                 {{"matrix", name_of(w)},
                  {"what", what},
                  {"lost", fmt::format("{}..{}", size / 2, size - 1)},
                  {"twice", fmt::format("0..{}", size / 2 - 1)}});
    };
    formulas.push_back(std::move(f));
  };
  add(Which::a, 16, 4, true);
  add(Which::b, 4, 16, false);
  for (const int k : {16, 8, 4}) {
    add(Which::a, 16, k, false);
    add(Which::b, k, 16, true);
  }
}

bool by_ldmatrix(const Cases& cases) {
  for (const Case& c : cases)
    for (const simgpu::LaunchReport& launch : c.run.launches)
      if (launch.total.matrix_load.requests > 0) return true;
  return false;
}

}  // namespace

std::optional<Diagnosis> explain_fragments(const Evidence& evidence, const Cases& cases) {
  // A copy through fragments need not multiply; C = A in 16-bit types is nothing else.
  const bool copy = evidence.operation == Operation::copy_a && size_of(evidence.type) == 2;
  if (!copy && (evidence.operation != Operation::product || !on_tensor_cores(cases)))
    return std::nullopt;
  const bool turns = size_of(evidence.type) == 2 && by_ldmatrix(cases);
  std::vector<Formula> formulas;
  const auto add = [&](Which w, int rows, int cols, const std::string& what,
                       const Exchange& exchange) {
    if (copy && w == Which::b) return;
    Formula f = w == Which::c ? permuted_result(rows, cols, exchange)
                              : permuted_operand(w, rows, cols, exchange);
    const std::string tile = fmt::format("{} x {}", rows, cols);
    const char* const kind = what != "rows and columns" ? "" : turns ? "turned" : "layout";
    f.name = [=](const Case&) {
      return say("FRAGMENT-MAP", kind, {{"what", what}, {"tile", tile}, {"matrix", name_of(w)}});
    };
    formulas.push_back(std::move(f));
  };
  const auto halves = [](int size) {
    return fmt::format("0..{} and {}..{}", size / 2 - 1, size / 2, size - 1);
  };
  // Layouts of mma.m16n8kX (PTX ISA, "Matrix Fragments for mma"): a lane holds rows g and g + 8,
  // and columns of both halves of k; of C it holds two neighbours in each of the two rows.
  add(Which::c, 16, 8, "rows " + halves(16) + " (registers c0, c1 and c2, c3, or A's)",
      [](int r, int q) {
        return std::pair{r ^ 8, q};
      });
  for (const int k : {16, 8}) {
    add(Which::a, 16, k, "registers 1 and 2 (the two other quarters)", [k](int r, int q) {
      const bool other = (r >= 8) != (q >= k / 2);
      return other ? std::pair{r ^ 8, q ^ (k / 2)} : std::pair{r, q};
    });
    add(Which::a, 16, k, "rows " + halves(16), [](int r, int q) { return std::pair{r ^ 8, q}; });
    // The same sum whether A's columns or B's rows are exchanged.
    add(Which::a, 16, k, "k = " + halves(k) + " of B against A, or columns", [k](int r, int q) {
      return std::pair{r, q ^ (k / 2)};
    });
  }
  add(Which::b, 16, 16, "registers 1 and 2 (the two other quarters)", [](int r, int q) {
    return (r >= 8) != (q >= 8) ? std::pair{r ^ 8, q ^ 8} : std::pair{r, q};
  });
  for (const int size : {8, 16})
    for (const Which w : {Which::b, Which::a})
      add(w, size, size, "rows and columns", [](int r, int q) { return std::pair{q, r}; });
  add(Which::c, 16, 8, "neighbouring columns (registers c0 and c1, c2 and c3)", [](int r, int q) {
    return std::pair{r, q ^ 1};
  });
  add(Which::c, 16, 8, "registers c1 and c2", [](int r, int q) {
    return (r >= 8) != (q % 2 == 1) ? std::pair{r ^ 8, q ^ 1} : std::pair{r, q};
  });
  for (const int size : {8, 16})
    add(Which::c, size, size, "rows and columns", [](int r, int q) { return std::pair{q, r}; });
  // A lane's two neighbours stand at 2 * (lane % 4), not at lane % 4: half of the columns collide.
  Formula packed = permuted_result(16, 8, [](int r, int q) { return std::pair{r, q / 2 + q % 2}; });
  packed.name = [](const Case&) { return say("FRAGMENT-MAP", "columns", {}); };
  formulas.push_back(std::move(packed));
  // Its lower rows stand 8 below the upper ones, not 1 and not 0: rows collide.
  for (const int apart : {1, 0}) {
    Formula squeezed = permuted_result(16, 8, [apart](int r, int q) {
      return std::pair{r % 8 + r / 8 * apart, q};
    });
    squeezed.name = [](const Case&) { return say("FRAGMENT-MAP", "rows", {}); };
    formulas.push_back(std::move(squeezed));
  }
  if (!copy) add_halves_twice(formulas);
  if (by_ldmatrix(cases))
    for (const Which w : {Which::a, Which::b})
      if (!copy || w == Which::a) add_wrong_lanes(evidence, w, formulas);
  return first_fitting(evidence, cases, formulas);
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
