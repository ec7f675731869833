#include "common/simgpu/exec/sampling.hpp"

#include <algorithm>

namespace simgpu::exec {
namespace {

void addresses_of(const Pattern& p, std::uint64_t first, std::uint64_t (&address)[kLanes]) {
  for (unsigned i = 0; i < kLanes; ++i)
    address[i] = first + static_cast<std::uint64_t>(std::int64_t{p.rel[i]});
}

std::uint32_t excess(std::uint32_t cost, std::uint32_t ideal) {
  return cost > ideal ? cost - ideal : 0;
}

}  // namespace

void sample_access(BlockRun& run, const Op& op, AccessType type, MemorySpace space,
                   const std::uint64_t (&address)[kLanes], std::uint32_t mask, unsigned bytes,
                   unsigned cost, unsigned ideal, bool matrix) {
  if (!sampling(run, op) || mask == 0) return;
  SiteSample& s = run.worker->counters.samples[sample_of(op.site, space)];
  if (const auto& only = run.launch->options.sampled_warp) {
    if (s.taken || run.running_warp != only->warp ||
        !(block_index(run.launch->grid, run.number) == only->block))
      return;
  }
  if (s.taken && excess(cost, ideal) <= excess(s.cost, s.ideal)) return;
  s.taken = true;
  s.matrix = matrix;
  s.type = type;
  s.space = space;
  s.bytes = static_cast<std::uint8_t>(bytes);
  s.mask = mask;
  s.warp = run.running_warp;
  s.cost = cost;
  s.ideal = ideal;
  s.block = run.number;
  for (unsigned i = 0; i < kLanes; ++i) s.address[i] = ((mask >> i) & 1u) ? address[i] : 0;
}

void sample_shared(BlockRun& run, const Op& op, AccessType type,
                   const std::uint64_t (&address)[kLanes], std::uint32_t mask, unsigned bytes,
                   const SharedCounts& cost) {
  if (!sampling(run, op) || cost.requests == 0) return;  // 0: ptxas makes it part of another access
  const Merge merge = run.launch->program->merges[op.site];
  const bool merged = merge.width != 0 && merge.width != bytes;
  std::uint64_t start[kLanes];
  for (unsigned i = 0; i < kLanes; ++i)
    start[i] = address[i] + static_cast<std::uint64_t>(std::int64_t{merged ? merge.shift : 0});
  sample_access(run, op, type, MemorySpace::shared, start, mask, merged ? merge.width : bytes,
                static_cast<unsigned>(cost.wavefronts),
                static_cast<unsigned>(cost.ideal_wavefronts));
}

void sample_shared_pattern(BlockRun& run, const Op& op, const Pattern& p, std::uint64_t first) {
  std::uint64_t address[kLanes];
  addresses_of(p, first, address);
  sample_shared(run, op, static_cast<AccessType>(op.y), address, p.mask,
                unsigned{op.width} * op.vec, run.worker->counters.sites[op.site].shared_each);
}

void sample_global_pattern(BlockRun& run, const Op& op, const Pattern& p, std::uint64_t first,
                           unsigned sectors) {
  std::uint64_t address[kLanes];
  addresses_of(p, first, address);
  SiteCount& s = run.worker->counters.sites[op.site];
  sample_access(run, op, static_cast<AccessType>(op.y), MemorySpace::global, address, p.mask,
                unsigned{op.width} * op.vec, sectors,
                static_cast<unsigned>(s.global_each.ideal_sectors));
  // The one warp may come after others with as many.
  if (!run.launch->options.sampled_warp) s.sample_above = std::max(s.sample_above, sectors);
}

std::uint32_t sample_threshold(const BlockRun& run, const Op& op, unsigned ideal) {
  if (!sampling(run, op)) return UINT32_MAX;
  const SiteSample& s = run.worker->counters.samples[sample_of(op.site, MemorySpace::global)];
  return s.taken ? excess(s.cost, s.ideal) + ideal : 0;
}

void merge_sample(SiteSample& to, const SiteSample& from) {
  if (!from.taken) return;
  const std::uint32_t ours = excess(to.cost, to.ideal), theirs = excess(from.cost, from.ideal);
  if (!to.taken || theirs > ours || (theirs == ours && from.block < to.block)) to = from;
}

}  // namespace simgpu::exec
