// Which threads of a block store into an array of shared memory that is read where nobody has stored.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader::diag {
namespace {

using simgpu::Access;
using simgpu::AccessSample;

constexpr unsigned kLanesOfWarp = 32;
using OfLanes = std::array<unsigned, kLanesOfWarp>;

unsigned threads_of(const simgpu::LaunchReport& launch) {
  return launch.block.x * launch.block.y * launch.block.z;
}

/// How often each lane of a warp stores into an array of shared memory.
OfLanes stores_of(const Evidence& evidence, const Run& run, const simgpu::LaunchReport& launch,
                  const Access& at, unsigned warp) {
  OfLanes count{};
  const std::optional<Run> again = evidence.follow(run, simgpu::WarpOf{at.block, warp});
  if (!again) return count;
  for (const simgpu::LaunchReport& one : again->launches)
    if (one.kernel == launch.kernel)
      for (const AccessSample& s : one.samples)
        if (s.type == simgpu::AccessType::store && s.space == at.space && s.object == at.object &&
            !s.matrix)
          for (unsigned lane = 0; lane < kLanesOfWarp; ++lane) count[lane] += (s.mask >> lane) & 1u;
  return count;
}

/// Only the first warps of the block store into the array, all of their lanes, even where no edge keeps others
/// from it: says so, or returns false.
bool ask_of_few(const Evidence& evidence, const simgpu::Finding& finding, Diagnosis& d) {
  const Tile& tile = evidence.tile;
  if (tile.bm < 2 || tile.bk < 2) return false;
  const auto whole = probe_case(evidence, {tile.bm, std::max(tile.bn, 1), tile.bk, 0, 0, 0}, 71);
  if (!whole) return false;
  for (const simgpu::LaunchReport& launch : whole->run.launches)
    for (const simgpu::Finding& f : launch.findings) {
      if (f.kind != finding.kind || f.at.object != finding.at.object ||
          f.kernel != finding.kernel || threads_of(launch) % kLanesOfWarp != 0 ||
          launch.total.async_copy.bytes > 0)  // a copy is no store
        continue;
      const unsigned warps = threads_of(launch) / kLanesOfWarp;
      unsigned storing = 0;
      for (unsigned warp = 0; warp < warps; ++warp) {
        const OfLanes count = stores_of(evidence, whole->run, launch, f.at, warp);
        const auto lanes = kLanesOfWarp - std::count(count.begin(), count.end(), 0u);
        if (lanes != 0 && (lanes != kLanesOfWarp || storing < warp)) return false;
        storing += lanes != 0;
      }
      if (storing == 0 || storing == warps) return false;
      d.next_step = messages::text("UNINIT.few.next", {{"name", short_name(f.at.object)},
                                                       {"last", storing * kLanesOfWarp - 1},
                                                       {"threads", threads_of(launch)},
                                                       {"count", storing * kLanesOfWarp}});
      return true;
    }
  return false;
}

/// Every thread of a warp stores into the array, but some do so less often than others: they leave a loop.
void ask_of_uneven_stores(const Evidence& evidence, const Run& run,
                          const simgpu::LaunchReport& launch, const Access& at, Diagnosis& d) {
  if (d.next_step.key() != "UNINIT.next") return;
  for (unsigned warp = 0; warp < threads_of(launch) / kLanesOfWarp; ++warp) {
    const auto count = stores_of(evidence, run, launch, at, warp);
    const auto [least, most] = std::minmax_element(count.begin(), count.end());
    if (*least == 0) return;
    if (*least == *most) continue;
    const auto number = [&](const unsigned* lane) {
      return warp * kLanesOfWarp + static_cast<unsigned>(lane - count.data());
    };
    d.next_step = messages::text("UNINIT.uneven.next", {{"name", short_name(at.object)},
                                                        {"much", number(most)},
                                                        {"most", times_text(*most)},
                                                        {"little", number(least)},
                                                        {"least", times_text(*least)}});
    return;
  }
}

/// A thread stores again and again to one element, in one line, and most of the array has been left out.
void ask_of_same_place(const Evidence& evidence, const Run& run, const simgpu::LaunchReport& launch,
                       const simgpu::Finding& finding, Diagnosis& d) {
  const simgpu::Access& at = finding.at;
  const std::uint64_t one_each =
      threads_of(launch) * static_cast<std::uint64_t>(width_of(at, evidence.type));
  if (finding.written_bytes > one_each || at.object_bytes < 2 * one_each) return;
  const std::optional<Run> again = evidence.follow(run, simgpu::WarpOf{at.block, 0});
  if (!again) return;
  unsigned count = 0;
  const AccessSample* first = nullptr;
  for (const simgpu::LaunchReport& one : again->launches)
    for (const AccessSample& s : one.samples) {
      if (one.kernel != launch.kernel || s.space != at.space || s.object != at.object) continue;
      const bool store = s.type == simgpu::AccessType::store;
      // Whoever adds to an element reads it in the same line.
      if (!store && first != nullptr && s.where == first->where) return;
      if (!store) continue;
      if (first == nullptr) first = &s;
      if (s.matrix || s.mask != first->mask || !(s.where == first->where)) return;
      for (unsigned lane = 0; lane < kLanesOfWarp; ++lane)
        if (((s.mask >> lane) & 1u) != 0 && s.address[lane] != first->address[lane]) return;
      ++count;
    }
  if (count < 2 || first->mask == 0) return;
  const auto start = static_cast<std::int64_t>(at.address) - at.offset;
  const auto lane = static_cast<unsigned>(std::countr_zero(first->mask));
  const std::int64_t element =
      (static_cast<std::int64_t>(first->address[lane]) - start) / width_of(at, evidence.type);
  d.next_step = messages::text("UNINIT.stuck.next", {{"name", short_name(at.object)},
                                                     {"thread", lane},
                                                     {"line", line_of(first->where)},
                                                     {"count", count},
                                                     {"element", element}});
}

/// Elements beyond the edge of a matrix are read, but none where all matrices are square: rows and columns are
/// exchanged, and no zeros are missing.
bool ask_of_turned(const Evidence& evidence, Diagnosis& d) {
  constexpr int kSide = 5;
  if (d.next_step.key() != "UNINIT.edge.next" || !evidence.run_probe) return false;
  const auto square = probe_case(evidence, {kSide, kSide, kSide, 0, 0, 0}, 73);
  if (!square || square->wrong == 0 || worst_finding(square->run.launches) != nullptr) return false;
  d.next_step = messages::text("UNINIT.turned.next", {{"side", kSide}});
  return true;
}

}  // namespace

void ask_who_stores(const Evidence& evidence, const Run& run, const simgpu::LaunchReport& launch,
                    const simgpu::Finding& finding, Diagnosis& d) {
  if (d.id != "UNINIT" || ask_of_turned(evidence, d) || ask_of_few(evidence, finding, d)) return;
  ask_of_uneven_stores(evidence, run, launch, finding.at, d);
  ask_of_same_place(evidence, run, launch, finding, d);
}

}  // namespace grader::diag
