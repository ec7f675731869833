#include "grader/judge/rung_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "common/reference.hpp"
#include "grader/compile/array_bounds.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/judge/cut_off.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"

namespace grader {
namespace {

using messages::text;

void add(simgpu::GlobalCounts& to, const simgpu::GlobalCounts& from) {
  to.requests += from.requests;
  to.sectors += from.sectors;
  to.ideal_sectors += from.ideal_sectors;
  to.bytes += from.bytes;
}

void add_transfer(simgpu::GlobalCounts& to, std::uint64_t bytes) {
  to.sectors += (bytes + 31) / 32;
  to.ideal_sectors += (bytes + 31) / 32;
  to.bytes += bytes;
}

/// A window of 4 GiB belongs to one allocation: the upper half of an address names it.
using Window = std::uint64_t;
Window window_of(simgpu::DevicePtr address) {
  return address >> 32;
}

/// What an allocation may hold of A and of B: what was copied from them, by a kernel or a call, as
/// far as who reads and who writes tells.
class Origins {
 public:
  explicit Origins(const CallOutcome& outcome)
      : a_(window_of(outcome.a_base)), b_(window_of(outcome.b_base)) {
    of_[a_].a = true;
    of_[b_].b = true;
    settle(outcome);
    // An atomic may be a way to read: on a copy of A alone or of B alone it adds no sums.
    atomics_write_ = true;
    copied_ = of_;
    settle(outcome);
  }

  struct Of {
    bool a = false, b = false;
  };
  Of operator[](Window window) const {
    const auto found = of_.find(window);
    return found == of_.end() ? Of{} : found->second;
  }

 private:
  /// Whatever the order of launches and copies: all may come from all.
  void settle(const CallOutcome& outcome) {
    for (bool again = true; again;) {
      again = false;
      for (const auto& launch : outcome.result.launches) again = pass_on(launch.buffers) || again;
      for (const auto& move : outcome.result.transfers)
        if (move.src != 0) again = write(window_of(move.dst), of_[window_of(move.src)]) || again;
    }
  }

  bool written_by_atomics(const simgpu::BufferCounts& part) const {
    if (!atomics_write_ || part.atomic.requests == 0) return false;
    const auto copied = copied_.find(window_of(part.base));
    return copied == copied_.end() || copied->second.a == copied->second.b;
  }

  bool pass_on(const std::vector<simgpu::BufferCounts>& buffers) {
    Of read;
    for (const auto& part : buffers)
      if (part.load.requests + part.load.bytes + part.atomic.requests != 0) {
        const Of from = of_[window_of(part.base)];
        read = {read.a || from.a, read.b || from.b};
      }
    bool news = false;
    for (const auto& part : buffers)
      if (part.store.requests + part.store.bytes != 0 || written_by_atomics(part))
        news = write(window_of(part.base), read) || news;
    return news;
  }

  bool write(Window window, Of what) {
    if (window == a_ || window == b_) return false;
    Of& of = of_[window];
    const bool news = (what.a && !of.a) || (what.b && !of.b);
    of = {of.a || what.a, of.b || what.b};
    return news;
  }

  Window a_, b_;
  std::map<Window, Of> of_, copied_;  // copied_: without atomics
  bool atomics_write_ = false;
};

/// Half of something, rounded down, for the one and up for the other.
simgpu::GlobalCounts half_of(const simgpu::GlobalCounts& all, unsigned up) {
  return {(all.requests + up) / 2, (all.sectors + up) / 2, (all.ideal_sectors + up) / 2,
          (all.bytes + up) / 2};
}

/// What is kept between A, B and C: what of it stands for A, for B, and for C.
void count_copies(Observed& seen, const CallOutcome& outcome) {
  const Origins origins(outcome);
  const Window a = window_of(outcome.a_base), b = window_of(outcome.b_base),
               c = window_of(outcome.c_base);
  for (const auto& launch : seen.launches)
    for (const auto& part : launch.buffers) {
      const Window window = window_of(part.base);
      if (window == a || window == b) continue;
      const auto of = origins[window];
      // Of atomics on C those alone that also read: the others are how it is summed up.
      for (const auto* reads : {&part.load, window == c ? &part.fetched : &part.atomic}) {
        if (of.a) add(seen.copies_of_a, of.b ? half_of(*reads, 0) : *reads);
        if (of.b) add(seen.copies_of_b, of.a ? half_of(*reads, 1) : *reads);
      }
      if (window == c || !of.a || !of.b) continue;
      add(seen.parts_of_c, part.store);
      add(seen.parts_of_c, part.atomic);
    }
}

}  // namespace

Observed observe(const CallOutcome& outcome, std::uint64_t element_bytes) {
  Observed seen;
  seen.element_bytes = element_bytes;
  seen.launches = outcome.result.launches;
  seen.a.label = "A";
  seen.b.label = "B";
  seen.c.label = "C";
  seen.scratch.label = "scratch";
  const auto buffer = [&](simgpu::DevicePtr base) -> simgpu::BufferCounts& {
    const auto in = [&](simgpu::DevicePtr whole) {
      return whole != 0 && window_of(whole) == window_of(base);
    };
    return in(outcome.a_base)   ? seen.a
           : in(outcome.b_base) ? seen.b
           : in(outcome.c_base) ? seen.c
                                : seen.scratch;
  };
  for (const auto& launch : seen.launches) {
    seen.total += launch.total;
    seen.live_registers = std::max(seen.live_registers, launch.registers.live_registers);
    for (const auto& part : launch.buffers) {
      auto& into = buffer(part.base);
      add(into.load, part.load);
      add(into.store, part.store);
      add(into.atomic, part.atomic);
      add(into.fetched, part.fetched);
    }
  }
  for (const auto& move : outcome.result.transfers) {
    if (move.src != 0) {
      add_transfer(buffer(move.src).load, move.bytes);
      add_transfer(seen.total.global_load, move.bytes);
    }
    add_transfer(buffer(move.dst).store, move.bytes);
    add_transfer(seen.total.global_store, move.bytes);
  }
  count_copies(seen, outcome);
  return seen;
}

RungCheck::RungCheck(Caller& session, const Lab& lab, const Rung& rung, std::string type,
                     const CallSeeds& seeds)
    : lab_(lab),
      rung_(rung),
      type_(std::move(type)),
      entry_(rung.name + "<" + type_ + ">"),
      seeds_(seeds),
      session_(session) {}

std::uint64_t instruction_budget(const Lab& lab, const Extents& e) {
  const auto padded = [&lab](std::int64_t n, const char* tile) {
    return static_cast<std::uint64_t>(n + lab.tile_size(tile, 16));
  };
  return (1u << 25) + 64 * padded(e.m, "BM") * padded(e.n, "BN") * padded(e.k, "BK");
}

namespace {

/// Why a call failed before anybody compares C; empty: C decides.
std::optional<Failure::Kind> failed_call(const CallOutcome& outcome) {
  bool error_found = outcome.run.failed_launch.has_value();
  for (const auto& launch : outcome.run.launches)
    for (const auto& finding : launch.findings)
      error_found = error_found || !is_estimate(finding.kind);

  if (outcome.end == CallEnd::infra) return Failure::Kind::infra;
  if (outcome.end == CallEnd::threw || outcome.end == CallEnd::exited) {
    // A copy that failed comes before what its memory then lacks.
    const auto copies = [](const auto& error) { return error.call.starts_with("cudaMemcpy"); };
    if (std::ranges::any_of(outcome.result.errors, copies)) return Failure::Kind::api;
    // The launcher noticed its own error and gave up, as it should.
    if (error_found) return Failure::Kind::wrong;
    if (!outcome.result.errors.empty() || !outcome.result.refused.empty())
      return Failure::Kind::api;
  }
  if (outcome.end != CallEnd::returned) return Failure::Kind::ended;
  // What is not allowed comes first: the launches after it may fail for that alone.
  const auto forbidden = [](const auto& refusal) { return !refusal.unsupported; };
  if (std::ranges::any_of(outcome.result.refused, forbidden)) return Failure::Kind::api;
  const auto same = [](const diag::Matrix& x, const diag::Matrix& y) {
    return x.storage.size() == y.storage.size() &&
           (x.storage.empty() ||
            std::memcmp(x.storage.data(), y.storage.data(), x.storage.size()) == 0);
  };
  if (error_found || !same(*outcome.run.a_after, outcome.run.a) ||
      !same(*outcome.run.b_after, outcome.run.b))
    return Failure::Kind::wrong;
  return std::nullopt;
}

/// What the call printed, from the host and from kernels; that of the first call that printed.
void keep_printed(const CallOutcome& outcome, std::string& printed) {
  constexpr std::size_t most = 16u << 10;  // a report is read by people
  if (printed.empty()) printed = outcome.said;
  for (const auto& launch : outcome.run.launches)
    if (printed.size() < 4096 && !launch.printf_output.empty())
      printed += printable(std::string_view(launch.printf_output).substr(0, most));
  printed.resize(first_bytes(printed, most).size());
}

}  // namespace

std::optional<Failure::Kind> RungCheck::compare(const CallOutcome& outcome, Fill fill,
                                                bool* cut_off) const {
  const Verification verified =
      verify(rung_.operation, outcome.run.a, outcome.run.b, outcome.run.c_before,
             outcome.run.c_after, fill, allowed_units(rung_, type_, fill));
  // In parts of kRoundedTf32Units, the canary loses 0.2 where both operands are rounded, 1.0 where
  // one is cut off, 1.8 where both are.
  const double lost = (verified.max_units - kAllowedTensorUnits) / kRoundedTf32Units;
  *cut_off = fill == Fill::canary && rung_.precision == Precision::tf32 && lost > 0.5 &&
             std::isfinite(lost);
  if (!outcome.result.refused.empty()) return Failure::Kind::api;
  if (!verified.right) return Failure::Kind::wrong;
  return std::nullopt;
}

std::optional<Failure> RungCheck::attempt(const Case& shape, Fill fill, Before before, bool reuse,
                                          bool checks, CaseResult* into, CallOutcome* keep) {
  const diag::ElementType type = element_type(type_);
  const Inputs inputs = make_inputs(type, rung_, shape, fill, before, seeds_.next(entry_));
  CallOutcome outcome = session_.call({entry_, inputs.a, inputs.b, inputs.c, reuse, checks,
                                       instruction_budget(lab_, shape.extents)});
  if (into) keep_printed(outcome, into->printed);
  std::optional<Failure::Kind> kind = failed_call(outcome);
  bool cut_off = false;
  if (!kind) kind = compare(outcome, fill, &cut_off);
  if (into && cut_off) {
    const auto product = [this](const diag::Matrix& a,
                                const diag::Matrix& b) -> std::optional<diag::Matrix> {
      const diag::Matrix c(diag::ElementType::float32, a.rows, b.cols, b.cols);
      CallOutcome once = session_.call({entry_, a, b, c});
      if (failed_call(once)) return std::nullopt;
      return std::move(once.run.c_after);
    };
    into->notes.push_back(cut_off_note(entry_, product));
  }
  if (!kind && !(outcome.result.default_stream.empty() && outcome.result.unordered.empty()))
    kind = Failure::Kind::stream;
  if (kind) {
    const bool untouched = outcome.run.c_after.storage == outcome.run.c_before.storage;
    return Failure{*kind, fill, std::move(outcome), untouched};
  }
  if (into) {
    if (outcome.result.live_allocations > 0)
      into->notes.push_back(
          text("note.leak", {{"count", outcome.result.live_allocations}, {"entry", entry_}}));
    for (const auto& launch : outcome.run.launches)
      for (const auto& finding : launch.findings)
        if (is_estimate(finding.kind)) into->notes.push_back(finding.detail);
  }
  note_kernels(outcome);
  if (keep) *keep = std::move(outcome);
  return std::nullopt;
}

void RungCheck::note_kernels(const CallOutcome& outcome) {
  for (const auto& launch : outcome.run.launches) kernels_.insert(launch.mangled);
}

const CaseResult& RungCheck::check(const Case& shape) {
  const std::string key = shape.name();
  const auto known = cases_.find(key);
  if (known != cases_.end()) return known->second;
  CaseResult result;
  result.shape = shape;
  result.type = type_;
  // Poisoned C first, with every check; then other data in the same buffers, with finite garbage in
  // C: what accumulates or depends on what was there before shows in the second run's values.
  result.failure = attempt(shape, Fill::integers, Before::poison, false, true, &result, nullptr);
  std::vector<Fill> later = {Fill::other_integers};
  if (shape.precision && rung_.operation == Operation::product) {
    later.push_back(Fill::zero_mean);
    if (type_ != "int32" && shape.extents.k >= 2) later.push_back(Fill::canary);
    if (shape.extremes && type_ == "float")
      later.insert(later.end(), {Fill::positive, Fill::graded, Fill::infinite});
  }
  // A stranger's code can count its calls: it may not know in which of them races are looked for.
  const std::size_t looked_at = seeds_.keyed() ? seeds_.pick(entry_, later.size()) : later.size();
  for (std::size_t i = 0; i < later.size() && !result.failure; ++i)
    result.failure = attempt(shape, later[i],
                             later[i] == Fill::other_integers ? Before::garbage : Before::poison,
                             true, i == looked_at, &result, nullptr);
  return cases_.emplace(key, std::move(result)).first->second;
}

void RungCheck::double_products(const CallOutcome& plain, Measured& into) {
  const diag::Run& run = plain.run;
  CallSpec spec{entry_,
                run.a,
                run.b,
                run.c_before,
                true,
                false,
                instruction_budget(lab_, into.observed.extents)};
  spec.tensor_gain = 2;
  CallOutcome twice = session_.call(spec);
  if (const auto kind = failed_call(twice)) {
    into.failure = Failure{*kind, Fill::integers, std::move(twice), false};
    return;
  }
  note_kernels(twice);
  // Twice a sum is the sum of what is twice as much, rounding included.
  for (int row = 0; row < run.c_after.rows; ++row)
    for (int col = 0; col < run.c_after.cols; ++col)
      if (twice.run.c_after.at(row, col) != 2 * run.c_after.at(row, col))
        ++into.observed.made_elsewhere;
}

std::string RungCheck::grid_by_ld(const Extents& extents) {
  // As many elements as any block has columns, and a multiple of 16 bytes: rows stay as aligned.
  constexpr int kLonger = 1024;
  const auto launches = [&](int pad) {
    Inputs inputs = make_inputs(element_type(type_), rung_, Case{extents, pad, pad, pad},
                                Fill::integers, Before::poison, seeds_.next(entry_));
    CallSpec spec{entry_, std::move(inputs.a), std::move(inputs.b), std::move(inputs.c)};
    spec.checks = false;
    spec.instruction_budget = instruction_budget(lab_, extents);
    return session_.call(spec).run.launches;
  };
  const auto dense = launches(0), longer = launches(kLonger);
  if (dense.size() != longer.size()) return {};
  for (std::size_t i = 0; i < dense.size(); ++i) {
    const simgpu::LaunchReport &one = dense[i], &other = longer[i];
    const auto blocks = [](const simgpu::Dim3& d) { return std::uint64_t{d.x} * d.y * d.z; };
    if (one.mangled == other.mangled && one.block == other.block &&
        blocks(one.grid) < blocks(other.grid))
      return text("note.grid", {{"kernel", diag::kernel_name(one.kernel)},
                                {"shape", shape_name(extents)},
                                {"grid", diag::dims(one.grid)},
                                {"more", kLonger},
                                {"other", diag::dims(other.grid)}});
  }
  return {};
}

const Measured& RungCheck::measure(const Extents& extents, bool doubled) {
  const std::string key = shape_name(extents) + (doubled ? " doubled" : "");
  const auto known = measured_.find(key);
  if (known != measured_.end()) return known->second;
  Measured result;
  CallOutcome outcome;
  // Integers of a byte would be right in a format that makes less traffic than the rung's own.
  result.failure = attempt(Case{extents, 0, 0, 0, false}, Fill::zero_mean, Before::poison, false,
                           seeds_.keyed(), nullptr, &outcome);
  if (!result.failure) {
    result.observed = observe(outcome, diag::size_of(element_type(type_)));
    result.observed.extents = extents;
    if (doubled) double_products(outcome, result);
  }
  return measured_.emplace(key, std::move(result)).first->second;
}

namespace {

diag::Diagnosis explain(const ArrayIndex& index, const ArrayOverrun& found) {
  const auto dim3 = [](const unsigned(&of)[3]) { return simgpu::Dim3{of[0], of[1], of[2]}; };
  const auto at = [&](std::int64_t i) { return found.row + '[' + std::to_string(i) + ']'; };
  diag::Diagnosis d =
      diag::say("OOB", found.inner ? "array.row" : "array",
                {{"line", index.line},
                 {"access", found.access},
                 {"row", found.row},
                 {"name", found.name},
                 {"length", diag::counted(found.length, found.rows ? "row" : "element")},
                 {"first", at(0)},
                 {"last", at(found.length - 1)}});
  d.details = {text("detail.party", {{"what", found.access},
                                     {"where", "line " + std::to_string(index.line)},
                                     {"thread", diag::coordinates(dim3(index.thread))},
                                     {"block", diag::coordinates(dim3(index.block))}})};
  d.place.line = index.line;
  return d;
}

}  // namespace

std::optional<diag::Diagnosis> RungCheck::array_overrun(const CaseResult& result) const {
  const diag::Run& run = result.failure->outcome.run;
  return array_overrun(CallSpec{entry_, run.a, run.b, run.c_before});
}

std::optional<diag::Diagnosis> RungCheck::array_overrun(const Case& shape) {
  Inputs inputs = make_inputs(element_type(type_), rung_, shape, Fill::integers, Before::poison,
                              seeds_.next(entry_));
  return array_overrun(
      CallSpec{entry_, std::move(inputs.a), std::move(inputs.b), std::move(inputs.c)});
}

std::optional<diag::Diagnosis> RungCheck::array_overrun(CallSpec spec) const {
  if (!bounds_call_) return {};
  // Loops that are not unrolled, and a comparison for each index: several times as many instructions.
  constexpr std::uint64_t kLonger = 8;
  spec.checks = false;
  spec.instruction_budget =
      kLonger * instruction_budget(lab_, {spec.a.rows, spec.b.cols, spec.a.cols});
  const std::optional<BoundsRun> checked = bounds_call_(spec);
  if (!checked) return {};
  for (const simgpu::LaunchReport& launch : checked->outcome.run.launches) {
    const std::optional<ArrayIndex> index = array_index_in(launch.printf_output);
    const std::optional<ArrayOverrun> found =
        index ? overrun_of(*index, checked->source) : std::nullopt;
    if (found) return explain(*index, *found);
  }
  return {};
}

diag::Diagnosis RungCheck::diagnose(const CaseResult& result) {
  const Failure& failure = *result.failure;
  diag::Evidence evidence;
  evidence.operation = rung_.operation;
  evidence.launch = rung_.launch;
  evidence.type = element_type(type_);
  const auto size = [this](const char* key) { return lab_.tile_size(rung_, type_, key, 0); };
  evidence.tile = {size("BM"), size("BN"), size("BK"), size("TM"),
                   size("TN"), size("WM"), size("WN")};
  evidence.run = failure.outcome.run;
  evidence.small_integers = rung_.operation == Operation::product && small_integers(failure.fill);
  evidence.allowed_units = allowed_units(rung_, type_, failure.fill);
  evidence.integers_passed = !small_integers(failure.fill);
  const auto calls = [this](bool checks) {
    return [this, checks](const diag::Matrix& a, const diag::Matrix& b,
                          const diag::Matrix& c) -> std::optional<diag::Run> {
      const Extents extents{a.rows, b.cols, a.cols};
      CallOutcome outcome =
          session_.call({entry_, a, b, c, false, checks, instruction_budget(lab_, extents)});
      if (outcome.end != CallEnd::returned) return std::nullopt;
      return std::move(outcome.run);
    };
  };
  evidence.run_probe = calls(true);
  evidence.run_unchecked = calls(false);
  evidence.follow = [this](const diag::Run& run,
                           const simgpu::WarpOf& warp) -> std::optional<diag::Run> {
    CallSpec spec{entry_, run.a, run.b, run.c_before};
    spec.instruction_budget = instruction_budget(lab_, {run.a.rows, run.b.cols, run.a.cols});
    spec.samples = true;
    spec.sampled_warp = warp;
    CallOutcome outcome = session_.call(spec);
    if (outcome.end != CallEnd::returned) return std::nullopt;
    return std::move(outcome.run);
  };
  return diag::diagnose(evidence);
}

}  // namespace grader
