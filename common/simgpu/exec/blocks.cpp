// Which blocks of a launch run, and what is said when none of them can go on.
//
// A block runs to its end before the next one starts, so that host threads need few of them at a
// time. Only where all its warps wait for something that is not there yet does it stay as it is, and
// other blocks run, up to as many as the chip holds.
#include <algorithm>
#include <bit>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "common/simgpu/exec/async_proxy.hpp"
#include "common/simgpu/exec/barriers.hpp"
#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {
namespace {

/// thread instructions between two looks at the shared budget
constexpr std::int64_t kPortion = 1 << 22;
/// A launch waits for ever if all its blocks have looked so often, worked so much in vain, and then
/// come to a state that they were in before. A wait with a time limit is shorter.
constexpr unsigned kIdleRounds = 8;
constexpr std::uint64_t kIdleInstructions = std::uint64_t{1} << 26;
constexpr std::size_t kMostStates = 1024;

struct Place {
  std::uint32_t pc = UINT32_MAX;
  std::uint32_t lanes = 0;
  const Parked* parked = nullptr;  ///< nullptr: they look at memory
};

/// Where lanes of a warp wait: those that look at memory first.
std::vector<Place> places(const Program& p, const Warp& w) {
  std::vector<Place> all;
  for (std::size_t d = 0; d <= w.depth; ++d)
    for (const Group& g : w.frames[d].ready)
      all.push_back({p.blocks[g.block].first_pc, g.mask, nullptr});
  if (w.running.mask != 0)
    all.push_back({p.blocks[w.running.block].first_pc, w.running.mask, nullptr});
  for (const Parked& k : w.parked) all.push_back({k.pc, k.mask, &k});
  return all;
}

std::string barrier_text(const BlockRun& run, const Place& at) {
  const std::uint32_t number = at.parked->barrier;
  const BarrierState& b = run.barriers[number];
  const std::uint32_t expected = b.expected != 0 ? b.expected : run.launch->threads;
  return "barrier " + std::to_string(number) + " at " + line_text(*run.launch->program, at.pc) +
         " expects " + std::to_string(expected) + " threads and only " +
         std::to_string(b.expected != 0 ? b.arrived_count : b.arrived_lanes) + " can come";
}

/// What lanes at a place do there.
std::string parked_text(const BlockRun& run, const Place& at) {
  if (at.parked == nullptr) return "looking at memory again and again";
  switch (at.parked->what) {
    case WaitsFor::barrier:
      return "waiting at barrier " + std::to_string(at.parked->barrier);
    case WaitsFor::mbarrier:
      return "waiting for " + mbarrier_text(run, at.parked->barrier);
    case WaitsFor::warpgroup:
      return "waiting for the other warps of its warpgroup";
    case WaitsFor::cluster:
      return "waiting at the barrier of its cluster";
  }
  return {};
}

std::string who_text(const BlockRun& run, const Warp& w, const Place& at) {
  const int lanes = std::popcount(at.lanes);
  return std::to_string(lanes) + (lanes == 1 ? " thread" : " threads") + " of warp " +
         std::to_string(w.index) + " in block " + std::to_string(run.number) + " " +
         parked_text(run, at) + " (" + line_text(*run.launch->program, at.pc) + ")";
}

/// The lanes of a place as a party of a finding: with what they look at, if that is known.
Access party_at(const BlockRun& run, const Warp& w, const Place& at) {
  if (at.parked == nullptr && w.look.pc != UINT32_MAX)
    return describe(run, {w.look.pc, w.index, w.look.lane, AccessType::load, MemorySpace::global,
                          w.look.bytes, w.look.address});
  return describe(run, {at.pc, w.index, static_cast<unsigned>(std::countr_zero(at.lanes)),
                        AccessType::load, MemorySpace::shared, 0, 0});
}

/// The next block of the launch, ready to run; false if there is none.
bool begin_block(Worker& worker) {
  LaunchRun& l = *worker.launch;
  std::uint64_t block;
  {
    std::lock_guard lock(l.mutex);
    block = l.next_block < l.blocks && !l.over_budget ? l.next_block++ : UINT64_MAX;
    if (block != UINT64_MAX && worker.resident.empty()) l.running_blocks[worker.number] = block;
  }
  if (block == UINT64_MAX) return false;
  start_block(add_resident(worker, block));
  return true;
}

}  // namespace

BlockRun& add_resident(Worker& worker, std::uint64_t number) {
  if (worker.spare.empty()) worker.spare.push_back(std::make_unique<BlockRun>());
  worker.resident.push_back(std::move(worker.spare.back()));
  worker.spare.pop_back();
  BlockRun& run = *worker.resident.back();
  run.launch = worker.launch;
  run.worker = &worker;
  run.number = number;
  run.printed.clear();
  return run;
}

std::uint64_t settle_budget(Worker& worker) {
  LaunchRun& l = *worker.launch;
  worker.allowance += std::exchange(worker.held, 0);
  const auto used = static_cast<std::uint64_t>(worker.portion - worker.allowance);
  worker.allowance = worker.portion;
  if (worker.resident.size() == 1) worker.resident.front()->instructions += used;
  // Many small blocks use the budget up as well as one that never ends.
  if (l.instructions.fetch_add(used) + used > l.options.instruction_budget) l.over_budget = true;
  return used;
}

void end_block(Worker& worker, std::size_t index) {
  settle_budget(worker);
  BlockRun& run = *worker.resident[index];
  settle_swaps(run);
  worker.grid_control.add(run.grid_control);
  if (!run.printed.empty()) worker.printed[run.number] = std::move(run.printed);
  worker.spare.push_back(std::move(worker.resident[index]));
  worker.resident.erase(worker.resident.begin() + static_cast<std::ptrdiff_t>(index));
  if (worker.resident.empty()) return;
  {
    std::lock_guard lock(worker.launch->mutex);
    worker.launch->running_blocks[worker.number] = worker.resident.front()->number;
  }
  if (worker.launch->over_budget) worker.launch->lowest_changed.notify_all();
}

namespace {

/// Runs every resident block once; true if one of them got on.
bool run_resident(Worker& worker) {
  bool moved = false;
  for (std::size_t k = 0; k < worker.resident.size() && !worker.launch->stop;) {
    const std::uint64_t before = worker.progress;
    if (run_block(*worker.resident[k])) {
      end_block(worker, k);
      moved = true;
    } else {
      moved |= worker.progress != before;
      ++k;
    }
  }
  return moved;
}

/// Those that run wait for something: begins one more, or as many as wait, so that a grid whose
/// blocks all wait for the last one does not look at each of them as often as there are blocks.
bool begin_more(Worker& worker) {
  const LaunchRun& l = *worker.launch;
  bool begun = false;
  for (std::size_t more = std::max<std::size_t>(1, worker.resident.size()); more > 0; --more) {
    if (l.stop || worker.resident.size() >= l.resident_blocks || !begin_block(worker)) break;
    begun = true;
    if (!run_block(*worker.resident.back())) continue;
    end_block(worker, worker.resident.size() - 1);
    break;  // perhaps they no longer wait
  }
  return begun;
}

/// Stands for where all resident threads are and what is in their registers. A loop that counts, or
/// looks at a flag beside its work, comes to new states; one that only waits comes back to old ones.
std::uint64_t state_of(const Worker& worker) {
  std::uint64_t state = 0;
  const auto add_group = [&](const Group& g) {
    state = add_to_sight(add_to_sight(state, g.block), g.mask);
  };
  for (const auto& run : worker.resident)
    for (const Warp& w : run->warps) {
      add_group(w.running);
      for (const Parked& k : w.parked) state = add_to_sight(add_to_sight(state, k.pc), k.mask);
      for (std::size_t d = 0; d <= w.depth; ++d) {
        const Frame& frame = w.frames[d];
        for (const Group& g : frame.ready) add_group(g);
        const std::string_view bytes(reinterpret_cast<const char*>(frame.memory),
                                     frame.code->frame_bytes);
        state = add_to_sight(state, std::hash<std::string_view>{}(bytes));
      }
    }
  return state;
}

/// Who waits where, of all resident blocks.
struct Waiting {
  /// Of the one that is told: the first who looks at memory, else the first.
  BlockRun* run = nullptr;
  Place place;
  Access at, other;  ///< of that one, and of another
  std::string who;   ///< the first few
  unsigned places = 0, looking = 0;
  bool at_mbarrier = false;
};

Waiting all_that_wait(Worker& worker) {
  constexpr unsigned kMostTold = 4;
  Waiting all;
  for (const auto& resident : worker.resident)
    for (const Warp& w : resident->warps)
      for (const Place& at : places(*worker.launch->program, w)) {
        const Access access = party_at(*resident, w, at);
        const bool first_to_look = at.parked == nullptr && all.looking++ == 0;
        if (all.run == nullptr || first_to_look) {
          if (all.run != nullptr) all.other = all.at;
          all.run = resident.get();
          all.at = access;
          all.place = at;
        } else if (all.places == 1) {
          all.other = access;
        }
        all.at_mbarrier |= at.parked != nullptr && at.parked->what == WaitsFor::mbarrier;
        if (++all.places <= kMostTold)
          all.who += (all.who.empty() ? "" : "; ") + who_text(*resident, w, at);
      }
  if (all.places > kMostTold)
    all.who += "; and more at " + std::to_string(all.places - kMostTold) + " other places";
  return all;
}

}  // namespace

void report_deadlock(Worker& worker) {
  const Waiting waiting = all_that_wait(worker);
  if (waiting.run == nullptr) return;
  const bool at_memory = waiting.looking != 0;
  bool reported = false;
  for (const auto& resident : worker.resident)
    if (!at_memory && (!reported || resident->cluster != nullptr))
      reported |= report_product_deadlock(*resident) || report_mbarrier_deadlock(*resident);
  if (reported) return;
  if (!at_memory && waiting.place.parked->what == WaitsFor::barrier) {
    add_finding(*waiting.run, FindingKind::deadlock, waiting.place.pc, UINT32_MAX, waiting.at,
                std::nullopt,
                "the block waits forever: " + barrier_text(*waiting.run, waiting.place));
    return;
  }
  worker.findings.add(
      FindingKind::deadlock, waiting.place.pc, UINT32_MAX, waiting.run->number, [&] {
        Finding f;
        f.cause = at_memory             ? FindingCause::awaited_memory
                  : waiting.at_mbarrier ? FindingCause::open_phase
                                        : FindingCause::unspecified;
        f.kernel = worker.launch->kernel_name;
        f.at = waiting.at;
        if (at_memory && waiting.places > 1) f.other = waiting.other;
        f.detail = "the kernel waits forever, no thread is left to run: " + waiting.who;
        if (at_memory) add_unlike(*worker.launch, f);
        return f;
      });
}

void begin_budget(Worker& worker) {
  const auto share = static_cast<std::int64_t>(
      std::min<std::uint64_t>(worker.launch->options.instruction_budget / 8, kPortion));
  worker.portion = worker.allowance = std::clamp<std::int64_t>(share, 1024, kPortion);
}

bool Idleness::is_for_ever(const Worker& worker) {
  if (++rounds_ < kIdleRounds || worker.launch->instructions - since_ < kIdleInstructions)
    return false;
  const std::uint64_t state = state_of(worker);
  if (std::find(states_.begin(), states_.end(), state) != states_.end()) return true;
  if (states_.size() == kMostStates) states_.clear();
  states_.push_back(state);
  return false;
}

bool hurry(Worker& worker) {
  bool any = false;
  for (const auto& run : worker.resident)
    for (Warp& w : run->warps) {
      if (!w.holds || w.hurries) continue;
      w.hurries = true;
      any = true;
    }
  return any;
}

void forget_times(BlockRun& run) {
  run.reads.clear();
  run.clocks.forget_times();
  run.shadow.forget_times();
  run.handovers.reset();
  run.order.forget_times();
  for (std::uint32_t& time : run.grid_waits) time = std::min(time, 1u);
  for (auto& [of, time] : run.map_fences) time = 1;
  for (BarrierState& b : run.barriers)
    if (b.arrivals.warps != 0) b.arrivals.fill(run.clocks.now());
  run.proxy.forget_times(run.clocks.now());
  std::fill(run.async.landed.begin(), run.async.landed.end(), check::Landed{});
  for (const auto& shadow : run.worker->global_shadows)
    if (shadow != nullptr) shadow->forget_times(check::GlobalShadow::block_mark(run.number));
  if (!run.launch->exact) return;
  if (run.exact_shared) run.exact_shared->forget_times(run.number);
  for (const auto& shadow : run.launch->global_shadows)
    if (shadow != nullptr) shadow->forget_times(run.number);
}

void run_blocks(Worker& worker) {
  LaunchRun& l = *worker.launch;
  if (l.program->uses_cluster || l.cluster_blocks > 1) return run_clusters(worker);
  begin_budget(worker);
  Idleness idleness;
  while (!l.stop) {
    const bool begun = begin_more(worker);
    if (worker.resident.empty()) {
      if (begun) continue;
      break;
    }
    const bool moved = run_resident(worker);
    const bool still = settle_budget(worker) == 0;
    if (moved) idleness.reset(l);
    if (moved || begun) continue;
    const bool for_ever = idleness.is_for_ever(worker);
    if ((still || for_ever) && hurry(worker)) {
      idleness.reset(l);
      continue;
    }
    if (!for_ever) continue;
    report_deadlock(worker);
    abort_launch(*worker.resident.front());
  }
  for (std::size_t k = worker.resident.size(); k-- > 0;) end_block(worker, k);
  {
    std::lock_guard lock(l.mutex);
    l.running_blocks[worker.number] = UINT64_MAX;
  }
  l.lowest_changed.notify_all();
}

}  // namespace simgpu::exec
