// The order in which hypotheses are tried, and what is said when none fits.
#include "grader/diagnose/diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "common/inputs.hpp"
#include "grader/diagnose/case.hpp"
#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {

namespace {

void add_unique(std::vector<int>& list, int value) {
  if (value > 1 && std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

void add_blocks(const Evidence& evidence, std::vector<int>& list) {
  for (const simgpu::LaunchReport& launch : evidence.run.launches) {
    add_unique(list, static_cast<int>(std::min(1024u, launch.block.x)));
    add_unique(list, static_cast<int>(std::min(1024u, launch.block.y)));
  }
}

}  // namespace

std::vector<int> square_tiles(const Evidence& evidence) {
  const Tile& t = evidence.tile;
  std::vector<int> list;
  for (const int s : {t.tm, t.tn, t.bk, t.bm, t.bn}) add_unique(list, s);
  add_blocks(evidence, list);
  for (const int s : {4, 8, 16, 32}) add_unique(list, s);
  return list;
}

std::vector<int> k_tiles(const Evidence& evidence) {
  std::vector<int> list;
  add_unique(list, evidence.tile.bk);
  if (!list.empty()) {
    add_blocks(evidence, list);
    for (const int s : {8, 16, 32}) add_unique(list, s);
  }
  return list;
}

const Case& shown(const Cases& cases) {
  for (const Case& c : cases)
    if (c.wrong > 0 && c.m > 1 && c.n > 1) return c;
  for (const Case& c : cases)
    if (c.wrong > 0) return c;
  return cases.front();
}

namespace {

/// How the failing call itself compares with the limit.
struct Judgement {
  std::int64_t wrong = 0;
  double factor = 0;  ///< largest error over its limit; infinity if not finite or the limit is 0
};

/// u of C's type: 2^-24 where 16-bit operands are summed in float.
double unit_of(ElementType operands) {
  return operands == ElementType::int32 ? 0
                                        : std::ldexp(1.0, -significant_bits(result_type(operands)));
}

Judgement judge(const Evidence& evidence) {
  const Run& run = evidence.run;
  Judgement result;
  const int m = run.c_before.rows, n = run.c_before.cols;
  const std::vector<double> exact = correct_result(evidence.operation, run);
  std::vector<double> magnitude(exact.size());
  if (evidence.operation == Operation::product)
    for (int i = 0; i < m; ++i)
      for (int k = 0; k < run.a.cols; ++k) {
        const double factor = std::abs(run.a.at(i, k));
        for (int j = 0; j < n; ++j)
          magnitude[static_cast<std::size_t>(i) * static_cast<std::size_t>(n) +
                    static_cast<std::size_t>(j)] += factor * std::abs(run.b.at(k, j));
      }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      const auto at =
          static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j);
      const double got = run.c_after.at(i, j);
      if (evidence.type == ElementType::int32 && evidence.operation == Operation::product) {
        std::uint32_t sum = 0;
        for (int k = 0; k < run.a.cols; ++k)
          sum += static_cast<std::uint32_t>(static_cast<std::int64_t>(run.a.at(i, k))) *
                 static_cast<std::uint32_t>(static_cast<std::int64_t>(run.b.at(k, j)));
        if (got != static_cast<double>(static_cast<std::int32_t>(sum))) {
          ++result.wrong;
          result.factor = INFINITY;
        }
        continue;
      }
      const double allowed = evidence.small_integers
                                 ? 0
                                 : evidence.allowed_units * unit_of(evidence.type) * magnitude[at];
      const double error = std::abs(got - exact[at]);
      if (!(error <= allowed)) {
        ++result.wrong;
        const double factor = allowed > 0 ? error / allowed : INFINITY;
        result.factor = std::isnan(factor) ? INFINITY : std::max(result.factor, factor);
      }
    }
  return result;
}

/// First element that differs between two matrices of equal extents, padding included.
std::optional<std::size_t> first_change(const Matrix& before, const Matrix& after) {
  if (before.storage.size() != after.storage.size()) return std::nullopt;
  for (std::size_t e = 0; e < before.elements(); ++e)
    if (!before.same_bits(after, e)) return e;
  return std::nullopt;
}

std::optional<Diagnosis> modified_input(const Run& run) {
  for (const bool is_a : {true, false}) {
    const std::optional<Matrix>& after = is_a ? run.a_after : run.b_after;
    const Matrix& before = is_a ? run.a : run.b;
    if (!after) continue;
    if (const std::optional<std::size_t> e = first_change(before, *after)) {
      const auto ld = static_cast<std::size_t>(before.ld);
      return say("INPUT-MODIFIED", "",
                 {{"place", element(is_a ? "A" : "B", static_cast<int>(*e / ld),
                                    static_cast<int>(*e % ld))}});
    }
  }
  return std::nullopt;
}

bool padding_changed(const Run& run) {
  for (int i = 0; i + 1 < run.c_before.rows; ++i)
    for (int j = run.c_before.cols; j < run.c_before.ld; ++j)
      if (!run.c_before.same_bits(run.c_after, run.c_before.index(i, j))) return true;
  return false;
}

Diagnosis beyond_row(const std::string& matrix, const Matrix& m, const char* verb) {
  return say(
      "OOB", "row",
      {{"matrix", matrix}, {"verb", verb}, {"columns", from_to("column", m.cols, m.ld - 1)}});
}

/// NaN in the padding of A or B turned up in C: which of the two is read beyond its rows?
std::optional<Diagnosis> padding_read(const Evidence& evidence) {
  if (!evidence.run_probe || evidence.type == ElementType::int32) return std::nullopt;
  const ProbeShape s = shape_of(evidence.run);
  const auto [rows, cols] = result_extents(evidence.operation, s);
  for (const bool in_a : {true, false}) {
    Matrix a = integers_a(evidence.type, s.m, s.k, s.pad_a, 5),
           b = integers_b(evidence.type, s.k, s.n, s.pad_b, 5);
    Matrix& poisoned = in_a ? a : b;
    if (poisoned.ld == poisoned.cols || poisoned.rows < 2) continue;
    for (int i = 0; i + 1 < poisoned.rows; ++i)
      for (int j = poisoned.cols; j < poisoned.ld; ++j) poisoned.set(i, j, std::nan(""));
    const auto run =
        evidence.run_probe(a, b, garbage(result_type(evidence.type), rows, cols, s.pad_c));
    if (!run || run->failed_launch || run->c_after.elements() != run->c_before.elements()) continue;
    const Case c = make_case(evidence.operation, *run);
    if (c.wrong == 0) continue;
    Diagnosis d = beyond_row(in_a ? "A" : "B", poisoned, "read");
    d.details.push_back(messages::text("detail.nan_beyond"));
    describe(evidence, c, d);
    return d;
  }
  return std::nullopt;
}

/// The lab's reference tile, unless the launch shows that this rung has one thread per element:
/// then its block.
Tile tile_of_launch(const Tile& lab, Operation operation, const Run& run) {
  if (run.launches.size() != 1 || operation != Operation::product) return lab;
  const simgpu::LaunchReport& launch = run.launches.front();
  const int x = static_cast<int>(launch.block.x), y = static_cast<int>(launch.block.y);
  const int m = run.c_before.rows, n = run.c_before.cols;
  if (x < 1 || y < 1 || x > 1024 || y > 1024 || launch.block.z != 1) return lab;
  const auto blocks = [](int extent, int tile) {
    return static_cast<unsigned>(tiles_of(extent, tile));
  };
  if (launch.grid.x != blocks(n, x) || launch.grid.y != blocks(m, y)) return lab;
  if (lab.bm > 0 && lab.bn > 0 && blocks(n, x) == blocks(n, lab.bn) &&
      blocks(m, y) == blocks(m, lab.bm))
    return lab;
  return {y, x, x == y ? x : lab.bk, 1, 1, 0, 0};
}

/// The failing call's shape and telling ones, all with small integers.
Cases collect_with(const Evidence& evidence) {
  Cases cases;
  const ProbeShape own = shape_of(evidence.run);
  const bool small = static_cast<double>(own.m) * own.n * own.k <= kFewProducts;
  std::vector<ProbeShape> shapes;
  if (small) shapes.push_back(own);
  for (const ProbeShape& s : telling_shapes(evidence)) shapes.push_back(s);
  std::uint64_t stream = 1;
  for (const ProbeShape& s : shapes) {
    const auto [rows, cols] = result_extents(evidence.operation, s);
    if (rows == 0 || cols == 0) continue;
    if (auto c = probe_case(evidence, s, stream++)) cases.push_back(std::move(*c));
  }
  const bool any =
      std::any_of(cases.begin(), cases.end(), [](const Case& c) { return c.wrong > 0; });
  if (!any && !small) {
    auto c = halved_case(evidence, own, stream);
    if (!c) c = probe_case(evidence, own, stream);
    if (c) cases.insert(cases.begin(), std::move(*c));
  }
  if (cases.empty() && evidence.small_integers &&
      evidence.run.c_after.elements() == evidence.run.c_before.elements() &&
      evidence.run.c_before.elements() > 0)
    cases.push_back(make_case(evidence.operation, evidence.run));
  return cases;
}

/// The cases; and the tile, if larger shapes than the failing one show that this rung has another
/// than the lab.
Cases collect(Evidence& evidence) {
  Cases cases = collect_with(evidence);
  for (const Case& c : cases) {
    const Tile tile = tile_of_launch(evidence.tile, evidence.operation, c.run);
    if (tile.bm == evidence.tile.bm && tile.bn == evidence.tile.bn) continue;
    evidence.tile = tile;
    return collect_with(evidence);
  }
  return cases;
}

bool all_right(const Cases& cases) {
  return std::all_of(cases.begin(), cases.end(),
                     [](const Case& c) { return c.wrong == 0 && !c.padding_written; });
}

/// The failing call, and what has been found out about it so far. What costs runs is found out
/// when a hypothesis first asks.
class Examination {
 public:
  explicit Examination(const Evidence& given) : evidence_(given) {
    evidence_.tile = tile_of_launch(given.tile, given.operation, given.run);
  }

  /// Its tile is the rung's own, as far as launches have shown it.
  const Evidence& evidence() const { return evidence_; }
  const Run& run() const { return evidence_.run; }
  int rows() const { return run().c_before.rows; }
  int cols() const { return run().c_before.cols; }

  const Judgement& judgement() {
    if (!judgement_) judgement_ = comparable() ? judge(evidence_) : Judgement{};
    return *judgement_;
  }
  const Cases& cases() {
    if (!cases_) cases_ = collect(evidence_);
    return *cases_;
  }
  bool repeat_differs() const {
    return evidence_.repeat && comparable() &&
           first_change(run().c_after, evidence_.repeat->c_after).has_value();
  }

 private:
  bool comparable() const { return run().c_after.elements() == run().c_before.elements(); }

  Evidence evidence_;
  std::optional<Judgement> judgement_;
  std::optional<Cases> cases_;
};

/// Empty: it does not explain what was seen.
using Hypothesis = std::optional<Diagnosis> (*)(Examination&);

std::optional<Diagnosis> launch_refused(Examination& e) {
  if (!e.run().failed_launch) return std::nullopt;
  const LaunchFailure& failure = *e.run().failed_launch;
  if (e.rows() == 0 || e.cols() == 0)
    return say("LAUNCH", "empty",
               {{"grid", dims(failure.grid)}, {"rows", e.rows()}, {"cols", e.cols()}});
  // A grid of 0 at a small shape is what rounding down looks like there.
  if (failure.has_shape() && (failure.grid.x == 0 || failure.grid.y == 0 || failure.grid.z == 0)) {
    const Cases& cases = e.cases();
    const auto partly = [](const Case& c) { return c.untouched > 0 && c.untouched < c.size(); };
    if (std::any_of(cases.begin(), cases.end(), partly))
      if (auto d = explain_unwritten(e.evidence(), cases)) return d;
    const bool x = failure.grid.x == 0;
    const int extent = x ? e.cols() : e.rows();
    const auto threads = static_cast<int>(x ? failure.block.x : failure.block.y);
    return say("LAUNCH", failure.grid.z == 0 || extent < threads ? "none" : "zero_blocks",
               {{"grid", dims(failure.grid)},
                {"rows", e.rows()},
                {"cols", e.cols()},
                {"axis", x ? "x" : "y"},
                {"threads", threads},
                {"extent", extent},
                {"what", x ? "columns" : "rows"}});
  }
  return explain(failure);
}

/// Who writes to an input also races with everybody who reads it.
std::optional<Diagnosis> input_raced_for(Examination& e) {
  const simgpu::Finding* finding = worst_finding(e.run().launches);
  if (finding == nullptr || finding->kind != simgpu::FindingKind::global_race) return std::nullopt;
  return modified_input(e.run());
}

bool outside_of_a_matrix(const simgpu::Finding& finding) {
  return finding.kind == simgpu::FindingKind::out_of_bounds &&
         finding.at.space == simgpu::MemorySpace::global;
}

/// A wrong index shows as an access out of bounds, or as a race for one element.
std::optional<Diagnosis> wrong_index_behind(const simgpu::Finding& finding, Examination& e) {
  const bool race = finding.kind == simgpu::FindingKind::global_race;
  const bool outside = outside_of_a_matrix(finding);
  if (!race && !outside) return std::nullopt;
  const Cases& cases = e.cases();
  if (cases.empty() || all_right(cases)) return std::nullopt;
  if (auto d = explain_stores(e.evidence(), cases)) return d;
  if (auto d = explain_fragments(e.evidence(), cases)) return d;
  if (auto d = explain_loads(e.evidence(), cases)) return d;
  if (outside && e.evidence().operation != Operation::product)
    return explain_places(e.evidence(), cases);
  if (outside) return explain_indices_inside(e.evidence(), cases);
  if (auto d = explain_unwritten(e.evidence(), cases)) return d;
  return explain_simple(cases);
}

/// The worst finding of the call that `cause` describes.
std::optional<Diagnosis> also_found(const Diagnosis& cause, Examination& e) {
  for (const Case& c : e.cases()) {
    if (cause.seen && !(*cause.seen == seen_in(c.run))) continue;
    if (const simgpu::Finding* finding = first_cause(c.run.launches)) {
      Diagnosis d = explain(*finding, e.evidence().tile, &c.run, e.evidence().type);
      ask_of_parts(e.evidence(), c.run, *finding, d);
      d.place = place_of(*finding);
      return d;
    }
  }
  return std::nullopt;
}

/// The launch has fewer warps in a block than parts that warps have of its tile.
void add_missing_warps(const Tile& t, const Run& run, Diagnosis& d) {
  if (t.wm < 1 || t.wn < 1 || run.launches.size() != 1) return;
  const simgpu::Dim3& block = run.launches.front().block;
  const unsigned warps = block.x * block.y * block.z / 32;
  const auto needed = static_cast<unsigned>(t.bm / t.wm * (t.bn / t.wn));
  if (warps >= needed) return;
  d.details.push_back(
      messages::text("detail.warps", {{"warps", warps},
                                      {"needed", needed},
                                      {"tile", fmt::format("{} x {}", t.bm, t.bn)},
                                      {"part", fmt::format("{} x {}", t.wm, t.wn)}}));
}

std::optional<Diagnosis> finding_of_the_call(Examination& e) {
  const simgpu::Finding* finding = first_cause(e.run().launches);
  if (finding == nullptr) return std::nullopt;
  Diagnosis d = explain(*finding, e.evidence().tile, &e.run(), e.evidence().type);
  ask_of_parts(e.evidence(), e.run(), *finding, d);
  d.place = place_of(*finding);
  if (auto cause = wrong_index_behind(*finding, e)) {
    // A cause that was found at a shape of its own has no finding there: the call's is told.
    const auto seen = also_found(*cause, e);
    if (const auto also = seen ? seen : std::optional(d)) {
      cause->details.push_back(messages::text("detail.also", {{"sentence", also->headline}}));
      // What nobody stored, another stored over: the two who meet say more than the one missing.
      if (cause->id == "UNWRITTEN" && also->id == "RACE-WAW") {
        cause->place = also->place;
        cause->details.insert(cause->details.end(), also->details.begin(), also->details.end());
        if (!is_telling_part(e.evidence(), e.cases())) cause->next_step = also->next_step;
      }
    }
    return cause;
  }
  name_race(e.evidence(), e.run(), *finding, d);
  name_index(e.evidence(), e.run(), *finding, d);
  ask_of_place_copied(e.evidence(), e.run(), *finding, d);
  show_accesses(e.evidence(), e.run(), *finding, d);
  ask_of_stop(e.run(), *finding, d);
  ask_of_round(e.evidence(), e.run(), *finding, d);
  if (e.evidence().operation == Operation::product) ask_of_other_matrix(e.run(), *finding, d);
  if (finding->kind == simgpu::FindingKind::uninitialised_read)
    add_missing_warps(e.evidence().tile, e.run(), d);
  d.place = place_of(*finding);  // name_race() tells it anew
  return d;
}

std::optional<Diagnosis> input_modified(Examination& e) {
  return modified_input(e.run());
}

/// Infinities and NaN go in on purpose, once everything else is right.
std::optional<Diagnosis> infinities_lost(Examination& e) {
  const auto finite = [](const Matrix& m) {
    for (int i = 0; i < m.rows; ++i)
      for (int j = 0; j < m.cols; ++j)
        if (!std::isfinite(m.at(i, j))) return false;
    return true;
  };
  if (finite(e.run().a) && finite(e.run().b)) return std::nullopt;
  return say("INFINITY-LOST", "", {});
}

std::optional<Diagnosis> another_result_each_time(Examination& e) {
  if (!e.repeat_differs()) return std::nullopt;
  const Matrix& c = e.run().c_after;
  const std::size_t at = *first_change(c, e.evidence().repeat->c_after);
  const auto ld = static_cast<std::size_t>(c.ld);
  return say("RACE", "",
             {{"place", element("C", static_cast<int>(at / ld), static_cast<int>(at % ld))}});
}

std::optional<Diagnosis> nothing_wrong(Examination& e) {
  if (e.judgement().wrong != 0 || padding_changed(e.run())) return std::nullopt;
  if (auto d = another_result_each_time(e)) return d;
  return say("none", "", {});
}

std::optional<Diagnosis> stored_over(Examination& e) {
  return explain_overwritten(e.evidence().operation, e.run());
}

/// No run on other numbers is possible, and the call's own are no integers.
std::optional<Diagnosis> nothing_to_compare(Examination& e) {
  if (!e.cases().empty()) return std::nullopt;
  if (e.evidence().integers_passed)
    return low_precision(e.evidence(), e.run(), e.judgement().factor);
  return say("UNEXPLAINED", "",
             {{"count", e.judgement().wrong},
              {"total", static_cast<std::int64_t>(e.rows()) * e.cols()},
              {"place", "C"}});
}

std::optional<Diagnosis> right_on_small_integers(Examination& e) {
  if (!all_right(e.cases())) return std::nullopt;
  if (auto d = another_result_each_time(e)) return d;
  if (auto d = padding_read(e.evidence())) return d;
  if (padding_changed(e.run())) return beyond_row("C", e.run().c_before, "written");
  if (!e.evidence().small_integers)
    return low_precision(e.evidence(), e.run(), e.judgement().factor);
  if (reads_poison(e.run())) return say("ACCUMULATES", "nan", {});
  // Wrong once and right ever since.
  Diagnosis d = unexplained(e.evidence(), make_case(e.evidence().operation, e.run()));
  d.details.push_back(messages::text("detail.right_since"));
  return d;
}

std::optional<Diagnosis> nothing_stored_without_k(Examination& e) {
  const Cases& cases = e.cases();
  if (e.run().a.cols != 0 || cases.front().untouched != cases.front().size()) return std::nullopt;
  if (std::none_of(cases.begin(), cases.end(), [](const Case& c) { return c.wrong == 0; }))
    return std::nullopt;
  return say("UNWRITTEN", "k0", {});
}

/// A copy that is all zeros with tiles that an edge cuts off, and right with whole ones.
std::optional<Diagnosis> zeros_at_edges(const Examination& e) {
  const Tile& t = e.evidence().tile;
  if (t.bm < 2 || t.bk < 2) return std::nullopt;
  const auto whole = probe_case(e.evidence(), {2 * t.bm, 2 * t.bk, 2 * t.bk, 0, 0, 0}, 53);
  if (!whole || whole->wrong != 0) return std::nullopt;
  return say("ALL-ZERO", "edges", {{"m", whole->m}, {"n", whole->n}});
}

std::optional<Diagnosis> one_value_everywhere(Examination& e) {
  auto d = explain_simple(e.cases());
  const auto found = [](const Case& c) { return first_cause(c.run.launches) != nullptr; };
  if (!d && std::none_of(e.cases().begin(), e.cases().end(), found))
    d = nan_at_some_shapes(e.cases());
  if (d && d->id == "ALL-ZERO") {
    if (auto last = explain_zeros(e.evidence(), e.cases())) return last;
    if (auto parts = explain_parts(e.evidence(), e.cases())) d = std::move(parts);
    if (auto bits = explain_values_for_bits(e.evidence(), e.cases())) d = std::move(bits);
  }
  if (d && d->id == "ALL-ZERO" && e.evidence().operation != Operation::product)
    if (auto edges = zeros_at_edges(e)) d = edges;
  if (d) describe(e.evidence(), shown(e.cases()), *d);
  return d;
}

/// Other shapes may show by a finding what this one shows only as a wrong number.
std::optional<Diagnosis> finding_at_another_shape(Examination& e) {
  for (const Case& c : e.cases()) {
    const simgpu::Finding* finding = first_cause(c.run.launches);
    if (finding == nullptr) continue;
    if (outside_of_a_matrix(*finding))
      if (auto cause = explain_indices_inside(e.evidence(), e.cases())) return cause;
    Diagnosis d = explain(*finding, e.evidence().tile, &c.run, e.evidence().type);
    ask_of_parts(e.evidence(), c.run, *finding, d);
    name_race(e.evidence(), c.run, *finding, d);
    name_index(e.evidence(), c.run, *finding, d);
    ask_of_place_copied(e.evidence(), c.run, *finding, d);
    show_accesses(e.evidence(), c.run, *finding, d);
    ask_of_stop(c.run, *finding, d);
    ask_of_round(e.evidence(), c.run, *finding, d);
    if (e.evidence().operation == Operation::product) ask_of_other_matrix(c.run, *finding, d);
    d.seen = seen_in(c.run);
    d.place = place_of(*finding);
    return d;
  }
  return std::nullopt;
}

/// Full tiles may be read in another way, 16 bytes at a time: what is found there says more than
/// wrong numbers that nothing explains.
std::optional<Diagnosis> finding_with_full_tiles(Examination& e) {
  constexpr int kSide = 128;
  const auto full = probe_case(e.evidence(), {kSide, kSide, kSide, 0, 0, 0}, 37);
  const simgpu::Finding* finding = full ? worst_finding(full->run.launches) : nullptr;
  if (finding == nullptr) return std::nullopt;
  Diagnosis d = explain(*finding, e.evidence().tile, &full->run, e.evidence().type);
  d.seen = seen_in(full->run);
  d.place = place_of(*finding);
  return d;
}

/// What a tile holds beyond an edge is added to a copy: without edges it shows where elements lie.
std::optional<Diagnosis> places_in_full_tiles(Examination& e) {
  const Tile& t = e.evidence().tile;
  if (e.evidence().operation == Operation::product || t.bm < 1 || t.bn < 1 || t.bk < 1)
    return std::nullopt;
  auto full = probe_case(e.evidence(), {2 * t.bm, 2 * t.bn, 3 * t.bk, 0, 0, 0}, 47);
  if (!full || full->wrong == 0) return std::nullopt;
  Cases cases;
  cases.push_back(std::move(*full));
  return explain_places(e.evidence(), cases);
}

/// At the edges more than one thing may be wrong: what is there in whole tiles?
std::optional<Diagnosis> cause_in_whole_tiles(Examination& e) {
  const Tile& t = e.evidence().tile;
  const auto whole = [](int extent) { return std::clamp(extent, 64, 256); };
  const ProbeShape shape{whole(t.bm), whole(t.bn), whole(2 * t.bk), 0, 0, 0};
  const auto full = probe_case(e.evidence(), shape, 47);
  if (!full || full->wrong == 0) return std::nullopt;
  Cases one;
  one.push_back(*full);
  for (const auto explain : {explain_stores, explain_unwritten, explain_loads, explain_pieces,
                             explain_sums, explain_indices, explain_places, explain_arithmetic})
    if (auto d = explain(e.evidence(), one)) return d;
  return std::nullopt;
}

std::optional<Diagnosis> only_padding_written(Examination& e) {
  const Cases& cases = e.cases();
  if (std::any_of(cases.begin(), cases.end(), [](const Case& c) { return c.wrong != 0; }))
    return std::nullopt;
  return beyond_row("C", e.run().c_before, "written");
}

/// Half-precision sums are exact only for smaller integers.
std::optional<Diagnosis> right_on_tiny_integers(Examination& e) {
  const auto tiny = probe_case(e.evidence(), shape_of(shown(e.cases()).run), 9, 1);
  if (!tiny || tiny->wrong != 0) return std::nullopt;
  return low_precision(e.evidence(), e.run(), e.judgement().factor);
}

/// Off in most places, but by less than a wrong index or a missing term.
std::optional<Diagnosis> nearly_right(Examination& e) {
  const Run& run = e.run();
  if (e.evidence().operation != Operation::product || e.evidence().type == ElementType::int32)
    return std::nullopt;
  const double unit = std::ldexp(1.0, -significant_bits(e.evidence().type));
  std::int64_t off = 0;
  for (int i = 0; i < e.rows(); ++i)
    for (int j = 0; j < e.cols(); ++j) {
      const auto [exact, magnitude] = exact_sum(run, i, j);
      const double error = std::fabs(run.c_after.at(i, j) - exact);
      if (!(error <= magnitude / 256)) return std::nullopt;
      off += error > unit * magnitude;
    }
  if (2 * off < std::int64_t{e.rows()} * e.cols()) return std::nullopt;
  return low_precision(e.evidence(), run, e.judgement().factor);
}

using OfCases = std::optional<Diagnosis> (*)(const Evidence&, const Cases&);

template <OfCases explain>
std::optional<Diagnosis> of_cases(Examination& e) {
  const Cases& cases = e.cases();
  return explain(e.evidence(), cases);
}

/// `d`, and whether it is so only where rows begin anywhere: without `d`, that alone.
std::optional<Diagnosis> with_alignment(Examination& e, std::optional<Diagnosis> d) {
  auto where = explain_alignment(e.evidence(), e.cases());
  if (!d || !where) return d ? d : where;
  d->details.push_back(where->headline);
  const std::string wrong = d->next_step.gap("matrix"), aligned = where->next_step.gap("matrix");
  const auto single = [](const std::string& name) { return name == "A" || name == "B"; };
  if (single(wrong) && single(aligned) && wrong != aligned) {
    d->next_step =
        messages::text("ROWS-UNALIGNED.other.next", {{"wrong", wrong}, {"matrix", aligned}});
    return d;
  }
  // A copy's places say more than where a row begins.
  if (d->id != "TILE-MAP") d->next_step = where->next_step;
  return d;
}

/// Which element is taken for another.
std::optional<Diagnosis> sources_or_alignment(Examination& e) {
  return with_alignment(e, explain_sources(e.evidence(), e.cases()));
}

/// Where elements come from; those of a product are not compared with aligned rows here.
std::optional<Diagnosis> places_or_alignment(Examination& e) {
  auto d = explain_places(e.evidence(), e.cases());
  return d && e.evidence().operation != Operation::product ? with_alignment(e, std::move(d)) : d;
}

/// In this order, and the first that fits is named: what explains more comes before what would
/// take a part of it for its own, and what needs no further run before what does.
constexpr Hypothesis kHypotheses[] = {
    // of the call itself
    launch_refused,
    input_raced_for,
    finding_of_the_call,
    input_modified,
    infinities_lost,
    nothing_wrong,
    stored_over,
    // of runs on small integers, at the call's shape and at telling ones
    nothing_to_compare,
    right_on_small_integers,
    nothing_stored_without_k,
    one_value_everywhere,
    of_cases<explain_stores>,
    of_cases<explain_fragments>,
    of_cases<explain_unwritten>,
    of_cases<explain_loads>,
    of_cases<explain_pitch>,
    finding_at_another_shape,
    of_cases<explain_pieces>,
    of_cases<explain_swizzles>,
    of_cases<explain_depth>,
    of_cases<explain_sums>,
    of_cases<explain_accumulators>,
    of_cases<explain_indices>,
    of_cases<explain_factors>,
    places_or_alignment,
    of_cases<explain_arithmetic>,
    of_cases<explain_mixed>,
    sources_or_alignment,
    finding_with_full_tiles,
    places_in_full_tiles,
    cause_in_whole_tiles,
    only_padding_written,
    right_on_tiny_integers,
    another_result_each_time,
    nearly_right,
    of_cases<explain_lost_pieces>,
    of_cases<explain_unused>,
    of_cases<explain_values>,
    of_cases<explain_unset>,
    of_cases<explain_part>,
};

}  // namespace

Diagnosis diagnose(const Evidence& given) {
  Examination examination(given);
  std::optional<Diagnosis> d;
  for (const Hypothesis explains : kHypotheses)
    if (d = explains(examination); d) break;
  if (!d) d = unexplained(examination.evidence(), shown(examination.cases()));
  if (given.launch == LaunchBy::lab) d->next_step.word_for_given_launch();
  return *std::move(d);
}

}  // namespace grader::diag
