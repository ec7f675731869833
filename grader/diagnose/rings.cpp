// A read of a tile that goes beyond the tile's end: in a ring the next one lies there, and may still be on its way.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader::diag {
namespace {

/// Where the first access of a thread in the line of `at` lies, counted in bytes from the beginning of the array.
std::optional<std::int64_t> first_in_line(const Evidence& evidence, const Run& run,
                                          const simgpu::LaunchReport& launch,
                                          const simgpu::Access& at) {
  const std::uint64_t thread = number_of(at, launch.block);
  const auto again = evidence.follow(run, {at.block, static_cast<unsigned>(thread / 32)});
  if (!again) return std::nullopt;
  const auto start = static_cast<std::int64_t>(at.address) - at.offset;
  for (const simgpu::LaunchReport& one : again->launches)
    for (const simgpu::AccessSample& s : one.samples)
      if (one.kernel == launch.kernel && s.where == at.where && s.type == at.type &&
          s.space == at.space && s.object == at.object && ((s.mask >> thread % 32) & 1u) != 0)
        return static_cast<std::int64_t>(s.address[thread % 32]) - start;
  return std::nullopt;
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
  const auto first = first_in_line(evidence, run, *launch, at);
  if (!first || *first < 0) return;
  const auto of_matrix_a = [&](std::int64_t element) { return element % both < of_a; };
  const std::int64_t begins = *first / width, index = at.offset / width;
  const bool a = of_matrix_a(begins);
  if (a == of_matrix_a(index) || index < begins) return;
  // The tile that was left is the one in front of the one that was met.
  const std::int64_t place = a ? index / both : index / both - 1,
                     row = (index - place * both - (a ? 0 : of_a)) / (a ? t.bk : t.bn);
  d.next_step = messages::text(
      "ASYNC-NOT-WAITED.left.next",
      {{"matrix", a ? "A" : "B"}, {"place", place}, {"row", row}, {"last", (a ? t.bm : t.bk) - 1}});
}

}  // namespace grader::diag
