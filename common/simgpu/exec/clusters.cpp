// Runs the blocks of clusters: those of one cluster together on one host thread, each until it waits
// for something that the others have to do. Host threads take clusters one after the other. Kernels
// without clusters never come here (blocks.cpp).
#include <algorithm>

#include "common/simgpu/exec/async_proxy.hpp"
#include "common/simgpu/exec/barriers.hpp"
#include "common/simgpu/exec/cluster.hpp"

namespace simgpu::exec {
namespace {

/// The blocks of cluster `index`, by rank.
std::vector<std::uint64_t> blocks_of(const LaunchRun& l, std::uint64_t index) {
  const Dim3 clusters{l.grid.x / l.cluster.x, l.grid.y / l.cluster.y, l.grid.z / l.cluster.z};
  const Dim3 at = block_index(clusters, index);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t z = 0; z < l.cluster.z; ++z)
    for (std::uint64_t y = 0; y < l.cluster.y; ++y)
      for (std::uint64_t x = 0; x < l.cluster.x; ++x)
        numbers.push_back(
            ((at.z * std::uint64_t{l.cluster.z} + z) * l.grid.y + at.y * l.cluster.y + y) *
                l.grid.x +
            at.x * std::uint64_t{l.cluster.x} + x);
  return numbers;
}

/// The next cluster of the launch; false if there is none.
bool begin_cluster(Worker& worker) {
  LaunchRun& l = *worker.launch;
  auto cluster = std::make_unique<ClusterRun>();
  {
    std::lock_guard lock(l.mutex);
    if (l.over_budget || l.next_block >= l.blocks / l.cluster_blocks) return false;
    cluster->numbers = blocks_of(l, l.next_block++);
    if (worker.resident.empty()) l.running_blocks[worker.number] = cluster->numbers.front();
  }
  for (const std::uint64_t number : cluster->numbers) {
    BlockRun& run = add_resident(worker, number);
    run.cluster = cluster.get();
    run.rank = static_cast<std::uint32_t>(cluster->blocks.size());
    run.shared_start = memory::kSharedBase + memory::rank_bits(run.rank);
    run.known.of.assign(l.cluster_blocks, {});
    run.visits.assign(std::size_t{l.cluster_blocks} * check::kMaxWarps, {});
    run.fenced_inits = 0;
    run.done = false;
    start_block(run);
    run.order.join_cluster(run.known, cluster->numbers);
    cluster->blocks.push_back(&run);
  }
  worker.clusters.push_back(std::move(cluster));
  return true;
}

void end_clusters(Worker& worker, bool all) {
  std::erase_if(worker.clusters, [&](const std::unique_ptr<ClusterRun>& cluster) {
    const bool done = std::all_of(cluster->blocks.begin(), cluster->blocks.end(),
                                  [](const BlockRun* run) { return run->done; });
    if (!done && !all) return false;
    for (BlockRun* run : cluster->blocks) {
      run->cluster = nullptr;
      const auto at = std::find_if(worker.resident.begin(), worker.resident.end(),
                                   [&](const auto& r) { return r.get() == run; });
      end_block(worker, static_cast<std::size_t>(at - worker.resident.begin()));
    }
    return true;
  });
}

/// Runs every block once; true if one of them got on.
bool run_all(Worker& worker) {
  bool moved = false;
  for (std::size_t k = 0; k < worker.resident.size() && !worker.launch->stop; ++k) {
    BlockRun& run = *worker.resident[k];
    if (run.done) continue;
    const std::uint64_t before = worker.progress;
    run.moved = false;
    if (run_block(run)) {
      run.done = run.moved = true;
      if (!run.aborted) check_end_in_cluster(run);
    }
    moved |= run.moved || worker.progress != before;
  }
  return moved;
}

/// Whether somebody looks at memory that others may change.
bool somebody_looks(const Worker& worker) {
  for (const auto& run : worker.resident)
    for (const Warp& w : run->warps)
      if (runnable(w) != 0) return true;
  return false;
}

bool time_out(Worker& worker, bool others_look) {
  bool woken = false;
  for (const auto& run : worker.resident)
    if (!run->done && run->proxy.used) woken |= time_out_at_mbarriers(*run, others_look);
  return woken;
}

}  // namespace

void run_clusters(Worker& worker) {
  LaunchRun& l = *worker.launch;
  begin_budget(worker);
  Idleness idleness;
  while (!l.stop) {
    if (worker.resident.empty() && !begin_cluster(worker)) break;
    const bool moved = run_all(worker);
    end_clusters(worker, false);
    const bool still = settle_budget(worker) == 0;
    if (moved) {
      idleness.reset(l);
      continue;
    }
    const bool looking = somebody_looks(worker);
    if (time_out(worker, looking)) continue;
    const bool room = worker.resident.size() + l.cluster_blocks <= l.resident_blocks;
    if (looking && room && begin_cluster(worker)) continue;
    const bool for_ever = looking && idleness.is_for_ever(worker);
    if ((still || for_ever) && hurry(worker)) {
      idleness.reset(l);
      continue;
    }
    if (looking && !for_ever) continue;
    report_deadlock(worker);
    abort_launch(*worker.resident.front());
  }
  end_clusters(worker, true);
  {
    std::lock_guard lock(l.mutex);
    l.running_blocks[worker.number] = UINT64_MAX;
  }
  l.lowest_changed.notify_all();
}

}  // namespace simgpu::exec
