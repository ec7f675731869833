// Races in shared memory: of the same round, or of the next one.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {

namespace {

bool has_shared_race(const Run& run) {
  const auto is_race = [](const simgpu::Finding& f) {
    return f.kind == simgpu::FindingKind::shared_race;
  };
  return std::any_of(run.launches.begin(), run.launches.end(), [&](const auto& launch) {
    return std::any_of(launch.findings.begin(), launch.findings.end(), is_race);
  });
}

/// This line has read shared memory.
bool reads_shared(const Run& run, const simgpu::SourceLine& where) {
  const auto reads = [&](const simgpu::LineCounts& line) {
    return line.where == where && line.counts.shared_load.requests > 0;
  };
  return std::any_of(run.launches.begin(), run.launches.end(), [&](const auto& launch) {
    return std::any_of(launch.lines.begin(), launch.lines.end(), reads);
  });
}

/// All static shared memory of each block is stored to twice, or more often.
bool filled_again(const Run& run) {
  if (run.launches.size() != 1) return false;
  const simgpu::LaunchReport& launch = run.launches.front();
  const simgpu::Dim3& grid = launch.grid;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  return launch.static_shared_bytes > 0 && launch.dynamic_shared_bytes == 0 &&
         launch.total.shared_store.bytes >= 2 * blocks * launch.static_shared_bytes;
}

struct OneRound {
  bool races = false;
  bool filled_again = false;  ///< with K = 1: the next tile is fetched as well
};

/// Whether a race in shared memory is there in a single round already. The lab's k-tile may take this kernel
/// several: then what is read there with K = 1, in one round, races as well, or it is the next round's race.
/// Empty: it could not be run.
std::optional<OneRound> races_in_one_round(const Evidence& evidence, const simgpu::Access& reader) {
  ProbeShape s = shape_of(evidence.run);
  s.m = std::max(s.m, evidence.tile.bm);
  s.n = std::max(s.n, evidence.tile.bn);
  s.k = evidence.tile.bk;
  const std::optional<Case> one_tile = probe_case(evidence, s, 3);
  if (!one_tile) return std::nullopt;
  if (!has_shared_race(one_tile->run)) return OneRound{};
  s.k = 1;
  const std::optional<Case> one_term = probe_case(evidence, s, 3);
  if (!one_term || !reads_shared(one_term->run, reader.where)) return OneRound{true, false};
  const bool races = has_shared_race(one_term->run);
  return OneRound{races, races && filled_again(one_term->run)};
}

/// Shared arrays that a warp stores to in a line.
std::set<std::string> stored_by(const Run& run, const simgpu::SourceLine& where) {
  std::set<std::string> names;
  for (const simgpu::LaunchReport& launch : run.launches)
    for (const simgpu::AccessSample& s : launch.samples)
      if (s.where == where && s.space == simgpu::MemorySpace::shared &&
          s.type == simgpu::AccessType::store)
        names.insert(s.object);
  return names;
}

}  // namespace

bool ask_of_arms(const Evidence& evidence, const Run& run, const simgpu::LaunchReport& launch,
                 const simgpu::Finding& finding, Diagnosis& d) {
  constexpr unsigned kMostLines = 8;  // between the arms of an `if`
  const simgpu::Access &one = finding.at, &other = *finding.other;
  const auto [first, last] = std::minmax(one.where.line, other.where.line);
  if (d.id != "RACE-WAW" || first == 0 || first == last || last - first > kMostLines ||
      one.where.file != other.where.file)
    return false;
  for (const simgpu::Access* access : {&one, &other}) {
    const auto warp = static_cast<unsigned>(number_of(*access, launch.block) / 32);
    const std::optional<Run> again = evidence.follow(run, {access->block, warp});
    // A line that stores to another array as well may mean that one here.
    if (!again || stored_by(*again, access->where) != std::set<std::string>{one.object})
      return false;
  }
  d.next_step = messages::text(
      "RACE-WAW.arms.next", {{"name", short_name(one.object)}, {"first", first}, {"last", last}});
  return true;
}

bool ask_of_rounds(const std::string& name, std::int64_t span, std::int64_t rounds,
                   std::int64_t elements, Diagnosis& d) {
  if (span * rounds != elements) return false;
  d.next_step =
      messages::text("OOB.rounds.next",
                     {{"name", name}, {"span", span}, {"rounds", rounds}, {"elements", elements}});
  return true;
}

void name_race(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
               Diagnosis& d) {
  if (!finding.other || finding.kind != simgpu::FindingKind::shared_race || d.id == "RACE-WAW" ||
      d.id == "BARRIER-CLUSTER")
    return;
  // Which of the two came first was seen, and not guessed.
  if (finding.at.actor == simgpu::Actor::wgmma || finding.other->actor == simgpu::Actor::wgmma)
    return;
  if (!evidence.run_probe || evidence.tile.bk < 1) return;
  const bool load_first = finding.at.type == simgpu::AccessType::load;
  const simgpu::Access& reader = load_first ? finding.at : *finding.other;
  const simgpu::Access& writer = load_first ? *finding.other : finding.at;
  const std::optional<OneRound> round = races_in_one_round(evidence, reader);
  if (!round) return;
  const Diagnosis plain = explain(finding, evidence.tile, &run, evidence.type);
  std::vector<std::string> details = plain.details;
  // The object's name is part of the plain headline's sentence; build it again with the right
  // words.
  simgpu::Finding turned = finding;
  turned.at = round->races ? reader : writer;
  turned.other = round->races ? writer : reader;
  d = explain(turned, evidence.tile, &run, evidence.type);
  d.details = std::move(details);
  // Either of two barriers may be the one that is missing. Two lanes of one warp may have memory of
  // their own, which a loop fills again and again: that is no tile that is fetched ahead.
  simgpu::Finding read = finding;
  read.at = reader, read.other = writer;
  if (round->filled_again && variant_of_tile_race(read, nullptr) != "warp")
    d.next_step = messages::text("RACE-RAW.ahead.next");
}

}  // namespace grader::diag
