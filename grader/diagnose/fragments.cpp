// Fragments of tensor cores whose lanes and registers hold other elements than the layout of the instruction says.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "grader/diagnose/formulas.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

using Formulas = std::vector<Formula>;

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
    {"lane / 16 * 2", [](int lane) { return lane / 16 * 2; }},
    {"0", [](int) { return 0; }},
};

/// ldmatrix of a 16 x 32-byte part: matrix m of 8 x 16 bytes has its rows from lanes 8 m ... 8 m + 7.
void add_wrong_lanes(const Evidence& evidence, Which w, Formulas& formulas) {
  const int piece = static_cast<int>(16 / size_of(evidence.type));
  if (w == Which::b && piece != 8) return;  // transposed by ldmatrix: 16-bit elements only
  for (const LaneRule& rows : kLaneRows)
    for (const LaneRule& pieces : kLanePieces) {
      if (&rows == kLaneRows && &pieces == kLanePieces) continue;  // the right ones
      const auto lanes = [=](int r, int q) {
        const int lane = (r / 8 + q / piece * 2) * 8 + r % 8;
        return std::pair{rows.of(lane), pieces.of(lane) * piece + q % piece};
      };
      Formula f = permuted_operand(w, 16, 2 * piece, lanes, 0,
                                   w == Which::a ? evidence.tile.bk : evidence.tile.bn);
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

/// Who has a wrong rule for the lanes may have it for A, for B, or for both.
void add_of_lanes(const char* variant, Formula a, Formula b, Formulas& formulas) {
  Formula both = a;
  both.b = b.b;
  const auto named = [&](Formula& f, const std::string& matrices) {
    f.name = [=](const Case&) { return say("FRAGMENT-MAP", variant, {{"matrix", matrices}}); };
    formulas.push_back(std::move(f));
  };
  named(a, "A");
  named(b, "B");
  named(both, factors(true, true));
}

/// FP64: lane / 4 and lane % 4 have changed places, in a fragment of A (16 x 4) or of B (4 x 8).
void add_crossed(int bk, Formulas& formulas) {
  for (const bool kept : {true, false}) {  // below 4 by a %, or not
    const auto k = [kept](int g) { return kept ? g % 4 : g; };
    const auto of_a = [=](int r, int q) { return std::pair{q + r / 8 * 8, k(r % 8)}; };
    const auto of_b = [=](int r, int q) { return std::pair{k(q), r}; };
    Formula a = permuted_operand(Which::a, 16, 4, of_a, 0, bk),
            b = permuted_operand(Which::b, 4, 8, of_b, bk);
    add_of_lanes("crossed", a, b, formulas);
  }
}

/// FP64: lanes are numbered down the rows of A, and along those of B: lane % 8 is the row, or column, and lane / 8
/// is k.
void add_numbered_down(int bk, Formulas& formulas) {
  const auto of_a = [](int r, int q) {
    const int lane = r % 8 * 4 + q;
    return std::pair{lane % 8 + r / 8 * 8, lane / 8};
  };
  const auto of_b = [](int r, int q) {
    const int lane = q * 4 + r;
    return std::pair{lane / 8, lane % 8};
  };
  add_of_lanes("numbered", permuted_operand(Which::a, 16, 4, of_a, 0, bk),
               permuted_operand(Which::b, 4, 8, of_b, bk), formulas);
}

/// FP64: the second register of A is taken 4 k further on, as in types with four of them, where row g + 8 belongs.
void add_second_register(int bk, Formulas& formulas) {
  const auto further = [](int r, int q) { return std::pair{r % 8, q + r / 8 * 4}; };
  Formula f = permuted_operand(Which::a, 16, 4, further, 0, bk);
  f.name = [](const Case&) { return say("FRAGMENT-MAP", "second", {}); };
  formulas.push_back(std::move(f));
}

/// Two neighbours along k in the registers of a lane, as 16-bit types have them, where they should be 4 apart.
void add_pairs(Formulas& formulas) {
  const auto pair = [](int k) { return k % 4 * 2 + k / 4; };
  for (const Which w : {Which::b, Which::a}) {
    Formula f = w == Which::b ? permuted_operand(w, 8, 8,
                                                 [=](int r, int q) {
                                                   return std::pair{pair(r), q};
                                                 })
                              : permuted_operand(w, 16, 8, [=](int r, int q) {
                                  return std::pair{r, pair(q)};
                                });
    f.name = [w](const Case&) { return say("FRAGMENT-MAP", "pairs", {{"matrix", name_of(w)}}); };
    formulas.push_back(std::move(f));
  }
}

bool by_ldmatrix(const Cases& cases) {
  for (const Case& c : cases)
    for (const simgpu::LaunchReport& launch : c.run.launches)
      if (launch.total.matrix_load.requests > 0) return true;
  return false;
}

/// What of a fragment stands in the place of what.
enum class Swapped { halves, quarters, axes, others };

/// `turns`: ldmatrix may transpose.
const char* variant_of(Swapped swapped, bool turns) {
  switch (swapped) {
    case Swapped::halves:
      return "halves";
    case Swapped::quarters:
      return turns ? "quarters" : "";
    case Swapped::axes:
      return turns ? "turned" : "layout";
    case Swapped::others:
      break;
  }
  return "";
}

/// What lanes read by themselves, and what they name to ldmatrix.
void add_lanes(const Evidence& evidence, const Cases& cases, bool copy, Formulas& formulas) {
  if (!copy) add_halves_twice(formulas);
  if (size_of(evidence.type) == 4) add_pairs(formulas);
  if (size_of(evidence.type) == 8) {
    add_crossed(evidence.tile.bk, formulas);
    add_numbered_down(evidence.tile.bk, formulas);
    add_second_register(evidence.tile.bk, formulas);
  }
  if (by_ldmatrix(cases))
    for (const Which w : {Which::a, Which::b})
      if (!copy || w == Which::a) add_wrong_lanes(evidence, w, formulas);
}

}  // namespace

std::optional<Diagnosis> explain_fragments(const Evidence& evidence, const Cases& cases) {
  // A copy through fragments need not multiply; C = A in 16-bit types is nothing else.
  const bool copy = evidence.operation == Operation::copy_a && size_of(evidence.type) == 2;
  if (!copy && (evidence.operation != Operation::product || !on_tensor_cores(cases)))
    return std::nullopt;
  const bool turns = size_of(evidence.type) == 2 && by_ldmatrix(cases);
  std::vector<Formula> formulas;
  const auto add = [&](Which w, int rows, int cols, Swapped swapped, const std::string& what,
                       const Exchange& exchange) {
    if (copy && w == Which::b) return;
    Formula f = w == Which::c ? permuted_result(rows, cols, exchange)
                              : permuted_operand(w, rows, cols, exchange);
    const std::string tile = fmt::format("{} x {}", rows, cols);
    f.name = [=, variant = variant_of(swapped, turns)](const Case&) {
      return say("FRAGMENT-MAP", variant, {{"what", what}, {"tile", tile}, {"matrix", name_of(w)}});
    };
    formulas.push_back(std::move(f));
  };
  const auto halves = [](int size) {
    return messages::text("part.halves", {{"lower", from_to(0, size / 2 - 1)},
                                          {"upper", from_to(size / 2, size - 1)}});
  };
  // Layouts of mma.m16n8kX (PTX ISA, "Matrix Fragments for mma"): a lane holds rows g and g + 8,
  // and columns of both halves of k; of C it holds two neighbours in each of the two rows.
  const auto lower_half = [](int r, int q) { return std::pair{r ^ 8, q}; };
  add(Which::c, 16, 8, Swapped::halves,
      messages::text("part.halves.rows", {{"halves", halves(16)}}), lower_half);
  for (const int k : {16, 8}) {
    add(Which::a, 16, k, Swapped::quarters, messages::text("part.quarters"), [k](int r, int q) {
      const bool other = (r >= 8) != (q >= k / 2);
      return other ? std::pair{r ^ 8, q ^ (k / 2)} : std::pair{r, q};
    });
    add(Which::a, 16, k, Swapped::halves,
        messages::text("part.halves.rows", {{"halves", halves(16)}}), lower_half);
    // The same sum whether A's columns or B's rows are exchanged.
    add(Which::a, 16, k, Swapped::others, messages::text("part.halves.k", {{"halves", halves(k)}}),
        [k](int r, int q) {
          return std::pair{r, q ^ (k / 2)};
        });
  }
  add(Which::b, 16, 16, Swapped::quarters, messages::text("part.quarters"), [](int r, int q) {
    return (r >= 8) != (q >= 8) ? std::pair{r ^ 8, q ^ 8} : std::pair{r, q};
  });
  for (const int size : {8, 16})
    for (const Which w : {Which::b, Which::a})
      add(w, size, size, Swapped::axes, messages::text("part.axes"), [](int r, int q) {
        return std::pair{q, r};
      });
  add(Which::c, 16, 8, Swapped::others, messages::text("part.neighbours"), [](int r, int q) {
    return std::pair{r, q ^ 1};
  });
  add(Which::c, 16, 8, Swapped::others, messages::text("part.middle_registers"), [](int r, int q) {
    return (r >= 8) != (q % 2 == 1) ? std::pair{r ^ 8, q ^ 1} : std::pair{r, q};
  });
  for (const int size : {8, 16})
    add(Which::c, size, size, Swapped::axes, messages::text("part.axes"), [](int r, int q) {
      return std::pair{q, r};
    });
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
    formulas.push_back(squeezed);
    // A store that asks where the element is put, not where it belongs, also stores what lies beyond C.
    if (!copy || apart != 1) continue;
    squeezed.high = 16;
    formulas.push_back(std::move(squeezed));
  }
  add_lanes(evidence, cases, copy, formulas);
  return first_fitting(evidence, cases, formulas);
}

}  // namespace grader::diag
