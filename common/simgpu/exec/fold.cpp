#include "common/simgpu/exec/fold.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "common/simgpu/exec/memory_ops.hpp"
#include "common/simgpu/exec/mma.hpp"
#include "common/simgpu/exec/sampling.hpp"

namespace simgpu::exec {

using ptx::Opcode;

namespace {

constexpr std::size_t kMostSampledSites = 1u << 16, kMostSamples = 4096;

}  // namespace

Counters make_counters(const Program& program, std::size_t allocations, bool samples) {
  Counters c;
  if (samples) c.samples.resize(2 * std::min(program.site_pc.size(), kMostSampledSites));
  c.blocks.resize(program.blocks.size());
  c.guarded.resize(program.instructions.size());
  c.block_barriers.resize(program.instructions.size());
  c.sites.resize(program.site_pc.size());
  c.async_idle.resize(program.async_forms.empty() ? 0 : program.site_pc.size());
  c.async_early.resize(program.async_forms.empty() ? 0 : program.instructions.size());
  c.wgmma.resize(program.products.empty() ? 0 : program.instructions.size());
  c.buffers.resize(allocations);
  return c;
}

void settle_all(const Program& program, Counters& c) {
  for (std::size_t k = 0; k < c.sites.size(); ++k) {
    const bool load = program.instructions[program.site_pc[k]].ptx->op != Opcode::st;
    settle(c, c.sites[k], load ? AccessType::load : AccessType::store);
  }
}

void add(Counters& to, const Counters& from) {
  for (std::size_t k = 0; k < to.blocks.size(); ++k) {
    to.blocks[k].executed += from.blocks[k].executed;
    to.blocks[k].lanes += from.blocks[k].lanes;
  }
  for (std::size_t k = 0; k < to.guarded.size(); ++k) {
    to.guarded[k].executed += from.guarded[k].executed;
    to.guarded[k].lanes += from.guarded[k].lanes;
  }
  for (std::size_t k = 0; k < to.sites.size(); ++k) {
    to.sites[k].global += from.sites[k].global;
    to.sites[k].shared += from.sites[k].shared;
    to.sites[k].local_requests += from.sites[k].local_requests;
    to.sites[k].constant_words += from.sites[k].constant_words;
    to.sites[k].swap_loads += from.sites[k].swap_loads;
    to.sites[k].cluster_requests += from.sites[k].cluster_requests;
  }
  for (std::size_t k = 0; k < to.samples.size(); ++k) merge_sample(to.samples[k], from.samples[k]);
  for (std::size_t k = 0; k < to.buffers.size(); ++k) {
    to.buffers[k].load += from.buffers[k].load;
    to.buffers[k].store += from.buffers[k].store;
    to.buffers[k].atomic += from.buffers[k].atomic;
    to.buffers[k].fetched += from.buffers[k].fetched;
  }
  for (std::size_t k = 0; k < to.async_idle.size(); ++k) to.async_idle[k] += from.async_idle[k];
  for (std::size_t k = 0; k < to.async_early.size(); ++k) to.async_early[k] += from.async_early[k];
  for (std::size_t k = 0; k < to.wgmma.size(); ++k) {
    to.wgmma[k].alone += from.wgmma[k].alone;
    to.wgmma[k].groups += from.wgmma[k].groups;
  }
  for (std::size_t k = 0; k < to.block_barriers.size(); ++k)
    to.block_barriers[k] += from.block_barriers[k];
}

namespace {

/// Multiply-adds and products by type.
void count_arithmetic(const ptx::Instruction& ins, std::uint64_t lanes, Counts& out) {
  const bool fused = ins.op != Opcode::mul;
  switch (ins.mod.type) {
    case ptx::Type::f32:
      (fused ? out.fma_f32 : out.mul_f32) = lanes;
      break;
    case ptx::Type::f64:
      (fused ? out.fma_f64 : out.mul_f64) = lanes;
      break;
    case ptx::Type::f16:
    case ptx::Type::bf16:
      if (fused) out.fma_f16 = lanes;
      break;
    case ptx::Type::f16x2:
    case ptx::Type::bf16x2:
      if (fused) out.fma_f16 = 2 * lanes;
      break;
    default:
      if (ins.op == Opcode::mad) out.mad_int = lanes;
      out.products_int = lanes;
  }
}

/// What an instruction that reaches memory moved.
void count_accesses(const InstructionInfo& info, const Counters& c, Counts& out) {
  const ptx::Instruction& ins = *info.ptx;
  const SiteCount& s = c.sites[info.site];
  if (info.prints) out.printed_store_requests = s.local_requests;
  switch (ins.op) {
    case Opcode::st:
    case Opcode::wmma_store:
      out.global_store = s.global;
      out.shared_store = s.shared;
      out.local_store_requests = s.local_requests;
      out.cluster_store_requests = s.cluster_requests;
      break;
    case Opcode::st_async:
      out.cluster_store_requests = s.cluster_requests;
      break;
    case Opcode::red_async:
    case Opcode::reduce_cluster:
      out.cluster_atomic_requests = s.cluster_requests;
      break;
    case Opcode::atom:
    case Opcode::red:
      out.global_atomic = s.global;
      out.shared_atomic = s.shared;
      out.shared_load = s.swap_loads;
      out.local_store_requests = s.local_requests;
      out.cluster_atomic_requests = s.cluster_requests;
      break;
    case Opcode::cp_async:
      out.global_load = out.async_copy = s.global;
      out.async_store = s.shared;
      out.async_bytes_idle = c.async_idle[info.site];
      break;
    case Opcode::bulk_load:
    case Opcode::tensor_load:
      out.bulk_load = s.global;
      break;
    case Opcode::bulk_store:
    case Opcode::reduce_global:
    case Opcode::tensor_store:
    case Opcode::tensor_reduce:
      out.bulk_store = s.global;
      break;
    case Opcode::ldmatrix:
      out.shared_load = out.matrix_load = s.shared;
      break;
    case Opcode::stmatrix:
      out.shared_store = out.matrix_store = s.shared;
      break;
    default: {
      out.global_load = s.global;
      out.shared_load = s.shared;
      // 16-bit fragments of A and B come by ldmatrix, 8-bit ones if they lie along K (exec/wmma.cpp).
      const unsigned bytes = ptx::size_of(ins.mod.type);
      const bool along_k = ins.mod.row_a == (ins.mod.fragment == 'a');
      if (ins.op == Opcode::wmma_load && ins.mod.fragment != 'c' &&
          (bytes == 2 || (bytes == 1 && along_k)))
        out.matrix_load = s.shared;
      out.local_load_requests = s.local_requests;
      out.constant_words = s.constant_words;
      out.cluster_load_requests = s.cluster_requests;
    }
  }
}

/// Counts of one instruction that `executed` warps ran with `lanes` active lanes in all.
Counts counts_of(const Program& p, const Counters& c, std::uint32_t pc, const GuardCount& n) {
  const InstructionInfo& info = p.instructions[pc];
  const ptx::Instruction& ins = *info.ptx;
  Counts out;
  out.warp_instructions = n.executed;
  out.thread_instructions = n.lanes;
  out.thread_instructions_by_class[static_cast<std::size_t>(info.klass)] = n.lanes;
  out.fma_f32 = n.lanes * info.hidden_fma_f32;
  switch (ins.op) {
    case Opcode::fma:
    case Opcode::mad:
    case Opcode::mul:
      if (!info.doubled_sum && info.fusion == count::Fusion::as_written)
        count_arithmetic(ins, n.lanes, out);
      break;
    case Opcode::add:
    case Opcode::sub:
      if (info.fusion == count::Fusion::joined) count_arithmetic(ins, n.lanes, out);
      break;
    case Opcode::madc:
    case Opcode::mul24:
    case Opcode::mad24:
      out.products_int = n.lanes;
      break;
    case Opcode::dp2a:
      out.products_int = 2 * n.lanes;
      break;
    case Opcode::dp4a:
      out.products_int = 4 * n.lanes;
      break;
    case Opcode::mma:
    case Opcode::wmma_mma:
      out.tensor_ops[tensor_type(ins)] = n.executed * tensor_operations(ins);
      break;
    case Opcode::wgmma:  // four warps make it
      out.tensor_ops[tensor_type(ins)] = n.executed * tensor_operations(ins) / 4;
      out.wgmma_alone = c.wgmma[pc].alone;
      out.wgmma_groups = c.wgmma[pc].groups;
      break;
    case Opcode::bar_sync:
    case Opcode::bar_red:
    case Opcode::bar_arrive:
      out.barriers = n.executed;
      out.block_barriers = c.block_barriers[pc];
      break;
    case Opcode::cp_async_wait_group:
    case Opcode::cp_async_wait_all:
      if (!c.async_early.empty()) out.async_early = c.async_early[pc];
      break;
    default:
      break;
  }
  if (info.site != UINT32_MAX) count_accesses(info, c, out);
  return out;
}

bool is_early(const Program& p, const InstructionInfo& info) {
  return info.site != UINT32_MAX && p.early[info.site] != UINT32_MAX;
}

/// A load that nvcc moves before its `if` is executed whenever the branch is. All lanes read one place, so that each
/// request is one wavefront.
void count_early(const Program& p, const Counters& c, std::uint32_t site, SharedCounts& load) {
  const std::uint64_t executed = c.blocks[p.instructions[p.early[site]].block].executed;
  load.raw_requests = load.raw_wavefronts = load.raw_ideal_wavefronts = executed;
  load.requests = load.wavefronts = load.ideal_wavefronts =
      p.merges[site].width == 0 ? 0 : executed;
}

/// Samples of which neither comes before the other stay in their order. (std::stable_sort calls a function that C++17 has
/// deprecated, of which newer clangs warn.)
template <class Before>
void sort_samples(std::vector<AccessSample>& samples, Before before) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return before(samples[a], samples[b]) || (!before(samples[b], samples[a]) && a < b);
  });
  std::vector<AccessSample> sorted;
  sorted.reserve(samples.size());
  for (const std::size_t k : order) sorted.push_back(std::move(samples[k]));
  samples = std::move(sorted);
}

void fold_samples(const LaunchRun& run, const Counters& c, LaunchReport& report) {
  const Program& p = *run.program;
  for (std::size_t k = 0; k < c.samples.size(); ++k) {
    const SiteSample& s = c.samples[k];
    if (!s.taken) continue;
    const std::size_t site = k / 2;
    AccessSample out;
    out.type = s.type;
    out.space = s.space;
    out.matrix = s.matrix;
    out.block = block_index(run.grid, s.block);
    out.warp = s.warp;
    out.bytes = s.bytes;
    out.mask = s.mask;
    out.address = s.address;
    out.cost = s.cost;
    out.ideal = s.ideal;
    const auto lane = static_cast<unsigned>(std::countr_zero(s.mask));
    const Access first =
        describe_thread(run, s.block, s.warp * kLanes + lane,
                        {p.site_pc[site], s.warp, lane, s.type, s.space, s.bytes, s.address[lane]});
    out.where = first.where;
    out.object = first.object;
    out.object_address = s.address[lane] - static_cast<std::uint64_t>(first.offset);
    out.object_bytes = first.object_bytes;
    const bool shared = s.space == MemorySpace::shared;
    const SiteCount& n = c.sites[site];
    out.requests = shared ? n.shared.requests : n.global.requests;
    out.total_cost = shared ? n.shared.wavefronts : n.global.sectors;
    out.total_ideal = shared ? n.shared.ideal_wavefronts : n.global.ideal_sectors;
    report.samples.push_back(std::move(out));
  }
  if (report.samples.size() > kMostSamples) {  // those that waste most
    const auto waste = [](const AccessSample& s) { return s.total_cost - s.total_ideal; };
    sort_samples(report.samples,
                 [&](const AccessSample& x, const AccessSample& y) { return waste(x) > waste(y); });
    report.samples.resize(kMostSamples);
  }
  sort_samples(report.samples,
               [](const AccessSample& x, const AccessSample& y) { return x.where < y.where; });
}

}  // namespace

void fold(const LaunchRun& run, const Counters& c, LaunchReport& report) {
  const Program& p = *run.program;
  std::map<SourceLine, Counts> lines;
  for (std::uint32_t pc = 0; pc < p.instructions.size(); ++pc) {
    const InstructionInfo& info = p.instructions[pc];
    const GuardCount n = info.guarded ? c.guarded[pc] : c.blocks[info.block];
    const bool early = is_early(p, info);
    if (n.executed == 0 && !early) continue;
    Counts counts = counts_of(p, c, pc, n);
    if (early) count_early(p, c, info.site, counts.shared_load);
    report.total += counts;
    lines[p.line_of(pc)] += counts;
  }
  for (auto& [where, counts] : lines) report.lines.push_back({where, std::move(counts)});
  fold_samples(run, c, report);
  const auto& live = run.memory->live();
  for (std::size_t k = 0; k < c.buffers.size(); ++k) {
    const BufferTraffic& b = c.buffers[k];
    if (b.load.requests + b.load.sectors + b.store.sectors + b.atomic.sectors == 0) continue;
    const memory::Allocation& a = *live[k];
    report.buffers.push_back({a.base, a.label, a.size, b.load, b.store, b.atomic, b.fetched});
  }
  std::sort(report.buffers.begin(), report.buffers.end(),
            [](const BufferCounts& x, const BufferCounts& y) { return x.base < y.base; });
}

}  // namespace simgpu::exec
