#include "grader/judge/rung_check.hpp"

#include <algorithm>
#include <utility>

#include "common/reference.hpp"
#include "grader/messages.hpp"

namespace grader {
namespace {

using messages::text;
using simgpu::FindingKind;

/// An estimate of what ptxas would do is worth a note, never a wrong result.
bool counts_as_error(const simgpu::Finding& finding) {
  return finding.kind != FindingKind::will_spill;
}

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
    // A window of 4 GiB belongs to one allocation: the upper half of an address names it.
    const auto in = [&](simgpu::DevicePtr whole) {
      return whole != 0 && whole >> 32 == base >> 32;
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
  return seen;
}

RungCheck::RungCheck(Caller& session, const Lab& lab, const Rung& rung, std::string type,
                     std::uint64_t seed)
    : lab_(lab),
      rung_(rung),
      type_(std::move(type)),
      entry_(rung.name + "<" + type_ + ">"),
      seed_(seed),
      session_(session) {}

std::uint64_t instruction_budget(const Lab& lab, const Extents& e) {
  const auto padded = [&lab](std::int64_t n, const char* tile) {
    return static_cast<std::uint64_t>(n + lab.tile_size(tile, 16));
  };
  return (1u << 24) + 64 * padded(e.m, "BM") * padded(e.n, "BN") * padded(e.k, "BK");
}

std::optional<Failure> RungCheck::attempt(const Case& shape, Fill fill, Before before, bool reuse,
                                          bool checks, CaseResult* into, CallOutcome* keep) {
  const diag::ElementType type = element_type(type_);
  const Inputs inputs = make_inputs(type, rung_, shape, fill, before, seed_);
  CallSpec spec{
      entry_, inputs.a, inputs.b, inputs.c, reuse, checks, instruction_budget(lab_, shape.extents)};
  CallOutcome outcome = session_.call(spec);
  if (into) {
    if (into->printed.empty()) into->printed = outcome.said;
    for (const auto& launch : outcome.run.launches)
      if (into->printed.size() < 4096 && !launch.printf_output.empty())
        into->printed += printable(launch.printf_output);
  }
  Failure failure;
  failure.fill = fill;
  failure.untouched = outcome.run.c_after.storage == outcome.run.c_before.storage;
  bool error_found = false;
  for (const auto& launch : outcome.run.launches)
    for (const auto& finding : launch.findings)
      error_found = error_found || counts_as_error(finding);

  bool failed = false;
  if (outcome.end == End::infra) {
    failure.kind = Failure::Kind::infra;
    failed = true;
  } else if ((outcome.end == End::threw || outcome.end == End::exited) &&
             (outcome.run.failed_launch || error_found)) {
    failure.kind =
        Failure::Kind::wrong;  // the launcher noticed its own error and gave up, as it should
    failed = true;
  } else if ((outcome.end == End::threw || outcome.end == End::exited) &&
             (!outcome.result.errors.empty() || !outcome.result.refused.empty())) {
    failure.kind = Failure::Kind::api;
    failed = true;
  } else if (outcome.end != End::returned) {
    failure.kind = Failure::Kind::ended;
    failed = true;
  } else if (outcome.run.failed_launch || error_found) {
    failed = true;
  } else if (outcome.run.a_after->storage != outcome.run.a.storage ||
             outcome.run.b_after->storage != outcome.run.b.storage) {
    failed = true;
  } else {
    const Verification verified =
        verify(rung_.oracle, outcome.run.a, outcome.run.b, outcome.run.c_before,
               outcome.run.c_after, fill, allowed_units(rung_, type_, fill));
    if (into && fill == Fill::canary && rung_.precision == Precision::tf32 &&
        verified.max_units > kAllowedTensorUnits + kRoundedTf32Units)
      into->notes.push_back(text("note.tf32", {{"entry", entry_}}));
    if (!verified.right || !outcome.result.refused.empty()) {
      failed = true;
      if (!outcome.result.refused.empty()) failure.kind = Failure::Kind::api;
    }
  }
  if (!failed && into) {
    if (outcome.result.live_allocations > 0)
      into->notes.push_back(
          text("note.leak",
               {{"count", std::to_string(outcome.result.live_allocations)}, {"entry", entry_}}));
    for (const auto& launch : outcome.run.launches)
      for (const auto& finding : launch.findings)
        if (finding.kind == FindingKind::will_spill) into->notes.push_back(finding.detail);
  }
  if (!failed) {
    if (keep) *keep = std::move(outcome);
    return std::nullopt;
  }
  failure.outcome = std::move(outcome);
  return failure;
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
  if (!result.failure)
    result.failure =
        attempt(shape, Fill::other_integers, Before::garbage, true, false, &result, nullptr);
  if (!result.failure && shape.precision && rung_.oracle == Oracle::product) {
    result.failure = attempt(shape, Fill::zero_mean, Before::poison, true, false, &result, nullptr);
    if (!result.failure && type_ != "int32" && shape.extents.k >= 2)
      result.failure = attempt(shape, Fill::canary, Before::poison, true, false, &result, nullptr);
  }
  return cases_.emplace(key, std::move(result)).first->second;
}

const Measured& RungCheck::measure(const Extents& extents) {
  const std::string key = shape_name(extents);
  const auto known = measured_.find(key);
  if (known != measured_.end()) return known->second;
  Measured result;
  CallOutcome outcome;
  result.failure = attempt(Case{extents, 0, 0, 0, false}, Fill::integers, Before::poison, false,
                           false, nullptr, &outcome);
  if (!result.failure) {
    result.observed = observe(outcome, diag::size_of(element_type(type_)));
    result.observed.extents = extents;
  }
  return measured_.emplace(key, std::move(result)).first->second;
}

diag::Diagnosis RungCheck::diagnose(const CaseResult& result) {
  const Failure& failure = *result.failure;
  diag::Evidence evidence;
  evidence.oracle = diag_oracle(rung_.oracle);
  evidence.type = element_type(type_);
  const auto size = [this](const char* key) { return lab_.tile_size(rung_, key, 0); };
  evidence.tile = {size("BM"), size("BN"), size("BK"), size("TM"),
                   size("TN"), size("WM"), size("WN")};
  evidence.run = failure.outcome.run;
  evidence.small_integers =
      rung_.oracle == Oracle::product &&
      (failure.fill == Fill::integers || failure.fill == Fill::other_integers);
  evidence.allowed_units = allowed_units(rung_, type_, failure.fill);
  evidence.integers_passed = failure.fill == Fill::zero_mean || failure.fill == Fill::canary;
  evidence.run_probe = [this](const diag::Matrix& a, const diag::Matrix& b,
                              const diag::Matrix& c) -> std::optional<diag::Run> {
    const Extents extents{a.rows, b.cols, a.cols};
    CallOutcome outcome =
        session_.call({entry_, a, b, c, false, true, instruction_budget(lab_, extents)});
    if (outcome.end != End::returned) return std::nullopt;
    return std::move(outcome.run);
  };
  return diag::diagnose(evidence);
}

}  // namespace grader
