// Mistakes that show only from one tile to the next. A read beyond the end of a tile in a ring meets the next tile, which
// may still be on its way; and what counts the rounds may be wrong from the second one on.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader::diag {
namespace {

/// Where the lowest access of a thread in the line of `at` lies, counted in bytes from the beginning of the array: its
/// first one, if the compiler did not turn them round.
std::optional<std::int64_t> lowest_in_line(const Evidence& evidence, const Run& run,
                                           const simgpu::LaunchReport& launch,
                                           const simgpu::Access& at) {
  const std::uint64_t thread = number_of(at, launch.block);
  const auto again = evidence.follow(run, {at.block, static_cast<unsigned>(thread / 32)});
  if (!again) return std::nullopt;
  const auto start = static_cast<std::int64_t>(at.address) - at.offset;
  std::optional<std::int64_t> lowest;
  for (const simgpu::LaunchReport& one : again->launches)
    for (const simgpu::AccessSample& s : one.samples) {
      if (one.kernel != launch.kernel || !(s.where == at.where) || s.type != at.type ||
          s.space != at.space || s.object != at.object || ((s.mask >> thread % 32) & 1u) == 0)
        continue;
      const auto place = static_cast<std::int64_t>(s.address[thread % 32]) - start;
      lowest = std::min(lowest.value_or(place), place);
    }
  return lowest;
}

}  // namespace

void ask_of_left_tile(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                      Diagnosis& d) {
  const Tile& t = evidence.tile;
  const simgpu::Access& at = finding.at;
  const auto launch = std::find_if(run.launches.begin(), run.launches.end(),
                                   [&](const auto& l) { return l.kernel == finding.kernel; });
  const auto width = static_cast<std::int64_t>(size_of(evidence.type));
  const std::int64_t of_a = std::int64_t{t.bm} * t.bk, both = of_a + std::int64_t{t.bk} * t.bn;
  if (d.id != "ASYNC-NOT-WAITED" || !evidence.follow || launch == run.launches.end() ||
      at.type != simgpu::AccessType::load || at.actor != simgpu::Actor::thread ||
      at.space != simgpu::MemorySpace::shared || at.offset < 0 || t.wm < 1 || of_a < 1 ||
      both == of_a || at.object_bytes == 0 || at.object_bytes != launch->dynamic_shared_bytes ||
      static_cast<std::int64_t>(at.object_bytes) % (both * width) != 0)
    return;
  const auto first = lowest_in_line(evidence, run, *launch, at);
  if (!first || *first < 0) return;
  const auto of_matrix_a = [&](std::int64_t element) { return element % both < of_a; };
  const std::int64_t begins = *first / width, index = at.offset / width;
  const bool a = of_matrix_a(begins);
  if (a == of_matrix_a(index) || index < begins) return;
  // The tile that was left is the one in front of the one that was met.
  const std::int64_t place = a ? index / both : index / both - 1, columns = a ? t.bk : t.bn,
                     begin = place * both + (a ? 0 : of_a), row = (index - begin) / columns;
  d.next_step =
      messages::text("ASYNC-NOT-WAITED.left.next",
                     {{"matrix", a ? "A" : "B"},
                      {"place", place},
                      {"row", row},
                      {"last", (a ? t.bm : t.bk) - 1},
                      {"columns", columns},
                      {"lanes", lanes_of_row(evidence, run, *launch, at, begin, columns)}});
}

bool ask_of_step_behind(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                        Diagnosis& d) {
  const Tile& tile = evidence.tile;
  const simgpu::Access& at = finding.at;
  if (finding.kind != simgpu::FindingKind::uninitialised_read || tile.wm < 1 || tile.bk < 1 ||
      at.offset < 0 || at.actor == simgpu::Actor::wgmma)
    return false;
  const auto pair = (std::uint64_t{1} * tile.bm + tile.bn) * tile.bk * size_of(evidence.type);
  const std::uint64_t places = at.object_bytes / pair, steps = (run.a.cols + tile.bk - 1) / tile.bk,
                      place = static_cast<std::uint64_t>(at.offset) / pair;
  if (places < 2 || places * pair != at.object_bytes || steps < 1 || place != steps) return false;
  std::uint64_t listed = 0;
  for (const simgpu::ByteRange& r : finding.written) {
    if (r.end > place * pair && r.begin < (place + 1) * pair) return false;
    listed += r.end - r.begin;
  }
  if (listed != finding.written_bytes) return false;
  d.next_step = messages::text("UNINIT.ahead.next",
                               {{"k", run.a.cols},
                                {"steps", counted(static_cast<std::int64_t>(steps), "step")},
                                {"place", place}});
  return true;
}

namespace {

/// With a single k-tile nothing is accessed outside of shared memory.
bool stays_inside_at_first(const Evidence& evidence) {
  if (!evidence.run_probe) return false;
  const Run& run = evidence.run;
  const auto one = probe_case(evidence, {run.a.rows, run.b.cols, evidence.tile.bk, 0, 0, 0}, 61);
  if (!one) return false;
  for (const simgpu::LaunchReport& launch : one->run.launches)
    for (const simgpu::Finding& f : launch.findings)
      if (f.kind == simgpu::FindingKind::out_of_bounds && f.at.space == simgpu::MemorySpace::shared)
        return false;
  return true;
}

}  // namespace

bool ask_of_place_behind(const Evidence& evidence, const simgpu::Access& at,
                         const simgpu::LaunchReport& launch, const std::vector<std::int64_t>& own,
                         std::int64_t element, Diagnosis& d) {
  const std::int64_t width = width_of(at, evidence.type),
                     places = places_in_ring(at, evidence.tile, launch, width);
  if (places < 2 || evidence.operation != Operation::product) return false;
  const std::int64_t size = static_cast<std::int64_t>(at.object_bytes) / width / places;
  const auto same = [&](std::int64_t e) { return e % size == element % size; };
  if (element < places * size) return false;
  if (!own.empty() && std::none_of(own.begin(), own.end(), same)) return false;
  // A counter of places has run past the last one only after some k-tiles. A list of what the thread accesses
  // inside will do where nothing can be run.
  const std::vector<messages::Gap> gaps = {{"within", element % size},
                                           {"place", element / size},
                                           {"places", places},
                                           {"last", places - 1}};
  if ((own.empty() || evidence.run_probe) && !stays_inside_at_first(evidence)) {
    if (own.empty() || element / size != places) return false;
    d.next_step = messages::text("OOB.place.first.next", gaps);
    return true;
  }
  d.next_step = messages::text("OOB.place.next", gaps);
  return true;
}

namespace {

const simgpu::Finding* finding_of_kind(const Case& c, simgpu::FindingKind kind) {
  for (const simgpu::LaunchReport& launch : c.run.launches)
    for (const simgpu::Finding& f : launch.findings)
      if (f.kind == kind) return &f;
  return nullptr;
}

}  // namespace

void ask_of_place_copied(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                         Diagnosis& d) {
  const simgpu::Access& at = finding.at;
  const int bk = evidence.tile.bk;
  const auto launch = std::find_if(run.launches.begin(), run.launches.end(),
                                   [&](const auto& l) { return l.kernel == finding.kernel; });
  if (d.id != "ASYNC-NOT-WAITED" || evidence.operation != Operation::product ||
      !evidence.run_probe || launch == run.launches.end() || !finding.other || at.offset < 0 ||
      finding.other->actor != simgpu::Actor::async_copy || bk < 2)
    return;
  const std::int64_t width = width_of(at, evidence.type),
                     places = places_in_ring(at, evidence.tile, *launch, width);
  if (places < 2) return;
  const std::int64_t size = static_cast<std::int64_t>(at.object_bytes) / places;
  const std::vector<messages::Gap> of_ring = {{"place", at.offset / size}, {"places", places}};
  d.details.push_back(messages::text("detail.ring.place", of_ring));
  // The fewest k-tiles with which it happens. Is C right with one less?
  std::optional<Case> before;
  for (int tiles = 1; tiles <= places + 1; ++tiles) {
    auto c = probe_case(evidence, {run.a.rows, run.b.cols, tiles * bk, 0, 0, 0}, 71);
    if (!c) return;
    if (finding_of_kind(*c, finding.kind) != nullptr) break;
    before = std::move(c);
  }
  if (!before || before->wrong == 0 || worst_finding(before->run.launches) != nullptr) return;
  d.next_step =
      messages::text("ASYNC-NOT-WAITED.place.next",
                     {{"places", places}, {"last", places - 1}, {"tiles", before->k / bk}});
}

namespace {

/// How often warps read shared memory in a line, in all launches of a call: inside of arrays, and outside.
std::uint64_t reads_in_line(const Case& c, const simgpu::SourceLine& line) {
  std::uint64_t requests = 0, outside = 0;
  for (const simgpu::LaunchReport& launch : c.run.launches) {
    for (const simgpu::LineCounts& l : launch.lines)
      if (l.where == line) requests += l.counts.shared_load.requests;
    for (const simgpu::Finding& f : launch.findings)
      if (f.kind == simgpu::FindingKind::out_of_bounds && f.at.where == line)
        outside += f.occurrences;
  }
  return requests + outside / 32;
}

}  // namespace

void ask_of_round(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                  Diagnosis& d) {
  const int bk = evidence.tile.bk;
  const simgpu::Dim3& block = finding.at.block;
  const bool kind = finding.kind == simgpu::FindingKind::out_of_bounds ||
                    finding.kind == simgpu::FindingKind::uninitialised_read;
  if (!kind || finding.at.space != simgpu::MemorySpace::shared ||
      evidence.operation != Operation::product || !evidence.run_probe || bk < 2 || run.a.cols < 1 ||
      (block.x | block.y | block.z) != 0)
    return;
  if (ask_of_step_behind(evidence, run, finding, d) || run.a.cols <= bk) return;
  // Of whole k-tiles: an edge is another matter.
  const auto called = [&](int tiles) {
    return probe_case(evidence, {run.a.rows, run.b.cols, tiles * bk, 0, 0, 0}, 67);
  };
  const auto found = [&](const Case& c) {
    for (const simgpu::LaunchReport& launch : c.run.launches)
      for (const simgpu::Finding& f : launch.findings)
        if (f.kind == finding.kind && f.at.space == finding.at.space) return true;
    return false;
  };
  const auto two = called(2);
  if (!two || !found(*two)) return;
  const auto one = called(1);
  if (!one || found(*one)) return;
  const std::uint64_t reads = reads_in_line(*one, finding.at.where);
  const bool to_the_end = reads > 0 && reads_in_line(*two, finding.at.where) > 3 * reads;
  d.next_step =
      messages::text(to_the_end ? "OOB.round.loop.next" : "OOB.round.next", {{"tile", bk}});
}

}  // namespace grader::diag
